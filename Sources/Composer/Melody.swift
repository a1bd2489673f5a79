import Base
import ScoreModel
import TicTacToe

/// The question a bar asks: a path of `count` notes through the scale, weighed by named rules.
///
/// Degrees are written as X plays; the hand's octave is added later.
struct MelodyProblem {
  /// The number of notes.
  var count: Int
  /// Degrees that are settled before the search, by slot.
  var fixed: [Int: Int]
  /// What the last note should be.
  var goal: ScoreRules.Goal
  /// The wanted direction of the move into each slot: −1, 0, +1.
  var direction: [Int]
  /// Whether tensions are sought instead of avoided.
  var leans: Bool
  /// The middle of the game's register.
  var center: Int
  /// Degrees of the mover's marks.
  var own: [Int]
  /// The mover's motto.
  var motto: [Int]
  /// Degrees of the opponent's marks.
  var opposing: [Int]
  /// Notes it pays to pass, by slot; where none are given the candidate plans its own.
  var recalls: [Int: Int] = [:]
}

/// One answer, with what chance asked of it.
struct MelodyLine {
  /// The degrees, slot by slot.
  var degrees: [Int]
  /// The whole cost.
  var cost: Int
}

/// What a named rule cost at one note.
public struct RuleCost: Sendable, Hashable {
  /// The rule.
  public let rule: ScoreRules.MelodyRule
  /// Its cost there.
  public let cost: Int
}

/// The note that would have been taken otherwise.
public struct RunnerUp: Sendable, Hashable {
  /// Its pitch.
  public let pitch: Pitch
  /// How much dearer the best line through it is.
  public let dearer: Int
}

/// Why one note of a line is there.
public struct NoteReason: Sendable, Hashable {
  /// The rules that applied, in the order of `MelodyRule`.
  public let costs: [RuleCost]
  /// The best line that avoids the note; `nil` where it was settled before the search.
  public let runnerUp: RunnerUp?
}

/// Dynamic programming over (slot, degree, way it was reached).
///
/// O(count × degrees × widest × 8); a bar of eight takes about 0.1 ms in release.
struct MelodySearch {
  /// How a note was reached; what the next move must answer.
  private enum Way: Int, CaseIterable {
    case none, stepUp, stepDown, leapUp, leapDown, same, thirdUp, thirdDown
  }

  private let rules: ScoreRules.MelodyRules
  private let scale: Scale
  private let problem: MelodyProblem
  private let low: Int
  private let size: Int
  private let registerLow: Int
  private let registerHigh: Int
  /// Chance and recall of this candidate, by slot and degree.
  private var taste: [Int]
  private var recalls: [Int: Int]

  /// Prepares candidate number `candidate` of a problem.
  init(_ problem: MelodyProblem, rules: ScoreRules.MelodyRules, scale: Scale, seed: UInt64, candidate: Int) {
    (self.rules, self.scale, self.problem) = (rules, scale, problem)
    recalls = problem.recalls
    low = scale.degree(atOrAbove: rules.compass.lowerBound.midi)
    size = scale.degree(atOrAbove: rules.compass.upperBound.midi) - low + 1
    registerLow = scale.degree(atOrAbove: rules.register.lowerBound.midi)
    registerHigh = scale.degree(atOrAbove: rules.register.upperBound.midi)
    taste = [Int](repeating: 0, count: problem.count * size)
    var generator = SplitMix64(seed: seed, index: UInt64(truncatingIfNeeded: candidate))
    for index in taste.indices { taste[index] = generator.below(max(rules[.chance], 0) + 1) }
    if recalls.isEmpty { planRecalls(&generator) }
  }

  /// Waypoints, more in longer bars: the motto's notes in their order, now and then a mark of the opponent's.
  private mutating func planRecalls(_ generator: inout SplitMix64) {
    let wanted = rules.recalls.count { problem.count >= $0 }
    let motto = problem.motto.isEmpty ? problem.own : problem.motto
    let first = generator.below(max(motto.count, 1))
    for number in 0..<wanted {
      let quotes = generator.below(100) < rules.quotes
      let isQuote = quotes && !problem.opposing.isEmpty
      let marks = isQuote ? problem.opposing : motto
      let span = (problem.count - 2) / wanted
      let slot = 1 + number * span + generator.below(max(span, 1))
      guard !marks.isEmpty, problem.fixed[slot] == nil else { continue }
      recalls[slot] = marks[isQuote ? generator.below(marks.count) : (first + number) % marks.count]
    }
  }

  /// What a degree costs in a slot, wherever it is reached from.
  @inline(__always)
  private func noteCosts(_ slot: Int, _ degree: Int, _ visit: (ScoreRules.MelodyRule, Int) -> Void) {
    let midi = scale.midi(degree)
    let isTriad = scale.isTriad(midi)
    let isLast = slot == problem.count - 1
    if problem.leans {
      if isTriad { visit(.lean, rules[.lean]) }
    } else if !isTriad && !(isLast && problem.goal == .tension) {
      visit(.tension, rules[.tension])
    }
    let outside = max(registerLow - degree, degree - registerHigh, 0)
    if outside > 0 { visit(.edge, outside * rules[.edge]) }
    if degree != problem.center { visit(.register, abs(degree - problem.center) * rules[.register]) }
    if slot > 0 && problem.own.contains(degree) { visit(.own, rules[.own]) }
    if let wanted = recalls[slot], wanted != degree { visit(.recall, rules[.recall]) }
    if isLast && !satisfiesGoal(degree) { visit(.goal, rules[.goal]) }
    let chance = taste[slot * size + degree - low]
    if chance != 0 { visit(.chance, chance) }
  }

  private func noteCost(_ slot: Int, _ degree: Int) -> Int {
    var sum = 0
    noteCosts(slot, degree) { sum += $1 }
    return sum
  }

  private func satisfiesGoal(_ degree: Int) -> Bool {
    let step = (degree % 7 + 7) % 7
    return switch problem.goal {
    case .triad: step == 0 || step == 2 || step == 4
    case .tension: step != 0 && step != 2 && step != 4
    case .tonic: step == 0
    case .fifth: step == 4
    }
  }

  /// What a move costs by its size and by how the note before was reached.
  private func moveCosts(_ way: Way, _ move: Int, _ visit: (ScoreRules.MelodyRule, Int) -> Void) {
    switch abs(move) {
    case 0: visit(.repeat, way == .same ? 2 * rules[.repeat] : rules[.repeat])
    case 1: visit(.step, rules[.step])
    case 2: visit(.third, rules[.third])
    default:
      visit(.leap, rules[.leap])
      if abs(move) > 3 { visit(.wide, (abs(move) - 3) * rules[.wide]) }
    }
    if way == .leapUp && move != -1 { visit(.unanswered, rules[.unanswered]) }
    if way == .leapDown && move != 1 { visit(.unanswered, rules[.unanswered]) }
    let back =
      switch way {
      case .stepUp: -1
      case .stepDown: 1
      case .thirdUp: -2
      case .thirdDown: 2
      default: 0
      }
    if back != 0 && move == back { visit(.turn, rules[.turn]) }
  }

  /// What a move into a slot costs by where it leads.
  @inline(__always)
  private func pathCosts(
    _ slot: Int, from: Int, move: Int, _ visit: (ScoreRules.MelodyRule, Int) -> Void
  ) {
    let direction = problem.direction[slot]
    if direction != 0 && move.signum() != direction { visit(.contour, rules[.contour]) }
    if abs(scale.midi(from + move) - scale.midi(from)) % 12 == 6 { visit(.tritone, rules[.tritone]) }
    if slot == problem.count - 1 && abs(move) != 1 { visit(.approach, rules[.approach]) }
  }

  private static func way(_ move: Int) -> Way {
    switch move {
    case 0: .same
    case 1: .stepUp
    case -1: .stepDown
    case 2: .thirdUp
    case -2: .thirdDown
    default: move > 0 ? .leapUp : .leapDown
    }
  }

  /// The cheapest line. What is settled before the search comes first: where it cannot be reached by moves as wide as
  /// the rules allow, they are as wide as need be.
  func solve() -> MelodyLine {
    solve(banned: nil, widest: rules.widest) ?? solve(banned: nil, widest: size - 1)
      ?? MelodyLine(degrees: (0..<problem.count).map { problem.fixed[$0] ?? problem.center }, cost: 0)
  }

  /// The cheapest line whose note in a slot is another; the line itself where that is settled.
  func varied(_ line: MelodyLine, at slot: Int) -> MelodyLine {
    problem.fixed[slot] == nil ? solve(banned: (slot, line.degrees[slot]), widest: rules.widest) ?? line : line
  }

  /// The cheapest line with no move wider than `widest`; `banned` is a degree that must not be taken in a slot.
  private func solve(banned: (slot: Int, degree: Int)?, widest: Int) -> MelodyLine? {
    let ways = Way.allCases.count
    let far = Int.max / 4
    let span = 2 * widest + 1
    // The parts of the cost that do not depend on the path are summed once: the inner loop only adds.
    var moveTable = [Int](repeating: 0, count: ways * span)
    for way in Way.allCases {
      for move in -widest...widest {
        moveCosts(way, move) { moveTable[way.rawValue * span + move + widest] += $1 }
      }
    }
    var best = [Int](repeating: far, count: problem.count * size * ways)
    var from = [Int32](repeating: -1, count: best.count)
    for degree in degrees(0, banned) {
      best[(degree - low) * ways] = noteCost(0, degree)
    }
    for slot in 1..<max(problem.count, 1) where problem.count > 1 {
      for degree in degrees(slot, banned) {
        let note = noteCost(slot, degree)
        for move in -widest...widest {
          let previous = degree - move
          guard previous >= low, previous < low + size else { continue }
          var path = note
          pathCosts(slot, from: previous, move: move) { path += $1 }
          let source = ((slot - 1) * size + previous - low) * ways
          let target = (slot * size + degree - low) * ways + Self.way(move).rawValue
          for way in 0..<ways where best[source + way] < far {
            let cost = best[source + way] + path + moveTable[way * span + move + widest]
            if cost < best[target] {
              best[target] = cost
              from[target] = Int32(source + way)
            }
          }
        }
      }
    }
    let last = (problem.count - 1) * size * ways
    guard let end = (last..<best.count).min(by: { best[$0] < best[$1] }), best[end] < far else { return nil }
    var line = [Int](repeating: 0, count: problem.count)
    var state = end
    for slot in stride(from: problem.count - 1, through: 0, by: -1) {
      line[slot] = low + state / ways % size
      state = Int(from[state])
    }
    return MelodyLine(degrees: line, cost: best[end])
  }

  private func degrees(_ slot: Int, _ banned: (slot: Int, degree: Int)?) -> [Int] {
    let all = problem.fixed[slot].map { [min(max($0, low), low + size - 1)] } ?? Array(low..<(low + size))
    return all.filter { !(banned?.slot == slot && banned?.degree == $0) }
  }

  /// Why each note of a line is there.
  func reasons(for line: MelodyLine, octaves: Int) -> [NoteReason] {
    var way = Way.none
    return line.degrees.indices.map { slot in
      let degree = line.degrees[slot]
      var costs: [RuleCost] = []
      noteCosts(slot, degree) { costs.append(RuleCost(rule: $0, cost: $1)) }
      if slot > 0 {
        let move = degree - line.degrees[slot - 1]
        moveCosts(way, move) { costs.append(RuleCost(rule: $0, cost: $1)) }
        pathCosts(slot, from: line.degrees[slot - 1], move: move) { costs.append(RuleCost(rule: $0, cost: $1)) }
        way = Self.way(move)
      }
      costs.sort { $0.rule.rawValue < $1.rule.rawValue }
      let other = problem.fixed[slot] == nil ? solve(banned: (slot, degree), widest: rules.widest) : nil
      return NoteReason(
        costs: costs,
        runnerUp: other.map {
          RunnerUp(pitch: Pitch(scale.midi($0.degrees[slot]) + 12 * octaves), dearer: $0.cost - line.cost)
        })
    }
  }
}

extension ScoreRules.Contour {
  /// The wanted direction of the move into each of `count` slots; a turning contour takes its first half back.
  func directions(_ count: Int, turning: Bool = false) -> [Int] {
    (0..<count).map { slot in
      guard slot > 0 else { return 0 }
      let start = self == .rising || self == .arch ? 1 : -1
      let turns = turning || self == .arch || self == .valley
      return turns && 2 * slot > count ? -start : start
    }
  }
}
