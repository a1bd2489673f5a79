import Base
import Opponents
import Oracle
import TicTacToe

extension PlayerSpec {
  /// Whether it plays a variant.
  func plays(_ variant: Variant) -> Bool {
    switch (self, variant) {
    case (_, .classic), (.simple(.random), _), (.engine, _): true
    default: false
    }
  }

  /// What may be written for a variant, for messages.
  static func allowed(in variant: Variant) -> String {
    variant == .classic ? allowed : "\(SimpleOpponent.random.name), cmd:COMMAND"
  }

  /// How one of Alina's own players chooses a move of a variant; `nil` where it does not play it.
  func choice<R: Rules>(_ rules: R.Type) -> VariantPlayer<R>.Choice? {
    guard plays(R.variant), !isEngine else { return nil }
    return { state, generator, _ in R.moves(state).randomCell(using: &generator) }
  }
}
