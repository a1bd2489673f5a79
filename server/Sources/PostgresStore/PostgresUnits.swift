import MatchProtocol
import MatchStore
import TicTacToe

/// A batch whose units only append one event each, no two of them to the same match, is one statement. Any other batch is one transaction
/// of two round trips: lock and read, then write. Locks are taken on accounts, then matches, tickets, keys, tournaments and entrants, each
/// by id, so that no deadlock is possible.
extension PostgresStore {
  package func apply(_ units: [StoreUnit]) -> [Verdict] {
    let mistakes = units.map(\.mistake)
    let sound = zip(units, mistakes).compactMap { $1 == nil ? $0 : nil }
    var verdicts = sound.isEmpty ? [] : applySound(sound)[...]
    return mistakes.map { $0.map { .failed($0) } ?? verdicts.removeFirst() }
  }

  private func applySound(_ units: [StoreUnit]) -> [Verdict] {
    do throws(StoreError) {
      guard !units.areMoves else { return try move(units) }
      return try judge(BatchReadSet(units), on: writer) { (judge) throws(StoreError) in
        var verdicts: [Verdict] = []
        for unit in units { verdicts.append(try judge.judge(unit)) }
        return verdicts
      }
    } catch { return units.map { _ in error.verdict } }
  }

  /// `count(*)` makes PostgreSQL take all locks before the first update. `IS TRUE` makes PostgreSQL look up an event's match in a hash
  /// table instead of comparing it with each match.
  private static let append = PGStatement(
    """
    WITH locked AS MATERIALIZED (SELECT FROM match WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE),
      grown AS (
        UPDATE match SET seq = match.seq + d.n
        FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS d (id, after, n)
        WHERE (SELECT count(*) FROM locked) > 0 AND match.id = d.id AND match.seq = d.after
        RETURNING match.id, match.nodes),
      logged AS (
        INSERT INTO match_event (match_id, seq, body)
        SELECT e.* FROM unnest($4::text[], $5::bigint[], $6::bytea[]) AS e (match_id, seq, body)
        WHERE (e.match_id IN (SELECT id FROM grown)) IS TRUE)
    SELECT id, nodes FROM grown
    """)

  private func move(_ units: [StoreUnit]) throws(StoreError) -> [Verdict] {
    let logs = units.flatMap(\.logs)
    let call = PostgresStore.append(
      .texts(logs.map(\.m.rawValue)), .ints(logs.map { Int64($0.after) }), .ints(logs.map { Int64($0.bodies.count) }),
      events: logs.flatMap(\.numbered))
    let grown = Dictionary(
      try writer.run([call])[0].rows.map { ($0[0].text, PostgresRows.nodes($0[1])) }, uniquingKeysWith: { $1 })
    return logs.map { log in
      grown[log.m.rawValue].map { .applied([log.m: $0]) } ?? .conflict(.log(log.m))
    }
  }

  /// Queues tickets in one batch, as if one after the other.
  func queue(_ wanted: [(ticket: TicketRecord, rated: Bool)]) throws(StoreError) -> [QueueResult] {
    try judge(BatchReadSet(wanted), on: pool) { (judge) throws(StoreError) in
      var results: [QueueResult] = []
      for (ticket, rated) in wanted { results.append(try judge.queue(ticket, rated: rated)) }
      return results
    }
  }

  private func judge<T>(
    _ needs: BatchReadSet, on pool: PostgresPool, _ body: (inout BatchValidator) throws(StoreError) -> [T]
  ) throws(StoreError) -> [T] {
    try pool.transact { (transaction) throws(StoreError) in
      var judge = BatchValidator(needs, try transaction.run(needs.calls))
      let results = try body(&judge)
      let writes = judge.writes
      if !writes.isEmpty { try transaction.finish(writes) }
      return results
    }
  }
}

extension [StoreUnit] {
  /// Whether each unit only appends a single event, and no two units belong to the same match.
  fileprivate var areMoves: Bool {
    allSatisfy(\.isMove) && Set(map { $0.logs[0].m }).count == count
  }
}

extension StoreUnit.Log {
  var numbered: [EventRow] { bodies.enumerated().map { (m, after + 1 + $0, $1) } }
}

/// An event as a row of `match_event`.
typealias EventRow = (m: MatchID, seq: Int, body: [UInt8])

extension PGStatement {
  /// The columns of the events become the last three parameters.
  func callAsFunction(_ values: PGValue..., events: [EventRow]) -> PGCall {
    PGCall(
      statement: self,
      values: values + [
        .texts(events.map(\.m.rawValue)), .ints(events.map { Int64($0.seq) }),
        .blobs(events.map(\.body)),
      ])
  }
}
