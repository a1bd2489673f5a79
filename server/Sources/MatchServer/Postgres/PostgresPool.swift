import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Connections for transactions that look before they write: each is lent to one caller at a time, who waits for one.
final class PostgresPool: Sendable {
  private let free: Mutex<[PGConnection]>
  private let all: [PGConnection]
  private let tokens: DispatchSemaphore
  /// Milliseconds after which an unanswered flight of statements counts as lost.
  fileprivate static let deadline: Int64 = 5000
  /// Attempts at a transaction that meets others'.
  private static let attempts = 20

  init(_ address: PGAddress, setup: [PGCall], count: Int) {
    all = (0..<count).map { _ in PGConnection(address, setup: setup) }
    free = Mutex(all)
    tokens = DispatchSemaphore(value: count)
  }

  /// Ends the connections.
  func close() {
    for connection in all { connection.close() }
  }

  /// A transaction in progress: flights of statements, each of which is waited for.
  struct Transaction {
    fileprivate let connection: PGConnection
    fileprivate var isBegun = false
    fileprivate var isDone = false

    /// Makes the calls and returns their rows.
    mutating func run(_ calls: [PGCall]) throws(PGFailure) -> [PGRows] {
      let found = try connection.run((isBegun ? [] : [PGStatement.begin()]) + calls, within: PostgresPool.deadline)
      defer { isBegun = true }
      return isBegun ? found : Array(found.dropFirst())
    }

    /// Makes the last calls and commits.
    mutating func finish(_ calls: [PGCall]) throws(PGFailure) {
      _ = try run(calls + [PGStatement.commit()])
      isDone = true
    }

    /// Stores a batch, then makes the last calls and commits.
    mutating func finish(_ batch: PostgresBatch, _ calls: [PGCall]) throws(PGFailure) {
      try batch.run(
        on: connection, before: isBegun ? [] : [PGStatement.begin()], after: calls + [PGStatement.commit()],
        within: PostgresPool.deadline)
      isDone = true
    }
  }

  /// Runs a transaction: whatever `body` has not finished is rolled back. It is tried again if it met another's, also
  /// where the other took a unique value first (`unique`).
  func transact<T>(unique: Bool = false, _ body: (inout Transaction) throws(PGFailure) -> T) throws(PGFailure) -> T {
    tokens.wait()
    let connection = free.withLock { $0.removeLast() }
    defer {
      free.withLock { $0.append(connection) }
      tokens.signal()
    }
    var attempt = 1
    while true {
      var transaction = Transaction(connection: connection)
      do throws(PGFailure) {
        let result = try body(&transaction)
        if transaction.isBegun, !transaction.isDone { try transaction.undo() }
        return result
      } catch {
        var isTransient = error.isTransient
        switch error {
        case .refused(let state, _):
          _ = try? transaction.undo()
          isTransient = isTransient || unique && state == "23505"
        // What the body itself refuses must not leave its locks behind.
        case .barred: if transaction.isBegun { _ = try? transaction.undo() }
        case .lost, .unreachable: break
        }
        attempt += 1
        guard isTransient, attempt <= PostgresPool.attempts else { throw error }
        usleep(UInt32.random(in: 1000...5000))
      }
    }
  }

  /// Makes calls as one transaction that is committed.
  func run(_ calls: PGCall...) throws(PGFailure) -> [PGRows] {
    try transact { (transaction) throws(PGFailure) in
      try transaction.connection.run(calls, within: PostgresPool.deadline)
    }
  }
}

extension PostgresPool.Transaction {
  fileprivate mutating func undo() throws(PGFailure) {
    _ = try connection.run([PGStatement.rollback()], within: PostgresPool.deadline)
    isDone = true
  }
}
