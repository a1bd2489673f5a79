import Base
import TicTacToe

/// A position in which one move alone reaches the best result that the side to move can force.
package struct Puzzle: Sendable, Hashable {
  /// Puzzles of one game that are about equally hard.
  package struct Kind: Sendable, Hashable {
    package let variant: Variant
    /// Classic: the index in `DailyBoard.grades`. Infinite: the number of moves to the win. Misère: 0 for a win, 1 for a draw. Ultimate: 0,
    /// a win in two moves.
    let grade: Int
    /// A Glicko-2 rating: a player of equal rating finds the right move in half of these puzzles.
    package let rating: Double

    /// The ratings were fitted by maximum likelihood to the chances with which the levels 1–5 find the right move, over 300 puzzles of each
    /// kind (of Ultimate 40, by the levels 1–4). With level 3 set to 1500, the levels have 1256, 1377, 1500, 1633 and 1806 (28 November
    /// 2026).
    package static let all: [Kind] = [
      Kind(variant: .classic, grade: 0, rating: 1067), Kind(variant: .classic, grade: 1, rating: 1199),
      Kind(variant: .classic, grade: 2, rating: 1204), Kind(variant: .classic, grade: 3, rating: 1443),
      Kind(variant: .classic, grade: 4, rating: 1494), Kind(variant: .classic, grade: 5, rating: 1373),
      Kind(variant: .classic, grade: 6, rating: 1504), Kind(variant: .infinite, grade: 1, rating: 1133),
      Kind(variant: .infinite, grade: 2, rating: 1414), Kind(variant: .infinite, grade: 3, rating: 1491),
      Kind(variant: .misere, grade: 0, rating: 1428), Kind(variant: .misere, grade: 1, rating: 1446),
      Kind(variant: .ultimate, grade: 0, rating: 1306),
    ]
  }

  package let kind: Kind
  package let state: VariantState
  package let goal: DailyBoard.Goal
  /// The right move, then best play of both sides to the end of the game.
  package let answer: [Cell]

  private init(_ kind: Kind, _ state: VariantState) {
    (self.kind, self.state, answer) = (kind, state, Puzzle.bestPlay(from: state))
    let worth = Puzzle.evaluation(of: state)
    goal = worth.value == .win ? .win(moves: (worth.distance + 1) / 2) : .hold
  }

  /// A hash of the game and the position, to recognise a puzzle.
  package var key: UInt64 { fnv1a("\(state.variant.rawValue) \(state.notation)".utf8) }

  package init(of kind: Kind, using random: inout SplitMix64) {
    func choose(_ positions: [Position]) -> Position { positions[random.below(positions.count)] }
    switch kind.variant {
    case .classic: self.init(kind, .classic(choose(DailyBoard.grades[kind.grade])))
    case .misere: self.init(kind, .misere(choose(kind.grade == 0 ? Puzzle.misere.wins : Puzzle.misere.draws)))
    case .infinite: self.init(kind, DailyBoard.infinite(moves: kind.grade, using: &random))
    case .ultimate:
      let solver = UltimateSolver(entries: 1 << 14)
      var state = DailyBoard.ultimate(using: &random)
      while !Puzzle.isUnique(state, solver) { state = DailyBoard.ultimate(using: &random) }
      self.init(kind, .ultimate(state))
    }
  }

  /// A puzzle that a player of this rating solves about 65 times in 100, preferably none of the puzzles with the keys `seen`.
  package static func next(
    for rating: Double, of games: Set<Variant>, except seen: [UInt64], using random: inout SplitMix64
  ) -> Puzzle {
    // Glicko-2 expects 0.65 points from a player rated 400 · log₁₀(0.65 / 0.35) = 108 above a puzzle.
    let target = rating - 108
    // Random points make the kinds vary.
    let kinds = Kind.all.filter { games.contains($0.variant) }
      .map { (kind: $0, distance: abs($0.rating - target) + Double(random.below(120))) }
      .sorted { $0.distance < $1.distance }.map { $0.kind }
    for kind in kinds {
      for _ in 0..<60 {
        let puzzle = Puzzle(of: kind, using: &random)
        if !seen.contains(puzzle.key) { return puzzle }
      }
    }
    return Puzzle(of: kinds.first ?? Kind.all[0], using: &random)
  }

  // MARK: - Exact values

  private static func evaluation(of state: VariantState) -> Evaluation {
    switch state {
    case .classic(let position): return Solver.shared.evaluation(of: position)
    case .misere(let position): return Solver.misere.evaluation(of: position)
    case .infinite(let state): return InfiniteTable.shared.evaluation(of: state)
    case .ultimate(let state):
      if let outcome = Ultimate.outcome(of: state) {
        return Evaluation(value: outcome == .draw ? .draw : .loss, distance: 0)
      }
      if let plies = pliesToWin(state, moves: 2) { return Evaluation(value: .win, distance: plies) }
      if let plies = pliesToLoss(state, moves: 1) { return Evaluation(value: .loss, distance: plies) }
      return Evaluation(value: .draw, distance: 0)
    }
  }

  /// Plies until the side to move wins, if it can force the win in at most `moves` moves of its own; else `nil`.
  private static func pliesToWin(_ state: Ultimate.State, moves: Int) -> Int? {
    if state.isGiven { return 1 }
    guard moves > 1 else { return nil }
    return Ultimate.moves(state).compactMap { cell in
      var after = state
      return after.mark(cell) == nil ? pliesToLoss(after, moves: moves - 1).map { $0 + 1 } : nil
    }.min()
  }

  /// Plies until the side to move loses, if its opponent can force this loss with at most `moves` moves; else `nil`.
  private static func pliesToLoss(_ state: Ultimate.State, moves: Int) -> Int? {
    guard !state.isGiven else { return nil }
    var longest = 0
    for cell in Ultimate.moves(state) {
      var after = state
      guard after.mark(cell) == nil, let plies = pliesToWin(after, moves: moves) else { return nil }
      longest = max(longest, plies + 1)
    }
    return longest
  }

  /// Whether the solver proves that exactly one move wins. Searches at most 2,000 positions for each move (a few milliseconds).
  private static func isUnique(_ state: Ultimate.State, _ solver: UltimateSolver) -> Bool {
    var winning = 0
    for cell in Ultimate.moves(state) {
      var after = state
      _ = after.mark(cell)
      guard let value = solver.value(of: after, limit: 2_000) else { return false }
      if value == .loss { winning += 1 }
    }
    return winning == 1
  }

  /// The winner hurries and the loser delays.
  private static func bestPlay(from start: VariantState) -> [Cell] {
    var (state, cells) = (start, [Cell]())
    while state.outcome == nil {
      var best: (cell: Cell, rank: Int)?
      for cell in state.moves {
        var after = state
        after.play(cell)
        let worth = evaluation(of: after)
        let rank =
          switch worth.value {
          case .loss: 100 - worth.distance
          case .draw: 0
          case .win: worth.distance - 100
          }
        if rank > best?.rank ?? .min { best = (cell, rank) }
      }
      guard let best else { break }
      state.play(best.cell)
      cells.append(best.cell)
    }
    return cells
  }

  /// The positions of misère with a single right move.
  private static let misere: (wins: [Position], draws: [Position]) = {
    var (wins, draws) = ([Position](), [Position]())
    for position in Solver.positions where position.empty.count >= 3 && position.outcome == nil {
      let value = Solver.misere.evaluation(of: position).value
      guard value != .loss, Solver.misere.valuePreservingMoves(in: position).count == 1 else { continue }
      if value == .win { wins.append(position) } else { draws.append(position) }
    }
    return (wins, draws)
  }()
}

package struct PuzzleProgress: Sendable, Hashable {
  package private(set) var rating = Glicko2.Rating()
  /// The most puzzles solved in a run of three minutes.
  package var best = 0
  private var seen: [UInt64] = []

  package init() {}

  /// The number of puzzles remembered, so that they are not shown again.
  package static let memory = 200

  /// Chooses a puzzle and records it as shown.
  package mutating func next(of games: Set<Variant>, using random: inout SplitMix64) -> Puzzle {
    let puzzle = Puzzle.next(for: rating.value, of: games, except: seen, using: &random)
    seen = seen.suffix(PuzzleProgress.memory - 1) + [puzzle.key]
    return puzzle
  }

  package mutating func rate(_ puzzle: Puzzle, isSolved: Bool) {
    // Puzzles of a kind have one rating here, but are not equally hard: 80 is about the standard deviation of their own ratings.
    let board = Glicko2.Rating(value: puzzle.kind.rating, deviation: 80)
    rating = Glicko2.rate(rating, [(board, isSolved ? 1 : 0)])
    rating.value = min(max(rating.value, 400), 3_000)
  }

  // MARK: - Text

  /// Three lines: `rating` (value and deviation times 100, volatility times 1,000,000), `best`, and the keys `seen`.
  package var text: String {
    func scaled(_ value: Double, _ factor: Double) -> Int { Int((value * factor).rounded()) }
    return """
      rating \(scaled(rating.value, 100)) \(scaled(rating.deviation, 100)) \(scaled(rating.volatility, 1_000_000))
      best \(best)
      seen \(seen.map { String($0, radix: 16) }.joined(separator: " "))

      """
  }

  /// Reads a text that `text` has written. Damaged lines count as missing.
  package init(text: String) {
    for line in text.unicodeScalars.split(separator: "\n") {
      let words = line.split(separator: " ").map { String($0) }
      let numbers = words.dropFirst().compactMap { Int($0) }
      switch words.first {
      case "rating" where numbers.count == 3:
        guard (40_000...300_000).contains(numbers[0]), (3_000...35_000).contains(numbers[1]),
          (1_000...500_000).contains(numbers[2])
        else { continue }
        rating = Glicko2.Rating(
          value: Double(numbers[0]) / 100, deviation: Double(numbers[1]) / 100,
          volatility: Double(numbers[2]) / 1_000_000)
      case "best" where numbers.count == 1: best = min(max(numbers[0], 0), 9_999)
      case "seen": seen = words.dropFirst().suffix(PuzzleProgress.memory).compactMap { UInt64($0, radix: 16) }
      default: break
      }
    }
  }
}
