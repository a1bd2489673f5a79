import MatchProtocol
import MatchStore
import TicTacToe

extension Lobby {
  /// Milliseconds by which a loss on time is declared late: a move decoded in time may still wait to be handled.
  static let flagSlack: Int64 = 25

  mutating func act(_ action: MatchAction, _ mid: String?, _ match: LiveMatch, _ call: Call) throws(Refusal) {
    let (m, id) = (match.id, call.id)
    guard let side = match.side(of: call.account.id) else {
      throw Refusal(.forbidden, "you do not play in this match")
    }
    if let mid, let known = match.log.answer(to: mid, of: side) {
      guard known.action == action else {
        throw Refusal(.midReused, "this mid was used for another command", showing: m)
      }
      replies.counts.repeated += 1
      return send(.ok(m, seq: known.seq), to: id, re: call.re)
    }
    guard !isBusy else { throw .busy }
    guard match.isSettled else { return wait(call.request, m, id) }
    if let session = connections[id]?.session { subscribe(m, call.account.id, session) }
    // If subscribing has submitted a `back` event, the command waits until that event is stored.
    guard matches[m]?.work.unit == nil else { return wait(call.request, m, id) }
    let lag = Int64(min(connections[id]?.roundTrip ?? 0, Limits.lag))
    let command = LiveMatch.Command(
      action: action, side: side, mid: mid, at: call.at, lag: lag, mayLoseOnTime: !isOutOfTouch)
    switch try match.decide(command, now, configuration) {
    case .isTooLate:
      // First store the loss on time. The command waits and is then refused, because the match is over.
      wait(call.request, m, id)
      submit(draft(match, match.outOfTime(now)), .itself)
    case .rematch: submit(try rematch(side, mid, match, call), match, call)
    case let decision: submit(draft(match, decision), match, call)
    }
  }

  /// Submits the unit of a command, after which the command's connection handles its next request.
  mutating func submit(_ draft: Draft, _ match: LiveMatch, _ call: Call) {
    connections.beginWait(call.id)
    submit(draft, .command(call.id, call.line, at: call.at, seq: match.state.seq + 1))
  }

  mutating func draft(_ match: LiveMatch, _ decision: LiveMatch.Decision) -> Draft {
    switch decision {
    case .append(let events): Draft(match, events)
    case .end(let outcome, let reason, let events):
      Draft(
        ending: match, outcome, reason, first: events, accounts, at: now.wall, ended: matches.endMoment(now.wall))
    case .rematch, .isTooLate: preconditionFailure("only events make a unit")
    }
  }

  private mutating func rematch(
    _ side: Player, _ mid: String?, _ match: LiveMatch, _ call: Call
  ) throws(Refusal) -> Draft {
    guard !isDraining else { throw .draining }
    try requireRoom(for: call.account.id)
    guard let until = match.rematchUntil, now.monotonic <= until, match.record.x != nil else {
      let text = "a rematch can be asked for within \(configuration.rematchWithin / 1000) s"
      throw Refusal(.over, text, showing: match.id)
    }
    let agreed = match.state.wantsRematch[side.opponent]
    guard !agreed || match.account(at: side.opponent).map(isFull) != true else {
      throw Refusal(Refusal.full.code, Refusal.full.text, showing: match.id)
    }
    let next = agreed ? MatchID(using: &random) : nil
    let event = MatchEvent(at: now.wall, side: side, mid: mid, .rematch(next: next))
    let asked = Draft(match, [event])
    guard let next else { return asked }
    guard let x = match.record.o.flatMap({ accounts[$0] }), let o = match.record.x.flatMap({ accounts[$0] }) else {
      throw Refusal(.over, "your opponent's account no longer exists", showing: match.id)
    }
    var record = MatchRecord(id: next, x: x.id, o: o.id, created: now.wall)
    (record.opener, record.code) = (match.record.opener, match.record.code)
    let bots = Sides(x: isBot(.o, in: match), o: isBot(.x, in: match))
    var begun = Draft(
      starting: LiveMatch(record), Sides(x: x, o: o), bots: bots, match.state.terms, at: now.wall, previous: match.id,
      station: match.state.nextStation)
    let living = Set(otherNodes.map(\.id))
    begun.unit.logs[0].nodes = ([node] + living.intersection(match.nodes)).sorted()
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
      if let id = sessions[session]?.connection { introduce(m, to: id, side) }
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
