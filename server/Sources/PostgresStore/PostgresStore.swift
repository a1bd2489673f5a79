import MatchProtocol
import MatchStore
import Synchronization

/// A store in PostgreSQL 15 or newer, which several nodes may share. Applied units are on the database's disk.
///
/// A new connection can replace any other, because a database session has no state except its settings and the open transaction.
package final class PostgresStore: MatchStore {
  package let isShared = true
  /// The address of the database without user and password.
  package let place: String
  private let address: PGAddress
  /// The connection that writes units.
  let writer: PostgresPool
  /// The connections for questions that change something.
  let pool: PostgresPool
  /// The connections for questions that only read. The calls of one pipeline share a snapshot.
  private let reader: PostgresPool
  private let probe: PostgresPool
  private let publisher: PostgresPublisher
  private let listener = Mutex<PostgresListener?>(nil)

  /// The usual time limit in milliseconds for the answer to a commit.
  package static let deadline: Int64 = 5000

  /// The time limit in milliseconds for reading all accounts, or the ids of all matches.
  private static let longDeadline: Int64 = 600_000

  /// PostgreSQL ends a transaction that idles for 2 s, and the session of a client that is unreachable for 8 s, so that a stopped client
  /// cannot keep its locks. Plans are generic, because the best plan does not depend on the parameters. JIT is off, because it takes a
  /// second on each new connection; PostgreSQL would use JIT for the high costs that it estimates for the scans disabled by `serving`.
  static let everywhere = [
    "SET synchronous_commit = on", "SET default_transaction_isolation = 'read committed'",
    "SET idle_in_transaction_session_timeout = 2000",
    "SET plan_cache_mode = force_generic_plan", "SET jit = off", "SET extra_float_digits = 1",
    "SET tcp_keepalives_idle = 5", "SET tcp_keepalives_interval = 1", "SET tcp_keepalives_count = 3",
    "SET tcp_user_timeout = 8000",
  ].map { PGStatement(once: $0)() }

  /// A statement that waits 3 s for a row lock fails and is retried. Scans of whole tables are disabled, because a plan made while the
  /// tables are small would still scan them when they are large.
  private static let serving =
    everywhere
    + [
      "SET lock_timeout = 3000", "SET enable_seqscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off",
    ].map { PGStatement(once: $0)() }

  private static let snapshot = PGStatement(once: "SET default_transaction_isolation = 'repeatable read'")()

  /// Throws if the database is unreachable, its settings do not guarantee durability, or only newer builds may use it.
  package init(_ address: PGAddress, deadline: Int64 = PostgresStore.deadline) throws(StoreError) {
    self.address = address
    place = address.description
    writer = PostgresPool(address, setup: PostgresStore.serving, count: 1, deadline: deadline)
    pool = PostgresPool(address, setup: PostgresStore.serving, count: 6)
    reader = PostgresPool(address, setup: PostgresStore.serving + [PostgresStore.snapshot], count: 3)
    probe = PostgresPool(address, setup: [], count: 1)
    publisher = PostgresPublisher(address)
    do throws(StoreError) { try prepare() } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  // MARK: opening

  private func prepare() throws(StoreError) {
    let settings = ["fsync", "full_page_writes", "server_encoding"]
    let names = settings + ["synchronous_standby_names"]
    let query = PGStatement(once: "SELECT " + names.map { "current_setting('\($0)')" }.joined(separator: ", "))
    let (connection, row): (PGConnection, [PGValue])
    do throws(PGError) {
      connection = try PGConnection(address, setup: PostgresStore.everywhere)
      row = try connection.run([query()], within: 10_000).first?.rows.first ?? []
    } catch { throw StoreError(error).reading(place) }
    if address.hasSeveralHosts, !address.allowsLossyFailover, row.last?.text?.isEmpty != false {
      throw .unusable(
        "\(place): synchronous_standby_names is empty there: another host may take over without what was acknowledged; "
          + "name a standby, or allow that with --allow-lossy-failover")
    }
    for (name, value) in zip(settings, row) {
      let needed = name == "server_encoding" ? "UTF8" : "on"
      guard value.text == needed else {
        throw .unusable("\(place): \(name) is \(value.text ?? "unknown") there; acknowledged moves need \(needed)")
      }
    }
    try refusePooler(connection)
    try PostgresMigrations.run(connection, place: place)
    do throws(PGError) { _ = try connection.run([PostgresStore.raiseAccounts()], within: 10_000) } catch {
      throw StoreError(error).reading(place)
    }
  }

  private static let setName = PGStatement(once: "SELECT set_config('alina.connection', $1, false)")
  private static let getName = PGStatement(once: "SELECT current_setting('alina.connection', true)")

  /// Throws if a pooler gives each transaction another session, as pgbouncer can: notifications and settings belong to a session.
  private func refusePooler(_ connection: PGConnection) throws(StoreError) {
    var random = SystemRandomNumberGenerator()
    let name = "\(random.next())"
    do throws(PGError) {
      let other = try PGConnection(address)
      defer { other.close() }
      func read(_ connection: PGConnection, _ calls: [PGCall]) throws(PGError) -> String? {
        try connection.run(calls + [PostgresStore.getName()], within: 10_000).last?.rows.first?.first?.text
      }
      _ = try connection.run([PostgresStore.setName(.text(name))], within: 10_000)
      // A pooler may give this transaction the session in which the first connection has set `name`. The open transaction keeps the
      // session.
      let seen = try read(other, [PGStatement.begin()])
      if try PostgresStore.sharesSessions(
        name, other: seen, own: { () throws(PGError) in try read(connection, []) })
      {
        throw .refused(
          "a pooler gives each transaction another session there (pgbouncer: pool_mode = transaction); "
            + "name PostgreSQL itself, or set pool_mode = session")
      }
    } catch { throw StoreError(error).reading(place) }
  }

  /// The first connection has set `name`, the second has then read `other`, and `own` reads on the first one. `own` is not called if
  /// `other` is `name`: in a pool of one session, which the second connection holds, `own` would wait for ever.
  static func sharesSessions(
    _ name: String, other: String?, own: () throws(PGError) -> String?
  ) throws(PGError) -> Bool {
    if other == name { return true }
    return try own() != name
  }

  /// Advances the sequence of account ids past ids that older builds or imports have used. The openers of imported matches that have ended,
  /// which no index has, are passed when these matches are stored.
  private static let raiseAccounts = PGStatement(
    once: """
      SELECT setval('account_id', m) FROM (SELECT greatest((SELECT max(id) FROM account), (SELECT max(x) FROM match),
        (SELECT max(o) FROM match), (SELECT max(opener) FROM match WHERE ended IS NULL)) AS m) AS used
      WHERE m > (SELECT last_value FROM account_id)
      """)

  static let skipTo = PGStatement(
    once: "SELECT setval('account_id', $1::bigint) WHERE $1::bigint > (SELECT last_value FROM account_id)")

  // MARK: reading

  /// Reads in one snapshot; retries once after a lost connection.
  func read(_ calls: [PGCall], within milliseconds: Int64 = 10_000) throws(StoreError) -> [PGRows] {
    do throws(StoreError) { return try reader.run(calls, within: milliseconds) } catch {
      guard case .unknown = error else { throw error }
    }
    do throws(StoreError) { return try reader.run(calls, within: milliseconds) } catch {
      throw .failed(error.description)
    }
  }

  private static let allAccounts = PGStatement(once: "SELECT \(PostgresRows.accountColumns) FROM account ORDER BY id")
  private static let ids = PGStatement(once: "SELECT id FROM match ORDER BY id")

  package func accounts() throws(StoreError) -> [AccountRecord] {
    try read([PostgresStore.allAccounts()], within: PostgresStore.longDeadline)[0].rows.compactMap(PostgresRows.account)
  }

  package func matchIDs() throws(StoreError) -> [MatchID] {
    try read([PostgresStore.ids()], within: PostgresStore.longDeadline)[0].rows.compactMap { PostgresRows.id($0.first) }
  }

  package func ping() throws(StoreError) { try probe.run([PGStatement(once: "SELECT 1")()], within: 700) }

  // MARK: tools

  private static let taken = PGStatement(
    once: "SELECT name FROM account WHERE id = ANY($1::bigint[]) OR name_lower = ANY($2::text[]) ORDER BY id LIMIT 1")

  package func add(_ accounts: [AccountRecord]) throws(StoreError) {
    let names = accounts.map { $0.name.lowercased() }
    guard Set(names).count == names.count, Set(accounts.map(\.id)).count == accounts.count else {
      throw .failed("two accounts have the same number or name")
    }
    try pool.transact { (transaction) throws(StoreError) in
      // If another transaction takes one of the names meanwhile, the unique index refuses the insertion, and this transaction is retried.
      let found = try transaction.run([PostgresStore.taken(.ints(accounts.map(\.id)), .texts(names))])
      if let name = found[0].rows.first?.first?.text { throw .failed("the number or name of \(name) is taken") }
      for start in stride(from: 0, to: accounts.count, by: 500) {
        let some = accounts[start..<min(start + 500, accounts.count)]
        _ = try transaction.run(some.flatMap { PostgresRows.put($0, by: PostgresRows.addAccount) })
      }
      // A new account must not get an id from the block list of an added account, even if the account with that id was deleted.
      let blocked = accounts.flatMap(\.blocked).max() ?? 0
      try transaction.finish([PostgresStore.raiseAccounts(), PostgresStore.skipTo(.int(blocked))])
    }
  }

  /// The time that was $n milliseconds ago. A subquery, because PostgreSQL searches no index for a value that changes from row to row.
  private static func ago(_ n: Int) -> String { "(SELECT \(PostgresRows.now) - $\(n)::bigint)" }
  private static let isPruningDue = PGStatement(
    once: """
      SELECT EXISTS (SELECT 1 FROM match WHERE ended < \(ago(1))),
        EXISTS (SELECT 1 FROM match WHERE ended BETWEEN \(ago(2)) AND \(ago(3)))
      """)
  private static let drop = PGStatement(
    once: """
      WITH old AS (SELECT id FROM match WHERE ended < \(ago(1)) ORDER BY ended LIMIT 500 FOR UPDATE SKIP LOCKED),
        logs AS (DELETE FROM match_event WHERE match_id IN (SELECT id FROM old))
      DELETE FROM match WHERE id IN (SELECT id FROM old)
      """)

  private static let anyNode = PGStatement(once: "SELECT address FROM node WHERE \(PostgresRows.lives) LIMIT 1")

  package func requireNoNode() throws(StoreError) {
    guard let address = try read([PostgresStore.anyNode()])[0].rows.first?.first?.text else { return }
    throw .unusable("\(place): a server is running on it, at \(address); stop it first")
  }

  package func prune(olderThan age: Int64) throws(StoreError) -> Int {
    let (most, least) = (Pruning.evidence.upperBound, Pruning.evidence.lowerBound)
    let found = try read([PostgresStore.isPruningDue(.int(age), .int(most), .int(least))])[0].rows.first
    guard found?.first?.bool == true else { return 0 }
    guard found?.last?.bool == true else { throw .clockIsDoubtful }
    return try pool.run([PostgresStore.drop(.int(age))], within: 60_000)[0].count
  }

  // MARK: notifications

  package func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void) {
    let fresh = PostgresListener(address, node: node, heard: heard)
    listener.withLock { listener in
      listener?.end()
      listener = fresh
    }
    fresh.start()
  }

  package func publish(_ notifications: [(node: NodeID, text: String)]) { publisher.publish(notifications) }

  package func close() {
    listener.withLock { listener in
      listener?.end()
      listener = nil
    }
    publisher.end()
    for pool in [writer, pool, reader, probe] { pool.close() }
  }
}
