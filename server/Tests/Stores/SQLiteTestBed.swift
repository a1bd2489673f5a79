import MatchProtocol
import Testing

@testable import MatchStore
@testable import SQLiteStore

enum SQLiteTestBed {
  static func makeVersion1(at path: String) throws {
    let db = try SQLiteConnection(path, creates: true)
    try db.execute("CREATE TABLE schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL)")
    try db.execute(SQLiteMigrations.steps[0])
    try db.execute("INSERT INTO schema VALUES (1, 1)")
  }

  static func putVersion1(_ matches: [(MatchRecord, [[UInt8]])], at path: String) throws {
    let db = try SQLiteConnection(path)
    for (record, events) in matches {
      try db.run(
        "INSERT INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?)", .text(record.id.rawValue), .int(record.x), .int(record.o),
        .int(record.opener), .text(record.code), .int(record.created), .int(record.ended), .int(events.count))
      for (seq, body) in zip(1..., events) {
        try db.run(
          "INSERT INTO match_event VALUES (?, ?, ?, ?, ?)", .text(record.id.rawValue), .int(seq),
          .text(""), .null, .blob(body))
      }
    }
  }

  static func schema(_ path: String) throws -> [Int] {
    let db = try SQLiteConnection(path)
    return try db.run("SELECT version, min_reader FROM schema") { [Int($0.int(0)), Int($0.int(1))] }.first ?? []
  }

  static func setSchema(_ path: String, version: Int, minReader: Int) throws {
    try SQLiteConnection(path).execute("UPDATE schema SET version = \(version), min_reader = \(minReader)")
  }
}

extension SQLiteStore {
  /// Makes the store close the file, as after a failed sync.
  func abandon() throws {
    let error = #expect(throws: StoreError.self) {
      try writing { (_: SQLiteRows) throws(StoreError) -> Void in throw .unusable("given up") }
    }
    // After any other error the store would keep the file open.
    #expect(error?.description.contains("given up") == true)
  }
}
