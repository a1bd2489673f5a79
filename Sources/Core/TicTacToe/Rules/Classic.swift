import Base

package enum Classic: PositionRules {
  package static var variant: Variant { .classic }

  package static func state(of position: VariantState) -> Position? {
    if case .classic(let state) = position { state } else { nil }
  }

  package static func outcome(of state: Position) -> Outcome? { state.outcome }
}

/// Games on the 3×3 board in which marks stay. A cell is a `Square` of the same number.
package protocol PositionRules: Rules where State == Position {}

extension PositionRules {
  package static var start: Position { .start }

  package static func turn(in state: Position) -> Player { state.turn }

  package static func cells(of player: Player, in state: Position) -> MoveSet { MoveSet(state[player]) }

  package static func moves(_ state: Position) -> MoveSet { MoveSet(state.legalMoves) }

  package static func play(_ cell: Cell, _ state: inout Position) -> Outcome? {
    state = state.playing(Square(cell.index))
    return outcome(of: state)
  }

  package static func notation(of state: Position) -> String { state.notation }

  package static func state(notation: String) throws(NotationError) -> Position { try Position(notation: notation) }
}
