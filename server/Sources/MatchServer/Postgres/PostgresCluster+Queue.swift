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
  /// The match a row of `keyOf` led to, if it is live.
  private static func live(_ used: [PGValue]) -> MatchID? {
    used[2].bool == true ? used[1].text.flatMap(MatchID.init(rawValue:)) : nil
  }
  private static let openOf = PGStatement(
    "open_of", "SELECT \(columns), since FROM ticket WHERE session = $1 FOR UPDATE")
  private static let slotOf = PGStatement(
    "slot_of",
    """
    SELECT m.id FROM account a LEFT JOIN match m ON m.id = a.rated_match AND m.ended IS NULL WHERE a.id = $1::bigint
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
    let mine = try mine()
    return try pool.transact { (transaction) throws(StoreError) -> QueueResult in
      let (found, now) = try PostgresCluster.runWithLease(
        mine,
        [
          PostgresCluster.keyOf(.int(ticket.account), .text(ticket.seek.key ?? "")),
          PostgresCluster.openOf(.text(ticket.session)), PostgresCluster.slotOf(.int(ticket.account)),
        ], &transaction)
      if let used = found[0].rows.first {
        if used[0].bool == true { return .usedForRoom }
        if let m = PostgresCluster.live(used) { return .paired(m) }
      }
      var (ticket, since) = (ticket, now - ticket.waited)
      if let row = found[1].rows.first, let open = PostgresCluster.ticket(row.prefix(10), waited: 0) {
        let there = open.seek
        guard there.key == ticket.seek.key, there.terms == ticket.seek.terms, there.range == ticket.seek.range else {
          return .occupied
        }
        since = min(since, row[10].int ?? since)
        ticket.id = open.id
      }
      if ticket.seek.terms.rated, let m = found[2].rows.first?.first?.text.flatMap(MatchID.init(rawValue:)) {
        return .playing(m)
      }
      guard found[2].rows.first != nil else {
        throw .conflict("a ticket of an account that is gone")
      }
      try transaction.finish([
        PostgresCluster.drop(.text(ticket.session)), PostgresCluster.put(ticket, mine, since: since),
      ])
      return .waiting(id: ticket.id, now - since)
    }
  }

  package func unqueue(session: String) throws(StoreError) {
    _ = try pool.run([PostgresCluster.drop(.text(session))])
  }

  package func look(at tickets: [TicketRecord]) throws(StoreError) -> QueueView {
    guard !tickets.isEmpty else { return QueueView(states: [], waiting: []) }
    let ids = PGValue.texts(tickets.map(\.id))
    let found = try pool.run([PostgresCluster.own(ids), PostgresCluster.others(ids)])
    let own = Dictionary(
      PostgresCluster.waiting(found[0]).map { ($0.ticket.id, TicketState.waiting($0)) }, uniquingKeysWith: { $1 })
    // What is not there any more is asked for later: whoever took it has used its key by then.
    let gone = tickets.filter { own[$0.id] == nil }
    let calls = gone.map { PostgresCluster.keyOf(.int($0.account), .text($0.seek.key ?? "")) }
    let uses = calls.isEmpty ? [] : try pool.run(calls)
    let led = zip(gone, uses).map {
      ($0.id, $1.rows.first.flatMap(PostgresCluster.live).map { TicketState.paired($0) } ?? .gone)
    }
    let states = own.merging(led) { $1 }
    return QueueView(states: tickets.map { states[$0.id] ?? .gone }, waiting: PostgresCluster.waiting(found[1]))
  }

  // MARK: who waits

  /// The time and the good leases are found once for a statement, not once for a row.
  private static let waitingTickets = """
    SELECT \(columns.split(separator: ", ").map { "t.\($0)" }.joined(separator: ", ")), t.epoch, (SELECT \(now)) - t.since,
      t.rated AND EXISTS (SELECT 1 FROM match m WHERE m.id = a.rated_match AND m.ended IS NULL),
      \(PostgresRows.accountColumns.split(separator: ", ").map { "a.\($0)" }.joined(separator: ", "))
    FROM ticket t JOIN account a ON a.id = t.account
    """
  private static let own = PGStatement("own_tickets", "\(waitingTickets) WHERE t.id = ANY($1::text[])")
  private static let others = PGStatement(
    "waiting_tickets",
    """
    \(waitingTickets) WHERE (t.clock, t.rated) IN (SELECT clock, rated FROM ticket WHERE id = ANY($1::text[]))
      AND t.epoch = ANY(ARRAY(SELECT epoch FROM node WHERE lease_until > \(now)))
    ORDER BY t.since, t.id LIMIT \(QueueView.most)
    """)

  private static func waiting(_ found: PGRows) -> [WaitingTicket] {
    found.rows.compactMap { row in
      guard let epoch = row[10].int, let waited = row[11].int, let ticket = ticket(row.prefix(10), waited: waited),
        let account = PostgresRows.account(Array(row.dropFirst(13)))
      else { return nil }
      return WaitingTicket(ticket: ticket, epoch: epoch, account: account, isPlaying: row[12].bool ?? false)
    }
  }
}
