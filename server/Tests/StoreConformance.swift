import Base
import Foundation
import MatchProtocol
import Synchronization
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore

/// The stores under test.
enum StoreKind: String, CaseIterable {
  case memory, sqlite, postgres

  func make(_ folder: TemporaryFolder) throws -> any MatchStore {
    switch self {
    case .memory: MemoryStore()
    case .sqlite: try SQLiteStore(path: folder.path + "/matches.sqlite")
    case .postgres: try PostgresStore(PGAddress(try PostgresTestBed.shared.freshURL()))
    }
  }
}

func someAccount(_ id: Int64, _ name: String) -> AccountRecord {
  var account = AccountRecord(
    id: id, name: name, guest: id % 2 == 0, token: SHA256.hash(Array(name.utf8)), tokenExpires: id * 1000)
  account.rating = .init(value: 1500 + Double(id) / 3, deviation: 200.25, volatility: 0.06)
  account.blocked = [1, 2, id]
  account.xBalance = -3
  return account
}

func someID(_ n: UInt64) -> MatchID {
  var random = SplitMix64(seed: n)
  return MatchID(using: &random)
}

private func entry(_ seq: Int, mid: String? = nil, side: Player? = .x) -> StoredEvent {
  StoredEvent(seq: seq, side: side, mid: mid, body: Array(#"{"k":"confirm","at":\#(seq),"side":"x"}"#.utf8))
}

/// What every store must do.
@Suite struct MatchStoreConformance {
  @Test(arguments: StoreKind.allCases) func `what was committed is read back as it was`(kind: StoreKind) throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    let accounts = [someAccount(1, "Ann"), someAccount(2, "Bob")]
    let session = SessionRecord(
      id: "s1", account: 1, resume: SHA256.hash([1]), previous: SHA256.hash([2]), expires: 77)
    var record = MatchRecord(id: someID(1), x: 1, o: 2, opener: 2, code: "ABC123", created: 5)
    let events = [entry(1, mid: "a"), entry(2, mid: "a", side: .o), entry(3, side: nil)]
    try store.commit([
      StoreTransaction(number: 1, writes: accounts.map(StoreWrite.account) + [.session(session)]),
      StoreTransaction(number: 2, writes: [.match(record), .append(record.id, after: 0, Array(events[..<2]))]),
      StoreTransaction(number: 3, writes: [.append(record.id, after: 2, Array(events[2...]))]),
    ])
    var recovery = try store.recover()
    #expect(recovery.accounts == accounts)
    #expect(recovery.sessions == [session])
    #expect(recovery.matches == [StoredMatch(record: record, events: events)])
    #expect(try store.match(record.id) == recovery.matches.first)
    record.ended = 99
    try store.commit([StoreTransaction(number: 4, writes: [.match(record), .deleteSession("s1")])])
    recovery = try store.recover()
    #expect(recovery.matches.isEmpty && recovery.sessions.isEmpty)
    #expect(try store.match(record.id)?.events == events, "ended matches stay readable")
    #expect(try store.match(someID(9)) == nil)
  }

  @Test(arguments: StoreKind.allCases) func `results add to an account that must be there`(kind: StoreKind) throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    var score = AccountScore(account: 1)
    (score.won, score.drawn, score.lost, score.xBalance) = (1, 2, 3, -1)
    try store.commit([
      StoreTransaction(number: 1, writes: [.account(someAccount(1, "Ann")), .score(score), .score(score)])
    ])
    var account = someAccount(1, "Ann")
    (account.won, account.drawn, account.lost, account.xBalance) = (2, 4, 6, -5)
    #expect(try store.recover().accounts == [account])
    score.rating = .init(value: 1600.5, deviation: 99, volatility: 0.05)
    score.ratedAt = 77
    try store.commit([StoreTransaction(number: 2, writes: [.score(score)])])
    account.add(score)
    #expect(try store.recover().accounts == [account])
    #expect(account.rating.value == 1600.5 && account.ratedAt == 77)
    #expect(throws: StoreError.self) {
      try store.commit([StoreTransaction(number: 3, writes: [.score(AccountScore(account: 9))])])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an append that does not find the log it expects stores nothing of its batch`(
    kind: StoreKind
  ) throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    let record = MatchRecord(id: someID(1), x: 1, o: 2, created: 5)
    try store.commit([StoreTransaction(number: 1, writes: [.match(record), .append(record.id, after: 0, [entry(1)])])])
    let wrong: [[StoreWrite]] = [
      [.append(record.id, after: 0, [entry(1)])], [.append(record.id, after: 2, [entry(3)])],
      [.append(someID(7), after: 1, [entry(2)])], [.append(record.id, after: 1, [entry(3)])],
      [.append(record.id, after: 1, [entry(2)]), .append(record.id, after: 1, [entry(2)])],
    ]
    for writes in wrong {
      #expect(throws: StoreError.self) {
        try store.commit([
          StoreTransaction(number: 2, writes: [.account(someAccount(5, "Eve"))]),
          StoreTransaction(number: 3, writes: writes),
        ])
      }
      try store.reopen()
      #expect(try store.recover().accounts.isEmpty)
      #expect(try store.match(record.id)?.events.count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases) func `names are unique without regard to case`(kind: StoreKind) throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    try store.commit([StoreTransaction(number: 1, writes: [.account(someAccount(1, "Ann"))])])
    #expect(throws: StoreError.self) {
      try store.commit([StoreTransaction(number: 2, writes: [.account(someAccount(3, "aNN"))])])
    }
    try store.reopen()
    // Once the name is given up, it can be had.
    var renamed = someAccount(1, "Anna")
    try store.commit([StoreTransaction(number: 3, writes: [.account(renamed)])])
    try store.commit([StoreTransaction(number: 4, writes: [.account(someAccount(3, "aNN")), .deleteAccount(1)])])
    renamed = someAccount(5, "ANNA")
    try store.commit([StoreTransaction(number: 5, writes: [.account(renamed)])])
    #expect(try store.recover().accounts.map(\.name) == ["aNN", "ANNA"])
  }

  @Test(arguments: StoreKind.allCases) func `the number of a forgotten account is still known as given`(
    kind: StoreKind
  ) throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    #expect(try store.recover().lastAccount == 0)
    let accounts = [1, 5, 6, 7].map { StoreWrite.account(someAccount($0, "p\($0)")) }
    try store.commit([
      StoreTransaction(
        number: 1, writes: accounts + [.match(MatchRecord(id: someID(1), x: 1, o: 5, opener: nil, created: 1))]),
      StoreTransaction(
        number: 2, writes: [.match(MatchRecord(id: someID(2), x: nil, o: nil, opener: 6, created: 1))]),
    ])
    #expect(try store.recover().lastAccount == 7)
    try store.commit([StoreTransaction(number: 3, writes: [.deleteAccount(7), .deleteAccount(6), .deleteAccount(5)])])
    #expect(try store.recover().lastAccount == 6)
  }

  @Test(arguments: StoreKind.allCases) func `histories come latest first, page by page, and can be pruned`(
    kind: StoreKind
  ) throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    for n in 1...25 {
      var record = MatchRecord(id: someID(UInt64(n)), x: n % 2 == 0 ? 1 : 9, o: n % 2 == 0 ? 9 : 1, created: 0)
      record.ended = Int64(n)
      let other = MatchRecord(id: someID(UInt64(n + 100)), x: 2, o: 3, created: 0)
      try store.commit([
        StoreTransaction(
          number: UInt64(n),
          writes: [
            .match(record), .match(other), .append(record.id, after: 0, [entry(1, mid: "m")]),
          ])
      ])
    }
    let first = try store.history(of: 1, before: .max, limit: 20)
    #expect(first.map(\.record.ended) == (6...25).reversed().map { Int64($0) })
    #expect(first.allSatisfy { $0.events.count == 1 })
    let rest = try store.history(of: 1, before: first.last?.record.ended ?? 0, limit: 20)
    #expect(rest.map(\.record.ended) == (1...5).reversed().map { Int64($0) })
    // What ended in one millisecond is on one page, however long that makes it: the next begins before it.
    for n in 31...34 {
      var record = MatchRecord(id: someID(UInt64(n)), x: n % 2 == 0 ? 7 : 9, o: n % 2 == 0 ? 9 : 7, created: 0)
      record.ended = n == 34 ? 60 : 50
      try store.commit([StoreTransaction(number: UInt64(n), writes: [.match(record)])])
    }
    let page = try store.history(of: 7, before: .max, limit: 2)
    #expect(page.map(\.record.ended) == [60, 50, 50, 50])
    #expect(page.map(\.record.id) == [someID(34)] + [31, 32, 33].map { someID($0) }.sorted().reversed())
    #expect(try store.prune(before: 11) == 10)
    #expect(try store.history(of: 1, before: .max, limit: 100).count == 15)
    #expect(try store.matchIDs().count == 44)
    #expect(try store.match(someID(3)) == nil)
  }
}

@Suite struct SQLiteStoreTests {
  @Test func `old logs are dropped while moves are stored, and neither is in the other's way`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/m.sqlite")
    let records = (0..<1000).map { n in
      var record = MatchRecord(id: someID(UInt64(n)), x: 1, o: 2, created: 0)
      record.ended = Int64(n)
      return record
    }
    try store.commit(
      records.map {
        StoreTransaction(number: 1, writes: [.match($0), .append($0.id, after: 0, [entry(1, mid: "m")])])
      })
    let pruned = Mutex<Result<Int, StoreError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread {
      let result = Result { () throws(StoreError) in try store.prune(before: 900) }
      pruned.withLock { $0 = result }
      done.signal()
    }.start()
    let live = MatchRecord(id: someID(5000), x: 1, o: 2, created: 0)
    try store.commit([StoreTransaction(number: 2, writes: [.match(live)])])
    var count = 0
    while pruned.withLock({ $0 == nil }) || count < 10 {
      try store.commit([StoreTransaction(number: 3, writes: [.append(live.id, after: count, [entry(count + 1)])])])
      count += 1
    }
    done.wait()
    #expect(try pruned.withLock { $0 }?.get() == 900)
    #expect(try store.match(live.id)?.events.count == count)
    #expect(try store.matchIDs().count == 101)
  }

  @Test func `matches of a file of the first version are there as they were, and go on`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try SQLiteTestBed.makeVersion1(at: path)
    let (record, events) = try SQLiteTestBed.aMatch()
    let live = MatchRecord(id: someID(9), x: nil, o: nil, opener: 4, code: "ABC234", created: 7)
    try SQLiteTestBed.putVersion1([(record, events), (live, [entry(1)])], at: path)
    let store = try SQLiteStore(path: path)
    #expect(try store.match(record.id) == StoredMatch(record: record, events: events))
    #expect(try store.recover().matches == [StoredMatch(record: live, events: [entry(1)])])
    #expect(try store.recover().lastAccount == 4)
    try store.commit([StoreTransaction(number: 1, writes: [.append(live.id, after: 1, [entry(2)])])])
    #expect(throws: StoreError.broken([live.id])) {
      try store.commit([StoreTransaction(number: 2, writes: [.append(live.id, after: 1, [entry(2)])])])
    }
    #expect(try store.match(live.id)?.events == [entry(1), entry(2)])
  }

  @Test func `commits are synced: WAL with synchronous FULL, also after opening again`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/m.sqlite")
    for _ in 0..<2 {
      let pragmas = try store.pragmas()
      #expect(pragmas.synchronous == 2 && pragmas.journal == "wal")
      try store.reopen()
    }
  }

  @Test func `what is stored is its owner's to read, and all in one file once the store is closed`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/data/m.sqlite"
    let files = FileManager.default
    func mode(_ path: String) throws -> Int? { try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
    let store = try SQLiteStore(path: path)
    try store.commit([StoreTransaction(number: 1, writes: [.account(someAccount(1, "Ann"))])])
    #expect(try store.recover().accounts.count == 1)
    #expect(try mode(folder.path + "/data") == 0o700)
    for file in [path, path + "-wal", path + "-shm", path + ".lock"] { #expect(try mode(file) == 0o600, "\(file)") }
    store.close()
    #expect(try Set(files.contentsOfDirectory(atPath: folder.path + "/data")) == ["m.sqlite", "m.sqlite.lock"])
    try SQLiteStore.backup(of: path, to: folder.path + "/copy")
    #expect(try mode(folder.path + "/copy") == 0o600)
  }

  @Test func `a second server is kept out`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/m.sqlite")
    #expect { _ = try SQLiteStore(path: folder.path + "/m.sqlite") } throws: { "\($0)".contains("another server") }
    store.close()
  }

  @Test func `an old file is brought up to date, one for newer readers is refused, one they extended is taken`() throws
  {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try SQLiteTestBed.makeVersion1(at: path)
    do {
      let store = try SQLiteStore(path: path)
      #expect(try store.recover().accounts.isEmpty)
      #expect(try SQLiteTestBed.schema(path) == [SQLiteStore.version, SQLiteStore.minReader])
      store.close()
    }
    try SQLiteTestBed.setSchema(path, version: 99, minReader: 1)
    _ = try SQLiteStore(path: path).recover()
    #expect(try SQLiteTestBed.schema(path) == [99, 1], "an older build leaves a newer version alone")
    try SQLiteTestBed.setSchema(path, version: 99, minReader: 98)
    #expect { _ = try SQLiteStore(path: path) } throws: { if case .tooNew? = $0 as? StoreError { true } else { false } }
  }

  @Test func `a damaged file and one that is no database are refused with their name`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try Data("this is no database at all, but long enough to be looked at".utf8).write(to: URL(filePath: path))
    #expect { _ = try SQLiteStore(path: path) } throws: { "\($0)".contains(path) }
  }

  @Test func `backup of a store in use, restore, export and import all give back every match`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let store = try SQLiteStore(path: path)
    let (record, events) = try SQLiteTestBed.aMatch()
    try store.commit([
      StoreTransaction(
        number: 1,
        writes: [
          .account(someAccount(1, "Ann")), .account(someAccount(2, "guest-Bob")), .match(record),
          .append(record.id, after: 0, events),
        ])
    ])
    try SQLiteStore.backup(of: path, to: folder.path + "/copy")
    #expect(throws: StoreError.self) { try SQLiteStore.backup(of: path, to: folder.path + "/copy") }
    #expect(throws: StoreError.self) { _ = try SQLiteStore.restore(folder.path + "/copy", to: path) }

    var archive = Data()
    let exported = try StoreArchive.export(store) { archive += $0 }
    #expect(exported == .init(accounts: 1, matches: 1, events: events.count))
    let text = String(decoding: archive, as: UTF8.self)
    let taken = MemoryStore()
    #expect(try StoreArchive.load(text.split(separator: "\n"), into: taken) == exported)
    #expect(try taken.match(record.id) == store.match(record.id))
    #expect(try taken.recover().accounts == [someAccount(1, "Ann")])
    let forged = text.replacing("b2", with: "c3")
    #expect { try StoreArchive.load(forged.split(separator: "\n"), into: MemoryStore()) } throws: {
      "\($0)".contains("hash")
    }
    store.close()
  }

  @Test func `what is no database of ours is not restored, and of a copied folder nothing is lost`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let (record, events) = try SQLiteTestBed.aMatch()
    let store = try SQLiteStore(path: path)
    try store.commit([
      StoreTransaction(number: 1, writes: [.match(record), .append(record.id, after: 0, events)])
    ])
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path + "/snap" + suffix)
    }
    store.close()
    try Data().write(to: URL(filePath: folder.path + "/empty"))
    try SQLiteConnection(folder.path + "/foreign", creates: true).execute("CREATE TABLE other (a)")
    let target = folder.path + "/restored/matches.sqlite"
    for file in ["empty", "foreign"] {
      #expect { try SQLiteStore.restore(folder.path + "/" + file, to: target) } throws: {
        "\($0)".contains("\(file) is no database of alina-server")
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/restored")
      #expect(left.allSatisfy { $0.hasSuffix(".lock") }, "\(left)")
    }
    #expect(try SQLiteStore.restore(folder.path + "/snap", to: target) == nil)
    #expect(try SQLiteStore(path: target).match(record.id)?.events == events)
  }

  @Test func `an archive is taken whole or not at all, and a broken log stays behind and is named`() throws {
    let store = MemoryStore()
    let (record, events) = try SQLiteTestBed.aMatch()
    var torn = record
    torn.id = someID(99)
    try store.commit([
      StoreTransaction(
        number: 1,
        writes: [
          .account(someAccount(1, "Ann")), .match(record), .append(record.id, after: 0, events), .match(torn),
          .append(torn.id, after: 0, [StoredEvent(seq: 1, side: nil, mid: nil, body: [0])]),
        ])
    ])
    var archive = Data()
    let exported = try StoreArchive.export(store) { archive += $0 }
    #expect(exported.matches == 1 && exported.broken.map(\.m) == [torn.id])
    let text = String(decoding: archive, as: UTF8.self)
    let taken = MemoryStore()
    for cut in ["", String(text.dropLast(9))] {
      #expect(throws: StoreError.self) { try StoreArchive.load(cut.split(separator: "\n"), into: taken) }
      #expect(try taken.recover().accounts.isEmpty && taken.matchIDs().isEmpty)
    }
    #expect(try StoreArchive.load(text.split(separator: "\n"), into: taken).matches == 1)
  }

  @Test func `who is forgotten while the server stands still keeps his number and his matches`() throws {
    let store = MemoryStore()
    try store.commit([
      StoreTransaction(
        number: 1, writes: [.account(someAccount(1, "Ann")), .account(someAccount(2, "Bob"))])
    ])
    #expect(try store.forget("bob", now: 5) == "Bob" && store.forget("bob", now: 5) == nil)
    #expect(try store.recover().accounts.map(\.name) == ["Ann", "deleted-2"])
  }

  @Test func `a restored backup is the database, and what was there is kept aside`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let (record, events) = try SQLiteTestBed.aMatch()
    do {
      let store = try SQLiteStore(path: path)
      try store.commit([
        StoreTransaction(number: 1, writes: [.match(record), .append(record.id, after: 0, events)])
      ])
      try SQLiteStore.backup(of: path, to: folder.path + "/copy")
      try store.commit([StoreTransaction(number: 2, writes: [.account(someAccount(1, "Later"))])])
      store.close()
    }
    let aside = try SQLiteStore.restore(folder.path + "/copy", to: path)
    #expect(aside.map { FileManager.default.fileExists(atPath: $0) } == true)
    let store = try SQLiteStore(path: path)
    #expect(try store.recover().accounts.isEmpty)
    #expect(try store.match(record.id)?.events == events)
  }
}
