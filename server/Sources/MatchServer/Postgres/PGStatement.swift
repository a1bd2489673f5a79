import MatchProtocol

/// A statement: prepared once on each connection if it has a name.
struct PGStatement: Sendable, Hashable {
  /// What it is prepared as, or `nil` for one that is sent whole each time.
  let name: String?
  /// The text, with parameters `$1`, `$2`, ….
  let sql: String

  /// A statement of the hot path.
  init(_ name: String, _ sql: String) { (self.name, self.sql) = (name, sql) }

  /// A statement that is run rarely.
  init(once sql: String) { (name, self.sql) = (nil, sql) }

  /// The statement with its values.
  func callAsFunction(_ values: PGValue...) -> PGCall { PGCall(statement: self, values: values) }

  static let begin = PGStatement("begin", "BEGIN")
  static let commit = PGStatement("commit", "COMMIT")
  static let rollback = PGStatement("rollback", "ROLLBACK")
}

/// A statement and the values of its parameters.
struct PGCall: Sendable {
  var statement: PGStatement
  var values: [PGValue]
}

/// What a statement gave.
struct PGRows: Sendable {
  /// The rows.
  var rows: [[PGValue]] = []
  /// How many rows it changed or read.
  var count = 0
}

/// Why calls did not succeed.
enum PGFailure: Error, Sendable {
  /// The server refused one of the calls and undid what was done with it; `state` is its five-character SQLSTATE.
  case refused(state: String, String)
  /// The connection ended while the calls were on their way: they may or may not have been done.
  case lost(String)
  /// The calls were never sent.
  case unreachable(String)
  /// What is there does not allow what is asked; nothing was done.
  case barred(String)

  /// The state of what we refuse ourselves: integrity_constraint_violation.
  static let fence = "23000"

  /// What `append_events` raises for logs that are not as expected; the text is their ids.
  static let broken = "AL001"

  /// What it means to whoever uses a store.
  var storeError: StoreError {
    switch self {
    case .refused(PGFailure.broken, let ids):
      .broken(Set(ids.split(separator: " ").compactMap { MatchID(rawValue: String($0)) }))
    // Unique, check and foreign-key violations, and what our own functions raise.
    case .refused(let state, let text) where state.hasPrefix("23"): .conflict(text)
    case .refused(_, let text): .unusable("PostgreSQL: \(text)")
    case .lost(let text): .unknownOutcome("PostgreSQL: \(text)")
    case .barred(let text): .unusable(text)
    case .unreachable(let text): .unusable("cannot reach PostgreSQL: \(text)")
    }
  }

  /// What libpq or the server said.
  var text: String {
    switch self {
    case .refused(_, let text), .lost(let text), .unreachable(let text), .barred(let text): text
    }
  }

  /// Whether the same calls may simply be made again: they met others', and nothing of them was done. With `unique`, also
  /// where another took a unique value first.
  func isTransient(unique: Bool) -> Bool {
    guard case .refused(let state, _) = self else { return false }
    // serialization_failure, deadlock_detected, lock_not_available; unique_violation
    return ["40001", "40P01", "55P03"].contains(state) || unique && state == "23505"
  }
}
