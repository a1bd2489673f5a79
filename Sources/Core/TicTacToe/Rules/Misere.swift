/// The side that completes a line loses.
package enum Misere: PositionRules {
  package static var variant: Variant { .misere }

  package static func state(of position: VariantState) -> Position? {
    if case .misere(let state) = position { state } else { nil }
  }

  package static func outcome(of state: Position) -> Outcome? { state.outcome?.swapped }
}
