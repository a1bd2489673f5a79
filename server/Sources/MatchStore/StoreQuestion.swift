import Base
import MatchProtocol
import TicTacToe

/// A question or command of a lobby to its store. Changes are durable before the answer. `StoreAnswer` has the answers.
package enum StoreQuestion: Sendable, Hashable {
  // MARK: nodes
  /// The heartbeat of a node and its address for clients. Answer: `.heartbeat`.
  case heartbeat(NodeID, address: String)
  /// A node stops: removes it from its matches and sessions. Answer: `.done`.
  case leave(NodeID)
  /// Makes this node follow up to `limit` live matches that no living node follows or that list a dead node, and removes the dead nodes
  /// from these matches. Deletes tickets of dead nodes, and dead nodes that no match lists. Answer: `.adopted`.
  case adoptOrphans(NodeID, limit: Int)
  /// Compares a node's memory with the store; adds the node to the followers of the live matches in its memory. Answer: `.differences`.
  case compare(NodeID, Memory)
  /// Renews the sessions at living nodes, and their accounts, for `lives` from now on. Answer: `.cleaned`. Deletes tournaments that closed
  /// more than `TournamentRecord.kept` ms ago, and up to `cleanedAtOnce` rows of each of these kinds:
  /// - expired sessions that are not connected to a living node;
  /// - expired accounts without a session, a live match or a match that ended less than ten minutes ago, except named accounts that are
  ///   banned;
  /// - if there are more than `guests` guests, those unused for longest who are neither connected nor in a live match;
  /// - keys older than `keys` ms whose match is over, and matched tickets whose match is over;
  /// - reports older than `ReportRecord.lives`, and the counts of names that were registered on earlier days.
  case clean(guests: Int, keys: Int64, lives: Lifetimes)

  // MARK: matches
  /// Reads a match with its log; if the match is live, the node follows it from now on. Answer: `.match`.
  case follow(MatchID, NodeID)
  /// Reads a match with its log. Answer: `.match`.
  case match(MatchID)
  /// The open room with a code; if there is none, the latest live match that began in a room with this code. Answer: `.id`.
  case code(String)
  /// The latest live matches that did not begin in a room, latest first. Answer: `.matches`.
  case live(limit: Int)
  /// Matches of an account that ended before a time (in milliseconds since 1970), latest first: `limit` matches, plus the matches that
  /// ended in the same millisecond as the last of them. Answer: `.matches`.
  case history(Int64, before: Int64, limit: Int)

  // MARK: players
  /// Logs in at this node: see `Login`. Deletes the account's oldest sessions beyond `SessionRecord.mostPerAccount`,
  /// disconnected ones first. Answer: `.login`.
  case login(Login, NodeID)
  /// Invalidates the previous resume token after the first message of a connection. Without effect if the session has
  /// another generation. Answer: `.done`.
  case settle(session: String, generation: Int64)
  /// Disconnects a session from its node. Without effect if the session has another generation. Answer: `.done`.
  case detach(session: String, generation: Int64)
  /// Changes an account. Answer: `.change`.
  case change(AccountReference, AccountChange)
  /// Reads an account and its current matches. Answer: `.profile`.
  case profile(Int64)
  /// Reads the accounts of this list that exist, in the order of their ids. Answer: `.accounts`.
  case accounts([Int64])
  /// The named players of a game with the highest ratings, by rating, then id. Leaves out banned players and those who have played no rated
  /// match of the game. Answer: `.accounts`.
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
  /// The answer `matches` as it is passed to a lobby, with summaries instead of logs. `of` is the number of matches found, those with an
  /// inconsistent log included.
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
  /// The living nodes, oldest first; the first one, the leader, pairs tickets and adopts matches that no living node follows. A node lives
  /// for `lives` ms after a heartbeat.
  package var nodes: [NodeRecord]
  /// Milliseconds from a heartbeat until the node counts as dead.
  package static let lives: Int64 = 3000

  package init(now: Int64, nodes: [NodeRecord]) { (self.now, self.nodes) = (now, nodes) }
}

/// A match with the data that a node needs to follow it.
package struct FollowedMatch: Sendable, Hashable {
  package var match: StoredMatch
  /// The accounts of the match's players and opener, as far as they exist, by id.
  package var accounts: [AccountRecord]
  /// The nodes that follow the match; if the match is live, also the node that asked.
  package var nodes: [NodeID]
  /// For each account of `accounts`: the living nodes at which the account has a session. Accounts without a session have no entry.
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
  /// Matches whose number of events differs from the number in the node's memory. For a node that `wantsOthers`, also live matches that
  /// list the node and are missing in its memory. Sorted.
  package var matches: [MatchID] = []
  /// Changed accounts, by id.
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

/// A request to be paired, as the store keeps it.
package struct TicketRecord: Sendable, Hashable {
  package var id: String
  package var session: String
  package var account: Int64
  /// The node at which the player is connected.
  package var node: NodeID
  /// The key of the seek; empty without one.
  package var key: String
  /// The seek as text, without its key. While its key has a waiting ticket or a live match, the store refuses any other seek with this key.
  package var purpose: String
  /// The data that a lobby needs for pairing, as a text that only lobbies decode.
  package var wish: String
  /// When the ticket began to wait, in milliseconds since 1970 on the store's clock; 0 means now.
  package var since: Int64
  /// Whether the ticket is queued again because its row has disappeared from the store's queue. The store then refuses the ticket if
  /// another session of the account already waits with the same key. Not stored.
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

/// The result of queueing a ticket; only `waits` changes the queue.
package enum QueueResult: Sendable, Hashable {
  /// The ticket waits since this time. It has replaced the earlier tickets of its session and its account's tickets with the same key, and
  /// has taken over the earliest time of those with the same key.
  case waits(since: Int64)
  /// The ticket does not wait, because an earlier ticket with its key was matched to this live match.
  case led(MatchID)
  /// The ticket's key has a waiting ticket or a live match of a different request; or the ticket had lost its place in the queue, and
  /// another session now waits with its key.
  case purpose
  /// The account is in a rated match and this seek is rated.
  case playing
  /// There is no such account.
  case unknown
}
