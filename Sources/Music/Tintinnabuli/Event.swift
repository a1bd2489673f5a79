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
