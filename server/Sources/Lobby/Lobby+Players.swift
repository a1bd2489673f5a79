import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Players who come and go, their accounts, and what they seek.
extension Lobby {
  // MARK: connections and sessions

  mutating func connected(_ id: ConnectionID, _ address: String?) {
    people.connections.open(id, from: address)
    send(.greeting(server: configuration.server, versions: protocolVersions), to: id)
    if isDraining { send(.drain(retry: 1000), to: id) }
  }

  mutating func logIn(_ hello: ClientMessage.Hello, _ id: ConnectionID, _ re: String?) {
    guard !isDraining else {
      return refuse(id, re, Refusal(.draining, "the server is stopping; connect again in a moment"))
    }
    do throws(LoginFailure) {
      try people.admit(hello, from: id, isBusy: isBusy, configuration, now.monotonic)
      let attempt = LoginAttempt(hello, configuration.lives, &random)
      ask(.login(attempt.login, node), for: id) { lobby, answer in
        do throws(LoginFailure) { lobby.enter(try attempt.entered(answer), attempt, id, re) } catch {
          lobby.refuse(id, re, error)
        }
      }
    } catch { refuse(id, re, error) }
  }

  private mutating func refuse(_ id: ConnectionID, _ re: String?, _ failure: LoginFailure) {
    if let refusal = failure.refusal { refuse(id, re, refusal) }
    replies.add(.close(id, failure.code, failure.text, retry: failure.retry))
  }

  private mutating func enter(_ entered: Entered, _ attempt: LoginAttempt, _ id: ConnectionID, _ re: String?) {
    for session in entered.forgotten { revoke(session, .tooMany) }
    let (session, account) = (Session(entered, on: id, attempt.hello, at: now.monotonic), entered.profile.account)
    guard people.connections[id] != nil else {
      return retryUntilDone(.detach(session: session.id, generation: session.generation))
    }
    if let known = people.sessions[session.id] {
      // If a later login has resumed the same session meanwhile, its generation is higher, and its connection stays.
      guard known.generation < session.generation else {
        return replies.add(.close(id, .replaced, Disconnection.resumed.text, retry: nil))
      }
      disconnect(known, .resumed)
    }
    if let before = entered.before, before != node {
      publish([before], .session(session.id, generation: session.generation))
    }
    let mine = matches.live(entered.profile, in: session.games)
    send(.welcome(attempt.welcome(session, account, mine, configuration, membership)), to: id, re: re)
    people.enter(session, account, first: mine.map { .follow($0, re: nil, isNew: false) })
  }

  /// Ends a session at this node: removes it from its matches without waiting for `.disconnected`, and closes its connection.
  mutating func disconnect(_ session: Session, _ why: Disconnection) {
    leave(session, clean: false, isElsewhere: why.code == .replaced)
    replies.add(.close(session.connection, why.code, why.text, retry: nil))
  }

  /// Disconnects a session whose generation here is lower than `generation`: it was resumed at another node, or revoked (`.max`).
  mutating func disconnect(_ id: String, before generation: Int64) {
    guard let session = people.sessions[id], session.generation < generation else { return }
    disconnect(session, generation == .max ? .over : .resumed)
  }

  private mutating func revoke(_ session: String, _ why: Disconnection) {
    if let known = people.sessions[session] { disconnect(known, why) }
    publish(otherNodes.map(\.id), .session(session, generation: .max))
  }

  mutating func disconnected(_ id: ConnectionID, clean: Bool) {
    for m in people.connections[id]?.watching ?? [] { matches.unwatch(id, m) }
    if let session = people.session(of: id) { leave(session, clean: clean, isElsewhere: false) }
    people.connections.close(id)
  }

  /// `clean`: the client sent `bye`. `isElsewhere`: the session may have been resumed at another node.
  private mutating func leave(_ session: Session, clean: Bool, isElsewhere: Bool) {
    guard people.leave(session) else { return }
    retryUntilDone(.detach(session: session.id, generation: session.generation))
    carryOut(seeks.leave(session.connection))
    tournaments.unfollow(session.connection)
    withMatches { $0.leave(session, clean: clean, isElsewhere: isElsewhere, $1) }
    evictAccount(session.account)
  }

  // MARK: accounts

  /// Keeps the accounts that this node needs; `players`: those of a match that was just read. Disconnects banned and deleted players.
  mutating func take(_ found: [AccountRecord], players: [Int64] = []) {
    for account in found
    where people.accounts[account.id] != nil || players.contains(account.id) || !matches.of(account.id).isEmpty {
      people.accounts.cache(account)
      // Judge the account in memory: it may be later than `account`, and a ban in `account` lifted since.
      guard let known = people.accounts[account.id], known.isClosed else { continue }
      for session in people.sessions.of(known.id) { disconnect(session, known.banned ? .banned : .deleted) }
    }
  }

  mutating func evictAccount(_ id: Int64) {
    if people.sessions.of(id).isEmpty, matches.of(id).isEmpty { people.accounts.evict(id) }
  }

  mutating func read(accounts ids: [Int64]) {
    ask(.accounts(ids)) { lobby, answer in
      if case .accounts(let found) = answer { lobby.take(found) }
    }
  }

  mutating func change(_ command: ClientCommand) throws(Refusal) {
    guard !isBusy else { throw .busy }
    let wanted = try AccountCommand(command, configuration, &random)
    ask(.change(.id(command.account.id), wanted.change), for: command) { lobby, answer throws(Refusal) in
      guard case .change(let result) = answer else { throw .busy }
      let (account, forgotten) = try result.changed
      lobby.changed(account, forgotten, .tokensRevoked)
      let reply = wanted.token.map { ServerMessage.token($0, name: account.name) } ?? .ok(nil, seq: nil)
      lobby.send(reply, to: command.id, re: command.re)
    }
  }

  /// The store has changed an account, and has deleted the sessions `forgotten`.
  mutating func changed(_ account: AccountRecord, _ forgotten: [String], _ why: Disconnection) {
    take([account])
    publish(otherNodes.map(\.id), .account(account.id))
    for session in forgotten { revoke(session, why) }
  }

  // MARK: seeks, at the nodes of their players

  mutating func takeSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    if seek.terms.tournament != nil { try takeTournamentSeek(seek, command) } else { try queueSeek(seek, command) }
  }

  mutating func queueSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    try command.requireGame(seek.terms.rules)
    try command.requireMayPlay(seek.terms)
    if let again = try seeks.seekAgain(seek, command.id, re: command.re) { return carryOut(again) }
    try requireServing()
    guard seeks.count < SeekDesk.most else { throw .busy }
    try matches.requireFreeMatch(for: command.account.id)
    let ticket = Ticket(seek, command, at: node, now.monotonic, &random)
    carryOut(seeks.seek(ticket, command.id, re: command.re))
  }

  mutating func carryOut(_ outputs: [SeekDesk.Output]) { for output in outputs { carryOut(output) } }

  private mutating func carryOut(_ output: SeekDesk.Output) {
    switch output {
    case .queue(let ticket, let id, let re, let hasLostPlace):
      var record = ticket.record(membership.ahead)
      record.hasLostPlace = hasLostPlace
      ask(.queue(record, rated: ticket.seek.terms.needsSlot), for: id) { lobby, answer in
        let others = lobby.people.sessions.of(ticket.account).map(\.connection)
        lobby.carryOut(
          lobby.seeks.queued(
            ticket, id, re: re, answer, at: lobby.now.monotonic, ahead: lobby.membership.ahead, others: others))
      }
    case .unqueue(let ticket, later: false): retryUntilDone(.unqueue(ticket))
    case .unqueue(let ticket, later: true):
      timers.set(.retryUntilDone(.unqueue(ticket), tries: 0), at: now.monotonic + 5000)
    case .remove(let ticket): matchmaker.remove(ticket)
    case .waits(let ticket):
      if membership.isLeader {
        carryOut(matchmaker.add(ticket, pairingContext))
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
    if !isDraining { carryOut(seeks.seekAgain(after: m, id, re: re, &random)) }
  }

  /// A ticket of this node has led to a match.
  mutating func followTicket(_ ticket: String, _ account: Int64, _ m: MatchID) {
    if let id = seeks.seeker(ticket) { carryOut(seeks.match(id, to: m)) }
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
      lobby.carryOut(pairs)
      if lobby.matchmaker.mustRead { lobby.askForQueue() }
    }
  }

  mutating func pairAll() { if !isDraining { carryOut(matchmaker.pairAll(pairingContext)) } }

  private mutating func carryOut(_ outputs: [Matchmaker.Output]) {
    for output in outputs {
      switch output {
      case .pair(let a, let b):
        let table = a.seek.terms.tournament.flatMap { tournaments[$0] }
        let pairing = Pairing(a, b, table, &random)
        submit(Draft(pairing, table, at: now.wall), .paired(pairing))
      case .offerBots(let ticket, let count) where ticket.node == node:
        carryOut(seeks.offer(bots: count, ticket.id, at: now.monotonic))
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
    if seeks[session.connection]?.id == seat.id { carryOut(seeks.match(session.connection, to: m)) }
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
    if let id = seeks.seeker(ticket) { carryOut(seeks.askForPlace(id)) }
  }
}
