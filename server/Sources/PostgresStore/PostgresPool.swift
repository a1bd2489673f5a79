import Dispatch
import Glibc
import MatchStore
import Synchronization

/// Connections that are lent to one caller at a time, who waits for one; a lost one is made again when it is wanted.
final class PostgresPool: Sendable {
  private struct State {
    var idle: [PGConnection] = []
    var isClosed = false
    /// When connecting failed last, and how often in a row.
    var failed: (at: Int64, times: Int) = (0, 0)
  }

  private let state = Mutex(State())
  private let tokens: DispatchSemaphore
  private let address: PGAddress
  private let setup: [PGCall]
  /// Milliseconds after which an unanswered flight of statements counts as lost, and for which what meets others is
  /// tried again.
  static let deadline: Int64 = 5000

  /// Makes a pool that connects when somebody comes, and sends `setup` first on each new connection.
  init(_ address: PGAddress, setup: [PGCall], count: Int) {
    (self.address, self.setup) = (address, setup)
    tokens = DispatchSemaphore(value: count)
  }

  /// Ends the connections; those that are lent, when they are given back.
  func close() { state.withLock { ($0.isClosed, $0.idle) = (true, []) } }

  private func take() throws(PGError) -> PGConnection {
    while let idle = state.withLock({ $0.idle.popLast() }) { if idle.isOpen { return idle } }
    // 50 ms doubling to 400 ms, less up to half of it by chance, so that many nodes do not come back in step. Longer ones
    // would be what the players wait for when the database is back.
    let (isClosed, failed) = state.withLock { ($0.isClosed, $0.failed) }
    guard !isClosed else { throw .unreachable("the store is closed") }
    if failed.times > 0 {
      let whole: Int64 = min(400, 50 << Int64(failed.times - 1))
      let due: Int64 = failed.at + whole - Int64.random(in: 0...whole / 2)
      usleep(UInt32(max(0, due - Moment.currentSteady) * 1000))
    }
    do throws(PGError) {
      let fresh = try PGConnection(address, setup: setup)
      state.withLock { $0.failed = (0, 0) }
      return fresh
    } catch {
      state.withLock { $0.failed = (Moment.currentSteady, min($0.failed.times + 1, 4)) }
      throw error
    }
  }

  /// A transaction in progress, on one connection and no other: flights of statements, each of which is waited for.
  struct Transaction {
    fileprivate let connection: PGConnection
    fileprivate var isBegun = false
    fileprivate var isDone = false
    fileprivate var hasMetOthers = false
    /// Rows of calls that were made ahead.
    private var foreseen: [PGCall: PGRows] = [:]
    /// Calls whose rows nobody needs; they go with the next flight.
    private var held: [PGCall] = []

    fileprivate init(_ connection: PGConnection) { self.connection = connection }

    /// Makes the calls and returns their rows; without an answer nothing of the transaction is done.
    mutating func run(_ calls: [PGCall]) throws(StoreError) -> [PGRows] {
      let known = calls.compactMap { foreseen.removeValue(forKey: $0) }
      if known.count == calls.count { return known }
      do throws(PGError) { return try fly(calls) } catch { throw .failed(error.description) }
    }

    /// Makes calls ahead, in one flight: `run` will give their rows, as they are now.
    mutating func foresee(_ calls: [PGCall]) throws(StoreError) {
      for (call, rows) in zip(calls, try run(calls)) { foreseen[call] = rows }
    }

    /// Makes the calls before whatever comes next.
    mutating func hold(_ calls: [PGCall]) { held += calls }

    /// Makes the last calls and commits.
    @discardableResult mutating func finish(_ calls: [PGCall] = []) throws(StoreError) -> [PGRows] {
      do throws(PGError) {
        let found = try fly(calls + [PGStatement.commit()])
        isDone = true
        return found
      } catch { throw StoreError(error) }
    }

    /// Ends it without effect, unless it is done.
    fileprivate func rollBack() {
      guard isBegun, !isDone else { return }
      _ = try? connection.run([PGStatement.rollback()], within: PostgresPool.deadline)
    }

    private mutating func fly(_ calls: [PGCall]) throws(PGError) -> [PGRows] {
      let first = (isBegun ? [] : [PGStatement.begin()]) + held
      (isBegun, held) = (true, [])
      do throws(PGError) {
        return Array(try connection.run(first + calls, within: PostgresPool.deadline).dropFirst(first.count))
      } catch {
        if case .contended = error { hasMetOthers = true }
        throw error
      }
    }
  }

  /// Runs a transaction: whatever `body` has not finished is rolled back. It is tried again if it met another's.
  func transact<T>(_ body: (inout Transaction) throws(StoreError) -> T) throws(StoreError) -> T {
    try lend { (connection) throws(StoreError) in
      let end = Moment.currentSteady + PostgresPool.deadline
      while true {
        var transaction = Transaction(connection)
        do throws(StoreError) {
          // What the body itself refuses must not leave its locks behind.
          defer { transaction.rollBack() }
          return try body(&transaction)
        } catch {
          guard transaction.hasMetOthers, Moment.currentSteady < end else { throw error }
        }
        usleep(UInt32.random(in: 1000...5000))
      }
    }
  }

  /// Makes calls as one transaction, in one flight; again if it met others.
  @discardableResult
  func run(_ calls: [PGCall], within milliseconds: Int64 = deadline) throws(StoreError) -> [PGRows] {
    try lend { (connection) throws(StoreError) in
      let end = Moment.currentSteady + PostgresPool.deadline
      while true {
        do throws(PGError) { return try connection.run(calls, within: milliseconds) } catch {
          guard case .contended = error, Moment.currentSteady < end else { throw StoreError(error) }
        }
        usleep(UInt32.random(in: 1000...5000))
      }
    }
  }

  private func lend<T>(_ body: (PGConnection) throws(StoreError) -> T) throws(StoreError) -> T {
    guard tokens.wait(timeout: .now() + .seconds(10)) == .success else {
      throw .failed("all connections to PostgreSQL are in use")
    }
    defer { tokens.signal() }
    let connection: PGConnection
    do throws(PGError) { connection = try take() } catch { throw StoreError(error) }
    defer { state.withLock { if !$0.isClosed { $0.idle.append(connection) } } }
    return try body(connection)
  }
}
