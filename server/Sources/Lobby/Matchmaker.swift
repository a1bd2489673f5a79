import MatchProtocol
import MatchStore

/// The leader's queue of tickets: which wait, which two fit, and when to read the queue from the store. Two leaders at the same time do no
/// harm: the store accepts only one match for each ticket.
struct Matchmaker: Sendable {
  enum Output: Hashable {
    /// Make a match of two tickets, which cannot be paired again until `release`.
    case pair(Ticket, Ticket)
    /// Offer bots to a player who has waited for long; `count` of them are available.
    case offerBots(Ticket, count: Int)
  }

  /// The data on which pairing depends, other than the queue.
  struct Context {
    let now: Int64
    /// Used for the lists of blocked players, because the lists in tickets may be outdated.
    let accounts: Accounts
    /// The number of pairs whose matches may be submitted to the store now.
    let mostPairs: Int
    let botAfter: Int64
    let tournaments: [String: TournamentDesk.Entry]
    /// Milliseconds since 1970 on the store's clock.
    let wall: Int64
  }

  private(set) var queue = TicketQueue()
  /// Tickets whose match is being stored.
  private var reserved: Set<String> = []
  /// Whether the store may have tickets that this queue lacks.
  private(set) var mustRead = false
  private var isReading = false
  private var isReadScheduled = false
  /// Monotonic ms of the last read caused by another node's ticket.
  private var readAt = Int64.min / 2
  /// The shortest pause between two reads caused by other nodes' tickets, in ms: a read takes O(queue).
  private static let readEvery: Int64 = 100

  // MARK: reading the queue

  /// Monotonic ms at which to read the queue because of another node's ticket, perhaps now; `nil` if a read is scheduled already.
  mutating func scheduleRead(_ now: Int64) -> Int64? {
    guard !isReadScheduled else { return nil }
    let due = max(now, readAt + Matchmaker.readEvery)
    isReadScheduled = due > now
    return due
  }

  mutating func scheduledReadIsDue(_ now: Int64) { (isReadScheduled, readAt) = (false, now) }

  /// Demands that the next pairing begins with a read of the queue.
  mutating func requireRead() { mustRead = true }

  /// Returns the ids of the tickets in memory; `nil` while a read is in progress. That read may miss new tickets, so another must follow.
  mutating func beginReading() -> Set<String>? {
    mustRead = isReading
    guard !isReading else { return nil }
    isReading = true
    return queue.ids
  }

  mutating func readFailed() { (isReading, mustRead) = (false, true) }

  /// Replaces the queue by the store's tickets, but keeps tickets queued here since the read began: those not in `known`. Returns the pairs
  /// that fit, and the tickets of `known` that the store no longer has.
  mutating func read(_ found: [WaitingTicket], known: Set<String>, clockOffset: Int64, _ context: Context)
    -> (pairs: [Output], missing: Set<String>)
  {
    isReading = false
    let missing = known.subtracting(found.map(\.ticket.id))
    for id in missing { queue.remove(id: id) }
    var pairs: [Output] = []
    for one in found where !reserved.contains(one.ticket.id) {
      let known = queue[id: one.ticket.id]
      if known?.row == one { continue }
      guard var ticket = Ticket(one, clockOffset) else { continue }
      ticket.offeredBots = known?.offeredBots ?? false
      // Keep the earlier start of waiting, from memory or from the store: the store's clock may have been set back.
      ticket.since = min(ticket.since, known?.since ?? context.now)
      add(ticket, context, &pairs)
    }
    return (pairs, missing)
  }

  // MARK: pairing

  mutating func add(_ ticket: Ticket, _ context: Context) -> [Output] {
    var pairs: [Output] = []
    add(ticket, context, &pairs)
    return pairs
  }

  private mutating func add(_ ticket: Ticket, _ context: Context, _ pairs: inout [Output]) {
    guard !reserved.contains(ticket.id) else { return }
    queue.insert(ticket)
    // Players of a tournament wait for the next round (`pairAll`), which pairs the players nearest in points.
    guard ticket.seek.terms.tournament == nil else { return }
    if let partner = bestPartner(of: ticket, context) { pair(ticket, partner, context, &pairs) }
  }

  mutating func remove(_ id: String) { queue.remove(id: id) }

  /// Ends the reservation of two tickets: their match is stored or has failed.
  mutating func release(_ pairing: Pairing) { reserved.subtract(pairing.both.map(\.id)) }

  /// Pairs all tickets, the longest waiting first, and offers bots to the players left over; O(n log n).
  mutating func pairAll(_ context: Context) -> [Output] {
    var (pairs, offers): ([Output], [Output]) = ([], [])
    for ticket in queue.oldestFirst where queue[id: ticket.id] != nil {
      if let code = ticket.seek.terms.tournament {
        if let partner = tournamentPartner(of: ticket, context.tournaments[code], context) {
          pair(ticket, partner, context, &pairs)
        }
      } else if let partner = bestPartner(of: ticket, context) {
        pair(ticket, partner, context, &pairs)
      } else if let count = botsToOffer(ticket, context) {
        queue.offeredBots(to: ticket.session)
        offers.append(.offerBots(ticket, count: count))
      }
    }
    return pairs + offers
  }

  private mutating func pair(_ a: Ticket, _ b: Ticket, _ context: Context, _ pairs: inout [Output]) {
    guard pairs.count < context.mostPairs else { return }
    for ticket in [a, b] {
      queue.remove(id: ticket.id)
      reserved.insert(ticket.id)
    }
    pairs.append(.pair(a, b))
  }

  /// The number of bots to offer, once, to a player who has waited for `botAfter`; `nil` if there is nothing to offer.
  private func botsToOffer(_ ticket: Ticket, _ context: Context) -> Int? {
    let bots = queue.bots(ticket.seek.terms)
    let isDue = context.now - ticket.since >= context.botAfter
    return bots > 0 && isDue && !ticket.offeredBots && !ticket.isBot && !ticket.seek.terms.rated ? bots : nil
  }

  /// The partner closest in strength; of equally close partners the one who has waited longest.
  private func bestPartner(of ticket: Ticket, _ context: Context) -> Ticket? {
    func rank(_ other: Ticket) -> (Double, Int64) { (abs(other.rating - ticket.rating), other.since) }
    return queue.around(ticket).filter { $0.id != ticket.id && fits(ticket, $0, context) }.min { rank($0) < rank($1) }
  }

  /// The waiting player nearest in points; of equally near players the one who has waited longest. O(queue).
  private func tournamentPartner(
    of ticket: Ticket, _ entry: TournamentDesk.Entry?, _ context: Context
  ) -> Ticket? {
    guard let entry, let record = entry.known?.record, record.takesGames(at: context.wall) else {
      return nil
    }
    func playing(_ ticket: Ticket) -> Entrant? {
      entry.entrants[ticket.account].flatMap { $0.row.status == .playing ? $0 : nil }
    }
    guard let own = playing(ticket) else { return nil }
    var best: (ticket: Ticket, rank: (Int, Int64))?
    for other in queue.equal(ticket) where other.id != ticket.id {
      guard let entrant = playing(other), fits(ticket, other, context) else { continue }
      let haveJustPlayed = own.lastOpponent == entrant.account || entrant.lastOpponent == own.account
      guard !haveJustPlayed || context.now - max(ticket.since, other.since) >= Matchmaker.repeatAfter else { continue }
      let rank = (abs(entrant.row.points - own.row.points), other.since)
      if best.map({ rank < $0.rank }) ?? true { best = (other, rank) }
    }
    return best?.ticket
  }

  /// Milliseconds of waiting after which two players of a tournament may meet twice in succession: with the wait for the next round (at
  /// most `tournamentInterval`), less than three seconds. TournamentPairingTests prints the share of repeated pairings.
  private static let repeatAfter: Int64 = 2400

  /// Milliseconds between two rounds of pairing (`pairAll`).
  var pairingInterval: Int64 { queue.tournaments.isEmpty ? 1000 : Matchmaker.tournamentInterval }
  static let tournamentInterval: Int64 = 500

  private func fits(_ a: Ticket, _ b: Ticket, _ context: Context) -> Bool {
    guard a.account != b.account, a.seek.terms == b.seek.terms else { return false }
    guard !(b.isBot && !a.seek.bots), !(a.isBot && !b.seek.bots) else { return false }
    let (one, other) = (context.accounts[a.account] ?? a.player, context.accounts[b.account] ?? b.player)
    guard !one.blocked.contains(other.id), !other.blocked.contains(one.id) else { return false }
    if a.seek.terms.tournament != nil { return true }
    // The larger of the two windows applies, but not beyond a range that either player asked for.
    let most = max(window(a, context.now), window(b, context.now))
    return abs(a.rating - b.rating) <= min(most, Double(a.seek.range ?? .max), Double(b.seek.range ?? .max))
  }

  /// The rating difference that a ticket accepts: the seek's range, or 100 plus 10 for each second of waiting; any after 20 s.
  private func window(_ ticket: Ticket, _ now: Int64) -> Double {
    if let range = ticket.seek.range { return Double(range) }
    let seconds = Double(now - ticket.since) / 1000
    return seconds >= 20 ? .infinity : 100 + 10 * seconds
  }
}

/// The waiting tickets, by session, by id and by rating.
struct TicketQueue: Sendable {
  /// The key of a list of tickets with equal terms. People and bots have separate lists.
  private struct Line: Hashable, Sendable {
    let terms: MatchTerms
    let isBot: Bool
  }
  /// A ticket is compared with at most this many tickets of a lower rating, and as many of an equal or higher rating: the nearest.
  private static let near = 64
  private var bySession: [String: Ticket] = [:]
  private var sessions: [String: String] = [:]
  private var lines: [Line: [Ticket]] = [:]

  var count: Int { bySession.count }
  var isEmpty: Bool { bySession.isEmpty }
  /// When the longest waiting ticket was queued, in monotonic ms; O(n).
  var oldest: Int64? { bySession.values.map(\.since).min() }
  /// When the longest waiting ticket of a tournament player was queued, in monotonic ms; O(n).
  var oldestInTournaments: Int64? {
    bySession.values.lazy.filter { $0.seek.terms.tournament != nil }.map(\.since).min()
  }
  /// All tickets, the longest waiting first; O(n log n).
  var oldestFirst: [Ticket] { bySession.values.sorted { ($0.since, $0.id) < ($1.since, $1.id) } }

  var ids: Set<String> { Set(sessions.keys) }

  subscript(id id: String) -> Ticket? { sessions[id].flatMap { bySession[$0] } }

  /// Adds a ticket, which replaces any other ticket of its session.
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

  mutating func offeredBots(to session: String) { bySession[session]?.offeredBots = true }

  func bots(_ terms: MatchTerms) -> Int { lines[Line(terms: terms, isBot: true)]?.count ?? 0 }

  /// The tickets nearest in rating, of people and, if the player consents, of bots.
  func around(_ ticket: Ticket) -> [Ticket] {
    (ticket.seek.bots ? [false, true] : [false]).flatMap { isBot -> ArraySlice<Ticket> in
      guard let line = lines[Line(terms: ticket.seek.terms, isBot: isBot)] else { return [] }
      let at = TicketQueue.place(ticket.rating, .min, in: line)
      return line[max(0, at - TicketQueue.near)..<min(line.count, at + TicketQueue.near)]
    }
  }

  /// All tickets of people and bots with the same terms.
  func equal(_ ticket: Ticket) -> [Ticket] {
    [false, true].flatMap { lines[Line(terms: ticket.seek.terms, isBot: $0)] ?? [] }
  }

  /// The codes of the tournaments whose players wait.
  var tournaments: Set<String> { Set(lines.keys.compactMap(\.terms.tournament)) }

  /// The index for a new ticket in a list that is sorted by rating, then by start of waiting (`since`).
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
