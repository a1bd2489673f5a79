import MatchStore

/// A migration adds what its build needs. Only a later migration removes obsolete parts, once no supported build needs them.
enum PostgresMigrations {
  /// The schema this build writes.
  static let version = steps.count
  /// The oldest build that can use the database: older builds need the owners of matches (columns `epoch`), which version 7 removed. Raise
  /// the number only if a migration removes something.
  static let minReader = 7

  /// `steps[i]` migrates a database from version i to version i + 1.
  static let steps: [[String]] = [
    [
      """
      CREATE TABLE account (
        id BIGINT PRIMARY KEY, name TEXT NOT NULL, name_lower TEXT COLLATE "C" NOT NULL, guest BOOLEAN NOT NULL,
        token BYTEA, token_expires BIGINT NOT NULL, rating DOUBLE PRECISION NOT NULL,
        deviation DOUBLE PRECISION NOT NULL, volatility DOUBLE PRECISION NOT NULL, rated_at BIGINT NOT NULL,
        won BIGINT NOT NULL, drawn BIGINT NOT NULL, lost BIGINT NOT NULL, x_balance BIGINT NOT NULL,
        quiet BOOLEAN NOT NULL, muted BOOLEAN NOT NULL, banned BOOLEAN NOT NULL, blocked BIGINT[] NOT NULL)
        WITH (fillfactor = 70)
      """,
      "CREATE UNIQUE INDEX account_name ON account (name_lower)",
      """
      CREATE TABLE session (
        id TEXT COLLATE "C" PRIMARY KEY, account BIGINT NOT NULL, resume BYTEA NOT NULL, previous BYTEA,
        expires BIGINT NOT NULL)
      """,
      "CREATE INDEX session_account ON session (account)",
      // Half of each page stays free for new versions of its rows. So a move's update of `seq` stays on the page and changes no index.
      """
      CREATE TABLE match (
        id TEXT COLLATE "C" PRIMARY KEY, x BIGINT, o BIGINT, opener BIGINT, code TEXT, created BIGINT NOT NULL,
        ended BIGINT, seq BIGINT NOT NULL, epoch BIGINT NOT NULL DEFAULT 0)
        WITH (fillfactor = 50)
      """,
      "CREATE INDEX match_x ON match (x, ended)", "CREATE INDEX match_o ON match (o, ended)",
      "CREATE INDEX match_live ON match (id) WHERE ended IS NULL", "CREATE INDEX match_ended ON match (ended)",
      """
      CREATE TABLE match_event (
        match_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, side TEXT NOT NULL, mid TEXT COLLATE "C",
        epoch BIGINT NOT NULL DEFAULT 0, body BYTEA NOT NULL, PRIMARY KEY (match_id, seq))
      """,
      "CREATE UNIQUE INDEX match_event_mid ON match_event (match_id, side, mid) WHERE mid IS NOT NULL",
    ],
    // Tables shared by several nodes. Times are milliseconds since 1970 on the database's clock.
    [
      "CREATE SEQUENCE node_epoch", "CREATE SEQUENCE account_id",
      """
      CREATE TABLE node (
        epoch BIGINT PRIMARY KEY, name TEXT NOT NULL, address TEXT NOT NULL, peer TEXT NOT NULL,
        lease_until BIGINT NOT NULL) WITH (fillfactor = 50)
      """,
      "ALTER TABLE account ADD COLUMN rated_match TEXT COLLATE \"C\"",
      "CREATE INDEX account_token ON account (token) WHERE token IS NOT NULL",
      "CREATE INDEX account_top ON account (rating DESC, id) WHERE NOT guest AND rated_at > 0 AND NOT banned",
      "CREATE INDEX account_guest ON account (token_expires) WHERE guest",
      "ALTER TABLE session ADD COLUMN generation BIGINT NOT NULL DEFAULT 0, ADD COLUMN epoch BIGINT",
      "CREATE INDEX session_resume ON session (resume)", "CREATE INDEX session_previous ON session (previous)",
      "CREATE INDEX session_expires ON session (expires)",
      "CREATE INDEX match_epoch ON match (epoch) WHERE ended IS NULL",
      "CREATE INDEX match_opener ON match (opener) WHERE ended IS NULL",
      "CREATE INDEX match_code ON match (code) WHERE ended IS NULL",
      "CREATE INDEX match_created ON match (created DESC, id DESC) WHERE ended IS NULL AND opener IS NULL",
      """
      CREATE TABLE ticket (
        id TEXT COLLATE "C" PRIMARY KEY, session TEXT COLLATE "C" NOT NULL UNIQUE, account BIGINT NOT NULL,
        epoch BIGINT NOT NULL, clock TEXT COLLATE "C" NOT NULL, rated BOOLEAN NOT NULL, range BIGINT,
        bots BOOLEAN NOT NULL, key TEXT NOT NULL, is_bot BOOLEAN NOT NULL, confirms BOOLEAN NOT NULL,
        since BIGINT NOT NULL)
      """,
      "CREATE INDEX ticket_terms ON ticket (clock, rated)",
      """
      CREATE TABLE used_key (
        account BIGINT NOT NULL, key TEXT COLLATE "C" NOT NULL, match_id TEXT NOT NULL, is_room BOOLEAN NOT NULL,
        at BIGINT NOT NULL, PRIMARY KEY (account, key))
      """,
      "CREATE INDEX used_key_at ON used_key (at)",
    ],
    // `log_language.version`: the version of the log events in use. `node.events`: the version that the node can read.
    [
      "ALTER TABLE node ADD COLUMN events BIGINT NOT NULL DEFAULT 1, ADD COLUMN has_left BOOLEAN NOT NULL DEFAULT false",
      "CREATE TABLE log_language (version BIGINT NOT NULL)", "INSERT INTO log_language VALUES (1)",
    ],
    // The index slowed each move. The lobby, not the schema, detects repeated commands. This step formerly also created two functions,
    // which a later step drops.
    ["DROP INDEX match_event_mid"],
    [],
    // Standings in other games: the standing in the classic game is in the account's row, where older builds read and write it.
    [
      """
      CREATE TABLE standing (
        account BIGINT NOT NULL REFERENCES account ON DELETE CASCADE, rules TEXT COLLATE "C" NOT NULL,
        rating DOUBLE PRECISION NOT NULL, deviation DOUBLE PRECISION NOT NULL, volatility DOUBLE PRECISION NOT NULL,
        rated_at BIGINT NOT NULL, won BIGINT NOT NULL, drawn BIGINT NOT NULL, lost BIGINT NOT NULL,
        PRIMARY KEY (account, rules))
      """,
      "CREATE INDEX standing_top ON standing (rules, rating DESC, account) WHERE rated_at > 0",
    ],
    // A match no longer has an owner, but lists the nodes that follow it.
    [
      "DROP FUNCTION IF EXISTS append_events (BIGINT, TEXT[], BIGINT[], BIGINT[], TEXT[], BIGINT[], TEXT[], TEXT[], BYTEA[])",
      "DROP FUNCTION IF EXISTS must (BIGINT, BIGINT, TEXT)", "DROP TABLE node, ticket, used_key, log_language",
      "DROP SEQUENCE node_epoch",
      // An event's body contains its side and its command's id (`mid`).
      "ALTER TABLE match_event DROP COLUMN epoch, DROP COLUMN side, DROP COLUMN mid",
      "ALTER TABLE match DROP COLUMN epoch, ADD COLUMN nodes TEXT[] COLLATE \"C\" NOT NULL DEFAULT '{}'",
      // Few different sets of nodes exist, so a search for dead nodes jumps in the index from set to set instead of reading every match.
      "DROP INDEX match_live", "CREATE INDEX match_nodes ON match (nodes) WHERE ended IS NULL",
      // Of several open rooms with the same code, only the latest could be joined. So only the latest keeps the code.
      """
      UPDATE match m SET code = NULL WHERE x IS NULL AND ended IS NULL AND EXISTS (
        SELECT 1 FROM match later WHERE later.code = m.code AND later.x IS NULL AND later.ended IS NULL
          AND (later.created, later.id) > (m.created, m.id))
      """,
      "CREATE UNIQUE INDEX match_room ON match (code) WHERE x IS NULL AND ended IS NULL",
      "ALTER TABLE account ADD COLUMN version BIGINT NOT NULL DEFAULT 0",
      "ALTER TABLE session DROP COLUMN epoch, ADD COLUMN node TEXT COLLATE \"C\"",
      "CREATE INDEX session_node ON session (node) WHERE node IS NOT NULL",
      """
      CREATE TABLE node (
        id TEXT COLLATE "C" PRIMARY KEY, address TEXT NOT NULL, joined BIGSERIAL, beat_at BIGINT NOT NULL)
        WITH (fillfactor = 50)
      """,
      """
      CREATE TABLE ticket (
        id TEXT COLLATE "C" PRIMARY KEY, session TEXT COLLATE "C" NOT NULL, account BIGINT NOT NULL,
        node TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, purpose TEXT NOT NULL, wish TEXT NOT NULL,
        since BIGINT NOT NULL, match_id TEXT COLLATE "C")
      """,
      "CREATE UNIQUE INDEX ticket_session ON ticket (session) WHERE match_id IS NULL",
      "CREATE UNIQUE INDEX ticket_key ON ticket (account, key) WHERE match_id IS NULL AND key <> ''",
      """
      CREATE TABLE used_key (
        account BIGINT NOT NULL, key TEXT COLLATE "C" NOT NULL, match_id TEXT COLLATE "C" NOT NULL,
        purpose TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (account, key))
      """,
      "CREATE INDEX used_key_at ON used_key (at)",
      "CREATE INDEX account_banned ON account (id) WHERE banned",
      "CREATE INDEX account_muted ON account (id) WHERE muted",
      """
      CREATE TABLE report (
        id BIGSERIAL PRIMARY KEY, at BIGINT NOT NULL, account BIGINT NOT NULL, match_id TEXT COLLATE "C" NOT NULL,
        text TEXT NOT NULL)
      """,
      "CREATE INDEX report_at ON report (at)",
    ],
    // Leave matches without an opener, which are most, out of the index: else PostgreSQL might read all of them to list a few rooms.
    [
      "DROP INDEX match_opener",
      "CREATE INDEX match_opener ON match (opener) WHERE ended IS NULL AND opener IS NOT NULL",
    ],
    // Accounts now expire 366 days after their last use; before, 90 days after their token was issued.
    [
      "UPDATE account SET token_expires = token_expires + 276 * 86400000::bigint WHERE NOT guest",
      "CREATE INDEX account_expires ON account (token_expires)", "CREATE INDEX ticket_node ON ticket (node)",
    ],
    // `closes`: the time after which no game begins. Only lobbies decode `data`.
    [
      """
      CREATE TABLE tournament (
        code TEXT COLLATE "C" PRIMARY KEY, secret BYTEA NOT NULL, closes BIGINT NOT NULL, data TEXT NOT NULL)
      """,
      "CREATE UNIQUE INDEX tournament_secret ON tournament (secret)",
      "CREATE INDEX tournament_closes ON tournament (closes)",
      """
      CREATE TABLE entrant (
        tournament TEXT COLLATE "C" NOT NULL, account BIGINT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (tournament, account)) WITH (fillfactor = 50)
      """,
    ],
    // The number of names registered from an address, stored as a digest, on a day.
    [
      "CREATE TABLE name_count (address BYTEA, day BIGINT, count BIGINT NOT NULL, PRIMARY KEY (address, day))"
    ],
  ]

  /// The first key of advisory locks ("Alin" in ASCII). The second is a hash of the schema's name: several stores can share a database.
  static let lockClass = 0x416C_696E
  /// READ COMMITTED, so that the statements after the lock see the migrations of other nodes.
  private static let begin = PGStatement(once: "BEGIN ISOLATION LEVEL READ COMMITTED")
  private static let lock = PGStatement(
    once: "SELECT pg_advisory_xact_lock(\(lockClass), hashtext('migrate ' || current_schema()))")

  /// The time limit in milliseconds for a migration, also that of another node: an hour, enough to write a large table anew. A migration
  /// that exceeds it is rolled back, and the next start begins it anew.
  private static let longest: Int64 = 3_600_000

  /// Migrates in one transaction; other nodes that migrate at the same time wait.
  static func run(_ connection: PGConnection, place: String) throws(StoreError) {
    var minReader = 0
    do throws(PGError) {
      minReader = try migrate(connection)
    } catch {
      // Roll back to release the lock.
      _ = try? connection.run([PGStatement.rollback()], within: 5000)
      throw StoreError(error).reading(place)
    }
    guard minReader <= version else {
      throw .tooNew("\(place) needs a build that reads version \(minReader); this one reads \(version)")
    }
  }

  /// Returns the `min_reader` of the database.
  private static func migrate(_ connection: PGConnection) throws(PGError) -> Int {
    let exists = try connection.run(
      [begin(), lock(), PGStatement(once: "SELECT to_regclass('schema') IS NOT NULL")()], within: longest)
    var calls: [PGCall] = []
    if exists.last?.rows.first?.first?.bool != true {
      calls.append(PGStatement(once: "CREATE TABLE schema (version BIGINT NOT NULL, min_reader BIGINT NOT NULL)")())
    }
    calls.append(PGStatement(once: "SELECT version, min_reader FROM schema")())
    let row = try connection.run(calls, within: 10_000).last?.rows.first ?? []
    let found = Int(row.first?.int ?? 0)
    let minReader = Int(row.last?.int ?? 0)
    calls = []
    if minReader <= version, found < version {
      calls = steps[found...].flatMap { $0 }.map { PGStatement(once: $0)() }
      calls.append(PGStatement(once: "DELETE FROM schema")())
      calls.append(
        PGStatement(once: "INSERT INTO schema VALUES ($1, $2)")(
          .int(Int64(version)), .int(Int64(max(minReader, self.minReader)))))
    }
    _ = try connection.run(calls + [PGStatement.commit()], within: longest)
    return minReader
  }
}
