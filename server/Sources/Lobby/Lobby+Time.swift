import MatchProtocol
import MatchStore
import TicTacToe

/// What time does to matches: clocks, absences, confirmations, expiry.
extension Lobby {
  /// What a side's flag is forgiven for the network.
  private func lag(of side: Player, in match: CachedMatch) -> Int64 {
    let trips = connections(of: side, in: match).compactMap { connections[$0]?.roundTrip }
    return Int64(min(Limits.lag, trips.max() ?? 0))
  }

  /// Sets the timer of a match to the next instant at which something may be due.
  mutating func arm(_ m: MatchID) {
    guard let match = matches[m], let due = nextDue(match) else { return }
    let at = max(due, now.steady + 1)
    if let next = match.timers.last, next <= at { return }
    matches[m]?.timers.append(at)
    timers.set(.match(m, due: at), at: at)
  }

  /// How much later the timers of a side ring here than at the node where it is, which acts first.
  private func otherNodesWait(_ side: Player, in match: CachedMatch) -> Int64 {
    match.nodes.contains { $0 != node } && connections(of: side, in: match).isEmpty ? configuration.otherNodesWait : 0
  }

  private func nextDue(_ match: CachedMatch) -> Int64? {
    if let retry = match.retryAt { return retry }
    return switch match.state.phase {
    case .open: match.codeDies
    case .confirming: match.confirmBy
    case .over: match.forgetAt
    case .live: nextDueLive(match)
    }
  }

  private func nextDueLive(_ match: CachedMatch) -> Int64? {
    var due = match.waitsUntil ?? .max
    if let fall = flagFalls(match) { due = min(due, fall) }
    guard match.state.bothMoved else { return due == .max ? nil : due }
    switch (match.claimableAt(over: .x, configuration), match.claimableAt(over: .o, configuration)) {
    // Once both are away for good the clock decides, if there is one.
    case (let x?, let o?): if match.state.terms.clock == nil { due = min(due, max(x, o)) }
    case (let at?, nil), (nil, let at?): due = min(due, at + Int64(configuration.claimByItself))
    case (nil, nil): break
    }
    return due == .max ? nil : due
  }

  /// When this node lets the flag of the side to move fall.
  private func flagFalls(_ match: CachedMatch) -> Int64? {
    let side = match.state.turn
    return match.deadline.map {
      $0 + lag(of: side, in: match) + Lobby.flagSlack + otherNodesWait(side, in: match)
    }
  }

  /// Looks at a match whose timer rang.
  mutating func check(_ m: MatchID) {
    guard matches[m] != nil else { return }
    matches[m]?.startOverdueClock(now.steady)
    if let retry = matches[m]?.retryAt, retry <= now.steady { matches[m]?.retryAt = nil }
    if isOutOfTouch { matches[m]?.retryAt = now.steady + configuration.beatEvery }
    updatePresence(m)
    // What is out tells in its time what is due then.
    guard let match = matches[m], match.isSettled else { return }
    guard match.retryAt == nil else { return arm(m) }
    switch match.state.phase {
    case .over: if let at = match.forgetAt, at <= now.steady { return forget(m) }
    // The code has died, or not both confirmed: the match is nothing, and whoever did confirm returns to the queue.
    case .open, .confirming:
      if let due = nextDue(match), due <= now.steady { return decide(draftEnd(match, nil, .aborted), .itself) }
    case .live: if let draft = draftDue(match) { return decide(draft, .itself) }
    }
    arm(m)
  }

  /// What time has done to a live match.
  private mutating func draftDue(_ match: CachedMatch) -> Draft? {
    if let fall = flagFalls(match), fall <= now.steady { return outOfTime(match) }
    guard match.state.bothMoved else { return nil }
    let overdue = Player.allCases.filter { side in
      match.claimableAt(over: side, configuration).map { $0 <= now.steady } ?? false
    }
    if overdue.count == 2 {
      // Nobody is left to claim: a clock decides in its time; without one there is nothing to decide.
      return match.state.terms.clock == nil ? draftEnd(match, nil, .aborted) : nil
    }
    guard let absent = overdue.first, match.awaySince[absent.opponent] == nil,
      let at = match.claimableAt(over: absent, configuration),
      at + Int64(configuration.claimByItself) <= now.steady
    else { return nil }
    return draftEnd(match, .win(absent.opponent), .gone)
  }

  /// Memory lets go of a match.
  mutating func forget(_ m: MatchID) {
    guard let match = matches[m] else { return }
    matches.remove(m)
    nodes.settle(m)
    for id in match.watchers { connections[id]?.watching.removeAll { $0 == m } }
    for (id, request) in match.waiting { takeUp(id) { $0.refuseBusy(id, request.re) } }
    for account in match.accounts { release(account: account) }
  }

  /// Makes a session follow the side its account sits at.
  mutating func follow(_ m: MatchID, _ account: Int64, _ session: String) {
    guard let match = matches[m], let side = match.side(of: account),
      sessions[session]?.games.contains(match.state.terms.rules) == true
    else { return }
    matches[m]?.add(session, to: side)
    matches[m]?.hasLeft[side] = false
    matches[m]?.leftCleanly[side] = false
    if match.away[side] { updatePresence(m) }
  }

  /// Logs who came and went, if that changed.
  mutating func updatePresence(_ m: MatchID) {
    // Each move comes here, mostly for nothing: a copy of the whole match is made after that is known.
    guard matches[m]?.missesSomebody == true, let match = matches[m], match.state.phase == .live, match.isSettled,
      match.retryAt.map({ $0 <= now.steady }) ?? true
    else { return }
    for side in Player.allCases {
      let isHere = !connections(of: side, in: match).isEmpty
      guard isHere && match.away[side] || !isHere && match.hasLeft[side] && !match.away[side] else { continue }
      // However many are logged, nobody stays away in a log who is here.
      if isHere ? match.state.away[side] : match.logsPresence(of: side) {
        return decide(draft(match, [MatchEvent(at: now.wall, side: side, isHere ? .back : .gone)]), .itself)
      }
      // Another node, where he comes back, could not tell this one.
      guard isHere || otherNodes.isEmpty else {
        matches[m]?.hasLeft[side] = false
        continue
      }
      matches[m]?.mark(side, isHere: isHere, now.steady, configuration)
      if !isHere { tellGone(side, m) }
      arm(m)
    }
  }

  /// The sides of a match that goes on that are not away, as far as is known, and are not connected here.
  func unknown(in match: CachedMatch) -> [Player] {
    guard [.confirming, .live].contains(match.state.phase) else { return [] }
    return Player.allCases.filter { !match.away[$0] && connections(of: $0, in: match).isEmpty }
  }

  /// Somebody is to play a match and is not here: he is gone, or at another node if one lives.
  mutating func miss(_ side: Player, of m: MatchID) {
    if otherNodes.isEmpty { matches[m]?.hasLeft[side] = true } else { nodes.desert(m, now.steady) }
  }

  /// Those whose absence is in events that are about to be folded, and who have said goodbye here.
  func byes(in events: [MatchEvent], of m: MatchID) -> [Player] {
    events.compactMap { if case .gone = $0.kind { $0.side } else { nil } }
      .filter { matches[m]?.leftCleanly[$0] == true }
  }

  /// A side that is away has said goodbye at another node.
  mutating func saidBye(_ side: Player, _ m: MatchID) {
    guard let match = matches[m] else { return }
    guard match.away[side] else {
      // Its absence is still to be read.
      if match.isBehind || match.isBeingRead { matches[m]?.leftCleanly[side] = true }
      return
    }
    matches[m]?.shortenGrace(of: side, configuration)
    tellGone(side, m)
    arm(m)
  }

  // MARK: confirmations

  mutating func confirm(_ line: ClientLine, _ m: MatchID, _ account: AccountRecord, _ id: ConnectionID, _ at: Int64) {
    guard let match = matches[m], let side = match.side(of: account.id) else {
      return refuse(id, line.id, .notFound, "there is no such match of yours")
    }
    if match.state.confirmed[side], match.state.phase != .over { return send(.ok(m, seq: nil), to: id, re: line.id) }
    guard match.isSettled else { return wait(.line(line, at: at), m, id) }
    guard match.state.phase == .confirming else { return refuse(id, line.id, .over, "too late to confirm", match) }
    guard !isBusy else { return refuseBusy(id, line.id) }
    connections[id]?.outstanding += 1
    let draft = draft(match, [MatchEvent(at: now.wall, side: side, .confirm)])
    decide(draft, .command(id, line, at: at, seq: match.state.seq + 1))
  }
}
