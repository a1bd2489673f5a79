import Base

/// Three in a line on the 3×3 board. The state is a `Position`; cells and `Square`s have the same numbers.
package enum Classic: Rules {
  package static var variant: Variant { .classic }
  package static var start: Position { .start }

  package static func turn(in state: Position) -> Player { state.turn }

  package static func cells(of player: Player, in state: Position) -> MoveSet { MoveSet(state[player]) }

  package static func moves(_ state: Position) -> MoveSet { MoveSet(state.legalMoves) }

  package static func play(_ cell: Cell, _ state: inout Position) -> Outcome? {
    state = state.playing(Square(cell.index))
    return state.outcome
  }

  package static func outcome(of state: Position) -> Outcome? { state.outcome }

  package static func state(notation: String) throws(NotationError) -> Position { try Position(notation: notation) }
}
