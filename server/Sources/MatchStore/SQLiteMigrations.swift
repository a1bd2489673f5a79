import TicTacToe

/// The schema and its history. A migration expands first; what it makes needless is removed in a later version, once
/// no build that needs it is left. `min_reader` says which builds may still open the file.
enum SQLiteMigrations {
  /// The statements that lead from each version to the next; the index is the version they start from.
  static let steps: [String] = [
    """
    CREATE TABLE account (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, name_lower TEXT NOT NULL UNIQUE, guest INTEGER NOT NULL,
      token BLOB, token_expires INTEGER NOT NULL, rating REAL NOT NULL, deviation REAL NOT NULL,
      volatility REAL NOT NULL, rated_at INTEGER NOT NULL, won INTEGER NOT NULL, drawn INTEGER NOT NULL,
      lost INTEGER NOT NULL, x_balance INTEGER NOT NULL, quiet INTEGER NOT NULL, muted INTEGER NOT NULL,
      banned INTEGER NOT NULL, blocked TEXT NOT NULL);
    CREATE TABLE session (
      id TEXT PRIMARY KEY, account INTEGER NOT NULL, resume BLOB NOT NULL, previous BLOB, expires INTEGER NOT NULL);
    CREATE INDEX session_account ON session (account);
    CREATE TABLE match (
      id TEXT PRIMARY KEY, x INTEGER, o INTEGER, opener INTEGER, code TEXT, created INTEGER NOT NULL, ended INTEGER,
      seq INTEGER NOT NULL);
    CREATE TABLE match_event (
      match_id TEXT NOT NULL, seq INTEGER NOT NULL, side TEXT NOT NULL, mid TEXT, body BLOB NOT NULL,
      PRIMARY KEY (match_id, seq), UNIQUE (match_id, side, mid)) WITHOUT ROWID;
    CREATE INDEX match_live ON match (id) WHERE ended IS NULL;
    """,
    // Histories are read by seat and end; without these a long-lived server reads its whole table for each.
    """
    CREATE INDEX match_x ON match (x, ended);
    CREATE INDEX match_o ON match (o, ended);
    """,
    // Events in the order in which they are written, and matches by a number: the pages that a batch of moves touches are
    // the last few, where it was three for each move. That a command is done once is the lobby's business.
    """
    ALTER TABLE match RENAME TO former_match;
    DROP INDEX match_live; DROP INDEX match_x; DROP INDEX match_o;
    CREATE TABLE match (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, x INTEGER, o INTEGER, opener INTEGER, code TEXT,
      created INTEGER NOT NULL, ended INTEGER);
    INSERT INTO match (id, x, o, opener, code, created, ended)
      SELECT id, x, o, opener, code, created, ended FROM former_match ORDER BY created, id;
    CREATE TABLE event (
      match INTEGER NOT NULL, seq INTEGER NOT NULL, side TEXT NOT NULL, mid TEXT, body BLOB NOT NULL);
    INSERT INTO event SELECT n, seq, side, mid, body FROM match JOIN match_event ON match_id = id ORDER BY n, seq;
    DROP TABLE match_event; DROP TABLE former_match;
    CREATE UNIQUE INDEX event_match ON event (match, seq);
    CREATE INDEX match_ended ON match (ended);
    CREATE INDEX match_x ON match (x, ended);
    CREATE INDEX match_o ON match (o, ended);
    """,
    // How an account stands in the other games; the account's own row has the classic one.
    """
    CREATE TABLE standing (
      account INTEGER NOT NULL, rules TEXT NOT NULL, rating REAL NOT NULL, deviation REAL NOT NULL,
      volatility REAL NOT NULL, rated_at INTEGER NOT NULL, won INTEGER NOT NULL, drawn INTEGER NOT NULL,
      lost INTEGER NOT NULL, PRIMARY KEY (account, rules)) WITHOUT ROWID;
    """,
  ]

  /// Brings a database up to this build's version, in one transaction.
  static func run(_ db: SQLiteConnection, path: String) throws {
    try db.transact {
      try db.execute("CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL)")
      let found = try db.run("SELECT version, min_reader FROM schema") { (Int($0.int(0)), Int($0.int(1))) }.first
      let (version, minReader) = found ?? (0, 0)
      guard minReader <= SQLiteStore.version else {
        throw StoreError.tooNew(
          "\(path) needs a build that reads version \(minReader); this one reads \(SQLiteStore.version)")
      }
      guard version < SQLiteStore.version else { return }
      for step in steps[version...] { try db.execute(step) }
      try db.run("DELETE FROM schema")
      try db.run(
        "INSERT INTO schema VALUES (?, ?)", .int(SQLiteStore.version), .int(max(minReader, SQLiteStore.minReader)))
    }
  }
}

enum AccountRow {
  static func put(_ a: AccountRecord, _ db: SQLiteConnection) throws {
    for rules in Variant.allCases where rules != .classic && a[rules] != Standing() {
      let s = a[rules]
      try db.run(
        "INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", .int(a.id), .text(rules.rawValue),
        .real(s.rating.value), .real(s.rating.deviation), .real(s.rating.volatility), .int(s.ratedAt), .int(s.won),
        .int(s.drawn), .int(s.lost))
    }
    let blocked = a.blocked.map(String.init).joined(separator: ",")
    // Most changes leave the name, and so its index, alone.
    try db.run(
      """
      UPDATE account SET guest = ?, token = ?, token_expires = ?, rating = ?, deviation = ?, volatility = ?,
        rated_at = ?, won = ?, drawn = ?, lost = ?, x_balance = ?, quiet = ?, muted = ?, banned = ?, blocked = ?
      WHERE id = ? AND name = ?
      """, .bool(a.guest), .blob(a.token), .int(a.tokenExpires), .real(a.rating.value), .real(a.rating.deviation),
      .real(a.rating.volatility), .int(a.ratedAt), .int(a.won), .int(a.drawn), .int(a.lost), .int(a.xBalance),
      .bool(a.quiet), .bool(a.muted), .bool(a.banned), .text(blocked), .int(a.id), .text(a.name))
    guard db.changes == 0 else { return }
    try db.run(
      """
      INSERT INTO account VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, name_lower = excluded.name_lower, guest = excluded.guest,
        token = excluded.token, token_expires = excluded.token_expires, rating = excluded.rating,
        deviation = excluded.deviation, volatility = excluded.volatility, rated_at = excluded.rated_at,
        won = excluded.won, drawn = excluded.drawn, lost = excluded.lost, x_balance = excluded.x_balance,
        quiet = excluded.quiet, muted = excluded.muted, banned = excluded.banned, blocked = excluded.blocked
      """, .int(a.id), .text(a.name), .text(a.name.lowercased()), .bool(a.guest), .blob(a.token), .int(a.tokenExpires),
      .real(a.rating.value), .real(a.rating.deviation), .real(a.rating.volatility), .int(a.ratedAt), .int(a.won),
      .int(a.drawn), .int(a.lost), .int(a.xBalance), .bool(a.quiet), .bool(a.muted), .bool(a.banned), .text(blocked))
  }

  static func add(_ change: AccountScore, _ db: SQLiteConnection) throws {
    let score = change.onAccount
    try db.run(
      """
      UPDATE account SET won = won + ?, drawn = drawn + ?, lost = lost + ?, x_balance = x_balance + ?,
        rating = coalesce(?, rating), deviation = coalesce(?, deviation), volatility = coalesce(?, volatility),
        rated_at = coalesce(?, rated_at) WHERE id = ?
      """, .int(score.won), .int(score.drawn), .int(score.lost), .int(score.xBalance), .real(score.rating?.value),
      .real(score.rating?.deviation), .real(score.rating?.volatility), .int(score.ratedAt), .int(score.account))
    guard db.changes == 1 else { throw StoreError.conflict("there is no account \(score.account)") }
    guard change.rules != .classic else { return }
    let new = Standing().rating
    try db.run(
      """
      INSERT OR IGNORE INTO standing VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)
      """, .int(change.account), .text(change.rules.rawValue), .real(new.value), .real(new.deviation),
      .real(new.volatility))
    try db.run(
      """
      UPDATE standing SET won = won + ?, drawn = drawn + ?, lost = lost + ?, rating = coalesce(?, rating),
        deviation = coalesce(?, deviation), volatility = coalesce(?, volatility), rated_at = coalesce(?, rated_at)
      WHERE account = ? AND rules = ?
      """, .int(change.won), .int(change.drawn), .int(change.lost), .real(change.rating?.value),
      .real(change.rating?.deviation), .real(change.rating?.volatility), .int(change.ratedAt), .int(change.account),
      .text(change.rules.rawValue))
  }

  static func all(_ db: SQLiteConnection) throws -> [AccountRecord] {
    var standings: [Int64: [(rules: Variant, standing: Standing)]] = [:]
    let others = try db.run(
      "SELECT account, rules, rating, deviation, volatility, rated_at, won, drawn, lost FROM standing"
    ) { row -> (account: Int64, rules: Variant?, standing: Standing) in
      var standing = Standing()
      standing.rating = Glicko2.Rating(value: row.real(2), deviation: row.real(3), volatility: row.real(4))
      (standing.ratedAt, standing.won) = (row.int(5), Int(row.int(6)))
      (standing.drawn, standing.lost) = (Int(row.int(7)), Int(row.int(8)))
      return (row.int(0), Variant(rawValue: row.text(1)), standing)
    }
    for row in others { if let rules = row.rules { standings[row.account, default: []].append((rules, row.standing)) } }
    return try db.run(
      """
      SELECT id, name, guest, token, token_expires, rating, deviation, volatility, rated_at, won, drawn, lost, x_balance,
        quiet, muted, banned, blocked FROM account ORDER BY id
      """
    ) { row in
      var account = AccountRecord(
        id: row.int(0), name: row.text(1), guest: row.bool(2), token: row.digest(3), tokenExpires: row.int(4))
      account.rating = Glicko2.Rating(value: row.real(5), deviation: row.real(6), volatility: row.real(7))
      account.ratedAt = row.int(8)
      account.won = Int(row.int(9))
      account.drawn = Int(row.int(10))
      account.lost = Int(row.int(11))
      account.xBalance = Int(row.int(12))
      account.quiet = row.bool(13)
      account.muted = row.bool(14)
      account.banned = row.bool(15)
      account.blocked = row.text(16).split(separator: ",").compactMap { Int64($0) }
      for other in standings[account.id] ?? [] { account[other.rules] = other.standing }
      return account
    }
  }
}
