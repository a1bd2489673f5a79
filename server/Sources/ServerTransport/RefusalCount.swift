import Lobby

/// Counts failures of one kind of request, logins or units. Detects a store that answers heartbeats but refuses such requests, as with a
/// full disk. Times are monotonic milliseconds.
///
/// A failed heartbeat resets the count, and all failures between two heartbeats count once: so the node is ready at once after a restart of
/// the database.
struct RefusalCount {
  /// The number of consecutive intervals between heartbeats with failures and no success.
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

  /// Ends a minute after the last failure: a load balancer sends no players to a node that is not ready, so no request would show a
  /// recovery.
  func isRefused(at now: Int64) -> Bool { intervals >= 2 && now - lastFailure < 60_000 }
}
