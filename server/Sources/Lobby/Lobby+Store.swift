import MatchProtocol
import MatchStore
import TicTacToe

/// Questions to the store, loading and re-reading matches, messages between nodes, heartbeats and comparisons.
extension Lobby {
  // MARK: asking

  /// Asks the store and calls `then` with the answer. With a connection, its later requests wait until then.
  mutating func ask(
    _ question: StoreQuestion, for id: ConnectionID? = nil, _ then: @escaping StoreWork.Then = { _, _ in }
  ) {
    let number = store.ask(then, for: id)
    if let id { connections[id]?.outstanding += 1 }
    effects.append(.ask(number, question))
  }

  /// Retries a store command until it has succeeded.
  mutating func retryUntilDone(_ question: StoreQuestion, tries: Int = 0) {
    ask(question) { lobby, answer in
      guard answer != .done else { return }
      // The pause doubles: after an outage logins must not wait behind thousands of retries.
      let pause = min(Lobby.longestRetry, lobby.configuration.askAgain << min(tries, 8))
      lobby.timers.set(.retryUntilDone(question, tries: tries + 1), at: lobby.now.steady + pause)
    }
  }

  /// The longest pause between two tries, in milliseconds: an undeleted ticket may pair a player who has left.
  private static let longestRetry: Int64 = 2000

  /// Sets a timer to repeat an unanswered question.
  mutating func askAgain(_ timer: Timer) { timers.set(timer, at: now.steady + configuration.askAgain) }

  mutating func answered(_ number: UInt64, _ answer: StoreAnswer?) {
    guard let (then, id) = store.answered(number) else { return }
    then(&self, answer)
    if let id { finishWait(id) }
  }

  // MARK: one thing at a time

  /// Handles a request after all earlier ones of its connection.
  mutating func take(_ request: Request, for id: ConnectionID) {
    guard let connection = connections[id] else { return }
    guard connection.outstanding > 0 || !connection.queue.isEmpty else { return perform(request, for: id) }
    guard connection.queue.count < Connection.mostQueued else { return refuseBusy(id, request.re) }
    connections[id]?.queue.append(request)
  }

  /// Ends one wait of a connection and handles its queued requests.
  mutating func finishWait(_ id: ConnectionID) {
    guard connections[id] != nil else { return }
    connections[id]?.outstanding -= 1
    while let connection = connections[id], connection.outstanding == 0, let next = connection.queue.first {
      connections[id]?.queue.removeFirst()
      perform(next, for: id)
    }
  }

  /// Runs `work` for a connection that waited; `work` may start the next wait.
  mutating func resumeConnection(_ id: ConnectionID, _ work: (inout Lobby) -> Void) {
    if connections[id] != nil { work(&self) }
    finishWait(id)
  }

  /// Makes a connection wait until a match is settled.
  mutating func wait(_ request: Request, _ m: MatchID, _ id: ConnectionID) {
    connections[id]?.outstanding += 1
    matches[m]?.waiting.append((id, request))
  }

  // MARK: loading

  /// Loads a match from the store, for a connection or for this node itself.
  mutating func load(_ m: MatchID, _ work: StoreWork.Loading, for id: ConnectionID?) {
    if case .request(let request) = work, let id {
      // A player's own matches are always loaded: he requested nothing that could be refused.
      let plays = if case .follow = request { true } else { false }
      guard plays || store.loading.count < 256 && store.loading[m, default: []].count < 64 else {
        return refuseBusy(id, request.re)
      }
      connections[id]?.outstanding += 1
    }
    let isAsked = store.loading[m] != nil
    store.loading[m, default: []].append((id, work))
    if !isAsked { askFor(m) }
  }

  mutating func askFor(_ m: MatchID) {
    ask(.follow(m, node)) { lobby, answer in
      if case .match(let found) = answer { lobby.loaded(m, found) } else { lobby.notLoaded(m) }
    }
  }

  private mutating func loaded(_ m: MatchID, _ found: Followed?) {
    let waiting = store.loading.removeValue(forKey: m) ?? []
    var (text, isNamed) = ("there is no such match", false)
    if let found, matches[m] == nil, !install(found) {
      text = "match \(m) is broken and was given up; the log of the server has it"
    }
    for (id, work) in waiting {
      let isThere = matches[m] != nil
      switch (work, id) {
      case (.request(let request), let id?):
        // The player has disconnected meanwhile.
        if isThere, request.isLook, connections[id] == nil { nodes.schedulePresenceCheck(m, now.steady) }
        resumeConnection(id) { lobby in
          if isThere {
            lobby.serve(request, m, id)
          } else if case .follow(_, let re, true) = request {
            lobby.requeueSeek(after: m, id, re)
          } else {
            lobby.refuse(id, request.re, .notFound, text)
          }
        }
      case (.request, nil): break
      case (.rematch(let old), _):
        guard isThere else { continue }
        swapSeats(from: old, to: m)
        introduce(m)
        updatePresence(m)
      case (.paired(let ticket, let account), _): if isThere { subscribeSeeker(ticket, account, at: m) }
      case (.annul(let number), _):
        if isThere { annul(m, number) } else { effects.append(.orderCompleted(number, false)) }
      case (.named, _): isNamed = isThere
      }
    }
    // The match is adopted last, because the other requests know more precisely which session plays.
    if isNamed { adopt(m) }
    // A notification of later events has arrived before this answer.
    if let seq = store.growing.removeValue(forKey: m), let known = matches[m]?.state.seq, known < seq { reread(m) }
    // The node responsible for an absent player may have died unnoticed; schedule a presence check.
    if let found, let match = matches[m],
      unknown(in: match).contains(where: { !mayPlayElsewhere(match.account(at: $0), found) })
    {
      nodes.schedulePresenceCheck(m, now.steady, byAll: found.nodes == [node])
    }
  }

  /// Subscribes local players to a match that lists this node without a notification: players of the match before a rematch, or seekers.
  mutating func adopt(_ m: MatchID) {
    guard let match = matches[m], let first = match.bodies.first, let event = try? MatchEvent(body: first) else {
      return
    }
    if let old = previous(of: [event]), matches[old] != nil {
      swapSeats(from: old, to: m)
      introduce(m)
    } else {
      for account in match.accounts { subscribeLateSeekers(account, at: m) }
    }
    updatePresence(m)
  }

  private mutating func notLoaded(_ m: MatchID) {
    nodes.mustCompare = true
    let waiting = store.loading.removeValue(forKey: m) ?? []
    store.growing[m] = nil
    // Retry the loads without a connection: their players do not know of the match.
    let lasting = waiting.filter { _, work in
      switch work {
      case .rematch, .paired: true
      case .request, .annul, .named: false
      }
    }
    if !lasting.isEmpty {
      store.loading[m] = lasting
      askAgain(.load(m))
    }
    for (id, work) in waiting {
      switch (work, id) {
      case (.request(let request), let id?):
        turnAway(request, id)
        finishWait(id)
      case (.annul(let number), _): effects.append(.orderCompleted(number, nil))
      case (.rematch, _), (.paired, _), (.named, _), (.request, nil): break
      }
    }
  }

  /// Refuses a request that needs the store.
  mutating func turnAway(_ request: Request, _ id: ConnectionID) {
    guard request.isLook else { return refuseBusy(id, request.re) }
    // A client requests the state of its matches only once a connection, so it must reconnect.
    close(id, .restart, "the database cannot be reached; come back", retry: 500)
  }

  /// Caches a match from the store; `false` if its log is inconsistent.
  private mutating func install(_ found: Followed) -> Bool {
    let ahead = nodes.clockOffset ?? found.now - now.steady
    do throws(ProtocolError) {
      var match = try CachedMatch(found.match, now: now.steady, ahead: ahead, configuration)
      match.nodes = found.nodes
      cacheAccounts(found.accounts, known: match.accounts)
      matches.put(match)
      arm(match.id)
      if match.isOver { keepFew(match.id) }
      return true
    } catch {
      if found.match.record.ended == nil { abandon(found.match.record, length: found.match.length, error.message) }
      return false
    }
  }

  // MARK: reading again

  /// Reads a match again once no unit is in flight.
  mutating func reread(_ m: MatchID) {
    guard let match = matches[m], !match.isBeingRead else { return }
    matches[m]?.isBehind = match.unit != nil
    guard match.unit == nil else { return }
    matches[m]?.isBeingRead = true
    matches[m]?.known = match.state.seq
    ask(.match(m)) { lobby, answer in
      lobby.matches[m]?.isBeingRead = false
      guard case .match(let found) = answer else {
        lobby.matches[m]?.isBehind = true
        return lobby.askAgain(.reread(m))
      }
      lobby.catchUp(m, found)
      if let found { lobby.recordAbsentPlayers(of: m, found) }
      lobby.resumeMatch(m)
    }
  }

  /// Updates a match in memory from the store, if it is still in memory.
  mutating func catchUp(_ m: MatchID, _ found: Followed?) {
    guard let match = matches[m] else { return }
    if let found { catchUp(found, from: match.known) } else { vanished(m) }
  }

  /// Updates a match from a log that was requested when memory had `known` events.
  mutating func catchUp(_ found: Followed, from known: Int) {
    let m = found.match.record.id
    guard let match = matches[m] else { return }
    let record = found.match.record
    cacheAccounts(found.accounts, known: record.accounts)
    do throws(ProtocolError) {
      var events: [(event: MatchEvent, body: [UInt8])] = []
      var (seq, isSame) = (0, true)
      try found.match.read { event, body in
        seq += 1
        if seq > match.bodies.count {
          events.append((event, body))
        } else if body != match.bodies[seq - 1] {
          isSame = false
        }
      }
      guard isSame, seq >= known else { throw .inconsistent("its log is not what it was") }
      // A notification has already delivered later events than this answer.
      guard seq >= match.state.seq else { return }
      matches[m]?.record = record
      matches.index(m)
      matches[m]?.nodes = found.nodes
      fold(events, of: m, after: match.state.seq)
    } catch { abandon(m, error.message) }
  }

  // MARK: what other nodes tell

  mutating func publish(_ others: [NodeID], _ hint: Hint) {
    guard !others.isEmpty else { return }
    effects.append(.publish(others, hint.text))
  }

  mutating func receive(_ text: String?) {
    guard let text else { return compare() }
    switch Hint(text) {
    case .grown(let m, let seq, let bodies): grown(m, seq, bodies)
    case .bye(let m, let side): saidBye(side, m)
    case .paired(let ticket, let account, let m): pairedElsewhere(ticket, account, m)
    case .bots(let ticket, let count): offered(ticket, count)
    case .look(let ticket): if let id = seeks.seeker(ticket) { askForPlace(id) }
    case .queued: readQueueSoon()
    case .session(let id, let generation): evict(id, before: generation)
    case .account(let id): if accounts[id] != nil { read(accounts: [id]) }
    case .chat(let m, let account, let line): deliver(line, m, from: account)
    case nil: break
    }
  }

  /// Handles events that another node appended to a match.
  private mutating func grown(_ m: MatchID, _ seq: Int, _ bodies: [[UInt8]]) {
    let last = seq + max(bodies.count, 1) - 1
    if store.loading[m] != nil { store.growing[m] = max(store.growing[m] ?? 0, last) }
    guard let match = matches[m], match.state.seq < last || bodies.isEmpty else { return }
    let events = bodies.compactMap { try? MatchEvent(body: $0) }
    // Players, ratings and records are only in the store: read the match again.
    let needsMore = events.contains { event in
      switch event.kind {
      case .start, .end, .aside: true
      default: false
      }
    }
    guard seq <= match.state.seq + 1, events.count == bodies.count, !bodies.isEmpty, !needsMore else {
      // A read in progress may have been answered before these events were stored.
      if match.isBeingRead { matches[m]?.isBehind = true }
      return reread(m)
    }
    fold(Array(zip(events, bodies)), of: m, after: seq - 1, isStored: false)
    resumeMatch(m)
  }

  // MARK: the beat

  mutating func beat() {
    guard !nodes.isBeating else { return }
    nodes.isBeating = true
    let sentAt = now.steady
    ask(.beat(node, address: configuration.address)) { lobby, answer in
      lobby.nodes.isBeating = false
      if case .beat(let beat) = answer { lobby.beaten(sentAt, beat) }
    }
  }

  /// Closes all connections once this node has lost the store and the others consider it dead, so that clients reconnect to those.
  mutating func sendAway() {
    guard isOutOfTouch, nodes.haveCompany(nodes.beatAt) else { return }
    for id in connections.keys.sorted() {
      close(id, .restart, "this node has lost its database; come back", retry: 100)
    }
  }

  /// Whether the last heartbeat is so old that no player may lose by time: moves could not be stored.
  var isOutOfTouch: Bool { nodes.hasStarted && now.steady - nodes.beatAt > Beat.lives }

  /// Whether this node keeps the queue and adopts matches without a living follower.
  var isLeader: Bool { nodes.living.first?.id == node }

  private mutating func beaten(_ sentAt: Int64, _ beat: Beat) {
    let wasLeader = isLeader
    let gone = nodes.living.contains { old in !beat.nodes.contains { $0.id == old.id } }
    let roundTrip = now.steady - sentAt
    // A slow answer does not tell the time precisely.
    if roundTrip <= 500 || nodes.clockOffset == nil {
      setClock(to: beat.now + roundTrip / 2, within: 50 + roundTrip / 2)
    }
    if isOutOfTouch { comeBack(by: sentAt) }
    let known = addressesOfOthers
    (nodes.living, nodes.beatAt) = (beat.nodes, sentAt)
    let addresses = addressesOfOthers
    // Clients need the new node's address before this node dies.
    if !addresses.allSatisfy(known.contains) {
      for (id, connection) in connections.sorted(by: { $0.key < $1.key }) where connection.session != nil {
        send(.nodes(addresses), to: id)
      }
    }
    if beat.nodes.contains(where: { $0.id != node }) { nodes.companyAt = now.steady }
    if gone { doubtWhoIsElsewhere() }
    // At most 256 at a time: a dead node may leave thousands.
    if trustsBeats { for m in nodes.presenceChecks.keys.sorted().prefix(256) { reread(m) } }
    guard isLeader else { return nodes.hasStarted = true }
    if !wasLeader { askForQueue() }
    guard trustsBeats else { return }
    if gone || !wasLeader || now.steady - nodes.adoptedAt >= 5000 { adoptOrphans() }
  }

  /// Whether old heartbeats may be taken as a sign of death.
  private var trustsBeats: Bool { now.steady >= nodes.trustsBeatsFrom }

  /// Recovers from an outage of the store: no player could move, and other nodes may have been unable to send heartbeats.
  private mutating func comeBack(by time: Int64) {
    for match in matches.values { matches[match.id]?.postpone(by: time - nodes.beatAt, now.steady) }
    nodes.trustsBeatsFrom = now.steady + Beat.lives + configuration.beatEvery
    if nodes.haveCompany(nodes.beatAt) { nodes.companyAt = now.steady }
  }

  /// Adopts the store's clock where it differs from the local wall clock by more than the measuring error.
  private mutating func setClock(to time: Int64, within error: Int64) {
    let offset = time - now.steady
    if let before = nodes.clockOffset, abs(offset - before) > 1000 {
      nodes.trustsBeatsFrom = now.steady + Beat.lives + configuration.beatEvery
    }
    nodes.clockOffset = offset
    let ahead = time - (now.wall - nodes.clockAhead)
    if abs(ahead - nodes.clockAhead) > error { nodes.clockAhead = abs(ahead) <= error ? 0 : ahead }
  }

  private mutating func adoptOrphans() {
    guard !nodes.isSweeping, !isDraining else { return }
    (nodes.isSweeping, nodes.adoptedAt) = (true, now.steady)
    ask(.sweep(node, limit: configuration.sweptAtOnce)) { lobby, answer in
      lobby.nodes.isSweeping = false
      if case .swept(let found) = answer { return lobby.swept(found) }
      lobby.nodes.mustCompare = true
      lobby.doubtWhoIsElsewhere()
    }
  }

  /// Caches matches without a living follower, which now list this node.
  private mutating func swept(_ found: [Followed]) {
    for one in found {
      let m = one.match.record.id
      let isNew = matches[m] == nil
      if isNew { _ = install(one) } else { catchUp(one, from: 0) }
      guard matches[m] != nil else { continue }
      nodes.schedulePresenceCheck(m, now.steady, byAll: isNew && one.nodes == [node])
      recordAbsentPlayers(of: m, one)
    }
    if !found.isEmpty { note("took up matches that nobody followed", ["matches": "\(found.count)"]) }
    if found.count >= configuration.sweptAtOnce { adoptOrphans() } else { nodes.hasStarted = true }
  }

  /// After the death of a node, schedules a presence check for each match with players who may have been connected there.
  private mutating func doubtWhoIsElsewhere() {
    for match in matches.values where !unknown(in: match).isEmpty { nodes.schedulePresenceCheck(match.id, now.steady) }
  }

  /// Logs the absence of players of a match whose presence is unknown: both at once after a restart, or one. Repeated
  /// after the next heartbeat if it cannot be decided yet.
  private mutating func recordAbsentPlayers(of m: MatchID, _ found: Followed) {
    guard let check = nodes.presenceChecks[m], trustsBeats, !isOutOfTouch else { return }
    guard let match = matches[m], [.confirming, .live].contains(match.state.phase) else {
      return nodes.endPresenceCheck(m)
    }
    guard match.isSettled else { return }
    // For 5 s any session counts as presence: a player who has just reconnected follows his match in a moment.
    let isEarly = now.steady - check.since < 5000
    let absent = Player.allCases.filter { side in
      guard connections(of: side, in: match).isEmpty, let account = match.account(at: side) else { return false }
      if isEarly { return found.here[account] == nil && sessions.of(account).isEmpty }
      return !mayPlayElsewhere(account, found)
    }
    if absent.count == 2, check.byAll || !match.away.x && !match.away.o {
      // Folding this event ends the check.
      let recovered = MatchEvent(at: now.wall, clocks: match.state.clocks, .recovered)
      return submit(draft(match, [recovered]), .itself)
    }
    // Before a match is live, only `recovered` may be logged.
    guard match.state.phase == .live else { return }
    for side in absent where !match.away[side] { matches[m]?.hasLeft[side] = true }
    if unknown(in: match).allSatisfy(absent.contains) || !isEarly { nodes.endPresenceCheck(m) }
    updatePresence(m)
  }

  /// Whether a player may be connected to another node that follows the match and so decides about his presence.
  private func mayPlayElsewhere(_ account: Int64?, _ found: Followed) -> Bool {
    let places = account.flatMap { found.here[$0] } ?? []
    return otherNodes.contains { places.contains($0.id) && found.nodes.contains($0.id) }
  }

  // MARK: comparing

  /// Asks the store for all that differs from memory, in case hints were lost.
  mutating func compare() {
    var memory = Memory()
    for match in matches.values where !match.isOver || match.mayHaveRematch(now.steady) {
      memory.matches[match.id] = match.state.seq
    }
    memory.accounts = accounts.all.mapValues(\.version)
    for session in sessions.all { memory.sessions[session.id] = session.generation }
    memory.tickets = seeks.stored
    // Every third time also matches that list this node and are not in memory: they are not urgent.
    nodes.comparisons += 1
    memory.wantsOthers = nodes.mustCompare || nodes.comparisons % 3 == 0
    if memory.wantsOthers { nodes.mustCompare = false }
    ask(.compare(node, memory)) { [memory] lobby, answer in
      if case .differences(let found) = answer {
        lobby.compared(memory, found)
      } else if memory.wantsOthers {
        lobby.nodes.mustCompare = true
      }
    }
  }

  private mutating func compared(_ memory: Memory, _ differences: Differences) {
    // The store wins, even if it has lost recent changes.
    accounts.invalidate(differences.accounts.map(\.id).filter { accounts[$0]?.version == memory.accounts[$0] })
    cacheAccounts(differences.accounts)
    for id in differences.gone {
      for session in sessions.of(id) { end(session, .revoked, "this account is no more") }
    }
    for id in differences.sessions {
      guard let session = sessions[id], session.generation == memory.sessions[id] else { continue }
      end(session, .replaced, "this session is connected elsewhere, or over")
    }
    for m in differences.matches {
      if memory.matches[m] != nil { reread(m) } else if matches[m] == nil { load(m, .named, for: nil) }
    }
    for ticket in differences.tickets {
      guard let id = seeks.seeker(ticket.id), let account = seeks[id]?.ticket.account else { continue }
      if let m = ticket.m { pairedElsewhere(ticket.id, account, m) } else { askForPlace(id) }
    }
  }
}
