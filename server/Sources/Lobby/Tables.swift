import MatchProtocol
import MatchStore
import TicTacToe

/// A player's request to be paired.
struct Ticket: Sendable, Hashable {
  var id: String
  var session: String
  /// The node at which the player is connected.
  var node: NodeID
  /// The player's account as last read from the store.
  var player: AccountRecord
  var seek: ClientMessage.Seek
  var isBot: Bool
  /// When the ticket began to wait, in this node's steady milliseconds.
  var since: Int64
  var offeredBots = false
  /// The row that it was read from; `nil` for a local ticket that was not read yet.
  var row: WaitingTicket?

  var account: Int64 { player.id }
  /// The player's rating in the requested game.
  var rating: Double { player[seek.terms.rules].rating.value }
}

extension Ticket {
  /// The meaning of its key: the seek without consent to bots, which a client may change.
  var purpose: String {
    var plain = seek
    (plain.bots, plain.key) = (false, nil)
    return String(decoding: ClientLine(.seek(plain)).bytes.dropLast(), as: UTF8.self)
  }

  /// The row for the store; `ahead` is the store's clock less the steady clock.
  func record(_ ahead: Int64) -> TicketRecord {
    // The second mark was `c` for a client that confirms a pairing: older nodes expect two.
    let marks = isBot ? "b-" : "--"
    let line = String(decoding: ClientLine(.seek(seek)).bytes.dropLast(), as: UTF8.self)
    return TicketRecord(
      id: id, session: session, account: account, node: node, key: seek.key ?? "", purpose: purpose,
      wish: marks + line, since: since + ahead)
  }

  /// Decodes a row of the store.
  init?(_ waiting: WaitingTicket, _ ahead: Int64) {
    let (record, marks) = (waiting.ticket, waiting.ticket.wish.prefix(2))
    let line = Array(record.wish.utf8.dropFirst(2))
    guard marks.count == 2, let read = try? line.withUnsafeBytes({ raw in try ClientLine(relayed: raw) }),
      case .seek(let seek) = read.message
    else { return nil }
    self.init(
      id: record.id, session: record.session, node: record.node, player: waiting.account, seek: seek,
      isBot: marks.first == "b", since: record.since - ahead)
    row = waiting
  }
}

/// The seek of a connection of this node.
struct OpenSeek: Sendable {
  var ticket: Ticket
  /// Whether the store has the ticket.
  var isStored = false
}

/// The current and the last seek of each connection of this node, by connection and by ticket.
struct Seeks: Sendable {
  private(set) var open: [ConnectionID: OpenSeek] = [:]
  /// The last ticket of a connection and the match it led to.
  private var led: [ConnectionID: (ticket: Ticket, m: MatchID)] = [:]
  private var connections: [String: ConnectionID] = [:]
  /// Connections that withdrew their last seek, which may have been matched all the same.
  private var takenBack: Set<ConnectionID> = []

  var count: Int { open.count }
  var isEmpty: Bool { open.isEmpty }
  /// The tickets in the store, sorted.
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
    led[id] = (ticket, m)
    connections[ticket.id] = id
    return ticket
  }

  /// The connection whose ticket led to a match.
  func seeker(_ ticket: String, ledTo m: MatchID) -> ConnectionID? {
    connections[ticket].flatMap { led[$0]?.ticket.id == ticket && led[$0]?.m == m ? $0 : nil }
  }

  /// The last ticket of a connection, if it led to this match.
  func last(_ id: ConnectionID, ledTo m: MatchID) -> Ticket? { led[id].flatMap { $0.m == m ? $0.ticket : nil } }

  /// The match that a ticket led to, if it was the last one of a connection.
  func match(ledBy ticket: String, of id: ConnectionID) -> MatchID? {
    led[id].flatMap { $0.ticket.id == ticket ? $0.m : nil }
  }

  /// Records that a connection withdraws its seek.
  mutating func takeBack(_ id: ConnectionID) {
    if open[id] != nil { takenBack.insert(id) }
  }

  func hasTakenBack(_ id: ConnectionID) -> Bool { takenBack.contains(id) }

  mutating func forgetLast(_ id: ConnectionID) {
    takenBack.remove(id)
    if let last = led.removeValue(forKey: id) { connections[last.ticket.id] = nil }
  }
}

/// Two tickets that become a match.
struct Pairing: Sendable {
  var m: MatchID
  var seats: Sides<Ticket>

  var both: [Ticket] { [seats.x, seats.o] }
  var keys: [String] { both.map { $0.seek.key ?? "" } }
}

/// The waiting tickets, by session, by id and by strength.
struct TicketQueue: Sendable {
  /// Tickets that may be paired with each other: equal terms, people separate from bots.
  private struct Line: Hashable, Sendable {
    let terms: MatchTerms
    let isBot: Bool
  }
  /// The number of tickets examined on each side of a rating; those farther away wait for a closer partner.
  private static let near = 64
  static let most = 10_000

  private var bySession: [String: Ticket] = [:]
  private var sessions: [String: String] = [:]
  private var lines: [Line: [Ticket]] = [:]

  var count: Int { bySession.count }
  var isEmpty: Bool { bySession.isEmpty }
  /// When the longest waiting ticket was queued; O(n).
  var oldest: Int64? { bySession.values.map(\.since).min() }
  /// All tickets, the longest waiting first; O(n log n).
  var oldestFirst: [Ticket] { bySession.values.sorted { ($0.since, $0.id) < ($1.since, $1.id) } }

  var ids: Set<String> { Set(sessions.keys) }

  subscript(id id: String) -> Ticket? { sessions[id].flatMap { bySession[$0] } }

  /// Adds a ticket and replaces any of the same session.
  mutating func insert(_ ticket: Ticket) {
    remove(id: ticket.id)
    remove(session: ticket.session)
    bySession[ticket.session] = ticket
    sessions[ticket.id] = ticket.session
    let line = Line(terms: ticket.seek.terms, isBot: ticket.isBot)
    lines[line, default: []].insert(ticket, at: TicketQueue.place(ticket.rating, ticket.since, in: lines[line] ?? []))
  }

  @discardableResult mutating func remove(session: String) -> Ticket? {
    guard let ticket = bySession.removeValue(forKey: session) else { return nil }
    sessions[ticket.id] = nil
    let line = Line(terms: ticket.seek.terms, isBot: ticket.isBot)
    let first = TicketQueue.place(ticket.rating, ticket.since, in: lines[line] ?? [])
    if let i = lines[line]?[first...].firstIndex(where: { $0.id == ticket.id }) { lines[line]?.remove(at: i) }
    if lines[line]?.isEmpty == true { lines[line] = nil }
    return ticket
  }

  mutating func remove(id: String) { if let session = sessions[id] { remove(session: session) } }

  /// Records that bots were offered to a player.
  mutating func offeredBots(to session: String) { bySession[session]?.offeredBots = true }

  /// The number of bots that wait with these terms.
  func bots(_ terms: MatchTerms) -> Int { lines[Line(terms: terms, isBot: true)]?.count ?? 0 }

  /// The tickets closest in strength to a ticket that may suit it.
  func around(_ ticket: Ticket) -> [Ticket] {
    (ticket.seek.bots ? [false, true] : [false]).flatMap { isBot -> ArraySlice<Ticket> in
      guard let line = lines[Line(terms: ticket.seek.terms, isBot: isBot)] else { return [] }
      let at = TicketQueue.place(ticket.rating, .min, in: line)
      return line[max(0, at - TicketQueue.near)..<min(line.count, at + TicketQueue.near)]
    }
  }

  /// The first position that is not before a rating and a time.
  private static func place(_ rating: Double, _ since: Int64, in line: [Ticket]) -> Int {
    line.place { ($0.rating, $0.since) < (rating, since) }
  }
}

extension Array {
  /// The first index of a sorted array for which `isBefore` is false; O(log n).
  fileprivate func place(_ isBefore: (Element) -> Bool) -> Int {
    var range = indices
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = isBefore(self[middle]) ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
