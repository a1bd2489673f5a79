import MatchProtocol
import TicTacToe

/// Where matches are, how they begin, and keeping house.
extension PostgresCluster {
  private static let placeColumns = "m.id, n.epoch, m.ended, \(now)"
  private static let placed = "LEFT JOIN node n ON n.epoch = m.epoch AND n.lease_until > \(now)"
  private static let placeOf = PGStatement(
    "place_of", "SELECT \(placeColumns) FROM match m \(placed) WHERE m.id = $1")
  private static let placeOfCode = PGStatement(
    "place_of_code",
    """
    SELECT \(placeColumns) FROM match m \(placed) WHERE m.code = $1 AND m.ended IS NULL
    ORDER BY m.x IS NOT NULL, m.created DESC LIMIT 1
    """)

  private static func place(_ rows: PGRows) -> MatchPlace? {
    guard let row = rows.rows.first, let m = row[0].text.flatMap(MatchID.init(rawValue:)), let now = row[3].int else {
      return nil
    }
    return MatchPlace(m: m, owner: row[1].int, endedAgo: row[2].int.map { now - $0 })
  }

  package func place(_ m: MatchID) throws(StoreError) -> MatchPlace? {
    try translating { () throws(PGFailure) in
      PostgresCluster.place(try pool.run([PostgresCluster.placeOf(.text(m.rawValue))])[0])
    }
  }

  package func place(code: String) throws(StoreError) -> MatchPlace? {
    try translating { () throws(PGFailure) in
      PostgresCluster.place(try pool.run([PostgresCluster.placeOfCode(.text(code))])[0])
    }
  }

  package func live(limit: Int) throws(StoreError) -> [StoredMatch] { try reader.live(limit: limit) }

  // MARK: beginning

  private static let roomOf = PGStatement(
    "room_of",
    """
    SELECT match_id FROM used_key WHERE account = $1::bigint AND key = $2 AND at > \(now) - 600000
    """)
  private static let lockTicket = PGStatement(
    "lock_ticket", "SELECT id FROM ticket WHERE id = $1 FOR UPDATE SKIP LOCKED")
  private static let lockRated = PGStatement(
    "lock_rated",
    """
    SELECT id, rating, deviation, volatility, EXISTS (
      SELECT 1 FROM match m WHERE m.id = account.rated_match AND m.ended IS NULL)
    FROM account WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE
    """)
  private static let lockCode = PGStatement(
    "lock_code",
    "SELECT pg_advisory_xact_lock(\(PostgresMigrations.lockClass), hashtext('code ' || current_schema() || $1))")
  private static let openRoom = PGStatement(
    "open_room", "SELECT id FROM match WHERE code = $1 AND ended IS NULL AND x IS NULL")
  private static let dropTickets = PGStatement("drop_tickets", "DELETE FROM ticket WHERE id = ANY($1::text[])")
  private static let fillSlots = PGStatement(
    "fill_slots", "UPDATE account SET rated_match = $2 WHERE id = ANY($1::bigint[])")
  private static let useKey = PGStatement(
    "use_key",
    """
    INSERT INTO used_key (account, key, match_id, is_room, at) VALUES ($1, $2, $3, $4, \(now))
    ON CONFLICT (account, key) DO UPDATE SET match_id = excluded.match_id, is_room = excluded.is_room, at = excluded.at
      WHERE NOT excluded.is_room OR used_key.at <= \(now) - 600000
    """)

  package func begin(_ begin: MatchBegin) throws(StoreError) -> BeginResult {
    let owner = try translating { () throws(PGFailure) -> Int64 in try mine() }
    let work = try PostgresBatch([StoreTransaction(number: 0, writes: begin.writes)], epoch: owner)
    return try translating { () throws(PGFailure) in
      try pool.transact { (transaction) throws(PGFailure) -> BeginResult in
        let rooms = begin.keys.filter(\.isRoom)
        let known = try PostgresCluster.runWithLease(
          owner, rooms.map { PostgresCluster.roomOf(.int($0.account), .text($0.key)) }, &transaction
        ).rows
        for rows in known {
          if let m = rows.rows.first?.first?.text.flatMap(MatchID.init(rawValue:)) { return .known(m) }
        }
        if let refusal = try PostgresCluster.check(begin, work.accounts, &transaction) { return refusal }
        let used = begin.keys.map { key in
          PostgresCluster.useKey(.int(key.account), .text(key.key), .text(begin.m.rawValue), .bool(key.isRoom))
        }
        let counts = try transaction.run(
          [
            PostgresCluster.dropTickets(.texts(begin.tickets)),
            PostgresCluster.fillSlots(.ints(begin.rated), .text(begin.m.rawValue)),
          ] + used
        ).dropFirst(2).map(\.count)
        // Another node used the key for a room just now: look again.
        guard counts.allSatisfy({ $0 == 1 }) else { throw .refused(state: "40001", "a key was used meanwhile") }
        try transaction.finish(work.calls)
        return .begun
      }
    }
  }

  /// Locks tickets, then accounts, and says why the match cannot begin, if so.
  private static func check(
    _ begin: MatchBegin, _ others: Set<Int64>, _ transaction: inout PostgresPool.Transaction
  ) throws(PGFailure) -> BeginResult? {
    // One that another node is about to take counts as gone: whoever asked looks again. The second is not even tried without
    // the first: of two who want the same tickets, neither then holds one that the other lacks.
    for ticket in begin.tickets.sorted() {
      guard try transaction.run([lockTicket(.text(ticket))])[0].count == 1 else { return .ticketsGone }
    }
    let rows = try transaction.run([lockRated(.ints(Set(begin.rated).union(others).sorted()))])[0].rows
    for (account, rating) in zip(begin.rated, begin.ratings) {
      let row = rows.first { $0[0].int == account }
      if row?[4].bool == true { return .playing(account) }
      guard let row, row[1].double == rating.value, row[2].double == rating.deviation,
        row[3].double == rating.volatility
      else { return .stale }
    }
    guard let code = begin.code else { return nil }
    // The lock is kept until the room is there for all to see.
    _ = try transaction.run([lockCode(.text(code))])
    return try transaction.run([openRoom(.text(code))])[0].rows.isEmpty ? nil : .codeTaken
  }

  // MARK: keeping house

  private static let cleaning = PGStatement(
    once: "SELECT pg_try_advisory_xact_lock(\(PostgresMigrations.lockClass), hashtext('clean ' || current_schema()))")
  private static let cleanSteps = [
    """
    DELETE FROM session s WHERE expires < \(now)
      AND NOT EXISTS (SELECT 1 FROM node n WHERE n.epoch = s.epoch AND n.lease_until > \(now))
    """,
    """
    DELETE FROM account a WHERE guest AND token_expires < \(now)
      AND NOT EXISTS (SELECT 1 FROM session s WHERE s.account = a.id)
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.ended IS NULL AND m.x = a.id)
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.ended IS NULL AND m.o = a.id)
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.ended IS NULL AND m.opener = a.id)
    """,
    "DELETE FROM used_key WHERE at <= \(now) - 600000",
    """
    DELETE FROM ticket t WHERE NOT EXISTS (
      SELECT 1 FROM node n WHERE n.epoch = t.epoch AND n.lease_until > \(now))
    """,
    """
    DELETE FROM node n WHERE lease_until <= \(now) - 60000
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.ended IS NULL AND m.epoch = n.epoch)
    """,
  ].map { PGStatement(once: $0)() }

  package func clean() throws(StoreError) {
    try translating { () throws(PGFailure) in
      try pool.transact { (transaction) throws(PGFailure) in
        // One node at a time does; the others need not.
        guard try transaction.run([PostgresCluster.cleaning()])[0].rows.first?.first?.bool == true else { return }
        try transaction.finish(PostgresCluster.cleanSteps)
      }
    }
  }
}
