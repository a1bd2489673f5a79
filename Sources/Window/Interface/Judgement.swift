import TicTacToe

/// The evaluation of a position's moves, exact or estimated, for the side to move.
package struct Judgement: Sendable, Hashable {
  package enum Worth: Sendable, Hashable {
    /// Exact, from a table or a proof by search; only tables know the plies to the end.
    case known(Value, plies: Int?)
    /// An estimated expected score, 0–1.
    case believed(Double)
  }

  package struct Move: Sendable, Hashable {
    package var cell: Cell
    package var worth: Worth

    package init(cell: Cell, worth: Worth) { (self.cell, self.worth) = (cell, worth) }
  }

  package var moves: [Move]
  /// How long the search took in seconds; `nil` if the values come from a table.
  package var seconds: Double?

  /// The best move.
  package var best: Cell

  package init(moves: [Move], best: Cell, seconds: Double? = nil) {
    (self.moves, self.best, self.seconds) = (moves, best, seconds)
  }

  package subscript(cell: Cell) -> Worth? { moves.first { $0.cell == cell }?.worth }
}
