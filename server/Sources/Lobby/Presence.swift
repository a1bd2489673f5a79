/// Whether one side of a match is present, and how long it may stay absent. Times are monotonic milliseconds.
struct Presence: Sendable, Hashable {
  /// The monotonic time, in ms, at which the side's absence began; `nil` while the side is present.
  private(set) var awaySince: Int64?
  /// `hasLeft`: the side's last connection ended, at this node or at a node that died, and the `gone` event is not in the log yet.
  /// `leftCleanly`: the side sent `bye`.
  var hasLeft = false
  var leftCleanly = false
  /// The number of the side's `gone` and `back` events in the log.
  private var logged = 0
  /// Milliseconds for which the side may be absent until the opponent may claim the win (`grace`), and the length of its earlier absences
  /// in this match (`awayBefore`).
  private var grace = 0
  private var awayBefore = 0
  /// The most presence events logged for one side, so that reconnecting cannot grow a log without limit.
  static let mostLogged = 64

  var isAway: Bool { awaySince != nil }
  /// Whether the side is absent or has left; if not, no presence event can be due.
  var isMissing: Bool { isAway || hasLeft }
  var mayBeLogged: Bool { logged < Presence.mostLogged }

  mutating func countLogged() { logged += 1 }

  /// Records that the side became absent or present.
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

  /// Shortens the allowed absence of a side that sent `bye` at another node.
  mutating func shortenGrace(_ configuration: LobbyConfiguration) { grace = min(grace, configuration.graceAfterBye) }

  /// Moves the start of the absence to a later time, by the length of an outage that has just ended, but at most to now.
  mutating func postpone(by milliseconds: Int64, _ now: Int64) {
    awaySince = awaySince.map { max($0, min(now, $0 + milliseconds)) }
  }

  /// The monotonic time, in ms, from which the opponent may claim the win; `nil` while the side is present.
  func claimableAt(_ configuration: LobbyConfiguration) -> Int64? {
    awaySince.map { $0 + Int64(max(0, min(grace, configuration.graceInAll - awayBefore))) }
  }
}
