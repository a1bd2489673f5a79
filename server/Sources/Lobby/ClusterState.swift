import MatchProtocol
import MatchStore
import TicTacToe

/// Who is behind a connection that another node holds.
package struct Attachment: Sendable, Hashable {
  /// The session and how often it had been entered, so that of two connections the later one wins.
  package var session: String
  package var generation: Int64
  /// The account as the other node knows it.
  package var account: AccountRecord
  /// What the client can do.
  package var isBot: Bool
  package var confirms: Bool
  /// The games that it knows.
  package var games = [Variant.classic]
  /// The version of the protocol that is spoken with it.
  package var version = 1
}

/// Something a connection wants of a match, wherever that is.
package enum PlayerRequest: Sendable, Hashable {
  /// A line of the client, decoded at a time of this node's steady clock.
  case line(ClientLine, at: Int64)
  /// Wait in the queue from now on; said back, wait elsewhere.
  case wait(Ticket)
  /// Wait no more with this ticket.
  case leave(String)
  case refused(String, ErrorCode)
  /// The key of this ticket has led to this match before.
  case found(String, MatchID)
  /// Begin this match with the two who were paired, one of whom it is.
  case begin(Pairing)
  /// Follow a match from now on and be told how it stands; if it is new to the player, that he was paired, in answer to `re`.
  case follow(MatchID, re: String?, isNew: Bool)
  /// Be told the code of a room, as the answer to `re`.
  case room(MatchID, re: String?)
  /// See how a match stands after having been too slow.
  case caughtUp(MatchID)
}

extension PlayerRequest {
  /// The same with an instant as an age, or an age as an instant, which is the same sum: clocks of two nodes differ, ages do not.
  package func aged(at now: Int64) -> PlayerRequest {
    switch self {
    case .line(let line, let at): .line(line, at: now - at)
    case .wait(let ticket): .wait(ticket.aged(at: now))
    case .begin(let pairing):
      .begin(
        Pairing(m: pairing.m, seats: Sides(x: pairing.seats.x.aged(at: now), o: pairing.seats.o.aged(at: now))))
    case .leave, .refused, .found, .follow, .room, .caughtUp: self
    }
  }
}

extension Ticket {
  fileprivate func aged(at now: Int64) -> Ticket {
    var ticket = self
    ticket.since = now - since
    return ticket
  }
}

/// What a lobby tells other nodes, and does as one of them. Incarnations are named by their epoch.
package enum ClusterEffect: Sendable {
  /// Ask the store, and answer with the number.
  case ask(UInt64, ClusterQuestion)
  /// Hold a connection at another node.
  case attach(Int64, ConnectionID, Attachment)
  /// Give work of an attached connection to that node.
  case relay(Int64, ConnectionID, PlayerRequest, MatchID, roundTrip: Int)
  /// An attached connection is gone.
  case detach(Int64, ConnectionID, clean: Bool)
  /// Tell the holder of an attached connection that work for it belongs elsewhere: to that node, if it is known to which.
  case notHere(ConnectionID, PlayerRequest, MatchID, at: Int64?)
  /// Tell the holder of an attached connection that a match it plays is here, and with which ticket it was sought.
  case here(ConnectionID, MatchID, ticket: String?)
  /// Tell the holder of an attached connection how its account stands after a match.
  case played(ConnectionID, AccountRecord)
  /// Something in the store may concern that node.
  case hint(Int64)
  /// A session was entered elsewhere; connections of earlier generations end.
  case evict(Int64, session: String, generation: Int64)
  /// An account has changed; to all.
  case refresh(account: Int64)
  /// What is in memory is no longer ours: end every connection and join anew.
  case startOver(String)
}

/// What the other nodes and the store tell a lobby.
package enum ClusterInput: Sendable {
  /// The answer to a question; `nil` if the store could not be asked.
  case answer(UInt64, ClusterAnswer?)
  /// Another node, which is named first, holds a connection of this player here.
  case attached(Int64, ConnectionID, Attachment)
  /// Work of a connection that another node holds.
  case relayed(ConnectionID, PlayerRequest, MatchID, roundTrip: Int)
  /// A node says that work for a connection belongs elsewhere.
  case notHere(Int64, ConnectionID, PlayerRequest, MatchID, at: Int64?)
  /// A node has a match that a connection plays.
  case here(Int64, ConnectionID, MatchID, ticket: String?)
  /// An account has played at another node.
  case played(ConnectionID, AccountRecord)
  /// There may be something to take.
  case hinted
  /// A session was entered elsewhere.
  case evicted(session: String, generation: Int64)
  case refreshed(account: Int64)
  /// The link to a node broke, or cannot be made; when something was heard over it last, or when its making began.
  case linkLost(Int64, heard: Int64)
  /// Everything is given away; nothing is said or done any more.
  case left
}

/// What a node knows of its cluster.
struct ClusterState: Sendable {
  /// What waits before a connection, in order.
  struct Input: Sendable {
    /// Questions whose answers it waits for; nothing is begun meanwhile.
    var outstanding = 0
    var queue: [PlayerRequest] = []
  }

  /// What to do with an answer.
  enum Continuation: Sendable {
    case nothing
    case renewed(sentAt: Int64)
    case raised
    case tookOver
    case entered(ConnectionID, re: String?, ClientMessage.Hello, token: String?, resume: String)
    case changed(ConnectionID, re: String?, token: String?)
    case refreshed(Int64)
    case me(ConnectionID, re: String?)
    case bare(ConnectionID, ClientLine, at: Int64)
    case page(ClusterQuestion)
    case placed(ConnectionID, PlayerRequest, MatchID, since: Int64, failed: Int64?)
    case placedCode(ConnectionID, ClientLine, at: Int64)
    case seeking(ConnectionID, Ticket, re: String?)
    case paired(Pairing, CachedMatch)
    case opened(ConnectionID, re: String?, CachedMatch, by: AccountRecord, key: String?)
    case rematched(MatchID, ClientLine, ConnectionID, at: Int64, old: CachedMatch, next: CachedMatch)

    var isRenewal: Bool { if case .renewed = self { true } else { false } }
  }

  /// This incarnation.
  let epoch: Int64
  /// Until when this lobby may answer from memory, by the steady clock.
  var goodUntil: Int64
  /// The incarnations with a good lease.
  var nodes: [NodeRecord] = []
  /// The version of the log's language that is in force: no event of a newer one is written.
  var language = 1
  /// Whether everything has been given away.
  var hasLeft = false

  var asked: [UInt64: Continuation] = [:]
  var nextQuestion: UInt64 = 1
  var inputs: [ConnectionID: Input] = [:]
  /// Work to be tried again.
  var again: [UInt64: (ConnectionID, PlayerRequest, MatchID, since: Int64, failed: Int64?)] = [:]
  var nextAgain: UInt64 = 1
  /// Where the lines of a connection about a match go.
  var remote: [ConnectionID: [MatchID: Int64]] = [:]
  /// At which nodes a connection is held.
  var attachedTo: [ConnectionID: [Int64]] = [:]
  /// The links that were lost: when, and when something was heard from there last. The other end may be dead or cut off, which its
  /// lease will tell.
  var lost: [Int64: (at: Int64, heard: Int64)] = [:]
  /// When an incarnation renewed its lease, as far as this one knows: not earlier.
  var renewedAt: [Int64: Int64] = [:]
  /// Connections that will be told to go, once it is known where to; what they say meanwhile they will say again.
  var departing: [Int64: [ConnectionID]] = [:]
  /// The connections that other nodes hold here, and which do.
  var virtual: [ConnectionID: Int64] = [:]
  /// Matches whose rematch is being begun, and what came for them meanwhile.
  var beginning: [MatchID: [(ConnectionID, PlayerRequest)]] = [:]
  /// When the lease is renewed in its turn.
  var nextRenewal: Int64 = 0
  var isTaking = false
  var isRaising = false
  /// Pages of all nodes' matches and players: when they were asked for last, with what answer, and who waits for the next.
  var pages: [ClusterQuestion: (at: Int64, answer: ClusterAnswer)] = [:]
  var readers: [ClusterQuestion: [(ConnectionID, re: String?)]] = [:]
}
