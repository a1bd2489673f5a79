import TicTacToe

/// Something the score must answer, as the session reports it.
package enum Happening: Sendable, Hashable {
  /// The first sound of a session; `resuming` an unfinished game sounds the low B only.
  case opened(resuming: Bool)
  /// A new game or rematch from a position; `human` is the one local human's side, if there is exactly one. `awoke` says
  /// that a game that is taken up again has had its awakening.
  case gameStarted(VariantState, human: Player?, awoke: Bool = false)
  /// A match over the network begins: what is composed depends on this seed, its moves and the times that its log gives
  /// them, whoever listens. `station` is its place on the way through the tonics, from 0; it goes round.
  case matchStarted(Variant = .classic, seed: UInt64, station: Int = 0)
  /// The log of a match has given the last move its time, which was heard before that was known.
  case logged
  /// A move was played.
  case moved(VariantMove)
  /// The game ended other than by a move (resignation, flag, agreement, abandonment), or by the move just reported.
  case ended(GameEnd)
  /// The last bar's move was taken back.
  case undone
  /// A move was refused.
  case refused
  /// Pointer or keyboard rests on an empty cell, or no longer does.
  case previewed(Cell?)
  /// The opponent's connection was lost or is back.
  case connection(lost: Bool)
  /// A clock fell under ten seconds, or no longer is.
  case clockLow(Bool)
}
