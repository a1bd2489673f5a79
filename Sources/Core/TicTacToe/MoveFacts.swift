/// What one move did, as music, pictures and analysis want to know it.
package struct MoveFacts: Sendable, Hashable {
  /// The side that moved.
  package let mover: Player
  /// The cell just marked.
  package let square: Square
  /// The number of the move, from 1; the marks now on the board.
  package let ply: Int
  /// The position before the move.
  package let before: Position
  /// The position after the move.
  package let after: Position
  /// The cells with which the mover now threatens to win.
  package let threats: SquareSet
  /// The cells with which the opponent now threatens to win.
  package let opposingThreats: SquareSet
  /// Whether the move took a cell with which the opponent would have won.
  package let isBlock: Bool
  /// Whether the mover now threatens two or more cells, and did not before.
  package let isFork: Bool
  /// The result if the move ended the game.
  package let outcome: Outcome?
  /// What the move was worth; `nil` where no oracle was asked.
  package let values: MoveValues?

  /// Whether the move lost value: a win became a draw or a loss, or a draw became a loss.
  package var isMistake: Bool { values.map { $0.after < $0.before } ?? false }

  /// Whether the move was the only one, of two or more, that kept the value.
  package var isOnlyMove: Bool { values?.isOnlyMove ?? false }

  /// Whether one side now has a winning threat that can no longer be parried.
  package var isDecisive: Bool { after.decidedFor != nil }

  /// The cells of the completed line or lines; empty unless the move won.
  package var winningCells: SquareSet {
    after.completedLines(of: mover).reduce(into: []) { $0.formUnion($1) }
  }

  /// Reads the facts of a legal move; whoever has an oracle hands in what it says.
  package init(before: Position, square: Square, values: MoveValues? = nil) {
    let mover = before.turn
    let after = before.playing(square)
    (self.mover, self.square, self.before, self.after) = (mover, square, before, after)
    self.values = values
    ply = after.ply
    outcome = after.outcome
    threats = outcome == nil ? after.winningSquares(for: mover) : []
    opposingThreats = outcome == nil ? after.winningSquares(for: mover.opponent) : []
    isBlock = before.winningSquares(for: mover.opponent).contains(square)
    isFork = threats.count >= 2 && before.winningSquares(for: mover).count < 2
  }
}
