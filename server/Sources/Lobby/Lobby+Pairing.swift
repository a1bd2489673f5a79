import MatchProtocol
import MatchStore
import TicTacToe

/// Seeks of this node's players, their tickets in the store, and the matches made from tickets.
extension Lobby {
  // MARK: seeks, at the nodes of their players

  mutating func takeSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    if seek.terms.tournament != nil { try takeTournamentSeek(seek, command) } else { try queueSeek(seek, command) }
  }

  mutating func queueSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    let id = command.id
    try command.requireGame(seek.terms.rules)
    try command.requireMayPlay(seek.terms)
    if let open = seeks[id]?.ticket {
      // A client may repeat its seek with the same key: the ticket keeps its place, and only the consent to bots may change.
      guard let key = seek.key, open.seek.key == key else {
        throw Refusal(.occupied, "this session has a seek already; unseek first")
      }
      guard open.seek.isSame(as: seek) else { throw .seekKey }
      var ticket = open
      ticket.seek = seek
      seeks[id]?.ticket = ticket
      return queue(ticket, id, command.re)
    }
    guard !isDraining else { throw .draining }
    guard !isBusy, seeks.count < TicketQueue.most else { throw .busy }
    try requireFreeMatch(for: command.account.id)
    let ticket = Ticket(
      id: makeTicketID(), session: command.session.id, node: node, player: command.account, seek: seek,
      isBot: command.session.isBot, since: now.monotonic)
    seeks[id] = OpenSeek(ticket: ticket)
    seeks.forgetLast(id)
    queue(ticket, id, command.re)
  }

  private mutating func makeTicketID() -> String { crockford(bits: random.next(), count: 8, lowercase: true) }

  /// The store's clock minus the monotonic clock, in ms.
  private var ahead: Int64 { membership.clockOffset ?? now.wall - now.monotonic }

  private mutating func queue(_ ticket: Ticket, _ id: ConnectionID, _ re: String?, hasLostPlace: Bool = false) {
    var record = ticket.record(ahead)
    record.hasLostPlace = hasLostPlace
    ask(.queue(record, rated: ticket.seek.terms.needsSlot), for: id) { $0.queued(id, ticket, re, $1) }
  }

  private mutating func queued(_ id: ConnectionID, _ asked: Ticket, _ re: String?, _ answer: StoreAnswer?) {
    // The queueing command got no answer, but the store may still execute it: remove the ticket in 5 s.
    if answer == nil { timers.set(.retryUntilDone(.unqueue(asked.id), tries: 0), at: now.monotonic + 5000) }
    guard seeks[id]?.ticket.id == asked.id else {
      retryUntilDone(.unqueue(asked.id))
      // The seek has ended before this answer. Unless its ticket was matched, nothing is left to do.
      guard let re, let m = seeks.match(ledBy: asked.id, of: id) else { return }
      // The notification of the pairing came first; the client still waits for the answer to its seek.
      return route(.follow(m, re: re, isNew: true), m, for: id)
    }
    guard case .queued(let result) = answer else {
      endSeek(id)
      return refuse(id, re, .busy)
    }
    switch result {
    case .waits(let since):
      let start = min(now.monotonic, since - ahead)
      seeks[id]?.ticket.since = start
      seeks[id]?.isStored = true
      guard let ticket = seeks[id]?.ticket else { return }
      endSeeks(replacedBy: ticket)
      send(.queued(ticket: ticket.id, waited: Int(now.monotonic - ticket.since), bots: 0), to: id, re: re)
      if membership.isLeader {
        carryOut(matchmaker.add(ticket, pairingContext))
      } else {
        publish([membership.leader].compactMap(\.self), .queued)
      }
    case .led(let m):
      ticketMatched(id, to: m)
      route(.follow(m, re: re, isNew: true), m, for: id)
    case .purpose:
      endSeek(id)
      refuse(id, re, .seekKey)
    case .playing:
      endSeek(id)
      refuse(id, re, Refusal(.occupied, "you are in a match that counts; finish it before the next"))
    case .unknown:
      endSeek(id)
      refuse(id, re, .accountGone)
    }
  }

  /// If the ticket was matched before the withdrawal, the player still gets the match.
  mutating func withdrawSeek(_ id: ConnectionID) {
    seeks.takeBack(id)
    endSeek(id)
  }

  mutating func endSeek(_ id: ConnectionID) {
    guard let open = seeks[id] else { return }
    seeks[id] = nil
    matchmaker.remove(open.ticket.id)
    retryUntilDone(.unqueue(open.ticket.id))
  }

  /// Ends the seeks that other sessions of the account made with the same key: in the store, `ticket` has replaced their tickets.
  private mutating func endSeeks(replacedBy ticket: Ticket) {
    guard let key = ticket.seek.key else { return }
    for id in sessions.of(ticket.account).map(\.connection) {
      guard let open = seeks[id], open.isStored, open.ticket.id != ticket.id, open.ticket.seek.key == key else {
        continue
      }
      seeks[id] = nil
      matchmaker.remove(open.ticket.id)
      refuse(id, nil, Refusal(.midReused, "another session of yours waits with this key"))
    }
  }

  /// Queues a ticket again that no longer waits in the store. If the store refuses the ticket, the seek ends and the client is told why.
  mutating func askForPlace(_ id: ConnectionID) {
    guard let open = seeks[id], open.isStored else { return }
    seeks[id]?.isStored = false
    queue(open.ticket, id, nil, hasLostPlace: true)
  }

  private mutating func ticketMatched(_ id: ConnectionID, to m: MatchID) {
    if let ticket = seeks.markMatched(id, to: m) { matchmaker.remove(ticket.id) }
  }

  /// Queues a player's ticket again, because its match `m` ended or vanished before the player was subscribed to the match.
  mutating func requeueSeek(after m: MatchID, _ id: ConnectionID, _ re: String? = nil) {
    guard var ticket = seeks.last(id, ledTo: m), seeks[id] == nil, !isDraining else { return }
    seeks.forgetLast(id)
    // A ticket id that was matched cannot be used again.
    ticket.id = makeTicketID()
    seeks[id] = OpenSeek(ticket: ticket)
    queue(ticket, id, re)
  }

  mutating func pairedElsewhere(_ ticket: String, _ account: Int64, _ m: MatchID) {
    if let id = seeks.seeker(ticket) { ticketMatched(id, to: m) }
    if matches[m] == nil {
      load(m, .paired(ticket: ticket, account: account), for: nil)
    } else {
      subscribeSeeker(ticket, account, at: m)
    }
  }

  /// Subscribes the session whose ticket was matched at another node, or records that the player has left.
  mutating func subscribeSeeker(_ ticket: String, _ account: Int64, at m: MatchID) {
    guard let side = matches[m]?.side(of: account) else { return }
    if let id = seeks.seeker(ticket, ledTo: m), let session = connections[id]?.session {
      if matches[m]?.add(session, to: side) == true { tell(m) { $0.beginning(of: $1, to: id, side) } }
    } else if sessions.of(account).isEmpty {
      matches[m]?.presence[side].hasLeft = true
    } else {
      subscribeLateSeekers(account, at: m)
    }
    updatePresence(m)
  }

  /// Subscribes to a match the account's sessions that withdrew their seek too late, when the ticket was already matched.
  mutating func subscribeLateSeekers(_ account: Int64, at m: MatchID) {
    guard let match = matches[m], let side = match.side(of: account), !match.isOver, match.state.moves.isEmpty,
      match.followers[side].isEmpty
    else { return }
    for session in sessions.of(account) where seeks.hasTakenBack(session.connection) {
      matches[m]?.add(session.id, to: side)
      tell(m) { $0.beginning(of: $1, to: session.connection, side) }
    }
  }

  /// Tells a player who has waited for long that bots are available.
  mutating func offered(_ ticket: String, _ bots: Int) {
    guard let id = seeks.seeker(ticket), let open = seeks[id] else { return }
    send(.queued(ticket: ticket, waited: Int(now.monotonic - open.ticket.since), bots: bots), to: id)
  }

  mutating func forgetSeeks(ledTo m: MatchID) {
    guard let match = matches[m] else { return }
    for id in sessions.connections(following: match) where seeks.last(id, ledTo: m) != nil { seeks.forgetLast(id) }
  }

  // MARK: pairing, at the leader

  private var pairingContext: Matchmaker.Context {
    .init(
      now: now.monotonic, accounts: accounts, mostPairs: isDraining ? 0 : store.capacity(configuration, now.monotonic),
      botAfter: Int64(configuration.botAfter), tournaments: tournaments.entries, wall: now.wall)
  }

  /// Reads the queue because another node has queued a ticket, at most once in `readEvery` ms.
  mutating func readQueueSoon() {
    guard let due = matchmaker.scheduleRead(now.monotonic) else { return }
    if due > now.monotonic { timers.set(.queue, at: due) } else { readQueueNow() }
  }

  mutating func readQueueNow() {
    matchmaker.scheduledReadIsDue(now.monotonic)
    if membership.isLeader { askForQueue() }
  }

  mutating func askForQueue() {
    guard let known = matchmaker.beginReading() else { return }
    ask(.tickets) { lobby, answer in
      guard case .tickets(let waiting) = answer else { return lobby.matchmaker.readFailed() }
      lobby.readQueue(waiting, known)
    }
  }

  private mutating func readQueue(_ found: [WaitingTicket], _ known: Set<String>) {
    let waiting = found.filter { membership.isAlive($0.ticket.node) }
    let (pairs, missing) = matchmaker.read(waiting, known: known, clockOffset: ahead, pairingContext)
    if missing.contains(where: { seeks.seeker($0) != nil }) { membership.requireComparison() }
    carryOut(pairs)
    if matchmaker.mustRead { askForQueue() }
  }

  mutating func pairAll() {
    if !isDraining { carryOut(matchmaker.pairAll(pairingContext)) }
  }

  private mutating func carryOut(_ outputs: [Matchmaker.Output]) {
    for output in outputs {
      switch output {
      case .pair(let a, let b): pair(a, b)
      case .offerBots(let ticket, let count) where ticket.node == node: offered(ticket.id, count)
      case .offerBots(let ticket, let count): publish([ticket.node], .bots(ticket: ticket.id, count))
      }
    }
  }

  private mutating func pair(_ a: Ticket, _ b: Ticket) {
    let table = a.seek.terms.tournament.flatMap { tournaments[$0] }
    let pairing = Pairing(a, b, table, &random)
    submit(Draft(pairing, table, at: now.wall), .paired(pairing))
  }

  mutating func tellOthers(_ pairing: Pairing) {
    matchmaker.release(pairing)
    for seat in pairing.both where seat.node != node {
      publish([seat.node], .paired(ticket: seat.id, account: seat.account, pairing.m))
    }
  }

  mutating func subscribeOrMarkLeft(_ seat: Ticket, at m: MatchID) {
    guard let side = matches[m]?.side(of: seat.account) else { return }
    if let id = sessions[seat.session]?.connection {
      // A session that withdrew its seek after its ticket was matched is subscribed nevertheless.
      if seeks[id]?.ticket.id == seat.id { ticketMatched(id, to: m) }
      matches[m]?.add(seat.session, to: side)
    } else {
      matches[m]?.presence[side].hasLeft = true
    }
  }

  /// Handles a pairing that was not stored; `conflict` is `nil` if the store failed.
  mutating func unpaired(_ pairing: Pairing, _ conflict: Conflict?) {
    matchmaker.release(pairing)
    switch conflict {
    case .playing(let account), .key(let account, _, _), .purpose(let account, _):
      // Remove the ticket, which the store cannot pair. When the ticket is queued again, the store names the reason, such as another match.
      for seat in pairing.both where seat.account == account {
        retryUntilDone(.unqueue(seat.id))
        if seat.node != node { publish([seat.node], .look(ticket: seat.id)) }
        if let id = seeks.seeker(seat.id) { askForPlace(id) }
      }
    // The store failed; the next pairing timer reads the queue.
    case nil: return matchmaker.requireRead()
    // A ticket of the pair has left the queue. If its player waits here, a comparison with the store finds the ticket's match.
    case .ticket: membership.requireComparison()
    case .tournament(let code): tournaments.markBehind(code)
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
