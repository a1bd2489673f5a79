import MatchProtocol
import MatchStore
import TicTacToe

/// What time does to matches: clocks, absences, confirmations, expiry.
extension Lobby {
  /// The clock of the side to move begins to run: its opponent's move, or the start, has been written to it.
  mutating func startClock(_ m: MatchID) {
    guard let match = matches[m], match.state.phase == .live, match.turnStarted == nil, match.waitsUntil == nil else {
      return
    }
    matches[m]?.turnStarted = now.steady
    arm(m)
  }

  /// What a side's flag is forgiven for the network.
  private func lag(of side: Player, in match: CachedMatch) -> Int64 {
    var most = 0
    for session in match.followers[side] {
      if let id = sessions[session]?.connection { most = max(most, connections[id]?.roundTrip ?? 0) }
    }
    return Int64(min(Limits.lag, most))
  }

  /// Sets the timer of a match to the next instant at which something may be due.
  mutating func arm(_ m: MatchID) {
    guard let match = matches[m], let due = nextDue(match) else { return }
    if let set = match.timerAt, set <= due, set > now.steady { return }
    matches[m]?.timerAt = due
    timers.set(.match(m), at: max(due, now.steady + 1))
  }

  private func nextDue(_ match: CachedMatch) -> Int64? {
    switch match.state.phase {
    case .open: return match.codeDies
    case .confirming: return match.confirmBy
    case .over: return match.forgetAt
    case .live:
      var due = match.waitsUntil ?? .max
      if let deadline = match.deadline(configuration) {
        due = min(due, deadline + lag(of: match.state.turn, in: match) + Lobby.flagSlack)
      }
      guard match.state.bothMoved else { return due == .max ? nil : due }
      switch (match.claimableAt(over: .x, configuration), match.claimableAt(over: .o, configuration)) {
      // Once both are away for good the clock decides, if there is one.
      case (let x?, let o?): if match.state.terms.clock == nil { due = min(due, max(x, o)) }
      case (let at?, nil), (nil, let at?): due = min(due, at + Int64(configuration.claimByItself))
      case (nil, nil): break
      }
      return due == .max ? nil : due
    }
  }

  /// Looks at a match whose timer rang.
  mutating func check(_ m: MatchID) {
    guard var match = matches[m] else { return }
    match.timerAt = nil
    matches[m]?.timerAt = nil
    var draft = Draft()
    switch match.state.phase {
    case .over:
      if let at = match.forgetAt, at <= now.steady { return forget(match) }
    case .open:
      if let dies = match.codeDies, dies <= now.steady { end(nil, .aborted, &match, &draft) }
    case .confirming:
      if let by = match.confirmBy, by <= now.steady { return fallApart(match) }
    case .live:
      checkLive(&match, &draft)
    }
    if let waits = match.waitsUntil, waits <= now.steady {
      match.waitsUntil = nil
      match.turnStarted = now.steady
    }
    matches[m] = match
    finish(draft)
    arm(m)
  }

  private mutating func checkLive(_ match: inout CachedMatch, _ draft: inout Draft) {
    if let deadline = match.deadline(configuration),
      deadline + lag(of: match.state.turn, in: match) + Lobby.flagSlack <= now.steady
    {
      return outOfTime(&match, &draft)
    }
    guard match.state.bothMoved else { return }
    let overdue = Player.allCases.filter { side in
      match.claimableAt(over: side, configuration).map { $0 <= now.steady } ?? false
    }
    if overdue.count == 2 {
      // Nobody is left to claim: a clock decides in its time; without one there is nothing to decide.
      if match.state.terms.clock == nil { end(nil, .aborted, &match, &draft) }
    } else if let absent = overdue.first, match.awaySince[absent.opponent] == nil,
      let at = match.claimableAt(over: absent, configuration),
      at + Int64(configuration.claimByItself) <= now.steady
    {
      end(.win(absent.opponent), .gone, &match, &draft)
    }
  }

  mutating func forget(_ match: CachedMatch) {
    setListed(match, nil)
    matches[match.id] = nil
    for account in [match.record.x, match.record.o, match.record.opener].compactMap({ $0 }) {
      matchesOf[account]?.removeAll { $0 == match.id }
      if matchesOf[account]?.isEmpty == true { matchesOf[account] = nil }
    }
    for id in match.watchers { connections[id]?.watching.removeAll { $0 == match.id } }
    guard cluster != nil else { return }
    for account in [match.record.x, match.record.o, match.record.opener] {
      if let account { release(account: account) }
    }
  }

  /// Logs who came and went, if that changed.
  mutating func updatePresence(_ m: MatchID, clean: Bool) {
    guard var match = matches[m], match.state.phase == .live else { return }
    var draft = Draft()
    var hasChanged = false
    for side in Player.allCases {
      let isHere = !connections(of: side, in: match).isEmpty
      guard isHere == match.away[side] else { continue }
      let isLogged = match.presences < CachedMatch.mostPresences
      match.away[side] = !isHere
      hasChanged = true
      if isHere {
        if let since = match.awaySince[side] { match.awayBefore[side] += Int(now.steady - since) }
        match.awaySince[side] = nil
        if isLogged { log([MatchEvent(at: now.wall, side: side, .back)], &match, &draft) }
        if match.waitsUntil != nil, match.state.turn == side {
          match.waitsUntil = nil
          match.turnStarted = now.steady
        }
      } else {
        match.awaySince[side] = now.steady
        match.graceNow[side] = clean ? configuration.graceAfterBye : configuration.grace
        if isLogged { log([MatchEvent(at: now.wall, side: side, .gone)], &match, &draft) }
        let wait = Int((match.claimableAt(over: side, configuration) ?? now.steady) - now.steady)
        let line = ServerMessage.gone(m, side, claimIn: wait).bytes()
        for id in connections(of: side.opponent, in: match) { draft.lines.append((id, line, .essential)) }
      }
    }
    guard hasChanged else { return }
    matches[m] = match
    finish(draft)
    arm(m)
  }

  // MARK: confirmations

  mutating func confirm(_ m: MatchID, _ account: AccountRecord, _ id: ConnectionID, _ re: String?) {
    guard var match = matches[m], let side = match.side(of: account.id) else {
      return refuse(id, re, .notFound, "there is no such match of yours")
    }
    if match.state.confirmed[side], match.state.phase != .over {
      return answer(.ok(m, seq: nil), to: id, re: re, after: match.issued)
    }
    guard match.state.phase == .confirming else { return refuse(id, re, .over, "too late to confirm", match) }
    var draft = Draft()
    log([MatchEvent(at: now.wall, side: side, .confirm)], &match, &draft)
    let isLive = match.state.phase == .live
    matches[m] = match
    finish(draft)
    send(.ok(m, seq: match.state.seq), to: id, re: re)
    if isLive {
      matches[m]?.tickets = []
      startsWhenDurable.append((issued, m))
      updatePresence(m, clean: false)
    }
    arm(m)
  }

  /// Not both confirmed: the match is nothing, and whoever did returns to the queue as if nothing had been.
  private mutating func fallApart(_ unconfirmed: CachedMatch) {
    var match = unconfirmed
    let confirmed = match.state.confirmed
    var draft = Draft()
    end(nil, .aborted, &match, &draft)
    match.tickets = []
    matches[match.id] = match
    finish(draft)
    arm(match.id)
    for ticket in unconfirmed.tickets {
      guard let side = match.side(of: ticket.account) else { continue }
      forget(ticket.seek.key, ticket.account)
      if confirmed[side] { giveBack(ticket, after: match.id) }
    }
  }
}
