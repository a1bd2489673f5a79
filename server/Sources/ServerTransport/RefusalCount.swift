import Lobby

/// Counts failures of one kind of request, to notice a store that can be reached and refuses all requests of this kind: a
/// damaged page of its file, or a full disk. Times are monotonic milliseconds.
///
/// A store that cannot be reached fails heartbeats too, which the lobby notices by itself. So the failures between two heartbeats
/// count once, and a failed heartbeat resets the count. After a restart of the database the node is ready at once.
struct RefusalCount {
  /// How many intervals between heartbeats had failures and no success, in a row.
  private var intervals = 0
  private var isCountedSinceHeartbeat = false
  private var lastFailure = Int64.min / 2

  mutating func requestFailed(at now: Int64) {
    if !isCountedSinceHeartbeat { intervals += 1 }
    (isCountedSinceHeartbeat, lastFailure) = (true, now)
  }

  mutating func requestSucceeded() { self = RefusalCount() }

  mutating func heartbeatEnded(succeeded: Bool) {
    if succeeded { isCountedSinceHeartbeat = false } else { self = RefusalCount() }
  }

  /// Whether requests failed both before and after a successful heartbeat, the last one within a minute. After that minute the node counts
  /// as ready again: a load balancer sends no players to a node that is not ready, so no request would show that the store has recovered.
  func isRefused(at now: Int64) -> Bool { intervals >= 2 && now - lastFailure < 60_000 }
}
