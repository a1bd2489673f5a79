import Base
import Oracle
import TicTacToe

/// A player of Infinite whose chances of every move are known exactly. The chances depend on the board alone: the other side's newest
/// mark shows the last move.
package enum InfiniteOpponent: Sendable, Hashable {
  /// A player that takes a random move of a set. On a won board the sets of `perfect` and `trap` have only the quickest wins: a player
  /// that postpones the win at every move never wins.
  case simple(SimpleOpponent)
  /// One of the six levels that users choose from.
  case level(InfiniteLevel)

  /// The player's stable name: `random`, `perfect`, …, `levels:N`.
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

  /// Draws a move of a live state by its exact chances; uses one number of the generator.
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
  /// On a won board the quickest wins. Otherwise, of the value-preserving moves (on a lost board, the slowest losses), those after which
  /// the greatest share of replies loses value.
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

/// One of the six levels that users choose from, for Infinite: how often it overlooks each kind of move.
package struct InfiniteLevel: NumberedLevel {
  /// The level, 1 (weakest) to 6.
  package let number: Int
  /// How many of twenty chances to complete its line the level overlooks: the lower bound for cells that touch the
  /// cell of the other side's last move (also at a corner), the upper bound for all others.
  let win: ClosedRange<Int>
  /// How many of twenty chances to block the other side's line the level overlooks: the lower bound for cells that touch the
  /// cell of the other side's last move (also at a corner), the upper bound for all others.
  let block: ClosedRange<Int>
  /// In how many of twenty moves the level overlooks the best moves by `InfiniteTable`: on a won board the quickest wins, on a lost board
  /// the slowest losses, else all moves that keep the draw. The lower bound is for cells that touch the cell of the other side's last move
  /// (also at a corner), the upper bound for all others.
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
    // Begin with equal chances for all moves. Then add one kind of moves after another, the most important kind last. If the player
    // overlooks the added kind, it chooses by the chances before this kind was added.
    var result = MoveDistribution(uniformOver: board.moves)
    let near = MistakeRates.near(board[board.turn.opponent].squares.last)
    result.see(InfiniteTable.shared.bestMoves(on: board, delaying: true), near: near, overlooking: ahead)
    result.see(board.winningSquares(for: board.turn.opponent), near: near, overlooking: block)
    result.see(board.winningSquares(for: board.turn), near: near, overlooking: win)
    return result
  }
}
