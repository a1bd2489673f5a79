import MatchProtocol
import MatchStore
import TicTacToe

extension Lobby {
  /// Milliseconds by which a loss on time is declared late: a move decoded in time may still wait to be handled.
  static let flagSlack: Int64 = 25

  mutating func act(_ action: MatchAction, _ mid: String?, _ match: LiveMatch, _ command: ClientCommand) throws(Refusal)
  {
    let (m, id) = (match.id, command.id)
    guard let side = match.side(of: command.account.id) else {
      throw Refusal(.forbidden, "you do not play in this match")
    }
    if let mid, let known = match.log.answer(to: mid, of: side) {
      guard known.action == action else {
        throw Refusal(.midReused, "this mid was used for another command", showing: m)
      }
      replies.counts.repeated += 1
      return send(.ok(m, seq: known.seq), to: id, re: command.re)
    }
    guard !isBusy else { throw .busy }
    guard match.isSettled else { return wait(command.request, m, id) }
    subscribe(m, command.account.id, command.session.id)
    // If subscribing has submitted a `back` event, the command waits until that event is stored.
    guard matches[m]?.work.unit == nil else { return wait(command.request, m, id) }
    let lag = Int64(min(connections[id]?.roundTrip ?? 0, Limits.lag))
    let decided = LiveMatch.Command(
      action: action, side: side, mid: mid, at: command.at, lag: lag, mayLoseOnTime: !isOutOfTouch)
    switch try match.decide(decided, now, configuration) {
    case .isTooLate:
      // First store the loss on time. The command waits and is then refused, because the match is over.
      wait(command.request, m, id)
      submit(draft(match, match.outOfTime(now)), .itself)
    case .rematch: submit(try rematch(side, mid, match, command), match, command)
    case .change(let change): submit(draft(match, change), match, command)
    }
  }

  /// Submits the unit of a command. The connection's later requests wait for the verdict.
  mutating func submit(_ draft: Draft, _ match: LiveMatch, _ command: ClientCommand) {
    connections.beginWait(command.id)
    submit(draft, .command(command, seq: match.state.seq + 1))
  }

  mutating func draft(_ match: LiveMatch, _ change: LiveMatch.Change) -> Draft {
    switch change {
    case .append(let events): Draft(appending: events, to: match)
    case .end(let outcome, let reason, let events): draftEnd(of: match, outcome, reason, first: events)
    }
  }

  mutating func draftEnd(
    of match: LiveMatch, _ outcome: Outcome?, _ reason: MatchEvent.Reason, first events: [MatchEvent] = [],
    aside: String? = nil
  ) -> Draft {
    Draft(
      ending: match, outcome, reason, first: events, aside: aside, accounts, at: now.wall,
      ended: matches.endMoment(now.wall))
  }

  private mutating func rematch(
    _ side: Player, _ mid: String?, _ match: LiveMatch, _ command: ClientCommand
  ) throws(Refusal) -> Draft {
    guard !isDraining else { throw .draining }
    try requireFreeMatch(for: command.account.id)
    guard let until = match.rematchUntil, now.monotonic <= until, match.record.x != nil else {
      let text = "a rematch can be asked for within \(configuration.rematchWithin / 1000) s"
      throw Refusal(.over, text, showing: match.id)
    }
    let agreed = match.state.wantsRematch[side.opponent]
    guard !agreed || match.account(at: side.opponent).map(isFull) != true else {
      throw Refusal.tooManyMatches.showing(match.id)
    }
    let next = agreed ? MatchID(using: &random) : nil
    let event = MatchEvent(at: now.wall, side: side, mid: mid, .rematch(next: next))
    let asked = Draft(appending: [event], to: match)
    guard let next else { return asked }
    guard let x = match.record.o.flatMap({ accounts[$0] }), let o = match.record.x.flatMap({ accounts[$0] }) else {
      throw Refusal(.over, "your opponent's account no longer exists", showing: match.id)
    }
    var record = MatchRecord(id: next, x: x.id, o: o.id, created: now.wall)
    (record.opener, record.code) = (match.record.opener, match.record.code)
    let bots = Sides(x: isBot(.o, in: match), o: isBot(.x, in: match))
    let living = Set(otherNodes.map(\.id))
    var begun = Draft(
      starting: LiveMatch(record), Sides(x: x, o: o), bots: bots, match.state.terms, at: now.wall,
      nodes: [node] + living.intersection(match.nodes), previous: match.id, station: match.state.nextStation)
    begun.add(asked.unit.logs[0], [event])
    return begun
  }

  /// Whether a side was a bot. Bots have named accounts but are marked as guests in the `start` event: this contradiction reveals them.
  private func isBot(_ side: Player, in match: LiveMatch) -> Bool {
    match.account(at: side).flatMap { accounts[$0] }.map { !$0.guest } == true
      && match.state.players?[side].guest == true
  }

  /// Subscribes a match's players at this node to the rematch, which is in memory already.
  mutating func goOver(from old: MatchID, to m: MatchID) {
    for (session, side) in swapSeats(from: old, to: m) {
      if let id = sessions[session]?.connection { tell(m) { $0.beginning(of: $1, to: id, side) } }
    }
    updatePresence(m)
  }

  /// Subscribes the sessions of a match to its rematch, with sides swapped; returns the newly subscribed sessions.
  @discardableResult mutating func swapSeats(from old: MatchID, to m: MatchID) -> [(session: String, side: Player)] {
    guard let before = matches[old], matches[m] != nil else { return [] }
    var new: [(session: String, side: Player)] = []
    for side in Player.allCases {
      for session in before.followers[side.opponent] where matches[m]?.add(session, to: side) == true {
        new.append((session, side))
      }
      guard matches[m]?.followers[side].isEmpty == true else { continue }
      // A player who left the old match at this node is absent in the rematch, too.
      let hasLeft = before.presence[side.opponent].isAway || before.presence[side.opponent].hasLeft
      if before.nodes.contains(node), hasLeft {
        matches[m]?.presence[side].hasLeft = true
      } else {
        checkAbsence(of: side, in: m)
      }
    }
    return new
  }
}
