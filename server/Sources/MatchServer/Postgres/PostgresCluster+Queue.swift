import MatchProtocol
import TicTacToe

/// Tickets as several nodes share them.
extension PostgresCluster {
  private static let columns = "id, session, account, clock, rated, range, bots, key, is_bot, confirms"
  private static let keyOf = PGStatement(
    "key_of",
    """
    SELECT k.is_room, k.match_id, m.id IS NOT NULL FROM used_key k
    LEFT JOIN match m ON m.id = k.match_id AND m.ended IS NULL
    WHERE k.account = $1::bigint AND k.key = $2 AND k.at > \(now) - 600000
    """)
  private static let openOf = PGStatement(
    "open_of", "SELECT \(columns), since FROM ticket WHERE session = $1 FOR UPDATE")
  private static let slotOf = PGStatement(
    "slot_of",
    """
    SELECT m.id FROM account a JOIN match m ON m.id = a.rated_match AND m.ended IS NULL WHERE a.id = $1::bigint
    """)
  private static let put = PGStatement(
    "put_ticket",
    """
    INSERT INTO ticket (\(columns), epoch, since) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    """)
  private static let drop = PGStatement("drop_ticket", "DELETE FROM ticket WHERE session = $1")

  private static func ticket(_ row: ArraySlice<PGValue>, waited: Int64) -> TicketRecord? {
    let row = Array(row)
    guard row.count == 10, let id = row[0].text, let session = row[1].text, let account = row[2].int,
      let clock = row[3].text, let rated = row[4].bool
    else { return nil }
    let terms = MatchTerms(clock: TimeControl(clock), rated: rated)
    return TicketRecord(
      id: id, session: session, account: account,
      seek: .init(terms, range: row[5].int.map { Int($0) }, bots: row[6].bool ?? false, key: row[7].text),
      isBot: row[8].bool ?? false, confirms: row[9].bool ?? false, waited: waited)
  }

  private static func put(_ ticket: TicketRecord, _ mine: Int64, since: Int64) -> PGCall {
    let seek = ticket.seek
    return put(
      .text(ticket.id), .text(ticket.session), .int(ticket.account), .text(seek.terms.clockText),
      .bool(seek.terms.rated), .optional(seek.range.map { Int64($0) }), .bool(seek.bots), .text(seek.key ?? ""),
      .bool(ticket.isBot), .bool(ticket.confirms), .int(mine), .int(since))
  }

  package func queue(_ ticket: TicketRecord) throws(StoreError) -> QueueResult {
    try translating { () throws(PGFailure) in
      let mine = try mine()
      return try pool.transact(unique: true) { (transaction) throws(PGFailure) -> QueueResult in
        let (found, now) = try PostgresCluster.runWithLease(
          mine,
          [
            PostgresCluster.keyOf(.int(ticket.account), .text(ticket.seek.key ?? "")),
            PostgresCluster.openOf(.text(ticket.session)), PostgresCluster.slotOf(.int(ticket.account)),
          ], &transaction)
        if let used = found[0].rows.first {
          if used[0].bool == true { return .usedForRoom }
          if used[2].bool == true, let m = used[1].text.flatMap(MatchID.init(rawValue:)) { return .paired(m) }
        }
        var since = now - ticket.waited
        if let row = found[1].rows.first, let there = PostgresCluster.ticket(row.prefix(10), waited: 0)?.seek {
          guard there.key == ticket.seek.key, there.terms == ticket.seek.terms, there.range == ticket.seek.range else {
            return .occupied
          }
          since = min(since, row[10].int ?? since)
        }
        if ticket.seek.terms.rated, let m = found[2].rows.first?.first?.text.flatMap(MatchID.init(rawValue:)) {
          return .playing(m)
        }
        let rows = try transaction.run(
          [PostgresCluster.drop(.text(ticket.session)), PostgresCluster.put(ticket, mine, since: since)]
            + PostgresCluster.waitingCalls(ticket.id))
        guard let waiting = PostgresCluster.waiting(Array(rows.dropFirst(2))) else {
          throw .refused(state: PGFailure.fence, "a ticket of an account that is gone")
        }
        try transaction.finish([])
        return .waiting(waiting)
      }
    }
  }

  package func unqueue(session: String) throws(StoreError) {
    try translating { () throws(PGFailure) in _ = try pool.run(PostgresCluster.drop(.text(session))) }
  }

  package func look(at tickets: [TicketRecord]) throws(StoreError) -> [TicketState] {
    guard !tickets.isEmpty else { return [] }
    return try translating { () throws(PGFailure) in
      let calls = tickets.map { ticket in
        PostgresCluster.waitingCalls(ticket.id)
          + [PostgresCluster.keyOf(.int(ticket.account), .text(ticket.seek.key ?? ""))]
      }
      let found = try pool.transact { (transaction) throws(PGFailure) in try transaction.run(calls.flatMap { $0 }) }
      return tickets.indices.map { i in
        if let waiting = PostgresCluster.waiting(Array(found[i * 4..<i * 4 + 3])) { return .waiting(waiting) }
        guard let used = found[i * 4 + 3].rows.first, used[2].bool == true,
          let m = used[1].text.flatMap(MatchID.init(rawValue:))
        else { return .gone }
        return .paired(m)
      }
    }
  }

  // MARK: who waits with whom

  private static let own = PGStatement(
    "own_ticket",
    """
    SELECT \(now) - t.since, \(PostgresRows.accountColumns.split(separator: ", ").map { "a.\($0)" }
      .joined(separator: ", "))
    FROM ticket t JOIN account a ON a.id = t.account WHERE t.id = $1
    """)
  private static let candidates = PGStatement(
    "candidates",
    """
    SELECT \(columns.split(separator: ", ").map { "t.\($0)" }.joined(separator: ", ")), t.epoch, \(now) - t.since,
      \(PostgresRows.accountColumns.split(separator: ", ").map { "a.\($0)" }.joined(separator: ", "))
    FROM ticket mine JOIN account me ON me.id = mine.account
    JOIN ticket t ON t.clock = mine.clock AND t.rated = mine.rated AND t.account <> mine.account
    JOIN node n ON n.epoch = t.epoch AND n.lease_until > \(now)
    JOIN account a ON a.id = t.account
    WHERE mine.id = $1 AND NOT a.id = ANY(me.blocked) AND NOT me.id = ANY(a.blocked)
      AND (mine.bots OR NOT t.is_bot) AND (t.bots OR NOT mine.is_bot)
      AND NOT (mine.rated AND EXISTS (
        SELECT 1 FROM match m WHERE m.id IN (me.rated_match, a.rated_match) AND m.ended IS NULL))
    ORDER BY abs(a.rating - me.rating), t.since, t.id LIMIT 16
    """)
  private static let bots = PGStatement(
    "bots_waiting",
    """
    SELECT count(*) FROM ticket mine JOIN ticket t ON t.clock = mine.clock AND t.rated = mine.rated AND t.id <> mine.id
    JOIN node n ON n.epoch = t.epoch AND n.lease_until > \(now) WHERE mine.id = $1 AND t.is_bot
    """)

  private static func waitingCalls(_ id: String) -> [PGCall] { [own, candidates, bots].map { $0(.text(id)) } }

  private static func waiting(_ found: [PGRows]) -> TicketState.Waiting? {
    guard let row = found[0].rows.first, let waited = row.first?.int,
      let account = PostgresRows.account(Array(row.dropFirst()))
    else { return nil }
    let candidates = found[1].rows.compactMap { row -> Candidate? in
      guard let epoch = row[10].int, let waited = row[11].int, let ticket = ticket(row.prefix(10), waited: waited),
        let account = PostgresRows.account(Array(row.dropFirst(12)))
      else { return nil }
      return Candidate(ticket: ticket, epoch: epoch, account: account)
    }
    return .init(
      waited: waited, account: account, candidates: candidates, bots: Int(found[2].rows.first?.first?.int ?? 0))
  }
}
