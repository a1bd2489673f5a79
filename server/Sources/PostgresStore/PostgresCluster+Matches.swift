import MatchProtocol
import MatchStore
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
    PostgresCluster.place(try pool.run([PostgresCluster.placeOf(.text(m.rawValue))])[0])
  }

  package func place(code: String) throws(StoreError) -> MatchPlace? {
    PostgresCluster.place(try pool.run([PostgresCluster.placeOfCode(.text(code))])[0])
  }

  package func live(limit: Int) throws(StoreError) -> [StoredMatch] { try reader.live(limit: limit) }

  // MARK: beginning

  private static let roomsOf = PGStatement(
    "rooms_of",
    """
    SELECT m.id, e.body FROM match m JOIN match_event e ON e.match_id = m.id AND e.seq = 1
    WHERE m.opener = $1::bigint AND m.ended IS NULL
    """)
  /// Whoever has not played another game has no row for it, and the rating of a new player.
  private static let slotsOf: PGStatement = {
    let new = Standing().rating
    func column(_ name: String, _ value: Double) -> String {
      "CASE WHEN $2 = 'classic' THEN account.\(name) ELSE coalesce(s.\(name), \(value)) END"
    }
    return PGStatement(
      "slots_of",
      """
      SELECT id, \(column("rating", new.value)), \(column("deviation", new.deviation)),
        \(column("volatility", new.volatility)), EXISTS (
        SELECT 1 FROM match m WHERE m.id = account.rated_match AND m.ended IS NULL)
      FROM account LEFT JOIN standing s ON s.account = account.id AND s.rules = $2 WHERE id = ANY($1::bigint[])
      """)
  }()
  private static let lockCode = PGStatement(
    "lock_code",
    "SELECT pg_advisory_xact_lock(\(PostgresMigrations.lockClass), hashtext('code ' || current_schema() || $1))")
  private static let openRoom = PGStatement(
    "open_room", "SELECT id FROM match WHERE code = $1 AND ended IS NULL AND x IS NULL")
  private static let fillSlots = PGStatement(
    "fill_slots", "UPDATE account SET rated_match = $2 WHERE id = ANY($1::bigint[])")

  private static let exists = PGStatement("exists", "SELECT 1 FROM match WHERE id = $1")

  /// Where the answer is lost, what became of it is found out: whoever looks after the lock of an account or a code sees it.
  package func begin(_ begin: MatchBegin) throws(StoreError) -> BeginResult {
    var error: StoreError?
    for _ in 0..<PostgresCluster.tries {
      do throws(StoreError) { return try beginOnce(begin) } catch let lost {
        guard case .unknownOutcome = lost else { throw lost }
        error = lost
      }
    }
    throw error ?? .unknownOutcome("\(place): no answer")
  }

  /// Two flights: what is locked and looked at, and what is written and committed.
  private func beginOnce(_ begin: MatchBegin) throws(StoreError) -> BeginResult {
    let owner = try mine()
    let work = try PostgresBatch([StoreTransaction(number: 0, writes: begin.writes)], epoch: owner)
    // The lock of an account, or of a code, is kept until what it was looked at for is there for all to see; and looked at in
    // another statement, which sees what was committed while the first one waited.
    let locked = work.accounts.union(begin.rated).union([begin.room?.opener].compactMap(\.self)).sorted()
    var looks = [
      PostgresRows.lockAccounts(.ints(locked)),
      PostgresCluster.slotsOf(.ints(begin.rated), .text(begin.rules.rawValue)),
      PostgresCluster.exists(.text(begin.m.rawValue)),
    ]
    if let room = begin.room {
      looks += [
        PostgresCluster.lockCode(.text(room.code)), PostgresCluster.openRoom(.text(room.code)),
        PostgresCluster.roomsOf(.int(room.opener)),
      ]
    }
    let slots = PostgresCluster.fillSlots(.ints(begin.rated), .text(begin.m.rawValue))
    return try pool.transact { (transaction) throws(StoreError) -> BeginResult in
      let found = try PostgresCluster.runWithLease(owner, looks, &transaction).rows
      // Its id is drawn by chance: what has it is what was begun before the answer was lost.
      if !found[2].rows.isEmpty { return .begun }
      for (account, rating) in zip(begin.rated, begin.ratings) {
        let row = found[1].rows.first { $0[0].int == account }
        if row?[4].bool == true { return .playing(account) }
        guard let row, row[1].double == rating.value, row[2].double == rating.deviation,
          row[3].double == rating.volatility
        else { return .stale }
      }
      if let room = begin.room {
        for row in found[5].rows {
          guard let m = row[0].text.flatMap(MatchID.init(rawValue:)), let body = row[1].bytes else { continue }
          if let key = room.key, (try? MatchEvent(body: body))?.mid == key { return .known(m) }
        }
        if !found[4].rows.isEmpty { return .codeTaken }
      }
      try transaction.finish((begin.rated.isEmpty ? [] : [slots]) + work.calls)
      return .begun
    }
  }

  // MARK: keeping house

  private static let cleaning = PGStatement(
    once: "SELECT pg_try_advisory_xact_lock(\(PostgresMigrations.lockClass), hashtext('clean ' || current_schema()))")
  /// A guest who has just played may be asked for another game.
  private static let cleanSteps = [
    """
    DELETE FROM session s WHERE expires < \(now)
      AND NOT EXISTS (SELECT 1 FROM node n WHERE n.epoch = s.epoch AND n.lease_until > \(now))
    """,
    """
    DELETE FROM account a WHERE guest AND token_expires < \(now)
      AND NOT EXISTS (SELECT 1 FROM session s WHERE s.account = a.id)
      AND NOT EXISTS (SELECT 1 FROM match m WHERE (m.ended IS NULL OR m.ended > \(now) - 600000) AND m.x = a.id)
      AND NOT EXISTS (SELECT 1 FROM match m WHERE (m.ended IS NULL OR m.ended > \(now) - 600000) AND m.o = a.id)
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.ended IS NULL AND m.opener = a.id)
    """,
    """
    DELETE FROM node n WHERE lease_until <= \(now) - 60000
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.ended IS NULL AND m.epoch = n.epoch)
    """,
  ].map { PGStatement(once: $0)() }

  package func clean() throws(StoreError) {
    try pool.transact { (transaction) throws(StoreError) in
      // One node at a time does; the others need not.
      guard try transaction.run([PostgresCluster.cleaning()])[0].rows.first?.first?.bool == true else { return }
      try transaction.finish(PostgresCluster.cleanSteps)
    }
  }
}
