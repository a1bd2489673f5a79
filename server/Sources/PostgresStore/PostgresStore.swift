import Glibc
import MatchProtocol
import MatchStore
import Synchronization

/// A store in PostgreSQL 15 or newer, whose commits are on the database's disk before they return.
///
/// One server uses it at a time (`PostgresCluster` is for several): the writing connection holds an advisory lock, and since nothing is written but through
/// that connection, a server that lost it cannot write any more, wherever it hangs. `commit` may be called from one
/// thread at a time, the readers from any.
package final class PostgresStore: MatchStore, PostgresReading {
  private struct Writer {
    /// Ends when nobody uses it any more.
    var connection: PGConnection?
    /// The process of the database server that serves it; may outlive the connection for a moment.
    var process: Int64 = 0
  }

  /// Milliseconds after which an unanswered commit counts as lost.
  static let commitDeadline: Int64 = 5000
  /// Milliseconds for what reads all there is.
  static let longDeadline: Int64 = 600_000

  /// Where it is, without user and password.
  package let place: String
  private let address: PGAddress
  /// The newest version of the log's language it reads, and writes.
  private let reads: Int
  package let reader: PostgresReader
  private let writer = Mutex(Writer())

  /// Connects, brings the schema up to date and takes the lock; throws if the database cannot be reached, is not fit to
  /// keep promises, is used by another server, or only newer builds may use it.
  package init(_ address: PGAddress, reads: Int = MatchEvent.newest) throws(StoreError) {
    self.address = address
    self.reads = reads
    place = address.description
    reader = PostgresReader(address, connections: 3)
    do throws(StoreError) {
      try reader.prepare()
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
    "SET plan_cache_mode = force_generic_plan", "SET tcp_keepalives_idle = 5", "SET tcp_keepalives_interval = 1",
    "SET tcp_keepalives_count = 3",
  ].map { PGStatement(once: $0)() }

  /// What the writing connection is set to besides: its statements look up rows by key, and a plan made while the tables
  /// were small must not scan them when they have grown.
  static let pointwise = ["SET enable_seqscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off"]
    .map { PGStatement(once: $0)() }

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

  /// Makes the matches of a cluster that ran here, as far as they may still change, those of a single server: epoch 0.
  private static let adopt = PGStatement(
    once: """
      UPDATE match SET epoch = 0 WHERE epoch <> 0
        AND (ended IS NULL OR ended > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 120000)
      """)

  /// Takes a new writing connection and the lock. Whatever the old connection was doing in the server has then either
  /// been done or never will be, because the lock is free only once its process has ended.
  package func reopen() throws(StoreError) {
    let old = writer.withLock { writer in
      writer.connection = nil
      return writer.process
    }
    do throws(StoreError) {
      let fresh = try PGConnection(address, setup: PostgresStore.everywhere + PostgresStore.pointwise)
      let end = Moment.current.steady + 3000
      while true {
        let row = try fresh.run([PostgresStore.lock()], within: 5000).first?.rows.first ?? []
        if row.first?.bool == true {
          let language = try fresh.run([PostgresCluster.language()], within: 5000).first?.rows.first?.first?.int ?? 1
          guard language <= reads else {
            throw PostgresCluster.refusal(inForce: Int(language), reads: reads, at: place)
          }
          _ = try fresh.run([PostgresStore.adopt()], within: PostgresStore.longDeadline)
          writer.withLock { $0 = Writer(connection: fresh, process: row.last?.int ?? 0) }
          return
        }
        guard Moment.current.steady < end else { throw StoreError.unusable("another server uses this database") }
        _ = try fresh.run([PostgresStore.endOld(.int(old))], within: 5000)
        usleep(50_000)
      }
    } catch { throw error.reading(place) }
  }

  /// Puts all that this build writes in force, so that no older one takes the matches on; for a server that begins to
  /// serve, as it is the only one it needs to ask nobody.
  package func raiseLanguage() throws(StoreError) {
    guard let connection = writer.withLock({ $0.connection }) else { throw .unusable("\(place) is closed") }
    let calls = [PostgresCluster.raiseAlone(.int(Int64(reads))), PostgresCluster.shutOut()]
    _ = try connection.run(calls, within: PostgresStore.commitDeadline)
  }

  /// Ends every connection; the lock goes with them.
  package func close() {
    writer.withLock { $0.connection = nil }
    reader.close()
  }

  package func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    guard let connection = writer.withLock({ $0.connection }) else { throw .unusable("\(place) is closed") }
    let calls = try PostgresBatch(batch, epoch: 0).calls
    guard !calls.isEmpty else { return }
    _ = try connection.run(calls, within: PostgresStore.commitDeadline)
  }
}
