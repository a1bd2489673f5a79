import ScoreModel

/// Something that happened, as the score hears it: it begins a bar on its degree.
public struct Event: Sendable, Hashable {
  /// Who did it: the voice whose register, place and touch the bar has.
  public var voice: Voice
  /// Where it happened, in degrees of the scale: 0 is the lowest tonic of the compass, 7 the tonic an octave above.
  public var degree: Int
  /// What is true of it, in words of the rule file.
  public var facts: Set<Fact>
  /// How the voice stands after it: −1 lost, 0 even, 1 won.
  public var standing: Double
  /// How the voice stood before it, −1…1; `nil` where it stood as the other voice left it.
  public var stood: Double?
  /// The seconds until the next event as far as they are known; `nil` where the piece itself has shown how long they are.
  public var pace: Double?
  /// The number of the event in its piece, from 1; `nil` for the one after the last. A number that the piece has had
  /// begins a new piece.
  public var number: Int?
  /// What each voice holds after the event: melodies visit these degrees.
  public var marks: Marks
  /// The other degrees of a line that the event completes; a sign that visits the line sounds them.
  public var line: [Int]
  /// How the event ends the piece, if it does.
  public var end: End?

  // What pieces of many events need besides; nothing of it where a piece is short.

  /// How far the piece has come, 0…1, where the number of the event does not tell: its bar is as long as that says.
  public var phase: Double?
  /// The degree, counted from the tonic, on which the triad of the event's bar stands; its octave moves the register.
  public var root = 0
  /// The root to which the event leads, as far as the next event's is known: the bed goes there while the bar sounds.
  public var leads = 0
  /// The sentence that the event belongs to: in each a voice has a motto of its own.
  public var sentence: Int?
  /// Whether the event ends its sentence, which half an arch closes.
  public var closes = false
  /// A degree that the event takes away: its T alone answers, falling.
  public var leaves: Int?
  /// The number of the earlier event after which all stood as it stands now: its melody comes back.
  public var returns: Int?

  /// Makes an event; see the properties for units and ranges.
  public init(
    voice: Voice, degree: Int, facts: Set<Fact> = [], standing: Double = 0, stood: Double? = nil, pace: Double? = nil,
    number: Int? = nil, marks: Marks = Marks(), line: [Int] = [], end: End? = nil
  ) {
    (self.voice, self.degree, self.facts, self.standing, self.stood) = (voice, degree, facts, standing, stood)
    (self.pace, self.number, self.marks, self.line, self.end) = (pace, number, marks, line, end)
  }
}

/// The degrees that each voice holds, as `Event.degree` counts them.
public struct Marks: Sendable, Hashable {
  /// Those of the first voice.
  public var first: [Int]
  /// Those of the second voice.
  public var second: [Int]

  /// Makes marks of both voices.
  public init(first: [Int] = [], second: [Int] = []) { (self.first, self.second) = (first, second) }

  subscript(voice: Voice) -> [Int] { voice == .first ? first : second }
}

/// How a piece ends.
public struct End: Sendable, Hashable {
  /// Which of the rule file's three endings closes the piece.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A voice has won.
    case win
    /// A voice has won, and whoever listens has lost.
    case loss
    /// No voice has won.
    case draw
  }

  /// The ending.
  public var kind: Kind
  /// The voice that has won; `nil` in a draw.
  public var winner: Voice?
  /// The sentences whose mottos the arch quotes at its end, as the winner had them.
  public var sentences: [Int] = []

  /// Makes an end.
  public init(_ kind: Kind, winner: Voice? = nil) { (self.kind, self.winner) = (kind, winner) }

  /// What is true of an event that ends its piece so.
  public var facts: Set<Fact> {
    switch kind {
    case .win: [.win]
    case .loss: [.win, .loss]
    case .draw: [.draw]
    }
  }
}
