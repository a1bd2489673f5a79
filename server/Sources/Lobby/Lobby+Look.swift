import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Reading matches: sync, watch, export and lists; evicting finished matches.
extension Lobby {
  mutating func sync(_ match: LiveMatch, from seq: Int, _ command: ClientCommand) throws(Refusal) {
    try requireMaySee(match, nil, command)
    subscribe(match.id, command.account.id, command.session.id)
    sendMissing(of: match, from: seq, command.id, command.re)
  }

  mutating func watch(_ match: LiveMatch, _ code: String?, _ command: ClientCommand) throws(Refusal) {
    try requireMaySee(match, code, command)
    let (m, id) = (match.id, command.id)
    guard connections[id]?.watching.count ?? 0 < ConnectionTable.mostWatched else {
      throw Refusal(.occupied, "at most \(ConnectionTable.mostWatched) matches can be watched at once")
    }
    if !match.isOver, !match.watchers.contains(id) {
      matches[m]?.watchers.append(id)
      connections.watch(m, id)
    }
    sendState(of: match, to: id, re: command.re, kind: .essential)
  }

  mutating func export(_ match: LiveMatch, from seq: Int, _ command: ClientCommand) throws(Refusal) {
    try requireMaySee(match, nil, command)
    let last = min(match.state.seq, seq + Limits.events)
    sendEvents(of: match, after: seq, through: last, to: command.id)
    let row: JSONObject = [
      "m": .string(match.id.rawValue), "seq": .int(match.state.seq), "hash": .string(match.state.hash.digest.hex),
    ]
    let more = last < match.state.seq ? Int64(last) : nil
    send(.page("export", rows: [row], more: more), to: command.id, re: command.re)
  }

  mutating func unwatch(_ m: MatchID, _ id: ConnectionID, _ re: String?) {
    matches[m]?.watchers.removeAll { $0 == id }
    connections.unwatch(m, id)
    send(.ok(m, seq: nil), to: id, re: re)
  }

  /// Throws if the match began as a room and the player neither plays or watches it nor knows its code.
  private mutating func requireMaySee(_ match: LiveMatch, _ code: String?, _ command: ClientCommand) throws(Refusal) {
    let isMine = match.accounts.contains(command.account.id)
    let isPublic = match.record.opener == nil
    let knowsCode = code.flatMap(canonicalCode).map { $0 == match.record.code } ?? false
    if code != nil, !isMine, !isPublic, !knowsCode {
      let (most, account) = (configuration.codeTriesPerMinute, command.account.id)
      guard tries.allow("code \(account)", atMost: most, now.monotonic) else { throw .tooManyCodeTries(most) }
    }
    guard isMine || isPublic || knowsCode || match.watchers.contains(command.id) else {
      throw Refusal(.notFound, "there is no such match, or it needs its code")
    }
  }

  /// Sends the events that a client lacks, or the state if that is shorter.
  private mutating func sendMissing(of match: LiveMatch, from seq: Int, _ id: ConnectionID, _ re: String?) {
    let (missing, lines) = (match.log.bodies.dropFirst(seq), matchLines)
    guard seq > 0, seq <= match.state.seq, match.state.seq - seq <= 16,
      missing.allSatisfy({ body in (try? MatchEvent(body: body)).map { lines.knows($0, id) } ?? false })
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

  mutating func sendMe(_ profile: Profile, to id: ConnectionID, _ re: String?) {
    let games = session(of: id)?.games ?? []
    let rows = profile.rows(live: live(profile, in: games), games)
    send(.page("me", rows: rows, more: nil), to: id, re: re)
  }

  static let historyPage = 20

  mutating func askHistory(of rules: Variant?, before: Int64?, _ command: ClientCommand) throws(Refusal) {
    try pages.beginHistory()
    let games = rules.map { rules in command.session.games.filter { $0 == rules } } ?? command.session.games
    let me = command.account.id
    ask(.history(me, before: before ?? .max, limit: Lobby.historyPage), for: command) {
      lobby, answer throws(Refusal) in
      lobby.pages.endHistory()
      guard case .summaries(let found, let count) = answer else { throw .busy }
      let rows = found.compactMap { $0.historyRow(of: me, games) }
      let more = count < Lobby.historyPage ? nil : found.last?.record.ended
      lobby.send(.page("history", rows: rows, more: more), to: command.id, re: command.re)
    }
  }

  /// Answers with the leaderboard or the list of live matches, read and rendered once for all connections.
  mutating func showPage(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    if pages.isFresh(page, now.monotonic) { return show(page, to: id, re) }
    connections.beginWait(id)
    guard pages.awaitRead(of: page, id, re) else { return }
    ask(page) { lobby, answer in
      for (id, re) in lobby.pages.read(page, answer, lobby.now.monotonic) {
        lobby.resumeConnection(id) { $0.show(page, to: id, re) }
      }
    }
  }

  private mutating func show(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    guard let line = pages.line(page, of: session(of: id)?.games ?? [], re) else { return refuse(id, re, .busy) }
    replies.add(.send(id, line, .essential))
  }
}
