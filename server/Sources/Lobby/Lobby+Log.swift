import MatchProtocol
import MatchStore
import TicTacToe

/// Writing logs: every change of a match goes through here.
extension Lobby {
  /// A transaction in the making, and the lines that tell of it once it is durable.
  struct Draft {
    var writes: [StoreWrite] = []
    var lines: [(ConnectionID, [UInt8], LineKind)] = []
    /// Public matches among them, for pages.
    var changed: [MatchID] = []
  }

  /// Logs events of one match; they must be able to follow, or the lobby has a bug.
  mutating func log(_ events: [MatchEvent], _ match: inout CachedMatch, _ draft: inout Draft) {
    let after = match.state.seq
    var stored: [StoredEvent] = []
    let players = connectionsFollowing(match)
    let watchers = match.watchers.filter { !players.contains($0) }
    for event in events {
      precondition(event.kind.since <= language, "the lobby logs \(event.name), which not every node can read")
      let body = event.body
      do throws(ProtocolError) {
        try match.add(event, body: body)
      } catch {
        preconditionFailure("the lobby logs what cannot follow: \(error.message)")
      }
      counts.events += 1
      stored.append(StoredEvent(seq: match.state.seq, side: event.side, mid: event.mid, body: body))
      let line = ServerMessage.event(match.id, seq: match.state.seq, hash: match.state.hash.short, body: body).bytes()
      for id in players {
        draft.lines.append((id, speaks(event, id) ? line : stateLine(of: match, to: id), .essential))
      }
      for id in watchers {
        draft.lines.append((id, speaks(event, id) ? line : stateLine(of: match, to: id), .spectator(match.id)))
      }
    }
    draft.writes.append(.append(match.id, after: after, stored))
    // The transaction that `draft` becomes is the next one.
    match.issued = issued + 1
    if match.record.opener == nil, !draft.changed.contains(match.id) { draft.changed.append(match.id) }
  }

  /// Hands out the transaction and, behind the gate, the lines that tell of it.
  mutating func finish(_ draft: Draft) {
    commit(draft.writes)
    for (id, line, kind) in draft.lines { emit(.send(id, line, kind)) }
    for m in draft.changed { list(m) }
  }

  /// Boards that pages for people show.
  package static let boards = 24

  /// Gives a public match its place among those that are live, and tells pages of it if they show it.
  mutating func list(_ m: MatchID) {
    guard let match = matches[m], let players = match.state.players else { return }
    let strength = Double(players.x.rating + players.o.rating)
    if listed.isAmong(first: Lobby.boards, m, strength) { emit(.publish(m)) }
    setListed(match, match.state.phase == .live ? strength : nil)
    // Another one takes the place of one that has ended.
    if match.state.phase == .over, match.listed != nil, listed.isAmong(first: Lobby.boards, m, strength),
      listed.places.count >= Lobby.boards
    {
      emit(.publish(listed.places[Lobby.boards - 1].id))
    }
  }

  mutating func setListed(_ match: CachedMatch, _ strength: Double?) {
    guard match.listed != strength else { return }
    listed.move(match.id, from: match.listed, to: strength)
    matches[match.id]?.listed = strength
  }

  /// The connections of both sides' following sessions, each once.
  func connectionsFollowing(_ match: CachedMatch) -> [ConnectionID] {
    var result: [ConnectionID] = []
    for side in Player.allCases {
      for session in match.followers[side] {
        if let id = sessions[session]?.connection, !result.contains(id) { result.append(id) }
      }
    }
    return result
  }

  func connections(of side: Player, in match: CachedMatch) -> [ConnectionID] {
    match.followers[side].compactMap { sessions[$0]?.connection }
  }

  /// Sets a match aside that cannot be played on; while a node may own it that cannot read why, it is just aborted.
  mutating func setAside(_ m: MatchID, _ why: String) {
    guard var match = matches[m], !match.isOver else { return }
    var draft = Draft()
    end(nil, .aborted, &match, &draft, aside: language >= MatchEvent.Kind.aside(why: why).since ? why : nil)
    note("a match is set aside", ["m": m.rawValue, "why": why])
    matches[m] = match
    finish(draft)
    arm(m)
  }

  /// Ends a match: result, ratings and records in the same transaction.
  mutating func end(
    _ outcome: Outcome?, _ reason: MatchEvent.Reason, _ match: inout CachedMatch, _ draft: inout Draft,
    first events: [MatchEvent] = [], aside: String? = nil
  ) {
    var changes: Sides<MatchEvent.RatingChange>?
    if let outcome, let x = match.record.x.flatMap({ accounts[$0] }), let o = match.record.o.flatMap({ accounts[$0] }) {
      let rules = match.state.terms.rules
      var scores = Sides(x: AccountScore(account: x.id, rules), o: AccountScore(account: o.id, rules))
      for side in Player.allCases {
        switch outcome {
        case .draw: scores[side].drawn = 1
        case .win(side): scores[side].won = 1
        default: scores[side].lost = 1
        }
      }
      if match.state.terms.rated { changes = rate(Sides(x: x[rules], o: o[rules]), outcome, &scores) }
      for score in [scores.x, scores.o].sorted(by: { $0.account < $1.account }) { add(score, &draft) }
    }
    let last = aside.map { .aside(why: $0) } ?? MatchEvent.Kind.end(outcome, reason, ratings: changes)
    log(events + [MatchEvent(at: now.wall, last)], &match, &draft)
    match.record.ended = endMoment()
    match.allowRematch(configuration.rematchWithin, now.steady)
    match.turnStarted = nil
    match.waitsUntil = nil
    if let code = match.record.code, codes[code] == match.id { codes[code] = nil }
    draft.writes.append(.match(match.record))
    counts.ended += 1
    for session in match.followers.x + match.followers.o {
      guard let held = sessions[session], let id = held.connection, cluster?.virtual[id] != nil else { continue }
      // Once it is stored, in the transaction that comes next.
      if let account = accounts[held.record.account] {
        emit(.cluster(.played(id, account)), after: issued + 1)
      }
    }
  }

  /// The moment at which a match ends: no two have the same, so that a page of what is over can end after each of them. Of a
  /// clock that was set back a minute or more the new time counts.
  private mutating func endMoment() -> Int64 {
    lastEnd = now.wall > lastEnd || now.wall < lastEnd - 60_000 ? now.wall : lastEnd + 1
    return lastEnd
  }

  /// Adds results to an account, in memory and in a draft.
  mutating func add(_ score: AccountScore, _ draft: inout Draft) {
    accounts[score.account]?.add(score)
    draft.writes.append(.score(score))
  }

  private func rate(
    _ before: Sides<Standing>, _ outcome: Outcome, _ scores: inout Sides<AccountScore>
  ) -> Sides<MatchEvent.RatingChange> {
    func aged(_ standing: Standing) -> Glicko2.Rating {
      standing.ratedAt == 0
        ? standing.rating : standing.rating.aged(days: Double(max(0, now.wall - standing.ratedAt)) / 86_400_000)
    }
    let old = Sides(x: aged(before.x), o: aged(before.o))
    func change(_ side: Player) -> MatchEvent.RatingChange {
      let score = outcome == .draw ? 0.5 : outcome == .win(side) ? 1 : 0
      let new = Glicko2.rate(old[side], [(old[side.opponent], score)])
      (scores[side].rating, scores[side].ratedAt) = (new, now.wall)
      (scores[side].replacedRating, scores[side].replacedAt) = (before[side].rating, before[side].ratedAt)
      return .init(before: Int(before[side].rating.value.rounded()), after: Int(new.value.rounded()))
    }
    return Sides(x: change(.x), o: change(.o))
  }

  /// Whether a connection's version has an event's kind; to one that has not, the state stands for it. Whoever follows a
  /// match knows its game, whatever version brought that.
  func speaks(_ event: MatchEvent, _ id: ConnectionID) -> Bool {
    let version = connections[id]?.version ?? 1
    switch event.kind {
    case .open, .start: return version >= 1
    default: return event.kind.since <= version
    }
  }

  private func stateLine(of match: CachedMatch, to id: ConnectionID, re: String? = nil) -> [UInt8] {
    let you = account(of: id).flatMap { match.side(of: $0.id) }
    return ServerMessage.state(match.state, left: match.left(at: now.steady, configuration), you: you).bytes(re: re)
  }

  /// Sends a match as it stands.
  mutating func sendState(of match: CachedMatch, to id: ConnectionID, re: String?, kind: LineKind) {
    emit(
      .send(id, stateLine(of: match, to: id, re: re), kind), after: match.issued, read: re.map { (id, $0) })
  }

  /// Refuses with the state that is true.
  mutating func refuse(_ id: ConnectionID, _ re: String?, _ code: ErrorCode, _ text: String, _ match: CachedMatch) {
    guard canTell(match.issued, id, re) else { return }
    counts.refused[code, default: 0] += 1
    let you = account(of: id).flatMap { match.side(of: $0.id) }
    let left = match.left(at: now.steady, configuration)
    emit(
      .send(id, ServerMessage.refusal(code, text, state: match.state, left: left, you: you, re: re), .essential),
      after: match.issued, read: (id, re))
  }

  /// Makes a session follow the side its account sits at.
  mutating func follow(_ m: MatchID, _ account: AccountRecord, _ session: String) {
    guard let match = matches[m], let side = match.side(of: account.id) else { return }
    follow(match, side, session)
  }

  /// Makes a session follow a side; `match` is what the table holds.
  mutating func follow(_ match: CachedMatch, _ side: Player, _ session: String) {
    guard sessions[session]?.games.contains(match.state.terms.rules) == true else { return }
    if !match.followers[side].contains(session) { matches[match.id]?.followers[side].append(session) }
    if match.away[side] { updatePresence(match.id, clean: false) }
  }

  // MARK: recovery

  mutating func restore(_ recovery: Recovery) {
    for account in recovery.accounts {
      store(account)
      guard account.guest else { continue }
      perishables.set(.guest(account.id), at: account.tokenExpires)
      oldestGuests.append(account.id)
    }
    // Not the highest that is there: logs and whom others block name those that are forgotten, and theirs must stay theirs.
    nextAccount = max(recovery.lastAccount, recovery.accounts.lazy.flatMap(\.blocked).max() ?? 0) + 1
    for record in recovery.sessions {
      sessions[record.id] = Session(record: record)
      resumes[record.resume] = record.id
      if let previous = record.previous { resumes[previous] = record.id }
      sessionsOf[record.account, default: []].append(record.id)
      perishables.set(.session(record.id), at: record.expires)
    }
    for stored in recovery.matches { recover(stored) }
  }

  /// Goes on with a match from its log; one that cannot be read is nobody's to play.
  mutating func recover(_ stored: StoredMatch) {
    do throws(ProtocolError) {
      let match = try CachedMatch(stored)
      if !match.isOver { recover(match) }
    } catch { abandon(stored.record, error.message) }
  }

  // MARK: matches that are broken

  /// Ends the record of a match and not its log, which stays as it is for whoever looks into it.
  private mutating func abandon(_ record: MatchRecord, _ why: String) {
    var record = record
    record.ended = endMoment()
    commit([.match(record)])
    counts.abandoned += 1
    note("a match is broken and nobody plays it any more", ["m": record.id.rawValue, "why": why])
  }

  /// Takes back what was decided in transactions that the store does not take. Whoever follows one of their matches comes
  /// back, and is told what became of it when he asks.
  mutating func lose(_ broken: Set<MatchID>, _ refused: [StoreTransaction]) {
    let writes = refused.flatMap(\.writes)
    for case .score(let score) in writes { accounts[score.account]?.subtract(score) }
    let lost = broken.union(writes.compactMap(\.match)).sorted()
    held = held[heldFrom...].filter { entry in !lost.contains { entry.effect.tells(of: $0) } }
    heldFrom = 0
    for m in lost {
      guard let match = matches[m] else { continue }
      let watching = Set(connectionsFollowing(match) + match.watchers).sorted()
      forget(match)
      if let code = match.record.code, codes[code] == m { codes[code] = nil }
      if !writes.contains(where: { if case .append(m, 0, _) = $0 { true } else { false } }) {
        abandon(match.record, "its log is not what it was")
      }
      for id in watching { emit(.close(id, .restart, "match \(m) is broken; come back", retry: 100), after: 0) }
    }
  }

  mutating func recover(_ loaded: CachedMatch) {
    var match = loaded
    for account in [match.record.x, match.record.o, match.record.opener].compactMap({ $0 }) {
      if matchesOf[account]?.contains(match.id) != true { matchesOf[account, default: []].append(match.id) }
    }
    if let code = match.record.code, !match.isOver { codes[code] = match.id }
    restoreKeys(match.record, match.bodies)
    let recovered = [MatchEvent(at: now.wall, clocks: match.state.clocks, .recovered)]
    var draft = Draft()
    switch match.state.phase {
    case .open:
      let age = min(max(0, now.wall - match.record.created), Int64(configuration.codeLives))
      match.codeDies = now.steady + Int64(configuration.codeLives) - age
    case .confirming:
      // Both need a moment to come back before they can confirm.
      match.confirmBy = now.steady + Int64(configuration.confirmWithin) * 2
      log(recovered, &match, &draft)
    case .live:
      log(recovered, &match, &draft)
      match.waitsUntil = now.steady + Int64(configuration.grace)
      match.awaySince = Sides(x: now.steady, o: now.steady)
      match.graceNow = Sides(x: configuration.grace, o: configuration.grace)
    case .over: break
    }
    matches[match.id] = match
    finish(draft)
    arm(match.id)
  }

  /// Remembers what the keys in a log led to.
  mutating func restoreKeys(_ record: MatchRecord, _ bodies: [[UInt8]]) {
    for event in bodies.lazy.compactMap({ try? MatchEvent(body: $0) }) {
      switch event.kind {
      case .open(_, let terms):
        if let opener = record.opener { remember(event.mid, opener, .room(terms, record.id)) }
      case .start(_, _, _, _, _, let used):
        for (account, key) in zip([record.x, record.o], used) where !key.isEmpty {
          if let account { remember(key, account, .paired(nil, record.id)) }
        }
      default: break
      }
    }
  }
}
