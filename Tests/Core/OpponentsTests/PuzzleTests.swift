import Base
import Opponents
import Oracle
import Testing
import TicTacToe

@Suite struct PuzzleTests {
  /// `nil` in Ultimate, where a level searches instead of drawing from a distribution.
  private func chance(_ level: Int, _ puzzle: Puzzle) -> Double? {
    let square = Square(puzzle.answer[0].index % 9)
    switch puzzle.state {
    case .classic(let position):
      return Level.all[level - 1].distribution(in: position, lastMove: nil).probability(of: square)
    case .misere(let position):
      return MisereOpponent.level(MisereLevel.all[level - 1]).distribution(in: position, lastMove: nil)
        .probability(of: square)
    case .infinite(let state): return InfiniteLevel.all[level - 1].distribution(on: state.board).probability(of: square)
    case .ultimate: return nil
    }
  }

  @Test(arguments: Puzzle.Kind.all)
  func `exactly one move reaches a puzzle's goal, and the answer continues from that move to the end`(kind: Puzzle.Kind)
  {
    var random = SplitMix64(seed: 5)
    let solver = UltimateSolver(entries: 1 << 16)
    for _ in 0..<(kind.variant == .ultimate ? 10 : 50) {
      let puzzle = Puzzle(of: kind, using: &random)
      let right = puzzle.state.moves.filter { cell in
        var after = puzzle.state
        after.play(cell)
        let value: Value? =
          switch after {
          case .classic(let position): Solver.shared.evaluation(of: position).value
          case .misere(let position): Solver.misere.evaluation(of: position).value
          case .infinite(let state): InfiniteTable.shared.evaluation(of: state).value
          case .ultimate(let state): solver.value(of: state, limit: 100_000)
          }
        return puzzle.goal == .hold ? value == .draw : value == .loss
      }
      #expect(right == [puzzle.answer[0]], "\(puzzle.state.notation)")
      var state = puzzle.state
      for cell in puzzle.answer { state.play(cell) }
      switch puzzle.goal {
      case .win(let moves):
        // In Misère the loser makes the last move, so the number of plies is even.
        #expect(state.outcome == .win(puzzle.state.turn) && (puzzle.answer.count + 1) / 2 == moves)
      case .hold: #expect(state.outcome == .draw)
      }
    }
  }

  @Test(arguments: [(1, 1_210.0), (2, 1_407), (3, 1_493), (4, 1_640)])
  func `after 20 puzzles a level's rating is near its rating after 120, and the level then solves about two of three`(
    level: Int, expected: Double
  ) throws {
    var (sum, solved, count) = (0.0, 0, 0)
    let players = 40
    for player in 0..<players {
      var random = SplitMix64(seed: UInt64(player), index: UInt64(level))
      var progress = PuzzleProgress()
      for number in 1...60 {
        let puzzle = progress.next(of: [.classic, .infinite, .misere], using: &random)
        let isSolved = Double(random.below(1_000_000)) / 1_000_000 < (try #require(chance(level, puzzle)))
        progress.rate(puzzle, isSolved: isSolved)
        if number == 20 { sum += progress.rating.value }
        if number > 20 { (solved, count) = (solved + (isSolved ? 1 : 0), count + 1) }
      }
    }
    #expect(abs(sum / Double(players) - expected) < 75, "level \(level): \(sum / Double(players))")
    let share = Double(solved) / Double(count)
    #expect((0.58...0.74).contains(share), "level \(level): \(share)")
  }

  @Test(arguments: [[Variant.classic], [.classic, .infinite, .misere]], [600.0, 1_500, 3_000])
  func `of any 200 successive puzzles no two are the same`(games: [Variant], rating: Double) {
    var random = SplitMix64(seed: 1)
    var keys: [UInt64] = []
    for _ in 0..<600 {
      let seen = Array(keys.suffix(PuzzleProgress.memory - 1))
      let puzzle = Puzzle.next(for: rating, of: Set(games), except: seen, using: &random)
      #expect(!seen.contains(puzzle.key))
      keys.append(puzzle.key)
    }
  }

  @Test func `a player's results in puzzles are read as they were written, and damaged lines count as missing`() {
    var random = SplitMix64(seed: 3)
    var progress = PuzzleProgress()
    for number in 0..<250 {
      progress.rate(progress.next(of: [.classic, .infinite], using: &random), isSolved: number % 3 > 0)
    }
    progress.best = 12
    let text = progress.text
    #expect(
      PuzzleProgress(text: text).text == text && text.split(separator: "\n")[2].split(separator: " ").count == 201)
    for damaged in ["", "rating 1 2", "rating 99999999999 0 0\nbest -3\nseen zz", "\u{0}", "best 99999"] {
      let read = PuzzleProgress(text: damaged)
      #expect(read.rating == Glicko2.Rating() && (0...9_999).contains(read.best), "\(damaged)")
    }
  }
}
