import MatchProtocol
import MatchStore
import TicTacToe

/// The queue: one, in the memory of the server, or of the node of a cluster whose lease is the oldest. What a player says of
/// it goes there as what he says of a match goes to the match; the match begins at the node of one of the two.
extension Lobby {
  // MARK: at the node of the player

  /// Takes a seek: its answer comes from here, and its match from wherever it begins.
  mutating func takeSeek(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard mayPlay(seek.terms.rules, session, id, re) else { return }
    guard !seek.terms.rated || Lobby.mayBeRated(account, session) else { return refuseRated(id, re) }
    var ticket = Ticket(
      id: crockford(bits: random.next(), count: 8, lowercase: true), session: session.record.id, player: account,
      seek: seek, isBot: session.isBot, since: now.steady)
    switch use(of: seek.key, account.id) {
    case .seek(let known):
      guard known.seek.isSame(as: seek) else { return refuseKey(id, re) }
      (ticket.since, ticket.lost) = (known.since, seeks[id]?.ticket.lost ?? known.lost)
      // Sought at another session, it takes that one's place in the queue, under a number of its own.
      if known.session == ticket.session { ticket.id = known.id }
    case .paired(let known, let m):
      guard known?.seek.isSame(as: seek) != false else { return refuseKey(id, re) }
      if cluster != nil {
        if let open = seeks[id]?.ticket {
          // It is being paired, or another one waits.
          guard open.seek.key == seek.key else { return refuse(id, re, .occupied, Lobby.seeksAlready) }
          seeks[id]?.ticket.seek = seek
          return send(.queued(ticket: open.id, waited: Int(now.steady - open.since), bots: 0), to: id, re: re, after: 0)
        }
        lastPairings[id] = (ticket, m)
        return route(.follow(m, re: re, isNew: true), m, for: id)
      }
      if let match = matches[m], let side = match.side(of: account.id) {
        return answer(.paired(m, side, confirmIn: nil), to: id, re: re, after: match.issued)
      }
    case .room: return refuse(id, re, .midReused, "this key was used for a room")
    case nil: break
    }
    guard !isDraining else { return refuse(id, re, .draining, "the server is stopping") }
    guard seeks[id] == nil || seeks[id]?.ticket.id == ticket.id else {
      return refuse(id, re, .occupied, Lobby.seeksAlready)
    }
    guard tickets.count < TicketQueue.most else { return refuseBusy(id, re) }
    guard canTell(0, id, re), seeks[id] != nil || mayPlay(account, id, re) else { return }
    if cluster != nil, seek.terms.rated { return ask(.profile(account.id), for: id, .seeking(id, ticket, re: re)) }
    self.seek(ticket, id, re)
  }

  static func mayBeRated(_ account: AccountRecord, _ session: Session) -> Bool { !account.guest && !session.isBot }

  mutating func refuseRated(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .forbidden, "rated matches are for people with a name; register one, or play unrated")
  }

  private static let seeksAlready = "one seek a session; unseek first"

  private mutating func refuseKey(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .midReused, "this key was used for another seek")
  }

  /// Lets a ticket wait, and says so.
  mutating func seek(_ ticket: Ticket, _ id: ConnectionID, _ re: String?) {
    guard connections[id] != nil else { return }
    remember(ticket.seek.key, ticket.account, .seek(ticket))
    seeks[id] = OpenSeek(ticket: ticket)
    lastPairings[id] = nil
    send(.queued(ticket: ticket.id, waited: Int(now.steady - ticket.since), bots: 0), to: id, re: re, after: 0)
    wait(id)
  }

  /// Takes what a connection seeks to the queue, wherever that is now; if it cannot be reached, once it can.
  private mutating func wait(_ id: ConnectionID) {
    guard let owner = queueOwner, var ticket = seeks[id]?.ticket, let account = account(of: id) else { return }
    ticket.player = account
    if hasQueue {
      seeks[id]?.at = owner
      enqueue(ticket, id)
    } else if isLost(owner) {
      if isCutOff(owner) { sendAway(id, to: owner, "the queue is at another node, which cannot be reached from here") }
    } else {
      seeks[id]?.at = owner
      relay(.wait(ticket), .queue, for: id, to: owner)
    }
  }

  /// Takes to the queue what no queue knows, or only one that is no more.
  mutating func waitAgain() {
    for id in seeks.filter({ $0.value.at != queueOwner }).keys.sorted() { wait(id) }
  }

  /// The seek of a connection is over.
  mutating func endSeek(_ id: ConnectionID) {
    guard let open = seeks.removeValue(forKey: id) else { return }
    if case .seek(let last) = use(of: open.ticket.seek.key, open.ticket.account), last.id == open.ticket.id {
      forget(open.ticket.seek.key, open.ticket.account)
    }
    leave(open.ticket.id)
    guard let epoch = open.at, cluster?.remote[id]?[.queue] == epoch else { return }
    effects.append(.cluster(.relay(epoch, id, .leave(open.ticket.id), .queue, roundTrip: 0)))
    cluster?.remote[id]?[.queue] = nil
    guard cluster?.remote[id]?.values.contains(epoch) == false else { return }
    cluster?.attachedTo[id]?.removeAll { $0 == epoch }
    effects.append(.cluster(.detach(epoch, id, clean: false)))
  }

  mutating func led(_ id: ConnectionID, to m: MatchID) {
    guard let ticket = seeks[id]?.ticket else { return }
    endSeek(id)
    lastPairings[id] = (ticket, m)
    remember(ticket.seek.key, ticket.account, .paired(ticket, m))
  }

  /// A match came to nothing: what was sought goes on being sought, unless something else is by now.
  mutating func goOn(after m: MatchID, _ id: ConnectionID, _ re: String? = nil) {
    guard var ticket = lastPairings[id]?.ticket, lastPairings[id]?.m == m, seeks[id] == nil else { return }
    ticket.lost = m
    seek(ticket, id, re)
  }

  /// The queue, or the node that was to begin a match, gives a connection of this node its ticket back, or tells what became of it.
  mutating func givenBack(_ work: PlayerRequest, _ m: MatchID, _ id: ConnectionID) {
    switch work {
    case .wait(let ticket):
      if seeks[id]?.ticket.id == ticket.id {
        seeks[id]?.at = nil
        if m != .queue { seeks[id]?.ticket.lost = m }
      }
      // The queue may say so of a match that has begun after all.
      let hasBegun = cluster?.remote[id]?[m] != nil || matches[m]?.isOver == false
      if lastPairings[id]?.ticket.id == ticket.id, !hasBegun { goOn(after: m, id) }
    case .refused(let ticket, let code):
      guard seeks[id]?.ticket.id == ticket else { return }
      endSeek(id)
      let why = [
        .occupied: Lobby.isPlaying, .midReused: "another session of yours seeks with this key now", .rate: Lobby.isFull,
      ][code]
      refuse(id, nil, code, why ?? "too many wait; try again in a moment")
    case .found(let ticket, let m):
      guard seeks[id]?.ticket.id == ticket else { return }
      led(id, to: m)
      route(.follow(m, re: nil, isNew: true), m, for: id)
    default: break
    }
  }

  static let isPlaying = "you are in a rated match; finish it before the next"

  /// Says so to the node of a connection.
  private mutating func giveBack(_ work: PlayerRequest, _ m: MatchID, to id: ConnectionID) {
    if cluster?.virtual[id] == nil { return givenBack(work, m, id) }
    emit(.cluster(.notHere(id, work, m, at: nil)))
  }

  // MARK: at the node of the queue

  /// The node that has the queue: the oldest whose lease is good, which it stays until that is over; 0 for a server on its own.
  private var queueOwner: Int64? { cluster.map { $0.nodes.first?.epoch } ?? 0 }

  /// Whether the queue is here.
  var hasQueue: Bool { queueOwner == cluster?.epoch ?? 0 }

  /// Puts a ticket where its waiting time says, and looks for a partner at once.
  mutating func enqueue(_ ticket: Ticket, _ id: ConnectionID) {
    delegated[ticket.id] = nil
    // What its key led to is looked for, unless its node knows that there is no such match.
    let before = cluster == nil ? nil : use(of: ticket.seek.key, ticket.account)
    if case .paired(_, let m) = before, m != ticket.lost {
      return giveBack(.found(ticket.id, m), m, to: id)
    }
    guard tickets.count < TicketQueue.most else { return giveBack(.refused(ticket.id, .busy), .queue, to: id) }
    learn(ticket.player)
    for session in sessionsOf[ticket.account, default: []] where session != ticket.session {
      guard let other = tickets[session: session], let key = other.seek.key, key == ticket.seek.key else { continue }
      leave(other.id)
      giveBack(other, refused: .midReused, after: .queue)
    }
    remember(ticket.seek.key, ticket.account, .seek(ticket))
    tickets.insert(ticket)
    if let partner = bestPartner(of: ticket) { pair(ticket, partner) }
  }

  mutating func leave(_ ticket: String) {
    tickets.remove(id: ticket)
    delegated[ticket] = nil
  }

  /// Knows an account as another node does, unless a match here is about to change it.
  mutating func learn(_ account: AccountRecord) {
    if cluster != nil, live(of: account.id).isEmpty { accounts[account.id] = account } else { keep(account) }
  }

  /// Knows an account that a match here needs, though its player may have gone while the store began it.
  mutating func keep(_ account: AccountRecord) {
    if accounts[account.id] == nil { accounts[account.id] = account }
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
    guard let one = accounts[a.account], let other = accounts[b.account] else { return false }
    guard !one.blocked.contains(other.id), !other.blocked.contains(one.id) else { return false }
    // The one who waited longer decides how wide to look; what a player asked for himself always holds.
    let rules = a.seek.terms.rules
    let apart = abs(one[rules].rating.value - other[rules].rating.value)
    let limit = max(window(a), window(b))
    return apart <= min(limit, Double(a.seek.range ?? .max), Double(b.seek.range ?? .max))
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
      if let partner = bestPartner(of: ticket) {
        pair(ticket, partner)
      } else if let id = sessions[ticket.session]?.connection {
        offerBots(ticket, tickets.bots(ticket.seek.terms), to: id)
      }
    }
  }

  /// Tells somebody who has waited for long that bots would play, once.
  private mutating func offerBots(_ ticket: Ticket, _ bots: Int, to id: ConnectionID) {
    let waited = now.steady - ticket.since
    guard bots > 0, !ticket.offeredBots, !ticket.isBot, !ticket.seek.terms.rated,
      waited >= Int64(configuration.botAfter)
    else { return }
    tickets.offeredBots(to: ticket.session)
    send(.queued(ticket: ticket.id, waited: Int(waited), bots: bots), to: id, after: 0)
  }

  /// Two tickets become a match: here, or at the node of one of them, so that each node has its share.
  private mutating func pair(_ a: Ticket, _ b: Ticket) {
    guard !isBusy, let one = accounts[a.account], let other = accounts[b.account],
      let first = sessions[a.session]?.connection, let second = sessions[b.session]?.connection
    else { return }
    let aIsX = one.xBalance == other.xBalance ? random.next() & 1 == 0 : one.xBalance < other.xBalance
    let pairing = Pairing(m: MatchID(using: &random), seats: aIsX ? Sides(x: a, o: b) : Sides(x: b, o: a))
    for ticket in [a, b] {
      tickets.remove(id: ticket.id)
      remember(ticket.seek.key, ticket.account, .paired(ticket, pairing.m))
    }
    guard let cluster else { return begin(pairing) }
    let homes = [first, second].map { cluster.virtual[$0] ?? cluster.epoch }
    let home = homes[Int(random.next() & 1)]
    guard home != cluster.epoch else { return begin(pairing) }
    for (ticket, id) in [(a, first), (b, second)] {
      delegated[ticket.id] = (ticket, pairing.m, id)
      timers.set(.delegated(ticket.id, pairing.m), at: now.steady + configuration.lease)
    }
    // With the one who is not there, whom it needs to know.
    let goes = homes[0] == home ? second : first
    if cluster.virtual[goes] != nil {
      effects.append(.cluster(.notHere(goes, .begin(pairing), pairing.m, at: home)))
    } else {
      bring(pairing, to: home, goes)
    }
  }

  /// A node that was to begin a match has not said that it did.
  mutating func takeBack(_ ticket: String, _ m: MatchID) {
    guard let entry = delegated[ticket], entry.m == m else { return }
    delegated[ticket] = nil
    giveBack(.wait(entry.ticket), m, to: entry.id)
  }

  // MARK: at the node of the match

  /// Takes one of two to the node where their match begins, if he still wants it.
  mutating func bring(_ pairing: Pairing, to home: Int64, _ id: ConnectionID) {
    let seats = [pairing.seats.x, pairing.seats.o]
    guard seats.contains(where: { $0.id == seeks[id]?.ticket.id }) else { return }
    if home == cluster?.epoch { begin(pairing) } else { relay(.begin(pairing), pairing.m, for: id, to: home) }
  }

  /// Two who were paired get their match, unless one of them has gone or wants something else by now.
  mutating func begin(_ pairing: Pairing) {
    let seats = pairing.seats
    for seat in [seats.x, seats.o] {
      if let id = sessions[seat.session]?.connection, cluster?.virtual[id] != nil { learn(seat.player) }
    }
    guard !isDraining, !isBusy, let x = accounts[seats.x.account], let o = accounts[seats.o.account],
      wants(seats.x), wants(seats.o), !isFull(x.id), !isFull(o.id)
    else {
      return [seats.x, seats.o].forEach { giveBack($0, refused: isFull($0.account) ? .rate : nil, after: pairing.m) }
    }
    let record = MatchRecord(id: pairing.m, x: x.id, o: o.id, created: now.wall)
    func confirms(_ seat: Ticket) -> Bool { sessions[seat.session]?.confirms ?? false }
    let waits = Sides(x: confirms(seats.x), o: confirms(seats.o))
    if cluster != nil, seats.x.seek.terms.rated { return beginRated(pairing, record, Sides(x: x, o: o), waits) }
    var draft = Draft()
    begin(
      record, Sides(x: x, o: o), seats.x.seek.terms, confirm: waits.x || waits.o, previous: nil, keys: pairing.keys,
      followers: Sides(x: [seats.x.session], o: [seats.o.session]), autoConfirmed: Lobby.autoConfirmed(waits),
      tickets: [seats.x, seats.o], &draft)
    finish(draft)
    led(pairing)
    updatePresence(record.id, clean: false)
  }

  /// Of two of whom one confirms by itself, the other, who does not.
  static func autoConfirmed(_ confirms: Sides<Bool>) -> [Player] {
    confirms.x || confirms.o ? Player.allCases.filter { !confirms[$0] } : []
  }

  /// The seeks of both have led to their match; other nodes hear of it as they hear where it is.
  mutating func led(_ pairing: Pairing) {
    for seat in [pairing.seats.x, pairing.seats.o] {
      if let id = sessions[seat.session]?.connection, seeks[id]?.ticket.id == seat.id { led(id, to: pairing.m) }
    }
  }

  /// Whether a player is here and still wants what he was paired for; of one whom another node holds, that one has asked.
  private func wants(_ seat: Ticket) -> Bool {
    guard let id = sessions[seat.session]?.connection else { return false }
    return cluster?.virtual[id] != nil || seeks[id]?.ticket.id == seat.id
  }

  /// Gives somebody who is still here his ticket back, or refuses it.
  mutating func giveBack(_ seat: Ticket, refused code: ErrorCode? = nil, after m: MatchID) {
    guard let id = sessions[seat.session]?.connection else { return }
    giveBack(code.map { .refused(seat.id, $0) } ?? .wait(seat), m, to: id)
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
