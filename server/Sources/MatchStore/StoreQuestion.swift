import Base
import MatchProtocol
import TicTacToe

/// A question or command of a lobby to its store.
package enum StoreQuestion: Sendable, Hashable {
  // MARK: nodes
  /// Records a node's heartbeat and its address for clients. Answer: `.heartbeat`.
  case heartbeat(NodeID, address: String)
  /// A node stops: removes it from its matches and sessions. Answer: `.done`.
  case leave(NodeID)
  /// Makes the node follow up to `limit` live matches that list a dead node or none, and removes the dead nodes from these matches. Deletes
  /// the tickets of dead nodes, and dead nodes that no match lists. Answer: `.adopted`.
  case adoptOrphans(NodeID, limit: Int)
  /// Compares a node's memory with the store; adds the node to the followers of the live matches in its memory. Answer: `.differences`.
  case compare(NodeID, Memory)
  /// Renews connected sessions and their accounts for `lives`. Deletes what has expired, at most `cleanedAtOnce` rows of a kind: sessions,
  /// accounts, tournaments, keys after `keys` ms, matched tickets, reports and counts of registered names. Beyond `guests` guests, also
  /// deletes those unused for longest. Spares connected accounts, players of live matches and banned named accounts. Answer: `.cleaned`.
  case clean(guests: Int, keys: Int64, lives: Lifetimes)

  // MARK: matches
  /// Reads a match; if it is live, the node follows it from now on. Answer: `.match`.
  case follow(MatchID, NodeID)
  /// Reads a match without following it. Answer: `.match`.
  case match(MatchID)
  /// The open room with a code; if there is none, the latest live match that began in a room with this code. Answer: `.id`.
  case code(String)
  /// The latest live matches that did not begin in a room, latest first. Answer: `.matches`.
  case live(limit: Int)
  /// An account's matches that ended before a time (milliseconds since 1970), latest first. More than `limit` only if the last ones ended
  /// in the same millisecond. Answer: `.matches`.
  case history(Int64, before: Int64, limit: Int)

  // MARK: players
  /// Logs in at this node. Answer: `.login`.
  case login(Login, NodeID)
  /// Invalidates the previous resume token, unless the session has another generation. Answer: `.done`.
  case settle(session: String, generation: Int64)
  /// Disconnects a session from its node, unless the session has another generation. Answer: `.done`.
  case detach(session: String, generation: Int64)
  /// Changes an account. Answer: `.change`.
  case change(AccountReference, AccountChange)
  /// Reads an account and its current matches. Answer: `.profile`.
  case profile(Int64)
  /// The existing accounts of a list, sorted by id. Answer: `.accounts`.
  case accounts([Int64])
  /// Named players, sorted by rating in a game, then id, without banned players and those without a rated match. Answer: `.accounts`.
  case top(Variant, limit: Int)
  /// The players on a list for administrators with ids greater than `after`, by id. Answer: `.accounts`.
  case players(PlayerList, after: Int64, limit: Int)

  // MARK: reports
  /// Stores a player's report under the next id; ignores the id and the names in `ReportRecord`. Answer: `.done`.
  case report(ReportRecord)
  /// Reports with ids less than `before`, latest first. Answer: `.reports`.
  case reports(before: Int64, limit: Int)

  // MARK: queue
  /// Adds a ticket to the queue; if it is `rated`, only for an account without a live rated match. Answer: `.queued`.
  case queue(TicketRecord, rated: Bool)
  /// Deletes a ticket, unless the ticket was already matched. Answer: `.done`.
  case unqueue(String)
  /// All waiting tickets, oldest first, with their accounts. Answer: `.tickets`.
  case tickets

  // MARK: tournaments
  /// Adds a tournament unless `most` are open already, or finds the one with the same secret. Answer: `.tournament`.
  case host(TournamentRecord, most: Int)
  /// Reads a tournament with its table. Answer: `.tournament`.
  case tournament(String)
  /// Changes a tournament or one of its entrants. Answer: `.tournament`.
  case changeTournament(String, TournamentChange)
}

package enum StoreAnswer: Sendable, Hashable {
  case done
  case heartbeat(Heartbeat)
  case adopted([FollowedMatch])
  case differences(Differences)
  /// Whether more expired rows may be left to delete.
  case cleaned(isMore: Bool)
  case match(FollowedMatch?)
  case id(MatchID?)
  case matches([StoredMatch])
  /// The answer `matches` as a lobby gets it. `of` is the number of matches found, those with an inconsistent log included.
  case summaries([MatchSummary], of: Int)
  case login(LoginResult)
  case change(ChangeResult)
  case profile(Profile?)
  case accounts([AccountRecord])
  case reports([ReportRecord])
  case queued(QueueResult)
  case tickets([WaitingTicket])
  case tournament(TournamentResult)
}

package struct NodeRecord: Sendable, Hashable {
  package var id: NodeID
  /// `HOST:PORT` for clients; empty if unknown.
  package var address: String

  package init(id: NodeID, address: String) { (self.id, self.address) = (id, address) }
}

package struct Heartbeat: Sendable, Hashable {
  /// The store's clock in milliseconds since 1970.
  package var now: Int64
  /// The living nodes, oldest first. The first is the leader.
  package var nodes: [NodeRecord]
  /// Milliseconds from a heartbeat until the node counts as dead.
  package static let lives: Int64 = 3000

  package init(now: Int64, nodes: [NodeRecord]) { (self.now, self.nodes) = (now, nodes) }
}

/// A match with the data that a node needs to follow it.
package struct FollowedMatch: Sendable, Hashable {
  package var match: StoredMatch
  /// The existing accounts of the match's players and opener, sorted by id.
  package var accounts: [AccountRecord]
  /// The nodes that follow the match; if the match is live, also the node that asked.
  package var nodes: [NodeID]
  /// The living nodes at which each account of `accounts` has a session.
  package var here: [Int64: Set<NodeID>]
  /// The store's clock in milliseconds since 1970.
  package var now: Int64

  package init(match: StoredMatch, accounts: [AccountRecord], nodes: [NodeID], here: [Int64: Set<NodeID>], now: Int64) {
    (self.match, self.accounts, self.nodes, self.here, self.now) = (match, accounts, nodes, here, now)
  }
}

/// A node's memory, to be compared with the store.
package struct Memory: Sendable, Hashable {
  /// The live matches that the node follows, with their numbers of events.
  package var matches: [MatchID: Int] = [:]
  /// The cached accounts, with their versions.
  package var accounts: [Int64: Int64] = [:]
  /// The connected sessions, with their generations.
  package var sessions: [String: Int64] = [:]
  /// The tickets of the node's connections.
  package var tickets: [String] = []
  /// Whether to report live matches that list the node and are not in `matches`: a lost answer may have named such a match.
  package var wantsOthers = false

  package init() {}
}

package struct Differences: Sendable, Hashable {
  /// Matches with another number of events than in memory; for a node that `wantsOthers`, also those missing in memory. Sorted.
  package var matches: [MatchID] = []
  /// Changed accounts, sorted by id.
  package var accounts: [AccountRecord] = []
  /// Deleted accounts, sorted.
  package var gone: [Int64] = []
  /// Sessions that were deleted or have another generation than in the node's memory, sorted.
  package var sessions: [String] = []
  /// Tickets that do not wait any more, sorted by id; each with its match, if it was matched.
  package var tickets: [LedTicket] = []

  package init() {}

  package struct LedTicket: Sendable, Hashable {
    package var id: String
    package var m: MatchID?

    package init(id: String, m: MatchID?) { (self.id, self.m) = (id, m) }
  }
}

package struct TicketRecord: Sendable, Hashable {
  package var id: String
  package var session: String
  package var account: Int64
  /// The node at which the player is connected.
  package var node: NodeID
  /// The key of the seek; empty without one.
  package var key: String
  /// The seek as text, without its key. While a seek uses a key, the store refuses a different seek with this key.
  package var purpose: String
  /// The data that a lobby needs for pairing, as a text that only lobbies decode.
  package var wish: String
  /// When the ticket began to wait, in milliseconds since 1970 on the store's clock; 0 means now.
  package var since: Int64
  /// Whether the ticket is queued again because its row has disappeared. Refused if another session of the account waits with its key. Not
  /// stored.
  package var hasLostPlace = false

  package init(
    id: String, session: String, account: Int64, node: NodeID, key: String, purpose: String, wish: String, since: Int64
  ) {
    (self.id, self.session, self.account, self.node) = (id, session, account, node)
    (self.key, self.purpose, self.wish, self.since) = (key, purpose, wish, since)
  }
}

package struct WaitingTicket: Sendable, Hashable {
  package var ticket: TicketRecord
  package var account: AccountRecord

  package init(_ ticket: TicketRecord, _ account: AccountRecord) { (self.ticket, self.account) = (ticket, account) }
}

/// Only `waits` changes the queue.
package enum QueueResult: Sendable, Hashable {
  /// The ticket has replaced the earlier tickets of its session and of its key, and waits since the earliest time of those of its key.
  case waits(since: Int64)
  /// An earlier ticket with the key was matched to this live match.
  case led(MatchID)
  /// The key belongs to a different request or, for a ticket with `hasLostPlace`, to another session.
  case purpose
  /// The seek is rated, and the account is in a rated match.
  case playing
  /// There is no such account.
  case unknown
}
