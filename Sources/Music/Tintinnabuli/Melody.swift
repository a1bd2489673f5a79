import Base
import ScoreModel

/// The melody problem of a bar: a path of `count` notes through the scale, weighed by named rules. `BarWriter` adds the voice's octaves.
struct MelodyProblem {
  var count: Int
  /// Degrees fixed before the search, by slot (the index of a note in the melody).
  var fixed: [Int: Int]
  /// The kind of note that the last note should be.
  var goal: ScoreRules.Goal
  /// The desired direction of the move to each note: −1 down, 0 any, +1 up.
  var direction: [Int]
  /// Whether notes outside the triad are preferred instead of avoided.
  var leans: Bool
  /// The degree in the middle of the game's register.
  var center: Int
  /// The degrees of the mover's marks on the board.
  var own: [Int]
  /// The degrees of the mover's motto (the mover's first three events).
  var motto: [Int]
  /// The degrees of the opponent's marks on the board.
  var opposing: [Int]
  /// Degrees that the melody should visit, by index of the note; if empty, each candidate plans degrees of its own.
  var recalls: [Int: Int] = [:]
}

/// A melody and its cost, part of which is random and different for each candidate.
struct MelodyLine {
  var degrees: [Int]
  var cost: Int
}

/// The reasons for a note of a melody.
public struct NoteReason: Sendable {
  /// The melody rules that applied to the note with their costs, in the order of `MelodyRule`.
  public let costs: [(rule: ScoreRules.MelodyRule, cost: Int)]
  /// The cheapest melody with another note in this place: that note, and the melody's additional cost; `nil` if there is none.
  public let runnerUp: (pitch: Pitch, dearer: Int)?

  /// The reason for a pair with T alone.
  static let silent = NoteReason(costs: [], runnerUp: nil)
}

/// Dynamic programming over (slot, degree, preceding move), for each candidate of a bar; a slot is the index of a note. O(count × degrees ×
/// widest × 8 kinds of preceding moves) a candidate; costs common to all candidates are computed once.
struct MelodySearch {
  /// The preceding moves of a melody, as far as they change the cost of the next move: `nil` before the first move, 0 for a repeated note,
  /// else degrees up or down (±3 for every leap).
  private static let ways: [Int?] = [nil, 1, -1, 3, -3, 0, 2, -2]

  /// The costs common to all candidates, for moves up to `widest`.
  private struct Prices {
    let widest: Int
    /// The costs of a move after another move, indexed by move, then by preceding move.
    var moves: [Int]
    /// The costs of a degree and of the move to this degree, indexed by note, then by degree, then by move.
    var paths: [Int]
  }

  private let rules: ScoreRules.MelodyRules
  private let scale: Scale
  private let problem: MelodyProblem
  private let seed: UInt64
  private let low: Int
  private let size: Int
  private let register: ClosedRange<Int>
  private var prices = Prices(widest: 0, moves: [], paths: [])
  /// The chosen candidate's random costs by note and degree; `recalls` has the degrees that this candidate should visit, by note.
  private var taste: [Int] = []
  private var recalls: [Int: Int] = [:]

  /// Prepares a problem. Call `choose` before any other function.
  init(_ problem: MelodyProblem, rules: ScoreRules.MelodyRules, scale: Scale, seed: UInt64) {
    (self.rules, self.scale, self.problem, self.seed) = (rules, scale, problem, seed)
    func degree(_ pitch: Pitch) -> Int { scale.degree(atOrAbove: pitch.midi) }
    low = degree(rules.compass.lowerBound)
    size = degree(rules.compass.upperBound) - low + 1
    register = degree(rules.register.lowerBound)...degree(rules.register.upperBound)
    prices = prices(widest: rules.widest)
  }

  mutating func choose(_ candidate: Int) {
    var generator = SplitMix64(seed: seed, index: UInt64(truncatingIfNeeded: candidate))
    taste = (0..<problem.count * size).map { _ in generator.below(max(rules[.chance], 0) + 1) }
    recalls = problem.recalls
    if recalls.isEmpty { planRecalls(&generator) }
  }

  /// Plans degrees to visit, more of them in longer bars: degrees of the motto in order, sometimes a mark of the opponent.
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

  /// The costs of a degree as a melody's note `slot`, independent of preceding note and candidate.
  private func noteCosts(_ slot: Int, _ degree: Int, _ visit: (ScoreRules.MelodyRule, Int) -> Void) {
    let midi = scale.midi(degree)
    let isTriad = scale.isTriad(midi)
    let isLast = slot == problem.count - 1
    if problem.leans {
      if isTriad { visit(.lean, rules[.lean]) }
    } else if !isTriad && !(isLast && problem.goal == .tension) {
      visit(.tension, rules[.tension])
    }
    let outside = max(register.lowerBound - degree, degree - register.upperBound, 0)
    if outside > 0 { visit(.edge, outside * rules[.edge]) }
    if degree != problem.center { visit(.register, abs(degree - problem.center) * rules[.register]) }
    if slot > 0 && problem.own.contains(degree) { visit(.own, rules[.own]) }
    if isLast && !satisfiesGoal(degree) { visit(.goal, rules[.goal]) }
  }

  /// The costs that differ between candidates: for a degree other than the one planned here, and at random.
  private func tasteCosts(_ slot: Int, _ degree: Int, _ visit: (ScoreRules.MelodyRule, Int) -> Void) {
    if let wanted = recalls[slot], wanted != degree { visit(.recall, rules[.recall]) }
    visit(.chance, taste[slot * size + degree - low])
  }

  private func satisfiesGoal(_ degree: Int) -> Bool {
    let step = scale.place(degree)
    return switch problem.goal {
    case .triad: step == 0 || step == 2 || step == 4
    case .tension: step != 0 && step != 2 && step != 4
    case .tonic: step == 0
    case .fifth: step == 4
    }
  }

  /// The costs of a move by `move` degrees after the move with the index `way` in `ways`.
  private func moveCosts(_ way: Int, _ move: Int, _ visit: (ScoreRules.MelodyRule, Int) -> Void) {
    let before = Self.ways[way]
    switch abs(move) {
    case 0: visit(.repeat, before == 0 ? 2 * rules[.repeat] : rules[.repeat])
    case 1: visit(.step, rules[.step])
    case 2: visit(.third, rules[.third])
    default:
      visit(.leap, rules[.leap])
      if abs(move) > 3 { visit(.wide, (abs(move) - 3) * rules[.wide]) }
    }
    guard let before, before != 0 else { return }
    if abs(before) == 3 {
      if move != -before.signum() { visit(.unanswered, rules[.unanswered]) }
    } else if move == -before {
      visit(.turn, rules[.turn])
    }
  }

  /// The costs of a move to note `slot`: against the contour, by a tritone, or, to the long note, by more or less than one degree.
  private func pathCosts(
    _ slot: Int, from: Int, move: Int, _ visit: (ScoreRules.MelodyRule, Int) -> Void
  ) {
    let direction = problem.direction[slot]
    if direction != 0 && move.signum() != direction { visit(.contour, rules[.contour]) }
    if abs(scale.midi(from + move) - scale.midi(from)) % 12 == 6 { visit(.tritone, rules[.tritone]) }
    if slot == problem.count - 1 && abs(move) != 1 { visit(.approach, rules[.approach]) }
  }

  /// The index in `ways` of a melodic move by this number of degrees; a leap of more than three degrees counts as one of three.
  private static func way(_ move: Int) -> Int { ways.firstIndex(of: min(max(move, -3), 3)) ?? 0 }

  private func prices(widest: Int) -> Prices {
    let span = 2 * widest + 1
    var prices = Prices(
      widest: widest, moves: [Int](repeating: 0, count: Self.ways.count * span),
      paths: [Int](repeating: 0, count: problem.count * size * span))
    for way in Self.ways.indices {
      for move in -widest...widest {
        moveCosts(way, move) { prices.moves[(move + widest) * Self.ways.count + way] += $1 }
      }
    }
    for slot in 0..<problem.count {
      for degree in low..<low + size {
        var note = 0
        noteCosts(slot, degree) { note += $1 }
        for move in -widest...widest {
          var path = note
          if slot > 0 { pathCosts(slot, from: degree - move, move: move) { path += $1 } }
          prices.paths[(slot * size + degree - low) * span + move + widest] = path
        }
      }
    }
    return prices
  }

  /// The cheapest melody through all fixed notes. If the rules' widest move cannot reach these notes, wider moves are allowed.
  func solve() -> MelodyLine {
    solve(prices) ?? solve(prices(widest: size - 1))
      ?? MelodyLine(degrees: (0..<problem.count).map { problem.fixed[$0] ?? problem.center }, cost: 0)
  }

  /// The cheapest melody with another degree for the note `slot`; `nil` if this note is fixed or no such melody exists.
  func varied(_ line: MelodyLine, at slot: Int) -> MelodyLine? {
    problem.fixed[slot] == nil ? solve(prices, banned: (slot, [line.degrees[slot]])) : nil
  }

  /// The melody with its `times`-th alternative long note, or with the last alternative that exists.
  func varied(_ line: MelodyLine, times: Int) -> MelodyLine {
    guard let last = line.degrees.indices.last, problem.fixed[last] == nil else { return line }
    var (line, banned) = (line, [line.degrees[last]])
    for _ in 0..<times {
      guard let next = solve(prices, banned: (last, banned)) else { return line }
      line = next
      banned.append(line.degrees[last])
    }
    return line
  }

  /// The cheapest melody for given costs; `banned` are degrees forbidden for one note (`slot` is its index).
  private func solve(_ prices: Prices, banned: (slot: Int, degrees: [Int])? = nil) -> MelodyLine? {
    let ways = Self.ways.count
    let far = Int.max / 4
    let widest = prices.widest
    let span = 2 * widest + 1
    var best = [Int](repeating: far, count: problem.count * size * ways)
    var from = [Int32](repeating: -1, count: best.count)
    let wayOfMove = (-widest...widest).map(Self.way)
    for slot in 0..<problem.count {
      for degree in degrees(slot) where banned?.slot != slot || banned?.degrees.contains(degree) != true {
        let place = slot * size + degree - low
        var note = 0
        tasteCosts(slot, degree) { note += $1 }
        if slot == 0 {
          best[place * ways] = note + prices.paths[place * span]
          continue
        }
        for previous in (max(low, degree - widest)...min(low + size - 1, degree + widest)).reversed() {
          let move = degree - previous + widest
          let path = note + prices.paths[place * span + move]
          let source = ((slot - 1) * size + previous - low) * ways
          let target = place * ways + wayOfMove[move]
          var (least, origin) = (best[target], from[target])
          for way in 0..<ways where best[source + way] < far {
            let cost = best[source + way] + path + prices.moves[move * ways + way]
            if cost < least { (least, origin) = (cost, Int32(source + way)) }
          }
          (best[target], from[target]) = (least, origin)
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

  private func degrees(_ slot: Int) -> Range<Int> {
    guard let fixed = problem.fixed[slot] else { return low..<low + size }
    let degree = min(max(fixed, low), low + size - 1)
    return degree..<degree + 1
  }

  func reasons(for line: MelodyLine, octaves: Int) -> [NoteReason] {
    var way = 0
    return line.degrees.indices.map { slot in
      let degree = line.degrees[slot]
      var costs: [(rule: ScoreRules.MelodyRule, cost: Int)] = []
      func cost(_ rule: ScoreRules.MelodyRule, _ cost: Int) { costs.append((rule, cost)) }
      noteCosts(slot, degree, cost)
      tasteCosts(slot, degree, cost)
      if slot > 0 {
        let move = degree - line.degrees[slot - 1]
        moveCosts(way, move, cost)
        pathCosts(slot, from: line.degrees[slot - 1], move: move, cost)
        way = Self.way(move)
      }
      costs.sort { $0.rule.rawValue < $1.rule.rawValue }
      return NoteReason(
        costs: costs,
        runnerUp: varied(line, at: slot).map {
          (Pitch(scale.midi($0.degrees[slot]) + 12 * octaves), $0.cost - line.cost)
        })
    }
  }
}

extension ScoreRules.Contour {
  /// The desired direction of the move to each of `count` notes (1 up, −1 down, 0 any); a turning contour reverses half way.
  func directions(_ count: Int, turning: Bool = false) -> [Int] {
    (0..<count).map { slot in
      guard slot > 0 else { return 0 }
      let start = self == .rising || self == .arch ? 1 : -1
      let turns = turning || self == .arch || self == .valley
      return turns && 2 * slot > count ? -start : start
    }
  }
}
