import ScoreModel

/// The pairs of a bar to which an action of a sign applies.
public enum Place: String, Sendable, Hashable, RuleWord {
  case first
  case second
  case beforeLong = "before-long"
  case long
  case all

  /// Whether the place includes the pair `index` of a bar with `count` pairs.
  public func contains(_ index: Int, of count: Int) -> Bool {
    switch self {
    case .first: index == 0
    case .second: index == 1
    case .beforeLong: index == count - 2
    case .long: index == count - 1
    case .all: true
    }
  }
}

extension Bar.Rhythm: RuleWord {}

/// A sign: the musical answer of a bar to facts of its event. It applies if all facts of `when` hold, and none of `unless`.
public struct SignRule: Sendable, Hashable {
  /// The position of T relative to M.
  public enum TPosition: String, Sendable, Hashable, RuleWord {
    /// The first and the second triad tone below M.
    case below1 = "-1", below2 = "-2"
    /// The first and the second triad tone above M.
    case above1 = "1", above2 = "2"
    /// The triad tone nearest to M, above or below.
    case nearest
    /// The first or the second triad tone, alternately below and above M.
    case alternate1 = "alternate-1", alternate2 = "alternate-2"

    /// The MIDI note that T plays to the melody note `m` in pair `slot`.
    package func tone(of m: Int, slot: Int, in scale: Scale) -> Int {
      let turn = slot % 2 == 0 ? -1 : 1
      return switch self {
      case .below1: scale.triadTone(-1, of: m)
      case .below2: scale.triadTone(-2, of: m)
      case .above1: scale.triadTone(1, of: m)
      case .above2: scale.triadTone(2, of: m)
      case .nearest: scale.nearestTriadTone(to: m)
      case .alternate1: scale.triadTone(turn, of: m)
      case .alternate2: scale.triadTone(2 * turn, of: m)
      }
    }
  }

  /// The time at which T sounds, relative to M.
  public enum TPace: String, Sendable, Hashable, RuleWord {
    /// T sounds with M, or earlier by the roll of the voice's manner.
    case together
    /// T sounds half a pair after M, but on the downbeat and the long note together with M.
    case after
    /// T sounds on the downbeat, on the long pair and on every second pair before the long pair.
    case half
    /// T sounds with M, and half a pair later again on the other side of M; on the downbeat and the long note only with M.
    case double
    case silent
  }

  /// The name of the sign in bars and explanations.
  public var name: String
  /// The facts that must hold for the event.
  public var when: [Fact]
  /// The facts that must not hold for the event.
  public var unless: [Fact]
  /// Names of rules further down in `signs` whose signs this sign includes: no later bar plays them for the same event.
  public var covers: [String]

  /// The position of T; by default the first triad tone below M.
  public var t = TPosition.below1
  /// The time at which T sounds, relative to M.
  public var tPace = TPace.together
  /// The rhythm of the bar.
  public var rhythm = Bar.Rhythm.even
  /// The octaves added to T.
  public var tOctaves = 0
  /// The pairs to which `tOctaves` applies.
  public var tOctavesAt: Place = .first
  /// Whether M prefers notes outside the triad.
  public var leans = false
  /// The kind of note that the long note should be; `nil` takes the goal of the next sign that applies, or else the triad.
  public var goal: ScoreRules.Goal?
  /// The melody's contour; `nil` for a contour that depends on whether the player is winning or losing.
  public var contour: ScoreRules.Contour?
  /// Whether the contour turns in the middle of the bar.
  public var turns = false
  /// Whether the melody visits the other cells of the completed line after the downbeat.
  public var visitsLine = false
  /// The interval in degrees from M's downbeat to M's note in the second pair, if fixed.
  public var secondPair: Int?
  /// The velocity of the second pair in per cent of its usual velocity.
  public var secondVelocity = 100
  /// In a sign for the awakening: M's degree in the pair where T leaves the triad, counted from the bar's root as 1.
  public var awakenM: Int?
  /// In a sign for the awakening: T's degree outside the triad, counted from the bar's root as 1; T sounds below M.
  public var awakenT = 2
  /// A bass note held to the end of the bar.
  public var bass: Pitch?
  /// The pair on which `bass` is struck.
  public var bassAt: Place = .first
  /// The pair on which the low tonic is struck; `nil` for none.
  public var drone: Place?
  /// The pairs on which bells sound.
  public var bells: [Place] = []
  /// The effect chain that the sign uses; see `chainAt`.
  public var chain: String?
  /// The pairs that `chain` applies to.
  public var chainAt: Place = .first

  /// Makes a rule whose T is the first triad tone below M, without other actions.
  public init(_ name: String, when: [Fact] = [], unless: [Fact] = [], covers: [String] = []) {
    (self.name, self.when, self.unless, self.covers) = (name, when, unless, covers)
  }

  mutating func visit<V: RuleVisitor>(_ v: inout V, facts: [Fact]) {
    let words = RuleKind.word(facts.map { $0.rawValue })
    v.name("name", &name)
    v.list("when", words, &when, 0...12, of: "facts")
    v.optional { v in
      v.list("unless", words, &unless, 0...12, of: "facts")
      v.list("covers", .name, &covers, 0...40, of: "names of rules")
    }
    v.group("then") { v in v.optional { actions(&$0) } }
  }

  private mutating func actions<V: RuleVisitor>(_ v: inout V) {
    v.word("t", &t)
    v.word("t-pace", &tPace)
    v.word("rhythm", &rhythm)
    v.group("t-octaves") { v in
      v.int("add", &tOctaves, -2...2)
      v.word("at", &tOctavesAt)
    }
    v.bool("lean", &leans)
    v.word("goal", &goal)
    v.word("contour", &contour)
    v.bool("turn", &turns)
    v.bool("visit-line", &visitsLine)
    v.int("second-pair", &secondPair, -4...4)
    v.int("second-velocity", &secondVelocity, 20...150)
    v.group("awaken") { v in
      v.int("m", &awakenM, 1...7)
      v.int("t", &awakenT, 1...7)
    }
    v.group("bass") { v in
      v.pitch("pitch", &bass)
      v.word("at", &bassAt)
    }
    v.word("drone", &drone)
    v.words("bell", &bells, 0...4, of: "places")
    v.group("chain") { v in
      v.chain("name", &chain)
      v.word("at", &chainAt)
    }
  }

  /// The part of the sign that lasts through the phrases after its bar: `t` and `leans`.
  var sustained: SignRule {
    var sign = SignRule(name)
    (sign.t, sign.leans) = (t, leans)
    return sign
  }

  /// Whether all facts of `when` are among these facts, and none of `unless`.
  public func applies(to facts: Set<Fact>) -> Bool {
    when.allSatisfy(facts.contains) && !unless.contains(where: facts.contains)
  }
}
