import MatchProtocol
import MatchStore
import TicTacToe

/// Asks the store, handles each connection's requests in order, loads matches and reads them again.
extension Lobby {
  // MARK: asking

  /// Asks the store. If a connection is given, its later requests wait for the answer.
  mutating func ask(
    _ question: StoreQuestion, for id: ConnectionID? = nil, _ then: @escaping StoreWork.Then = { _, _ in }
  ) {
    let number = store.ask(then, for: id)
    if let id { connections.beginWait(id) }
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

  mutating func askAgain(_ timer: Timer) { timers.set(timer, at: now.monotonic + configuration.askAgain) }

  mutating func answered(_ number: UInt64, _ answer: StoreAnswer?) {
    guard let (then, id) = store.answered(number) else { return }
    then(&self, answer)
    if let id { finishWait(id) }
  }

  // MARK: the requests of a connection, one at a time

  /// Handles a request after all earlier requests of its connection.
  mutating func enqueue(_ request: Request, for id: ConnectionID) {
    switch connections.enqueue(request, for: id) {
    case .now: perform(request, for: id)
    case .refused: refuse(id, request.re, .busy)
    case .later, nil: break
    }
  }

  /// Ends one wait of a connection. After its last wait, handles its queued requests.
  mutating func finishWait(_ id: ConnectionID) {
    connections.endWait(id)
    while let next = connections.takeNext(id) { perform(next, for: id) }
  }

  /// Runs `work` and ends one of the connection's waits; `work` may start the next wait.
  mutating func resumeConnection(_ id: ConnectionID, _ work: (inout Lobby) -> Void) {
    if connections[id] != nil { work(&self) }
    finishWait(id)
  }

  /// Queues a request until no unit and no read of its match is in flight; the connection waits, too.
  mutating func wait(_ request: Request, _ m: MatchID, _ id: ConnectionID) {
    connections.beginWait(id)
    matches[m]?.work.waiting.append((id, request))
  }

  // MARK: loading

  /// Loads a match from the store and then does `work`, for a connection or for this node itself.
  mutating func load(_ m: MatchID, _ work: MatchDirectory.Loading, for id: ConnectionID?) {
    if case .request(let request) = work, let id {
      // A player's own match is loaded however many loads wait: the server sends its state unasked, so there is no request to refuse.
      let plays = if case .follow = request { true } else { false }
      guard plays || matches.mayWait(for: m) else {
        return refuse(id, request.re, .busy)
      }
      connections.beginWait(id)
    }
    if matches.awaitLoading(of: m, work, for: id) { askFor(m) }
  }

  mutating func askFor(_ m: MatchID) {
    ask(.follow(m, node)) { lobby, answer in
      if case .match(let found) = answer { lobby.loaded(m, found) } else { lobby.notLoaded(m) }
    }
  }

  private mutating func loaded(_ m: MatchID, _ found: FollowedMatch?) {
    let waiting = matches.endLoading(of: m)
    var (text, isNamed) = ("there is no such match", false)
    if let found, matches[m] == nil, !install(found) {
      text = "match \(m) is broken and was given up; the log of the server has it"
    }
    for (id, work) in waiting {
      let isThere = matches[m] != nil
      switch (work, id) {
      case (.request(let request), let id?):
        // The player has disconnected before the match was loaded, and may be present at another node.
        if isThere, request.asksForState, connections[id] == nil { matches.schedulePresenceCheck(m, now.monotonic) }
        resumeConnection(id) { lobby in
          if isThere {
            lobby.serve(request, m, id)
          } else if case .follow(_, let re, true) = request {
            lobby.requeueSeek(after: m, id, re)
          } else {
            lobby.refuse(id, request.re, Refusal(.notFound, text))
          }
        }
      case (.request, nil): break
      case (.rematch(let old), _):
        guard isThere else { continue }
        swapSeats(from: old, to: m)
        tell(m) { $0.beginning(of: $1) }
        updatePresence(m)
      case (.paired(let ticket, let account), _): if isThere { subscribeSeeker(ticket, account, at: m) }
      case (.annul(let number), _):
        if isThere { annul(m, number) } else { replies.add(.orderCompleted(number, false)) }
      case (.named, _): isNamed = isThere
      }
    }
    // `adopt` comes last: the requests above name the session that plays the match, whereas `adopt` has to guess the session.
    if isNamed { adopt(m) }
    // A notification announced later events than this answer has: read the match again.
    if let seq = matches.takeAnnounced(m), let known = matches[m]?.state.seq, known < seq { reread(m) }
    // A player may have been connected to a node that died unnoticed: let a presence check find out whether the player is absent.
    if let found, let match = matches[m],
      sessions.unaccountedSides(in: match).contains(where: { !mayPlayElsewhere(match.account(at: $0), found) })
    {
      matches.schedulePresenceCheck(m, now.monotonic, byAll: found.nodes == [node])
    }
  }

  /// Subscribes this node's players although nothing says which of their sessions play the match. Guesses the sessions of the previous
  /// match or, if the match is no rematch, the sessions that withdrew a seek.
  mutating func adopt(_ m: MatchID) {
    guard let match = matches[m], let first = match.log.bodies.first, let event = try? MatchEvent(body: first) else {
      return
    }
    if let old = previous(of: [event]), matches[old] != nil {
      swapSeats(from: old, to: m)
      tell(m) { $0.beginning(of: $1) }
    } else {
      for account in match.accounts { subscribeLateSeekers(account, at: m) }
    }
    updatePresence(m)
  }

  private mutating func notLoaded(_ m: MatchID) {
    membership.requireComparison()
    _ = matches.takeAnnounced(m)
    for (id, work) in matches.endLoading(of: m) {
      switch (work, id) {
      case (.request(let request), let id?): resumeConnection(id) { $0.refuseUnread(request, id) }
      case (.annul(let number), _): replies.add(.orderCompleted(number, nil))
      // The players do not know of their new match yet, so this node must load the match: ask again.
      case (.rematch, _), (.paired, _): if matches.awaitLoading(of: m, work, for: id) { askAgain(.load(m)) }
      case (.named, _), (.request, nil): break
      }
    }
  }

  /// Refuses a request because the store does not answer.
  mutating func refuseUnread(_ request: Request, _ id: ConnectionID) {
    guard request.asksForState else { return refuse(id, request.re, .busy) }
    // A client requests the states of its matches only when it connects, so it must connect again.
    close(id, .restart, "the database cannot be reached; come back", retry: 500)
  }

  /// Caches a match from the store; `false` if its log is inconsistent.
  mutating func install(_ found: FollowedMatch) -> Bool {
    let ahead = membership.clockOffset ?? found.now - now.monotonic
    do throws(ProtocolError) {
      var match = try LiveMatch(found.match, now: now.monotonic, ahead: ahead, configuration)
      match.nodes = found.nodes
      cacheAndEnforce(found.accounts, known: match.accounts)
      matches.put(match)
      arm(match.id)
      if match.isOver { keepFinished(match.id) }
      return true
    } catch {
      if found.match.record.ended == nil { abandon(found.match.record, length: found.match.length, error.message) }
      return false
    }
  }

  // MARK: reading again

  /// Reads a match again from the store; if a unit of the match is in flight, only after the unit is finished.
  mutating func reread(_ m: MatchID) {
    guard let match = matches[m], !match.work.isBeingRead else { return }
    matches[m]?.work.isBehind = match.work.unit != nil
    guard match.work.unit == nil else { return }
    matches[m]?.work.isBeingRead = true
    matches[m]?.noteRequest()
    ask(.match(m)) { lobby, answer in
      lobby.matches[m]?.work.isBeingRead = false
      guard case .match(let found) = answer else {
        lobby.matches[m]?.work.isBehind = true
        return lobby.askAgain(.reread(m))
      }
      lobby.catchUp(m, found)
      if let found { lobby.recordAbsentPlayers(of: m, found) }
      lobby.resumeMatch(m)
    }
  }

  mutating func catchUp(_ m: MatchID, _ found: FollowedMatch?) {
    guard let match = matches[m] else { return }
    if let found { catchUp(found, requested: match.work.requested) } else { vanished(m) }
  }

  /// `requested`: how many events memory had when the log was requested, and how many of these events the store was known to have.
  mutating func catchUp(_ found: FollowedMatch, requested: (count: Int, storedCount: Int)) {
    let m = found.match.record.id
    guard let match = matches[m] else { return }
    let record = found.match.record
    cacheAndEnforce(found.accounts, known: record.accounts)
    do throws(ProtocolError) {
      var (events, log): ([MatchEvent], [[UInt8]]) = ([], [])
      try found.match.read { event, body in
        events.append(event)
        log.append(body)
      }
      switch matches[m]?.compare(log, requested: requested) {
      case .broken?: throw .inconsistent("its log is not what it was")
      case .forged?: return replace(match, by: found)
      case .same?, nil: break
      }
      // Notifications have delivered later events meanwhile: ignore the answer.
      guard log.count >= match.state.seq else { return }
      matches[m]?.record = record
      matches.index(m)
      matches[m]?.nodes = found.nodes
      fold(Array(zip(events, log).dropFirst(match.state.seq)), of: m, after: match.state.seq)
    } catch { abandon(m, error.message) }
  }

  /// Replaces a match into which a forged notification was folded, and sends the stored state to its players and spectators.
  private mutating func replace(_ old: LiveMatch, by found: FollowedMatch) {
    note("a notification had events of a match that are not stored", ["m": old.id.rawValue])
    guard install(found) else { return dropMatch(old.id, "match \(old.id) is broken; come back") }
    matches[old.id]?.replace(old)
    arm(old.id)
    guard let match = matches[old.id] else { return }
    for id in Set(sessions.connections(following: match) + match.watchers).sorted() {
      sendState(of: match, to: id, re: nil, kind: .essential)
    }
  }
}
