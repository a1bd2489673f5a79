import Base
import TestSupport
import Testing

@testable import Opponents
@testable import Oracle
import TicTacToe

@Suite("The table that solves Infinite") struct InfiniteTableTests {
  private let table = InfiniteTable.shared

  @Test func `X wins in thirteen plies, and only from an edge`() {
    #expect(table.evaluation(of: Infinite.start) == Evaluation(value: .win, distance: 13))
    for (cell, after) in table.moveEvaluations(in: Infinite.start) {
      let isEdge = cell.index % 2 == 1
      #expect(after == (isEdge ? Evaluation(value: .loss, distance: 12) : Evaluation(value: .draw, distance: 99)))
    }
    #expect(table.bestMoves(on: Infinite.start.board, delaying: false).map(\.index) == [1, 3, 5, 7])
    let census = table.census
    #expect(census.boards == 73_450 && census.finished == 6768)
    #expect([census.wins, census.losses, census.draws] == [45_709, 13_388, 7585])
    #expect(census.longestDistance == 17)
  }

  /// The value from a search of `depth` plies without `InfiniteTable`; `nil` if the value needs more plies.
  private func search(_ board: Infinite.Board, _ depth: Int) -> Evaluation? {
    if board.winner != nil { return Evaluation(value: .loss, distance: 0) }
    guard depth > 0 else { return nil }
    var longest = 0
    var isLost = true
    var quickest: Int?
    for square in board.moves {
      var after = board
      after.play(square)
      switch search(after, depth - 1) {
      case let reply? where reply.value == .loss: quickest = min(quickest ?? .max, reply.distance + 1)
      case let reply? where reply.value == .win: longest = max(longest, reply.distance + 1)
      default: isLost = false
      }
    }
    if let quickest { return Evaluation(value: .win, distance: quickest) }
    return isLost ? Evaluation(value: .loss, distance: longest) : nil
  }

  @Test func `the table agrees with an independent search`() {
    let depth = 6
    for game in 0..<amount("ALINA_INFINITE_BOARDS", quick: 150, all: 3000) {
      var generator = SplitMix64(seed: 34, index: UInt64(game))
      var state = Infinite.start
      while Infinite.outcome(of: state) == nil {
        let value = table.evaluation(of: state.board)
        let isNear = value.value != .draw && value.distance <= depth
        #expect(search(state.board, depth) == (isNear ? value : nil), "\(Infinite.notation(of: state))")
        _ = Infinite.play(Infinite.moves(state).randomCell(using: &generator), &state)
      }
    }
  }

  @Test func `best play by the table wins within the stated plies from every won position of random games`() {
    for game in 0..<amount("ALINA_INFINITE_WINS", quick: 500, all: 20_000) {
      var generator = SplitMix64(seed: 35, index: UInt64(game))
      var state = Infinite.start
      for _ in 0..<generator.below(20) where Infinite.outcome(of: state) == nil {
        _ = Infinite.play(Infinite.moves(state).randomCell(using: &generator), &state)
      }
      let evaluation = table.evaluation(of: state)
      guard Infinite.outcome(of: state) == nil, evaluation.value == .win else { continue }
      let (winner, begun) = (state.board.turn, state.plies)
      var outcome: Outcome?
      while outcome == nil {
        let best = MoveSet(table.bestMoves(on: state.board, delaying: false))
        let moves = state.board.turn == winner ? best : Infinite.moves(state)
        outcome = Infinite.play(moves.randomCell(using: &generator), &state)
      }
      #expect(outcome == .win(winner) && state.plies - begun <= evaluation.distance)
    }
  }

  @Test func `a win after the hundredth ply is a draw, and so is a third repetition`() throws {
    var late = 0
    for game in 0..<200 {
      var generator = SplitMix64(seed: 37, index: UInt64(game))
      var state = Infinite.start
      for _ in 0..<10 where Infinite.outcome(of: state) == nil {
        _ = Infinite.play(Infinite.moves(state).randomCell(using: &generator), &state)
      }
      let value = table.evaluation(of: state.board)
      guard Infinite.outcome(of: state) == nil, value.value != .draw else { continue }
      // The same board at two plies: first the win comes just before the limit (a draw at ply 100), two plies later it comes too late.
      let marks = Infinite.notation(of: state).split(separator: " ")[0]
      let side = state.board.turn == .x ? "x" : "o"
      let plies = Infinite.plyLimit - value.distance
      guard (plies % 2 == 0) == (side == "x") else { continue }
      let inTime = try Infinite.state(notation: "\(marks) \(side) \(plies)")
      #expect(table.evaluation(of: inTime) == value)
      guard value.distance > 2 else { continue }
      let tooLate = try Infinite.state(notation: "\(marks) \(side) \(plies + 2)")
      #expect(table.evaluation(of: tooLate) == Evaluation(value: .draw, distance: value.distance - 2))
      late += 1
    }
    #expect(late > 10)
    // The third occurrence of a board is a draw.
    var state = Infinite.start
    let (x, o) = ([0, 1, 5, 6], [2, 3, 7, 8])
    for ply in 0..<21 { _ = Infinite.play(Cell(ply % 2 == 0 ? x[ply / 2 % 4] : o[ply / 2 % 4]), &state) }
    let repeating = Cell(o[21 / 2 % 4])
    let after = try #require(table.moveEvaluations(in: state).first { $0.cell == repeating }).after
    #expect(after == Evaluation(value: .draw, distance: 0))
  }

  @Test func `a board is read back from its number, and images of a board have the same canonical number`() {
    for number in stride(from: 0, to: InfiniteTable.boardCount, by: runsAll ? 1 : 7) {
      let board = InfiniteTable.board(number: number)
      #expect(InfiniteTable.number(of: board) == number)
      var image = Infinite.Board()
      for square in board.x.squares { image.x.append(Symmetry.all[5](square)) }
      for square in board.o.squares { image.o.append(Symmetry.all[5](square)) }
      image.turn = board.turn
      #expect(InfiniteTable.canonicalNumber(of: image) == InfiniteTable.canonicalNumber(of: board))
    }
  }
}

@Suite("Opponents of Infinite") struct InfiniteOpponentTests {
  /// `player` has X in half of the games.
  private func odds(_ player: InfiniteOpponent, against other: InfiniteOpponent) -> Odds {
    Odds(asX: .ofInfinite(x: player, o: other), asO: .ofInfinite(x: other, o: player))
  }

  @Test func `every level is better than the level below it, in direct games and against all players`() {
    for (below, level) in zip(InfiniteLevel.all, InfiniteLevel.all.dropFirst()) {
      let score = odds(.level(level), against: .level(below)).score
      #expect((0.65...0.85).contains(score), "\(level.name) scores \(score)")
      for other in [SimpleOpponent.random, .perfect] {
        let (stronger, weaker) = (
          odds(.level(level), against: .simple(other)), odds(.level(below), against: .simple(other))
        )
        #expect(stronger.score > weaker.score)
      }
    }
  }

  @Test func `level 6 and the perfect player win every game in which they move first`() {
    for player in [InfiniteOpponent.level(InfiniteLevel.all[5]), .simple(.perfect), .simple(.perfectDistance)] {
      #expect(Odds.ofInfinite(x: player, o: .simple(.perfect)).win > 1 - 1e-12)
      #expect(Odds.ofInfinite(x: player, o: .simple(.random)).win > 1 - 1e-12)
    }
  }

  @Test func `the results of played games agree with the exact chances`() {
    let games = amount("ALINA_INFINITE_ODDS", quick: 3000, all: 100_000)
    let (x, o) = (InfiniteOpponent.level(InfiniteLevel.all[2]), InfiniteOpponent.simple(.winBlock))
    let odds = Odds.ofInfinite(x: x, o: o)
    var wins = 0
    for game in 0..<games {
      var generator = SplitMix64(seed: 36, index: UInt64(game))
      var state = Infinite.start
      var outcome: Outcome?
      while outcome == nil {
        outcome = Infinite.play((state.board.turn == .x ? x : o).move(in: state, using: &generator), &state)
      }
      if outcome == .win(.x) { wins += 1 }
    }
    // Allows five standard deviations, and 0.2 % more because the exact chances leave out games that end by repetition.
    let deviation = (odds.win * (1 - odds.win) / Double(games)).squareRoot()
    #expect(abs(Double(wins) / Double(games) - odds.win) < 5 * deviation + 0.002)
  }
}
