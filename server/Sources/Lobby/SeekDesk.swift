import MatchProtocol
import MatchStore

/// The seek of a connection of this node.
struct OpenSeek: Sendable {
  var ticket: Ticket
  /// Whether the store has the ticket.
  var isStored = false
}

/// The current and the last seek of each connection of this node, by connection and by ticket.
struct SeekDesk: Sendable {
  private(set) var open: [ConnectionID: OpenSeek] = [:]
  /// The last matched ticket of each connection, and its match.
  private var matched: [ConnectionID: (ticket: Ticket, m: MatchID)] = [:]
  private var connections: [String: ConnectionID] = [:]
  /// Connections that have withdrawn their last seek. The ticket of that seek may have been matched before the withdrawal.
  private var takenBack: Set<ConnectionID> = []

  var count: Int { open.count }
  var isEmpty: Bool { open.isEmpty }
  /// The ids of this node's tickets that the store has, sorted.
  var stored: [String] { open.values.filter(\.isStored).map(\.ticket.id).sorted() }

  subscript(id: ConnectionID) -> OpenSeek? {
    get { open[id] }
    set {
      if let old = open[id] { connections[old.ticket.id] = nil }
      open[id] = newValue
      if let newValue { connections[newValue.ticket.id] = id }
    }
  }

  /// The connection that waits with a ticket.
  func seeker(_ ticket: String) -> ConnectionID? {
    connections[ticket].flatMap { open[$0]?.ticket.id == ticket ? $0 : nil }
  }

  /// Records that a connection's ticket was matched; returns the ticket.
  mutating func markMatched(_ id: ConnectionID, to m: MatchID) -> Ticket? {
    guard let ticket = open[id]?.ticket else { return nil }
    self[id] = nil
    forgetLast(id)
    matched[id] = (ticket, m)
    connections[ticket.id] = id
    return ticket
  }

  /// The connection whose ticket this is, if the ticket was matched to `m`. `nil` if the ticket is not known here or was forgotten
  /// (`forgetLast`), for example because the connection seeks again.
  func seeker(_ ticket: String, ledTo m: MatchID) -> ConnectionID? {
    connections[ticket].flatMap { matched[$0]?.ticket.id == ticket && matched[$0]?.m == m ? $0 : nil }
  }

  /// The last matched ticket of a connection; `nil` if this ticket was matched to another match than `m`, or was forgotten.
  func last(_ id: ConnectionID, ledTo m: MatchID) -> Ticket? { matched[id].flatMap { $0.m == m ? $0.ticket : nil } }

  /// The match of a ticket, if this is the last matched ticket of the connection and was not forgotten; otherwise `nil`.
  func match(ledBy ticket: String, of id: ConnectionID) -> MatchID? {
    matched[id].flatMap { $0.ticket.id == ticket ? $0.m : nil }
  }

  /// Records that a connection withdraws its seek.
  mutating func takeBack(_ id: ConnectionID) {
    if open[id] != nil { takenBack.insert(id) }
  }

  func hasTakenBack(_ id: ConnectionID) -> Bool { takenBack.contains(id) }

  /// Forgets a connection's last matched ticket, and that the connection withdrew its last seek.
  mutating func forgetLast(_ id: ConnectionID) {
    takenBack.remove(id)
    if let last = matched.removeValue(forKey: id) { connections[last.ticket.id] = nil }
  }
}
