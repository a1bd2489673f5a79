import Base
import CSQLite
import MatchProtocol
import MatchStore
import TicTacToe

/// The rows of a SQLite file, used by one thread at a time. After `.failed` the transaction may continue; after any other error it must
/// end.
final class SQLiteRows: @unchecked Sendable {  // see above: stores hand it from one thread to the next
  /// A cached row of a live match. The cache is valid because no other connection writes the file.
  struct Match {
    var n: Int64
    var record: MatchRecord
    var length: Int
    /// The nodes that follow the match, sorted.
    var nodes: [NodeID]
  }

  let db: SQLiteConnection
  /// Returns milliseconds since 1970.
  let clock: @Sendable () -> Int64
  /// The node that asked the last question. A file serves a single node, so this node is the only living one.
  var asker: NodeID?
  private var matches: [MatchID: Match] = [:]
  /// Versions of accounts and generations of sessions, cached because every comparison reads them.
  var versions: [Int64: Int64] = [:]
  var generations: [String: Int64] = [:]
  /// The highest id that any account has or had; `nil` until it was read.
  var lastAccount: Int64?

  init(_ db: SQLiteConnection, _ clock: @escaping @Sendable () -> Int64) { (self.db, self.clock) = (db, clock) }

  /// Clears the caches after a rollback.
  func forget() { (matches, versions, generations, lastAccount) = ([:], [:], [:], nil) }

  @discardableResult func run<T>(
    _ sql: StaticString, _ values: SQLiteValue..., row: (SQLiteRow) -> T = { _ in }
  ) throws(StoreError) -> [T] {
    do throws(SQLiteError) { return try db.run(sql, values, row) } catch { throw StoreError(error) }
  }

  /// Runs `body` in a savepoint, all or nothing; if it throws `.failed`, the outer transaction continues.
  func attempt<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> Result<T, StoreError> {
    try run("SAVEPOINT one")
    do throws(StoreError) {
      let done = try body()
      try run("RELEASE one")
      return .success(done)
    } catch {
      guard case .failed = error else { throw error }
      try run("ROLLBACK TO one")
      try run("RELEASE one")
      forget()
      return .failure(error)
    }
  }
}

extension StoreError {
  init(_ error: SQLiteError) {
    switch error.code {
    // The statement changed nothing and the transaction may continue.
    case SQLITE_CONSTRAINT, SQLITE_BUSY: self = .failed(error.description)
    case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_CANTOPEN: self = .unusable(error.message)
    default: self = .unknown(error.description)
    }
  }
}

// MARK: matches

extension SQLiteRows {
  private func found(_ m: MatchID) throws(StoreError) -> Match? {
    if let known = matches[m] { return known }
    let read = try run(
      """
      SELECT n, id, x, o, opener, code, created, ended, nodes, (SELECT max(seq) FROM event WHERE match = n) FROM match
      WHERE id = ?
      """, .text(m.rawValue)
    ) { row in
      SQLiteRows.record(row).map {
        Match(n: $0.n, record: $0.record, length: Int(row.int(9)), nodes: SQLiteRows.nodes(row.text(8)))
      }
    }
    guard let match = read.first ?? nil else { return nil }
    if match.record.ended == nil { matches[m] = match }
    return match
  }

  /// Reads the columns `n, id, x, o, opener, code, created, ended`.
  static func record(_ row: SQLiteRow) -> (n: Int64, record: MatchRecord)? {
    guard let id = MatchID(rawValue: row.text(1)) else { return nil }
    return (
      row.int(0),
      MatchRecord(
        id: id, x: row.optionalInt(2), o: row.optionalInt(3), opener: row.optionalInt(4), code: row.optionalText(5),
        created: row.int(6), ended: row.optionalInt(7))
    )
  }

  private static func nodes(_ text: String) -> [NodeID] { text.split(separator: " ").map(String.init) }

  /// The stored length is the number of the last event. It differs from the count of events if the log has a gap.
  private func stored(_ records: [(n: Int64, record: MatchRecord)?]) throws(StoreError) -> [StoredMatch] {
    var found: [StoredMatch] = []
    for case let (n, record)? in records {
      let events = try run("SELECT seq, body FROM event WHERE match = ? ORDER BY seq", .int(n)) {
        (seq: Int($0.int(0)), body: $0.bytes(1))
      }
      found.append(StoredMatch(record: record, bodies: events.map(\.body), length: events.last?.seq))
    }
    return found
  }

  func match(_ m: MatchID) throws(StoreError) -> FollowedMatch? {
    let read = try run(
      "SELECT n, id, x, o, opener, code, created, ended, nodes FROM match WHERE id = ?", .text(m.rawValue)
    ) { (SQLiteRows.record($0), $0.text(8)) }
    guard let row = read.first, let match = try stored([row.0]).first else { return nil }
    let ids = Set(match.record.accounts).sorted()
    var here: [Int64: Set<NodeID>] = [:]
    for id in ids {
      let found = try run("SELECT node FROM session WHERE account = ? AND node = ? LIMIT 1", .int(id), .text(asker)) {
        $0.text(0)
      }
      if !found.isEmpty { here[id] = Set(found) }
    }
    return FollowedMatch(
      match: match, accounts: try accounts(ids), nodes: SQLiteRows.nodes(row.1), here: here, now: now())
  }

  func place(_ code: String) throws(StoreError) -> MatchID? {
    try run(
      """
      SELECT id FROM match WHERE code = ? AND ended IS NULL ORDER BY x IS NOT NULL, created DESC, id DESC LIMIT 1
      """, .text(code)
    ) { MatchID(rawValue: $0.text(0)) }.first ?? nil
  }

  func live(limit: Int) throws(StoreError) -> [StoredMatch] {
    try stored(
      try run(
        """
        SELECT n, id, x, o, opener, code, created, ended FROM match INDEXED BY match_public
        WHERE ended IS NULL AND opener IS NULL ORDER BY created DESC, id DESC LIMIT ?
        """, .int(limit), row: SQLiteRows.record))
  }

  /// Reads the index of each seat (X and O): `x = ? OR o = ?` would read and sort all matches of the account.
  static let history: StaticString = """
    WITH seats AS (
        SELECT * FROM (SELECT n, ended FROM match WHERE x = ?1 AND ended < ?2 ORDER BY ended DESC LIMIT ?3)
        UNION SELECT * FROM (SELECT n, ended FROM match WHERE o = ?1 AND ended < ?2 ORDER BY ended DESC LIMIT ?3)),
      page AS (SELECT min(ended) AS first FROM (SELECT ended FROM seats ORDER BY ended DESC LIMIT ?3))
    SELECT n, id, x, o, opener, code, created, ended FROM match WHERE n IN (
      SELECT n FROM match WHERE x = ?1 AND ended >= (SELECT first FROM page) AND ended < ?2
      UNION SELECT n FROM match WHERE o = ?1 AND ended >= (SELECT first FROM page) AND ended < ?2)
    ORDER BY ended DESC, id DESC
    """

  func history(_ account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    try stored(
      try run(SQLiteRows.history, .int(account), .int(before), .int(limit), row: SQLiteRows.record))
  }

  func matchIDs() throws(StoreError) -> [MatchID] {
    try run("SELECT id FROM match ORDER BY id") { MatchID(rawValue: $0.text(0)) }.compactMap { $0 }
  }

  /// Whether a match ended more than `age` milliseconds ago, and whether there is `Pruning.evidence` that the clock is right.
  func isPruningDue(olderThan age: Int64) throws(StoreError) -> (isDue: Bool, isClockSound: Bool) {
    let time = now()
    let found = try run(
      """
      SELECT EXISTS (SELECT 1 FROM match WHERE ended < ?), EXISTS (SELECT 1 FROM match WHERE ended BETWEEN ? AND ?)
      """, .int(time - age), .int(time - Pruning.evidence.upperBound), .int(time - Pruning.evidence.lowerBound)
    ) { (isDue: $0.bool(0), isClockSound: $0.bool(1)) }
    return found.first ?? (isDue: false, isClockSound: false)
  }

  /// Deletes at most 200 matches that ended more than `age` milliseconds ago; returns their number.
  func prune(olderThan age: Int64) throws(StoreError) -> Int {
    let before = SQLiteValue.int(now() - age)
    try run(
      "DELETE FROM event WHERE match IN (SELECT n FROM match WHERE ended < ? ORDER BY ended, n LIMIT 200)", before)
    try run("DELETE FROM match WHERE n IN (SELECT n FROM match WHERE ended < ? ORDER BY ended, n LIMIT 200)", before)
    return db.changes
  }

  private func follow(_ match: Match, by nodes: [NodeID]) throws(StoreError) {
    let nodes = Set(nodes).sorted()
    guard nodes != match.nodes else { return }
    try run("UPDATE match SET nodes = ? WHERE n = ?", .text(nodes.joined(separator: " ")), .int(match.n))
    matches[match.record.id]?.nodes = nodes
  }

  func follow(_ m: MatchID, by node: NodeID) throws(StoreError) -> FollowedMatch? {
    if let match = try found(m), match.record.ended == nil { try follow(match, by: match.nodes + [node]) }
    return try self.match(m)
  }

  func adoptOrphans(by node: NodeID, limit: Int) throws(StoreError) -> [FollowedMatch] {
    let lost = try run(
      """
      SELECT id FROM match INDEXED BY match_nodes WHERE ended IS NULL AND nodes < ?1
      UNION ALL SELECT id FROM match INDEXED BY match_nodes WHERE ended IS NULL AND nodes > ?1 LIMIT ?2
      """, .text(node), .int(limit)
    ) { MatchID(rawValue: $0.text(0)) }
    var taken: [FollowedMatch] = []
    for m in lost.compactMap({ $0 }).sorted() {
      if let match = try found(m) { try follow(match, by: [node]) }
      if let followed = try match(m) { taken.append(followed) }
    }
    try run("DELETE FROM ticket WHERE node < ?1 OR node > ?1", .text(node))
    return taken
  }

  func leave(_ node: NodeID) throws(StoreError) {
    try run(
      """
      UPDATE match SET nodes = trim(replace(' ' || nodes || ' ', ' ' || ?1 || ' ', ' '))
      WHERE ended IS NULL AND instr(' ' || nodes || ' ', ' ' || ?1 || ' ') > 0
      """, .text(node))
    forget()
    try run("UPDATE session SET node = NULL WHERE node = ?", .text(node))
    try run("DELETE FROM ticket WHERE node = ?", .text(node))
    asker = nil
  }
}

// MARK: units

extension SQLiteRows: StoreConditions {
  func length(of m: MatchID) throws(StoreError) -> Int? { try found(m)?.length }

  func waits(ticket: String) throws(StoreError) -> Bool {
    try run("SELECT 1 FROM ticket WHERE id = ? AND led IS NULL", .text(ticket)) { $0.bool(0) } == [true]
  }

  func use(of key: String, _ account: Int64) throws(StoreError) -> (purpose: String, live: MatchID?)? {
    try run(
      """
      SELECT purpose, (SELECT id FROM match WHERE id = match_id AND ended IS NULL) FROM used_key
      WHERE account = ? AND key = ?
      """, .int(account), .text(key)
    ) { ($0.text(0), $0.optionalText(1).flatMap(MatchID.init(rawValue:))) }.first
  }

  func slot(of account: Int64) throws(StoreError) -> MatchID? {
    try run(
      """
      SELECT match.id FROM account JOIN match ON match.id = rated_match WHERE account.id = ? AND ended IS NULL
      """, .int(account)
    ) { MatchID(rawValue: $0.text(0)) }.first ?? nil
  }

  func rating(of account: Int64, _ rules: Variant) throws(StoreError) -> Glicko2.Rating? {
    try self.account(.id(account))?[rules].rating
  }

  func openRoom(_ code: String) throws(StoreError) -> MatchID? {
    let open = try run("SELECT id FROM match WHERE code = ? AND ended IS NULL AND x IS NULL LIMIT 1", .text(code)) {
      MatchID(rawValue: $0.text(0))
    }
    return open.first ?? nil
  }

  func apply(_ unit: StoreUnit) throws(StoreError) -> Verdict {
    if let mistake = unit.mistake { return .failed(mistake) }
    var conditions = self
    if let conflict = try conditions.conflict(unit) { return .conflict(conflict) }
    // A unit with a single event is one statement, which is atomic without a savepoint.
    if unit.isMove {
      do throws(StoreError) { return .applied(try write(unit)) } catch {
        guard case .failed(let what) = error else { throw error }
        return .failed(what)
      }
    }
    let done = try attempt { () throws(StoreError) in try write(unit) }
    switch done {
    case .success(let followers): return .applied(followers)
    case .failure(let error): return .failed("\(error)")
    }
  }

  /// Writes a unit whose conditions hold. Returns the nodes that follow each of its matches, except matches that the unit begins.
  private func write(_ unit: StoreUnit) throws(StoreError) -> [MatchID: [NodeID]] {
    var followers: [MatchID: [NodeID]] = [:]
    for log in unit.logs {
      if log.after == 0 {
        try begin(log)
      } else if let match = try found(log.m) {
        followers[log.m] = match.nodes
        try grow(match, log)
      }
    }
    let m = SQLiteValue.text(unit.logs.first?.m.rawValue)
    for score in unit.scores { try add(score) }
    for slot in unit.slots { try run("UPDATE account SET rated_match = ? WHERE id = ?", m, .int(slot.account)) }
    for key in unit.keys {
      try run(
        "INSERT OR REPLACE INTO used_key (account, key, purpose, match_id, at) VALUES (?, ?, ?, ?, ?)",
        .int(key.account), .text(key.key), .text(key.purpose), m, .int(now()))
    }
    for ticket in unit.tickets { try run("UPDATE ticket SET led = ? WHERE id = ?", m, .text(ticket)) }
    var rows = self
    for game in unit.games { try rows.play(game) }
    return followers
  }

  private func begin(_ log: StoreUnit.Log) throws(StoreError) {
    guard let record = log.record else { return }
    let nodes = Set(log.nodes).sorted()
    try run(
      "INSERT INTO match (id, x, o, opener, code, created, ended, nodes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      .text(record.id.rawValue), .int(record.x), .int(record.o), .int(record.opener), .text(record.code),
      .int(record.created), .int(record.ended), .text(nodes.joined(separator: " ")))
    let match = Match(n: db.lastRow, record: record, length: log.bodies.count, nodes: nodes)
    try write(log, of: match.n)
    if record.ended == nil { matches[log.m] = match }
  }

  private func grow(_ match: Match, _ log: StoreUnit.Log) throws(StoreError) {
    try write(log, of: match.n)
    matches[log.m]?.length += log.bodies.count
    guard let record = log.record, record != match.record else { return }
    try run(
      "UPDATE match SET x = ?, o = ?, opener = ?, code = ?, created = ?, ended = ? WHERE n = ?", .int(record.x),
      .int(record.o), .int(record.opener), .text(record.code), .int(record.created), .int(record.ended), .int(match.n))
    matches[log.m]?.record = record
    if record.ended != nil { matches[log.m] = nil }
  }

  private func write(_ log: StoreUnit.Log, of n: Int64) throws(StoreError) {
    for (i, body) in log.bodies.enumerated() {
      try run("INSERT INTO event (match, seq, body) VALUES (?, ?, ?)", .int(n), .int(log.after + 1 + i), .blob(body))
    }
  }

  private func add(_ change: AccountScore) throws(StoreError) {
    let score = change.onAccount
    try run(
      """
      UPDATE account SET won = won + ?, drawn = drawn + ?, lost = lost + ?, x_balance = x_balance + ?,
        rating = coalesce(?, rating), deviation = coalesce(?, deviation), volatility = coalesce(?, volatility),
        rated_at = coalesce(?, rated_at), version = version + 1 WHERE id = ?
      """, .int(score.won), .int(score.drawn), .int(score.lost), .int(score.xBalance), .real(score.rating?.value),
      .real(score.rating?.deviation), .real(score.rating?.volatility), .int(score.ratedAt), .int(score.account))
    versions[score.account] = nil
    guard db.changes == 1, !change.rules.isImplied else { return }
    let new = Standing().rating
    try run(
      "INSERT OR IGNORE INTO standing VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)", .int(change.account),
      .text(change.rules.rawValue), .real(new.value), .real(new.deviation), .real(new.volatility))
    try run(
      """
      UPDATE standing SET won = won + ?, drawn = drawn + ?, lost = lost + ?, rating = coalesce(?, rating),
        deviation = coalesce(?, deviation), volatility = coalesce(?, volatility), rated_at = coalesce(?, rated_at)
      WHERE account = ? AND rules = ?
      """, .int(change.won), .int(change.drawn), .int(change.lost), .real(change.rating?.value),
      .real(change.rating?.deviation), .real(change.rating?.volatility), .int(change.ratedAt), .int(change.account),
      .text(change.rules.rawValue))
  }
}

// MARK: questions

extension SQLiteRows {
  func answer(_ question: StoreQuestion) throws(StoreError) -> StoreAnswer {
    if let node = question.node { asker = node }
    var rows = self
    switch question {
    case .heartbeat(let node, let address):
      return .heartbeat(Heartbeat(now: now(), nodes: [NodeRecord(id: node, address: address)]))
    case .leave(let node): try leave(node)
    case .adoptOrphans(let node, let limit): return .adopted(try adoptOrphans(by: node, limit: limit))
    case .compare(let node, let memory): return .differences(try compare(node, memory))
    case .clean(let guests, let age, let lives):
      return .cleaned(isMore: try clean(guests: guests, keys: age, lives))
    case .follow(let m, let node): return .match(try follow(m, by: node))
    case .match(let m): return .match(try match(m))
    case .code(let code): return .id(try place(code))
    case .live(let limit): return .matches(try live(limit: limit))
    case .history(let account, let before, let limit):
      return .matches(try history(account, before: before, limit: limit))
    case .login(let entry, let node): return .login(try rows.login(entry, at: node))
    case .settle(let session, let generation):
      try run(
        "UPDATE session SET previous = NULL WHERE id = ? AND generation = ? AND previous IS NOT NULL", .text(session),
        .int(generation))
    case .detach(let session, let generation):
      try run("UPDATE session SET node = NULL WHERE id = ? AND generation = ?", .text(session), .int(generation))
    case .change(let who, let what): return .change(try rows.change(who, what))
    case .profile(let account): return .profile(try profile(account))
    case .accounts(let ids): return .accounts(try accounts(Set(ids).sorted()))
    case .top(let rules, let limit): return .accounts(try top(rules, limit: limit))
    case .players(let list, let after, let limit): return .accounts(try players(list, after: after, limit: limit))
    case .report(let report): try add(report)
    case .reports(let before, let limit): return .reports(try reports(before: before, limit: limit))
    case .queue(let ticket, let rated): return .queued(try rows.queue(ticket, rated: rated))
    case .unqueue(let id): try run("DELETE FROM ticket WHERE id = ? AND led IS NULL", .text(id))
    case .tickets: return .tickets(try tickets())
    case .host(let record, let most): return .tournament(try rows.host(record, most: most))
    case .tournament(let code): return .tournament(try rows.found(code))
    case .changeTournament(let code, let change): return .tournament(try rows.change(code, change))
    }
    return .done
  }

  func compare(_ node: NodeID, _ memory: Memory) throws(StoreError) -> Differences {
    var found = Differences()
    for (m, length) in memory.matches {
      let match = try self.found(m)
      if (match?.length ?? 0) != length { found.matches.append(m) }
      if let match, match.record.ended == nil { try follow(match, by: match.nodes + [node]) }
    }
    if memory.wantsOthers {
      let named = try run(
        "SELECT id FROM match WHERE ended IS NULL AND instr(' ' || nodes || ' ', ' ' || ? || ' ') > 0", .text(node)
      ) { MatchID(rawValue: $0.text(0)) }
      found.matches += named.compactMap(\.self).filter { memory.matches[$0] == nil }
    }
    found.matches.sort()
    for (id, version) in memory.accounts where try self.version(of: id) != version {
      if let account = try account(.id(id)) { found.accounts.append(account) } else { found.gone.append(id) }
    }
    found.accounts.sort { $0.id < $1.id }
    found.gone.sort()
    for (id, generation) in memory.sessions where try self.generation(of: id) != generation {
      found.sessions.append(id)
    }
    found.sessions.sort()
    for id in Set(memory.tickets).sorted() { if let led = try outcome(of: id) { found.tickets.append(led) } }
    return found
  }

  private func version(of account: Int64) throws(StoreError) -> Int64? {
    if let known = versions[account] { return known }
    let read = try run("SELECT version FROM account WHERE id = ?", .int(account)) { $0.int(0) }.first
    if versions.count >= SQLiteRows.mostRemembered { versions = [:] }
    versions[account] = read
    return read
  }

  private func generation(of session: String) throws(StoreError) -> Int64? {
    if let known = generations[session] { return known }
    let read = try run("SELECT generation FROM session WHERE id = ?", .text(session)) { $0.int(0) }.first
    if generations.count >= SQLiteRows.mostRemembered { generations = [:] }
    generations[session] = read
    return read
  }

  /// A cache is cleared at this number of entries, so that it does not keep players who have left. One comparison needs fewer.
  private static var mostRemembered: Int { 100_000 }
}
