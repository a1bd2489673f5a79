import Base
import Oracle
import TicTacToe

/// A player of Infinite whose exact chances of every move depend on the board alone: the other side's newest mark shows the last move.
package enum InfiniteOpponent: Sendable, Hashable {
  /// On a won board, `perfect` and `trap` choose only the quickest wins: a player that postpones the win at every move never wins.
  case simple(SimpleOpponent)
  case level(InfiniteLevel)

  /// A stable name: `random`, `perfect`, …, `levels:N`.
  package var name: String {
    switch self {
    case .simple(let simple): simple.name
    case .level(let level): level.name
    }
  }

  package func distribution(on board: Infinite.Board) -> MoveDistribution {
    switch self {
    case .simple(let simple): MoveDistribution(uniformOver: InfiniteOpponent.moves(of: simple, on: board))
    case .level(let level): level.distribution(on: board)
    }
  }

  /// Uses one number of the generator.
  package func move(in state: Infinite.State, using generator: inout SplitMix64) -> Cell {
    Cell(rawValue: distribution(on: state.board).draw(using: &generator).rawValue)
  }

  static func moves(of player: SimpleOpponent, on board: Infinite.Board) -> SquareSet {
    switch player {
    case .random: return board.moves
    case .perfect: return InfiniteTable.shared.bestMoves(on: board, delaying: false)
    case .perfectDistance: return InfiniteTable.shared.bestMoves(on: board, delaying: true)
    case .winBlock:
      let wins = [board.turn, board.turn.opponent].map { board.winningSquares(for: $0) }
      return wins.first { !$0.isEmpty } ?? board.moves
    case .trap: return InfiniteTable.shared.luringMoves(on: board)
    }
  }
}

extension InfiniteTable {
  /// On a won board the quickest wins. Otherwise, of the value-preserving moves, those after which the greatest share of replies loses
  /// value.
  func luringMoves(on board: Infinite.Board) -> SquareSet {
    let keeping = bestMoves(on: board, delaying: true)
    if evaluation(of: board).value == .win { return keeping }
    return keeping.greatest { (square) -> Double in
      var after = board
      after.play(square)
      let replies = after.moves.count
      let errors = replies - bestMoves(on: after, delaying: false).count
      return replies == 0 ? 0 : Double(errors) / Double(replies)
    }
  }
}

/// A level for Infinite: how often it overlooks each kind of move.
package struct InfiniteLevel: NumberedLevel {
  package let number: Int
  /// How many of 20 chances to complete its line the level overlooks: lower bound near the last move, upper bound elsewhere.
  let win: ClosedRange<Int>
  /// How many of 20 chances to block a line the level overlooks: lower bound near the last move, upper bound elsewhere.
  let block: ClosedRange<Int>
  /// In how many of 20 moves the level overlooks the best moves by `InfiniteTable`: lower bound near the last move, upper bound elsewhere.
  let ahead: ClosedRange<Int>

  package static let all: [InfiniteLevel] = [
    InfiniteLevel(number: 1, win: 9...14, block: 14...18, ahead: 20...20),
    InfiniteLevel(number: 2, win: 4...9, block: 7...13, ahead: 18...20),
    InfiniteLevel(number: 3, win: 2...5, block: 3...7, ahead: 15...18),
    InfiniteLevel(number: 4, win: 0...2, block: 1...3, ahead: 10...14),
    InfiniteLevel(number: 5, win: 0...0, block: 0...1, ahead: 5...8),
    InfiniteLevel(number: 6, win: 0...0, block: 0...0, ahead: 0...0),
  ]

  package func distribution(on board: Infinite.Board) -> MoveDistribution {
    if number == 6 { return MoveDistribution(uniformOver: InfiniteTable.shared.luringMoves(on: board)) }
    // The most important kind of moves comes last. A player that overlooks a kind chooses by the chances before this kind was added.
    var result = MoveDistribution(uniformOver: board.moves)
    let near = MistakeRates.near(board[board.turn.opponent].squares.last)
    result.see(InfiniteTable.shared.bestMoves(on: board, delaying: true), near: near, overlooking: ahead)
    result.see(board.winningSquares(for: board.turn.opponent), near: near, overlooking: block)
    result.see(board.winningSquares(for: board.turn), near: near, overlooking: win)
    return result
  }
}
