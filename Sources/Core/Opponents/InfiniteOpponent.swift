import Base
import Oracle
import TicTacToe

/// A player of Infinite whose chances of every move are known exactly: they depend on the board alone, which has the last
/// move in the order of its marks.
package enum InfiniteOpponent: Sendable, Hashable {
  /// The players that choose from a set of moves. `perfect` and `trap` take the quickest way to a win, as a win that is put
  /// off for ever is none.
  case simple(SimpleOpponent)
  /// One of the six opponents of the window.
  case level(InfiniteLevel)

  /// `random`, `perfect`, …, `levels:N`.
  package var name: String {
    switch self {
    case .simple(let simple): simple.name
    case .level(let level): level.name
    }
  }

  /// The exact chances of every move of a live board.
  package func distribution(on board: Infinite.Board) -> MoveDistribution {
    switch self {
    case .simple(let simple): MoveDistribution(uniformOver: InfiniteOpponent.moves(of: simple, on: board))
    case .level(let level): level.distribution(on: board)
    }
  }

  /// Draws a move of a live state by its exact chances, with one number of the generator.
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
  /// The moves that keep the value, the quickest wins of a won board and the longest losses of a lost one; of several those
  /// after which the greatest share of replies loses value.
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

/// One of the six opponents of the window, as it plays Infinite: the rates at which it overlooks things, by kind.
package struct InfiniteLevel: NumberedLevel {
  /// 1 the weakest to 6.
  package let number: Int
  /// In how many moves of twenty its own line is overlooked: the lower bound beside the last move, the upper far from it.
  let win: ClosedRange<Int>
  /// The same of the other side's line.
  let block: ClosedRange<Int>
  /// The same of what the table knows: moves that keep the value of the board.
  let ahead: ClosedRange<Int>

  /// The six levels, weakest first.
  package static let all: [InfiniteLevel] = [
    InfiniteLevel(number: 1, win: 9...14, block: 14...18, ahead: 20...20),
    InfiniteLevel(number: 2, win: 4...9, block: 7...13, ahead: 18...20),
    InfiniteLevel(number: 3, win: 2...5, block: 3...7, ahead: 15...18),
    InfiniteLevel(number: 4, win: 0...2, block: 1...3, ahead: 10...14),
    InfiniteLevel(number: 5, win: 0...0, block: 0...1, ahead: 5...8),
    InfiniteLevel(number: 6, win: 0...0, block: 0...0, ahead: 0...0),
  ]

  /// The exact chances of every move of a live board.
  package func distribution(on board: Infinite.Board) -> MoveDistribution {
    if number == 6 { return MoveDistribution(uniformOver: InfiniteTable.shared.luringMoves(on: board)) }
    // From what is thought of last to what is seen first; what is overlooked falls through to the next.
    var result = MoveDistribution(uniformOver: board.moves)
    let near = MistakeRates.near(board[board.turn.opponent].squares.last)
    result.see(InfiniteTable.shared.bestMoves(on: board, delaying: true), near: near, overlooking: ahead)
    result.see(board.winningSquares(for: board.turn.opponent), near: near, overlooking: block)
    result.see(board.winningSquares(for: board.turn), near: near, overlooking: win)
    return result
  }
}
