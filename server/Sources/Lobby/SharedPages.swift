import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// The leaderboards and the list of live matches, each read and rendered once for all connections that request it within a second.
struct SharedPages: Sendable {
  /// For each leaderboard or list: when it was read, in monotonic ms, and its rows as JSON with their games.
  private var known: [StoreQuestion: (at: Int64, rows: [(rules: Variant, json: [UInt8])])] = [:]
  /// The connections that wait until a leaderboard or the list of live matches has been read.
  private var readers: [StoreQuestion: [(id: ConnectionID, re: String?)]] = [:]
  private var historyReaders = 0
  private static let mostHistoryReaders = 64
  /// Milliseconds for which a leaderboard or the list of live matches is reused.
  private static let lives: Int64 = 1000

  func isFresh(_ page: StoreQuestion, _ now: Int64) -> Bool {
    known[page].map { now - $0.at < SharedPages.lives } ?? false
  }

  /// Makes a connection wait for a leaderboard or list; `true` if the store must be asked for it.
  mutating func awaitRead(of page: StoreQuestion, _ id: ConnectionID, _ re: String?) -> Bool {
    defer { readers[page, default: []].append((id, re)) }
    return readers[page] == nil
  }

  /// Renders the store's answer; returns the connections that waited for it.
  mutating func read(_ page: StoreQuestion, _ answer: StoreAnswer?, _ now: Int64) -> [(id: ConnectionID, re: String?)] {
    switch (page, answer) {
    case (.top(let rules, _), .accounts(let best)):
      let rows = best.map { JSONObject(fields: $0.row(rules) + $0[rules].results) }
      known[page] = (now, rows.map { (.classic, $0.bytes) })
    case (_, .summaries(let live, _)): known[page] = (now, SharedPages.listRows(live))
    default: known[page] = nil
    }
    return readers.removeValue(forKey: page) ?? []
  }

  /// Only the rows of games that the client knows; `nil` if the store did not answer.
  func line(_ page: StoreQuestion, of games: [Variant], _ re: String?) -> [UInt8]? {
    guard let rows = known[page]?.rows else { return nil }
    let of = if case .top = page { "top" } else { "list" }
    return ServerMessage.page(of, rows: rows.filter { games.contains($0.rules) }.map(\.json), more: nil, re: re)
  }

  /// Begins to read a player's history; throws if too many connections read history now.
  mutating func beginHistory() throws(Refusal) {
    guard historyReaders < SharedPages.mostHistoryReaders else { throw .busy }
    historyReaders += 1
  }

  /// The most matches on a page of history.
  static let historyPage = 20

  /// Ends what `beginHistory` began, and returns the page; throws if the store did not answer. `more`: the time before which the next page
  /// begins, in milliseconds since 1970; `nil` after the last page.
  mutating func endHistory(_ answer: StoreAnswer?) throws(Refusal) -> (found: [MatchSummary], more: Int64?) {
    historyReaders -= 1
    guard case .summaries(let found, let count) = answer else { throw .busy }
    return (found, count < SharedPages.historyPage ? nil : found.last?.record.ended)
  }

  // MARK: rows

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
}

extension Profile {
  /// The live matches and open rooms whose games a client knows. `rules`: the game of a match in memory.
  func live(in games: [Variant], _ rules: (MatchID) -> Variant?) -> [MatchID] {
    openings.filter { match in
      if let rules = rules(match.record.id) { return games.contains(rules) }
      switch match.bodies.first.flatMap({ try? MatchEvent(body: $0) })?.kind {
      case .open(_, let terms), .start(_, let terms, _, _, _, _): return games.contains(terms.rules)
      default: return false
      }
    }.map(\.record.id)
  }

  /// The match meant by a command that names none.
  func match(meantBy message: ClientMessage) -> MatchID? {
    switch message {
    case .act(_, .rematch, _): last
    case .act: live.count == 1 ? live[0] : nil
    default: live.last ?? last
    }
  }

  /// The player's settings and results in Classic, and a row for each other game that the player has played and the client knows.
  func rows(live: [MatchID], _ games: [Variant]) -> [JSONObject] {
    var me = JSONObject(fields: account.row(.classic))
    me.add("guest", .bool(account.guest))
    me.fields += account[.classic].results
    me.add("quiet", .bool(account.quiet))
    me.add("blocked", .array(blockedNames.map(JSON.string)))
    me.add("matches", .array(live.map { .string($0.rawValue) }))
    let others = games.filter { !$0.isImplied && account[$0] != Standing() }.map { rules in
      JSONObject(
        fields: [.init(name: "rules", value: .string(rules.rawValue))] + account.row(rules) + account[rules].results)
    }
    return [me] + others
  }
}

extension MatchSummary {
  /// The row of a finished match in the history of one of its players; `nil` if the client does not know the game.
  func historyRow(of account: Int64, _ games: [Variant]) -> JSONObject? {
    guard let end, games.contains(terms.rules) else { return nil }
    var row: JSONObject = [
      "m": .string(record.id.rawValue), "ended": .int(record.ended ?? 0),
      "side": .string(record.o == account ? "o" : "x"), "x": .string(players.x.name), "o": .string(players.o.name),
      "result": .string(end.outcome?.text ?? "none"), "reason": .string(end.reason.rawValue), "plies": .int(plies),
    ]
    row.name(terms.rules)
    return row
  }
}

extension AccountRecord {
  fileprivate func row(_ rules: Variant) -> [JSONObject.Field] {
    let rating = self[rules].rating
    return [
      .init(name: "name", value: .string(name)), .init(name: "rating", value: .int(Int(rating.value.rounded()))),
      .init(name: "rd", value: .int(Int(rating.deviation.rounded()))),
    ]
  }
}

extension Standing {
  fileprivate var results: [JSONObject.Field] {
    [("won", won), ("drawn", drawn), ("lost", lost)].map { .init(name: $0, value: .int($1)) }
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
