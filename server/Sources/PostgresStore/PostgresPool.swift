import Dispatch
import Glibc
import MatchStore
import Synchronization

/// A pool of connections, each lent to one caller at a time; callers wait for a free one. A lost connection is replaced on demand.
final class PostgresPool: Sendable {
  private struct State {
    var idle: [PGConnection] = []
    var isClosed = false
    /// The monotonic time, in milliseconds, of the last failed attempt to connect, and the number of failures in a row.
    var failed: (at: Int64, times: Int) = (0, 0)
  }

  private let state = Mutex(State())
  private let tokens: DispatchSemaphore
  private let address: PGAddress
  private let setup: [PGCall]
  /// Milliseconds after which an unanswered pipeline counts as lost, and for which a transaction in conflict is retried.
  private let deadline: Int64

  /// Creates an empty pool, which connects on demand and runs `setup` on each new connection.
  init(_ address: PGAddress, setup: [PGCall], count: Int, deadline: Int64 = PostgresStore.deadline) {
    (self.address, self.setup, self.deadline) = (address, setup, deadline)
    tokens = DispatchSemaphore(value: count)
  }

  /// Closes the idle connections now and the lent ones on their return.
  func close() { state.withLock { ($0.isClosed, $0.idle) = (true, []) } }

  private func take() throws(PGError) -> PGConnection {
    while let idle = state.withLock({ $0.idle.popLast() }) { if idle.isOpen { return idle } }
    // Wait 50 ms after the first failure, then 100, 200 and 400 ms: players must not wait long after the database has recovered. Take off
    // up to half at random, so that nodes do not reconnect all at once.
    let (isClosed, failed) = state.withLock { ($0.isClosed, $0.failed) }
    guard !isClosed else { throw .unreachable("the store is closed") }
    if failed.times > 0 {
      let whole: Int64 = min(400, 50 << Int64(failed.times - 1))
      let due: Int64 = failed.at + whole - Int64.random(in: 0...whole / 2)
      usleep(UInt32(max(0, due - Moment.currentMonotonic) * 1000))
    }
    do throws(PGError) {
      let fresh = try PGConnection(address, setup: setup)
      state.withLock { $0.failed = (0, 0) }
      return fresh
    } catch {
      state.withLock { $0.failed = (Moment.currentMonotonic, min($0.failed.times + 1, 4)) }
      throw error
    }
  }

  /// A transaction on one connection. Each `run` is one round trip, unless all its rows are prefetched.
  struct Transaction {
    fileprivate let connection: PGConnection
    private let deadline: Int64
    fileprivate var isBegun = false
    fileprivate var isDone = false
    fileprivate var hasMetOthers = false
    /// Prefetched rows by call.
    private var foreseen: [PGCall: PGRows] = [:]
    /// Calls whose rows are not needed, sent with the next round trip.
    private var queued: [PGCall] = []

    fileprivate init(_ connection: PGConnection, deadline: Int64) {
      (self.connection, self.deadline) = (connection, deadline)
    }

    /// Makes one round trip for all calls unless all are prefetched. Throws only `.failed`, since nothing is committed yet.
    mutating func run(_ calls: [PGCall]) throws(StoreError) -> [PGRows] {
      let known = calls.compactMap { foreseen.removeValue(forKey: $0) }
      if known.count == calls.count { return known }
      do throws(PGError) { return try execute(calls) } catch { throw .failed(error.description) }
    }

    /// Reads rows in one round trip for later calls of `run`.
    mutating func prefetch(_ calls: [PGCall]) throws(StoreError) {
      for (call, rows) in zip(calls, try run(calls)) { foreseen[call] = rows }
    }

    mutating func enqueue(_ calls: [PGCall]) { queued += calls }

    /// Sends the queued calls and `calls`, then commits.
    @discardableResult mutating func finish(_ calls: [PGCall] = []) throws(StoreError) -> [PGRows] {
      do throws(PGError) {
        let found = try execute(calls + [PGStatement.commit()])
        isDone = true
        return found
      } catch { throw StoreError(error) }
    }

    fileprivate func rollBack() {
      guard isBegun, !isDone else { return }
      _ = try? connection.run([PGStatement.rollback()], within: deadline)
    }

    private mutating func execute(_ calls: [PGCall]) throws(PGError) -> [PGRows] {
      let first = (isBegun ? [] : [PGStatement.begin()]) + queued
      (isBegun, queued) = (true, [])
      do throws(PGError) {
        return Array(try connection.run(first + calls, within: deadline).dropFirst(first.count))
      } catch {
        if case .contended = error { hasMetOthers = true }
        throw error
      }
    }
  }

  /// Retries the transaction after contention. Rolls back unless `body` calls `finish`.
  func transact<T>(_ body: (inout Transaction) throws(StoreError) -> T) throws(StoreError) -> T {
    try withConnection { (connection) throws(StoreError) in
      let end = Moment.currentMonotonic + deadline
      while true {
        var transaction = Transaction(connection, deadline: deadline)
        do throws(StoreError) {
          // Release the locks also if `body` throws.
          defer { transaction.rollBack() }
          return try body(&transaction)
        } catch {
          guard transaction.hasMetOthers, Moment.currentMonotonic < end else { throw error }
        }
        usleep(UInt32.random(in: 1000...5000))
      }
    }
  }

  /// Runs calls as one transaction in one round trip; retries after contention.
  @discardableResult
  func run(_ calls: [PGCall], within milliseconds: Int64? = nil) throws(StoreError) -> [PGRows] {
    try withConnection { (connection) throws(StoreError) in
      let end = Moment.currentMonotonic + deadline
      while true {
        do throws(PGError) { return try connection.run(calls, within: milliseconds ?? deadline) } catch {
          guard case .contended = error, Moment.currentMonotonic < end else { throw StoreError(error) }
        }
        usleep(UInt32.random(in: 1000...5000))
      }
    }
  }

  private func withConnection<T>(_ body: (PGConnection) throws(StoreError) -> T) throws(StoreError) -> T {
    // A semaphore waits by the system's clock, which may be set back meanwhile.
    let end = Moment.currentMonotonic + 10_000
    while tokens.wait(timeout: .now()) == .timedOut {
      guard Moment.currentMonotonic < end else { throw .failed("all connections to PostgreSQL are in use") }
      usleep(1000)
    }
    defer { tokens.signal() }
    let connection: PGConnection
    do throws(PGError) { connection = try take() } catch { throw StoreError(error) }
    defer { state.withLock { if !$0.isClosed { $0.idle.append(connection) } } }
    return try body(connection)
  }
}
