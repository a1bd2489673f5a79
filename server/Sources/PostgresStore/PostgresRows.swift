import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Accounts, sessions and matches in SQL. Columns are named throughout: a later build may have added some.
enum PostgresRows {
  // MARK: accounts

  private static let ownColumns = """
    id, name, guest, token, token_expires, rating, deviation, volatility, rated_at, won, drawn, lost, x_balance, quiet, \
    muted, banned, blocked
    """
  /// The last one are the other games that were played, as `AccountRecord.otherGames` has them.
  static let accountColumns = """
    \(ownColumns), (SELECT string_agg(concat_ws(' ', s.rules, s.rating, s.deviation, s.volatility, s.rated_at, s.won, \
    s.drawn, s.lost), ',') FROM standing s WHERE s.account = account.id)
    """
  static let accountWidth = 18
  static let allAccounts = PGStatement(once: "SELECT \(accountColumns) FROM account ORDER BY id")
  static let dropAccount = PGStatement("drop_account", "DELETE FROM account WHERE id = $1")
  static let lastAccount = PGStatement(
    once: """
      SELECT greatest((SELECT max(id) FROM account), (SELECT max(x) FROM match), (SELECT max(o) FROM match),
        (SELECT max(opener) FROM match), 0::bigint)
      """)
  private static let insertAccount = """
    INSERT INTO account (\(ownColumns), name_lower)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
    """
  private static let addAccount = PGStatement("add_account", insertAccount)
  private static let putAccount = PGStatement(
    "put_account",
    """
    \(insertAccount)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, name_lower = excluded.name_lower, guest = excluded.guest,
      token = excluded.token, token_expires = excluded.token_expires, rating = excluded.rating,
      deviation = excluded.deviation, volatility = excluded.volatility, rated_at = excluded.rated_at,
      won = excluded.won, drawn = excluded.drawn, lost = excluded.lost, x_balance = excluded.x_balance,
      quiet = excluded.quiet, muted = excluded.muted, banned = excluded.banned, blocked = excluded.blocked
    """)

  static let lockAccounts = PGStatement(
    "lock_accounts", "SELECT id FROM account WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE")
  private static let addScores = PGStatement(
    "add_scores",
    """
    WITH added AS (
      UPDATE account SET won = account.won + d.won, drawn = account.drawn + d.drawn, lost = account.lost + d.lost,
        x_balance = account.x_balance + d.x, rating = coalesce(d.rating, account.rating),
        deviation = coalesce(d.deviation, account.deviation), volatility = coalesce(d.volatility, account.volatility),
        rated_at = coalesce(d.rated_at, account.rated_at)
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], $7::float8[],
        $8::float8[], $9::bigint[]) AS d (id, won, drawn, lost, x, rating, deviation, volatility, rated_at)
      WHERE account.id = d.id RETURNING 1)
    SELECT must(count(*), cardinality($1::bigint[]), 'an account is gone') FROM added
    """)

  /// Adds results, each account's once.
  static func add(_ scores: [AccountScore]) -> PGCall {
    func ints(_ value: (AccountScore) -> Int) -> PGValue { .ints(scores.map { Int64(value($0)) }) }
    return addScores(
      .ints(scores.map(\.account)), ints(\.won), ints(\.drawn), ints(\.lost), ints(\.xBalance),
      .doubles(scores.map { $0.rating?.value }), .doubles(scores.map { $0.rating?.deviation }),
      .doubles(scores.map { $0.rating?.volatility }), .ints(scores.map(\.ratedAt)))
  }

  private static let standingColumns = "(account, rules, rating, deviation, volatility, rated_at, won, drawn, lost)"
  private static let putStanding = PGStatement(
    "put_standing",
    """
    INSERT INTO standing \(standingColumns) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (account, rules) DO UPDATE SET rating = excluded.rating, deviation = excluded.deviation,
      volatility = excluded.volatility, rated_at = excluded.rated_at, won = excluded.won, drawn = excluded.drawn,
      lost = excluded.lost
    """)
  private static let addStandings: PGStatement = {
    let new = Standing().rating
    return PGStatement(
      "add_standings",
      """
      INSERT INTO standing AS s \(standingColumns)
      SELECT d.id, d.rules, coalesce(d.rating, \(new.value)), coalesce(d.deviation, \(new.deviation)),
        coalesce(d.volatility, \(new.volatility)), coalesce(d.rated_at, 0), d.won, d.drawn, d.lost
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], $7::float8[],
        $8::float8[], $9::bigint[]) AS d (id, rules, won, drawn, lost, rating, deviation, volatility, rated_at)
      ON CONFLICT (account, rules) DO UPDATE SET won = s.won + excluded.won, drawn = s.drawn + excluded.drawn,
        lost = s.lost + excluded.lost,
        rating = CASE WHEN excluded.rated_at > 0 THEN excluded.rating ELSE s.rating END,
        deviation = CASE WHEN excluded.rated_at > 0 THEN excluded.deviation ELSE s.deviation END,
        volatility = CASE WHEN excluded.rated_at > 0 THEN excluded.volatility ELSE s.volatility END,
        rated_at = CASE WHEN excluded.rated_at > 0 THEN excluded.rated_at ELSE s.rated_at END
      """)
  }()

  /// Adds results in other games than the classic one, each account's and game's once.
  static func addStandings(_ scores: [AccountScore]) -> PGCall {
    func ints(_ value: (AccountScore) -> Int) -> PGValue { .ints(scores.map { Int64(value($0)) }) }
    return addStandings(
      .ints(scores.map(\.account)), .texts(scores.map(\.rules.rawValue)), ints(\.won), ints(\.drawn), ints(\.lost),
      .doubles(scores.map { $0.rating?.value }), .doubles(scores.map { $0.rating?.deviation }),
      .doubles(scores.map { $0.rating?.volatility }), .ints(scores.map(\.ratedAt)))
  }

  /// How an account stands in other games than the classic one, a row each.
  static func putStandings(_ account: AccountRecord) -> [PGCall] {
    Variant.allCases.filter { $0 != .classic && account[$0] != Standing() }.map { rules in
      let s = account[rules]
      return putStanding(
        .int(account.id), .text(rules.rawValue), .double(s.rating.value), .double(s.rating.deviation),
        .double(s.rating.volatility), .int(s.ratedAt), .int(Int64(s.won)), .int(Int64(s.drawn)), .int(Int64(s.lost)))
    }
  }

  /// Adds or replaces an account, but for what `putStandings` has.
  static func put(_ account: AccountRecord) -> PGCall { PGCall(statement: putAccount, values: values(account)) }

  /// Adds an account, whose number and name nobody may have.
  static func add(_ account: AccountRecord) -> PGCall { PGCall(statement: addAccount, values: values(account)) }

  private static func values(_ account: AccountRecord) -> [PGValue] {
    [
      .int(account.id), .text(account.name), .bool(account.guest), .optional(account.token?.bytes),
      .int(account.tokenExpires), .double(account.rating.value), .double(account.rating.deviation),
      .double(account.rating.volatility), .int(account.ratedAt), .int(Int64(account.won)),
      .int(Int64(account.drawn)), .int(Int64(account.lost)), .int(Int64(account.xBalance)), .bool(account.quiet),
      .bool(account.muted), .bool(account.banned), .ints(account.blocked), .text(account.name.lowercased()),
    ]
  }

  static func account(_ row: [PGValue]) -> AccountRecord? {
    guard row.count == accountWidth, let id = row[0].int, let name = row[1].text else { return nil }
    var account = AccountRecord(
      id: id, name: name, guest: row[2].bool ?? false, token: row[3].bytes.flatMap { SHA256.Digest(bytes: $0) },
      tokenExpires: row[4].int ?? 0)
    account.rating = Glicko2.Rating(
      value: row[5].double ?? 0, deviation: row[6].double ?? 0, volatility: row[7].double ?? 0)
    account.ratedAt = row[8].int ?? 0
    (account.won, account.drawn) = (Int(row[9].int ?? 0), Int(row[10].int ?? 0))
    (account.lost, account.xBalance) = (Int(row[11].int ?? 0), Int(row[12].int ?? 0))
    (account.quiet, account.muted) = (row[13].bool ?? false, row[14].bool ?? false)
    (account.banned, account.blocked) = (row[15].bool ?? false, row[16].ints ?? [])
    account.otherGames = (row[17].text ?? "").split(separator: ",").map(String.init)
    return account
  }

  // MARK: sessions

  static let allSessions = PGStatement(
    once: "SELECT id, account, resume, previous, expires FROM session ORDER BY id")
  static let dropSession = PGStatement("drop_session", "DELETE FROM session WHERE id = $1")
  static let dropSessions = PGStatement("drop_sessions", "DELETE FROM session WHERE account = $1")
  private static let putSession = PGStatement(
    "put_session",
    """
    INSERT INTO session (id, account, resume, previous, expires) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET account = excluded.account, resume = excluded.resume,
      previous = excluded.previous, expires = excluded.expires
    """)

  static func put(_ session: SessionRecord) -> PGCall {
    putSession(
      .text(session.id), .int(session.account), .bytes(session.resume.bytes), .optional(session.previous?.bytes),
      .int(session.expires))
  }

  static func session(_ row: [PGValue]) -> SessionRecord? {
    guard row.count == 5, let id = row[0].text, let account = row[1].int,
      let resume = row[2].bytes.flatMap({ SHA256.Digest(bytes: $0) })
    else { return nil }
    let previous = row[3].bytes.flatMap { SHA256.Digest(bytes: $0) }
    return SessionRecord(id: id, account: account, resume: resume, previous: previous, expires: row[4].int ?? 0)
  }

  // MARK: matches

  static let matchColumns = "id, x, o, opener, code, created, ended, seq"
  static let eventColumns = "e.match_id, e.seq, e.side, e.mid, e.body"
  static let liveMatches = PGStatement(once: "SELECT \(matchColumns) FROM match WHERE ended IS NULL ORDER BY id")
  static let liveEvents = PGStatement(
    once: """
      SELECT \(eventColumns) FROM match_event e JOIN match m ON m.id = e.match_id WHERE m.ended IS NULL
      ORDER BY e.match_id, e.seq
      """)
  static let oneMatch = PGStatement("one_match", "SELECT \(matchColumns) FROM match WHERE id = $1")
  static let oneLog = PGStatement(
    "one_log", "SELECT \(eventColumns) FROM match_event e WHERE match_id = $1 ORDER BY seq")
  static let ids = PGStatement(once: "SELECT id FROM match ORDER BY id")
  /// Drops some matches that ended before a time, and their logs.
  static let prune = PGStatement(
    once: """
      WITH old AS (SELECT id FROM match WHERE ended < $1 ORDER BY ended LIMIT 500 FOR UPDATE SKIP LOCKED),
        logs AS (DELETE FROM match_event WHERE match_id IN (SELECT id FROM old))
      DELETE FROM match WHERE id IN (SELECT id FROM old)
      """)

  /// The latest of each seat by its index, then the latest of both.
  private static func latest(_ columns: String) -> String {
    let seats = ["x", "o"].map { seat in
      "(SELECT \(columns) FROM match WHERE \(seat) = $1::bigint AND ended < $2::bigint"
        + " ORDER BY ended DESC FETCH FIRST ($3::bigint) ROWS WITH TIES)"
    }
    // Whatever ended in the same millisecond is on the same page.
    return "SELECT * FROM (SELECT \(columns) FROM (" + seats.joined(separator: " UNION ")
      + ") AS seats ORDER BY ended DESC FETCH FIRST ($3::bigint) ROWS WITH TIES) AS page ORDER BY ended DESC, id DESC"
  }
  static let history = PGStatement("history", latest(matchColumns))
  static let historyLogs = PGStatement(
    "history_logs",
    """
    SELECT \(eventColumns) FROM match_event e JOIN (\(latest("id, ended"))) h ON h.id = e.match_id
    ORDER BY e.match_id, e.seq
    """)

  /// Matches in the order of their rows, each with its log; O(rows).
  static func matches(_ records: PGRows, _ events: PGRows) -> [StoredMatch] {
    var logs: [String: [StoredEvent]] = [:]
    for row in events.rows {
      guard row.count == 5, let m = row[0].text, let seq = row[1].int, let side = row[2].text, let body = row[4].bytes
      else { continue }
      logs[m, default: []].append(
        StoredEvent(seq: Int(seq), side: Player(text: side), mid: row[3].text, body: body))
    }
    return records.rows.compactMap { row in
      guard row.count == 8, let text = row[0].text, let id = MatchID(rawValue: text), let created = row[5].int,
        let length = row[7].int
      else { return nil }
      var record = MatchRecord(
        id: id, x: row[1].int, o: row[2].int, opener: row[3].int, code: row[4].text, created: created)
      record.ended = row[6].int
      return StoredMatch(record: record, events: logs[text] ?? [], length: Int(length))
    }
  }
}
