import Base
import MatchProtocol
import TicTacToe

/// What a lobby asks of its store. A question that changes something is durable when it is answered.
package enum StoreQuestion: Sendable, Hashable {
  // Nodes.
  /// This node lives. It is reached by clients at an address. `.beat`
  case beat(NodeID, address: String)
  /// This node ends: it follows nothing any more, and holds no session. `.done`
  case leave(NodeID)
  /// Up to `limit` live matches that no living node follows, or a dead one does: dead nodes are taken off them, and this node follows
  /// them from now on. Tickets and rows of dead nodes go once no match names them. `.swept`
  case sweep(NodeID, limit: Int)
  /// What differs from what a node has in memory. Live matches among them that do not name the node name it from now on. `.differences`
  case compare(NodeID, Memory)
  /// Renews the sessions at living nodes, and their accounts, for `lives` from now on. Deletes what has expired, up to `cleanedAtOnce`
  /// rows of each kind. `.cleaned`
  /// - sessions that have expired and are at no living node;
  /// - accounts that have expired and have no session, no live match and none that ended in the last ten minutes. Named accounts
  ///   that are banned stay;
  /// - of more than `guests` guests those that were used longest ago, if they are at no living node and play nothing;
  /// - keys older than `keys` ms, and tickets that have led somewhere, if their match is over;
  /// - reports older than `ReportRecord.lives`.
  case clean(guests: Int, keys: Int64, lives: Lifetimes)

  // Matches.
  /// A match with its log; while it goes on, the node follows it from now on. `.match`
  case follow(MatchID, NodeID)
  /// A match with its log. `.match`
  case match(MatchID)
  /// The open room that has a code, else the live match that began with it. `.id`
  case code(String)
  /// The latest live public matches (without an opener), latest first. `.matches`
  case live(limit: Int)
  /// Finished matches of an account that ended before a time, latest first: `limit` of them, and whatever ended in the same
  /// millisecond as the last one. `.matches`
  case history(Int64, before: Int64, limit: Int)

  // Players.
  /// Lets somebody in, at this node: see `Entry`. Of the account's sessions the oldest beyond `SessionRecord.mostPerAccount` are forgotten,
  /// first those at no living node. `.entry`
  case enter(Entry, NodeID)
  /// The first message of a connection has come: the resume token before the current one is spent. Nothing if the session has
  /// another generation by now. `.done`
  case settle(session: String, generation: Int64)
  /// The connection of a session ended. Nothing if it has another generation by now. `.done`
  case detach(session: String, generation: Int64)
  /// Changes an account. `.change`
  case change(AccountReference, AccountChange)
  /// An account and what it plays. `.profile`
  case profile(Int64)
  /// These accounts, as far as they are there, by id. `.accounts`
  case accounts([Int64])
  /// The strongest named players who have played a rated match of a game and are not banned, by rating, then id. `.accounts`
  case top(Variant, limit: Int)
  /// Players of a list whose number is greater than one, by number. `.accounts`
  case players(PlayerList, after: Int64, limit: Int)

  // Reports.
  /// Keeps what a player has reported, under the next number; its number and names are the store's to say. `.done`
  case report(ReportRecord)
  /// Reports whose number is less than one, latest first. `.reports`
  case reports(before: Int64, limit: Int)

  // The queue.
  /// Somebody waits to be paired. `.queued`
  case queue(TicketRecord, rated: Bool)
  /// Takes a ticket away, unless it has led to a match. `.done`
  case unqueue(String)
  /// All tickets that wait, oldest first, with their accounts. `.tickets`
  case tickets
}

package enum StoreAnswer: Sendable, Hashable {
  case done
  case beat(Beat)
  case swept([Followed])
  case differences(Differences)
  /// Whether there may be more to clean.
  case cleaned(isMore: Bool)
  case match(Followed?)
  case id(MatchID?)
  case matches([StoredMatch])
  /// Instead of `matches`, for a lobby; `of` is how many matches were found, broken ones too.
  case summaries([MatchSummary], of: Int)
  case entry(EntryResult)
  case change(ChangeResult)
  case profile(Profile?)
  case accounts([AccountRecord])
  case reports([ReportRecord])
  case queued(QueueResult)
  case tickets([WaitingTicket])
}

package struct NodeRecord: Sendable, Hashable {
  package var id: NodeID
  /// `HOST:PORT` for clients.
  package var address: String

  package init(id: NodeID, address: String) { (self.id, self.address) = (id, address) }
}

package struct Beat: Sendable, Hashable {
  /// Milliseconds since 1970, on the store's clock.
  package var now: Int64
  /// The nodes that live, the oldest first: that one keeps the queue and looks for matches nobody follows. A node lives for
  /// `lives` ms after a beat.
  package var nodes: [NodeRecord]
  /// Milliseconds.
  package static let lives: Int64 = 3000

  package init(now: Int64, nodes: [NodeRecord]) { (self.now, self.nodes) = (now, nodes) }
}

/// A match as somebody who follows it needs it.
package struct Followed: Sendable, Hashable {
  package var match: StoredMatch
  /// The accounts of its seats and opener, by id, as far as they are there.
  package var accounts: [AccountRecord]
  /// The nodes that follow it, this one included.
  package var nodes: [NodeID]
  /// The living nodes at which each of its accounts has a session; nothing for who has none.
  package var here: [Int64: Set<NodeID>]
  /// The store's clock.
  package var now: Int64

  package init(match: StoredMatch, accounts: [AccountRecord], nodes: [NodeID], here: [Int64: Set<NodeID>], now: Int64) {
    (self.match, self.accounts, self.nodes, self.here, self.now) = (match, accounts, nodes, here, now)
  }
}

/// What a node has in memory, to be compared with the store.
package struct Memory: Sendable, Hashable {
  /// The live matches it follows, and how many events it knows.
  package var matches: [MatchID: Int] = [:]
  /// The accounts it knows, and their versions.
  package var accounts: [Int64: Int64] = [:]
  /// Its connected sessions, and their generations.
  package var sessions: [String: Int64] = [:]
  /// The tickets of its connections.
  package var tickets: [String] = []
  /// Whether the node also wants the live matches that name it and are not among these: it may have missed the answer that told of them.
  package var wantsOthers = false

  package init() {}
}

package struct Differences: Sendable, Hashable {
  /// Matches that have more events, or other ones, than the node knows, and those that it also wants; in order.
  package var matches: [MatchID] = []
  /// Accounts that have changed, by id.
  package var accounts: [AccountRecord] = []
  /// Accounts that are no more, in order.
  package var gone: [Int64] = []
  /// Sessions that are no more, or have another generation, in order.
  package var sessions: [String] = []
  /// Tickets that do not wait any more, and the match they have led to, if they have. By id.
  package var tickets: [LedTicket] = []

  package init() {}

  package struct LedTicket: Sendable, Hashable {
    package var id: String
    package var m: MatchID?

    package init(id: String, m: MatchID?) { (self.id, self.m) = (id, m) }
  }
}

/// A wish to be paired, as a store keeps it.
package struct TicketRecord: Sendable, Hashable {
  package var id: String
  package var session: String
  package var account: Int64
  /// The node of its connection.
  package var node: NodeID
  /// The key of the seek, empty if it has none.
  package var key: String
  /// What is wished, as a text: what the key means.
  package var purpose: String
  /// Everything else that whoever pairs needs to know, as a text that only lobbies read.
  package var wish: String
  /// Since when it waits, on the store's clock; 0 for now.
  package var since: Int64
  /// Whether it had a place and has lost it: a ticket of another session that has come with its key keeps that. Not stored.
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

/// What became of a ticket; all but `waits` leave the queue as it is.
package enum QueueResult: Sendable, Hashable {
  /// It waits since then. A ticket of this session, or with the same key of the same account, waits no more; one with the same
  /// key has given its age to it.
  case waits(since: Int64)
  /// Its key has led to this match, which goes on.
  case led(MatchID)
  /// Its key was used for something else, or waits for something else; or it has lost its place, and another session waits with its
  /// key.
  case purpose
  /// The account is in a rated match, and this would be another one.
  case playing
  /// There is no such account.
  case unknown
}
