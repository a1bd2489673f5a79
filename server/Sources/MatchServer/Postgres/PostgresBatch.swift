import MatchProtocol
import TicTacToe

/// A batch of transactions as few statements: what touches accounts and sessions in order, then all matches, all log
/// lengths and all events in one statement each. All of it is one transaction, so the order within does not show.
struct PostgresBatch {
  private struct Log {
    var after: Int
    var count: Int
  }

  /// Accounts, sessions and match rows.
  private(set) var rows: [PGCall] = []
  private var records: [MatchID: MatchRecord] = [:]
  private var logs: [MatchID: Log] = [:]
  private var entries: [(m: MatchID, event: StoredEvent)] = []

  /// Sorts a batch; throws if the appends to a match do not follow one another.
  init(_ batch: [StoreTransaction]) throws(StoreError) {
    for transaction in batch { for write in transaction.writes { try add(write) } }
    if !records.isEmpty { rows.append(PostgresBatch.putMatches(records)) }
  }

  private mutating func add(_ write: StoreWrite) throws(StoreError) {
    switch write {
    case .account(let account): rows.append(PostgresRows.put(account))
    case .deleteAccount(let id):
      rows.append(PostgresRows.dropSessions(.int(id)))
      rows.append(PostgresRows.dropAccount(.int(id)))
    case .session(let session): rows.append(PostgresRows.put(session))
    case .deleteSession(let id): rows.append(PostgresRows.dropSession(.text(id)))
    case .match(let record): records[record.id] = record
    case .append(let m, let after, let events):
      let end = logs[m].map { $0.after + $0.count } ?? after
      guard end == after, events.enumerated().allSatisfy({ $1.seq == after + 1 + $0 }) else {
        throw .conflict("match \(m) does not have \(after) events")
      }
      logs[m, default: Log(after: after, count: 0)].count += events.count
      entries += events.map { (m, $0) }
    }
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { rows.isEmpty && logs.isEmpty }

  /// How many logs grow.
  var matchCount: Int { logs.count }

  /// Makes every log as long as it will be, where it is as long as expected; `nil` if none grows.
  var lengthen: PGCall? {
    guard !logs.isEmpty else { return nil }
    // In the order of the ids: two writers that lock the same rows never wait for each other in a circle.
    let sorted = logs.sorted { $0.key < $1.key }
    return PostgresBatch.lengthen(
      .texts(sorted.map(\.key.rawValue)), .ints(sorted.map { Int64($0.value.after) }),
      .ints(sorted.map { Int64($0.value.count) }))
  }

  /// Puts the events in.
  var events: [PGCall] {
    guard !entries.isEmpty else { return [] }
    return [
      PostgresBatch.insert(
        .texts(entries.map(\.m.rawValue)), .ints(entries.map { Int64($0.event.seq) }),
        .texts(entries.map { $0.event.side?.wire ?? "" }), .texts(entries.map(\.event.mid)),
        .blobs(entries.map(\.event.body)))
    ]
  }

  private static let lengthen = PGStatement(
    "lengthen",
    """
    UPDATE match SET seq = match.seq + d.n
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS d (id, after, n)
    WHERE match.id = d.id AND match.seq = d.after
    """)
  private static let insert = PGStatement(
    "insert",
    """
    INSERT INTO match_event (match_id, seq, side, mid, body)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bytea[])
    """)
  private static let put = PGStatement(
    "put_matches",
    """
    INSERT INTO match (id, x, o, opener, code, created, ended, seq)
    SELECT d.*, 0 FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[],
      $7::bigint[]) AS d
    ON CONFLICT (id) DO UPDATE SET x = excluded.x, o = excluded.o, opener = excluded.opener, code = excluded.code,
      ended = excluded.ended
    """)

  private static func putMatches(_ records: [MatchID: MatchRecord]) -> PGCall {
    let sorted = records.values.sorted { $0.id < $1.id }
    return put(
      .texts(sorted.map(\.id.rawValue)), .ints(sorted.map(\.x)), .ints(sorted.map(\.o)), .ints(sorted.map(\.opener)),
      .texts(sorted.map(\.code)), .ints(sorted.map(\.created)), .ints(sorted.map(\.ended)))
  }
}
