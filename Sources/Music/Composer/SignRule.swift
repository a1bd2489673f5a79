import ScoreModel
import TicTacToe

/// Something true of a move that the score may answer.
package enum Fact: String, Sendable, Hashable, RuleWord {
  /// The mover threatens to complete a line.
  case threat
  /// The opponent threatens to complete a line.
  case opposingThreat = "opposing-threat"
  /// The mover now threatens two cells or more.
  case fork
  /// The move took a cell the opponent would have won with.
  case block
  /// The move lost value.
  case mistake
  /// The move was the only one that kept the value.
  case onlyMove = "only-move"
  /// A winning threat can no longer be parried, for the first time in the game.
  case awakening
  /// The game is won, by line, resignation or flag.
  case win
  /// The one local human has lost.
  case loss
  /// The game is drawn, on the board or by agreement.
  case draw
  /// The game ended without a move: resignation, flag or agreement.
  case offBoard = "off-board"
  /// The move followed the last one in less than the time of `hurry`.
  case hurry
}

/// Where in a bar an action applies.
package enum Place: String, Sendable, Hashable, RuleWord {
  /// The downbeat.
  case first
  /// The second pair.
  case second
  /// The pair before the long one.
  case beforeLong = "before-long"
  /// The last, long pair.
  case long
  /// Every pair.
  case all

  /// Whether pair `index` of `count` is meant.
  package func contains(_ index: Int, of count: Int) -> Bool {
    switch self {
    case .first: index == 0
    case .second: index == 1
    case .beforeLong: index == count - 2
    case .long: index == count - 1
    case .all: true
    }
  }
}

/// One row of the table of facts: `when` these hold, `then` this is heard.
package struct SignRule: Sendable, Hashable {
  /// The position of T against M.
  package enum TPosition: String, Sendable, Hashable, RuleWord {
    /// The first and the second triad tone below.
    case below1 = "-1", below2 = "-2"
    /// The first and the second above.
    case above1 = "1", above2 = "2"
    /// The nearest triad tone on either side.
    case nearest
    /// Below and above by turns, in first or in second position.
    case alternate1 = "alternate-1", alternate2 = "alternate-2"

    /// T of a melody note in pair `slot`.
    func tone(of m: Int, slot: Int, in scale: Scale) -> Int {
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

  /// When T sounds in its pair.
  package enum TPace: String, Sendable, Hashable, RuleWord {
    /// With M, as the hand has it.
    case together
    /// Half a pair later, in answer, but on the downbeat and the long note.
    case after
    /// On every second pair only, the long one among them.
    case half
    /// With M, and again from its other side half a pair later, but on the downbeat and the long note.
    case double
  }

  /// The name, as bars and explanations carry it.
  package var name: String
  /// Facts that must hold.
  package var when: [Fact]
  /// Facts that must not hold.
  package var unless: [Fact]
  /// Names of later rules this one includes, so that they are not owed.
  package var covers: [String]

  /// The position of T; first position below if none is given.
  package var t = TPosition.below1
  /// When T sounds.
  package var tPace = TPace.together
  /// Octaves added to T.
  package var tOctaves = 0
  /// Where `tOctaves` applies.
  package var tOctavesAt: Place = .first
  /// Whether M leans on the notes outside the triad.
  package var leans = false
  /// The goal of the long note, whatever the position says.
  package var goal: ScoreRules.Goal?
  /// The contour, whatever the position says.
  package var contour: ScoreRules.Contour?
  /// Whether the contour turns in the middle of the bar.
  package var turns = false
  /// Whether the line's other cells follow the downbeat.
  package var visitsLine = false
  /// Degrees from the downbeat to the second pair, if they are fixed.
  package var secondPair: Int?
  /// Velocity of the second pair, in per cent.
  package var secondVelocity = 100
  /// M's degree in the scale, from 1, of the one pair where T leaves the triad, if there is one.
  package var awakenM: Int?
  /// T's degree in the scale, from 1, in that pair, below M.
  package var awakenT = 2
  /// A low note held to the end of the bar.
  package var bass: Pitch?
  /// Where `bass` is struck.
  package var bassAt: Place = .first
  /// Where the low tonic is struck, if at all.
  package var drone: Place?
  /// Where a bell sounds, if at all.
  package var bells: [Place] = []
  /// The chain pairs are sent to.
  package var chain: String?
  /// Which pairs `chain` takes.
  package var chainAt: Place = .first

  /// Makes a rule that says T(−1); set the actions it has.
  package init(_ name: String, when: [Fact] = [], unless: [Fact] = [], covers: [String] = []) {
    (self.name, self.when, self.unless, self.covers) = (name, when, unless, covers)
  }

  mutating func visit<V: RuleVisitor>(_ v: inout V) {
    v.name("name", &name)
    v.words("when", &when, 0...12, of: "facts")
    v.optional { v in
      v.words("unless", &unless, 0...12, of: "facts")
      v.list("covers", .name, &covers, 0...40, of: "names of rules")
    }
    v.group("then") { v in v.optional { actions(&$0) } }
  }

  private mutating func actions<V: RuleVisitor>(_ v: inout V) {
    v.word("t", &t)
    v.word("t-pace", &tPace)
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

  /// Whether the facts call for the rule.
  package func applies(to facts: Set<Fact>) -> Bool {
    when.allSatisfy(facts.contains) && !unless.contains(where: facts.contains)
  }
}
