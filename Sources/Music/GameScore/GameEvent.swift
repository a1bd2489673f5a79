import TicTacToe

package enum GameEvent: Sendable, Hashable {
  /// A session begins to sound: with the opening phrase, or with the low tonic alone if `resuming` a game.
  case opened(resuming: Bool)
  /// A game begins or is resumed. `human` is the side of the only local human, if any; `awoke` is whether the awakening came before.
  case gameStarted(VariantState, human: Player?, awoke: Bool = false)
  /// A network match begins. Its music depends only on the seed, the moves and their logged times, so that all listeners hear the same.
  /// `station` is the match's position in the cycle of tonics, from 0.
  case matchStarted(Variant = .classic, seed: UInt64, station: Int = 0)
  /// A match's last move sounded before its time in the log was known. Now the time is known: `handle` receives it as `logged`.
  case logged
  /// Free play begins: its music depends only on the seed, the position in the cycle of tonics, the touches and their times.
  case freePlayStarted(seed: UInt64, place: Int)
  /// A cell was touched in free play; the touch sounds in the register of the given side.
  case touched(Square, Player)
  case moved(VariantMove)
  /// The game ended by resignation, time, agreement or abandonment, or by the last move, which `moved` has reported already.
  case ended(GameEnd)
  case undone
  case refused
  /// An empty cell is hovered or focused; `nil` if no cell is hovered or focused any more.
  case previewed(Cell?)
  case connection(lost: Bool)
  /// The time on a player's clock fell below ten seconds (`true`) or is above ten seconds again (`false`).
  case clockLow(Bool)
}
