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
  /// Milliseconds after which an unanswered flight of statements counts as lost.
  private static let deadline: Int64 = 5000
  /// Attempts at a transaction that meets others'.
  private static let attempts = 20

  /// Makes a pool that connects when somebody comes, and sends `setup` first on each new connection.
  init(_ address: PGAddress, setup: [PGCall], count: Int) {
    (self.address, self.setup) = (address, setup)
    tokens = DispatchSemaphore(value: count)
  }

  /// Ends the connections; those that are lent, when they are given back.
  func close() { state.withLock { ($0.isClosed, $0.idle) = (true, []) } }

  private func take() throws(StoreError) -> PGConnection {
    while let idle = state.withLock({ $0.idle.popLast() }) { if idle.isOpen { return idle } }
    // 50 ms doubling to 400 ms, less up to half of it by chance, so that many nodes do not come back in step. Longer ones
    // would be what the players wait for when the database is back.
    let (isClosed, failed) = state.withLock { ($0.isClosed, $0.failed) }
    guard !isClosed else { throw .unusable("the store is closed") }
    if failed.times > 0 {
      let whole: Int64 = min(400, 50 << Int64(failed.times - 1))
      let due: Int64 = failed.at + whole - Int64.random(in: 0...whole / 2)
      usleep(UInt32(max(0, due - Moment.current.steady) * 1000))
    }
    do throws(StoreError) {
      let fresh = try PGConnection(address, setup: setup)
      state.withLock { $0.failed = (0, 0) }
      return fresh
    } catch {
      state.withLock { $0.failed = (Moment.current.steady, min($0.failed.times + 1, 4)) }
      throw error
    }
  }

  /// A transaction in progress, on one connection and no other: flights of statements, each of which is waited for.
  struct Transaction {
    fileprivate let connection: PGConnection
    fileprivate var isBegun = false
    fileprivate var isDone = false

    /// Makes the calls and returns their rows.
    mutating func run(_ calls: [PGCall]) throws(StoreError) -> [PGRows] {
      defer { isBegun = true }
      let begin = isBegun ? [] : [PGStatement.begin()]
      return Array(try connection.run(begin + calls, within: PostgresPool.deadline).dropFirst(begin.count))
    }

    /// Makes the last calls and commits.
    mutating func finish(_ calls: [PGCall]) throws(StoreError) {
      _ = try run(calls + [PGStatement.commit()])
      isDone = true
    }
  }

  /// Runs a transaction: whatever `body` has not finished is rolled back. It is tried again if it met another's.
  func transact<T>(_ body: (inout Transaction) throws(StoreError) -> T) throws(StoreError) -> T {
    try attempt { (connection) throws(StoreError) in
      var transaction = Transaction(connection: connection)
      // What the body itself refuses must not leave its locks behind.
      defer {
        if transaction.isBegun, !transaction.isDone {
          _ = try? connection.run([PGStatement.rollback()], within: PostgresPool.deadline)
        }
      }
      return try body(&transaction)
    }
  }

  /// Makes calls as one transaction, in one flight.
  func run(_ calls: [PGCall], within milliseconds: Int64 = deadline) throws(StoreError) -> [PGRows] {
    try attempt { (connection) throws(StoreError) in try connection.run(calls, within: milliseconds) }
  }

  /// Does something with a connection, again where it met others.
  private func attempt<T>(_ body: (PGConnection) throws(StoreError) -> T) throws(StoreError) -> T {
    guard tokens.wait(timeout: .now() + .seconds(10)) == .success else {
      throw .unusable("all connections to PostgreSQL are in use")
    }
    defer { tokens.signal() }
    let connection = try take()
    defer { state.withLock { if !$0.isClosed { $0.idle.append(connection) } } }
    for _ in 1..<PostgresPool.attempts {
      do throws(StoreError) { return try body(connection) } catch {
        guard case .contended = error else { throw error }
        usleep(UInt32.random(in: 1000...5000))
      }
    }
    return try body(connection)
  }
}
