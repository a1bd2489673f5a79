import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Queries name all columns, since a later build may have added columns.
enum PostgresRows {
  /// Milliseconds since 1970 on the database's clock, evaluated at each occurrence.
  static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
  /// The condition that a row of `node` belongs to a living node.
  static let lives = "beat_at > \(now) - \(Heartbeat.lives)"

  // PostgreSQL plans a statement once, possibly while the tables are empty and any index seems cheap. `isLive` and `waits` are written so
  // that PostgreSQL cannot choose the indexes of all live matches and all waiting tickets.

  static func liveMatch(_ id: String) -> String { "(SELECT m.id FROM match m WHERE m.id = \(id) AND m.ended IS NULL)" }
  static func isLive(_ match: String) -> String { "coalesce(\(match).ended, 0) = 0" }
  static let waits = "coalesce(ticket.match_id, '') = ''"

  private static func columns(_ names: String, of alias: String) -> String {
    names.split(separator: ", ").map { "\(alias).\($0)" }.joined(separator: ", ")
  }

  // MARK: accounts

  private static let ownColumns = """
    id, name, guest, token, token_expires, rating, deviation, volatility, rated_at, won, drawn, lost, x_balance, quiet, \
    muted, banned, blocked
    """
  /// The last column contains the standings in all games but the classic one, in the form of `AccountRecord.otherGames`.
  static let accountColumns = """
    \(columns(ownColumns, of: "account")), account.version, \
    (SELECT string_agg(concat_ws(' ', s.rules, s.rating, s.deviation, s.volatility, s.rated_at, s.won, s.drawn, s.lost), ',') FROM standing s WHERE s.account = account.id)
    """
  private static let accountWidth = 19

  static let addAccount = PGStatement(
    """
    INSERT INTO account (\(ownColumns), name_lower)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
    """)
  static let replaceAccount = PGStatement(
    """
    UPDATE account SET name = $2, guest = $3, token = $4, token_expires = $5, rating = $6, deviation = $7,
      volatility = $8, rated_at = $9, won = $10, drawn = $11, lost = $12, x_balance = $13, quiet = $14, muted = $15,
      banned = $16, blocked = $17, name_lower = $18, version = version + 1
    WHERE id = $1
    """)
  private static let putStanding = PGStatement(
    """
    INSERT INTO standing (account, rules, rating, deviation, volatility, rated_at, won, drawn, lost)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (account, rules) DO UPDATE SET rating = excluded.rating, deviation = excluded.deviation,
      volatility = excluded.volatility, rated_at = excluded.rated_at, won = excluded.won, drawn = excluded.drawn,
      lost = excluded.lost
    """)

  static func put(_ account: AccountRecord, by statement: PGStatement) -> [PGCall] {
    let own: [PGValue] = [
      .int(account.id), .text(account.name), .bool(account.guest), .optional(account.token?.bytes),
      .int(account.tokenExpires), .double(account.rating.value), .double(account.rating.deviation),
      .double(account.rating.volatility), .int(account.ratedAt), .int(Int64(account.won)),
      .int(Int64(account.drawn)), .int(Int64(account.lost)), .int(Int64(account.xBalance)), .bool(account.quiet),
      .bool(account.muted), .bool(account.banned), .ints(account.blocked), .text(account.name.lowercased()),
    ]
    return [PGCall(statement: statement, values: own)]
      + Variant.allCases.filter { !$0.isImplied && account[$0] != Standing() }.map { rules in
        let s = account[rules]
        return putStanding(
          .int(account.id), .text(rules.rawValue), .double(s.rating.value), .double(s.rating.deviation),
          .double(s.rating.volatility), .int(s.ratedAt), .int(Int64(s.won)), .int(Int64(s.drawn)), .int(Int64(s.lost)))
      }
  }

  static func account(_ row: some Collection<PGValue>) -> AccountRecord? {
    let row = Array(row)
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
    account.version = row[17].int ?? 0
    account.otherGames = (row[18].text ?? "").split(separator: ",").map(String.init)
    return account
  }

  // MARK: tickets

  static let ticketWidth = 8
  static let ticketColumns = columns("id, session, account, node, key, purpose, wish, since", of: "ticket")

  static func ticket(_ row: some Collection<PGValue>) -> TicketRecord? {
    let row = Array(row)
    guard row.count == ticketWidth, let id = row[0].text, let session = row[1].text, let account = row[2].int,
      let node = row[3].text, let key = row[4].text, let purpose = row[5].text, let wish = row[6].text,
      let since = row[7].int
    else { return nil }
    return TicketRecord(
      id: id, session: session, account: account, node: node, key: key, purpose: purpose, wish: wish, since: since)
  }

  // MARK: matches

  static let matchWidth = 8
  static let matchColumns = "id, x, o, opener, code, created, ended, seq"
  static let eventColumns = "e.match_id, e.seq, e.body"
  static let openingColumns = "\(columns(matchColumns, of: "m")), \(eventColumns)"

  static func id(_ value: PGValue?) -> MatchID? { value?.text.flatMap(MatchID.init(rawValue:)) }

  static func nodes(_ value: PGValue?) -> [NodeID] {
    let nodes = value?.texts ?? []
    return nodes.count > 1 ? Set(nodes).sorted() : nodes
  }

  /// `events` must be sorted by `seq`. A log ends before its first missing event; its length then differs from the stored one. O(rows).
  static func matches(_ records: [[PGValue]], _ events: [[PGValue]]) -> [StoredMatch] {
    var logs: [String: [[UInt8]]] = [:]
    for row in events {
      guard row.count == 3, let m = row[0].text, let seq = row[1].int, let body = row[2].bytes else { continue }
      if Int(seq) == logs[m, default: []].count + 1 { logs[m, default: []].append(body) }
    }
    return records.compactMap { row in
      guard row.count >= matchWidth, let id = id(row[0]), let created = row[5].int, let length = row[7].int else {
        return nil
      }
      var record = MatchRecord(
        id: id, x: row[1].int, o: row[2].int, opener: row[3].int, code: row[4].text, created: created)
      record.ended = row[6].int
      return StoredMatch(record: record, bodies: logs[id.rawValue] ?? [], length: Int(length))
    }
  }
}
