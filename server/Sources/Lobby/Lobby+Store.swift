import MatchProtocol
import MatchStore

/// Questions to the store, units, and the matches that both concern.
extension Lobby {
  // MARK: asking

  /// Asks the store. If a connection is given, its later requests wait for the answer.
  mutating func ask(
    _ question: StoreQuestion, for id: ConnectionID? = nil, _ then: @escaping StoreQuestions.Then
  ) {
    let number = questions.add(then, for: id)
    if let id { people.connections.beginWait(id) }
    replies.add(.ask(number, question))
  }

  /// Asks the store for a client's command. If `then` throws a refusal, the refusal is sent.
  mutating func ask(
    _ question: StoreQuestion, for command: ClientCommand,
    _ then: @escaping @Sendable (inout Lobby, StoreAnswer?) throws(Refusal) -> Void
  ) {
    ask(question, for: command.id) { lobby, answer in
      lobby.attempt(command.id, command.re) { lobby throws(Refusal) in try then(&lobby, answer) }
    }
  }

  mutating func retryUntilDone(_ question: StoreQuestion, tries: Int = 0) {
    ask(question) { lobby, answer in
      guard answer != .done else { return }
      // The pause doubles with each try, so that logins do not wait behind thousands of retries after an outage.
      let pause = min(Lobby.longestRetry, lobby.configuration.askAgain << min(tries, 8))
      lobby.timers.set(.retryUntilDone(question, tries: tries + 1), at: lobby.now.monotonic + pause)
    }
  }

  /// The longest pause between tries, in ms: short, because a ticket not deleted yet may be matched although its player has left.
  private static let longestRetry: Int64 = 2000

  private mutating func askAgain(_ timer: LobbyTimer) { timers.set(timer, at: now.monotonic + configuration.askAgain) }

  mutating func answered(_ number: UInt64, _ answer: StoreAnswer?) {
    guard let (then, id) = questions.take(number) else { return }
    then(&self, answer)
    if let id { finishWait(id) }
  }

  // MARK: matches

  /// Lets the matches do `work`, and carries out what follows from it.
  @discardableResult
  mutating func withMatches<Result>(_ work: (inout MatchDirectory, MatchContext) -> Result) -> Result {
    let result = work(&matches, matchContext)
    for output in matches.takeOutputs() { carryOut(match: output) }
    return result
  }

  var matchContext: MatchContext { MatchContext(configuration: configuration, nodes: membership, people: people) }

  private mutating func carryOut(match output: MatchOutput) {
    switch output {
    case .effects(let effects): replies.add(effects)
    case .change(let m, let change): if let match = matches[m] { submit(draft(match, change), .itself) }
    case .submit(let draft): submit(draft, .itself)
    case .timer(let m, let due): timers.set(.match(m, due: due), at: due)
    case .load(let m): ask(loading: m)
    case .loadLater(let m): askAgain(.load(m))
    case .reread(let m):
      ask(.match(m)) { lobby, answer in
        lobby.withMatches { $0.haveReread(m, answer, $1) }
        if case .match = answer { lobby.resumeMatch(m) }
      }
    case .rereadLater(let m): askAgain(.reread(m))
    case .read(let accounts, let players): keepAndEnforce(accounts, players: players)
    case .readAccounts(let ids): read(accounts: ids)
    case .ended(let m, let players): seeks.forget(m, players)
    case .evicted(let match):
      for session in match.watchers { people.connections.unwatch(match.id, session.connection) }
      for (id, request, _) in match.work.waiting { resumeConnection(id) { $0.refuse(id, request.re, .busy) } }
      for account in match.accounts { evictAccount(account) }
    }
  }

  mutating func ask(loading m: MatchID) {
    ask(.follow(m, node)) { lobby, answer in
      if case .match(let found) = answer { return lobby.loaded(m, found) }
      lobby.membership.requireComparison()
      for work in lobby.matches.endLoading(m, hasFailed: true) {
        switch work {
        case .request(let request, let id): lobby.resumeConnection(id) { $0.refuseUnread(request, id) }
        case .annul(let number): lobby.replies.add(.orderCompleted(number, nil))
        case .rematch, .paired: lobby.withMatches { directory, _ in directory.loadLater(m, work) }
        case .named: break
        }
      }
    }
  }

  private mutating func loaded(_ m: MatchID, _ found: FollowedMatch?) {
    let waiting = matches.endLoading(m)
    var refusal = Refusal(.notFound, "there is no such match")
    if let found, matches[m] == nil, !withMatches({ $0.install(found, $1) }) {
      refusal = Refusal(.notFound, "match \(m) is broken and was given up; the log of the server has it")
    }
    for work in waiting {
      let isThere = matches[m] != nil
      switch work {
      case .request(let request, let id):
        // The player has disconnected before the match was loaded, and may be present at another node.
        if isThere, request.asksForState, people.connections[id] == nil {
          matches.schedulePresenceCheck(m, now.monotonic)
        }
        resumeConnection(id) { lobby in
          if isThere { return lobby.serve(request, m, id) }
          if case .follow(_, let re, true) = request { return lobby.seekAgain(after: m, id, re) }
          lobby.refuse(id, request.re, refusal)
        }
      case .rematch(let old): withMatches { $0.goOver(from: old, to: m, $1) }
      case .paired(let ticket, let account): if isThere { seatSeeker(ticket, account, at: m) }
      case .annul(let number): annul(m, number)
      case .named: break
      }
    }
    // `adopt` comes last: the requests above name the session that plays the match, whereas `adopt` has to guess the session.
    if waiting.contains(where: { if case .named = $0 { true } else { false } }) { adopt(m) }
    withMatches { $0.finishLoading(m, found, $1) }
  }

  /// Refuses a request because the store does not answer.
  private mutating func refuseUnread(_ request: Request, _ id: ConnectionID) {
    guard request.asksForState else { return refuse(id, request.re, .busy) }
    // A client requests the states of its matches only when it connects, so it must connect again.
    replies.add(.close(id, .restart, "the database cannot be reached; come back", retry: 500))
  }

  /// Continues a match whose unit or read has ended, unless another unit or read is in flight.
  mutating func resumeMatch(_ m: MatchID) {
    guard matches[m]?.isSettled == true else { return }
    if matches[m]?.work.isBehind == true { return withMatches { directory, _ in directory.reread(m) } }
    while let (id, request, isRead) = matches.takeWaiting(m) {
      resumeConnection(id) { $0.route(request, m, for: id, isRead: isRead) }
    }
    withMatches { directory, context in
      directory.updatePresence(m, context)
      directory.arm(m, context)
    }
  }

  // MARK: units

  /// Submits a unit to the store. Its matches accept no other unit until the verdict arrives.
  mutating func submit(_ draft: Draft, _ origin: UnitOrigin) {
    matches.lock(draft)
    people.accounts.expect(draft.unit.scores)
    replies.add(.store(units.add(draft, origin, now.monotonic), draft.unit))
  }

  mutating func draft(_ match: LiveMatch, _ change: LiveMatch.Change) -> Draft {
    matches.draft(match, change, people.accounts, at: now.wall)
  }

  mutating func carryOut(unit output: UnitPipeline.Output?, _ number: UInt64) {
    switch output {
    case .ended(let unit, let end):
      let isStored = if case .stored = end { true } else { false }
      let unsure = people.accounts.end(unit.draft.unit.scores, areStored: isStored)
      if !unsure.isEmpty { read(accounts: unsure) }
      switch end {
      case .stored(let nodes): stored(unit, nodes)
      case .refused(let conflict): refused(unit, conflict)
      case .failed: failed(unit)
      case .decideAgain: decideAgain(unit)
      }
    case .readLog(let m):
      timers.set(.overdue(number), at: now.monotonic + Int64(configuration.maxWait))
      readOutcome(of: number, m)
    case .readAccount(let account):
      ask(.accounts([account])) { lobby, answer in
        if case .accounts(let found) = answer {
          lobby.people.accounts.invalidate(found.map(\.id))
          lobby.keepAndEnforce(found)
        }
        lobby.carryOut(unit: lobby.units.decideAgain(number), number)
      }
    case nil: break
    }
  }

  mutating func readOutcome(of number: UInt64, _ m: MatchID) {
    matches[m]?.noteRequest()
    ask(.match(m)) { lobby, answer in
      guard case .match(let found) = answer else { return lobby.askAgain(.readOutcome(of: number)) }
      if let found { lobby.keepAndEnforce(found.accounts) }
      let output = lobby.units.resolve(number, found)
      if case .ended(_, .decideAgain) = output { lobby.withMatches { $0.catchUp(m, found, $1) } }
      lobby.carryOut(unit: output, number)
    }
  }

  /// Refuses the requests that wait for a unit of unknown outcome. The unit stays in flight: if it was stored, its events are sent later;
  /// if not, its command is dropped.
  mutating func refuseOverdue(_ number: UInt64) {
    guard let unit = units.detachOrigin(number) else { return }
    switch unit.origin {
    case .itself, .paired: break
    case .command, .opened, .ordered:
      reportFailure(to: unit.origin, .busy)
      if let id = unit.origin.command?.id { finishWait(id) }
    }
    for log in unit.draft.unit.logs {
      for (id, request, _) in matches.takeAllWaiting(log.m) { resumeConnection(id) { $0.refuseUnread(request, id) } }
    }
    timers.set(.overdue(number), at: now.monotonic + Int64(configuration.maxWait))
  }

  /// Adds a stored unit to memory, and notifies clients and other nodes. `nodes`: those that follow its matches.
  private mutating func stored(_ unit: UnitPipeline.Unit, _ nodes: [MatchID: [NodeID]]) {
    let draft = unit.draft
    replies.counts.count(draft)
    // `grow` subscribes a player who joins a room.
    let joiner = unit.origin.command.flatMap { command in
      if case .join = command.line.message { people.session(of: command.id) } else { nil }
    }
    for (log, events) in zip(draft.unit.logs, draft.events) where log.after > 0 {
      let begins = draft.unit.logs[0].m
      withMatches { $0.grow(log, events, nodes: nodes[log.m], joiner: joiner, begins: begins, $1) }
    }
    for (log, events) in zip(draft.unit.logs, draft.events) where log.after == 0 { begun(log, events, unit.origin) }
    for game in draft.unit.games { tournamentChanged(game.code) }
    switch unit.origin {
    case .itself, .paired: break
    case .command(let command, let seq):
      let m = draft.unit.logs.first { $0.after > 0 }?.m
      if let m, people.connections[command.id] != nil { send(.ok(m, seq: seq), to: command.id, re: command.re) }
    case .opened(let command):
      if let room = try? matches[draft.unit.logs[0].m]?.room(at: now.monotonic) {
        send(room, to: command.id, re: command.re)
      }
    case .ordered(let number): replies.add(.orderCompleted(number, true))
    }
    unlockMatches(of: unit)
    for log in draft.unit.logs where log.after == 0 { withMatches { $0.updatePresence(log.m, $1) } }
  }

  /// Keeps a match that a unit has begun, if this node follows the match.
  private mutating func begun(_ log: StoreUnit.Log, _ events: [MatchEvent], _ origin: UnitOrigin) {
    let pairing = if case .paired(let pairing) = origin { pairing } else { Pairing?.none }
    if let pairing { pairingStored(pairing) }
    guard log.nodes.contains(node) else { return }
    guard matches[log.m] == nil else {
      // A request has loaded the match before this verdict arrived: only subscribe the players.
      guard let pairing else { return adopt(log.m) }
      for seat in pairing.both where seat.node == node { followTicket(seat.id, seat.account, log.m) }
      return
    }
    for seat in pairing?.both ?? [] { people.accounts.cache(seat.player) }
    withMatches { $0.begin(log, events, $1) }
    for seat in pairing?.both ?? [] where seat.node == node { seatOrMarkLeft(seat, at: log.m) }
    withMatches { directory, context in
      if !directory.adoptRematch(log.m, context) { directory.tellBeginning(log.m) }
      directory.arm(log.m, context)
    }
  }

  /// Handles conflicts other than `.log` and `.rating`: refuses the command or order, opens a room again if its code is taken, answers a
  /// repeated key with its room, or undoes a pairing.
  private mutating func refused(_ unit: UnitPipeline.Unit, _ conflict: Conflict) {
    switch (unit.origin, conflict) {
    case (.paired(let pairing), _): return unpaired(pairing, conflict)
    case (.opened(let command), .code):
      return resumeConnection(command.id) { $0.perform(command.request, for: command.id) }
    case (.opened(let command), .key(_, _, let m)):
      return resumeConnection(command.id) { $0.route(.room(m, re: command.re), m, for: command.id) }
    case (.opened, _): reportFailure(to: unit.origin, Refusal(.midReused, "this key was used for something else"))
    case (.command, .playing(let account)):
      let who = people.accounts[account]?.name ?? "one of you"
      reportFailure(to: unit.origin, Refusal(.occupied, "\(who) is in another rated match"))
    case (.command, _), (.ordered, _), (.itself, _): reportFailure(to: unit.origin, .busy)
    }
    unlockMatches(of: unit)
  }

  /// Answers the client or administrator who waits for a unit: it was not stored, or this is still unknown. A pairing is tried again later.
  private mutating func reportFailure(to origin: UnitOrigin, _ refusal: Refusal) {
    switch origin {
    case .command(let command, _), .opened(let command): refuse(command.id, command.re, refusal)
    case .ordered(let number): replies.add(.orderCompleted(number, nil))
    case .paired(let pairing): unpaired(pairing, nil)
    case .itself: break
    }
  }

  /// Decides the command of an unstored unit again with the current state, or refuses a command older than `maxWait` as busy.
  private mutating func decideAgain(_ unit: UnitPipeline.Unit) {
    if let at = unit.origin.command?.at, now.monotonic - at > Int64(configuration.maxWait) { return failed(unit) }
    matches.unlock(unit.draft)
    let logs = unit.draft.unit.logs
    switch unit.origin {
    case .itself: break
    case .command(let command, _):
      let m = logs.first { $0.after > 0 }?.m
      if let m { resumeConnection(command.id) { $0.route(command.request, m, for: command.id) } }
    case .opened(let command): resumeConnection(command.id) { $0.perform(command.request, for: command.id) }
    case .paired(let pairing): unpaired(pairing, nil)
    case .ordered(let number): annul(logs[0].m, number)
    }
    for log in logs { resumeMatch(log.m) }
  }

  private mutating func failed(_ unit: UnitPipeline.Unit) {
    reportFailure(to: unit.origin, .busy)
    unlockMatches(of: unit, retryAt: now.monotonic + configuration.askAgain)
  }

  /// Lets the matches of a finished unit accept the next unit, and its connection the next request. `retryAt`: monotonic ms until which the
  /// server has no event of its own stored.
  private mutating func unlockMatches(of unit: UnitPipeline.Unit, retryAt: Int64? = nil) {
    matches.unlock(unit.draft, retryAt: retryAt)
    if let id = unit.origin.command?.id { finishWait(id) }
    for log in unit.draft.unit.logs { resumeMatch(log.m) }
  }
}
