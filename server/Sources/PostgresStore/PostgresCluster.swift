import Glibc
import MatchProtocol
import MatchStore
import Synchronization

/// One node's view of a PostgreSQL database that several nodes use: see `ClusterStore` for the rules.
///
/// Ten connections: one for commits, one for the lease, six for transactions that look before they write, two for reading.
/// Nothing hangs on a session but the transaction it is in, so each of them may be lost and made again; what protects a match from its former owner is
/// the epoch in its row.
package final class PostgresCluster: ClusterStore, PostgresReading {
  /// Where the database is, without user and password.
  package let place: String
  /// The newest version of the log's language this node reads.
  let reads: Int
  let pool: PostgresPool
  private let committer: PostgresPool
  private let renewer: PostgresPool
  package let reader: PostgresReader
  private let epoch = Mutex<Int64>(0)

  /// Connects and brings the schema up to date; throws if the database cannot be reached, is not fit to keep promises, or
  /// only newer builds may use it. A test may read less or more than this build does.
  package init(_ address: PGAddress, reads: Int = MatchEvent.newest) throws(StoreError) {
    place = address.description
    self.reads = reads
    reader = PostgresReader(address, connections: 2)
    do throws(StoreError) { try reader.prepare() } catch {
      reader.close()
      throw error
    }
    // A server of its own must not share the database with a cluster: it holds this lock exclusively.
    let company = PGStatement(
      once: """
        SELECT pg_advisory_lock_shared(\(PostgresMigrations.lockClass), hashtext('serve ' || current_schema()))
        """)
    let patience = PGStatement(once: "SET lock_timeout = 3000")
    committer = PostgresPool(
      address, setup: PostgresStore.everywhere + PostgresStore.pointwise + [patience(), company()], count: 1)
    renewer = PostgresPool(address, setup: PostgresStore.everywhere, count: 1)
    pool = PostgresPool(address, setup: PostgresStore.everywhere + [patience()], count: 6)
    do throws(StoreError) { _ = try committer.run([PGStatement(once: "SELECT 1")()], within: 10_000) } catch {
      close()
      throw .unusable("\(place): \(error) (is a single server using it?)")
    }
    do throws(StoreError) { try checkLanguage() } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// The incarnation's epoch; throws before `join`, and if another one has asked.
  func mine() throws(StoreError) -> Int64 {
    let mine = epoch.withLock { $0 }
    guard mine > 0 else { throw .unusable("\(place): no incarnation has begun") }
    guard asking == nil || asking == mine else { throw .conflict("the incarnation that asked is over") }
    return mine
  }

  // MARK: leases

  /// Milliseconds since 1970 on the database's clock; read anew wherever it stands.
  static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  static let joining = PGStatement(
    once: "SELECT pg_advisory_xact_lock(\(PostgresMigrations.lockClass), hashtext('join ' || current_schema()))")
  private static let namesakes = PGStatement(
    once: "SELECT peer FROM node WHERE name = $1 AND epoch IS DISTINCT FROM $2::bigint AND lease_until > \(now)")
  private static let endLease = PGStatement(
    once: "UPDATE node SET lease_until = \(now), has_left = true WHERE epoch = $1::bigint AND lease_until > \(now)")
  /// Accounts that were made without the sequence (by a single server, by an import) are skipped.
  private static let raiseAccounts = PGStatement(
    once: """
      SELECT setval('account_id', m) FROM (SELECT greatest((SELECT max(id) FROM account), (SELECT max(x) FROM match),
        (SELECT max(o) FROM match), (SELECT max(opener) FROM match)) AS m) AS used
      WHERE m > (SELECT last_value FROM account_id)
      """)
  private static let putNode = PGStatement(
    once: """
      INSERT INTO node (epoch, name, address, peer, lease_until, events)
      VALUES (nextval('node_epoch'), $1, $2, $3, \(now) + $4::bigint, $5::bigint) RETURNING epoch
      """)

  package func join(_ node: NodeDescription, lease: Int64, replacing: Int64?) throws(StoreError) -> Int64 {
    let (fresh, inForce) = try pool.transact { (transaction) throws(StoreError) -> (epoch: Int64, inForce: Int) in
      let others = try transaction.run([
        PostgresCluster.joining(), PostgresCluster.language(),
        PostgresCluster.namesakes(.text(node.name), .optional(replacing)),
      ])
      let inForce = Int(others.dropFirst().first?.rows.first?.first?.int ?? 1)
      guard inForce <= reads else { return (0, inForce) }
      if let peer = others.last?.rows.first?.first?.text {
        throw .unusable("a node named \(node.name) is running at \(peer); each needs its own name")
      }
      let made = try transaction.run([
        PostgresCluster.endLease(.optional(replacing)), PostgresCluster.raiseAccounts(),
        PostgresCluster.putNode(
          .text(node.name), .text(node.address), .text(node.peer), .int(lease),
          .int(Int64(reads))),
      ])
      try transaction.finish([])
      return (made.last?.rows.first?.first?.int ?? 0, inForce)
    }
    guard inForce <= reads else { throw PostgresCluster.refusal(inForce: inForce, reads: reads, at: place) }
    epoch.withLock { $0 = fresh }
    return fresh
  }

  private static let extend = PGStatement(
    "extend", "UPDATE node SET lease_until = \(now) + $2::bigint WHERE epoch = $1::bigint AND lease_until > \(now)")
  /// After the own row, so that whoever waits for a row holds none that is waited for.
  private static let shorten = PGStatement(
    "shorten",
    """
    UPDATE node SET lease_until = \(now) + $1::bigint
    WHERE epoch = ANY(ARRAY(SELECT epoch FROM node WHERE lease_until > \(now) + $1::bigint FOR UPDATE SKIP LOCKED))
    """)
  private static let good = PGStatement(
    "good",
    "SELECT epoch, name, address, peer, lease_until - \(now) FROM node WHERE lease_until > \(now) ORDER BY epoch")

  package func renew(lease: Int64) throws(StoreError) -> Renewal? {
    let calls = [
      PostgresCluster.extend(.int(try mine()), .int(lease)), PostgresCluster.shorten(.int(lease)),
      PostgresCluster.good(), PostgresCluster.languages(),
    ]
    let found = try renewer.run(calls, within: max(lease, 1000))
    guard found.first?.count == 1 else { return nil }
    let nodes = found[2].rows.compactMap { row -> NodeRecord? in
      guard let epoch = row[0].int, let name = row[1].text, let address = row[2].text, let peer = row[3].text,
        let left = row[4].int
      else { return nil }
      return NodeRecord(epoch: epoch, node: NodeDescription(name: name, address: address, peer: peer), left: left)
    }
    let versions = found[3].rows.first ?? []
    let inForce = Int(versions.first?.int ?? 1)
    return Renewal(nodes: nodes, inForce: inForce, common: versions.last?.int.map { Int($0) } ?? inForce)
  }

  package func leave() throws(StoreError) {
    _ = try pool.run([PostgresCluster.endLease(.int(try mine()))])
  }

  /// The nodes' rows are locked as long as their matches are being taken: a renewal that is under way in the meantime finds the
  /// lease over, and one that came first holds the row and has its matches passed over. Epoch 0 was a single server's, which
  /// cannot run now.
  private static let take = PGStatement(
    "take",
    """
    WITH dead AS (SELECT epoch FROM node WHERE lease_until <= \(now) ORDER BY epoch FOR SHARE SKIP LOCKED)
    UPDATE match SET epoch = $1::bigint
    WHERE id = ANY(ARRAY(
        SELECT id FROM match WHERE ended IS NULL AND epoch = ANY(ARRAY(SELECT 0::bigint UNION ALL SELECT epoch FROM dead))
        LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
      AND EXISTS (SELECT 1 FROM node WHERE epoch = $1::bigint AND lease_until > \(now))
    RETURNING id
    """)
  private static let takenMatches = PGStatement(
    "taken_matches", "SELECT \(PostgresRows.matchColumns) FROM match WHERE id = ANY($1::text[]) ORDER BY id")
  private static let takenEvents = PGStatement(
    "taken_events",
    """
    SELECT \(PostgresRows.eventColumns) FROM match_event e WHERE match_id = ANY($1::text[]) ORDER BY match_id, seq
    """)
  private static let takenAccounts = PGStatement(
    "taken_accounts",
    """
    SELECT \(PostgresRows.accountColumns) FROM account WHERE id IN (
      SELECT unnest(ARRAY[x, o, opener]) FROM match WHERE id = ANY($1::text[]))
    """)

  package func takeOver(limit: Int) throws(StoreError) -> [Adoption] {
    let taken = try pool.run([PostgresCluster.take(.int(try mine()), .int(Int64(limit)))])[0].rows
      .compactMap { $0.first?.text }
    guard !taken.isEmpty else { return [] }
    // Only now, in a later snapshot: whatever the old owner appended before is in it.
    let ids = PGValue.texts(taken)
    let calls = [PostgresCluster.takenMatches, PostgresCluster.takenEvents, PostgresCluster.takenAccounts].map {
      $0(ids)
    }
    let found = try PostgresCluster.insisting { () throws(StoreError) in try pool.run(calls) }
    let accounts = Dictionary(
      found[2].rows.compactMap(PostgresRows.account).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    return PostgresRows.matches(found[0], found[1]).map { match in
      let seats = Set([match.record.x, match.record.o, match.record.opener].compactMap { $0 })
      return Adoption(match: match, accounts: seats.sorted().compactMap { accounts[$0] })
    }
  }

  /// Tries a few times: without an answer, the matches that are this node's now would be in nobody's memory. If all fails, the
  /// node does not know what it owns.
  private static func insisting<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
    for _ in 0..<3 {
      do throws(StoreError) { return try body() } catch { usleep(100_000) }
    }
    do throws(StoreError) { return try body() } catch { throw .unknownOutcome(error.description) }
  }

  // MARK: MatchStore

  package func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    let work = try PostgresBatch(batch, epoch: try mine())
    guard !work.calls.isEmpty else { return }
    var lost = false
    for _ in 0..<PostgresCluster.tries {
      // What a transaction whose answer was lost has locked stays so until it has ended: then what became of it shows.
      if lost, try work.wasStored(committer.run(work.looks, within: PostgresStore.commitDeadline)) { return }
      do throws(StoreError) {
        _ = try committer.run(work.calls, within: PostgresStore.commitDeadline)
        return
      } catch {
        guard case .unknownOutcome = error, !work.looks.isEmpty else { throw error }
        lost = true
      }
    }
    throw .unknownOutcome("\(place): no answer")
  }

  /// Times that something is tried whose answer is lost.
  static let tries = 3

  /// Throws while the database cannot be reached; its connections come back by themselves.
  package func reopen() throws(StoreError) {
    _ = try committer.run([PGStatement(once: "SELECT 1")()], within: 5000)
  }

  package func close() {
    committer.close()
    renewer.close()
    pool.close()
    reader.close()
  }
}
