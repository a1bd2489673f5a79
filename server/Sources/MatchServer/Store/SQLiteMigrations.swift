import Foundation
import GRDB
import MatchProtocol
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
  ]

  /// Brings a database up to this build's version, in one transaction.
  static func run(_ pool: DatabasePool, path: String) throws {
    try pool.write { db in
      try db.execute(sql: "CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL)")
      let row = try Row.fetchOne(db, sql: "SELECT version, min_reader FROM schema")
      let version: Int = row?["version"] ?? 0
      let minReader: Int = row?["min_reader"] ?? 0
      guard minReader <= SQLiteStore.version else {
        throw StoreError.tooNew(
          "\(path) needs a build that reads version \(minReader); this one reads \(SQLiteStore.version)")
      }
      guard version < SQLiteStore.version else { return }
      for step in steps[version...] { try db.execute(sql: step) }
      try db.execute(sql: "DELETE FROM schema")
      try db.execute(
        sql: "INSERT INTO schema VALUES (?, ?)",
        arguments: [SQLiteStore.version, max(minReader, SQLiteStore.minReader)])
    }
  }
}

/// Accounts in SQL.
enum AccountRow {
  static func put(_ account: AccountRecord, _ db: Database) throws {
    // Most changes leave the name, and so its index, alone.
    try db.cachedStatement(
      sql: """
        UPDATE account SET guest = ?, token = ?, token_expires = ?, rating = ?, deviation = ?, volatility = ?,
          rated_at = ?, won = ?, drawn = ?, lost = ?, x_balance = ?, quiet = ?, muted = ?, banned = ?, blocked = ?
        WHERE id = ? AND name = ?
        """
    ).run(db) {
      add(account, to: &$0)
      $0.add(account.id)
      $0.add(account.name)
    }
    guard db.changesCount == 0 else { return }
    try db.cachedStatement(
      sql: """
        INSERT INTO account VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, name_lower = excluded.name_lower, guest = excluded.guest,
          token = excluded.token, token_expires = excluded.token_expires, rating = excluded.rating,
          deviation = excluded.deviation, volatility = excluded.volatility, rated_at = excluded.rated_at,
          won = excluded.won, drawn = excluded.drawn, lost = excluded.lost, x_balance = excluded.x_balance,
          quiet = excluded.quiet, muted = excluded.muted, banned = excluded.banned, blocked = excluded.blocked
        """
    ).run(db) {
      $0.add(account.id)
      $0.add(account.name)
      $0.add(account.name.lowercased())
      add(account, to: &$0)
    }
  }

  /// Binds everything behind the name.
  private static func add(_ account: AccountRecord, to values: inout SQLiteBinder) {
    values.add(account.guest)
    values.add(account.token)
    values.add(account.tokenExpires)
    values.add(account.rating.value)
    values.add(account.rating.deviation)
    values.add(account.rating.volatility)
    values.add(account.ratedAt)
    values.add(account.won)
    values.add(account.drawn)
    values.add(account.lost)
    values.add(account.xBalance)
    values.add(account.quiet)
    values.add(account.muted)
    values.add(account.banned)
    values.add(account.blocked.isEmpty ? "" : account.blocked.map(String.init).joined(separator: ","))
  }

  static func add(_ score: AccountScore, _ db: Database) throws {
    try db.cachedStatement(
      sql: """
        UPDATE account SET won = won + ?, drawn = drawn + ?, lost = lost + ?, x_balance = x_balance + ?,
          rating = coalesce(?, rating), deviation = coalesce(?, deviation), volatility = coalesce(?, volatility),
          rated_at = coalesce(?, rated_at) WHERE id = ?
        """
    ).execute(arguments: [
      score.won, score.drawn, score.lost, score.xBalance, score.rating?.value, score.rating?.deviation,
      score.rating?.volatility, score.ratedAt, score.account,
    ])
    guard db.changesCount == 1 else { throw StoreError.conflict("there is no account \(score.account)") }
  }

  static func all(_ db: Database) throws -> [AccountRecord] {
    try Row.fetchAll(db, sql: "SELECT * FROM account ORDER BY id").map { row in
      var account = AccountRecord(
        id: row["id"], name: row["name"], guest: row["guest"],
        token: (row["token"] as Data?).flatMap { SHA256.Digest(bytes: $0) }, tokenExpires: row["token_expires"])
      account.rating = Glicko2.Rating(
        value: row["rating"], deviation: row["deviation"], volatility: row["volatility"])
      account.ratedAt = row["rated_at"]
      account.won = row["won"]
      account.drawn = row["drawn"]
      account.lost = row["lost"]
      account.xBalance = row["x_balance"]
      account.quiet = row["quiet"]
      account.muted = row["muted"]
      account.banned = row["banned"]
      account.blocked = (row["blocked"] as String).split(separator: ",").compactMap { Int64($0) }
      return account
    }
  }
}
