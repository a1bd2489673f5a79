import MatchProtocol
import MatchStore
import TicTacToe

/// Things by their strength, the strongest first, of equals the one with the smaller id. A change costs a search.
struct Ranking<ID: Comparable & Sendable>: Sendable {
  private(set) var places: [(strength: Double, id: ID)] = []

  /// The first place that is not before a thing's.
  private func place(_ strength: Double, _ id: ID) -> Int {
    var range = 0..<places.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      let other = places[middle]
      let isBefore = other.strength > strength || other.strength == strength && other.id < id
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// Moves a thing from one strength to another; without one it has no place.
  mutating func move(_ id: ID, from old: Double?, to new: Double?) {
    guard old != new else { return }
    if let old, case let i = place(old, id), i < places.count, places[i].id == id { places.remove(at: i) }
    if let new { places.insert((new, id), at: place(new, id)) }
  }

  func isAmong(first count: Int, _ id: ID, _ strength: Double) -> Bool { place(strength, id) < count }
}

/// Accounts by their numbers, and the named players who have played rated by strength.
struct AccountTable: Sendable {
  private var all: [Int64: AccountRecord] = [:]
  /// For each game.
  private var rankings: [Variant: Ranking<Int64>] = [:]
  private(set) var guests = 0

  var count: Int { all.count }

  subscript(id: Int64) -> AccountRecord? {
    get { all[id] }
    set {
      let old = all.removeValue(forKey: id)
      all[id] = newValue
      guests += (newValue?.guest == true ? 1 : 0) - (old?.guest == true ? 1 : 0)
      for rules in Variant.allCases {
        let (before, after) = (old.flatMap { strength($0, rules) }, newValue.flatMap { strength($0, rules) })
        if before != after { rankings[rules, default: Ranking()].move(id, from: before, to: after) }
      }
    }
  }

  func ranking(_ rules: Variant) -> Ranking<Int64> { rankings[rules] ?? Ranking() }

  private func strength(_ account: AccountRecord, _ rules: Variant) -> Double? {
    account.guest || account[rules].ratedAt == 0 || account.banned ? nil : account[rules].rating.value
  }
}

/// A wish to be paired, as the node of its player made it.
package struct Ticket: Sendable, Hashable {
  /// Its number, which it keeps wherever it waits.
  var id: String
  var session: String
  /// The player as his node knew him when it gave the ticket away.
  var player: AccountRecord
  var seek: ClientMessage.Seek
  var isBot: Bool
  /// Since when it waits, by this node's steady clock.
  var since: Int64
  /// The match that its key had led to and that came to nothing.
  var lost: MatchID?
  var offeredBots = false

  var account: Int64 { player.id }
  /// The strength in the game that is sought.
  var rating: Double { player[seek.terms.rules].rating.value }
}

/// What a connection of this node seeks, and which node's queue knows it; only this node says whether somebody still waits.
struct OpenSeek: Sendable {
  var ticket: Ticket
  var at: Int64?
}

/// Two tickets that become a match.
package struct Pairing: Sendable, Hashable {
  var m: MatchID
  var seats: Sides<Ticket>

  var keys: [String] { [seats.x.seek.key ?? "", seats.o.seek.key ?? ""] }
}

extension MatchID {
  /// What stands for the queue where work is brought to matches; theirs are longer.
  static let queue: MatchID = {
    guard let id = MatchID(rawValue: "queue") else { preconditionFailure("no id") }
    return id
  }()
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

  subscript(session session: String) -> Ticket? { bySession[session] }
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
    var range = 0..<line.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      let isBefore = (line[middle].rating, line[middle].since) < (rating, since)
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
