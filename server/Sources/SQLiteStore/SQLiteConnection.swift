import Base
import CSQLite
import Foundation
import MatchStore

struct SQLiteError: Error, CustomStringConvertible {
  /// The primary result code, such as `SQLITE_FULL`.
  let code: Int32
  let message: String
  let sql: String

  var description: String {
    "SQLite error \(code): \(message)" + (sql.isEmpty ? "" : " - while executing `\(sql)`")
  }
}

/// A connection to a SQLite file with its cached prepared statements. Used by one thread at a time.
final class SQLiteConnection: @unchecked Sendable {  // see above: stores hand it from one thread to the next
  /// `nil` after closing.
  private var handle: OpaquePointer?
  /// Prepared statements, by the address of their SQL text, which is a constant of the program.
  private var statements: [UnsafeRawPointer: OpaquePointer] = [:]

  /// With `creates`, creates a missing file. A statement waits up to a second for locks of other programs.
  init(_ path: String, creates: Bool = false) throws(SQLiteError) {
    var opened: OpaquePointer?
    // Only the owner may read the file. SQLite gives the `-wal` and `-shm` files the same permissions.
    if creates, path != SQLiteStore.inMemory { close(open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)) }
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw SQLiteError(code: code & 0xFF, message: message, sql: "")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 1000)
  }

  /// Closes the connection. The last connection in WAL mode also checkpoints the write-ahead log into the database and deletes the log.
  func end() {
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
    sqlite3_close_v2(handle)
    handle = nil
  }

  deinit { end() }

  var changes: Int { Int(sqlite3_changes(handle)) }
  var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

  private func check(_ code: Int32, _ sql: @autoclosure () -> String) throws(SQLiteError) {
    guard code != SQLITE_OK, code != SQLITE_DONE, code != SQLITE_ROW else { return }
    throw SQLiteError(code: code & 0xFF, message: String(cString: sqlite3_errmsg(handle)), sql: sql())
  }

  func execute(_ sql: String) throws(SQLiteError) { try check(sqlite3_exec(handle, sql, nil, nil, nil), sql) }

  @discardableResult func run<T>(
    _ sql: StaticString, _ values: SQLiteValue..., row: (SQLiteRow) -> T = { _ in }
  ) throws(SQLiteError) -> [T] { try run(sql, values, row) }

  func run<T>(_ sql: StaticString, _ values: [SQLiteValue], _ row: (SQLiteRow) -> T) throws(SQLiteError) -> [T] {
    var statement = statements[sql.utf8Start]
    if statement == nil {
      try check(sqlite3_prepare_v3(handle, "\(sql)", -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil), "\(sql)")
      statements[sql.utf8Start] = statement
    }
    guard let statement else { return [] }
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (i, value) in values.enumerated() { try check(value.bind(statement, Int32(i + 1)), "\(sql)") }
    var rows: [T] = []
    while true {
      let code = sqlite3_step(statement)
      try check(code, "\(sql)")
      guard code == SQLITE_ROW else { return rows }
      rows.append(row(SQLiteRow(statement)))
    }
  }

  /// Rolls back; returns whether it is certain that no transaction is open.
  func rollBack() -> Bool {
    // After some errors SQLite has rolled back by itself.
    if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
    return sqlite3_get_autocommit(handle) != 0
  }

  func copy(to target: SQLiteConnection) throws(SQLiteError) {
    let copying = sqlite3_backup_init(target.handle, "main", handle, "main")
    sqlite3_backup_step(copying, -1)
    try target.check(sqlite3_backup_finish(copying), "")
  }
}

/// A value bound to a statement; SQLite copies its bytes.
enum SQLiteValue {
  case null, int(Int64), real(Double), text(String), blob([UInt8])

  static func int(_ value: Int) -> SQLiteValue { .int(Int64(value)) }
  static func bool(_ value: Bool) -> SQLiteValue { .int(value ? 1 : 0) }
  static func int(_ value: Int64?) -> SQLiteValue { value.map { .int($0) } ?? .null }
  static func real(_ value: Double?) -> SQLiteValue { value.map { .real($0) } ?? .null }
  static func text(_ value: String?) -> SQLiteValue { value.map { .text($0) } ?? .null }
  static func blob(_ value: SHA256.Digest?) -> SQLiteValue { value.map { .blob($0.bytes) } ?? .null }

  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  fileprivate func bind(_ statement: OpaquePointer, _ index: Int32) -> Int32 {
    switch self {
    case .null: sqlite3_bind_null(statement, index)
    case .int(let value): sqlite3_bind_int64(statement, index, value)
    case .real(let value): sqlite3_bind_double(statement, index, value)
    case .text(let value): sqlite3_bind_text(statement, index, value, Int32(value.utf8.count), Self.copied)
    case .blob(let value) where value.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
    case .blob(let value): sqlite3_bind_blob(statement, index, value, Int32(value.count), Self.copied)
    }
  }
}

/// A result row, valid until the statement's next step; columns count from 0.
struct SQLiteRow {
  private let statement: OpaquePointer

  fileprivate init(_ statement: OpaquePointer) { self.statement = statement }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  func optionalInt(_ column: Int32) -> Int64? { isNull(column) ? nil : int(column) }
  func bool(_ column: Int32) -> Bool { int(column) != 0 }
  func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }
  func text(_ column: Int32) -> String { optionalText(column) ?? "" }
  func optionalText(_ column: Int32) -> String? { sqlite3_column_text(statement, column).map { String(cString: $0) } }
  func digest(_ column: Int32) -> SHA256.Digest? { SHA256.Digest(bytes: bytes(column)) }
  func bytes(_ column: Int32) -> [UInt8] {
    let bytes = sqlite3_column_blob(statement, column)
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
  }
}
