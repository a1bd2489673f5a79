/// What one move did, as music, pictures and analysis want to know it; computed by the rules and the solver alone.
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
  /// The value before the move, for the mover.
  package let valueBefore: Value
  /// The value after the move, for the mover.
  package let valueAfter: Value
  /// The cells with which the mover now threatens to win.
  package let threats: SquareSet
  /// The cells with which the opponent now threatens to win.
  package let opposingThreats: SquareSet
  /// Whether the move took a cell with which the opponent would have won.
  package let isBlock: Bool
  /// Whether the mover now threatens two or more cells, and did not before.
  package let isFork: Bool
  /// Whether the move was the only one, of two or more, that kept the value.
  package let isOnlyMove: Bool
  /// Whether this is the first position of the game in which a winning threat can no longer be parried.
  package let isAwakening: Bool
  /// The result if the move ended the game.
  package let outcome: Outcome?

  /// Whether the move lost value (win to draw, draw to loss, or win to loss).
  package var isMistake: Bool { valueAfter < valueBefore }

  /// The cells of the completed line or lines; empty unless the move won.
  package var winningCells: SquareSet {
    after.completedLines(of: mover).reduce(into: []) { $0.formUnion($1) }
  }

  /// Reads the facts of a legal move; `awakened` tells that an earlier position of the game was the awakening.
  package init(before: Position, square: Square, awakened: Bool, solver: Solver = .shared) {
    let mover = before.turn
    let after = before.playing(square)
    (self.mover, self.square, self.before, self.after) = (mover, square, before, after)
    ply = after.ply
    valueBefore = solver.evaluation(of: before).value
    valueAfter = solver.evaluation(of: after).value.negated
    outcome = after.outcome
    threats = outcome == nil ? after.winningSquares(for: mover) : []
    opposingThreats = outcome == nil ? after.winningSquares(for: mover.opponent) : []
    isBlock = before.winningSquares(for: mover.opponent).contains(square)
    isFork = threats.count >= 2 && before.winningSquares(for: mover).count < 2
    isOnlyMove =
      before.legalMoves.count >= 2 && solver.valuePreservingMoves(in: before) == SquareSet(square)
    isAwakening = !awakened && after.decidedFor != nil
  }
}
