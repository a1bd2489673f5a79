import MatchStore

/// A migration adds what its build needs. Only a later migration removes obsolete parts, once no supported build needs them.
enum SQLiteMigrations {
  /// `steps[i]` migrates a database from version i to version i + 1.
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
    // This step formerly created indexes, which the next step replaces.
    "",
    // Store events in writing order and matches by number: a batch of moves then changes only the last few pages of the file, not three
    // pages for each move. The indexes `match_x` and `match_o` keep a history from reading the whole table.
    """
    ALTER TABLE match RENAME TO former_match;
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
    // Standings in other games: the standing in the classic game is in the account's row.
    """
    CREATE TABLE standing (
      account INTEGER NOT NULL, rules TEXT NOT NULL, rating REAL NOT NULL, deviation REAL NOT NULL,
      volatility REAL NOT NULL, rated_at INTEGER NOT NULL, won INTEGER NOT NULL, drawn INTEGER NOT NULL,
      lost INTEGER NOT NULL, PRIMARY KEY (account, rules)) WITHOUT ROWID;
    """,
    // `nodes`: sorted ids of nodes, separated by spaces. `rated_match`: occupies the account's rated slot while this match is live.
    """
    ALTER TABLE event DROP COLUMN side;
    ALTER TABLE event DROP COLUMN mid;
    ALTER TABLE match ADD COLUMN nodes TEXT NOT NULL DEFAULT '';
    ALTER TABLE account ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE account ADD COLUMN rated_match TEXT;
    ALTER TABLE session ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE session ADD COLUMN node TEXT;
    CREATE TABLE ticket (
      id TEXT PRIMARY KEY, session TEXT NOT NULL, account INTEGER NOT NULL, node TEXT NOT NULL, key TEXT NOT NULL,
      purpose TEXT NOT NULL, wish TEXT NOT NULL, since INTEGER NOT NULL, led TEXT);
    CREATE INDEX ticket_account ON ticket (account);
    CREATE TABLE used_key (
      account INTEGER NOT NULL, key TEXT NOT NULL, purpose TEXT NOT NULL, match_id TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (account, key)) WITHOUT ROWID;
    CREATE INDEX used_key_at ON used_key (at);
    CREATE TABLE forgotten_account (highest INTEGER NOT NULL);
    INSERT INTO forgotten_account VALUES (0);
    CREATE INDEX match_nodes ON match (nodes) WHERE ended IS NULL;
    CREATE INDEX match_public ON match (created, id) WHERE ended IS NULL AND opener IS NULL;
    CREATE INDEX match_opener ON match (opener, ended) WHERE opener IS NOT NULL;
    CREATE INDEX match_code ON match (code) WHERE code IS NOT NULL AND ended IS NULL;
    CREATE INDEX account_token ON account (token) WHERE token IS NOT NULL;
    CREATE INDEX account_guest ON account (token_expires) WHERE guest = 1;
    CREATE INDEX account_top ON account (rating DESC, id) WHERE guest = 0 AND banned = 0 AND rated_at > 0;
    CREATE INDEX standing_top ON standing (rules, rating DESC, account) WHERE rated_at > 0;
    CREATE INDEX session_resume ON session (resume);
    CREATE INDEX session_previous ON session (previous) WHERE previous IS NOT NULL;
    CREATE INDEX session_expires ON session (expires);
    CREATE INDEX account_banned ON account (id) WHERE banned = 1;
    CREATE INDEX account_muted ON account (id) WHERE muted = 1;
    CREATE TABLE report (
      id INTEGER PRIMARY KEY, at INTEGER NOT NULL, account INTEGER NOT NULL, match_id TEXT NOT NULL,
      text TEXT NOT NULL);
    CREATE INDEX report_at ON report (at);
    """,
    // Accounts now expire 366 days after their last use; before, 90 days after their token was issued.
    """
    UPDATE account SET token_expires = token_expires + 276 * 86400000 WHERE guest = 0;
    CREATE INDEX account_expires ON account (token_expires);
    CREATE INDEX session_node ON session (node) WHERE node IS NOT NULL;
    CREATE INDEX ticket_node ON ticket (node);
    """,
    // `closes`: the time after which no game begins. Only lobbies decode `data`.
    """
    CREATE TABLE tournament (
      code TEXT PRIMARY KEY, secret BLOB NOT NULL UNIQUE, closes INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX tournament_closes ON tournament (closes);
    CREATE TABLE entrant (
      tournament TEXT NOT NULL, account INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (tournament, account))
      WITHOUT ROWID;
    """,
    // The number of names registered from an address, stored as a digest, on a day.
    """
    CREATE TABLE name_count (address BLOB NOT NULL, day INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (address, day))
      WITHOUT ROWID;
    """,
  ]

  static func run(_ db: SQLiteConnection, path: String) throws {
    try db.execute("BEGIN IMMEDIATE")
    do {
      try migrate(db, path: path)
      try db.execute("COMMIT")
    } catch {
      _ = db.rollBack()
      throw error
    }
  }

  private static func migrate(_ db: SQLiteConnection, path: String) throws {
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
