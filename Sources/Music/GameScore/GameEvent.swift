import TicTacToe

/// A game event to which the score responds.
package enum GameEvent: Sendable, Hashable {
  /// The first sound of a session; when `resuming` a game, only the low tonic.
  case opened(resuming: Bool)
  /// A new game or rematch from a position; `human` is the side of the only local human, if there is exactly one. `awoke`: whether
  /// a resumed game already had its awakening.
  case gameStarted(VariantState, human: Player?, awoke: Bool = false)
  /// A network match begins: its music depends only on the seed, the moves and their logged times, so that it is equal for all
  /// listeners. `station` is the match's position in the cycle of tonics, from 0; it wraps around.
  case matchStarted(Variant = .classic, seed: UInt64, station: Int = 0)
  /// The logged time of the last move has become known; the move sounded before.
  case logged
  /// A player made a move.
  case moved(VariantMove)
  /// The game ended other than by a move (resignation, time, agreement, abandonment), or by the last reported move.
  case ended(GameEnd)
  /// The last move was taken back.
  case undone
  /// A player's click or command was refused.
  case refused
  /// An empty cell is hovered or focused; `nil` if no cell is any more.
  case previewed(Cell?)
  /// The opponent's connection was lost or restored.
  case connection(lost: Bool)
  /// A clock fell below ten seconds (`true`) or is above ten again (`false`).
  case clockLow(Bool)
}
