import MatchProtocol
import MatchStore
import TicTacToe

/// Timed events of matches: clocks, absences and expiry.
extension Lobby {
  /// The network delay that a side's clock is forgiven, in milliseconds.
  private func lag(of side: Player, in match: CachedMatch) -> Int64 {
    let trips = connections(of: side, in: match).compactMap { connections[$0]?.roundTrip }
    return Int64(min(Limits.lag, trips.max() ?? 0))
  }

  /// Sets the timer of a match to the next time at which something may be due.
  mutating func arm(_ m: MatchID) {
    guard let match = matches[m], let due = nextDue(match) else { return }
    let at = max(due, now.steady + 1)
    if let next = match.timers.last, next <= at { return }
    matches[m]?.timers.append(at)
    timers.set(.match(m, due: at), at: at)
  }

  /// Milliseconds by which this node's timers for a side are delayed if another node has its connection: that node acts first.
  private func otherNodesWait(_ side: Player, in match: CachedMatch) -> Int64 {
    match.nodes.contains { $0 != node } && connections(of: side, in: match).isEmpty ? configuration.otherNodesWait : 0
  }

  private func nextDue(_ match: CachedMatch) -> Int64? {
    if let retry = match.retryAt { return retry }
    return switch match.state.phase {
    case .open: match.codeDies
    case .confirming: now.steady
    case .over: match.forgetAt
    case .live: nextDueLive(match)
    }
  }

  private func nextDueLive(_ match: CachedMatch) -> Int64? {
    var due = match.waitsUntil ?? .max
    if let fall = flagFalls(match) { due = min(due, fall) }
    guard match.state.bothMoved else { return due == .max ? nil : due }
    switch (match.claimableAt(over: .x, configuration), match.claimableAt(over: .o, configuration)) {
    // If both are absent for good the clock decides, if there is one.
    case (let x?, let o?): if match.state.terms.clock == nil { due = min(due, max(x, o)) }
    case (let at?, nil), (nil, let at?): due = min(due, at + Int64(configuration.claimByItself))
    case (nil, nil): break
    }
    return due == .max ? nil : due
  }

  /// When this node declares the side to move lost on time.
  private func flagFalls(_ match: CachedMatch) -> Int64? {
    let side = match.state.turn
    return match.deadline.map {
      $0 + lag(of: side, in: match) + Lobby.flagSlack + otherNodesWait(side, in: match)
    }
  }

  /// Handles a timer of a match.
  mutating func check(_ m: MatchID) {
    guard matches[m] != nil else { return }
    matches[m]?.startOverdueClock(now.steady)
    if let retry = matches[m]?.retryAt, retry <= now.steady { matches[m]?.retryAt = nil }
    if isOutOfTouch { matches[m]?.retryAt = now.steady + configuration.beatEvery }
    updatePresence(m)
    // The unit in flight arms the timer again when it is done.
    guard let match = matches[m], match.isSettled else { return }
    guard match.retryAt == nil else { return arm(m) }
    switch match.state.phase {
    case .over: if let at = match.forgetAt, at <= now.steady { return evictMatch(m) }
    case .open: if let at = match.codeDies, at <= now.steady { return submit(draftEnd(match, nil, .aborted), .itself) }
    // A node of an older version began this match. Its first move has a time limit, which needs no confirmation.
    case .confirming:
      let missing = Player.allCases.filter { !match.state.confirmed[$0] }
      return submit(draft(match, missing.map { MatchEvent(at: now.wall, side: $0, .confirm) }), .itself)
    case .live: if let draft = draftDue(match) { return submit(draft, .itself) }
    }
    arm(m)
  }

  /// The end of a live match that is due now, if any.
  private mutating func draftDue(_ match: CachedMatch) -> Draft? {
    if let fall = flagFalls(match), fall <= now.steady { return outOfTime(match) }
    guard match.state.bothMoved else { return nil }
    let overdue = Player.allCases.filter { side in
      match.claimableAt(over: side, configuration).map { $0 <= now.steady } ?? false
    }
    if overdue.count == 2 {
      // Both sides are absent, so neither can claim the win: the clock decides later; without a clock the match is aborted.
      return match.state.terms.clock == nil ? draftEnd(match, nil, .aborted) : nil
    }
    guard let absent = overdue.first, match.awaySince[absent.opponent] == nil,
      let at = match.claimableAt(over: absent, configuration),
      at + Int64(configuration.claimByItself) <= now.steady
    else { return nil }
    return draftEnd(match, .win(absent.opponent), .gone)
  }

  /// Evicts a match from memory.
  mutating func evictMatch(_ m: MatchID) {
    guard let match = matches[m] else { return }
    matches.remove(m)
    nodes.endPresenceCheck(m)
    for id in match.watchers { connections[id]?.watching.removeAll { $0 == m } }
    for (id, request) in match.waiting { resumeConnection(id) { $0.refuseBusy(id, request.re) } }
    for account in match.accounts { evictAccount(account) }
  }

  /// Subscribes a session to the side of its account.
  mutating func subscribe(_ m: MatchID, _ account: Int64, _ session: String) {
    guard let match = matches[m], let side = match.side(of: account),
      sessions[session]?.games.contains(match.state.terms.rules) == true
    else { return }
    matches[m]?.add(session, to: side)
    matches[m]?.hasLeft[side] = false
    matches[m]?.leftCleanly[side] = false
    if match.away[side] { updatePresence(m) }
  }

  /// Logs that a side left or came back, if that changed.
  mutating func updatePresence(_ m: MatchID) {
    // Called for each move, mostly without effect: test before copying the match.
    guard matches[m]?.missesSomebody == true, let match = matches[m], match.state.phase == .live, match.isSettled,
      match.retryAt.map({ $0 <= now.steady }) ?? true
    else { return }
    for side in Player.allCases {
      let isHere = !connections(of: side, in: match).isEmpty
      guard isHere && match.away[side] || !isHere && match.hasLeft[side] && !match.away[side] else { continue }
      // A `back` is logged even beyond the limit, so that the log never shows a present player as absent.
      if isHere ? match.state.away[side] : match.logsPresence(of: side) {
        return submit(draft(match, [MatchEvent(at: now.wall, side: side, isHere ? .back : .gone)]), .itself)
      }
      // With other nodes an absence must be logged: the node to which the player returns could not report it here otherwise.
      guard isHere || otherNodes.isEmpty else {
        matches[m]?.hasLeft[side] = false
        continue
      }
      matches[m]?.mark(side, isHere: isHere, now.steady, configuration)
      if !isHere { tellGone(side, m) }
      arm(m)
    }
  }

  /// The sides of a match in progress that are neither recorded as absent nor connected here.
  func unknown(in match: CachedMatch) -> [Player] {
    guard [.confirming, .live].contains(match.state.phase) else { return [] }
    return Player.allCases.filter { !match.away[$0] && connections(of: $0, in: match).isEmpty }
  }

  /// Handles a player who is not connected here: absent, or possibly at another node, to be checked.
  mutating func checkAbsence(of side: Player, in m: MatchID) {
    if otherNodes.isEmpty { matches[m]?.hasLeft[side] = true } else { nodes.schedulePresenceCheck(m, now.steady) }
  }

  /// The sides that events about to be folded report as gone and that sent `bye` here.
  func byes(in events: [MatchEvent], of m: MatchID) -> [Player] {
    events.compactMap { if case .gone = $0.kind { $0.side } else { nil } }
      .filter { matches[m]?.leftCleanly[$0] == true }
  }

  /// Shortens the grace period of a side that sent `bye` at another node.
  mutating func saidBye(_ side: Player, _ m: MatchID) {
    guard let match = matches[m] else { return }
    guard match.away[side] else {
      // The side's `gone` event may not be folded yet: remember the `bye` until then.
      if match.isBehind || match.isBeingRead { matches[m]?.leftCleanly[side] = true }
      return
    }
    matches[m]?.shortenGrace(of: side, configuration)
    tellGone(side, m)
    arm(m)
  }

  // MARK: who follows

  /// The connections of both sides' following sessions, each once.
  func connectionsFollowing(_ match: CachedMatch) -> [ConnectionID] {
    var result: [ConnectionID] = []
    for side in Player.allCases {
      for id in connections(of: side, in: match) where !result.contains(id) { result.append(id) }
    }
    return result
  }

  func connections(of side: Player, in match: CachedMatch) -> [ConnectionID] {
    match.followers[side].compactMap { sessions[$0]?.connection }
  }
}
