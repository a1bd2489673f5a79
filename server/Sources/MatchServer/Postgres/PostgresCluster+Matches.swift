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
    PostgresCluster.place(try pool.run([PostgresCluster.placeOf(.text(m.rawValue))])[0])
  }

  package func place(code: String) throws(StoreError) -> MatchPlace? {
    PostgresCluster.place(try pool.run([PostgresCluster.placeOfCode(.text(code))])[0])
  }

  package func live(limit: Int) throws(StoreError) -> [StoredMatch] { try reader.live(limit: limit) }

  // MARK: beginning

  private static let roomOf = PGStatement(
    "room_of",
    """
    SELECT match_id FROM used_key WHERE account = $1::bigint AND key = $2 AND at > \(now) - 600000
    """)
  private static let lockTicket = PGStatement(
    "lock_ticket", "SELECT id FROM ticket WHERE id = $1 FOR UPDATE NOWAIT")
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

  /// Two flights: what is locked and looked at, and what is written and committed.
  package func begin(_ begin: MatchBegin) throws(StoreError) -> BeginResult {
    let owner = try mine()
    let work = try PostgresBatch([StoreTransaction(number: 0, writes: begin.writes)], epoch: owner)
    let rooms = begin.keys.filter(\.isRoom)
    // Tickets, then accounts; the lock of a code is kept until its room is there for all to see. The second ticket is not even
    // tried without the first: of two who want the same, neither then holds one that the other lacks.
    let looks =
      rooms.map { PostgresCluster.roomOf(.int($0.account), .text($0.key)) }
      + begin.tickets.sorted().map { PostgresCluster.lockTicket(.text($0)) }
      + [PostgresCluster.lockRated(.ints(work.accounts.union(begin.rated).sorted()))]
      + [begin.code].compactMap(\.self).flatMap {
        [PostgresCluster.lockCode(.text($0)), PostgresCluster.openRoom(.text($0))]
      }
    let (m, slots) = (PGValue.text(begin.m.rawValue), PGValue.ints(begin.rated))
    var changes = begin.keys.map { PostgresCluster.useKey(.int($0.account), .text($0.key), m, .bool($0.isRoom)) }
    if !begin.tickets.isEmpty { changes.append(PostgresCluster.dropTickets(.texts(begin.tickets))) }
    if !begin.rated.isEmpty { changes.append(PostgresCluster.fillSlots(slots, m)) }
    return try pool.transact { (transaction) throws(StoreError) -> BeginResult in
      var found: ArraySlice<PGRows>
      do throws(StoreError) {
        found = try PostgresCluster.runWithLease(owner, looks, &transaction).rows[...]
      } catch {
        // One that another node is about to take counts as gone: whoever asked looks again.
        guard case .contended = error, !begin.tickets.isEmpty else { throw error }
        return .ticketsGone
      }
      for room in found.prefix(rooms.count) {
        if let m = room.rows.first?.first?.text.flatMap(MatchID.init(rawValue:)) { return .known(m) }
      }
      found = found.dropFirst(rooms.count)
      guard found.prefix(begin.tickets.count).allSatisfy({ $0.count == 1 }) else { return .ticketsGone }
      found = found.dropFirst(begin.tickets.count)
      let accounts = found.first?.rows ?? []
      for (account, rating) in zip(begin.rated, begin.ratings) {
        let row = accounts.first { $0[0].int == account }
        if row?[4].bool == true { return .playing(account) }
        guard let row, row[1].double == rating.value, row[2].double == rating.deviation,
          row[3].double == rating.volatility
        else { return .stale }
      }
      if begin.code != nil, found.last?.rows.isEmpty == false { return .codeTaken }
      // Another node may have used the key for a room just now: look again.
      if !rooms.isEmpty, try transaction.run(changes).prefix(begin.keys.count).contains(where: { $0.count != 1 }) {
        throw .contended("a key was used meanwhile")
      }
      try transaction.finish((rooms.isEmpty ? changes : []) + work.calls)
      return .begun
    }
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
    try pool.transact { (transaction) throws(StoreError) in
      // One node at a time does; the others need not.
      guard try transaction.run([PostgresCluster.cleaning()])[0].rows.first?.first?.bool == true else { return }
      try transaction.finish(PostgresCluster.cleanSteps)
    }
  }
}
