import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Reading matches: sync, watch, export and lists; evicting finished matches.
extension Lobby {
  mutating func look(_ line: ClientLine, _ m: MatchID, _ account: AccountRecord, _ id: ConnectionID) {
    guard let match = matches[m] else { return }
    var code: String?
    if case .watch(_, let given) = line.message { code = given }
    guard maySee(match, code, account, id, line.id) else { return }
    switch line.message {
    case .sync(_, let seq):
      if let session = connections[id]?.session { subscribe(m, account.id, session) }
      sync(match, from: seq, id, line.id)
    case .watch:
      guard connections[id]?.watching.count ?? 0 < 64 else {
        return refuse(id, line.id, .occupied, "at most 64 matches can be watched at once")
      }
      if !match.isOver, !match.watchers.contains(id) {
        matches[m]?.watchers.append(id)
        connections[id]?.watching.append(m)
      }
      sendState(of: match, to: id, re: line.id, kind: .essential)
    case .export(_, let seq):
      let last = min(match.state.seq, seq + Limits.events)
      sendEvents(of: match, after: seq, through: last, to: id)
      let row: JSONObject = [
        "m": .string(m.rawValue), "seq": .int(match.state.seq), "hash": .string(match.state.hash.digest.hex),
      ]
      send(.page("export", rows: [row], more: last < match.state.seq ? Int64(last) : nil), to: id, re: line.id)
    default: break
    }
  }

  mutating func unwatch(_ m: MatchID, _ id: ConnectionID, _ re: String?) {
    matches[m]?.watchers.removeAll { $0 == id }
    connections[id]?.watching.removeAll { $0 == m }
    send(.ok(m, seq: nil), to: id, re: re)
  }

  /// Whether an account may see a match; refuses if not.
  private mutating func maySee(
    _ match: CachedMatch, _ code: String?, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) -> Bool {
    let isMine = match.accounts.contains(account.id)
    let isPublic = match.record.opener == nil
    let knowsCode = code.flatMap(canonicalCode).map { $0 == match.record.code } ?? false
    if code != nil, !isMine, !isPublic, !knowsCode {
      let most = configuration.codeTriesPerMinute
      guard tries.allow("code \(account.id)", atMost: most, now.steady) else {
        refuse(id, re, .rate, "at most \(most) tries of codes a minute")
        return false
      }
    }
    if isMine || isPublic || knowsCode || match.watchers.contains(id) { return true }
    refuse(id, re, .notFound, "there is no such match, or it needs its code")
    return false
  }

  /// Sends the events that a client lacks, or the state if that is shorter.
  private mutating func sync(_ match: CachedMatch, from seq: Int, _ id: ConnectionID, _ re: String?) {
    guard seq > 0, seq <= match.state.seq, match.state.seq - seq <= 16,
      match.bodies.dropFirst(seq).allSatisfy({ body in (try? MatchEvent(body: body)).map { speaks($0, id) } ?? false })
    else { return sendState(of: match, to: id, re: re, kind: .essential) }
    sendEvents(of: match, after: seq, through: match.state.seq, to: id)
    send(.ok(match.id, seq: match.state.seq), to: id, re: re)
  }

  private mutating func sendEvents(of match: CachedMatch, after seq: Int, through last: Int, to id: ConnectionID) {
    for event in ServerMessage.events(of: match.id, Array(match.bodies.prefix(last)), after: seq) {
      send(event, to: id)
    }
  }

  /// The most finished matches that are kept in memory after loading, so that repeated requests need no store.
  static let mostFinished = 256

  /// Evicts the finished match that was loaded first once there are more than `mostFinished`.
  mutating func keepFew(_ m: MatchID) {
    store.finished.append(m)
    guard store.finished.count > Lobby.mostFinished else { return }
    let first = store.finished.removeFirst()
    // Matches in use or just ended are evicted by their own timers.
    guard let match = matches[first], match.isOver, match.isSettled, match.waiting.isEmpty,
      !match.mayHaveRematch(now.steady)
    else { return }
    evictMatch(first)
  }

  // MARK: pages

  /// A row of the leaderboard.
  private static func topRow(_ account: AccountRecord, _ rules: Variant) -> JSONObject {
    JSONObject(fields: row(account, rules) + results(account[rules]))
  }

  private static func row(_ account: AccountRecord, _ rules: Variant) -> [JSONObject.Field] {
    [
      .init(name: "name", value: .string(account.name)),
      .init(name: "rating", value: .int(Int(account[rules].rating.value.rounded()))),
      .init(name: "rd", value: .int(Int(account[rules].rating.deviation.rounded()))),
    ]
  }

  private static func results(_ standing: Standing) -> [JSONObject.Field] {
    [("won", standing.won), ("drawn", standing.drawn), ("lost", standing.lost)].map { .init(name: $0, value: .int($1)) }
  }

  /// Sends the player's row, then one row for each other game he has played that the client knows.
  mutating func sendMe(_ profile: Profile, to id: ConnectionID, _ re: String?) {
    let (account, games) = (profile.account, session(of: id)?.games ?? [])
    let live = live(profile, in: games)
    var row = JSONObject(fields: Lobby.row(account, .classic))
    row.add("guest", .bool(account.guest))
    row.fields += Lobby.results(account[.classic])
    row.add("quiet", .bool(account.quiet))
    row.add("blocked", .array(profile.blockedNames.map(JSON.string)))
    row.add("matches", .array(live.map { .string($0.rawValue) }))
    let others = games.filter { !$0.isImplied && account[$0] != Standing() }.map { rules in
      JSONObject(
        fields: [.init(name: "rules", value: .string(rules.rawValue))] + Lobby.row(account, rules)
          + Lobby.results(account[rules]))
    }
    send(.page("me", rows: [row] + others, more: nil), to: id, re: re)
  }

  /// The most connections that may read history at the same time.
  private static let mostHistoryReaders = 64

  private static let historyPage = 20

  mutating func askHistory(
    _ account: Int64, of rules: Variant?, before: Int64?, _ session: Session, _ id: ConnectionID, _ re: String?
  ) {
    guard store.historyReaders < Lobby.mostHistoryReaders else { return refuseBusy(id, re) }
    let games = rules.map { rules in session.games.filter { $0 == rules } } ?? session.games
    store.historyReaders += 1
    ask(.history(account, before: before ?? .max, limit: Lobby.historyPage), for: id) { lobby, answer in
      lobby.store.historyReaders -= 1
      guard case .summaries(let found, let count) = answer else { return lobby.refuseBusy(id, re) }
      lobby.sendHistory(to: id, re, found, of: games, isLast: count < Lobby.historyPage)
    }
  }

  private mutating func sendHistory(
    to id: ConnectionID, _ re: String?, _ found: [MatchSummary], of games: [Variant], isLast: Bool
  ) {
    guard let mine = account(of: id) else { return }
    let rows = found.compactMap { match -> JSONObject? in
      guard let end = match.end, games.contains(match.terms.rules) else { return nil }
      var row: JSONObject = [
        "m": .string(match.record.id.rawValue), "ended": .int(match.record.ended ?? 0),
        "side": .string(match.record.o == mine.id ? "o" : "x"), "x": .string(match.players.x.name),
        "o": .string(match.players.o.name), "result": .string(end.outcome?.text ?? "none"),
        "reason": .string(end.reason.rawValue), "plies": .int(match.plies),
      ]
      row.name(match.terms.rules)
      return row
    }
    send(.page("history", rows: rows, more: isLast ? nil : found.last?.record.ended), to: id, re: re)
  }

  /// Milliseconds for which a page from the store is reused.
  private static let pageLives: Int64 = 1000

  /// Answers with a page that is read and rendered once for all connections that request it.
  mutating func showPage(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    if let known = store.pages[page], now.steady - known.at < Lobby.pageLives { return show(page, to: id, re) }
    let isAsked = store.readers[page] != nil
    store.readers[page, default: []].append((id, re))
    connections[id]?.outstanding += 1
    if !isAsked { ask(page) { $0.shown(page, $1) } }
  }

  private mutating func shown(_ page: StoreQuestion, _ answer: StoreAnswer?) {
    switch (page, answer) {
    case (.top(let rules, _), .accounts(let best)):
      store.pages[page] = (now.steady, best.map { (.classic, Lobby.topRow($0, rules).bytes) })
    case (_, .summaries(let live, _)): store.pages[page] = (now.steady, Lobby.listRows(live))
    default: store.pages[page] = nil
    }
    for (id, re) in store.readers.removeValue(forKey: page) ?? [] { resumeConnection(id) { $0.show(page, to: id, re) } }
  }

  private mutating func show(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    guard let known = store.pages[page] else { return refuseBusy(id, re) }
    let games = session(of: id)?.games ?? []
    let of = if case .top = page { "top" } else { "list" }
    let line = ServerMessage.page(
      of, rows: known.rows.filter { games.contains($0.rules) }.map(\.json), more: nil, re: re)
    effects.append(.send(id, line, .essential))
  }

  /// The live matches that everybody may watch, the strongest pairs first.
  private static func listRows(_ live: [MatchSummary]) -> [(rules: Variant, json: [UInt8])] {
    func strength(_ match: MatchSummary) -> Int { match.players.x.rating + match.players.o.rating }
    return live.filter(\.isLive).sorted { (-strength($0), $0.record.id) < (-strength($1), $1.record.id) }.map {
      match in
      var row: JSONObject = [
        "m": .string(match.record.id.rawValue), "x": .string(match.players.x.name),
        "o": .string(match.players.o.name), "rx": .int(match.players.x.rating), "ro": .int(match.players.o.rating),
        "clock": .string(match.terms.clockText), "rated": .bool(match.terms.rated), "plies": .int(match.plies),
      ]
      row.name(match.terms.rules)
      return (match.terms.rules, row.bytes)
    }
  }

  /// Sizes for the metrics, each with its help text; O(n) in matches and tickets.
  package var gauges: [(name: String, help: String, value: Int)] {
    [
      ("connections", "Connections of clients.", connections.count),
      ("sessions", "Sessions that are connected here.", sessions.count),
      ("accounts", "Accounts in memory.", accounts.count),
      ("matches", "Matches in memory.", matches.count),
      (
        "live_matches", "Matches that are being played and followed here.",
        matches.values.count { $0.state.phase == .live }
      ),
      ("broken_matches", "Matches whose log in the store was not as expected.", counts.abandoned),
      ("queue", "Players who wait for an opponent, at the node that keeps the queue.", tickets.count),
      (
        "queue_oldest_seconds", "Seconds that the one who waits longest has waited for an opponent.",
        tickets.oldest.map { Int(now.steady - $0) / 1000 } ?? 0
      ),
      ("nodes", "Nodes that live, this one included.", nodes.living.count),
      ("pending_units", "Units that wait for their verdict.", store.unitCount),
      ("pending_questions", "Questions that the store has not answered.", store.questionCount),
    ]
  }
}

extension JSONObject {
  fileprivate var bytes: [UInt8] {
    var bytes: [UInt8] = []
    JSONWriter.append(.object(self), to: &bytes)
    return bytes
  }

  /// Adds the name of the game, except for Classic, which is meant if no game is named.
  fileprivate mutating func name(_ rules: Variant) {
    if !rules.isImplied { add("rules", .string(rules.rawValue)) }
  }
}
