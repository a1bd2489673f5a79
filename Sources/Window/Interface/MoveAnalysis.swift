import TicTacToe

/// The evaluation of a position's moves, exact or estimated, for the side to move.
package struct MoveAnalysis: Sendable, Hashable {
  package enum Evaluation: Sendable, Hashable {
    /// An exact value, from a table or from a search that proved the value. Only a table gives the plies to the end of the game.
    case exact(Value, plies: Int?)
    /// An estimate of the score (loss 0, draw 1/2, win 1) that the side to move can expect.
    case estimated(Double)
  }

  package struct Move: Sendable, Hashable {
    package var cell: Cell
    package var evaluation: Evaluation

    package init(cell: Cell, evaluation: Evaluation) { (self.cell, self.evaluation) = (cell, evaluation) }
  }

  package var moves: [Move]
  /// The duration of the search; `nil` if the values come from a table.
  package var seconds: Double?

  package var best: Cell

  package init(moves: [Move], best: Cell, seconds: Double? = nil) {
    (self.moves, self.best, self.seconds) = (moves, best, seconds)
  }

  package subscript(cell: Cell) -> Evaluation? { moves.first { $0.cell == cell }?.evaluation }
}
