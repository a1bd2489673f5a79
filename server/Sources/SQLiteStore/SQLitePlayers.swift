import Base
import MatchProtocol
import MatchStore
import TicTacToe

extension SQLiteRows {
  /// Reads the columns `id, name, guest, token, …, version`: an account without its standings in games other than the classic one.
  private static func account(_ row: SQLiteRow) -> AccountRecord {
    var account = AccountRecord(
      id: row.int(0), name: row.text(1), guest: row.bool(2), token: row.digest(3), tokenExpires: row.int(4))
    account.rating = Glicko2.Rating(value: row.real(5), deviation: row.real(6), volatility: row.real(7))
    (account.ratedAt, account.won) = (row.int(8), Int(row.int(9)))
    (account.drawn, account.lost, account.xBalance) = (Int(row.int(10)), Int(row.int(11)), Int(row.int(12)))
    (account.quiet, account.muted, account.banned) = (row.bool(13), row.bool(14), row.bool(15))
    account.blocked = row.text(16).split(separator: ",").compactMap { Int64($0) }
    account.version = row.int(17)
    return account
  }

  /// Reads the columns `rules, rating, …`.
  private static func standing(_ row: SQLiteRow) -> (rules: Variant?, standing: Standing) {
    var standing = Standing()
    standing.rating = Glicko2.Rating(value: row.real(1), deviation: row.real(2), volatility: row.real(3))
    (standing.ratedAt, standing.won) = (row.int(4), Int(row.int(5)))
    (standing.drawn, standing.lost) = (Int(row.int(6)), Int(row.int(7)))
    return (Variant(rawValue: row.text(0)), standing)
  }

  /// The accounts in the order of `ids`; missing accounts are left out.
  func accounts(_ ids: [Int64]) throws(StoreError) -> [AccountRecord] {
    var found: [AccountRecord] = []
    for id in ids { if let account = try account(.id(id)) { found.append(account) } }
    return found
  }

  func accounts() throws(StoreError) -> [AccountRecord] {
    try accounts(run("SELECT id FROM account ORDER BY id") { $0.int(0) })
  }

  func top(_ rules: Variant, limit: Int) throws(StoreError) -> [AccountRecord] {
    let ids =
      rules.isImplied
      ? try run(
        """
        SELECT id FROM account WHERE guest = 0 AND banned = 0 AND rated_at > 0 ORDER BY rating DESC, id LIMIT ?
        """, .int(limit)
      ) { $0.int(0) }
      : try run(
        """
        SELECT id FROM standing s JOIN account ON id = s.account
        WHERE s.rules = ? AND s.rated_at > 0 AND guest = 0 AND banned = 0 ORDER BY s.rating DESC, s.account LIMIT ?
        """, .text(rules.rawValue), .int(limit)
      ) { $0.int(0) }
    return try accounts(ids)
  }

  func players(_ list: PlayerList, after: Int64, limit: Int) throws(StoreError) -> [AccountRecord] {
    let sql: StaticString =
      switch list {
      case .named: "SELECT id FROM account WHERE guest = 0 AND id > ? ORDER BY id LIMIT ?"
      case .banned: "SELECT id FROM account WHERE banned = 1 AND id > ? ORDER BY id LIMIT ?"
      case .muted: "SELECT id FROM account WHERE muted = 1 AND id > ? ORDER BY id LIMIT ?"
      case .guests: "SELECT id FROM account WHERE guest = 1 AND id > ? ORDER BY id LIMIT ?"
      }
    return try accounts(run(sql, .int(after), .int(limit)) { $0.int(0) })
  }

  func add(_ report: ReportRecord) throws(StoreError) {
    try run(
      "INSERT INTO report (at, account, match_id, text) VALUES (?, ?, ?, ?)",
      .int(report.at == 0 ? now() : report.at), .int(report.account), .text(report.m.rawValue), .text(report.text))
  }

  func reports(before: Int64, limit: Int) throws(StoreError) -> [ReportRecord] {
    try run(
      """
      SELECT r.id, r.at, r.account, a.name, r.match_id, r.text, b.name
      FROM report r LEFT JOIN account a ON a.id = r.account LEFT JOIN match m ON m.id = r.match_id
        LEFT JOIN account b ON b.id = iif(m.x = r.account, m.o, m.x)
      WHERE r.id < ? ORDER BY r.id DESC LIMIT ?
      """, .int(before), .int(limit)
    ) { row in
      MatchID(rawValue: row.text(4)).map {
        ReportRecord(
          id: row.int(0), at: row.int(1), account: row.int(2), name: row.text(3), m: $0, opponent: row.text(6),
          text: row.text(5))
      }
    }.compactMap(\.self)
  }

  func insert(_ a: AccountRecord) throws(StoreError) {
    try put(
      """
      INSERT INTO account (id, name, name_lower, guest, token, token_expires, rating, deviation, volatility, rated_at,
        won, drawn, lost, x_balance, quiet, muted, banned, blocked)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, a)
    lastAccount = lastAccount.map { max($0, a.id) }
  }

  /// Runs a statement with an account's fields, the id first, and writes the standings in all games but the classic one.
  private func put(_ sql: StaticString, _ a: AccountRecord) throws(StoreError) {
    try run(
      sql, .int(a.id), .text(a.name), .text(a.name.lowercased()), .bool(a.guest), .blob(a.token),
      .int(a.tokenExpires), .real(a.rating.value), .real(a.rating.deviation), .real(a.rating.volatility),
      .int(a.ratedAt), .int(a.won), .int(a.drawn), .int(a.lost), .int(a.xBalance), .bool(a.quiet), .bool(a.muted),
      .bool(a.banned), .text(a.blocked.map(String.init).joined(separator: ",")))
    for rules in Variant.allCases where !rules.isImplied && a[rules] != Standing() {
      let s = a[rules]
      try run(
        "INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", .int(a.id), .text(rules.rawValue),
        .real(s.rating.value), .real(s.rating.deviation), .real(s.rating.volatility), .int(s.ratedAt), .int(s.won),
        .int(s.drawn), .int(s.lost))
    }
  }

  private func highestAccount() throws(StoreError) -> Int64 {
    if let lastAccount { return lastAccount }
    let highest = try run(
      """
      SELECT max((SELECT highest FROM forgotten_account), coalesce((SELECT max(id) FROM account), 0),
        coalesce((SELECT max(x) FROM match), 0), coalesce((SELECT max(o) FROM match), 0),
        coalesce((SELECT max(opener) FROM match WHERE opener IS NOT NULL), 0))
      """
    ) { $0.int(0) }.first
    lastAccount = highest
    return highest ?? 0
  }

  // MARK: cleaning

  /// Returns whether more expired rows may be left to delete.
  func clean(guests most: Int, keys age: Int64, _ lives: Lifetimes) throws(StoreError) -> Bool {
    let (time, limit) = (now(), StoreQuestion.cleanedAtOnce)
    generations = [:]
    // How many rows each step has found, at most `limit`.
    let counts = try [
      renewSessions(lives, at: time, limit: limit), dropSessions(expiredAt: time, limit: limit),
      forgetAccounts(expiredAt: time, limit: limit), forgetIdleGuests(beyond: most, limit: limit),
    ]
    let others = try dropOldRows(at: time, keys: age, limit: limit)
    return (counts + others).contains { $0 >= limit }
  }

  private func renewSessions(_ lives: Lifetimes, at time: Int64, limit: Int) throws(StoreError) -> Int {
    let fresh = lives.fresh
    let here = try run(
      """
      SELECT s.id, a.id, a.guest FROM session s JOIN account a ON a.id = s.account
      WHERE s.node = ? AND s.expires < iif(a.guest, ?, ?) LIMIT ?
      """, .text(asker), .int(time + fresh.guest), .int(time + fresh.account), .int(limit)
    ) { (session: $0.text(0), account: $0.int(1), isGuest: $0.bool(2)) }
    for one in here {
      let expires = time + lives.life(ofGuest: one.isGuest)
      try run("UPDATE session SET expires = ? WHERE id = ?", .int(expires), .text(one.session))
      try renew(account: one.account, until: expires)
    }
    return here.count
  }

  private func dropSessions(expiredAt time: Int64, limit: Int) throws(StoreError) -> Int {
    try run(
      """
      DELETE FROM session WHERE id IN (
        SELECT id FROM session WHERE expires <= ? AND (node IS NULL OR node IS NOT ?) LIMIT ?)
      """, .int(time), .text(asker), .int(limit))
    return db.changes
  }

  /// Keeps accounts that played in a match that ended less than ten minutes ago: a rematch may need them.
  private func forgetAccounts(expiredAt time: Int64, limit: Int) throws(StoreError) -> Int {
    let expired = try run(
      """
      SELECT id FROM account a INDEXED BY account_expires
      WHERE token_expires <= ?1 AND (guest = 1 OR banned = 0)
        AND NOT EXISTS (SELECT 1 FROM session WHERE account = a.id)
        AND NOT EXISTS (SELECT 1 FROM match WHERE x = a.id AND ended IS NULL)
        AND NOT EXISTS (SELECT 1 FROM match WHERE o = a.id AND ended IS NULL)
        AND NOT EXISTS (SELECT 1 FROM match WHERE x = a.id AND ended > ?1 - 600000)
        AND NOT EXISTS (SELECT 1 FROM match WHERE o = a.id AND ended > ?1 - 600000)
        AND NOT EXISTS (SELECT 1 FROM match WHERE opener = a.id AND ended IS NULL)
      LIMIT ?2
      """, .int(time), .int(limit)
    ) { $0.int(0) }
    for id in expired { try forget(account: id) }
    return expired.count
  }

  private func forgetIdleGuests(beyond most: Int, limit: Int) throws(StoreError) -> Int {
    let count =
      try run(
        "SELECT count(*) FROM (SELECT 1 FROM account WHERE guest = 1 LIMIT ?)", .int(most + limit)
      ) { Int($0.int(0)) }.first ?? 0
    guard count > most else { return 0 }
    let idle = try run(
      """
      SELECT id FROM account a WHERE guest = 1
        AND NOT EXISTS (SELECT 1 FROM session WHERE account = a.id AND node = ?)
        AND NOT EXISTS (SELECT 1 FROM match WHERE x = a.id AND ended IS NULL)
        AND NOT EXISTS (SELECT 1 FROM match WHERE o = a.id AND ended IS NULL)
        AND NOT EXISTS (SELECT 1 FROM match WHERE opener = a.id AND ended IS NULL)
      ORDER BY token_expires, id LIMIT ?
      """, .text(asker), .int(count - most)
    ) { $0.int(0) }
    for id in idle { try forget(account: id) }
    return idle.count
  }

  private func dropOldRows(at time: Int64, keys age: Int64, limit: Int) throws(StoreError) -> [Int] {
    try run(
      """
      DELETE FROM used_key WHERE (account, key) IN (
        SELECT account, key FROM used_key WHERE at < ?
          AND NOT EXISTS (SELECT 1 FROM match WHERE id = match_id AND ended IS NULL) LIMIT ?)
      """, .int(time - age), .int(limit))
    var counts = [db.changes]
    try run(
      """
      DELETE FROM ticket WHERE id IN (
        SELECT id FROM ticket WHERE led IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM match WHERE match.id = led AND ended IS NULL) LIMIT ?)
      """, .int(limit))
    counts.append(db.changes)
    try run(
      "DELETE FROM report WHERE id IN (SELECT id FROM report WHERE at < ? LIMIT ?)",
      .int(time - ReportRecord.lives), .int(limit))
    counts.append(db.changes)
    try run(
      "DELETE FROM name_count WHERE (address, day) IN (SELECT address, day FROM name_count WHERE day < ? LIMIT ?)",
      .int(time / 86_400_000), .int(limit))
    counts.append(db.changes)
    try dropTournaments(closedBefore: time - TournamentRecord.kept)
    return counts + [db.changes]
  }

  private func forget(account: Int64) throws(StoreError) {
    try run("DELETE FROM session WHERE account = ?", .int(account))
    try run("DELETE FROM standing WHERE account = ?", .int(account))
    try run("DELETE FROM ticket WHERE account = ?", .int(account))
    try run("DELETE FROM account WHERE id = ?", .int(account))
    versions[account] = nil
    try keepNumber(account)
  }

  /// Reserves the id of a deleted account, so that no new account gets it.
  func keepNumber(_ account: Int64) throws(StoreError) {
    try run("UPDATE forgotten_account SET highest = max(highest, ?)", .int(account))
    lastAccount = lastAccount.map { max($0, account) }
  }
}

// MARK: rows for logins and account changes

extension SQLiteRows: StoreRows {
  func now() -> Int64 { clock() }

  func account(_ who: AccountReference) throws(StoreError) -> AccountRecord? {
    switch who {
    case .name(let name): return try holder(of: name).flatMap { (id) throws(StoreError) in try account(.id(id)) }
    case .id(let id):
      let found = try run(
        """
        SELECT id, name, guest, token, token_expires, rating, deviation, volatility, rated_at, won, drawn, lost,
          x_balance, quiet, muted, banned, blocked, version FROM account WHERE id = ?
        """, .int(id), row: SQLiteRows.account)
      guard var account = found.first else { return nil }
      let others = try run(
        """
        SELECT rules, rating, deviation, volatility, rated_at, won, drawn, lost FROM standing WHERE account = ?
        """, .int(id), row: SQLiteRows.standing)
      for case let (rules?, standing) in others { account[rules] = standing }
      return account
    }
  }

  func account(token: SHA256.Digest) throws(StoreError) -> AccountRecord? {
    let id = try run("SELECT id FROM account WHERE token = ? LIMIT 1", .blob(token)) { $0.int(0) }.first
    guard let id else { return nil }
    return try account(.id(id))
  }

  func holder(of name: String) throws(StoreError) -> Int64? {
    try run("SELECT id FROM account WHERE name_lower = ?", .text(name.lowercased())) { $0.int(0) }.first
  }

  func replace(_ a: AccountRecord) throws(StoreError) {
    try put(
      """
      UPDATE account SET name = ?2, name_lower = ?3, guest = ?4, token = ?5, token_expires = ?6, rating = ?7,
        deviation = ?8, volatility = ?9, rated_at = ?10, won = ?11, drawn = ?12, lost = ?13, x_balance = ?14,
        quiet = ?15, muted = ?16, banned = ?17, blocked = ?18, version = version + 1
      WHERE id = ?1
      """, a)
    versions[a.id] = nil
  }

  func countName(_ quota: NameQuota, day: Int64) throws(StoreError) -> Bool {
    try run(
      """
      INSERT INTO name_count VALUES (?, ?, 1)
        ON CONFLICT DO UPDATE SET count = count + 1 WHERE count < ?
      """, .blob(quota.address), .int(day), .int(quota.most))
    return db.changes > 0
  }

  func renew(account: Int64, until expires: Int64) throws(StoreError) {
    try run("UPDATE account SET token_expires = ? WHERE id = ?", .int(expires), .int(account))
  }

  func add(_ account: AccountRecord) throws(StoreError) -> AccountRecord {
    var account = account
    account.id = try highestAccount() + 1
    try insert(account)
    return account
  }

  func profile(_ id: Int64) throws(StoreError) -> Profile? {
    guard let account = try account(.id(id)) else { return nil }
    let openings = try run(
      """
      SELECT n, id, x, o, opener, code, created, ended, (SELECT max(seq) FROM event WHERE match = n),
        e.body
      FROM match LEFT JOIN event e ON e.match = n AND e.seq = 1
      WHERE n IN (
        SELECT n FROM match WHERE x = ?1 AND ended IS NULL UNION SELECT n FROM match WHERE o = ?1 AND ended IS NULL
        UNION SELECT n FROM match WHERE opener = ?1 AND ended IS NULL)
      ORDER BY created, id
      """, .int(id)
    ) { row in
      SQLiteRows.record(row).map {
        StoredMatch(
          record: $0.record, bodies: row.isNull(9) ? [] : [row.bytes(9)],
          length: Int(row.int(8)))
      }
    }.compactMap { $0 }
    let last = try run(
      """
      SELECT id FROM match WHERE (x = ?1 OR o = ?1) AND ended > ?2 ORDER BY ended DESC, id DESC LIMIT 1
      """, .int(id), .int(now() - 60_000)
    ) { MatchID(rawValue: $0.text(0)) }
    var names: [String] = []
    for other in account.blocked.suffix(50) {
      names += try run("SELECT name FROM account WHERE id = ?", .int(other)) { $0.text(0) }
    }
    return Profile(account: account, last: last.first ?? nil, blockedNames: names, openings: openings)
  }

  func session(presenting token: SHA256.Digest) throws(StoreError) -> SessionRecord? {
    try run(
      """
      SELECT id, account, resume, previous, expires FROM session WHERE resume = ?1 OR previous = ?1 ORDER BY id LIMIT 1
      """, .blob(token)
    ) { row in
      row.digest(2).map {
        SessionRecord(id: row.text(0), account: row.int(1), resume: $0, previous: row.digest(3), expires: row.int(4))
      }
    }.first ?? nil
  }

  func login(_ session: SessionRecord, at node: NodeID) throws(StoreError) -> (generation: Int64, before: NodeID?) {
    let before = try run("SELECT generation, node FROM session WHERE id = ?", .text(session.id)) {
      (generation: $0.int(0), node: $0.optionalText(1))
    }.first
    let generation = (before?.generation ?? 0) + 1
    try run(
      """
      INSERT OR REPLACE INTO session (id, account, resume, previous, expires, generation, node)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, .text(session.id), .int(session.account), .blob(session.resume), .blob(session.previous),
      .int(session.expires), .int(generation), .text(node))
    generations[session.id] = nil
    return (generation, before?.node)
  }

  private func forget(sessions: [String]) throws(StoreError) -> [String] {
    for id in sessions {
      try run("DELETE FROM session WHERE id = ?", .text(id))
      generations[id] = nil
    }
    return sessions.sorted()
  }

  func forgetSessions(of account: Int64, but kept: String) throws(StoreError) -> [String] {
    let gone = try run("SELECT id FROM session WHERE account = ? AND id <> ?", .int(account), .text(kept)) {
      $0.text(0)
    }
    return try forget(sessions: gone)
  }

  func trimSessions(of account: Int64, to most: Int, but kept: String) throws(StoreError) -> [String] {
    let gone = try run(
      """
      SELECT id FROM session WHERE account = ? AND id <> ? ORDER BY node IS NOT ?, expires DESC, id DESC
      LIMIT -1 OFFSET ?
      """, .int(account), .text(kept), .text(asker), .int(most - 1)
    ) { $0.text(0) }
    return try forget(sessions: gone)
  }
}

// MARK: rows for the queue

extension SQLiteRows: QueueRows {
  func hasAccount(_ id: Int64) throws(StoreError) -> Bool {
    try !run("SELECT 1 FROM account WHERE id = ?", .int(id)) { _ in }.isEmpty
  }

  /// Reads the columns `id, session, account, node, key, purpose, wish, since`.
  private static func ticket(_ row: SQLiteRow) -> TicketRecord {
    TicketRecord(
      id: row.text(0), session: row.text(1), account: row.int(2), node: row.text(3), key: row.text(4),
      purpose: row.text(5), wish: row.text(6), since: row.int(7))
  }

  func tickets(session: String, key: String, account: Int64) throws(StoreError) -> [TicketRecord] {
    try run(
      """
      SELECT id, session, account, node, key, purpose, wish, since FROM ticket
      WHERE account = ?1 AND led IS NULL AND (session = ?2 OR (key = ?3 AND key <> '')) ORDER BY id
      """, .int(account), .text(session), .text(key), row: SQLiteRows.ticket)
  }

  func tickets() throws(StoreError) -> [WaitingTicket] {
    let all = try run(
      """
      SELECT id, session, account, node, key, purpose, wish, since FROM ticket WHERE led IS NULL ORDER BY since, id
      """, row: SQLiteRows.ticket)
    var waiting: [WaitingTicket] = []
    for ticket in all {
      if let account = try account(.id(ticket.account)) { waiting.append(WaitingTicket(ticket, account)) }
    }
    return waiting
  }

  /// Returns the match to which a ticket led, or no match if the ticket is gone; `nil` while the ticket waits.
  func outcome(of ticket: String) throws(StoreError) -> Differences.LedTicket? {
    let found = try run("SELECT led FROM ticket WHERE id = ?", .text(ticket)) { $0.optionalText(0) }.first
    guard let led = found else { return .init(id: ticket, m: nil) }
    return led.map { .init(id: ticket, m: MatchID(rawValue: $0)) }
  }

  func put(_ ticket: TicketRecord) throws(StoreError) {
    try run(
      """
      INSERT OR IGNORE INTO ticket (id, session, account, node, key, purpose, wish, since)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(ticket.id), .text(ticket.session), .int(ticket.account), .text(ticket.node), .text(ticket.key),
      .text(ticket.purpose), .text(ticket.wish), .int(ticket.since))
  }

  func drop(ticket: String) throws(StoreError) { try run("DELETE FROM ticket WHERE id = ?", .text(ticket)) }
}
