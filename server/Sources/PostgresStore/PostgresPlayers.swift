import MatchProtocol
import MatchStore
import TicTacToe

extension PostgresStore {
  static let settle = PGStatement(
    "UPDATE session SET previous = NULL WHERE id = $1 AND generation = $2::bigint")
  static let detach = PGStatement(
    "UPDATE session SET node = NULL WHERE id = $1 AND generation = $2::bigint")
  static let accountsOf = PGStatement(
    "SELECT \(PostgresRows.accountColumns) FROM account WHERE account.id = ANY($1::bigint[]) ORDER BY account.id")

  // MARK: profiles

  static let account = PGStatement(
    "SELECT \(PostgresRows.accountColumns) FROM account WHERE id = $1::bigint")
  /// LIMIT makes PostgreSQL look up each match's first event by key.
  private static let liveOf = PGStatement(
    """
    SELECT \(PostgresRows.openingColumns) FROM match m
      LEFT JOIN LATERAL (SELECT * FROM match_event WHERE match_id = m.id AND seq = 1 LIMIT 1) AS e ON true
    WHERE m.id = ANY(ARRAY(
      SELECT id FROM match WHERE x = $1::bigint AND ended IS NULL
      UNION ALL SELECT id FROM match WHERE o = $1::bigint AND ended IS NULL
      UNION ALL SELECT id FROM match WHERE opener = $1::bigint AND ended IS NULL))
    ORDER BY m.created, m.id
    """)
  private static let lastOf = PGStatement(
    latest("id, ended", ended: "> (SELECT \(PostgresRows.now) - 60000)", most: "1"))
  private static let blockedNames = PGStatement(
    """
    SELECT other.name FROM unnest((SELECT blocked[greatest(cardinality(blocked) - 49, 1):] FROM account WHERE id = $1::bigint))
      WITH ORDINALITY AS b (id, i) JOIN account other ON other.id = b.id ORDER BY b.i
    """)

  static func profileCalls(_ id: Int64) -> [PGCall] { [account, liveOf, lastOf, blockedNames].map { $0(.int(id)) } }

  static func profile(_ found: [PGRows]) -> Profile? {
    guard found.count == 4, let account = found[0].rows.first.flatMap(PostgresRows.account) else { return nil }
    let openings = PostgresRows.matches(
      found[1].rows.map { Array($0.prefix(PostgresRows.matchWidth)) },
      found[1].rows.map { Array($0.dropFirst(PostgresRows.matchWidth)) })
    return Profile(
      account: account, last: PostgresRows.id(found[2].rows.first?.first),
      blockedNames: found[3].rows.compactMap { $0.first?.text }, openings: openings)
  }

  private static let topOfClassic = PGStatement(
    """
    SELECT \(PostgresRows.accountColumns) FROM account WHERE NOT guest AND rated_at > 0 AND NOT banned
    ORDER BY rating DESC, id LIMIT $1::bigint
    """)
  private static let topOfOther = PGStatement(
    """
    SELECT \(PostgresRows.accountColumns) FROM (
      SELECT account.*, t.rating AS strength FROM standing t JOIN account ON account.id = t.account
      WHERE t.rules = $2 AND t.rated_at > 0 AND NOT guest AND NOT banned
      ORDER BY t.rating DESC, t.account LIMIT $1::bigint) AS account
    ORDER BY strength DESC, id
    """)

  func top(_ rules: Variant, _ limit: Int) throws(StoreError) -> [AccountRecord] {
    let most = PGValue.int(Int64(limit))
    let call =
      rules.isImplied ? PostgresStore.topOfClassic(most) : PostgresStore.topOfOther(most, .text(rules.rawValue))
    return try read([call])[0].rows.compactMap(PostgresRows.account)
  }

  // MARK: lists for administrators

  private static func list(_ condition: String) -> PGStatement {
    PGStatement(
      """
      SELECT \(PostgresRows.accountColumns) FROM account WHERE \(condition) AND account.id > $1::bigint
      ORDER BY account.id LIMIT $2::bigint
      """)
  }
  private static let lists: [PlayerList: PGStatement] = [
    .named: list("NOT guest"), .banned: list("banned"), .muted: list("muted"), .guests: list("guest"),
  ]

  func players(_ list: PlayerList, _ after: Int64, _ limit: Int) throws(StoreError) -> [AccountRecord] {
    guard let statement = PostgresStore.lists[list] else { return [] }
    return try read([statement(.int(after), .int(Int64(limit)))])[0].rows.compactMap(PostgresRows.account)
  }

  private static let addReport = PGStatement(
    """
    INSERT INTO report (at, account, match_id, text)
    VALUES (coalesce(nullif($1::bigint, 0), \(PostgresRows.now)), $2, $3, $4)
    """)
  private static let reportsBefore = PGStatement(
    """
    SELECT r.id, r.at, r.account, coalesce(a.name, ''), r.match_id, coalesce(b.name, ''), r.text
    FROM report r LEFT JOIN account a ON a.id = r.account LEFT JOIN match m ON m.id = r.match_id
      LEFT JOIN account b ON b.id = CASE m.x WHEN r.account THEN m.o ELSE m.x END
    WHERE r.id < $1::bigint ORDER BY r.id DESC LIMIT $2::bigint
    """)

  func add(_ report: ReportRecord) throws(StoreError) {
    try pool.run([
      PostgresStore.addReport(.int(report.at), .int(report.account), .id(report.m), .text(report.text))
    ])
  }

  func reports(_ before: Int64, _ limit: Int) throws(StoreError) -> [ReportRecord] {
    try read([PostgresStore.reportsBefore(.int(before), .int(Int64(limit)))])[0].rows.compactMap { row in
      guard row.count == 7, let id = row[0].int, let at = row[1].int, let account = row[2].int,
        let name = row[3].text, let m = PostgresRows.id(row[4]), let opponent = row[5].text,
        let text = row[6].text
      else { return nil }
      return ReportRecord(id: id, at: at, account: account, name: name, m: m, opponent: opponent, text: text)
    }
  }

  // MARK: the queue

  static let unqueue = PGStatement("DELETE FROM ticket WHERE id = $1 AND match_id IS NULL")
  private static let waiting = PGStatement(
    """
    SELECT \(PostgresRows.ticketColumns), \(PostgresRows.accountColumns)
    FROM ticket JOIN account ON account.id = ticket.account WHERE ticket.match_id IS NULL
    ORDER BY ticket.since, ticket.id
    """)

  func tickets() throws(StoreError) -> [WaitingTicket] {
    try read([PostgresStore.waiting()])[0].rows.compactMap { row in
      guard let ticket = PostgresRows.ticket(row.prefix(PostgresRows.ticketWidth)),
        let account = PostgresRows.account(row.dropFirst(PostgresRows.ticketWidth))
      else { return nil }
      return WaitingTicket(ticket, account)
    }
  }
}
