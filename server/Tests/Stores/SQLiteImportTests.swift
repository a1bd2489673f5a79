import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import MatchStore
@testable import SQLiteStore

@Suite struct SQLiteImportTests {
  @Test func `a database being filled appears whole or not at all`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/matches.sqlite"
    struct Full: Error {}
    // Fills the database twice: first where no file exists, then over an empty one.
    for _ in 0..<2 {
      #expect(throws: Full.self) {
        try SQLiteStore.make(path) { store in
          try store.add([someAccount(1, "Ann")])
          throw Full()
        }
      }
      let store = try SQLiteStore(path: path)
      #expect(try store.accounts().isEmpty)
      store.close()
    }
    try SQLiteStore.make(path) { try $0.add([someAccount(1, "Ann")]) }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.contains("importing") }, "\(names)")
    let store = try SQLiteStore(path: path)
    #expect(try store.accounts().map(\.name) == ["Ann"])
    store.close()
    #expect(throws: StoreError.self) { try SQLiteStore.make(path) { try $0.add([someAccount(2, "Bob")]) } }
  }

  @Test(arguments: [false, true])
  func `while a database is being filled, nobody else can fill or open it`(exists: Bool) throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/matches.sqlite"
    if exists { try SQLiteStore(path: path).close() }
    func isRunning(_ error: any Error) -> Bool { "\(error)".contains("an import into this data is running") }
    try SQLiteStore.make(path) { store in
      try store.add([someAccount(1, "Ann")])
      #expect { try SQLiteStore.make(path) { try $0.add([someAccount(5, "Eve")]) } } throws: { isRunning($0) }
      #expect { _ = try SQLiteStore(path: path) } throws: { isRunning($0) }
      try store.add([someAccount(3, "Cid")])
    }
    let store = try SQLiteStore(path: path)
    #expect(try store.accounts().map(\.name) == ["Ann", "Cid"])
    #expect { try SQLiteStore.make(path) { try $0.add([someAccount(5, "Eve")]) } } throws: {
      "\($0)".contains("another server")
    }
    store.close()
  }
}
