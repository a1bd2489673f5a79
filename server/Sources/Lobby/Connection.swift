import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Work for one connection, handled in order: a client's request, or an order of this node to send the client something.
enum Request: Sendable {
  /// A line from the client, decoded at the monotonic time `at`, in ms.
  case line(ClientLine, at: Int64)
  /// Subscribe the player and send the match's state; for a match new to the player, first answer the request `re` with `paired`.
  case follow(MatchID, re: String?, isNew: Bool)
  /// Answer the request `re` with a room's code.
  case room(MatchID, re: String?)
  /// Send a spectator the state of a match whose events the spectator's connection was too slow to take.
  case caughtUp(MatchID)

  var asksForState: Bool {
    switch self {
    case .line(let line, _): if case .sync = line.message { true } else { false }
    case .follow: true
    case .room, .caughtUp: false
    }
  }

  var re: String? {
    switch self {
    case .line(let line, _): line.id
    case .follow(_, let re, _), .room(_, let re): re
    case .caughtUp: nil
    }
  }
}

struct Connection: Sendable {
  let address: String?
  fileprivate(set) var session: String?
  fileprivate(set) var watching: [MatchID] = []
  fileprivate(set) var roundTrip = 0
  /// How many answers of the store, and matches with a unit or read in flight, the connection waits for. At 0 its next request begins.
  fileprivate var outstanding = 0
  /// Requests received while the connection waits, in order.
  fileprivate var queue: [Request] = []
}

/// The connections of clients to this node, with the requests that wait: a connection has one request handled at a time.
struct ConnectionTable: Sendable {
  private var all: [ConnectionID: Connection] = [:]
  private static let mostQueued = 64
  private static let mostWatched = 64

  var count: Int { all.count }
  var values: Dictionary<ConnectionID, Connection>.Values { all.values }
  /// The ids of all connections, in the order in which they were made.
  var ids: [ConnectionID] { all.keys.sorted() }
  /// Whether no connection waits for an answer.
  var isSettled: Bool { values.allSatisfy { $0.outstanding == 0 } }

  subscript(id: ConnectionID) -> Connection? { all[id] }

  mutating func open(_ id: ConnectionID, from address: String?) { all[id] = Connection(address: address) }

  mutating func close(_ id: ConnectionID) { all[id] = nil }

  mutating func setRoundTrip(_ roundTrip: Int, of id: ConnectionID) { all[id]?.roundTrip = roundTrip }

  /// Gives a connection its session. `first`: requests to handle before those that have arrived already.
  mutating func beginSession(_ session: String, on id: ConnectionID, first: [Request]) {
    all[id]?.session = session
    all[id]?.queue.insert(contentsOf: first, at: 0)
  }

  mutating func endSession(on id: ConnectionID) { all[id]?.session = nil }

  /// Throws if a connection may not watch one more match.
  func requireMayWatch(_ id: ConnectionID) throws(Refusal) {
    guard all[id]?.watching.count ?? 0 < ConnectionTable.mostWatched else {
      throw Refusal(.occupied, "at most \(ConnectionTable.mostWatched) matches can be watched at once")
    }
  }

  mutating func watch(_ m: MatchID, _ id: ConnectionID) { all[id]?.watching.append(m) }

  mutating func unwatch(_ m: MatchID, _ id: ConnectionID) { all[id]?.watching.removeAll { $0 == m } }

  // MARK: requests

  enum Turn { case now, later, refused }

  /// Decides when a request is handled: now, or after the connection's earlier requests, or never because too many wait. Returns `nil` if
  /// the connection is gone.
  mutating func enqueue(_ request: Request, for id: ConnectionID) -> Turn? {
    guard let connection = all[id] else { return nil }
    guard connection.outstanding > 0 || !connection.queue.isEmpty else { return .now }
    guard connection.queue.count < ConnectionTable.mostQueued else { return .refused }
    all[id]?.queue.append(request)
    return .later
  }

  mutating func beginWait(_ id: ConnectionID) { all[id]?.outstanding += 1 }

  mutating func endWait(_ id: ConnectionID) { all[id]?.outstanding -= 1 }

  /// Takes the next request of a connection that waits for nothing.
  mutating func takeNext(_ id: ConnectionID) -> Request? {
    guard let connection = all[id], connection.outstanding == 0, !connection.queue.isEmpty else { return nil }
    return all[id]?.queue.removeFirst()
  }

  var faults: [String] {
    ids.filter { all[$0]?.outstanding == 0 && all[$0]?.queue.isEmpty == false }
      .map { "connection \($0) keeps what it said" }
  }
}
