import MatchProtocol
import MatchStore
import TicTacToe

/// The queue. Tickets are kept in the store. The oldest living node, which is called the keeper, reads them and pairs them; two keepers at
/// once do no harm, since a ticket leads to one match.
extension Lobby {
  // MARK: at the node of the player

  mutating func takeSeek(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard mayPlay(seek.terms.rules, session, id, re) else { return }
    guard !seek.terms.rated || Lobby.mayBeRated(account, session) else { return refuseRated(id, re) }
    if let open = seeks[id]?.ticket {
      // Asked again, it waits as before; a bot may do by now.
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
      seek: seek, isBot: session.isBot, confirms: session.confirms, since: now.steady)
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

  /// The store's clock less the steady one.
  private var ahead: Int64 { nodes.clockOffset ?? now.wall - now.steady }

  private mutating func queue(_ ticket: Ticket, _ id: ConnectionID, _ re: String?, hasLostPlace: Bool = false) {
    var record = ticket.record(ahead)
    record.hasLostPlace = hasLostPlace
    ask(.queue(record, rated: ticket.seek.terms.rated), for: id) { $0.queued(id, ticket, re, $1) }
  }

  private mutating func queued(_ id: ConnectionID, _ asked: Ticket, _ re: String?, _ answer: StoreAnswer?) {
    // It may still be put there.
    if answer == nil { timers.set(.insist(.unqueue(asked.id), tries: 0), at: now.steady + 5000) }
    guard seeks[id]?.ticket.id == asked.id else {
      // It was given up meanwhile, or its connection is gone.
      return insist(.unqueue(asked.id))
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
      if isKeeper { enqueue(ticket) } else { tell(nodes.living.prefix(1).map(\.id), .queued) }
    case .led(let m):
      led(id, to: m)
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

  /// The seek of a connection is over.
  mutating func endSeek(_ id: ConnectionID) {
    guard let open = seeks[id] else { return }
    seeks[id] = nil
    tickets.remove(id: open.ticket.id)
    insist(.unqueue(open.ticket.id))
  }

  /// A ticket has taken the place of another session's with the same key.
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

  /// A ticket is not in the queue, though its connection waits: asks for a place anew, or to be told what is wrong.
  mutating func askForPlace(_ id: ConnectionID) {
    guard let open = seeks[id], open.isStored else { return }
    seeks[id]?.isStored = false
    queue(open.ticket, id, nil, hasLostPlace: true)
  }

  /// What a connection sought has led to a match.
  private mutating func led(_ id: ConnectionID, to m: MatchID) {
    if let ticket = seeks.lead(id, to: m) { tickets.remove(id: ticket.id) }
  }

  /// A match came to nothing: what was sought goes on being sought, unless something else is by now.
  mutating func goOn(after m: MatchID, _ id: ConnectionID, _ re: String? = nil) {
    guard var ticket = seeks.last(id, ledTo: m), seeks[id] == nil, !isDraining else { return }
    seeks.forgetLast(id)
    // The old number has led to a match, once and for all.
    ticket.id = makeTicketID()
    seeks[id] = OpenSeek(ticket: ticket)
    queue(ticket, id, re)
  }

  /// Another node has paired somebody who waits here.
  mutating func pairedElsewhere(_ ticket: String, _ account: Int64, _ m: MatchID) {
    if let id = seeks.seeker(ticket) { led(id, to: m) }
    if matches[m] == nil {
      load(m, .paired(ticket: ticket, account: account), for: nil)
    } else {
      sit(ticket, account, at: m)
    }
  }

  /// A match that another node has begun is here: whoever waited sits down at it, or has gone meanwhile.
  mutating func sit(_ ticket: String, _ account: Int64, at m: MatchID) {
    guard let side = matches[m]?.side(of: account) else { return }
    if let id = seeks.seeker(ticket, ledTo: m), let session = connections[id]?.session {
      if matches[m]?.add(session, to: side) == true { introduce(m, to: id, side) }
    } else if sessions.of(account).isEmpty {
      matches[m]?.hasLeft[side] = true
    } else {
      sitDown(account, at: m)
    }
    updatePresence(m)
  }

  /// Who has taken back a seek too late sits down at a match that has just begun.
  mutating func sitDown(_ account: Int64, at m: MatchID) {
    guard let match = matches[m], let side = match.side(of: account), !match.isOver, match.state.moves.isEmpty,
      match.followers[side].isEmpty
    else { return }
    for session in sessions.of(account) where seeks.hasTakenBack(session.connection) {
      matches[m]?.add(session.id, to: side)
      introduce(m, to: session.connection, side)
    }
  }

  /// Tells somebody who has waited for long that bots would play.
  mutating func offered(_ ticket: String, _ bots: Int) {
    guard let id = seeks.seeker(ticket), let open = seeks[id] else { return }
    send(.queued(ticket: ticket, waited: Int(now.steady - open.ticket.since), bots: bots), to: id)
  }

  // MARK: at the keeper

  /// Milliseconds in which the queue is read once, however many come at other nodes: reading takes as long as the queue is.
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
    if isKeeper { askForQueue() }
  }

  /// Reads the queue, or does so once it has been read: meanwhile others may have come.
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

  /// The queue as the store has it; what came here by itself since then stays.
  private mutating func readQueue(_ found: [WaitingTicket], _ known: Set<String>) {
    // Nobody waits any more at a node that is no more.
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
      // The store's clock may have been set back since then.
      ticket.since = min(ticket.since, known?.since ?? now.steady)
      enqueue(ticket)
    }
    if mustReadQueue { askForQueue() }
  }

  /// Puts a ticket where its waiting time says, and looks for a partner at once.
  private mutating func enqueue(_ ticket: Ticket) {
    guard !store.pairing.contains(ticket.id) else { return }
    tickets.insert(ticket)
    if let partner = bestPartner(of: ticket) { pair(ticket, partner) }
  }

  /// Forgets the tickets that led to a match.
  mutating func forgetSeeks(ledTo m: MatchID) {
    guard let match = matches[m] else { return }
    for id in connectionsFollowing(match) where seeks.last(id, ledTo: m) != nil { seeks.forgetLast(id) }
  }

  /// How far apart two ratings may be for a ticket: ±100, ten more a second, anything after twenty seconds.
  private func window(_ ticket: Ticket) -> Double {
    if let range = ticket.seek.range { return Double(range) }
    let seconds = Double(now.steady - ticket.since) / 1000
    return seconds >= 20 ? .infinity : 100 + 10 * seconds
  }

  private func fits(_ a: Ticket, _ b: Ticket) -> Bool {
    guard a.account != b.account, a.seek.terms == b.seek.terms else { return false }
    guard !(b.isBot && !a.seek.bots), !(a.isBot && !b.seek.bots) else { return false }
    // Whom somebody has blocked since he waits his ticket does not say.
    let (one, other) = (accounts[a.account] ?? a.player, accounts[b.account] ?? b.player)
    guard !one.blocked.contains(other.id), !other.blocked.contains(one.id) else { return false }
    // The one who waited longer decides how wide to look; what a player asked for himself always holds.
    let most = max(window(a), window(b))
    return abs(a.rating - b.rating) <= min(most, Double(a.seek.range ?? .max), Double(b.seek.range ?? .max))
  }

  /// The nearest in strength, of those the longest waiting.
  private func bestPartner(of ticket: Ticket) -> Ticket? {
    func rank(_ other: Ticket) -> (Double, Int64) { (abs(other.rating - ticket.rating), other.since) }
    return tickets.around(ticket).filter { $0.id != ticket.id && fits(ticket, $0) }.min { rank($0) < rank($1) }
  }

  /// Looks for a partner for everybody, the longest waiting first, and offers bots; O(n log n).
  mutating func pairAll() {
    guard !isDraining else { return }
    for ticket in tickets.oldestFirst {
      guard tickets[id: ticket.id] != nil else { continue }
      if let partner = bestPartner(of: ticket) { pair(ticket, partner) } else { offerBots(ticket) }
    }
  }

  /// Offers bots to somebody who has waited for long, once.
  private mutating func offerBots(_ ticket: Ticket) {
    let bots = tickets.bots(ticket.seek.terms)
    guard bots > 0, !ticket.offeredBots, !ticket.isBot, !ticket.seek.terms.rated,
      now.steady - ticket.since >= Int64(configuration.botAfter)
    else { return }
    tickets.offeredBots(to: ticket.session)
    if ticket.node == node { offered(ticket.id, bots) } else { tell([ticket.node], .bots(ticket: ticket.id, bots)) }
  }

  /// Two tickets become a match.
  private mutating func pair(_ a: Ticket, _ b: Ticket) {
    guard !isBusy, !isDraining else { return }
    let (one, other) = (a.player, b.player)
    let aIsX = one.xBalance == other.xBalance ? random.next() & 1 == 0 : one.xBalance < other.xBalance
    let pairing = Pairing(m: MatchID(using: &random), seats: aIsX ? Sides(x: a, o: b) : Sides(x: b, o: a))
    for ticket in [a, b] { tickets.remove(id: ticket.id) }
    let (seats, terms) = (pairing.seats, a.seek.terms)
    let players = Sides(x: seats.x.player, o: seats.o.player)
    let confirms = Sides(x: seats.x.confirms, o: seats.o.confirms)
    let record = MatchRecord(id: pairing.m, x: players.x.id, o: players.o.id, created: now.wall)
    let isConfirmed = confirms.x || confirms.o
    var draft = begin(
      CachedMatch(record), players, bots: Sides(x: seats.x.isBot, o: seats.o.isBot), terms, confirm: isConfirmed,
      keys: pairing.keys,
      // Of two of whom one confirms by himself, the other, who does not.
      autoConfirmed: isConfirmed ? Player.allCases.filter { !confirms[$0] } : [])
    draft.unit.logs[0].nodes = a.node == b.node ? [a.node] : [a.node, b.node].sorted()
    draft.unit.tickets = [a.id, b.id].sorted()
    draft.unit.keys = pairing.both.compactMap { seat in
      seat.seek.key.map { .init(account: seat.account, $0, purpose: seat.purpose) }
    }
    store.pairing.formUnion(pairing.both.map(\.id))
    decide(draft, .paired(pairing))
  }

  /// Tells the nodes of two who were paired, as far as they are others.
  mutating func tellOthers(_ pairing: Pairing) {
    store.pairing.subtract(pairing.both.map(\.id))
    for seat in pairing.both where seat.node != node {
      tell([seat.node], .paired(ticket: seat.id, account: seat.account, pairing.m))
    }
  }

  /// Somebody here sits down at the match that his ticket has led to.
  mutating func seated(_ seat: Ticket, at m: MatchID) {
    guard let side = matches[m]?.side(of: seat.account) else { return }
    if let id = sessions[seat.session]?.connection {
      // Who has taken his seek back meanwhile came too late, and is told of the match as well.
      if seeks[id]?.ticket.id == seat.id { led(id, to: m) }
      matches[m]?.add(seat.session, to: side)
    } else {
      matches[m]?.hasLeft[side] = true
    }
  }

  /// Two could not begin: whoever can waits on, and the store is asked what has become of them.
  mutating func unpaired(_ pairing: Pairing, _ conflict: Conflict?) {
    store.pairing.subtract(pairing.both.map(\.id))
    switch conflict {
    case .playing(let account), .key(let account, _, _), .purpose(let account, _):
      // He cannot be paired with this ticket, and his node finds out why.
      for seat in pairing.both where seat.account == account {
        insist(.unqueue(seat.id))
        if seat.node != node { tell([seat.node], .look(ticket: seat.id)) }
        if let id = seeks.seeker(seat.id) { askForPlace(id) }
      }
    // The store did not do it: it is not asked again at once.
    case nil: return mustReadQueue = true
    // Whoever waits here may have been led to a match of which this node has not heard.
    case .ticket: nodes.mustCompare = true
    default: break
    }
    askForQueue()
  }
}

extension ClientMessage.Seek {
  /// Whether two say the same; a wish may come back saying that a bot will do.
  fileprivate func isSame(as other: ClientMessage.Seek) -> Bool {
    var same = self
    same.bots = other.bots
    return same == other
  }
}
