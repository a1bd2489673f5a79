/// Whether one side of a match is present, and how long it may stay absent. Times are monotonic milliseconds.
struct Presence: Sendable, Hashable {
  /// When the side's absence began, in monotonic ms; `nil` while the side is present.
  private(set) var awaySince: Int64?
  /// `hasLeft`: the side's last connection ended, and the log has no `gone` event yet. `leftCleanly`: the side sent `bye`.
  var hasLeft = false
  var leftCleanly = false
  /// The number of the side's `gone` and `back` events in the log.
  private var logged = 0
  /// Milliseconds of absence after which the opponent may claim the win, and of all earlier absences in the match (`awayBefore`).
  private var grace = 0
  private var awayBefore = 0
  /// The most presence events logged for one side, so that reconnecting cannot grow a log without limit.
  static let mostLogged = 64

  var isAway: Bool { awaySince != nil }
  /// Whether the side is absent or has left; if not, no presence event can be due.
  var isMissing: Bool { isAway || hasLeft }
  var mayBeLogged: Bool { logged < Presence.mostLogged }

  mutating func countLogged() { logged += 1 }

  mutating func mark(isHere: Bool, _ now: Int64, _ configuration: LobbyConfiguration) {
    if isHere {
      if let awaySince { awayBefore += Int(now - awaySince) }
      awaySince = nil
    } else {
      awaySince = now
      grace = leftCleanly ? configuration.graceAfterBye : configuration.grace
    }
    (hasLeft, leftCleanly) = (false, false)
  }

  /// The side sent `bye` at another node.
  mutating func shortenGrace(_ configuration: LobbyConfiguration) { grace = min(grace, configuration.graceAfterBye) }

  /// Moves the start of the absence later by the length of an outage, at most to now.
  mutating func postpone(by milliseconds: Int64, _ now: Int64) {
    awaySince = awaySince.map { max($0, min(now, $0 + milliseconds)) }
  }

  /// Monotonic ms from which the opponent may claim the win; `nil` while the side is present.
  func claimableAt(_ configuration: LobbyConfiguration) -> Int64? {
    awaySince.map { $0 + Int64(max(0, min(grace, configuration.graceInAll - awayBefore))) }
  }
}

/// A search for players who may be absent although the log does not say so.
struct PresenceCheck: Sendable {
  /// When the check was last scheduled, in monotonic ms.
  let since: Int64
  /// Whether no living node had followed the match until this node loaded it. Then `recovered` is logged if both players are absent, even
  /// if the log has a `gone` already.
  let byAll: Bool
}
