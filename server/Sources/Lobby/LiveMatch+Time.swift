import MatchProtocol
import MatchStore
import TicTacToe

/// Changes of a match by time and by players who come and go: clocks, absences and the match's timer.
extension LiveMatch {
  /// Does what is due: starts an overdue clock, logs absences or ends the match. Returns whether the match may leave memory.
  mutating func check(_ context: MatchContext, _ outputs: inout [MatchOutput]) -> Bool {
    let now = context.now
    startOverdueClock(now)
    if let retry = work.retryAt, retry <= now { work.retryAt = nil }
    if context.nodes.isOutOfTouch { work.retryAt = now + context.configuration.heartbeatInterval }
    updatePresence(context, &outputs)
    // If a unit or a read of the match is in flight, its end sets the timer again.
    guard isSettled else { return false }
    if work.retryAt == nil {
      if isOver, let at = forgetAt, at <= now { return true }
      if let due = due(flagDelay: flagDelay(context), context.nodes.now, context.configuration) {
        propose(due, &outputs)
        return false
      }
    }
    arm(context, &outputs)
    return false
  }

  /// Sets the match's timer to its `nextDue`, unless an earlier timer of the match is pending.
  mutating func arm(_ context: MatchContext, _ outputs: inout [MatchOutput]) {
    guard let due = nextDue(flagDelay: flagDelay(context), context.now, context.configuration) else { return }
    let at = max(due, context.now + 1)
    if let next = timers.last, next <= at { return }
    timers.append(at)
    outputs.append(.timer(id, at: at))
  }

  /// Milliseconds from the deadline of the side to move until this node declares the loss on time. If the side is connected to another
  /// node, that node acts first.
  private func flagDelay(_ context: MatchContext) -> Int64 {
    let side = state.turn
    let trips = followers[side].compactMap { context.people.connections[$0.connection]?.roundTrip }
    let isElsewhere = !isHere(side) && nodes.contains { $0 != context.nodes.node }
    return Int64(min(Limits.lag, trips.max() ?? 0)) + LiveMatch.flagSlack
      + (isElsewhere ? context.configuration.otherNodesWait : 0)
  }

  /// Milliseconds by which a loss on time is declared late: a move decoded in time may still wait to be handled.
  private static let flagSlack: Int64 = 25

  /// Has an event of the server's own stored. Until the verdict, no other event is decided.
  mutating func propose(_ change: Change, _ outputs: inout [MatchOutput]) {
    work.hasUnit = true
    outputs.append(.change(id, change))
  }

  // MARK: players

  /// Logs that a side has left or come back, if the log does not say so yet.
  mutating func updatePresence(_ context: MatchContext, _ outputs: inout [MatchOutput]) {
    // Called for each move, mostly without effect.
    guard missesSomebody, state.phase == .live, isSettled, work.retryAt.map({ $0 <= context.now }) ?? true else {
      return
    }
    for side in Player.allCases {
      switch presenceChange(of: side, isHere: isHere(side), isAlone: context.nodes.isAlone) {
      case .log(let kind): return propose(.append([MatchEvent(at: context.wall, side: side, kind)]), &outputs)
      case .forget: presence[side].hasLeft = false
      case .mark:
        mark(side, isHere: isHere(side), context.now, context.configuration)
        if !isHere(side) { tellGone(side, context, &outputs) }
        arm(context, &outputs)
      case nil: break
      }
    }
  }

  /// Subscribes a session of a player, if its client knows the game.
  mutating func subscribe(_ session: Session, _ context: MatchContext, _ outputs: inout [MatchOutput]) {
    guard let side = side(of: session.account), session.games.contains(state.terms.rules) else { return }
    add(session, to: side)
    (presence[side].hasLeft, presence[side].leftCleanly) = (false, false)
    if presence[side].isAway { updatePresence(context, &outputs) }
  }

  /// Removes a session that has ended. `clean`: its client sent `bye`. `isElsewhere`: the session may have been resumed at another node.
  /// Returns whether a presence check must find out if the player is still there.
  mutating func leave(
    _ session: Session, clean: Bool, isElsewhere: Bool, _ context: MatchContext, _ outputs: inout [MatchOutput]
  ) -> Bool {
    guard let side = side(of: session.account) else { return false }
    let hasPlayed = remove(session.id, from: side)
    guard !isHere(side) else { return false }
    // If the session did not play the match, or may be at another node, a presence check decides.
    guard hasPlayed, isOver || !isElsewhere else { return !isOver && !presence[side].isAway }
    (presence[side].hasLeft, presence[side].leftCleanly) = (true, clean)
    updatePresence(context, &outputs)
    return false
  }

  /// Shortens the time that a side may stay absent, because it sent `bye` at another node.
  mutating func sayBye(_ side: Player, _ context: MatchContext, _ outputs: inout [MatchOutput]) {
    guard presence[side].isAway else {
      // The side's `gone` event may not be folded yet: remember the `bye` until then.
      if work.isBehind || work.isBeingRead { presence[side].leftCleanly = true }
      return
    }
    presence[side].shortenGrace(context.configuration)
    tellGone(side, context, &outputs)
    arm(context, &outputs)
  }

  /// The sides that sent `bye` to this node and have a `gone` among these events, which are not folded yet.
  func byes(in events: [MatchEvent]) -> [Player] {
    events.compactMap { if case .gone = $0.kind { $0.side } else { nil } }.filter { presence[$0].leftCleanly }
  }

  /// Decides a presence check: logs `gone` for each player found absent, or `recovered` if both players are. `false` while it is undecided.
  mutating func recordAbsentPlayers(
    _ check: PresenceCheck, _ found: FollowedMatch, _ context: MatchContext, _ outputs: inout [MatchOutput]
  ) -> Bool {
    guard context.nodes.trustsHeartbeats, !context.nodes.isOutOfTouch else { return false }
    guard isInProgress else { return true }
    guard isSettled else { return false }
    // In the first 5 s of a check, a session at any node counts as present, even if it is not subscribed to the match yet.
    let isEarly = context.now - check.since < 5000
    let absent = Player.allCases.filter { side in
      guard let account = account(at: side), !isHere(side) else { return false }
      if isEarly { return found.here[account] == nil && context.people.sessions.of(account).isEmpty }
      return !context.nodes.mayPlayElsewhere(account, found)
    }
    if absent.count == 2, check.byAll || !presence.x.isAway && !presence.o.isAway {
      // The check ends when this event is folded.
      propose(.append([MatchEvent(at: context.wall, clocks: state.clocks, .recovered)]), &outputs)
      return false
    }
    guard state.phase == .live else { return false }
    for side in absent where !presence[side].isAway { presence[side].hasLeft = true }
    let isDone = unaccountedSides.allSatisfy(absent.contains) || !isEarly
    updatePresence(context, &outputs)
    return isDone
  }

  func tellGone(_ side: Player, _ context: MatchContext, _ outputs: inout [MatchOutput]) {
    outputs.append(.effects(goneLines(side, at: context.now, context.configuration)))
  }
}
