import Lobby

/// Counts failures of one kind of request, logins or units, to detect a store that answers heartbeats but refuses such requests, as with a
/// full disk. Times are monotonic milliseconds.
///
/// A store that cannot be reached does not count, so that the node is ready at once after a restart of the database: a failed heartbeat
/// resets the count, and failures between two heartbeats count once.
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

  /// Ends a minute after the last failure: a node that is not ready gets no players, so no request would show that the store has recovered.
  func isRefused(at now: Int64) -> Bool { intervals >= 2 && now - lastFailure < 60_000 }
}
