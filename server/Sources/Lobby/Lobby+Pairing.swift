import MatchProtocol
import MatchStore
import TicTacToe

/// The queue of tickets, kept in the store. The oldest living node (the keeper) reads and pairs them. Two simultaneous
/// keepers do no harm: the store lets a ticket lead to one match only.
extension Lobby {
  // MARK: at the node of the player

  mutating func takeSeek(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard mayPlay(seek.terms.rules, session, id, re) else { return }
    guard !seek.terms.rated || Lobby.mayBeRated(account, session) else { return refuseRated(id, re) }
    if let open = seeks[id]?.ticket {
      // A repeated seek keeps its place; only its consent to bots may change.
      guard let key = seek.key, open.seek.key == key else {
        return refuse(id, re, .occupied, "one seek a session; unseek first")
      }
      guard open.seek.isSame(as: seek) else { return refuse(id, re, .midReused, Lobby.keyReused) }
      var ticket = open
      ticket.seek = seek
      seeks[id]?.ticket = ticket
      return queue(ticket, id, re)
    }
    guard !isDraining else { return refuse(id, re, .draining, "the server is stopping") }
    guard !isBusy, seeks.count < TicketQueue.most else { return refuseBusy(id, re) }
    guard mayPlay(account, id, re) else { return }
    let ticket = Ticket(
      id: makeTicketID(), session: session.id, node: node, player: account,
      seek: seek, isBot: session.isBot, since: now.steady)
    seeks[id] = OpenSeek(ticket: ticket)
    seeks.forgetLast(id)
    queue(ticket, id, re)
  }

  private mutating func makeTicketID() -> String { crockford(bits: random.next(), count: 8, lowercase: true) }

  static func mayBeRated(_ account: AccountRecord, _ session: Session) -> Bool { !account.guest && !session.isBot }

  mutating func refuseRated(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .forbidden, "rated matches are for people with a name; register one, or play unrated")
  }

  private static let keyReused = "this key was used for another seek"
  static let isPlaying = "you are in a rated match; finish it before the next"

  /// The store's clock minus the steady clock.
  private var ahead: Int64 { nodes.clockOffset ?? now.wall - now.steady }

  private mutating func queue(_ ticket: Ticket, _ id: ConnectionID, _ re: String?, hasLostPlace: Bool = false) {
    var record = ticket.record(ahead)
    record.hasLostPlace = hasLostPlace
    ask(.queue(record, rated: ticket.seek.terms.rated), for: id) { $0.queued(id, ticket, re, $1) }
  }

  private mutating func queued(_ id: ConnectionID, _ asked: Ticket, _ re: String?, _ answer: StoreAnswer?) {
    // The store may still execute the unanswered command, so remove the ticket later.
    if answer == nil { timers.set(.retryUntilDone(.unqueue(asked.id), tries: 0), at: now.steady + 5000) }
    guard seeks[id]?.ticket.id == asked.id else {
      retryUntilDone(.unqueue(asked.id))
      // Otherwise the player withdrew the seek or disconnected meanwhile.
      guard let re, let m = seeks.match(ledBy: asked.id, of: id) else { return }
      // The hint of the pairing was quicker than this answer, which the client still waits for.
      return route(.follow(m, re: re, isNew: true), m, for: id)
    }
    guard case .queued(let result) = answer else {
      endSeek(id)
      return refuseBusy(id, re)
    }
    switch result {
    case .waits(let since):
      let start = min(now.steady, since - ahead)
      seeks[id]?.ticket.since = start
      seeks[id]?.isStored = true
      guard let ticket = seeks[id]?.ticket else { return }
      endSeeks(replacedBy: ticket)
      send(.queued(ticket: ticket.id, waited: Int(now.steady - ticket.since), bots: 0), to: id, re: re)
      if isLeader { enqueue(ticket) } else { publish(nodes.living.prefix(1).map(\.id), .queued) }
    case .led(let m):
      ticketMatched(id, to: m)
      route(.follow(m, re: re, isNew: true), m, for: id)
    case .purpose:
      endSeek(id)
      refuse(id, re, .midReused, Lobby.keyReused)
    case .playing:
      endSeek(id)
      refuse(id, re, .occupied, Lobby.isPlaying)
    case .unknown:
      endSeek(id)
      refuse(id, re, .auth, "this account is no more")
    }
  }

  /// Ends the seek of a connection and removes its ticket.
  mutating func endSeek(_ id: ConnectionID) {
    guard let open = seeks[id] else { return }
    seeks[id] = nil
    tickets.remove(id: open.ticket.id)
    retryUntilDone(.unqueue(open.ticket.id))
  }

  /// Ends seeks of other sessions of the account that this ticket replaced: it has the same key.
  private mutating func endSeeks(replacedBy ticket: Ticket) {
    guard let key = ticket.seek.key else { return }
    for id in sessions.of(ticket.account).map(\.connection) {
      guard let open = seeks[id], open.isStored, open.ticket.id != ticket.id, open.ticket.seek.key == key else {
        continue
      }
      seeks[id] = nil
      tickets.remove(id: open.ticket.id)
      refuse(id, nil, .midReused, "another session of yours waits with this key")
    }
  }

  /// Queues the ticket of a waiting connection again that is missing in the store; the answer may be a refusal.
  mutating func askForPlace(_ id: ConnectionID) {
    guard let open = seeks[id], open.isStored else { return }
    seeks[id]?.isStored = false
    queue(open.ticket, id, nil, hasLostPlace: true)
  }

  /// Records that the ticket of a connection was matched.
  private mutating func ticketMatched(_ id: ConnectionID, to m: MatchID) {
    if let ticket = seeks.markMatched(id, to: m) { tickets.remove(id: ticket.id) }
  }

  /// Resumes a player's search after his match failed before it began, unless he seeks something else by now.
  mutating func requeueSeek(after m: MatchID, _ id: ConnectionID, _ re: String? = nil) {
    guard var ticket = seeks.last(id, ledTo: m), seeks[id] == nil, !isDraining else { return }
    seeks.forgetLast(id)
    // A ticket id that was matched cannot be used again.
    ticket.id = makeTicketID()
    seeks[id] = OpenSeek(ticket: ticket)
    queue(ticket, id, re)
  }

  /// Handles a pairing by another node of a player who waits here.
  mutating func pairedElsewhere(_ ticket: String, _ account: Int64, _ m: MatchID) {
    if let id = seeks.seeker(ticket) { ticketMatched(id, to: m) }
    if matches[m] == nil {
      load(m, .paired(ticket: ticket, account: account), for: nil)
    } else {
      subscribeSeeker(ticket, account, at: m)
    }
  }

  /// Subscribes the session whose ticket was matched at another node, or records that it has left.
  mutating func subscribeSeeker(_ ticket: String, _ account: Int64, at m: MatchID) {
    guard let side = matches[m]?.side(of: account) else { return }
    if let id = seeks.seeker(ticket, ledTo: m), let session = connections[id]?.session {
      if matches[m]?.add(session, to: side) == true { introduce(m, to: id, side) }
    } else if sessions.of(account).isEmpty {
      matches[m]?.hasLeft[side] = true
    } else {
      subscribeLateSeekers(account, at: m)
    }
    updatePresence(m)
  }

  /// Subscribes sessions that withdrew their seek too late to a match that has just begun.
  mutating func subscribeLateSeekers(_ account: Int64, at m: MatchID) {
    guard let match = matches[m], let side = match.side(of: account), !match.isOver, match.state.moves.isEmpty,
      match.followers[side].isEmpty
    else { return }
    for session in sessions.of(account) where seeks.hasTakenBack(session.connection) {
      matches[m]?.add(session.id, to: side)
      introduce(m, to: session.connection, side)
    }
  }

  /// Tells a player who has waited for long that bots are available.
  mutating func offered(_ ticket: String, _ bots: Int) {
    guard let id = seeks.seeker(ticket), let open = seeks[id] else { return }
    send(.queued(ticket: ticket, waited: Int(now.steady - open.ticket.since), bots: bots), to: id)
  }

  // MARK: at the keeper

  /// Milliseconds between two reads of the queue caused by other nodes' tickets: a read is O(queue).
  private static let readQueueEvery: Int64 = 100

  mutating func readQueueSoon() {
    guard !willReadQueue else { return }
    let due = queueReadAt + Lobby.readQueueEvery
    guard due > now.steady else { return readQueueNow() }
    willReadQueue = true
    timers.set(.queue, at: due)
  }

  mutating func readQueueNow() {
    (willReadQueue, queueReadAt) = (false, now.steady)
    if isLeader { askForQueue() }
  }

  /// Reads the queue; if a read is in progress, reads again after it, since it may miss newer tickets.
  mutating func askForQueue() {
    mustReadQueue = isReadingQueue
    guard !isReadingQueue else { return }
    isReadingQueue = true
    let known = tickets.ids
    ask(.tickets) { lobby, answer in
      lobby.isReadingQueue = false
      if case .tickets(let waiting) = answer { lobby.readQueue(waiting, known) } else { lobby.mustReadQueue = true }
    }
  }

  /// Replaces the queue by the store's, but keeps tickets that were queued here since the read began.
  private mutating func readQueue(_ found: [WaitingTicket], _ known: Set<String>) {
    // Drop tickets of dead nodes.
    let waiting = found.filter { one in nodes.living.contains { $0.id == one.ticket.node } }
    let present = Set(waiting.map(\.ticket.id))
    for id in known.subtracting(present) {
      tickets.remove(id: id)
      if seeks.seeker(id) != nil { nodes.mustCompare = true }
    }
    for one in waiting where !store.pairing.contains(one.ticket.id) {
      let known = tickets[id: one.ticket.id]
      if known?.row == one { continue }
      guard var ticket = Ticket(one, ahead) else { continue }
      ticket.offeredBots = known?.offeredBots ?? false
      // Keep the earlier time: the store's clock may have been set back.
      ticket.since = min(ticket.since, known?.since ?? now.steady)
      enqueue(ticket)
    }
    if mustReadQueue { askForQueue() }
  }

  /// Adds a ticket to the queue and pairs it at once if a partner fits.
  private mutating func enqueue(_ ticket: Ticket) {
    guard !store.pairing.contains(ticket.id) else { return }
    tickets.insert(ticket)
    if let partner = bestPartner(of: ticket) { pair(ticket, partner) }
  }

  /// Drops the remembered tickets that were matched in this match.
  mutating func forgetSeeks(ledTo m: MatchID) {
    guard let match = matches[m] else { return }
    for id in connectionsFollowing(match) where seeks.last(id, ledTo: m) != nil { seeks.forgetLast(id) }
  }

  /// The largest rating difference a ticket accepts: 100, plus 10 a second, unlimited after 20 s; or the range of the seek.
  private func window(_ ticket: Ticket) -> Double {
    if let range = ticket.seek.range { return Double(range) }
    let seconds = Double(now.steady - ticket.since) / 1000
    return seconds >= 20 ? .infinity : 100 + 10 * seconds
  }

  private func fits(_ a: Ticket, _ b: Ticket) -> Bool {
    guard a.account != b.account, a.seek.terms == b.seek.terms else { return false }
    guard !(b.isBot && !a.seek.bots), !(a.isBot && !b.seek.bots) else { return false }
    // The blocks of a ticket may be outdated; use the cached account if there is one.
    let (one, other) = (accounts[a.account] ?? a.player, accounts[b.account] ?? b.player)
    guard !one.blocked.contains(other.id), !other.blocked.contains(one.id) else { return false }
    // The wider of both windows applies, but never beyond a range that a player asked for.
    let most = max(window(a), window(b))
    return abs(a.rating - b.rating) <= min(most, Double(a.seek.range ?? .max), Double(b.seek.range ?? .max))
  }

  /// The partner closest in strength; among equals the one who waited longest.
  private func bestPartner(of ticket: Ticket) -> Ticket? {
    func rank(_ other: Ticket) -> (Double, Int64) { (abs(other.rating - ticket.rating), other.since) }
    return tickets.around(ticket).filter { $0.id != ticket.id && fits(ticket, $0) }.min { rank($0) < rank($1) }
  }

  /// Pairs all tickets, the longest waiting first, and offers bots to those left over; O(n log n).
  mutating func pairAll() {
    guard !isDraining else { return }
    for ticket in tickets.oldestFirst {
      guard tickets[id: ticket.id] != nil else { continue }
      if let partner = bestPartner(of: ticket) { pair(ticket, partner) } else { offerBots(ticket) }
    }
  }

  /// Offers bots once to a player who has waited for `botAfter`.
  private mutating func offerBots(_ ticket: Ticket) {
    let bots = tickets.bots(ticket.seek.terms)
    guard bots > 0, !ticket.offeredBots, !ticket.isBot, !ticket.seek.terms.rated,
      now.steady - ticket.since >= Int64(configuration.botAfter)
    else { return }
    tickets.offeredBots(to: ticket.session)
    if ticket.node == node { offered(ticket.id, bots) } else { publish([ticket.node], .bots(ticket: ticket.id, bots)) }
  }

  /// Submits a match of two tickets.
  private mutating func pair(_ a: Ticket, _ b: Ticket) {
    guard !isBusy, !isDraining else { return }
    let (one, other) = (a.player, b.player)
    let aIsX = one.xBalance == other.xBalance ? random.next() & 1 == 0 : one.xBalance < other.xBalance
    let pairing = Pairing(m: MatchID(using: &random), seats: aIsX ? Sides(x: a, o: b) : Sides(x: b, o: a))
    for ticket in [a, b] { tickets.remove(id: ticket.id) }
    let (seats, terms) = (pairing.seats, a.seek.terms)
    let players = Sides(x: seats.x.player, o: seats.o.player)
    let record = MatchRecord(id: pairing.m, x: players.x.id, o: players.o.id, created: now.wall)
    var draft = begin(
      CachedMatch(record), players, bots: Sides(x: seats.x.isBot, o: seats.o.isBot), terms, keys: pairing.keys)
    draft.unit.logs[0].nodes = a.node == b.node ? [a.node] : [a.node, b.node].sorted()
    draft.unit.tickets = [a.id, b.id].sorted()
    draft.unit.keys = pairing.both.compactMap { seat in
      seat.seek.key.map { .init(account: seat.account, $0, purpose: seat.purpose) }
    }
    store.pairing.formUnion(pairing.both.map(\.id))
    submit(draft, .paired(pairing))
  }

  /// Informs the nodes of both players, except this one, of the match.
  mutating func tellOthers(_ pairing: Pairing) {
    store.pairing.subtract(pairing.both.map(\.id))
    for seat in pairing.both where seat.node != node {
      publish([seat.node], .paired(ticket: seat.id, account: seat.account, pairing.m))
    }
  }

  /// Subscribes the session of a matched ticket to its match, or records that it has left.
  mutating func subscribeOrMarkLeft(_ seat: Ticket, at m: MatchID) {
    guard let side = matches[m]?.side(of: seat.account) else { return }
    if let id = sessions[seat.session]?.connection {
      // Also subscribes a player who withdrew his seek too late.
      if seeks[id]?.ticket.id == seat.id { ticketMatched(id, to: m) }
      matches[m]?.add(seat.session, to: side)
    } else {
      matches[m]?.hasLeft[side] = true
    }
  }

  /// Handles a pairing that the store refused: removes a ticket that cannot be paired and reads the queue again.
  mutating func unpaired(_ pairing: Pairing, _ conflict: Conflict?) {
    store.pairing.subtract(pairing.both.map(\.id))
    switch conflict {
    case .playing(let account), .key(let account, _, _), .purpose(let account, _):
      // This account's ticket cannot be paired; its node asks the store why.
      for seat in pairing.both where seat.account == account {
        retryUntilDone(.unqueue(seat.id))
        if seat.node != node { publish([seat.node], .look(ticket: seat.id)) }
        if let id = seeks.seeker(seat.id) { askForPlace(id) }
      }
    // The store failed; the next pairing timer reads the queue.
    case nil: return mustReadQueue = true
    // A local ticket may have been matched without this node hearing of it.
    case .ticket: nodes.mustCompare = true
    default: break
    }
    askForQueue()
  }
}

extension ClientMessage.Seek {
  /// Whether two seeks are equal except for consent to bots, which a client may change.
  fileprivate func isSame(as other: ClientMessage.Seek) -> Bool {
    var same = self
    same.bots = other.bots
    return same == other
  }
}
