import Lobby

/// Counts failures of one kind of request (logins or units). It detects a store that answers heartbeats but refuses all requests of this
/// kind, as with a damaged page of its file or a full disk. Times are monotonic milliseconds.
///
/// The lobby notices by its heartbeats if a store cannot be reached. Such a failure does not count here: a failed heartbeat resets the
/// count, and all failures between two heartbeats count once. So the node is ready at once after a restart of the database.
struct RefusalCount {
  /// The number of intervals between heartbeats, in a row, that had failures and no success.
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
