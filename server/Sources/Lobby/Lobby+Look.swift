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

  /// Whether an account may see a match; if not, refuses the request.
  private mutating func maySee(
    _ match: LiveMatch, _ code: String?, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) -> Bool {
    let isMine = match.accounts.contains(account.id)
    let isPublic = match.record.opener == nil
    let knowsCode = code.flatMap(canonicalCode).map { $0 == match.record.code } ?? false
    if code != nil, !isMine, !isPublic, !knowsCode {
      let most = configuration.codeTriesPerMinute
      guard tries.allow("code \(account.id)", atMost: most, now.monotonic) else {
        refuse(id, re, .rate, "at most \(most) tries of codes a minute")
        return false
      }
    }
    if isMine || isPublic || knowsCode || match.watchers.contains(id) { return true }
    refuse(id, re, .notFound, "there is no such match, or it needs its code")
    return false
  }

  /// Sends the events that a client lacks, or the state if that is shorter.
  private mutating func sync(_ match: LiveMatch, from seq: Int, _ id: ConnectionID, _ re: String?) {
    guard seq > 0, seq <= match.state.seq, match.state.seq - seq <= 16,
      match.log.bodies.dropFirst(seq).allSatisfy({ body in (try? MatchEvent(body: body)).map { speaks($0, id) } ?? false
      })
    else { return sendState(of: match, to: id, re: re, kind: .essential) }
    sendEvents(of: match, after: seq, through: match.state.seq, to: id)
    send(.ok(match.id, seq: match.state.seq), to: id, re: re)
  }

  private mutating func sendEvents(of match: LiveMatch, after seq: Int, through last: Int, to id: ConnectionID) {
    for event in ServerMessage.events(of: match.id, Array(match.log.bodies.prefix(last)), after: seq) {
      send(event, to: id)
    }
  }

  /// Keeps a finished match after loading it for a request; if too many are kept, evicts the match that was loaded first.
  mutating func keepFinished(_ m: MatchID) {
    // If the match to evict is in use or has just ended, its own timer evicts it later.
    guard let first = matches.keepFinished(m), let match = matches[first], match.isOver, match.isSettled,
      match.work.waiting.isEmpty, !match.mayHaveRematch(now.monotonic)
    else { return }
    evictMatch(first)
  }

  // MARK: pages

  /// Sends the player's settings and results in Classic, and a row for each other game that the player has played and the client knows.
  mutating func sendMe(_ profile: Profile, to id: ConnectionID, _ re: String?) {
    let (account, games) = (profile.account, session(of: id)?.games ?? [])
    let live = live(profile, in: games)
    var row = JSONObject(fields: SharedPages.row(account, .classic))
    row.add("guest", .bool(account.guest))
    row.fields += SharedPages.results(account[.classic])
    row.add("quiet", .bool(account.quiet))
    row.add("blocked", .array(profile.blockedNames.map(JSON.string)))
    row.add("matches", .array(live.map { .string($0.rawValue) }))
    let others = games.filter { !$0.isImplied && account[$0] != Standing() }.map { rules in
      JSONObject(
        fields: [.init(name: "rules", value: .string(rules.rawValue))] + SharedPages.row(account, rules)
          + SharedPages.results(account[rules]))
    }
    send(.page("me", rows: [row] + others, more: nil), to: id, re: re)
  }

  static let historyPage = 20

  mutating func askHistory(
    _ account: Int64, of rules: Variant?, before: Int64?, _ session: Session, _ id: ConnectionID, _ re: String?
  ) {
    guard pages.beginHistory() else { return refuseBusy(id, re) }
    let games = rules.map { rules in session.games.filter { $0 == rules } } ?? session.games
    ask(.history(account, before: before ?? .max, limit: Lobby.historyPage), for: id) { lobby, answer in
      lobby.pages.endHistory()
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

  /// Answers with the leaderboard or the list of live matches, read and rendered once for all connections.
  mutating func showPage(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    if pages.isFresh(page, now.monotonic) { return show(page, to: id, re) }
    connections[id]?.outstanding += 1
    guard pages.awaitRead(of: page, id, re) else { return }
    ask(page) { lobby, answer in
      for (id, re) in lobby.pages.read(page, answer, lobby.now.monotonic) {
        lobby.resumeConnection(id) { $0.show(page, to: id, re) }
      }
    }
  }

  private mutating func show(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    guard let line = pages.line(page, of: session(of: id)?.games ?? [], re) else { return refuseBusy(id, re) }
    replies.add(.send(id, line, .essential))
  }

  /// The present values of the metrics, with their help texts; O(n) in matches and tickets.
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
      ("broken_matches", "Matches whose stored log was inconsistent.", replies.counts.abandoned),
      ("queue", "Players who wait for an opponent, counted by the leader.", matchmaker.queue.count),
      (
        "queue_oldest_seconds", "Seconds for which the longest waiting player has waited.",
        matchmaker.queue.oldest.map { Int(now.monotonic - $0) / 1000 } ?? 0
      ),
      ("tournaments", "Tournaments that are followed here.", tournaments.entries.count),
      (
        "tournament_entrants", "Players of the tournaments that are followed here.",
        tournaments.entries.values.reduce(0) { $0 + $1.entrants.count }
      ),
      (
        "tournament_wait_seconds", "Seconds for which a tournament's longest waiting player has waited.",
        matchmaker.queue.oldestInTournaments.map { Int(now.monotonic - $0) / 1000 } ?? 0
      ),
      ("nodes", "Living nodes, this one included.", membership.living.count),
      ("pending_units", "Units that wait for their verdict.", store.unitCount),
      ("pending_questions", "Questions that the store has not answered.", store.questionCount),
    ]
  }
}
