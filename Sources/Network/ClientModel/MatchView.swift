import MatchProtocol
import TicTacToe

/// A match as the client shows it: the confirmed state, and the player's unconfirmed move.
package struct MatchView: Sendable, Hashable {
  /// A move that the client shows before the server has answered.
  package struct Pending: Sendable, Hashable {
    /// The number of marks on the board before the move.
    package var ply: Int
    package var cell: Cell
  }

  /// The state that the server has confirmed: all events of the log so far, checked by their hashes.
  package internal(set) var state: MatchState
  /// The player's side; `nil` for a spectator.
  package internal(set) var you: Player?
  /// The player's move that the server has not confirmed yet.
  package internal(set) var pending: Pending?
  /// Milliseconds that the side to move had left at `leftAt`.
  package internal(set) var left: Int?
  /// When the side to move had `left`, in milliseconds of the clock `MatchClient.now`.
  package internal(set) var leftAt: Int64 = 0
  /// The time, in milliseconds of the clock `MatchClient.now`, from which the player may claim the win; `nil` while the opponent is
  /// connected.
  package internal(set) var claimableAt: Int64?

  /// The position to show: the confirmed position and the pending move.
  package var position: VariantState {
    var position = state.position
    if let pending, pending.ply == position.plies, position.moves.contains(pending.cell) { position.play(pending.cell) }
    return position
  }

  /// Whether the player may move now: by the confirmed log it is the player's turn, and no move is pending.
  package var canMove: Bool {
    state.phase == .live && you == state.turn && pending == nil && state.position.outcome == nil
  }

  /// Milliseconds that a side has left at the time `now` of the clock `MatchClient.now`; `nil` in an untimed match.
  package func remaining(_ side: Player, at now: Int64) -> Int? {
    guard let clocks = state.clocks else { return nil }
    // Only the clock of the side to move runs. It does not run for a side's first move, which has a limit of its own (`Limits.firstMove`),
    // or while the player's move is on its way to the server.
    guard state.phase == .live, side == position.turn, state.bothMoved, pending == nil, let left else {
      return clocks[side]
    }
    return Int(clamping: max(0, Int64(left) - (now - leftAt)))
  }
}
