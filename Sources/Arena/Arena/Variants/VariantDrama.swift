import Opponents
import Oracle
import TicTacToe

extension Drama {
  /// Infinite, as classic: 4 points for each half point of value given away, 3 for a fork, 2 for the only move that kept
  /// the value, 1 for a threat and 1 for a block.
  static func infinitePoints(of moves: VariantMoves) -> Int {
    let table = InfiniteTable.shared
    var board = VariantOpening.state(moves.start, Infinite.self).board
    var sum = 0
    for cell in moves.cells {
      let (before, mover, square) = (board, board.turn, Square(cell.index))
      let value = table.evaluation(of: board).value
      board.play(square)
      let lost = Int(value.rawValue + table.evaluation(of: board).value.rawValue)
      let keeping = value == .loss ? 0 : table.bestMoves(on: before, delaying: true).count
      let threats = board.winner == nil ? board.winningSquares(for: mover).count : 0
      sum += 4 * max(0, lost) + (keeping == 1 && lost == 0 ? 2 : 0) + (threats > 1 ? 3 : 0) + (threats > 0 ? 1 : 0)
      sum += before.winningSquares(for: mover.opponent).contains(square) ? 1 : 0
    }
    return sum
  }

  /// Ultimate: 3 points for a won board, 4 more if it blocks three in a row of the other side there, 2 more if it
  /// leaves the winner one board from a line, and 1 for giving the other side a free choice.
  static func ultimatePoints(of moves: VariantMoves) -> Int {
    var state = VariantOpening.state(moves.start, Ultimate.self)
    var sum = 0
    for cell in moves.cells {
      let (mover, before) = (state.turn, state)
      let outcome = Ultimate.play(cell, &state)
      let won = state.boards(of: mover).subtracting(before.boards(of: mover))
      if !won.isEmpty {
        let feared = Line.completions(of: before.boards(of: mover.opponent))
        let prospect = Line.completions(of: state.boards(of: mover)).subtracting(state.closed)
        sum += 3 + (feared.intersection(won).isEmpty ? 0 : 4) + (prospect.isEmpty ? 0 : 2)
      }
      if outcome == nil, state.target == Ultimate.anyBoard { sum += 1 }
    }
    return sum
  }
}
