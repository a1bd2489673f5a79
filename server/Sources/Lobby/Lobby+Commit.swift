import MatchProtocol
import MatchStore
import TicTacToe

/// Submits units to the store, handles the store's verdicts, folds stored events and sends them to clients.
extension Lobby {
  // MARK: submitting units and handling verdicts

  /// Submits a unit to the store. Its matches accept no other unit until the verdict arrives.
  mutating func submit(_ draft: Draft, _ origin: UnitOrigin) {
    let number = store.add(.init(draft: draft, origin: origin), now.monotonic)
    for log in draft.unit.logs { matches[log.m]?.work.unit = number }
    accounts.expect(draft.unit.scores)
    replies.add(.store(number, draft.unit))
  }

  /// After `unknown` (a lost answer) only the log tells whether the unit was stored. After a conflict about a log's length this node lacks
  /// events: reading the log catches up.
  mutating func handleVerdict(_ number: UInt64, _ verdict: Verdict) {
    guard let out = store[unit: number] else { return }
    switch verdict {
    case .applied(let nodes): applied(number, out, nodes)
    case .unknown, .conflict(.log):
      timers.set(.overdue(number), at: now.monotonic + Int64(configuration.maxWait))
      readOutcome(of: number)
    case .failed:
      finish(number, out)
      failUnit(out)
    case .conflict(.rating(let account)):
      ask(.accounts([account])) { lobby, answer in
        if case .accounts(let found) = answer {
          lobby.accounts.invalidate(found.map(\.id))
          lobby.cacheAndEnforce(found)
        }
        guard let out = lobby.store[unit: number] else { return }
        lobby.finish(number, out)
        lobby.retry(out)
      }
    case .conflict(let conflict):
      finish(number, out)
      refused(out, conflict)
    }
  }

  private mutating func finish(_ number: UInt64, _ out: StoreWork.Unit) {
    store.finish(number)
    accounts.endExpecting(out.draft.unit.scores)
  }

  mutating func readOutcome(of number: UInt64) {
    guard let m = store[unit: number]?.draft.decisiveLog.m else { return }
    matches[m]?.noteRequest()
    ask(.match(m)) { lobby, answer in
      if case .match(let found) = answer {
        lobby.decideOutcome(of: number, found)
      } else {
        lobby.askAgain(.readOutcome(of: number))
      }
    }
  }

  private mutating func decideOutcome(of number: UInt64, _ followed: FollowedMatch?) {
    guard let out = store[unit: number] else { return }
    let log = out.draft.decisiveLog
    if let followed, out.draft.isStored(in: followed) {
      cacheAndEnforce(followed.accounts)
      // Only this log's followers are known. Nodes that follow another log of the unit find the change by comparing memory with the store.
      return applied(number, out, [log.m: followed.nodes])
    }
    finish(number, out)
    catchUp(log.m, followed)
    retry(out)
  }

  /// Refuses the requests that wait for a unit of unknown outcome. The unit stays in flight; if it was stored, its events are sent later.
  mutating func refuseWaiting(for number: UInt64) {
    guard let out = store[unit: number] else { return }
    switch out.origin {
    case .itself, .paired: break
    case .command, .opened, .ordered:
      store.forgetOrigin(number)
      reportFailure(to: out.origin, .busy)
      if let id = out.origin.command?.id { finishWait(id) }
    }
    for log in out.draft.unit.logs {
      let waiting = matches[log.m]?.work.waiting ?? []
      matches[log.m]?.work.waiting = []
      for (id, request) in waiting { resumeConnection(id) { $0.refuseUnread(request, id) } }
    }
    timers.set(.overdue(number), at: now.monotonic + Int64(configuration.maxWait))
  }

  /// Folds a stored unit into memory and notifies clients and other nodes.
  private mutating func applied(_ number: UInt64, _ out: StoreWork.Unit, _ following: [MatchID: [NodeID]]) {
    let draft = out.draft
    // Must precede `finish`, which forgets the accounts (`unsure`) that were read while the unit was in flight.
    let unsure = accounts.add(draft.unit.scores)
    finish(number, out)
    if !unsure.isEmpty { read(accounts: unsure) }
    for (log, events) in zip(draft.unit.logs, draft.events) {
      replies.counts.moves += events.count { if case .move = $0.kind { true } else { false } }
      replies.counts.started += events.count { if case .start = $0.kind { true } else { false } }
      replies.counts.ended += log.record?.ended != nil && log.record?.o != nil ? 1 : 0
    }
    let grown = zip(draft.unit.logs, draft.events).filter { $0.0.after > 0 }
    for (log, events) in grown {
      let byes = byes(in: events, of: log.m)
      if let nodes = following[log.m] { matches[log.m]?.nodes = nodes }
      if let record = log.record {
        matches[log.m]?.record = record
        matches.index(log.m)
        readPlayers(of: log.m)
      }
      // A player joins a room: subscribe the player's session before the events are sent.
      if let command = out.origin.command, case .join = command.line.message, let session = session(of: command.id) {
        subscribe(log.m, session.account, session.id)
      }
      fold(Array(zip(events, log.bodies)), of: log.m, after: log.after, begins: draft.unit.logs[0].m)
      // The match was over before this unit. A finished match lists no nodes, so notify all other nodes.
      let hadEnded = log.record == nil && matches[log.m]?.isOver == true
      let others = hadEnded ? otherNodes.map(\.id) : (following[log.m] ?? []).filter { $0 != node }
      publish(others, .grown(log.m, seq: log.after + 1, log.bodies))
      for side in byes { publish(others, .bye(log.m, side)) }
    }
    for (log, events) in zip(draft.unit.logs, draft.events) where log.after == 0 { begun(log, events, out.origin) }
    for game in draft.unit.games {
      tournaments.markBehind(game.code)
      publish(otherNodes.map(\.id), .tournament(game.code))
    }
    switch out.origin {
    case .itself, .paired: break
    case .command(let command, let seq):
      guard connections[command.id] != nil, let m = grown.first?.0.m else { break }
      send(.ok(m, seq: seq), to: command.id, re: command.re)
    case .opened(let command):
      if let match = matches[draft.unit.logs[0].m], let code = match.record.code {
        send(.room(match.id, code: code, expiresIn: configuration.codeLives), to: command.id, re: command.re)
      }
    case .ordered(let number): replies.add(.orderCompleted(number, true))
    }
    unlockMatches(of: out)
    for log in draft.unit.logs where log.after == 0 { updatePresence(log.m) }
  }

  /// Caches a match that a unit has just created, if this node follows the match.
  private mutating func begun(_ log: StoreUnit.Log, _ events: [MatchEvent], _ origin: UnitOrigin) {
    guard let record = log.record else { return }
    if case .paired(let pairing) = origin { tellOthers(pairing) }
    guard log.nodes.contains(node) else { return }
    // A request has loaded the match before this verdict arrived: only subscribe the players.
    guard matches[log.m] == nil else { return subscribePlayers(origin, at: log.m) }
    var match = LiveMatch(record)
    match.nodes = log.nodes
    for (event, body) in zip(events, log.bodies) {
      do throws(ProtocolError) { try match.add(event, body: body, at: now.monotonic, configuration) } catch {
        preconditionFailure("the lobby logs what cannot follow: \(error.message)")
      }
      replies.counts.events += 1
    }
    if case .paired(let pairing) = origin { for seat in pairing.both { accounts.cache(seat.player) } }
    matches.put(match)
    readPlayers(of: log.m)
    switch origin {
    case .paired(let pairing): for seat in pairing.both where seat.node == node { subscribeOrMarkLeft(seat, at: log.m) }
    case .command, .itself: if let previous = previous(of: events) { swapSeats(from: previous, to: log.m) }
    case .opened, .ordered: break
    }
    tell(log.m) { $0.beginning(of: $1) }
    arm(log.m)
  }

  private mutating func subscribePlayers(_ origin: UnitOrigin, at m: MatchID) {
    guard case .paired(let pairing) = origin else { return adopt(m) }
    for seat in pairing.both where seat.node == node { pairedElsewhere(seat.id, seat.account, m) }
  }

  func previous(of events: [MatchEvent]) -> MatchID? {
    if case .start(_, _, _, let previous, _, _) = events.first?.kind { previous } else { nil }
  }

  /// Handles conflicts other than `.log` and `.rating`: refuses the command or order, or opens a room again if its code is taken.
  private mutating func refused(_ out: StoreWork.Unit, _ conflict: Conflict) {
    switch (out.origin, conflict) {
    case (.paired(let pairing), _): return unpaired(pairing, conflict)
    case (.opened(let command), .code):
      return resumeConnection(command.id) { $0.perform(command.request, for: command.id) }
    case (.opened(let command), .key(_, _, let m)):
      return resumeConnection(command.id) { $0.route(.room(m, re: command.re), m, for: command.id) }
    case (.opened, _): reportFailure(to: out.origin, Refusal(.midReused, "this key was used for something else"))
    case (.command, .playing(let account)):
      let who = accounts[account]?.name ?? "one of you"
      reportFailure(to: out.origin, Refusal(.occupied, "\(who) is in another rated match"))
    case (.command, _), (.ordered, _), (.itself, _): reportFailure(to: out.origin, .busy)
    }
    unlockMatches(of: out)
  }

  /// Handles a unit that was not stored: refuses the client's command, fails the administrator's order, or reads the queue again after a
  /// pairing.
  private mutating func reportFailure(to origin: UnitOrigin, _ refusal: Refusal) {
    switch origin {
    case .command(let command, _), .opened(let command): refuse(command.id, command.re, refusal)
    case .ordered(let number): replies.add(.orderCompleted(number, nil))
    case .paired(let pairing): unpaired(pairing, nil)
    case .itself: break
    }
  }

  /// Decides the command of an unstored unit again with the current state, or refuses a command older than `maxWait` as busy.
  private mutating func retry(_ out: StoreWork.Unit) {
    if let at = out.origin.command?.at, now.monotonic - at > Int64(configuration.maxWait) { return failUnit(out) }
    for log in out.draft.unit.logs { matches[log.m]?.work.unit = nil }
    switch out.origin {
    case .itself: break
    case .command(let command, _):
      let m = out.draft.unit.logs.first { $0.after > 0 }?.m
      if let m { resumeConnection(command.id) { $0.route(command.request, m, for: command.id) } }
    case .opened(let command): resumeConnection(command.id) { $0.perform(command.request, for: command.id) }
    case .paired(let pairing): unpaired(pairing, nil)
    case .ordered(let number): annul(out.draft.unit.logs[0].m, number)
    }
    for log in out.draft.unit.logs where matches[log.m]?.work.unit == nil { resumeMatch(log.m) }
  }

  private mutating func failUnit(_ out: StoreWork.Unit) {
    reportFailure(to: out.origin, .busy)
    for log in out.draft.unit.logs { matches[log.m]?.work.retryAt = membership.now.monotonic + configuration.askAgain }
    unlockMatches(of: out)
  }

  /// Lets the matches of a finished unit accept the next unit, and its connection the next request.
  private mutating func unlockMatches(of out: StoreWork.Unit) {
    for log in out.draft.unit.logs { matches[log.m]?.work.unit = nil }
    if let id = out.origin.command?.id { finishWait(id) }
    for log in out.draft.unit.logs { resumeMatch(log.m) }
  }

  /// Continues a match whose unit or read has ended, unless another unit or read is in flight.
  mutating func resumeMatch(_ m: MatchID) {
    guard matches[m]?.isSettled == true else { return }
    if matches[m]?.work.isBehind == true { return reread(m) }
    while matches[m]?.isSettled == true, let (id, request) = matches[m]?.work.waiting.first {
      matches[m]?.work.waiting.removeFirst()
      resumeConnection(id) { $0.route(request, m, for: id) }
    }
    updatePresence(m)
    arm(m)
  }

  // MARK: folding

  /// Adds the events that memory lacks (the first of `events` has the number `after` + 1) and sends them to players and spectators here.
  /// `begins`: a rematch that need not be loaded, because the same unit creates it.
  mutating func fold(
    _ events: [(event: MatchEvent, body: [UInt8])], of m: MatchID, after: Int, begins: MatchID? = nil,
    isStored: Bool = true
  ) {
    var hasBegun = false
    for (i, (event, body)) in events.enumerated() where matches[m]?.state.seq == after + i {
      do throws(ProtocolError) {
        try matches[m]?.add(event, body: body, at: membership.now.monotonic, configuration, isStored: isStored)
      } catch {
        // Only a stored event proves that the log is broken: any database role may send a false notification.
        return isStored ? abandon(m, error.message) : reread(m)
      }
      replies.counts.events += 1
      if case .start = event.kind {
        hasBegun = true
        seatOpener(m)
      } else if !hasBegun {
        tell(m) { $0.event(event, body, of: $1) }
      }
      switch event.kind {
      case .gone: if let side = event.side { tell(m) { [configuration] in $0.gone(side, $1, configuration) } }
      case .recovered: matches.endPresenceCheck(m)
      case .end, .aside: forgetSeeks(ledTo: m)
      case .rematch(let next?) where next != begins && hasFollowers(m):
        if matches[next] == nil { load(next, .rematch(of: m), for: nil) } else { goOver(from: m, to: next) }
      default: break
      }
    }
    if hasBegun { tell(m) { $0.beginning(of: $1) } }
    arm(m)
  }

  private func hasFollowers(_ m: MatchID) -> Bool {
    matches[m].map { !$0.followers.x.isEmpty || !$0.followers.o.isEmpty } ?? false
  }

  /// Subscribes the sessions of the room's opener whose clients know the game.
  private mutating func seatOpener(_ m: MatchID) {
    guard let match = matches[m], let opener = match.record.opener, let side = match.side(of: opener) else { return }
    for session in sessions.of(opener) where session.games.contains(match.state.terms.rules) {
      matches[m]?.add(session.id, to: side)
    }
    guard let seated = matches[m] else { return }
    for side in sessions.unaccountedSides(in: seated) { checkAbsence(of: side, in: m) }
  }

  // MARK: matches that are broken

  /// Ends a match in the store because its log is inconsistent. The log stays unchanged for inspection.
  mutating func abandon(_ m: MatchID, _ why: String) {
    guard let match = matches[m] else { return }
    dropMatch(m, "match \(m) is broken; come back")
    abandon(match.record, length: match.state.seq, why)
  }

  mutating func abandon(_ record: MatchRecord, length: Int, _ why: String) {
    var record = record
    record.ended = matches.endMoment(now.wall)
    submit(Draft(StoreUnit.Log(record.id, after: length, [], record: record), []), .itself)
    replies.counts.abandoned += 1
    note("ended a match because its log is inconsistent", ["m": record.id.rawValue, "why": why])
  }

  mutating func vanished(_ m: MatchID) {
    note("a match has disappeared from the store", ["m": m.rawValue])
    dropMatch(m, "match \(m) is lost; come back")
  }

  /// Evicts an unplayable match and closes its connections, so that the clients reconnect and request the stored state.
  mutating func dropMatch(_ m: MatchID, _ why: String) {
    guard let match = matches[m] else { return }
    for id in Set(sessions.connections(following: match) + match.watchers).sorted() {
      close(id, .restart, why, retry: 100)
    }
    evictMatch(m)
  }
}
