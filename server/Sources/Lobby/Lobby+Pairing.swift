import MatchProtocol
import MatchStore
import TicTacToe

/// Seeks of this node's players, and the matches that the leader makes of all nodes' tickets.
extension Lobby {
  // MARK: seeks, at the nodes of their players

  mutating func takeSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    if seek.terms.tournament != nil { try takeTournamentSeek(seek, command) } else { try queueSeek(seek, command) }
  }

  mutating func queueSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    try command.requireGame(seek.terms.rules)
    try command.requireMayPlay(seek.terms)
    if let again = try seeks.seekAgain(seek, command.id, re: command.re) { return carryOut(seeks: again) }
    try requireServing()
    guard seeks.count < SeekDesk.most else { throw .busy }
    try matches.requireFreeMatch(for: command.account.id)
    let ticket = Ticket(seek, command, at: node, now.monotonic, &random)
    carryOut(seeks: seeks.seek(ticket, command.id, re: command.re))
  }

  mutating func carryOut(seeks outputs: [SeekDesk.Output]) { for output in outputs { carryOut(seek: output) } }

  private mutating func carryOut(seek output: SeekDesk.Output) {
    switch output {
    case .queue(let ticket, let id, let re, let hasLostPlace):
      var record = ticket.record(membership.ahead)
      record.hasLostPlace = hasLostPlace
      ask(.queue(record, rated: ticket.seek.terms.needsSlot), for: id) { lobby, answer in
        let others = lobby.people.sessions.of(ticket.account).map(\.connection)
        lobby.carryOut(
          seeks: lobby.seeks.queued(
            ticket, id, re: re, answer, at: lobby.now.monotonic, ahead: lobby.membership.ahead, others: others))
      }
    case .unqueue(let ticket, later: false): retryUntilDone(.unqueue(ticket))
    case .unqueue(let ticket, later: true):
      timers.set(.retryUntilDone(.unqueue(ticket), tries: 0), at: now.monotonic + 5000)
    case .remove(let ticket): matchmaker.remove(ticket)
    case .waits(let ticket):
      if membership.isLeader {
        carryOut(pairs: matchmaker.add(ticket, pairingContext))
      } else {
        publish([membership.leader].compactMap(\.self), .queued)
      }
    case .send(let message, let id, let re): send(message, to: id, re: re)
    case .refuse(let refusal, let id, let re): refuse(id, re, refusal)
    case .follow(let m, let id, let re): route(.follow(m, re: re, isNew: true), m, for: id)
    }
  }

  /// Queues a player's ticket again, because its match ended or vanished before the player was subscribed to the match.
  mutating func seekAgain(after m: MatchID, _ id: ConnectionID, _ re: String?) {
    if !isDraining { carryOut(seeks: seeks.seekAgain(after: m, id, re: re, &random)) }
  }

  /// A ticket of this node has led to a match.
  mutating func followTicket(_ ticket: String, _ account: Int64, _ m: MatchID) {
    if let id = seeks.seeker(ticket) { carryOut(seeks: seeks.match(id, to: m)) }
    if matches[m] != nil { return seatSeeker(ticket, account, at: m) }
    withMatches { directory, _ in directory.load(m, .paired(ticket: ticket, account: account)) }
  }

  /// Subscribes the session whose ticket has led to a match in memory, or records that the player has left.
  mutating func seatSeeker(_ ticket: String, _ account: Int64, at m: MatchID) {
    let session = seeks.seeker(ticket, ledTo: m).flatMap { people.session(of: $0) }
    let isHere = !people.sessions.of(account).isEmpty
    if session == nil, isHere { seatLateSeekers(account, at: m) }
    withMatches { directory, context in
      if let session { directory.seat(session, at: m) } else if !isHere { directory.markLeft(account, m) }
      directory.updatePresence(m, context)
    }
  }

  /// Subscribes to a match the account's sessions that withdrew their seek too late, when the ticket was already matched.
  private mutating func seatLateSeekers(_ account: Int64, at m: MatchID) {
    guard let match = matches[m], let side = match.side(of: account), !match.isOver, match.state.moves.isEmpty,
      !match.isHere(side)
    else { return }
    for session in people.sessions.of(account) where seeks.hasTakenBack(session.connection) {
      withMatches { directory, _ in directory.seat(session, at: m) }
    }
  }

  /// Subscribes this node's players although nothing says which of their sessions play the match. Guesses the sessions of the previous
  /// match or, if the match is no rematch, the sessions that withdrew a seek.
  mutating func adopt(_ m: MatchID) {
    if !withMatches({ $0.adoptRematch(m, $1) }) {
      for account in matches[m]?.accounts ?? [] { seatLateSeekers(account, at: m) }
    }
    withMatches { $0.updatePresence(m, $1) }
  }

  // MARK: pairing, at the leader

  private var pairingContext: Matchmaker.Context {
    .init(
      now: now.monotonic, accounts: people.accounts,
      mostPairs: isDraining ? 0 : units.capacity(configuration, now.monotonic),
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
      guard case .tickets(let found) = answer else { return lobby.matchmaker.readFailed() }
      let waiting = found.filter { lobby.membership.isAlive($0.ticket.node) }
      let (pairs, missing) = lobby.matchmaker.read(
        waiting, known: known, clockOffset: lobby.membership.ahead, lobby.pairingContext)
      if missing.contains(where: { lobby.seeks.seeker($0) != nil }) { lobby.membership.requireComparison() }
      lobby.carryOut(pairs: pairs)
      if lobby.matchmaker.mustRead { lobby.askForQueue() }
    }
  }

  mutating func pairAll() { if !isDraining { carryOut(pairs: matchmaker.pairAll(pairingContext)) } }

  private mutating func carryOut(pairs outputs: [Matchmaker.Output]) {
    for output in outputs {
      switch output {
      case .pair(let a, let b):
        let table = a.seek.terms.tournament.flatMap { tournaments[$0] }
        let pairing = Pairing(a, b, table, &random)
        submit(Draft(pairing, table, at: now.wall), .paired(pairing))
      case .offerBots(let ticket, let count) where ticket.node == node:
        carryOut(seeks: seeks.offer(bots: count, ticket.id, at: now.monotonic))
      case .offerBots(let ticket, let count): publish([ticket.node], .bots(ticket: ticket.id, count))
      }
    }
  }

  mutating func pairingStored(_ pairing: Pairing) {
    matchmaker.release(pairing)
    for seat in pairing.both where seat.node != node {
      publish([seat.node], .paired(ticket: seat.id, account: seat.account, pairing.m))
    }
  }

  /// Subscribes the seeker's session, also if it withdrew its seek too late. If the session has ended, the player has left.
  mutating func seatOrMarkLeft(_ seat: Ticket, at m: MatchID) {
    guard let session = people.sessions[seat.session] else { return matches.markLeft(seat.account, m) }
    if seeks[session.connection]?.id == seat.id { carryOut(seeks: seeks.match(session.connection, to: m)) }
    matches.seatSilently(session, at: m)
  }

  /// Handles a pairing that was not stored. `conflict`: `nil` if the store failed, or the pairing must be made again.
  mutating func unpaired(_ pairing: Pairing, _ conflict: Conflict?) {
    matchmaker.release(pairing)
    switch conflict {
    case .playing(let account), .key(let account, _, _), .purpose(let account, _):
      // Remove the ticket, which the store cannot pair. When the ticket is queued again, the store names the reason, such as another match.
      for seat in pairing.both where seat.account == account {
        retryUntilDone(.unqueue(seat.id))
        if seat.node != node { publish([seat.node], .look(ticket: seat.id)) }
        askForPlace(seat.id)
      }
    // The next pairing timer reads the queue.
    case nil: return matchmaker.requireRead()
    // A ticket of the pair has left the queue. If its player waits here, a comparison with the store finds the ticket's match.
    case .ticket: membership.requireComparison()
    case .tournament(let code): tournaments.markBehind(code)
    default: break
    }
    askForQueue()
  }

  /// Queues a ticket again whose row in the store has disappeared, if its player waits at this node.
  mutating func askForPlace(_ ticket: String) {
    if let id = seeks.seeker(ticket) { carryOut(seeks: seeks.askForPlace(id)) }
  }
}
