import MatchProtocol
import TicTacToe

/// Queue, rooms and rematches that the nodes share: what must be decided once is decided in the store.
extension Lobby {
  // MARK: the queue

  mutating func queue(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard !isDraining else { return refuse(id, re, .draining, "the server is stopping") }
    guard maySeek(seek, session, account) else {
      return refuse(id, re, .forbidden, "rated matches are for people with a name; register one, or play unrated")
    }
    guard tickets.count < 10_000 else { return refuseBusy(id, re) }
    let ticket = makeTicket(seek, session, account, waited: 0)
    ask(.queue(ticket), for: id, .queued(id, re: re, ticket))
  }

  private mutating func makeTicket(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, waited: Int64
  ) -> TicketRecord {
    let number = crockford(bits: random.next(), count: 8, lowercase: true)
    var seek = seek
    // A key that no client can say, by which a ticket that is gone finds what it led to.
    if seek.key == nil { seek.key = "." + number }
    return TicketRecord(
      id: number, session: session.record.id, account: account.id, seek: seek, isBot: session.isBot,
      confirms: session.confirms, waited: waited)
  }

  /// Puts a seek back as if nothing had been, once what ended its match is durable.
  mutating func requeue(_ seek: ClientMessage.Seek, waited: Int64, for id: ConnectionID) {
    guard let session = connections[id]?.session.flatMap({ sessions[$0] }), session.connection == id,
      let account = accounts[session.record.account]
    else { return }
    let ticket = makeTicket(seek, session, account, waited: waited)
    ask(.queue(ticket), gated: true, .requeued(id, ticket))
  }

  /// Puts the ticket of somebody who confirmed back into the queue, at the node that holds him.
  mutating func giveBack(_ ticket: Ticket) {
    guard let id = sessions[ticket.session]?.connection else { return }
    let waited = now.steady - ticket.since
    if cluster?.virtual.contains(id) == true {
      emit(.cluster(.giveBack(id, ticket.seek, waited: waited)))
    } else {
      requeue(ticket.seek, waited: waited, for: id)
    }
  }

  mutating func queued(_ id: ConnectionID, _ re: String?, _ record: TicketRecord, _ result: QueueResult) {
    guard connections[id]?.session == record.session else {
      if sessions[record.session] == nil { ask(.unqueue(session: record.session)) }
      return
    }
    switch result {
    case .waiting(let number, let waited):
      tickets.insert(
        Ticket(
          id: number, session: record.session, account: record.account, seek: record.seek, isBot: record.isBot,
          since: now.steady - waited, rating: accounts[record.account]?.rating.value ?? 0))
      send(.queued(ticket: number, waited: Int(waited), bots: 0), to: id, re: re, after: 0)
      lookAtTickets()
    case .paired(let m): take(.follow(m, re: re, isNew: true), for: id)
    case .usedForRoom: refuse(id, re, .midReused, "this key was used for a room")
    case .occupied: refuse(id, re, .occupied, "one seek a session; unseek first")
    case .playing: refuse(id, re, .occupied, "you are in a rated match; finish it before the next")
    }
  }

  /// Looks what has become of this node's tickets and with whom they could be paired.
  mutating func lookAtTickets() {
    guard let cluster, !isDraining, !tickets.isEmpty else { return }
    guard cluster.look == .none else {
      self.cluster?.look = .again
      return
    }
    guard now.steady >= cluster.looksAt else { return timers.set(.pairing, at: cluster.looksAt) }
    let free = tickets.oldestFirst.filter { !cluster.pairing.contains($0.id) }
    guard !free.isEmpty else { return }
    // Those who came last have not been looked at yet, and those who came first wait longest.
    let looked = free.count <= 256 ? free : Array(free.prefix(128) + free.suffix(128))
    self.cluster?.look = .underWay
    ask(.look(looked.map { record($0) }), .looked(looked))
  }

  private func record(_ ticket: Ticket) -> TicketRecord {
    TicketRecord(
      id: ticket.id, session: ticket.session, account: ticket.account, seek: ticket.seek, isBot: ticket.isBot,
      confirms: sessions[ticket.session]?.confirms ?? false, waited: now.steady - ticket.since)
  }

  mutating func looked(_ looked: [Ticket], _ view: QueueView) {
    let isAgain = cluster?.look == .again
    cluster?.look = .none
    cluster?.looksAt = now.steady + Int64(view.waiting.count / 10)
    var own: [WaitingTicket] = []
    for (ticket, state) in zip(looked, view.states) {
      guard let ticket = tickets[id: ticket.id], cluster?.pairing.contains(ticket.id) == false,
        let id = sessions[ticket.session]?.connection
      else { continue }
      switch state {
      case .waiting(let waiting):
        if accounts[ticket.account] != nil { accounts[ticket.account] = waiting.account }
        offerBots(ticket, view.waiting.count { $0.ticket.isBot && $0.ticket.seek.terms == ticket.seek.terms }, to: id)
        own.append(waiting)
      case .paired(let m):
        tickets.remove(id: ticket.id)
        take(.follow(m, re: nil, isNew: true), for: id)
      case .gone:
        tickets.remove(id: ticket.id)
        requeue(ticket.seek, waited: now.steady - ticket.since, for: id)
      }
    }
    for waiting in view.waiting { layGhost(waiting) }
    pair(own, among: view.waiting)
    if isAgain { lookAtTickets() }
  }

  /// Takes a ticket of this node's out of the queue that nobody here waits with: its player was told that it is not there.
  private mutating func layGhost(_ waiting: WaitingTicket) {
    let session = waiting.ticket.session
    guard let cluster, waiting.epoch == cluster.epoch, tickets[session: session] == nil,
      !cluster.pairing.contains(waiting.ticket.id)
    else { return }
    let isComing = cluster.asked.values.contains { then in
      switch then {
      case .queued(_, _, let ticket), .requeued(_, let ticket): ticket.session == session
      default: false
      }
    }
    if !isComing { ask(.unqueue(session: session)) }
  }

  /// Finds a partner for each of these, the longest waiting first, and proposes the matches.
  private mutating func pair(_ own: [WaitingTicket], among all: [WaitingTicket]) {
    guard !isBusy, !isDraining, let cluster else { return }
    var free = all.filter {
      // What is no longer this node's own has been taken while the view was on its way.
      !cluster.pairing.contains($0.ticket.id) && ($0.epoch != cluster.epoch || tickets[id: $0.ticket.id] != nil)
    }
    for waiting in own.sorted(by: { $0.ticket.isOlder(than: $1.ticket) }) {
      guard self.cluster?.pairing.contains(waiting.ticket.id) == false,
        let i = partner(of: waiting, among: free),
        let ticket = tickets[id: waiting.ticket.id]
      else { continue }
      let partner = free.remove(at: i)
      free.removeAll { $0.ticket.id == ticket.id }
      propose(ticket, waiting, partner)
    }
  }

  /// Whom a ticket fits best: nearest in rating, then here rather than elsewhere, then the longest waiting.
  private func partner(of own: WaitingTicket, among all: [WaitingTicket]) -> Int? {
    var best: (apart: Double, isFar: Bool, i: Int)?
    for (i, other) in all.enumerated() {
      let apart = abs(other.account.rating.value - own.account.rating.value)
      // Whoever has waited for seconds is not passed over for being elsewhere.
      let isFar = other.epoch != cluster?.epoch && other.ticket.waited < 3000
      if let best, (best.apart, best.isFar ? 1 : 0) <= (apart, isFar ? 1 : 0) { continue }
      // The newcomer proposes, so that two nodes do not propose the same match; unless its node has not for seconds.
      guard other.ticket.isOlder(than: own.ticket) || other.ticket.waited > 5000, own.suits(other) else { continue }
      // The one who waited longer decides how wide to look; what a player asked for himself always holds.
      let (one, two) = (own.ticket, other.ticket)
      let limit = max(
        window(range: one.seek.range, waited: one.waited), window(range: two.seek.range, waited: two.waited))
      guard apart <= min(limit, Double(one.seek.range ?? .max), Double(two.seek.range ?? .max)) else { continue }
      best = (apart, isFar, i)
      if apart == 0, !isFar { break }
    }
    return best?.i
  }

  private mutating func propose(_ ticket: Ticket, _ waiting: WaitingTicket, _ partner: WaitingTicket) {
    let (one, other) = (waiting.account, partner.account)
    let isX = one.xBalance == other.xBalance ? random.next() & 1 == 0 : one.xBalance < other.xBalance
    let own = record(ticket)
    let seats = isX ? Sides(x: own, o: partner.ticket) : Sides(x: partner.ticket, o: own)
    let players = isX ? Sides(x: one, o: other) : Sides(x: other, o: one)
    let m = MatchID(using: &random)
    var match = Match(MatchRecord(id: m, x: players.x.id, o: players.o.id, created: now.wall))
    match.followers = Sides(x: [seats.x.session], o: [seats.o.session])
    match.tickets = [seats.x, seats.o].map {
      Ticket(
        id: $0.id, session: $0.session, account: $0.account, seek: $0.seek, isBot: $0.isBot,
        since: now.steady - $0.waited, rating: 0)
    }
    let confirm = own.confirms || partner.ticket.confirms
    var draft = Draft()
    prepare(
      &match, players, bots: Sides(x: seats.x.isBot, o: seats.o.isBot), own.seek.terms, confirm: confirm, previous: nil,
      keys: [seats.x.seek.key ?? "", seats.o.seek.key ?? ""],
      autoConfirmed: confirm ? Player.allCases.filter { !seats[$0].confirms } : [], &draft)
    var begin = MatchBegin(m: m, writes: draft.writes)
    begin.tickets = [own.id, partner.ticket.id].sorted()
    begin.keys = [own, partner.ticket].compactMap { seat in
      seat.seek.key.map { .init(account: seat.account, key: $0, isRoom: false) }
    }
    take(slots: players, own.seek.terms, in: &begin)
    cluster?.pairing.formUnion([own.id, partner.ticket.id])
    ask(.begin(begin), .paired(ticket, partner, match))
  }

  /// Rated matches take a slot of both accounts, so that nobody's rating changes under a match that will change it.
  private func take(slots players: Sides<AccountRecord>, _ terms: MatchTerms, in begin: inout MatchBegin) {
    guard terms.rated else { return }
    let both = [players.x, players.o].sorted { $0.id < $1.id }
    begin.rated = both.map(\.id)
    begin.ratings = both.map(\.rating)
  }

  mutating func paired(_ ticket: Ticket, _ partner: WaitingTicket, _ match: Match, _ answer: ClusterAnswer?) {
    cluster?.pairing.subtract([ticket.id, partner.ticket.id])
    guard case .begin(let result) = answer else { return }
    switch result {
    case .begun:
      for id in [ticket.id, partner.ticket.id] { tickets.remove(id: id) }
      // As the store had it when it let the match begin: what this node knew may be older.
      accounts[partner.account.id] = partner.account
      began(match, wasPaired: true)
      if partner.epoch != cluster?.epoch { effects.append(.cluster(.hint(partner.epoch))) }
    case .ticketsGone: lookAtTickets()
    case .playing, .stale, .codeTaken, .known: break  // looked at again within a second
    }
  }

  /// A match has begun in the store: it is this node's from now on. Who was paired and is connected elsewhere hears of it from
  /// the node that has his ticket; told by this one, he might be back in that node's queue before it looks.
  private mutating func began(_ started: Match, wasPaired: Bool) {
    var match = started
    // Not in a transaction of this lobby's: it is durable already.
    match.issued = 0
    install(match)
    for session in match.followers.x + match.followers.o {
      guard let id = sessions[session]?.connection, !wasPaired || cluster?.virtual.contains(id) == false else {
        continue
      }
      serve(.follow(match.id, re: nil, isNew: true), match.id, id)
    }
    if match.record.opener == nil { list(match.id) }
    updatePresence(match.id, clean: false)
    startClock(match.id)
  }

  // MARK: rooms

  mutating func open(
    _ terms: MatchTerms, _ key: String?, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard mayOpen(terms, account, id, re) else { return }
    let m = MatchID(using: &random)
    let code = crockford(bits: random.next(), count: Limits.code)
    var match = Match(MatchRecord(id: m, x: nil, o: nil, opener: account.id, code: code, created: now.wall))
    match.codeDies = now.steady + Int64(configuration.codeLives)
    var draft = Draft()
    draft.writes.append(.match(match.record))
    log([MatchEvent(at: now.wall, mid: key, .open(by: account.name, terms))], &match, &draft)
    var begin = MatchBegin(m: m, writes: draft.writes)
    begin.code = code
    if let key { begin.keys = [.init(account: account.id, key: key, isRoom: true)] }
    ask(.begin(begin), for: id, .opened(id, re: re, match, key: key))
  }

  mutating func opened(_ id: ConnectionID, _ re: String?, _ match: Match, _ key: String?, _ answer: ClusterAnswer?) {
    guard case .begin(let result) = answer, let code = match.record.code, let opener = match.record.opener else {
      return refuseBusy(id, re)
    }
    switch result {
    case .begun:
      matches[match.id] = match
      matches[match.id]?.issued = 0
      codes[code] = match.id
      matchesOf[opener, default: []].append(match.id)
      arm(match.id)
      send(.room(match.id, code: code, expiresIn: configuration.codeLives), to: id, re: re)
    case .known(let m): take(.room(m, re: re), for: id)
    case .codeTaken: if let account = account(of: id) { open(match.state.terms, key, account, id, re) }
    case .ticketsGone, .playing, .stale: refuseBusy(id, re)
    }
  }

  mutating func refuseCode(_ line: ClientLine, _ id: ConnectionID) {
    refuse(id, line.id, .code, "no room has this code now")
  }

  // MARK: rematches

  /// Both want a rematch: it begins if the store lets it. `old` has the agreement logged already, but only here.
  mutating func rematch(
    _ old: Match, next m: MatchID, _ draft: Draft, _ line: ClientLine, _ id: ConnectionID, _ at: Int64
  ) {
    guard let x = old.record.o.flatMap({ accounts[$0] }), let o = old.record.x.flatMap({ accounts[$0] }) else { return }
    var draft = draft
    var record = MatchRecord(id: m, x: x.id, o: o.id, created: now.wall)
    (record.opener, record.code) = (old.record.opener, old.record.code)
    var next = Match(record)
    next.followers = Sides(x: old.followers.o, o: old.followers.x)
    let players = Sides(x: x, o: o)
    prepare(
      &next, players, bots: bots(in: next), old.state.terms, confirm: false, previous: old.id, keys: [],
      autoConfirmed: [], &draft)
    var begin = MatchBegin(m: m, writes: draft.writes)
    take(slots: players, old.state.terms, in: &begin)
    cluster?.beginning[old.id] = []
    ask(.begin(begin), gated: true, .rematched(old.id, line, id, at: at, old: old, next: next))
  }

  mutating func rematched(
    _ m: MatchID, _ line: ClientLine, _ id: ConnectionID, _ at: Int64, _ old: Match, _ next: Match,
    _ answer: ClusterAnswer?
  ) {
    let waiting = cluster?.beginning.removeValue(forKey: m) ?? []
    switch answer {
    case .begin(.begun): agreed(m, line, id, old, next)
    case .begin(.stale):
      // One of them has played elsewhere since: known anew, they may ask again.
      for account in [old.record.x, old.record.o] { if let account { ask(.profile(account), .refreshed(account)) } }
      refuseBusy(id, line.id)
    case .begin(.playing(let account)):
      let who = accounts[account]?.name ?? "one of you"
      refuse(id, line.id, .occupied, "\(who) is in another rated match")
    default: refuseBusy(id, line.id)
    }
    for (other, work) in waiting { serve(work, m, other) }
  }

  private mutating func agreed(_ m: MatchID, _ line: ClientLine, _ id: ConnectionID, _ old: Match, _ next: Match) {
    // Who follows and watches may have changed meanwhile.
    matches[m]?.take(log: old)
    guard let match = matches[m], let body = old.bodies.last else { return }
    let event = ServerMessage.event(m, seq: old.state.seq, hash: old.state.hash.short, body: body).bytes()
    let players = connectionsFollowing(match)
    for player in players { emit(.send(player, event, .essential)) }
    for watcher in match.watchers where !players.contains(watcher) { emit(.send(watcher, event, .spectator(m))) }
    send(.ok(m, seq: old.state.seq), to: id, re: line.id)
    var fresh = next
    fresh.followers = Sides(x: match.followers.o, o: match.followers.x)
    began(fresh, wasPaired: false)
  }
}
