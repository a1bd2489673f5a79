import MatchProtocol
import MatchStore
import TicTacToe

extension Lobby {
  /// Milliseconds by which a loss on time is declared late: a move decoded in time may still wait to be handled.
  static let flagSlack: Int64 = 25

  mutating func act(_ line: ClientLine, _ m: MatchID, _ account: AccountRecord, _ id: ConnectionID, _ at: Int64) {
    guard case .act(_, let action, let mid) = line.message, let match = matches[m] else { return }
    guard let side = match.side(of: account.id) else {
      return refuse(id, line.id, .forbidden, "you do not play in this match")
    }
    if let mid, let known = match.log.answer(to: mid, of: side) {
      guard known.action == action else {
        return refuse(id, line.id, .midReused, "this mid was used for another command", match)
      }
      replies.counts.repeated += 1
      return send(.ok(m, seq: known.seq), to: id, re: line.id)
    }
    guard !isBusy else { return refuseBusy(id, line.id) }
    guard match.isSettled else { return wait(.line(line, at: at), m, id) }
    if let session = connections[id]?.session { subscribe(m, account.id, session) }
    // If subscribing has submitted a `back` event, the command waits until that event is stored.
    guard matches[m]?.work.unit == nil else { return wait(.line(line, at: at), m, id) }
    let lag = Int64(min(connections[id]?.roundTrip ?? 0, Limits.lag))
    let command = LiveMatch.Command(
      action: action, side: side, mid: mid, at: at, lag: lag, mayLoseOnTime: !isOutOfTouch)
    switch match.decide(command, now, configuration) {
    case .refuse(let code, let text): refuse(id, line.id, code, text, match)
    case .isTooLate:
      // First store the loss on time. The command waits and is then refused, because the match is over.
      wait(.line(line, at: at), m, id)
      submit(draft(match, match.outOfTime(now)), .itself)
    case .rematch:
      if let draft = rematch(side, mid, match, account, id, line.id) { submit(draft, of: line, match, id, at) }
    case let decision: submit(draft(match, decision), of: line, match, id, at)
    }
  }

  mutating func submit(_ draft: Draft, of line: ClientLine, _ match: LiveMatch, _ id: ConnectionID, _ at: Int64) {
    connections[id]?.outstanding += 1
    submit(draft, .command(id, line, at: at, seq: match.state.seq + 1))
  }

  mutating func draft(_ match: LiveMatch, _ decision: LiveMatch.Decision) -> Draft {
    switch decision {
    case .append(let events): draft(match, events)
    case .end(let outcome, let reason, let events): draftEnd(match, outcome, reason, first: events)
    case .rematch, .isTooLate, .refuse: preconditionFailure("only events make a unit")
    }
  }

  private mutating func rematch(
    _ side: Player, _ mid: String?, _ match: LiveMatch, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) -> Draft? {
    guard !isDraining else {
      refuse(id, re, .draining, "the server is stopping")
      return nil
    }
    guard hasRoomForMatch(account, id, re) else { return nil }
    guard let until = match.rematchUntil, now.monotonic <= until, match.record.x != nil else {
      refuse(id, re, .over, "a rematch can be asked for within \(configuration.rematchWithin / 1000) s", match)
      return nil
    }
    let agreed = match.state.wantsRematch[side.opponent]
    guard !agreed || match.account(at: side.opponent).map(isFull) != true else {
      refuse(id, re, .occupied, Lobby.isFull, match)
      return nil
    }
    let next = agreed ? MatchID(using: &random) : nil
    let event = MatchEvent(at: now.wall, side: side, mid: mid, .rematch(next: next))
    let asked = draft(match, [event])
    guard let next else { return asked }
    guard let x = match.record.o.flatMap({ accounts[$0] }), let o = match.record.x.flatMap({ accounts[$0] }) else {
      refuse(id, re, .over, "your opponent's account no longer exists", match)
      return nil
    }
    var record = MatchRecord(id: next, x: x.id, o: o.id, created: now.wall)
    (record.opener, record.code) = (match.record.opener, match.record.code)
    let bots = Sides(x: isBot(.o, in: match), o: isBot(.x, in: match))
    var begun = begin(
      LiveMatch(record), Sides(x: x, o: o), bots: bots, match.state.terms, previous: match.id,
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

  // MARK: making matches

  /// Drafts the unit that begins a match: the `start` event and the rated slots. `match` is a new match or a room.
  func begin(
    _ match: LiveMatch, _ players: Sides<AccountRecord>, bots: Sides<Bool>, _ terms: MatchTerms,
    previous: MatchID? = nil, station: Int? = nil, keys: [String] = []
  ) -> Draft {
    let seats = Sides(x: info(players.x, bot: bots.x, terms.rules), o: info(players.o, bot: bots.o, terms.rules))
    let start = MatchEvent.Kind.start(
      seats, terms, confirm: false, previous: previous, station: station, keys: keys)
    var draft = draft(match, [MatchEvent(at: now.wall, start)], record: match.record)
    var scores = Sides(x: AccountScore(account: players.x.id), o: AccountScore(account: players.o.id))
    (scores.x.xBalance, scores.o.xBalance) = (1, -1)
    draft.unit.scores = [scores.x, scores.o].sorted { $0.account < $1.account }
    if terms.needsSlot {
      draft.unit.slots = [players.x, players.o].sorted { $0.id < $1.id }
        .map { .init(account: $0.id, terms.rules, $0[terms.rules].rating) }
    }
    return draft
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

extension MatchTerms {
  /// Whether a match occupies its players' rated slots: an account plays one such match at a time.
  var needsSlot: Bool { rated || tournament != nil }
}
