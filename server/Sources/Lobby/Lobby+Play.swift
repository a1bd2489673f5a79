import MatchProtocol
import MatchStore
import TicTacToe

/// Commands to a match.
extension Lobby {
  /// Milliseconds a fallen flag waits for a move that was decoded before it and is still on its way to the lobby.
  static let flagSlack: Int64 = 25

  mutating func act(_ line: ClientLine, _ account: AccountRecord, _ id: ConnectionID, _ at: Int64) {
    guard case .act(let wanted, let action, let mid) = line.message else { return }
    guard let m = wanted ?? onlyMatch(of: account, for: action) else {
      return refuse(id, line.id, .noMatch, "a bare command needs exactly one match; name it with m")
    }
    guard let match = matches[m] else { return load(m, line, id, at) }
    guard let side = match.side(of: account.id) else {
      return refuse(id, line.id, .forbidden, "you do not play in this match")
    }
    if let mid, let known = match.answers[CachedMatch.key(side, mid)] {
      guard known.action == action else {
        return refuse(id, line.id, .midReused, "this mid was used for another command", match)
      }
      counts.repeated += 1
      return answer(.ok(m, seq: known.seq), to: id, re: line.id, after: match.issued)
    }
    guard !isBusy else { return refuseBusy(id, line.id) }
    if let session = connections[id]?.session { follow(match, side, session) }
    // Taken out, so that changing it copies neither its log nor its answers; it is back before anything else looks.
    guard var current = matches.removeValue(forKey: m) else { return }
    let command = Command(side: side, mid: mid, id: id, re: line.id, at: at)
    var draft = Draft()
    let seq: Int?
    switch action {
    case .move(let ply, let cell): seq = move(ply, cell, command, &current, &draft)
    case .draw(let what, let offer): seq = draw(what, offer, command, &current, &draft)
    case .resign: seq = resign(command, &current, &draft)
    case .abort: seq = abort(command, &current, &draft)
    case .claim: seq = claim(command, &current, &draft)
    case .rematch: seq = rematch(command, &current, &draft)
    }
    matches[m] = current
    finish(draft)
    if let seq { send(.ok(m, seq: seq), to: id, re: line.id) }
    // Whoever asked for it may have left since.
    if case .rematch = action, seq != nil, let next = current.state.next { updatePresence(next, clean: false) }
    if case .move = action, seq != nil, !current.isOver { startsWhenDurable.append((issued, m)) }
    arm(m)
  }

  /// Who commands what, to be answered where.
  struct Command {
    let side: Player
    let mid: String?
    let id: ConnectionID
    let re: String?
    let at: Int64
  }

  /// The one match a bare command can mean: the only live one; for `rematch`, the one that ended last.
  private func onlyMatch(of account: AccountRecord, for action: MatchAction) -> MatchID? {
    let mine = matchesOf[account.id, default: []].compactMap { matches[$0] }
    if action == .rematch { return mine.filter(\.isOver).max { ($0.record.ended ?? 0) < ($1.record.ended ?? 0) }?.id }
    let live = mine.filter { $0.state.phase == .live || $0.state.phase == .confirming }
    return live.count == 1 ? live[0].id : nil
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

  private mutating func move(
    _ ply: Int?, _ name: CellName, _ command: Command, _ match: inout CachedMatch, _ draft: inout Draft
  ) -> Int? {
    let side = command.side
    let (rules, position) = (match.state.terms.rules, match.state.position)
    if let ply, ply != position.plies, match.state.phase != .open {
      refuse(command.id, command.re, .stalePly, "ply \(ply) is not the current one, \(position.plies)", match)
      return nil
    }
    guard requireLive(command, match) else { return nil }
    guard match.state.turn == side else {
      refuse(command.id, command.re, .rules, "it is not your turn", match)
      return nil
    }
    guard let cell = rules.cell(named: name.text) else {
      refuse(
        command.id, command.re, .rules, "\(name.text) is no cell of \(rules.rawValue), which has \(rules.cellRange)",
        match)
      return nil
    }
    guard position.moves.contains(cell) else {
      let why = rules == .ultimate ? position.refusal(of: cell) : "is taken"
      refuse(command.id, command.re, .rules, "\(name.text) \(why)", match)
      return nil
    }
    let lag = Int64(min(connections[command.id]?.roundTrip ?? 0, Limits.lag))
    if let deadline = match.deadline(configuration), command.at > deadline + lag {
      outOfTime(&match, &draft)
      matches[match.id] = match
      finish(draft)
      draft = Draft()
      refuse(command.id, command.re, .over, "your time was up before this move", match)
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
    match.turnStarted = nil
    match.waitsUntil = nil
    counts.moves += 1
    let seq = match.state.seq + 1
    if let outcome = VariantMove(cell, in: position).outcome {
      end(outcome, .normal, &match, &draft, first: [event])
    } else {
      log([event], &match, &draft)
    }
    return seq
  }

  private mutating func draw(
    _ action: MatchEvent.DrawAction, _ named: Int?, _ command: Command, _ match: inout CachedMatch, _ draft: inout Draft
  ) -> Int? {
    guard requireLive(command, match) else { return nil }
    let offer = match.state.offer
    func event(_ offer: Int?) -> MatchEvent {
      MatchEvent(at: now.wall, side: command.side, mid: command.mid, .draw(action, offer: offer))
    }
    let seq = match.state.seq + 1
    switch action {
    case .offer:
      guard offer == nil, match.state.offersMade[command.side] < 2 else {
        let why = offer == nil ? "you have made your two draw offers" : "a draw offer stands"
        refuse(command.id, command.re, .rules, why, match)
        return nil
      }
      log([event(nil)], &match, &draft)
    case .accept, .decline:
      guard let offer, offer.side == command.side.opponent, named == nil || named == offer.seq else {
        refuse(command.id, command.re, .rules, "there is no such draw offer to answer", match)
        return nil
      }
      if action == .accept {
        end(.draw, .agreement, &match, &draft, first: [event(offer.seq)])
      } else {
        log([event(offer.seq)], &match, &draft)
      }
    }
    return seq
  }

  private mutating func resign(_ command: Command, _ match: inout CachedMatch, _ draft: inout Draft) -> Int? {
    guard requireLive(command, match) else { return nil }
    let seq = match.state.seq + 1
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .resign)
    end(.win(command.side.opponent), .resign, &match, &draft, first: [event])
    return seq
  }

  private mutating func abort(_ command: Command, _ match: inout CachedMatch, _ draft: inout Draft) -> Int? {
    guard !match.isOver else {
      refuse(command.id, command.re, .over, "the match is over", match)
      return nil
    }
    guard !match.state.bothMoved else {
      refuse(command.id, command.re, .rules, "both have moved; resign or offer a draw", match)
      return nil
    }
    let seq = match.state.seq + 1
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .abort)
    end(nil, .aborted, &match, &draft, first: [event])
    return seq
  }

  private mutating func claim(_ command: Command, _ match: inout CachedMatch, _ draft: inout Draft) -> Int? {
    guard requireLive(command, match) else { return nil }
    let absent = command.side.opponent
    guard match.state.bothMoved, let at = match.claimableAt(over: absent, configuration), at <= now.steady else {
      let text = match.awaySince[absent] == nil ? "your opponent is here" : "your opponent may still come back"
      refuse(command.id, command.re, .rules, text, match)
      return nil
    }
    let seq = match.state.seq + 1
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .claim)
    end(.win(command.side), .gone, &match, &draft, first: [event])
    return seq
  }

  private mutating func rematch(_ command: Command, _ match: inout CachedMatch, _ draft: inout Draft) -> Int? {
    guard match.isOver else {
      refuse(command.id, command.re, .rules, "a rematch comes after the end", match)
      return nil
    }
    guard match.state.next == nil, !match.state.wantsRematch[command.side] else {
      refuse(command.id, command.re, .rules, "the rematch is asked for already", match)
      return nil
    }
    guard !isDraining else {
      refuse(command.id, command.re, .draining, "the server is stopping")
      return nil
    }
    guard let account = account(of: command.id), mayPlay(account, command.id, command.re) else { return nil }
    guard let until = match.rematchUntil, now.steady <= until, match.record.x != nil else {
      refuse(
        command.id, command.re, .over, "a rematch can be asked within \(configuration.rematchWithin / 1000) s", match)
      return nil
    }
    let seq = match.state.seq + 1
    let agreed = match.state.wantsRematch[command.side.opponent]
    let other = command.side == .x ? match.record.o : match.record.x
    guard !agreed || other.map(isFull) != true else {
      refuse(command.id, command.re, .occupied, Lobby.isFull, match)
      return nil
    }
    let next = agreed ? MatchID(using: &random) : nil
    let event = MatchEvent(at: now.wall, side: command.side, mid: command.mid, .rematch(next: next))
    // A rated one must have both players' slots, which other nodes may want as well.
    if let next, cluster != nil, match.state.terms.rated {
      var (old, both) = (match, Draft())
      log([event], &old, &both)
      let line = ClientLine(id: command.re, .act(match.id, .rematch, mid: command.mid))
      rematch(old, next: next, both, line, command.id, command.at)
      return nil
    }
    log([event], &match, &draft)
    // Whoever is asked has as long as whoever asks.
    match.allowRematch(configuration.rematchWithin, now.steady)
    if let next, let x = match.record.o.flatMap({ accounts[$0] }), let o = match.record.x.flatMap({ accounts[$0] }) {
      var record = MatchRecord(id: next, x: x.id, o: o.id, created: now.wall)
      record.opener = match.record.opener
      record.code = match.record.code
      begin(
        record, Sides(x: x, o: o), match.state.terms, confirm: false, previous: match.state, keys: [],
        followers: Sides(x: match.followers.o, o: match.followers.x), autoConfirmed: [], &draft)
    }
    return seq
  }

  /// The flag of the side to move falls, or its first move never came.
  mutating func outOfTime(_ match: inout CachedMatch, _ draft: inout Draft) {
    if match.state.bothMoved {
      var clocks = match.state.clocks
      clocks?[match.state.turn] = 0
      let loser = match.state.turn
      end(
        .win(loser.opponent), .time, &match, &draft,
        first: [MatchEvent(at: now.wall, side: loser, clocks: clocks, .flag)])
    } else {
      end(nil, .aborted, &match, &draft)
    }
  }

  // MARK: making matches

  /// Starts a match in a transaction; sides follow it at once.
  mutating func begin(
    _ record: MatchRecord, _ players: Sides<AccountRecord>, _ terms: MatchTerms, confirm: Bool, previous: MatchState?,
    keys: [String], followers: Sides<[String]>, autoConfirmed: [Player], tickets: [Ticket] = [], _ draft: inout Draft
  ) {
    var match = matches[record.id] ?? CachedMatch(record)
    match.record = record
    match.followers = followers
    match.tickets = tickets
    match.codeDies = nil
    // Before the events, which show their connections the match; of a room both see the log from its first event.
    let opening = ServerMessage.events(of: match.id, match.bodies)
    for side in Player.allCases {
      for id in connections(of: side, in: match) {
        let within = confirm ? configuration.confirmWithin : nil
        draft.lines.append((id, ServerMessage.paired(record.id, side, confirmIn: within).bytes(), .essential))
        for line in opening { draft.lines.append((id, line.bytes(), .essential)) }
      }
    }
    prepare(
      &match, players, bots: bots(in: match), terms, confirm: confirm, previous: previous, keys: keys,
      autoConfirmed: autoConfirmed, &draft)
    install(match)
    // The transaction that `draft` becomes is the next one.
    if match.state.phase == .live { startsWhenDurable.append((issued + 1, record.id)) }
  }

  func bots(in match: CachedMatch) -> Sides<Bool> {
    func isBot(_ side: Player) -> Bool { match.followers[side].contains { sessions[$0]?.isBot ?? false } }
    return Sides(x: isBot(.x), o: isBot(.o))
  }

  /// Drafts the first events of a match; nothing else is changed.
  mutating func prepare(
    _ match: inout CachedMatch, _ players: Sides<AccountRecord>, bots: Sides<Bool>, _ terms: MatchTerms, confirm: Bool,
    previous: MatchState?, keys: [String], autoConfirmed: [Player], _ draft: inout Draft
  ) {
    var scores = Sides(x: AccountScore(account: players.x.id), o: AccountScore(account: players.o.id))
    (scores.x.xBalance, scores.o.xBalance) = (1, -1)
    for score in [scores.x, scores.o].sorted(by: { $0.account < $1.account }) { draft.writes.append(.score(score)) }
    draft.writes.append(.match(match.record))
    let seats = Sides(x: info(players.x, bot: bots.x, terms.rules), o: info(players.o, bot: bots.o, terms.rules))
    var events = [
      MatchEvent(
        at: now.wall,
        .start(
          seats, terms, confirm: confirm, previous: previous?.id, station: previous?.nextStation, keys: keys))
    ]
    events += autoConfirmed.map { MatchEvent(at: now.wall, side: $0, .confirm) }
    log(events, &match, &draft)
  }

  /// Takes a match that begins into memory.
  mutating func install(_ started: CachedMatch) {
    var match = started
    for id in connectionsFollowing(match) where cluster?.virtual[id] != nil {
      let ticket = match.tickets.first { $0.session == connections[id]?.session }?.id
      effects.append(.cluster(.here(id, match.id, ticket: ticket)))
    }
    if let code = match.record.code { codes[code] = match.id }
    for side in Player.allCases {
      guard let account = side == .x ? match.record.x : match.record.o else { continue }
      accounts[account]?.xBalance += side == .x ? 1 : -1
      if matchesOf[account]?.contains(match.id) != true { matchesOf[account, default: []].append(match.id) }
    }
    if match.state.phase == .confirming { match.confirmBy = now.steady + Int64(configuration.confirmWithin) }
    matches[match.id] = match
    counts.started += 1
    arm(match.id)
  }
}
