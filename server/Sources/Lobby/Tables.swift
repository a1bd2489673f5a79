import MatchProtocol
import MatchStore
import TicTacToe

/// Things by their strength, the strongest first, of equals the one with the smaller id. A change costs a search.
struct Ranking<ID: Comparable & Sendable>: Sendable {
  private(set) var places: [(strength: Double, id: ID)] = []

  /// The first place that is not before a thing's.
  private func place(_ strength: Double, _ id: ID) -> Int {
    places.place { $0.strength > strength || $0.strength == strength && $0.id < id }
  }

  /// Moves a thing from one strength to another; without one it has no place.
  mutating func move(_ id: ID, from old: Double?, to new: Double?) {
    guard old != new else { return }
    if let old, case let i = place(old, id), i < places.count, places[i].id == id { places.remove(at: i) }
    if let new { places.insert((new, id), at: place(new, id)) }
  }

  func isAmong(first count: Int, _ id: ID, _ strength: Double) -> Bool { place(strength, id) < count }
}

/// A wish to be paired.
struct Ticket: Sendable, Hashable {
  var id: String
  var session: String
  /// The node of its connection.
  var node: NodeID
  /// The player as the store knew him last.
  var player: AccountRecord
  var seek: ClientMessage.Seek
  var isBot: Bool
  var confirms: Bool
  /// Since when it waits, by this node's steady clock.
  var since: Int64
  var offeredBots = false
  /// The row that it was read from; `nil` for a ticket of this node that was not read yet.
  var row: WaitingTicket?

  var account: Int64 { player.id }
  /// The strength in the game that is sought.
  var rating: Double { player[seek.terms.rules].rating.value }
}

extension Ticket {
  /// What its key means: the seek, but whether a bot will do, which a client may think over.
  var purpose: String {
    var plain = seek
    (plain.bots, plain.key) = (false, nil)
    return String(decoding: ClientLine(.seek(plain)).bytes.dropLast(), as: UTF8.self)
  }

  /// As a store keeps it; `ahead` is the store's clock less the steady one.
  func record(_ ahead: Int64) -> TicketRecord {
    let marks = (isBot ? "b" : "-") + (confirms ? "c" : "-")
    let line = String(decoding: ClientLine(.seek(seek)).bytes.dropLast(), as: UTF8.self)
    return TicketRecord(
      id: id, session: session, account: account, node: node, key: seek.key ?? "", purpose: purpose,
      wish: marks + line, since: since + ahead)
  }

  /// Reads what a store kept.
  init?(_ waiting: WaitingTicket, _ ahead: Int64) {
    let (record, marks) = (waiting.ticket, waiting.ticket.wish.prefix(2))
    let line = Array(record.wish.utf8.dropFirst(2))
    guard marks.count == 2, let read = try? line.withUnsafeBytes({ raw in try ClientLine(relayed: raw) }),
      case .seek(let seek) = read.message
    else { return nil }
    self.init(
      id: record.id, session: record.session, node: record.node, player: waiting.account, seek: seek,
      isBot: marks.first == "b", confirms: marks.last == "c", since: record.since - ahead)
    row = waiting
  }
}

/// What a connection of this node seeks.
struct OpenSeek: Sendable {
  var ticket: Ticket
  /// Whether the store has it.
  var isStored = false
}

/// What the connections of this node seek, and what they sought last; found by connection and by ticket.
struct Seeks: Sendable {
  private(set) var open: [ConnectionID: OpenSeek] = [:]
  /// What was sought last, and the match that it has led to.
  private var led: [ConnectionID: (ticket: Ticket, m: MatchID)] = [:]
  private var connections: [String: ConnectionID] = [:]
  /// Connections that took back what they sought last. It may have led to a match all the same.
  private var takenBack: Set<ConnectionID> = []

  var count: Int { open.count }
  var isEmpty: Bool { open.isEmpty }
  /// The tickets that the store has, in order.
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

  /// What a connection seeks has led to a match; returns the ticket.
  mutating func lead(_ id: ConnectionID, to m: MatchID) -> Ticket? {
    guard let ticket = open[id]?.ticket else { return nil }
    self[id] = nil
    forgetLast(id)
    led[id] = (ticket, m)
    connections[ticket.id] = id
    return ticket
  }

  /// The connection whose ticket has led to a match.
  func seeker(_ ticket: String, ledTo m: MatchID) -> ConnectionID? {
    connections[ticket].flatMap { led[$0]?.ticket.id == ticket && led[$0]?.m == m ? $0 : nil }
  }

  /// What a connection sought last, if it has led to this match.
  func last(_ id: ConnectionID, ledTo m: MatchID) -> Ticket? { led[id].flatMap { $0.m == m ? $0.ticket : nil } }

  /// A connection takes back what it seeks.
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

/// Who waits to be paired, found by session, by number and by strength.
struct TicketQueue: Sendable {
  /// Those who may meet: on the same terms, people apart from bots.
  private struct Line: Hashable, Sendable {
    let terms: MatchTerms
    let isBot: Bool
  }
  /// How many on each side of a strength are looked at: the others wait for somebody nearer.
  private static let near = 64
  static let most = 10_000

  private var bySession: [String: Ticket] = [:]
  private var sessions: [String: String] = [:]
  private var lines: [Line: [Ticket]] = [:]

  var count: Int { bySession.count }
  var isEmpty: Bool { bySession.isEmpty }
  /// Since when the one who waits longest has waited; O(n).
  var oldest: Int64? { bySession.values.map(\.since).min() }
  /// All, the longest waiting first; O(n log n).
  var oldestFirst: [Ticket] { bySession.values.sorted { ($0.since, $0.id) < ($1.since, $1.id) } }

  var ids: Set<String> { Set(sessions.keys) }

  subscript(id id: String) -> Ticket? { sessions[id].flatMap { bySession[$0] } }

  /// Adds a ticket, in place of the one its session may have.
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

  /// Remembers that a player knows of the bots.
  mutating func offeredBots(to session: String) { bySession[session]?.offeredBots = true }

  /// How many bots wait for a match on these terms.
  func bots(_ terms: MatchTerms) -> Int { lines[Line(terms: terms, isBot: true)]?.count ?? 0 }

  /// Those nearest in strength to a ticket who may suit it.
  func around(_ ticket: Ticket) -> [Ticket] {
    (ticket.seek.bots ? [false, true] : [false]).flatMap { isBot -> ArraySlice<Ticket> in
      guard let line = lines[Line(terms: ticket.seek.terms, isBot: isBot)] else { return [] }
      let at = TicketQueue.place(ticket.rating, .min, in: line)
      return line[max(0, at - TicketQueue.near)..<min(line.count, at + TicketQueue.near)]
    }
  }

  /// The first place in a line that is not before a strength and a time.
  private static func place(_ rating: Double, _ since: Int64, in line: [Ticket]) -> Int {
    line.place { ($0.rating, $0.since) < (rating, since) }
  }
}

extension Array {
  /// The first place of an ordered list that is not before something; O(log n).
  fileprivate func place(_ isBefore: (Element) -> Bool) -> Int {
    var range = indices
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = isBefore(self[middle]) ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
