import ScoreModel

extension ScoreRules {
  /// The kind of note that a bar's last, long note should be.
  public enum Goal: String, Sendable, Hashable, RuleWord {
    case triad
    /// A note outside the triad.
    case tension
    case tonic
    case fifth
  }

  /// The contour of a melody: up, down, up then down, or down then up, after the modes in Paul Hillier's book on Arvo Pärt.
  public enum Contour: String, Sendable, Hashable, RuleWord {
    case rising, falling, arch, valley
  }

  /// The named rules that give a candidate melody its cost: where a rule applies, its weight (`MelodyRules.weights`) is added.
  public enum MelodyRule: Int, Sendable, Hashable, CaseIterable {
    /// Weighs a move by one degree.
    case step
    /// Weighs a move by two degrees.
    case third
    /// Weighs a move by three degrees or more (a leap).
    case leap
    /// Weighs each degree by which a leap is wider than a fourth.
    case wide
    case `repeat`
    /// Weighs a leap that is not followed by a step back.
    case unanswered
    /// Weighs a step or third that the next move takes back.
    case turn
    case tritone
    /// Weighs a move against the bar's contour.
    case contour
    /// Weighs a note outside the triad.
    case tension
    /// Weighs a note of the triad in a bar that prefers notes outside the triad.
    case lean
    /// Weighs each degree by which a note lies outside the comfortable register.
    case edge
    /// Weighs each degree of a note's distance from the centre of the game's register.
    case register
    /// Weighs a note on a cell that the mover has marked.
    case own
    /// Weighs a note other than the degree that the melody should visit here.
    case recall
    /// Weighs a long note that is not of the kind that the bar should end on.
    case goal
    /// Weighs a move to the last, long note if the move is not a step of one degree.
    case approach
    /// Weighs each note at random, by up to the rule's weight, differently for each candidate.
    case chance

    /// The rule's name in rule files and explanations.
    public var name: String { Self.names[rawValue] }
    private static let names = [
      "step", "third", "leap", "wide", "repeat", "unanswered", "turn", "tritone", "contour", "tension", "lean", "edge",
      "register", "own", "recall", "goal", "approach", "chance",
    ]
  }

  /// The rules for finding melodies.
  public struct MelodyRules: Sendable, Hashable {
    /// The cost of each rule each time it applies, in the order of `MelodyRule`; negative values are rewards.
    public private(set) var weights = [Int](repeating: 0, count: MelodyRule.allCases.count)
    /// The number of candidate melodies, each with other random costs, for each bar.
    public var candidates = 12
    /// The additional cost of each five-note pattern that was heard before.
    public var familiar = 12
    /// The additional cost of a bar that repeats an earlier bar note for note.
    public var again = 400
    /// The widest move of a melody from one note to the next, in degrees.
    public var widest = 7
    /// The lowest and the highest note of M before the octaves of the bar's voice (`Manner.octaves`) are added.
    public var compass = Pitch(21)...Pitch(108)
    /// The lowest and the highest comfortable note of M, also before the octaves are added; notes beyond them cost extra (`edge`).
    public var register = Pitch(21)...Pitch(108)
    /// The most degrees by which a game may move its register, up or down.
    public var drift = 0
    /// Bar lengths in notes. For each length that a bar reaches, its melody visits one degree of the mover's motto or mark of the opponent.
    public var recalls: [Int] = []
    /// The distance in degrees beyond which the melody has a free note between two cells of a completed line.
    public var bridge = 5
    /// The chance in per cent that a melody recalls one of the opponent's marks instead of a degree of the mover's motto.
    public var quotes = 0
    /// The contours that bars take in turn while the mover is winning.
    public var ahead: [Contour] = []
    /// The contours that bars take in turn while neither side is winning.
    public var even: [Contour] = []
    /// The contours that bars take in turn while the mover is losing.
    public var behind: [Contour] = []

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.int("candidates", &candidates, 1...100)
      v.optional { v in
        v.int("familiar", &familiar, 0...10_000)
        v.int("again", &again, 0...10_000)
      }
      v.range("compass", .pitch, &compass, of: "pitches")
      v.range("register", .pitch, &register, of: "pitches")
      v.int("widest", &widest, 4...14)
      v.int("drift", &drift, 0...7)
      v.list("recalls", .int(3...16), &recalls, 0...8, of: "bar lengths")
      v.int("quotes", &quotes, 0...100)
      v.int("bridge", &bridge, 1...14)
      v.group("contours") { v in
        v.words("ahead", &ahead, 1...12, of: "contours")
        v.words("even", &even, 1...12, of: "contours")
        v.words("behind", &behind, 1...12, of: "contours")
      }
      v.group("weights") { v in
        for rule in MelodyRule.allCases {
          v.int(rule.name, &self[rule], rule == .chance ? 0...10_000 : -10_000...10_000)
        }
      }
    }

    /// The weight of a rule; 0 if the file does not contain it.
    public subscript(rule: MelodyRule) -> Int {
      get { weights[rule.rawValue] }
      set { weights[rule.rawValue] = newValue }
    }
  }
}
