import MatchProtocol
import MatchStore

struct OpenSeek: Sendable {
  var ticket: Ticket
  var isStored = false
}

/// The current and the last seek of each connection of this node, by connection and by ticket.
struct SeekDesk: Sendable {
  private(set) var open: [ConnectionID: OpenSeek] = [:]
  /// The last matched ticket of each connection, and its match.
  private var matched: [ConnectionID: (ticket: Ticket, m: MatchID)] = [:]
  private var connections: [String: ConnectionID] = [:]
  /// Connections that withdrew their last seek, perhaps after its ticket was matched.
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

  mutating func markMatched(_ id: ConnectionID, to m: MatchID) -> Ticket? {
    guard let ticket = open[id]?.ticket else { return nil }
    self[id] = nil
    forgetLast(id)
    matched[id] = (ticket, m)
    connections[ticket.id] = id
    return ticket
  }

  /// The connection whose ticket was matched to `m`; `nil` if the ticket was forgotten, for example because the connection seeks again.
  func seeker(_ ticket: String, ledTo m: MatchID) -> ConnectionID? {
    connections[ticket].flatMap { matched[$0]?.ticket.id == ticket && matched[$0]?.m == m ? $0 : nil }
  }

  /// The last matched ticket of a connection, if it was matched to `m` and not forgotten.
  func last(_ id: ConnectionID, ledTo m: MatchID) -> Ticket? { matched[id].flatMap { $0.m == m ? $0.ticket : nil } }

  /// The match of a ticket, if the ticket is the connection's last matched ticket and was not forgotten.
  func match(ledBy ticket: String, of id: ConnectionID) -> MatchID? {
    matched[id].flatMap { $0.ticket.id == ticket ? $0.m : nil }
  }

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
