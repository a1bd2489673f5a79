import MatchProtocol
import Synchronization
import TicTacToe

#if canImport(Glibc)
  import Glibc
#endif

/// A store in PostgreSQL 15 or newer, whose commits are on the database's disk before they return.
///
/// One server uses it at a time: the writing connection holds an advisory lock, and since nothing is written but through
/// that connection, a server that lost it cannot write any more, wherever it hangs. `commit` may be called from one
/// thread at a time, the readers from any.
public final class PostgresStore: MatchStore {
  private struct Writer {
    var connection: PGConnection?
    /// The process of the database server that serves it; may outlive the connection for a moment.
    var process: Int64 = 0
  }

  /// Milliseconds after which an unanswered commit counts as lost.
  static let commitDeadline: Int64 = 5000
  /// Milliseconds for what reads all there is.
  static let longDeadline: Int64 = 600_000
  private static let readerCount = 3

  /// Where it is, without user and password.
  public let place: String
  private let address: PGAddress
  private let readers: [PGConnection]
  private let writer = Mutex(Writer())

  /// Connects, brings the schema up to date and takes the lock; throws if the database cannot be reached, is not fit to
  /// keep promises, is used by another server, or only newer builds may use it.
  public init(_ address: PGAddress) throws(StoreError) {
    self.address = address
    place = address.description
    readers = (0..<PostgresStore.readerCount).map { _ in PGConnection(address, setup: PostgresStore.everywhere) }
    do throws(StoreError) {
      try PostgresStore.examine(readers[0], place)
      try PostgresMigrations.run(readers[0], place: place)
      try reopen()
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// What each connection is set to, whatever the role's defaults are. A client that stops in the middle of a
  /// transaction would keep its locks; the server ends it instead. Plans are made once: parameters tell them nothing.
  static let everywhere = [
    "SET synchronous_commit = on", "SET idle_in_transaction_session_timeout = 2000",
    "SET plan_cache_mode = force_generic_plan",
  ].map { PGStatement(once: $0)() }

  /// What the writing connection is set to besides: its statements look up rows by key, and a plan made while the tables
  /// were small must not scan them when they have grown.
  static let pointwise = ["SET enable_seqscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off"]
    .map { PGStatement(once: $0)() }

  private static func examine(_ connection: PGConnection, _ place: String) throws(StoreError) {
    let settings = ["fsync", "full_page_writes", "server_encoding"]
    let query = PGStatement(once: "SELECT " + settings.map { "current_setting('\($0)')" }.joined(separator: ", "))
    do throws(PGFailure) {
      let row = try connection.run([query()], within: 10_000).first?.rows.first ?? []
      for (name, value) in zip(settings, row) {
        let needed = name == "server_encoding" ? "UTF8" : "on"
        guard value.text == needed else {
          throw PGFailure.unreachable("\(name) is \(value.text ?? "unknown") there; acknowledged moves need \(needed)")
        }
      }
    } catch { throw .unusable("\(place): \(error.text)") }
  }

  // MARK: the writer

  private static let lock = PGStatement(
    once: """
      SELECT pg_try_advisory_lock(\(PostgresMigrations.lockClass), hashtext('serve ' || current_schema())),
        pg_backend_pid()
      """)
  private static let endOld = PGStatement(
    once: """
      SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = $1::bigint
        AND classid = \(PostgresMigrations.lockClass) AND objid = hashtext('serve ' || current_schema())::oid
      """)

  /// Takes a new writing connection and the lock. Whatever the old connection was doing in the server has then either
  /// been done or never will be, because the lock is free only once its process has ended.
  public func reopen() throws(StoreError) {
    let old = writer.withLock { writer in
      defer { writer.connection = nil }
      return writer
    }
    old.connection?.close()
    let fresh = PGConnection(address, setup: PostgresStore.everywhere + PostgresStore.pointwise, revives: false)
    do throws(PGFailure) {
      let end = PGWire.now + 3000
      while true {
        let row = try fresh.run([PostgresStore.lock()], within: 5000).first?.rows.first ?? []
        if row.first?.bool == true {
          writer.withLock { $0 = Writer(connection: fresh, process: row.last?.int ?? 0) }
          return
        }
        guard PGWire.now < end else { throw PGFailure.unreachable("another server uses this database") }
        _ = try fresh.run([PostgresStore.endOld(.int(old.process))], within: 5000)
        usleep(50_000)
      }
    } catch {
      fresh.close()
      throw .unusable("\(place): \(error.text)")
    }
  }

  /// Ends every connection; the lock goes with them.
  public func close() {
    let old = writer.withLock { writer in
      defer { writer.connection = nil }
      return writer.connection
    }
    old?.close()
    for reader in readers { reader.close() }
  }

  /// Stores a batch in one transaction. First what the logs hang on and the new length of each log, which only happens
  /// where the log has the length expected; then, those rows still locked, the events.
  public func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    guard let connection = writer.withLock({ $0.connection }) else { throw .unusable("\(place) is closed") }
    let work = try PostgresBatch(batch)
    guard !work.isEmpty else { return }
    do throws(PGFailure) {
      guard let lengthen = work.lengthen else {
        _ = try connection.run(work.rows, within: PostgresStore.commitDeadline)
        return
      }
      let begun = try connection.run(
        [PGStatement.begin()] + work.rows + [lengthen], within: PostgresStore.commitDeadline)
      guard begun.last?.count == work.matchCount else {
        throw .refused(state: "23000", "a match does not have the number of events expected")
      }
      _ = try connection.run(work.events + [PGStatement.commit()], within: PostgresStore.commitDeadline)
    } catch {
      if case .refused = error { _ = try? connection.run([PGStatement.rollback()], within: 1000) }
      throw error.storeError
    }
  }

  // MARK: reading

  /// Runs a query on the least busy connection; a connection that is lost is tried once more.
  private func read(_ calls: [PGCall], within milliseconds: Int64 = 10_000) throws(StoreError) -> [PGRows] {
    guard let reader = readers.min(by: { $0.load < $1.load }) else { return [] }
    // One snapshot for all of the calls.
    let whole = [PostgresStore.snapshot()] + calls + [PGStatement.commit()]
    do throws(PGFailure) {
      do throws(PGFailure) {
        return Array(try reader.run(whole, within: milliseconds).dropFirst().dropLast())
      } catch {
        guard case .lost = error else { throw error }
        return Array(try reader.run(whole, within: milliseconds).dropFirst().dropLast())
      }
    } catch {
      if case .refused = error { _ = try? reader.run([PGStatement.rollback()], within: 1000) }
      throw .unusable("\(place): \(error.text)")
    }
  }

  private static let snapshot = PGStatement("snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

  /// Reads everything but finished matches.
  public func recover() throws(StoreError) -> Recovery {
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

  /// Reads one match.
  public func match(_ id: MatchID) throws(StoreError) -> StoredMatch? {
    let found = try read([PostgresRows.oneMatch(.text(id.rawValue)), PostgresRows.oneLog(.text(id.rawValue))])
    return PostgresRows.matches(found[0], found[1]).first
  }

  /// Reads finished matches of an account by an index on each seat.
  public func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    let values = [PGValue.int(account), .int(before), .int(Int64(limit))]
    let found = try read([
      PGCall(statement: PostgresRows.history, values: values),
      PGCall(statement: PostgresRows.historyLogs, values: values),
    ])
    return PostgresRows.matches(found[0], found[1])
  }

  /// Every match id, in order.
  public func matchIDs() throws(StoreError) -> [MatchID] {
    try read([PostgresRows.ids()], within: PostgresStore.longDeadline)[0].rows
      .compactMap { $0.first?.text.flatMap(MatchID.init(rawValue:)) }
  }

  /// Drops old logs.
  public func prune(before: Int64) throws(StoreError) -> Int {
    do throws(PGFailure) {
      let calls = [PostgresRows.pruneLogs(.int(before)), PostgresRows.pruneMatches(.int(before))]
      return try readers[0].run(calls, within: PostgresStore.longDeadline).last?.count ?? 0
    } catch { throw error.storeError }
  }
}
