import MatchProtocol
import MatchStore

/// What a store in PostgreSQL reads, on connections of its own: any thread may ask, and several at once.
package final class PostgresReader: Sendable {
  /// Where the database is, without user and password.
  let place: String
  private let address: PGAddress
  private let pool: PostgresPool
  /// A connection for nothing but to see whether the database is there.
  private let probe: PostgresPool

  /// The calls of a job see one state of the database.
  private static let snapshot = PGStatement(once: "SET default_transaction_isolation = 'repeatable read'")()

  init(_ address: PGAddress, connections count: Int) {
    (place, self.address) = (address.description, address)
    pool = PostgresPool(address, setup: PostgresStore.everywhere + [PostgresReader.snapshot], count: count)
    probe = PostgresPool(address, setup: [], count: 1)
  }

  /// Throws if the database is not fit to keep promises; brings its schema up to date.
  func prepare() throws(StoreError) {
    let settings = ["fsync", "full_page_writes", "server_encoding"]
    let names = settings + ["synchronous_standby_names"]
    let query = PGStatement(once: "SELECT " + names.map { "current_setting('\($0)')" }.joined(separator: ", "))
    let connection: PGConnection
    do throws(StoreError) {
      connection = try PGConnection(address, setup: PostgresStore.everywhere)
      let row = try connection.run([query()], within: 10_000).first?.rows.first ?? []
      if address.hasSeveralHosts, !address.allowsLossyFailover, row.last?.text?.isEmpty != false {
        throw StoreError.unusable(
          "synchronous_standby_names is empty there: another host may take over without what was acknowledged; name a "
            + "standby, or allow that with --allow-lossy-failover")
      }
      for (name, value) in zip(settings, row) {
        let needed = name == "server_encoding" ? "UTF8" : "on"
        guard value.text == needed else {
          throw StoreError.unusable("\(name) is \(value.text ?? "unknown") there; acknowledged moves need \(needed)")
        }
      }
    } catch { throw error.reading(place) }
    try PostgresMigrations.run(connection, place: place)
  }

  /// Ends the connections.
  func close() {
    pool.close()
    probe.close()
  }

  /// Runs a query; a connection that is lost is tried once more.
  private func read(_ calls: [PGCall], within milliseconds: Int64 = 10_000) throws(StoreError) -> [PGRows] {
    do throws(StoreError) {
      do throws(StoreError) { return try pool.run(calls, within: milliseconds) } catch {
        guard case .unknownOutcome = error else { throw error }
        return try pool.run(calls, within: milliseconds)
      }
    } catch { throw error.reading(place) }
  }

  /// Reads everything but finished matches.
  func recover() throws(StoreError) -> Recovery {
    let found = try read(
      [
        PostgresRows.allAccounts(), PostgresRows.lastAccount(), PostgresRows.allSessions(),
        PostgresRows.liveMatches(), PostgresRows.liveEvents(),
      ], within: PostgresStore.longDeadline)
    guard found.count == 5 else { throw .unusable("\(place): no answer") }
    var recovery = Recovery()
    recovery.accounts = found[0].rows.compactMap(PostgresRows.account)
    recovery.lastAccount = found[1].rows.first?.first?.int ?? 0
    recovery.sessions = found[2].rows.compactMap(PostgresRows.session)
    recovery.matches = PostgresRows.matches(found[3], found[4])
    return recovery
  }

  func match(_ id: MatchID) throws(StoreError) -> StoredMatch? {
    let found = try read([PostgresRows.oneMatch(.text(id.rawValue)), PostgresRows.oneLog(.text(id.rawValue))])
    return PostgresRows.matches(found[0], found[1]).first
  }

  /// Reads finished matches of an account by an index on each seat.
  func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    let values = [PGValue.int(account), .int(before), .int(Int64(limit))]
    let found = try read([
      PGCall(statement: PostgresRows.history, values: values),
      PGCall(statement: PostgresRows.historyLogs, values: values),
    ])
    return PostgresRows.matches(found[0], found[1])
  }

  private static let openMatches = PGStatement(
    "open_matches",
    """
    SELECT \(PostgresRows.matchColumns) FROM match WHERE ended IS NULL AND opener IS NULL
    ORDER BY created DESC, id DESC LIMIT $1::bigint
    """)
  private static let openLogs = PGStatement(
    "open_logs",
    """
    SELECT \(PostgresRows.eventColumns) FROM match_event e WHERE match_id IN (
      SELECT id FROM match WHERE ended IS NULL AND opener IS NULL ORDER BY created DESC, id DESC LIMIT $1::bigint)
    ORDER BY match_id, seq
    """)

  /// The latest live public matches, each with the log that its row tells of.
  func live(limit: Int) throws(StoreError) -> [StoredMatch] {
    let found = try read([PostgresReader.openMatches(.int(Int64(limit))), PostgresReader.openLogs(.int(Int64(limit)))])
    return PostgresRows.matches(found[0], found[1])
  }

  /// Every match id, in order.
  func matchIDs() throws(StoreError) -> [MatchID] {
    try read([PostgresRows.ids()], within: PostgresStore.longDeadline)[0].rows
      .compactMap { $0.first?.text.flatMap(MatchID.init(rawValue:)) }
  }

  /// Throws unless the database answers.
  func ping() throws(StoreError) { _ = try probe.run([PGStatement(once: "SELECT 1")()], within: 700) }

  /// Drops old logs, some at a time.
  func prune(before: Int64) throws(StoreError) -> Int {
    var all = 0
    while true {
      let some = try pool.run([PostgresRows.prune(.int(before))], within: 60_000).last?.count ?? 0
      guard some > 0 else { return all }
      all += some
    }
  }
}

/// A store that reads by a reader.
package protocol PostgresReading {
  var reader: PostgresReader { get }
}

extension MatchStore where Self: PostgresReading {
  package func recover() throws(StoreError) -> Recovery { try reader.recover() }
  package func match(_ id: MatchID) throws(StoreError) -> StoredMatch? { try reader.match(id) }
  package func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    try reader.history(of: account, before: before, limit: limit)
  }
  package func matchIDs() throws(StoreError) -> [MatchID] { try reader.matchIDs() }
  package func prune(before: Int64) throws(StoreError) -> Int { try reader.prune(before: before) }
  package func ping() throws(StoreError) { try reader.ping() }
}
