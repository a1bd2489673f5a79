import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Looking at matches: sync, watch, export, lists; and the matches that memory has let go of.
extension Lobby {
  mutating func look(_ line: ClientLine, _ account: AccountRecord, _ id: ConnectionID, _ at: Int64) {
    switch line.message {
    case .sync(let m, let seq):
      guard let match = visible(m, nil, account, id, line, at), canTell(match.issued, id, line.id) else { return }
      if let session = connections[id]?.session { follow(m, account, session) }
      sync(matches[m] ?? match, from: seq, id, line.id)
    case .watch(let m, let code):
      guard let match = visible(m, code, account, id, line, at), canTell(match.issued, id, line.id) else { return }
      guard connections[id]?.watching.count ?? 0 < 64 else {
        return refuse(id, line.id, .occupied, "at most 64 matches can be watched at once")
      }
      if !match.isOver, !match.watchers.contains(id) {
        matches[m]?.watchers.append(id)
        connections[id]?.watching.append(m)
      }
      sendState(of: match, to: id, re: line.id, kind: .essential)
    case .unwatch(let m):
      matches[m]?.watchers.removeAll { $0 == id }
      connections[id]?.watching.removeAll { $0 == m }
      answer(.ok(m, seq: nil), to: id, re: line.id, after: 0)
    case .export(let m, let seq):
      guard let match = visible(m, nil, account, id, line, at), canTell(match.issued, id, line.id) else { return }
      let last = min(match.state.seq, seq + Limits.events)
      sendEvents(of: match, after: seq, through: last, to: id)
      let row: JSONObject = [
        "m": .string(m.rawValue), "seq": .int(match.state.seq), "hash": .string(match.state.hash.digest.hex),
      ]
      answer(
        .page("export", rows: [row], more: last < match.state.seq ? Int64(last) : nil), to: id, re: line.id,
        after: match.issued)
    default: break
    }
  }

  /// The match if this account may see it; a match out of memory is fetched and the line taken again.
  private mutating func visible(
    _ m: MatchID, _ code: String?, _ account: AccountRecord, _ id: ConnectionID, _ line: ClientLine, _ at: Int64
  ) -> CachedMatch? {
    guard let match = matches[m] else {
      load(m, line, id, at)
      return nil
    }
    let isMine = match.side(of: account.id) != nil || match.record.opener == account.id
    let isPublic = match.record.opener == nil
    let knowsCode = code.flatMap(canonicalCode).map { $0 == match.record.code } ?? false
    if code != nil, !isMine, !isPublic, !knowsCode {
      guard allow("code \(account.id)", perMinute: configuration.codeTriesPerMinute) else {
        refuse(id, line.id, .rate, "at most \(configuration.codeTriesPerMinute) tries of codes a minute")
        return nil
      }
    }
    guard isMine || isPublic || knowsCode || match.watchers.contains(id) else {
      refuse(id, line.id, .notFound, "there is no such match, or it needs its code")
      return nil
    }
    return match
  }

  /// Brings somebody up to date: the events he lacks, or the state if that is less.
  private mutating func sync(_ match: CachedMatch, from seq: Int, _ id: ConnectionID, _ re: String?) {
    guard seq > 0, seq <= match.state.seq, match.state.seq - seq <= 16,
      match.bodies.dropFirst(seq).allSatisfy({ body in (try? MatchEvent(body: body)).map { speaks($0, id) } ?? false })
    else { return sendState(of: match, to: id, re: re, kind: .essential) }
    sendEvents(of: match, after: seq, through: match.state.seq, to: id)
    answer(.ok(match.id, seq: match.state.seq), to: id, re: re, after: match.issued)
  }

  private mutating func sendEvents(of match: CachedMatch, after seq: Int, through last: Int, to id: ConnectionID) {
    for event in ServerMessage.events(of: match.id, Array(match.bodies.prefix(last)), after: seq) {
      send(event, to: id, after: match.issued)
    }
  }

  // MARK: matches out of memory

  /// Sets a line aside until its match has been read.
  mutating func load(_ m: MatchID, _ line: ClientLine, _ id: ConnectionID, _ at: Int64) {
    guard loading.count < 256, loading[m, default: []].count < 64 else { return refuseBusy(id, line.id) }
    if loading[m] == nil { effects.append(.load(m)) }
    loading[m, default: []].append((id, line, at))
  }

  mutating func loaded(_ m: MatchID, _ stored: StoredMatch?) {
    let lines = loading.removeValue(forKey: m) ?? []
    if matches[m] == nil, let stored, let match = try? CachedMatch(stored), match.isOver {
      matches[m] = match
      matches[m]?.forgetAt = now.steady + 60_000
      arm(m)
    }
    let isThere = matches[m] != nil
    // What is stored and neither played nor over has been given up.
    let text =
      stored == nil ? "there is no such match" : "match \(m) is broken and was given up; the log of the server has it"
    for (id, line, at) in lines {
      if isThere { take(.line(line, at: at), for: id) } else { refuse(id, line.id, .notFound, text) }
    }
  }

  // MARK: pages

  mutating func sendTop(_ best: [AccountRecord], _ rules: Variant, to id: ConnectionID, _ re: String?) {
    let rows = best.map { JSONObject(fields: Lobby.row($0, rules) + Lobby.results($0[rules])) }
    let last = best.map { unstored[$0.id] ?? 0 }.max() ?? 0
    answer(.page("top", rows: rows, more: nil), to: id, re: re, after: last)
  }

  /// The strongest named players who have played a rated match of a game; O(limit).
  package func leaders(_ rules: Variant = .classic, limit: Int) -> [AccountRecord] {
    accounts.ranking(rules).places.prefix(limit).compactMap { accounts[$0.id] }
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

  /// The player; and, a row each, how the player stands in the other games that he has played and the client knows.
  mutating func sendMe(_ profile: Profile, to id: ConnectionID, _ re: String?) {
    let (account, games) = (profile.account, session(of: id)?.games ?? [])
    let live = live(profile, in: games)
    var row = JSONObject(fields: Lobby.row(account, .classic))
    row.add("guest", .bool(account.guest))
    row.fields += Lobby.results(account[.classic])
    row.add("quiet", .bool(account.quiet))
    row.add("blocked", .array(profile.blockedNames.map(JSON.string)))
    row.add("matches", .array(live.map { .string($0.rawValue) }))
    let others = games.filter { $0 != .classic && account[$0] != Standing() }.map { rules in
      JSONObject(
        fields: [.init(name: "rules", value: .string(rules.rawValue))] + Lobby.row(account, rules)
          + Lobby.results(account[rules]))
    }
    let last = live.compactMap { matches[$0]?.issued }.max() ?? 0
    answer(.page("me", rows: [row] + others, more: nil), to: id, re: re, after: max(last, unstored[account.id] ?? 0))
  }

  /// Most connections for which finished matches are read at once.
  private static let mostHistoryReaders = 64

  /// Asks the store for finished matches, for each connection once at a time.
  mutating func askHistory(
    _ account: Int64, of rules: Variant?, before: Int64?, _ id: ConnectionID, _ re: String?
  ) {
    guard let games = session(of: id)?.games, connections[id]?.historyGames == nil,
      historyReaders < Lobby.mostHistoryReaders
    else {
      return refuseBusy(id, re)
    }
    connections[id]?.historyGames = rules.map { rules in games.filter { $0 == rules } } ?? games
    historyReaders += 1
    effects.append(.history(id, re: re, account: account, before: before ?? Int64.max))
  }

  mutating func sendHistory(
    to id: ConnectionID, _ re: String?, _ found: [StoredMatch], of games: [Variant], _ more: Int64?
  ) {
    guard let mine = account(of: id) else { return }
    let rows = found.compactMap { stored -> JSONObject? in
      guard let match = try? CachedMatch(stored), let players = match.state.players, let end = match.state.end else {
        return nil
      }
      guard games.contains(match.state.terms.rules) else { return nil }
      var row: JSONObject = [
        "m": .string(match.id.rawValue), "ended": .int(stored.record.ended ?? 0),
        "side": .string(match.side(of: mine.id)?.text ?? "x"), "x": .string(players.x.name),
        "o": .string(players.o.name), "result": .string(end.outcome?.text ?? "none"),
        "reason": .string(end.reason.rawValue), "plies": .int(match.state.moves.count),
      ]
      row.name(match.state.terms.rules)
      return row
    }
    answer(.page("history", rows: rows, more: more), to: id, re: re, after: 0)
  }

  mutating func sendList(to id: ConnectionID, _ re: String?) {
    let live = publicMatches(of: session(of: id)?.games ?? [], limit: Limits.page)
    sendList(live, after: live.compactMap { matches[$0.id]?.issued }.max() ?? 0, to: id, re)
  }

  mutating func sendList(_ live: [MatchState], after: UInt64, to id: ConnectionID, _ re: String?) {
    let games = session(of: id)?.games ?? []
    let rows = live.compactMap { match -> JSONObject? in
      guard let players = match.players, games.contains(match.terms.rules) else { return nil }
      var row: JSONObject = [
        "m": .string(match.id.rawValue), "x": .string(players.x.name), "o": .string(players.o.name),
        "rx": .int(players.x.rating), "ro": .int(players.o.rating), "clock": .string(match.terms.clockText),
        "rated": .bool(match.terms.rated), "plies": .int(match.moves.count),
      ]
      row.name(match.terms.rules)
      return row
    }
    answer(.page("list", rows: rows, more: nil), to: id, re: re, after: after)
  }

  /// Live matches everybody may watch, the strongest pairs first; O(limit).
  package func publicMatches(of games: [Variant] = Variant.allCases, limit: Int) -> [MatchState] {
    let known = listed.places.lazy.compactMap { matches[$0.id]?.state }.filter { games.contains($0.terms.rules) }
    return Array(known.prefix(limit))
  }

  /// A match in memory that everybody may watch.
  package func publicMatch(_ m: MatchID) -> MatchState? {
    matches[m].flatMap { $0.record.opener == nil ? $0.state : nil }
  }

  /// Sizes for the metrics, each with what it means; O(n) in matches and tickets.
  package var gauges: [(name: String, help: String, value: Int)] {
    [
      ("connections", "Connections the lobby knows, those held for other nodes included.", connections.count),
      ("sessions", "Sessions in memory.", sessions.count),
      ("accounts", "Accounts in memory.", accounts.count),
      ("matches", "Matches in memory.", matches.count),
      ("live_matches", "Matches that are being played.", matches.values.count { $0.state.phase == .live }),
      ("broken_matches", "Matches whose log in the store was not as expected.", counts.abandoned),
      ("queue", "Players who wait for an opponent at this node.", tickets.count),
      (
        "queue_oldest_seconds", "Seconds that the one who waits longest has waited for an opponent.",
        tickets.oldest.map { Int(now.steady - $0) / 1000 } ?? 0
      ),
      ("pending_writes", "Writes that wait to become durable.", pendingWrites),
      ("held_lines", "Lines that wait for what they tell of to become durable.", held.count - heldFrom),
    ]
  }
}

extension JSONObject {
  /// Names the game of a match where it is not the classic one.
  fileprivate mutating func name(_ rules: Variant) {
    if rules != .classic { add("rules", .string(rules.rawValue)) }
  }
}
