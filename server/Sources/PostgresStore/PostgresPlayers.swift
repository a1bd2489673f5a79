import MatchProtocol
import MatchStore
import TicTacToe

/// Questions about players and those who wait.
extension PostgresStore {
  static let settle = PGStatement(
    "settle", "UPDATE session SET previous = NULL WHERE id = $1 AND generation = $2::bigint")
  static let detach = PGStatement(
    "detach", "UPDATE session SET node = NULL WHERE id = $1 AND generation = $2::bigint")
  static let accountsOf = PGStatement(
    "accounts_of",
    "SELECT \(PostgresRows.accountColumns) FROM account WHERE account.id = ANY($1::bigint[]) ORDER BY account.id")

  // MARK: profiles

  private static let account = PGStatement(
    "profile",
    """
    SELECT \(PostgresRows.accountColumns), (SELECT id FROM match m WHERE m.id = account.rated_match AND m.ended IS NULL)
    FROM account WHERE account.id = $1::bigint
    """)
  /// The keys of a match are in its first event, be it sought or opened.
  private static let liveOf = PGStatement(
    "live_of",
    """
    SELECT \(PostgresRows.openingColumns) FROM match m LEFT JOIN match_event e ON e.match_id = m.id AND e.seq = 1
    WHERE ended IS NULL AND (x = $1::bigint OR o = $1::bigint OR opener = $1::bigint) ORDER BY created, id
    """)
  private static let lastOf = PGStatement(
    "last_of",
    """
    SELECT id FROM match WHERE ended > \(PostgresRows.now) - 60000 AND (x = $1::bigint OR o = $1::bigint)
    ORDER BY ended DESC, id DESC LIMIT 1
    """)
  private static let blockedNames = PGStatement(
    "blocked_names",
    """
    SELECT other.name FROM unnest((SELECT blocked[1:50] FROM account WHERE id = $1::bigint))
      WITH ORDINALITY AS b (id, i) JOIN account other ON other.id = b.id ORDER BY b.i
    """)

  static func profileCalls(_ id: Int64) -> [PGCall] { [account, liveOf, lastOf, blockedNames].map { $0(.int(id)) } }

  static func profile(_ found: [PGRows]) -> Profile? {
    guard found.count == 4, let row = found[0].rows.first, let account = PostgresRows.account(row.dropLast()) else {
      return nil
    }
    let openings = PostgresRows.matches(
      found[1].rows.map { Array($0.prefix(PostgresRows.matchWidth)) },
      found[1].rows.map { Array($0.dropFirst(PostgresRows.matchWidth)) })
    return Profile(
      account: account, live: openings.map(\.record.id), last: PostgresRows.id(found[2].rows.first?.first),
      blockedNames: found[3].rows.compactMap { $0.first?.text }, rated: PostgresRows.id(row.last), openings: openings)
  }

  private static let topOfClassic = PGStatement(
    "top",
    """
    SELECT \(PostgresRows.accountColumns) FROM account WHERE NOT guest AND rated_at > 0 AND NOT banned
    ORDER BY rating DESC, id LIMIT $1::bigint
    """)
  private static let topOfOther = PGStatement(
    "top_of",
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
      rules == .classic ? PostgresStore.topOfClassic(most) : PostgresStore.topOfOther(most, .text(rules.rawValue))
    return try read([call])[0].rows.compactMap(PostgresRows.account)
  }

  // MARK: those who wait

  static let unqueue = PGStatement("unqueue", "DELETE FROM ticket WHERE id = $1 AND match_id IS NULL")
  private static let waiting = PGStatement(
    "waiting",
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
