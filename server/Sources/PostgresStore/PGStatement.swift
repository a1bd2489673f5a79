import Base

/// A statement: prepared once on each connection if it has a name.
package struct PGStatement: Sendable, Hashable {
  /// What it is prepared as, or `nil` for one that is sent whole each time.
  let name: String?
  /// The text, with parameters `$1`, `$2`, ….
  let sql: String

  /// A statement of the hot path. Its name follows from its text, so that no two have the same.
  init(_ sql: String) { (name, self.sql) = (String(fnv1a(sql.utf8), radix: 16), sql) }

  /// A statement that is run rarely.
  package init(once sql: String) { (name, self.sql) = (nil, sql) }

  package func callAsFunction(_ values: PGValue...) -> PGCall { PGCall(statement: self, values: values) }

  static let begin = PGStatement("BEGIN")
  static let commit = PGStatement("COMMIT")
  static let rollback = PGStatement("ROLLBACK")
}

/// A statement and the values of its parameters.
package struct PGCall: Sendable, Hashable {
  var statement: PGStatement
  var values: [PGValue]
}

package struct PGRows: Sendable {
  package var rows: [[PGValue]] = []
  /// How many rows it changed or read.
  var count = 0
}
