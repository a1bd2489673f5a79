import MatchProtocol
import TicTacToe

/// A match as the client shows it: the confirmed state, and the player's unconfirmed move.
package struct MatchView: Sendable, Hashable {
  /// A move that the client shows before the server has answered.
  package struct Pending: Sendable, Hashable {
    /// The number of moves made before this move.
    package var ply: Int
    package var cell: Cell
  }

  /// The state that the server has confirmed, checked by the events' hashes.
  package internal(set) var state: MatchState
  /// `nil` for a spectator.
  package internal(set) var you: Player?
  package internal(set) var pending: Pending?
  /// Milliseconds that the side to move had left at `leftAt`.
  package internal(set) var left: Int?
  /// When the side to move had `left`, on the clock `MatchClient.now`.
  package internal(set) var leftAt: Int64 = 0
  /// When the player may claim the win, on the clock `MatchClient.now`; `nil` while the opponent is connected.
  package internal(set) var claimableAt: Int64?

  /// The confirmed position with the pending move.
  package var position: VariantState {
    var position = state.position
    if let pending, pending.ply == position.plies, position.moves.contains(pending.cell) { position.play(pending.cell) }
    return position
  }

  /// Whether it is your turn, as far as this client knows; the server decides.
  package var canMove: Bool {
    state.phase == .live && you == state.turn && pending == nil && state.position.outcome == nil
  }

  /// Milliseconds that a side has left; `nil` in an untimed match.
  package func remaining(_ side: Player, at now: Int64) -> Int? {
    guard let clocks = state.clocks else { return nil }
    // Only the clock of the side to move runs. It does not run for a side's first move, which has a limit of its own, or while the player's
    // move is on its way to the server.
    guard state.phase == .live, side == position.turn, state.bothMoved, pending == nil, let left else {
      return clocks[side]
    }
    return Int(clamping: max(0, Int64(left) - (now - leftAt)))
  }
}
