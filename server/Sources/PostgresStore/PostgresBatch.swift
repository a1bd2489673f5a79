import MatchProtocol
import MatchStore
import TicTacToe

/// A batch of transactions as few statements that go out in one flight: what touches accounts and sessions in order, then
/// all matches, then all logs in one statement. All of it is one transaction, so the order within does not show.
///
/// Every match it changes must carry the writer's epoch, and each log must have the length expected: that is the fence,
/// and each statement looks at its own result, so that nothing is decided between two of them.
struct PostgresBatch {
  private struct Log {
    var after: Int
    var count: Int
  }

  private let epoch: Int64
  /// Accounts, sessions and match rows.
  private var rows: [PGCall] = []
  private var scores: [Int64: AccountScore] = [:]
  /// Of each account, those of other games than the classic one.
  private var standings: [Int64: [Variant: AccountScore]] = [:]
  private var records: [MatchID: MatchRecord] = [:]
  private var logs: [MatchID: Log] = [:]
  private var entries: [(m: MatchID, event: StoredEvent)] = []
  private(set) var accounts: Set<Int64> = []

  /// Sorts a batch of the writer with this epoch; throws if the appends to a match do not follow one another.
  init(_ batch: [StoreTransaction], epoch: Int64) throws(StoreError) {
    self.epoch = epoch
    for transaction in batch { for write in transaction.writes { try add(write) } }
    flushScores()
    if !records.isEmpty { rows.append(PostgresBatch.putMatches(records, epoch)) }
    freeSlots()
  }

  private mutating func add(_ write: StoreWrite) throws(StoreError) {
    switch write {
    case .account(let account):
      flushScores()
      accounts.insert(account.id)
      rows.append(PostgresRows.put(account))
      rows += PostgresRows.putStandings(account)
    case .score(let score):
      accounts.insert(score.account)
      scores[score.account, default: AccountScore(account: score.account)].add(score.onAccount)
      guard score.rules != .classic else { return }
      standings[score.account, default: [:]][score.rules, default: AccountScore(account: score.account, score.rules)]
        .add(score)
    case .deleteAccount(let id):
      flushScores()
      accounts.insert(id)
      rows.append(PostgresRows.dropSessions(.int(id)))
      rows.append(PostgresRows.dropAccount(.int(id)))
    case .session(let session): rows.append(PostgresRows.put(session))
    case .deleteSession(let id): rows.append(PostgresRows.dropSession(.text(id)))
    case .match(let record):
      records[record.id] = record
      if record.ended != nil { accounts.formUnion([record.x, record.o].compactMap { $0 }) }
    case .append(let m, let after, let events):
      let end = logs[m].map { $0.after + $0.count } ?? after
      guard end == after, events.enumerated().allSatisfy({ $1.seq == after + 1 + $0 }) else { throw .broken([m]) }
      logs[m, default: Log(after: after, count: 0)].count += events.count
      entries += events.map { (m, $0) }
    }
  }

  private mutating func flushScores() {
    guard !scores.isEmpty else { return }
    rows.append(PostgresRows.add(scores.values.sorted { $0.account < $1.account }))
    if !standings.isEmpty {
      let all = standings.sorted { $0.key < $1.key }.flatMap { _, games in Variant.allCases.compactMap { games[$0] } }
      rows.append(PostgresRows.addStandings(all))
    }
    (scores, standings) = ([:], [:])
  }

  private mutating func freeSlots() {
    let over = records.values.filter { $0.ended != nil }.sorted { $0.id < $1.id }
    guard !over.isEmpty else { return }
    rows.append(
      PostgresBatch.free(.ints(over.flatMap { [$0.x, $0.o] }.compactMap { $0 }), .texts(over.map(\.id.rawValue))))
  }

  /// All of it, to be sent in one flight; empty if there is nothing to do. Accounts are locked in the order of their
  /// numbers: two writers never wait for each other in a circle.
  var calls: [PGCall] {
    (accounts.count > 1 ? [PostgresRows.lockAccounts(.ints(accounts.sorted()))] : []) + rows
      + (logs.isEmpty ? [] : [append])
  }

  /// What tells afterwards whether it was stored: nothing where it changes no log that was there before.
  var looks: [PGCall] {
    guard let m = logs.filter({ $0.value.after > 0 }).keys.min() else { return [] }
    return [PostgresRows.lockAccounts(.ints(accounts.sorted())), PostgresBatch.length(.text(m.rawValue))]
  }

  /// Whether it was stored, by the rows of `looks`.
  func wasStored(_ found: [PGRows]) -> Bool {
    guard let m = logs.filter({ $0.value.after > 0 }).keys.min(), let log = logs[m] else { return false }
    return found.last?.rows.first?.first?.int == Int64(log.after + log.count)
  }

  private static let length = PGStatement("length", "SELECT seq FROM match WHERE id = $1 FOR UPDATE")

  private var append: PGCall {
    let sorted = logs.sorted { $0.key < $1.key }
    return PostgresBatch.append(
      .int(epoch), .texts(sorted.map(\.key.rawValue)), .ints(sorted.map { Int64($0.value.after) }),
      .ints(sorted.map { Int64($0.value.count) }), .texts(entries.map(\.m.rawValue)),
      .ints(entries.map { Int64($0.event.seq) }), .texts(entries.map { $0.event.side?.text ?? "" }),
      .texts(entries.map(\.event.mid)), .blobs(entries.map(\.event.body)))
  }

  private static let append = PGStatement(
    "append",
    """
    SELECT append_events($1::bigint, $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[],
      $8::text[], $9::bytea[])
    """)
  // An incarnation whose lease is over adds no matches: their players may play others by then. Epoch 0 is a single server's.
  private static let put = PGStatement(
    "put_matches",
    """
    WITH put AS (
      INSERT INTO match (id, x, o, opener, code, created, ended, seq, epoch)
      SELECT d.*, 0, $8::bigint FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[],
        $6::bigint[], $7::bigint[]) AS d (id, x, o, opener, code, created, ended)
      WHERE $8::bigint = 0 OR EXISTS (SELECT 1 FROM match WHERE id = d.id)
        OR EXISTS (SELECT 1 FROM node WHERE epoch = $8::bigint AND lease_until > \(PostgresCluster.now))
      ON CONFLICT (id) DO UPDATE SET x = excluded.x, o = excluded.o, opener = excluded.opener, code = excluded.code,
        ended = excluded.ended WHERE match.epoch = excluded.epoch
      RETURNING 1)
    SELECT must(count(*), cardinality($1::text[]), 'a match belongs to another node') FROM put
    """)
  private static let free = PGStatement(
    "free_slots", "UPDATE account SET rated_match = NULL WHERE id = ANY($1::bigint[]) AND rated_match = ANY($2::text[])"
  )

  private static func putMatches(_ records: [MatchID: MatchRecord], _ epoch: Int64) -> PGCall {
    let sorted = records.values.sorted { $0.id < $1.id }
    return put(
      .texts(sorted.map(\.id.rawValue)), .ints(sorted.map(\.x)), .ints(sorted.map(\.o)), .ints(sorted.map(\.opener)),
      .texts(sorted.map(\.code)), .ints(sorted.map(\.created)), .ints(sorted.map(\.ended)), .int(epoch))
  }
}
