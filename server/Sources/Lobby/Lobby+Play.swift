import MatchProtocol
import MatchStore
import TicTacToe

extension Lobby {
  /// Milliseconds by which a time forfeit is delayed, for moves decoded before it and not yet processed.
  static let flagSlack: Int64 = 25

  mutating func act(_ line: ClientLine, _ m: MatchID, _ account: AccountRecord, _ id: ConnectionID, _ at: Int64) {
    guard case .act(_, let action, let mid) = line.message, let match = matches[m] else { return }
    guard let side = match.side(of: account.id) else {
      return refuse(id, line.id, .forbidden, "you do not play in this match")
    }
    if let mid, let known = match.answers[CachedMatch.key(side, mid)] {
      guard known.action == action else {
        return refuse(id, line.id, .midReused, "this mid was used for another command", match)
      }
      counts.repeated += 1
      return send(.ok(m, seq: known.seq), to: id, re: line.id)
    }
    guard !isBusy else { return refuseBusy(id, line.id) }
    guard match.isSettled else { return wait(.line(line, at: at), m, id) }
    if let session = connections[id]?.session { subscribe(m, account.id, session) }
    // The `back` event was submitted first; this command comes after it.
    guard matches[m]?.unit == nil else { return wait(.line(line, at: at), m, id) }
    let command = Command(side: side, mid: mid, id: id, re: line.id, at: at)
    let draft =
      switch action {
      case .move(let ply, let cell): move(ply, cell, command, match)
      case .draw(let what, let offer): draw(what, offer, command, match)
      case .resign: resign(command, match)
      case .abort: abort(command, match)
      case .claim: claim(command, match)
      case .rematch: rematch(command, match)
      }
    guard let draft else { return }
    connections[id]?.outstanding += 1
    submit(draft, .command(id, line, at: at, seq: match.state.seq + 1))
  }

  /// A player's command and the address of its answer.
  struct Command {
    let side: Player
    let mid: String?
    let id: ConnectionID
    let re: String?
    let at: Int64
  }

  /// Refuses unless the match is being played.
  private mutating func requireLive(_ command: Command, _ match: CachedMatch) -> Bool {
    switch match.state.phase {
    case .live: return true
    case .over: refuse(command.id, command.re, .over, "the match is over", match)
    case .open, .confirming: refuse(command.id, command.re, .rules, "the match has not begun", match)
    }
    return false
  }

  /// Refuses a command with the current state.
  private mutating func turnDown(_ command: Command, _ code: ErrorCode, _ why: String, _ match: CachedMatch) -> Draft? {
    refuse(command.id, command.re, code, why, match)
    return nil
  }

  private mutating func move(_ ply: Int?, _ name: CellName, _ command: Command, _ match: CachedMatch) -> Draft? {
    let side = command.side
    let (rules, position) = (match.state.terms.rules, match.state.position)
    if let ply, ply != position.plies, match.state.phase != .open {
      return turnDown(command, .stalePly, "ply \(ply) is not the current one, \(position.plies)", match)
    }
    guard requireLive(command, match) else { return nil }
    guard match.state.turn == side else {
      return turnDown(command, .rules, "it is not your turn", match)
    }
    guard let cell = rules.cell(named: name.text) else {
      return turnDown(
        command, .rules, "\(name.text) is no cell of \(rules.rawValue), which has \(rules.cellRange)", match)
    }
    guard position.moves.contains(cell) else {
      return turnDown(command, .rules, "\(name.text) \(position.refusal(of: cell))", match)
    }
    let lag = Int64(min(connections[command.id]?.roundTrip ?? 0, Limits.lag))
    if let deadline = match.deadline, command.at > deadline + lag, !isOutOfTouch {
      // Submit the forfeit first; the waiting move is then refused because the match is over.
      wait(
        .line(
          ClientLine(id: command.re, .act(match.id, .move(ply: ply, cell: name), mid: command.mid)), at: command.at),
        match.id, command.id)
      submit(outOfTime(match), .itself)
      return nil
    }
    let spent = match.turnStarted.map { max(0, Int(command.at - $0 - lag)) } ?? 0
    var clocks = match.state.clocks
    if let clock = match.state.terms.clock, match.state.bothMoved {
      let before = clocks?[side] ?? 0
      clocks?[side] = max(0, before - spent) + clock.increment
    }
    let event = MatchEvent(
      at: now.wall, side: side, mid: command.mid, clocks: clocks,
      .move(ply: position.plies, cell: name, spent: spent))
    if let outcome = VariantMove(cell, in: position).outcome {
      return draftEnd(match, outcome, .normal, first: [event])
    }
    return draft(match, [event])
  }

  private mutating func draw(
    _ action: MatchEvent.DrawAction, _ named: Int?, _ command: Command, _ match: CachedMatch
  ) -> Draft? {
    guard requireLive(command, match) else { return nil }
    let offer = match.state.offer
    func event(_ offer: Int?) -> MatchEvent {
      MatchEvent(at: now.wall, side: command.side, mid: command.mid, .draw(action, offer: offer))
    }
    switch action {
    case .offer:
      guard offer == nil, match.state.offersMade[command.side] < 2 else {
        let why = offer == nil ? "you have made your two draw offers" : "a draw offer stands"
        return turnDown(command, .rules, why, match)
      }
      return draft(match, [event(nil)])
    case .accept, .decline:
      guard let offer, offer.side == command.side.opponent, named == nil || named == offer.seq else {
        return turnDown(command, .rules, "there is no such draw offer to answer", match)
      }
      return action == .accept
        ? draftEnd(match, .draw, .agreement, first: [event(offer.seq)]) : draft(match, [event(offer.seq)])
    }
  }

  private mutating func resign(_ command: Command, _ match: CachedMatch) -> Draft? {
    guard requireLive(command, match) else { return nil }
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .resign)
    return draftEnd(match, .win(command.side.opponent), .resign, first: [event])
  }

  private mutating func abort(_ command: Command, _ match: CachedMatch) -> Draft? {
    guard !match.isOver else {
      return turnDown(command, .over, "the match is over", match)
    }
    guard !match.state.bothMoved else {
      return turnDown(command, .rules, "both have moved; resign or offer a draw", match)
    }
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .abort)
    return draftEnd(match, nil, .aborted, first: [event])
  }

  private mutating func claim(_ command: Command, _ match: CachedMatch) -> Draft? {
    guard requireLive(command, match) else { return nil }
    let absent = command.side.opponent
    guard match.state.bothMoved, let at = match.claimableAt(over: absent, configuration), at <= now.steady else {
      let text = match.awaySince[absent] == nil ? "your opponent is here" : "your opponent may still come back"
      return turnDown(command, .rules, text, match)
    }
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .claim)
    return draftEnd(match, .win(command.side), .gone, first: [event])
  }

  private mutating func rematch(_ command: Command, _ match: CachedMatch) -> Draft? {
    guard match.isOver else {
      return turnDown(command, .rules, "a rematch comes after the end", match)
    }
    guard match.state.next == nil, !match.state.wantsRematch[command.side] else {
      return turnDown(command, .rules, "the rematch is asked for already", match)
    }
    guard !isDraining else {
      refuse(command.id, command.re, .draining, "the server is stopping")
      return nil
    }
    guard let account = account(of: command.id), mayPlay(account, command.id, command.re) else { return nil }
    guard let until = match.rematchUntil, now.steady <= until, match.record.x != nil else {
      return turnDown(command, .over, "a rematch can be asked within \(configuration.rematchWithin / 1000) s", match)
    }
    let agreed = match.state.wantsRematch[command.side.opponent]
    guard !agreed || match.account(at: command.side.opponent).map(isFull) != true else {
      return turnDown(command, .occupied, Lobby.isFull, match)
    }
    let next = agreed ? MatchID(using: &random) : nil
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .rematch(next: next))
    let asked = draft(match, [event])
    guard let next else { return asked }
    guard let x = match.record.o.flatMap({ accounts[$0] }), let o = match.record.x.flatMap({ accounts[$0] }) else {
      return turnDown(command, .over, "your opponent is no more", match)
    }
    var record = MatchRecord(id: next, x: x.id, o: o.id, created: now.wall)
    (record.opener, record.code) = (match.record.opener, match.record.code)
    let bots = Sides(x: isBot(.o, in: match), o: isBot(.x, in: match))
    var begun = begin(CachedMatch(record), Sides(x: x, o: o), bots: bots, match.state.terms, previous: match.state)
    let living = Set(otherNodes.map(\.id))
    begun.unit.logs[0].nodes = ([node] + living.intersection(match.nodes)).sorted()
    begun.add(asked.unit.logs[0], [event])
    return begun
  }

  /// Whether a side was a bot in a match: its `start` event marks a named account as a guest. Holds at every node.
  private func isBot(_ side: Player, in match: CachedMatch) -> Bool {
    match.account(at: side).flatMap { accounts[$0] }.map { !$0.guest } == true
      && match.state.players?[side].guest == true
  }

  /// Drafts the loss on time of the side to move, or an abort if a first move is missing.
  mutating func outOfTime(_ match: CachedMatch) -> Draft {
    guard match.state.bothMoved else { return draftEnd(match, nil, .aborted) }
    var clocks = match.state.clocks
    clocks?[match.state.turn] = 0
    let loser = match.state.turn
    return draftEnd(
      match, .win(loser.opponent), .time, first: [MatchEvent(at: now.wall, side: loser, clocks: clocks, .flag)])
  }

  // MARK: making matches

  /// Drafts the first events of a match between two players; `match` is new or a room.
  func begin(
    _ match: CachedMatch, _ players: Sides<AccountRecord>, bots: Sides<Bool>, _ terms: MatchTerms,
    previous: MatchState? = nil, keys: [String] = []
  ) -> Draft {
    let seats = Sides(x: info(players.x, bot: bots.x, terms.rules), o: info(players.o, bot: bots.o, terms.rules))
    let start = MatchEvent.Kind.start(
      seats, terms, confirm: false, previous: previous?.id, station: previous?.nextStation, keys: keys)
    var draft = draft(match, [MatchEvent(at: now.wall, start)], record: match.record)
    var scores = Sides(x: AccountScore(account: players.x.id), o: AccountScore(account: players.o.id))
    (scores.x.xBalance, scores.o.xBalance) = (1, -1)
    draft.unit.scores = [scores.x, scores.o].sorted { $0.account < $1.account }
    if terms.rated {
      draft.unit.slots = [players.x, players.o].sorted { $0.id < $1.id }
        .map { .init(account: $0.id, terms.rules, $0[terms.rules].rating) }
    }
    return draft
  }

  /// Subscribes the players of a match here to its rematch, which is in memory already.
  mutating func goOver(from old: MatchID, to m: MatchID) {
    for (session, side) in swapSeats(from: old, to: m) {
      if let id = sessions[session]?.connection { introduce(m, to: id, side) }
    }
    updatePresence(m)
  }

  /// Subscribes the sessions that played a match to its rematch, with sides swapped; returns those that were not subscribed yet.
  @discardableResult mutating func swapSeats(from old: MatchID, to m: MatchID) -> [(session: String, side: Player)] {
    guard let before = matches[old], matches[m] != nil else { return [] }
    var new: [(session: String, side: Player)] = []
    for side in Player.allCases {
      for session in before.followers[side.opponent] where matches[m]?.add(session, to: side) == true {
        new.append((session, side))
      }
      guard matches[m]?.followers[side].isEmpty == true else { continue }
      // A player who left the old match at this node is absent in the rematch, too.
      let hasLeft = before.away[side.opponent] || before.hasLeft[side.opponent]
      if before.nodes.contains(node), hasLeft {
        matches[m]?.hasLeft[side] = true
      } else {
        checkAbsence(of: side, in: m)
      }
    }
    return new
  }
}
