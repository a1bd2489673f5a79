import MatchProtocol
import TicTacToe

/// The queue: one, in the memory of the server, or of the node of a cluster whose lease is the oldest. What a player says of
/// it goes there as what he says of a match goes to the match; the match begins at the node of one of the two.
extension Lobby {
  // MARK: at the node of the player

  /// Takes a seek to the queue, wherever that is.
  mutating func wish(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard !seek.terms.rated || (!account.guest && !session.isBot) else {
      return refuse(id, re, .forbidden, "rated matches are for people with a name; register one, or play unrated")
    }
    guard let cluster else { return route(.seek(seek, re: re, since: now.steady, isAgain: false), .queue, for: id) }
    if let wish = cluster.wishes[id], wish.led == nil {
      guard seek.key != nil, wish.seek.key == seek.key else { return refuseSecond(id, re) }
      guard wish.seek.isSame(as: seek) else { return refuseKey(id, re) }
    } else if let key = seek.key, case .paired(_, let m)? = keys["\(account.id)/\(key)"]?.answer {
      self.cluster?.wishes[id] = Wish(seek: seek, since: now.steady, led: m)
      return route(.follow(m, re: re, isNew: true), m, for: id)
    }
    if seek.terms.rated { return ask(.profile(account.id), for: id, .seeking(id, seek, re: re)) }
    queue(seek, id, re)
  }

  mutating func queue(_ seek: ClientMessage.Seek, _ id: ConnectionID, _ re: String?) {
    let known = cluster?.wishes[id].flatMap { $0.led == nil ? $0.since : nil }
    let wish = Wish(seek: seek, since: known ?? now.steady)
    cluster?.wishes[id] = wish
    route(.seek(seek, re: re, since: wish.since, isAgain: false), .queue, for: id)
  }

  /// What was sought goes on being sought after a match that came to nothing, unless it led to another one or has been taken back.
  mutating func goOn(after m: MatchID, _ id: ConnectionID, _ re: String? = nil) {
    guard let wish = cluster?.wishes[id], wish.led == nil || wish.led == m else { return }
    cluster?.wishes[id]?.led = nil
    route(.seek(wish.seek, re: re, since: wish.since, isAgain: true), .queue, for: id)
  }

  /// The seek of a connection has led to a match: it waits no more.
  mutating func led(_ id: ConnectionID, to m: MatchID) {
    guard let wish = cluster?.wishes[id], let account = account(of: id) else { return }
    cluster?.wishes[id]?.led = m
    if let key = wish.seek.key { remember("\(account.id)/\(key)", .paired(wish.seek, m)) }
    guard let epoch = cluster?.remote[id]?[.queue] else { return found(m, id) }
    effects.append(.cluster(.relay(epoch, id, .found(m), .queue, roundTrip: 0)))
    cluster?.remote[id]?[.queue] = nil
    guard cluster?.remote[id]?.values.contains(epoch) == false else { return }
    cluster?.attachedTo[id]?.removeAll { $0 == epoch }
    effects.append(.cluster(.detach(epoch, id, clean: false)))
  }

  /// A seek is refused: nobody waits.
  private mutating func endWish(_ id: ConnectionID) {
    if cluster?.virtual[id] == nil {
      cluster?.wishes[id] = nil
    } else {
      effects.append(.cluster(.notHere(id, .found(.queue), .queue, at: nil)))
    }
  }

  private mutating func refuseSecond(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .occupied, "one seek a session; unseek first")
  }

  private mutating func refuseKey(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .midReused, "this key was used for another seek")
  }

  // MARK: at the node of the queue

  /// Whether the queue is here.
  var hasQueue: Bool { cluster.map { $0.queueOwner == $0.epoch } ?? true }

  /// Puts somebody into the queue and looks for a partner at once; whoever is back in it is looked at within a second.
  mutating func enqueue(
    _ seek: ClientMessage.Seek, since: Int64, isAgain: Bool, _ session: Session, _ account: AccountRecord,
    _ id: ConnectionID, _ re: String?
  ) {
    var since = since
    let use = seek.key.map { "\(account.id)/\($0)" }
    if !isAgain, let used = use.flatMap({ keys[$0] }) {
      switch used.answer {
      case .seek(let known, let earlier):
        guard known.isSame(as: seek) else {
          endWish(id)
          return refuseKey(id, re)
        }
        since = min(since, earlier)
      case .paired(let known, let m):
        guard known?.isSame(as: seek) != false else {
          endWish(id)
          return refuseKey(id, re)
        }
        if let match = matches[m], let side = match.side(of: account.id) {
          return send(.paired(m, side, confirmIn: nil), to: id, re: re)
        }
        // On its way to where it begins; told at once, he could not be told more.
        if cluster?.given[m]?[id] != nil {
          return send(.queued(ticket: m.rawValue, waited: Int(now.steady - since), bots: 0), to: id, re: re, after: 0)
        }
        if cluster != nil { return bring(.follow(m, re: re, isNew: true), m, to: nil, for: id) }
      case .room:
        endWish(id)
        return refuse(id, re, .midReused, "this key was used for a room")
      }
    }
    let open = tickets[session: session.record.id]
    guard isAgain || open == nil || open?.seek.key == seek.key && seek.key != nil else { return refuseSecond(id, re) }
    guard !isDraining else { return refuse(id, re, .draining, "the server is stopping") }
    guard tickets.count < 10_000 else {
      endWish(id)
      return refuseBusy(id, re)
    }
    if let use { remember(use, .seek(seek, since: since)) }
    let ticket = Ticket(
      id: open?.id ?? crockford(bits: random.next(), count: 8, lowercase: true), session: session.record.id,
      account: account.id, seek: seek, isBot: session.isBot, since: since, rating: account.rating.value,
      offeredBots: open?.offeredBots ?? false)
    tickets.insert(ticket)
    send(.queued(ticket: ticket.id, waited: Int(now.steady - since), bots: 0), to: id, re: re, after: 0)
    if !isAgain, let partner = bestPartner(of: ticket) { pair(ticket, partner) }
  }

  mutating func unseek(_ session: Session, _ id: ConnectionID, _ re: String?) {
    if let ticket = tickets.remove(session: session.record.id), let key = ticket.seek.key {
      keys["\(ticket.account)/\(key)"] = nil
    }
    send(.ok(nil, seq: nil), to: id, re: re, after: 0)
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
    let apart = abs(one.rating.value - other.rating.value)
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
    for ticket in [a, b] { tickets.remove(id: ticket.id) }
    let aIsX = one.xBalance == other.xBalance ? random.next() & 1 == 0 : one.xBalance < other.xBalance
    let pairing = Pairing(m: MatchID(using: &random), seats: aIsX ? Sides(x: a, o: b) : Sides(x: b, o: a))
    for ticket in [a, b] {
      if let key = ticket.seek.key { remember("\(ticket.account)/\(key)", .paired(ticket.seek, pairing.m)) }
    }
    guard let cluster else { return begin(pairing) }
    let homes = [first, second].map { cluster.virtual[$0] ?? cluster.epoch }
    let home = homes[Int(random.next() & 1)]
    guard home != cluster.epoch else { return begin(pairing) }
    self.cluster?.given[pairing.m] = [first: a, second: b]
    timers.set(.given(pairing.m), at: now.steady + configuration.lease)
    // With the one who is not there, whom it needs to know.
    bring(.begin(pairing), pairing.m, to: home, for: homes[0] == home ? second : first)
  }

  /// Has the node of a player do work for him, or bring it to another one; to which, it finds out if it is not said.
  private mutating func bring(_ work: Work, _ m: MatchID, to home: Int64?, for id: ConnectionID) {
    if cluster?.virtual[id] != nil {
      effects.append(.cluster(.notHere(id, work, m, at: home)))
    } else {
      brought(work, m, to: home, for: id)
    }
  }

  /// Somebody's seek has led to a match.
  mutating func found(_ m: MatchID, _ id: ConnectionID) {
    if let ticket = cluster?.given[m]?.removeValue(forKey: id) { tickets.remove(session: ticket.session) }
    if cluster?.given[m]?.isEmpty == true { cluster?.given[m] = nil }
    if let session = connections[id]?.session { tickets.remove(session: session) }
  }

  /// A node that was to begin a match has not said that it did: whoever is still here goes on waiting.
  mutating func takeBack(_ m: MatchID) {
    for (id, ticket) in (cluster?.given.removeValue(forKey: m) ?? [:]).sorted(by: { $0.key < $1.key })
    where sessions[ticket.session]?.connection == id && tickets[session: ticket.session] == nil {
      serve(.seek(ticket.seek, re: nil, since: ticket.since, isAgain: true), .queue, id)
    }
  }

  // MARK: at the node of the match

  /// Two who were paired get their match, unless one of them has gone or wants something else by now.
  mutating func begin(_ pairing: Pairing) {
    let seats = pairing.seats
    guard !isDraining, !isBusy, let x = accounts[seats.x.account], let o = accounts[seats.o.account],
      wants(seats.x), wants(seats.o)
    else { return [seats.x, seats.o].forEach { giveBack($0, after: pairing.m) } }
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

  /// The seeks of both have led to their match.
  mutating func led(_ pairing: Pairing) {
    for seat in [pairing.seats.x, pairing.seats.o] {
      if let id = sessions[seat.session]?.connection, cluster?.virtual[id] == nil { led(id, to: pairing.m) }
    }
  }

  /// Whether a player is here and still wants what he was paired for, as far as this node knows.
  private func wants(_ seat: Ticket) -> Bool {
    guard let id = sessions[seat.session]?.connection else { return false }
    guard let cluster, cluster.virtual[id] == nil else { return true }
    return cluster.wishes[id].map { $0.led == nil && $0.seek == seat.seek } ?? false
  }

  /// Puts somebody back into the queue with his waiting time, if he is still here.
  mutating func giveBack(_ seat: Ticket, after m: MatchID) {
    guard let id = sessions[seat.session]?.connection else { return }
    let work = Work.seek(seat.seek, re: nil, since: seat.since, isAgain: true)
    if cluster == nil {
      serve(work, .queue, id)
    } else if cluster?.virtual[id] == nil {
      goOn(after: m, id)
    } else {
      emit(.cluster(.notHere(id, work, m, at: nil)))
    }
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
