import MatchProtocol
import MatchStore
import TicTacToe

/// Timed events of matches: clocks, absences and expiry.
extension Lobby {
  /// Milliseconds of network delay that are not charged to a side's clock.
  private func lag(of side: Player, in match: LiveMatch) -> Int64 {
    let trips = sessions.connections(of: side, in: match).compactMap { connections[$0]?.roundTrip }
    return Int64(min(Limits.lag, trips.max() ?? 0))
  }

  /// Sets the timer of a match to its `nextDue`, unless an earlier timer of the match is pending.
  mutating func arm(_ m: MatchID) {
    guard let match = matches[m],
      let due = match.nextDue(flagDelay: flagDelay(match), now.monotonic, configuration)
    else { return }
    let at = max(due, now.monotonic + 1)
    if let next = match.timers.last, next <= at { return }
    matches[m]?.timers.append(at)
    timers.set(.match(m, due: at), at: at)
  }

  /// Milliseconds by which this node delays its timers for a side that is connected to another node: the other node acts first.
  private func otherNodesWait(_ side: Player, in match: LiveMatch) -> Int64 {
    let isElsewhere = match.nodes.contains { $0 != node } && sessions.connections(of: side, in: match).isEmpty
    return isElsewhere ? configuration.otherNodesWait : 0
  }

  /// Milliseconds from the deadline of the side to move until this node declares the loss on time.
  private func flagDelay(_ match: LiveMatch) -> Int64 {
    let side = match.state.turn
    return lag(of: side, in: match) + Lobby.flagSlack + otherNodesWait(side, in: match)
  }

  /// Does what is due in a match: starts an overdue clock, logs absences, ends or evicts the match.
  mutating func check(_ m: MatchID) {
    guard matches[m] != nil else { return }
    matches[m]?.startOverdueClock(membership.now.monotonic)
    if let retry = matches[m]?.work.retryAt, retry <= now.monotonic { matches[m]?.work.retryAt = nil }
    if isOutOfTouch { matches[m]?.work.retryAt = membership.now.monotonic + configuration.heartbeatInterval }
    updatePresence(m)
    // If a unit or a read of the match is in flight, its end sets the timer again.
    guard let match = matches[m], match.isSettled else { return }
    guard match.work.retryAt == nil else { return arm(m) }
    if match.isOver, let at = match.forgetAt, at <= now.monotonic { return evictMatch(m) }
    guard let due = match.due(flagDelay: flagDelay(match), now, configuration) else { return arm(m) }
    submit(draft(match, due), .itself)
  }

  mutating func evictMatch(_ m: MatchID) {
    guard let match = matches[m] else { return }
    matches.remove(m)
    for id in match.watchers { connections.unwatch(m, id) }
    for (id, request) in match.work.waiting { resumeConnection(id) { $0.refuse(id, request.re, .busy) } }
    for account in match.accounts { evictAccount(account) }
  }

  mutating func subscribe(_ m: MatchID, _ account: Int64, _ session: String) {
    guard let match = matches[m], let side = match.side(of: account),
      sessions[session]?.games.contains(match.state.terms.rules) == true
    else { return }
    matches[m]?.add(session, to: side)
    matches[m]?.presence[side].hasLeft = false
    matches[m]?.presence[side].leftCleanly = false
    if match.presence[side].isAway { updatePresence(m) }
  }

  /// Logs that a side has left or come back, if the log does not say so yet.
  mutating func updatePresence(_ m: MatchID) {
    // Called for each move, mostly without effect: test before copying the match.
    guard matches[m]?.missesSomebody == true, let match = matches[m], match.state.phase == .live, match.isSettled,
      match.work.retryAt.map({ $0 <= now.monotonic }) ?? true
    else { return }
    let isAlone = membership.isAlone
    for side in Player.allCases {
      let isHere = !sessions.connections(of: side, in: match).isEmpty
      switch match.presenceChange(of: side, isHere: isHere, isAlone: isAlone) {
      case .log(let kind):
        let event = MatchEvent(at: now.wall, side: side, kind)
        return submit(Draft(appending: [event], to: match), .itself)
      case .forget: matches[m]?.presence[side].hasLeft = false
      case .mark:
        matches[m]?.mark(side, isHere: isHere, membership.now.monotonic, configuration)
        if !isHere { tell(m) { [configuration] in $0.gone(side, $1, configuration) } }
        arm(m)
      case nil: break
      }
    }
  }

  /// A player who is not connected here has left, unless there are other nodes: then a presence check finds out.
  mutating func checkAbsence(of side: Player, in m: MatchID) {
    if membership.isAlone {
      matches[m]?.presence[side].hasLeft = true
    } else {
      matches.schedulePresenceCheck(m, now.monotonic)
    }
  }

  /// The sides that sent `bye` to this node and have a `gone` among these events, which are not folded yet.
  func byes(in events: [MatchEvent], of m: MatchID) -> [Player] {
    events.compactMap { if case .gone = $0.kind { $0.side } else { nil } }
      .filter { matches[m]?.presence[$0].leftCleanly == true }
  }

  /// Shortens the time that a side may stay absent, because it sent `bye` at another node.
  mutating func saidBye(_ side: Player, _ m: MatchID) {
    guard let match = matches[m] else { return }
    guard match.presence[side].isAway else {
      // The side's `gone` event may not be folded yet: remember the `bye` until then.
      if match.work.isBehind || match.work.isBeingRead { matches[m]?.presence[side].leftCleanly = true }
      return
    }
    matches[m]?.presence[side].shortenGrace(configuration)
    tell(m) { [configuration] in $0.gone(side, $1, configuration) }
    arm(m)
  }
}
