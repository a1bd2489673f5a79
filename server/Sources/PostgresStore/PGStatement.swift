import Base

/// An SQL statement; with a name it is prepared once on each connection.
package struct PGStatement: Sendable, Hashable {
  let name: String?
  let sql: String

  /// A frequent statement, prepared under a hash of its text.
  init(_ sql: String) { (name, self.sql) = (String(fnv1a(sql.utf8), radix: 16), sql) }

  /// A rare statement, sent unprepared.
  package init(once sql: String) { (name, self.sql) = (nil, sql) }

  package func callAsFunction(_ values: PGValue...) -> PGCall { PGCall(statement: self, values: values) }

  static let begin = PGStatement("BEGIN")
  static let commit = PGStatement("COMMIT")
  static let rollback = PGStatement("ROLLBACK")
}

package struct PGCall: Sendable, Hashable {
  var statement: PGStatement
  var values: [PGValue]
}

package struct PGRows: Sendable {
  package var rows: [[PGValue]] = []
  /// The number of rows changed or read.
  var count = 0
}
