import GRDB
import GRDBSQLite
import MatchProtocol
import TicTacToe

/// Binds the values of a statement in order, by SQLite's own calls: GRDB's generic arguments cost as much again as the
/// small statements of a commit themselves.
struct SQLiteBinder: ~Copyable {
  private let handle: SQLiteStatement
  private var index: Int32 = 0
  private var failed = SQLITE_OK

  fileprivate init(_ handle: SQLiteStatement) { self.handle = handle }

  private mutating func bind(_ body: (SQLiteStatement, Int32) -> Int32) {
    index += 1
    let code = body(handle, index)
    if code != SQLITE_OK { failed = code }
  }

  mutating func add(_ value: Int64?) {
    bind { if let value { sqlite3_bind_int64($0, $1, value) } else { sqlite3_bind_null($0, $1) } }
  }

  mutating func add(_ value: Int) { add(Int64(value)) }

  mutating func add(_ value: Bool) { add(value ? 1 : 0) }

  mutating func add(_ value: Double) { bind { sqlite3_bind_double($0, $1, value) } }

  mutating func add(_ value: String?) {
    guard var value else { return bind { sqlite3_bind_null($0, $1) } }
    guard !value.isEmpty else { return bind { sqlite3_bind_text($0, $1, "", 0, Self.copied) } }
    value.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { bytes in
        bind { sqlite3_bind_text($0, $1, bytes.baseAddress, Int32(bytes.count), Self.copied) }
      }
    }
  }

  mutating func add(_ value: [UInt8]?) {
    guard let value else { return bind { sqlite3_bind_null($0, $1) } }
    guard !value.isEmpty else { return bind { sqlite3_bind_zeroblob($0, $1, 0) } }
    bind { sqlite3_bind_blob($0, $1, value, Int32(value.count), Self.copied) }
  }

  mutating func add(_ value: SHA256.Digest?) { add(value?.bytes) }

  /// SQLite copies the bytes before it returns.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  fileprivate consuming func finish() -> Int32 { failed }
}

extension Statement {
  /// Runs a statement that gives no rows; throws what SQLite says.
  func run(_ db: Database, _ values: (inout SQLiteBinder) -> Void) throws {
    var binder = SQLiteBinder(sqliteStatement)
    values(&binder)
    var code = binder.finish()
    if code == SQLITE_OK { code = sqlite3_step(sqliteStatement) }
    defer {
      sqlite3_reset(sqliteStatement)
      sqlite3_clear_bindings(sqliteStatement)
    }
    guard code == SQLITE_DONE else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: code),
        message: db.sqliteConnection.map { String(cString: sqlite3_errmsg($0)) },
        sql: sql)
    }
  }
}
