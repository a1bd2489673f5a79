import TicTacToe

/// What is known, or believed, of the moves of a position; all of it seen by who is to move.
package struct Judgement: Sendable, Hashable {
  package enum Worth: Sendable, Hashable {
    /// A table or a search has it for certain; the plies to the end are counted by a table alone.
    case known(Value, plies: Int?)
    /// A search believes in this share of the points, 0–1.
    case believed(Double)
  }

  package struct Move: Sendable, Hashable {
    package var cell: Cell
    package var worth: Worth

    package init(cell: Cell, worth: Worth) { (self.cell, self.worth) = (cell, worth) }
  }

  package var moves: [Move]
  /// How long a search has thought; `nil` where a table knows.
  package var seconds: Double?

  /// The move to make.
  package var best: Cell

  package init(moves: [Move], best: Cell, seconds: Double? = nil) {
    (self.moves, self.best, self.seconds) = (moves, best, seconds)
  }

  package subscript(cell: Cell) -> Worth? { moves.first { $0.cell == cell }?.worth }
}
