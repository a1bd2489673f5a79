import MatchProtocol
import TicTacToe

/// A match as the client sees it: the state that the server has told, and the move that is on its way.
package struct MatchView: Sendable, Hashable {
  /// A move that shows before the server has answered it.
  package struct Pending: Sendable, Hashable {
    /// The number of marks on the board before the move.
    package var ply: Int
    package var cell: Cell
  }

  /// The state that the server has told: a prefix of the log, verified by its hashes.
  package internal(set) var state: MatchState
  /// Your side, `nil` for a spectator.
  package internal(set) var you: Player?
  /// Your move that the server has not answered yet.
  package internal(set) var pending: Pending?
  /// Milliseconds that the side to move had left at `leftAt`.
  package internal(set) var left: Int?
  /// The time of `left`, by the steady clock of `MatchClient.now`.
  package internal(set) var leftAt: Int64 = 0
  /// When you may claim a win over an absent opponent, by the same clock; `nil` while the opponent is there.
  package internal(set) var claimableAt: Int64?

  /// The position to draw: the server's, with your move that is on its way.
  package var position: VariantState {
    var position = state.position
    if let pending, pending.ply == position.plies, position.moves.contains(pending.cell) { position.play(pending.cell) }
    return position
  }

  /// Whether it is your turn and no move of yours is on its way.
  package var canMove: Bool {
    state.phase == .live && you == state.turn && pending == nil && state.position.outcome == nil
  }

  /// Milliseconds that a side has left at an instant of `MatchClient.now`; `nil` in an untimed match.
  package func remaining(_ side: Player, at now: Int64) -> Int? {
    guard let clocks = state.clocks else { return nil }
    // Before both sides have moved no clock runs down; each side has thirty seconds for its first move.
    guard state.phase == .live, side == position.turn, state.bothMoved, pending == nil, let left else {
      return clocks[side]
    }
    return Int(clamping: max(0, Int64(left) - (now - leftAt)))
  }
}
