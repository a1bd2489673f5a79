import MatchProtocol
import MatchStore

/// The data on which matches depend, other than their logs: the time, the other nodes, and the players who are connected here.
struct MatchContext {
  let configuration: LobbyConfiguration
  let nodes: Membership
  let people: SessionTable

  /// Monotonic ms.
  var now: Int64 { nodes.now.monotonic }
  /// Milliseconds since 1970 on the store's clock.
  var wall: Int64 { nodes.now.wall }
}

/// An effect of a change of a match. The lobby carries the outputs out in their order.
enum MatchOutput {
  case effects([LobbyEffect])
  /// Store events of the server's own, such as a loss on time.
  case change(MatchID, LiveMatch.Change)
  /// Store a unit that no client waits for.
  case submit(Draft)
  /// Check the match at this time, in monotonic ms.
  case timer(MatchID, at: Int64)
  /// Read a match that is not in memory, or a match in memory once more.
  case load(MatchID)
  case reread(MatchID)
  /// Repeat a read that the store did not answer.
  case loadLater(MatchID)
  case rereadLater(MatchID)
  /// These accounts were read together with a match. Those of `players` are needed from now on.
  case read([AccountRecord], players: [Int64])
  /// Read these accounts of players, which are not in memory.
  case readAccounts([Int64])
  /// The match has ended. `players`: the players' connections here; their last tickets may have led to the match.
  case ended(MatchID, players: [ConnectionID])
  /// The match has left memory.
  indirect case evicted(LiveMatch)
}
