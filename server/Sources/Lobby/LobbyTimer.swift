import MatchProtocol
import MatchStore

/// An action of the lobby, due at a time that it has set.
enum LobbyTimer: Sendable {
  /// Ignored unless `due` is the time of the match's next timer: a timer outlives the eviction of its match from memory.
  case match(MatchID, due: Int64)
  case pairing
  case tournaments
  /// Reads the leader's queue, once for all tickets that other nodes have queued since the last read.
  case queue
  case housekeeping
  case heartbeat
  case compare
  /// Repeats a read that the store did not answer, as the timers `load` and `readOutcome` do.
  case reread(MatchID)
  case load(MatchID)
  case readOutcome(of: UInt64)
  /// Refuses the requests that wait for a unit whose outcome is still unknown.
  case overdue(UInt64)
  /// Repeats a store command that must succeed in the end; `tries` have failed so far.
  case retryUntilDone(StoreQuestion, tries: Int)
}
