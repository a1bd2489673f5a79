import ScoreModel

/// An event, such as a move of a game, as input to the score: it begins a bar on its degree.
public struct Event: Sendable, Hashable {
  /// The voice that causes the event; determines the bar's register, pan and touch.
  public var voice: Voice
  /// The event's degree in the scale: 0 is the lowest tonic of the compass, 7 the tonic an octave above.
  public var degree: Int
  /// The facts that hold for the event, in the words that the rule file declares.
  public var facts: Set<Fact>
  /// The voice's standing after the event: −1 lost, 0 even, 1 won.
  public var standing: Double
  /// The voice's standing before the event, −1…1; `nil` to use the opposite of the last event's standing.
  public var stood: Double?
  /// The expected seconds until the next event; `nil` to use the median of the piece's thinking times.
  public var pace: Double?
  /// The event's number in its piece, from 1; `nil` for the next number. A number not above the last event's begins a new piece.
  public var number: Int?
  /// The degrees that each voice has marked after the event; melodies visit these degrees.
  public var marks: Marks
  /// The degrees of a line that the event completes, without the event's own degree. A sign can make the melody visit them.
  public var line: [Int]
  /// The end of the piece, if this event ends it.
  public var end: End?

  // The properties below are for pieces with many events; short pieces keep the defaults.

  /// The progress of the piece, 0…1, which determines the bar's length; `nil` to use `number`.
  public var phase: Double?
  /// The root of the bar's triad as a degree from the tonic. A root seven degrees higher also moves the register up by an octave.
  public var root = 0
  /// The root of the next event as far as known; the bed moves there during the bar.
  public var nextRoot = 0
  /// The number of the event's sentence. In each sentence a voice has a motto: the degrees of its first three events.
  public var sentence: Int?
  /// Whether the event ends its sentence with a half arch.
  public var closes = false
  /// Whether the event ends its sentence without a half arch; `sentences.changes` apply as after a half arch.
  public var endsSentence = false
  /// The degree of a mark that the event removes: T alone answers with two falling notes.
  public var removedDegree: Int?
  /// The number of an earlier event that led to the same position; the bar quotes the melody of that event.
  public var returns: Int?
  /// Whether the event belongs to free play, where no event is taken back and echoes repeat the first pairs of a sentence's events.
  public var isFree = false

  /// Makes an event.
  public init(
    voice: Voice, degree: Int, facts: Set<Fact> = [], standing: Double = 0, stood: Double? = nil, pace: Double? = nil,
    number: Int? = nil, marks: Marks = Marks(), line: [Int] = [], end: End? = nil
  ) {
    (self.voice, self.degree, self.facts, self.standing, self.stood) = (voice, degree, facts, standing, stood)
    (self.pace, self.number, self.marks, self.line, self.end) = (pace, number, marks, line, end)
  }
}

/// The degrees that each voice has marked, counted like `Event.degree`.
public struct Marks: Sendable, Hashable {
  /// The degrees marked by the first voice.
  public var first: [Int]
  /// The degrees marked by the second voice.
  public var second: [Int]

  /// Makes marks of both voices.
  public init(first: [Int] = [], second: [Int] = []) { (self.first, self.second) = (first, second) }

  subscript(voice: Voice) -> [Int] { voice == .first ? first : second }
}

/// The end of a piece.
public struct End: Sendable, Hashable {
  /// The kinds of end for which the rule file has an ending (rules for the closing bars).
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case win
    /// A voice has won against the only local player.
    case loss
    case draw
  }

  /// The kind of end, which selects the rule file's ending.
  public var kind: Kind
  /// The voice that has won; `nil` in a draw.
  public var winner: Voice?
  /// The sentences from which the arch quotes the winner's mottos; if empty, it quotes the motto of the whole piece.
  public var sentences: [Int] = []

  /// Makes the end of a piece.
  public init(_ kind: Kind, winner: Voice? = nil) { (self.kind, self.winner) = (kind, winner) }

  /// The facts (a win, a loss or a draw) of an event that ends its piece this way.
  public var facts: Set<Fact> {
    switch kind {
    case .win: [.win]
    case .loss: [.win, .loss]
    case .draw: [.draw]
    }
  }
}
