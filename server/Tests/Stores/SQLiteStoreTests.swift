import Base
import CSQLite
import Foundation
import MatchProtocol
import ServerTestSupport
import Synchronization
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore
@testable import SQLiteStore

@Suite struct SQLiteStoreTests {
  private func begin(
    _ record: MatchRecord, _ events: [[UInt8]] = Bench.events(1), in store: any MatchStore
  ) {
    #expect(store.apply([StoreUnit(logs: [.init(record.id, after: 0, events, record: record)])]) == [.applied([:])])
  }

  private func beginning(_ m: MatchID) -> StoreUnit {
    StoreUnit(logs: [.init(m, after: 0, Bench.events(1), record: MatchRecord(id: m, created: 5))])
  }

  private func append(_ m: MatchID, _ after: Int, in store: any MatchStore) -> Verdict {
    store.apply([StoreUnit(logs: [.init(m, after: after, [Bench.event(after + 1)])])])[0]
  }

  @Test func `old logs are pruned while moves are stored, and neither blocks the other`() throws {
    let folder = TemporaryFolder()
    let now = 2 * Bench.day
    let store = try SQLiteStore(path: folder.path + "/m.sqlite") { now }
    let units = (0..<1000).map { n in
      let record = MatchRecord(id: someID(UInt64(n)), x: 1, o: 2, created: 0, ended: Int64(n))
      return StoreUnit(logs: [.init(record.id, after: 0, Bench.events(1), record: record)])
    }
    #expect(store.apply(units).allSatisfy { $0 == .applied([:]) })
    let pruned = Mutex<Result<Int, StoreError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread {
      let result = Result { () throws(StoreError) -> Int in
        var all = 0
        while true {
          let some = try store.prune(olderThan: now - 900)
          guard some > 0 else { return all }
          all += some
        }
      }
      pruned.withLock { $0 = result }
      done.signal()
    }.start()
    let live = MatchRecord(id: someID(5000), x: 1, o: 2, created: 0)
    begin(live, in: store)
    var count = 1
    while pruned.withLock({ $0 == nil }) || count < 10 {
      #expect(append(live.id, count, in: store) == .applied([live.id: []]))
      count += 1
    }
    done.wait()
    #expect(try pruned.withLock { $0 }?.get() == 900)
    #expect(try store.match(live.id)?.bodies.count == count)
    #expect(try store.matchIDs().count == 101)
  }

  @Test func `matches of a version 1 file are kept and continue`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try SQLiteTestBed.makeVersion1(at: path)
    let (record, events) = try someMatch()
    let live = MatchRecord(id: someID(9), x: nil, o: nil, opener: 4, code: "ABC234", created: 7)
    try SQLiteTestBed.putVersion1([(record, events), (live, Bench.events(1))], at: path)
    let store = try SQLiteStore(path: path)
    #expect(try store.match(record.id) == StoredMatch(record: record, bodies: events))
    guard case .adopted(let adopted) = try store.answer(.adoptOrphans("a", limit: 10)) else { throw Bench.Unanswered() }
    #expect(adopted.map(\.match) == [StoredMatch(record: live, bodies: Bench.events(1))])
    let entry = Login.guest(
      names: ["guest-x"], token: Bench.digest("x"), session: "s", resume: Bench.digest("r"), lives: Bench.lives)
    guard case .login(.entered(let entered)) = try store.answer(.login(entry, "a")) else { throw Bench.Unanswered() }
    #expect(entered.profile.account.id == 5, "an id that occurs in a match is not used again")
    #expect(append(live.id, 1, in: store) == .applied([live.id: ["a"]]))
    #expect(append(live.id, 1, in: store) == .conflict(.log(live.id)))
    #expect(try store.match(live.id)?.bodies == Bench.events(2))
  }

  @Test func `everything is kept when the file is reopened`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    func questions(_ ann: Int64) -> [StoreQuestion] {
      [.tickets, .profile(ann), .match(someID(1)), .code("ABC"), .live(limit: 5)]
    }
    var before: [StoreAnswer] = []
    do {
      let store = try SQLiteStore(path: path)
      let entry = Login.guest(
        names: ["guest-x"], token: Bench.digest("x"), session: "s", resume: Bench.digest("r"), lives: Bench.lives)
      _ = try store.answer(.login(entry, "a"))
      _ = try store.answer(.change(.id(1), .register(name: "Ann", token: Bench.digest("t"), lives: 1_000_000)))
      let ticket = TicketRecord(
        id: "t", session: "s", account: 1, node: "a", key: "k", purpose: "p", wish: "w", since: 0)
      _ = try store.answer(.queue(ticket, rated: false))
      let record = MatchRecord(id: someID(1), x: 1, o: 2, created: 5)
      var unit = StoreUnit(logs: [.init(record.id, after: 0, Bench.events(2), record: record, nodes: ["a", "b"])])
      unit.slots = [.init(account: 1, .classic, Glicko2.Rating())]
      unit.keys = [.init(account: 1, "used", purpose: "p")]
      #expect(store.apply([unit]) == [.applied([:])])
      begin(MatchRecord(id: someID(2), opener: 1, code: "ABC", created: 6), in: store)
      before = try store.answer(questions(1)).map { try $0.get() }
      store.close()
    }
    let store = try SQLiteStore(path: path)
    // No node has sent a heartbeat since the file was reopened, so no player counts as connected.
    var after = try store.answer(questions(1)).map { try $0.get() }
    guard case .match(var old?) = before[2], case .match(var new?) = after[2] else { throw Bench.Unanswered() }
    #expect(Set(old.here.keys) == [1] && new.here == [:])
    (old.here, old.now, new.now) = ([:], 0, 0)
    (before[2], after[2]) = (.match(old), .match(new))
    #expect(after == before)
    guard
      case .login(.entered(let entered)) = try store.answer(
        .login(.resume(presented: Bench.digest("r"), fresh: Bench.digest("f"), lives: Bench.lives), "b"))
    else { throw Bench.Unanswered() }
    #expect(entered.generation == 2 && entered.before == "a")
    #expect(entered.profile.account.version == 1)
    let rated = TicketRecord(id: "t3", session: "s", account: 1, node: "b", key: "", purpose: "p", wish: "w", since: 0)
    #expect(try store.answer(.queue(rated, rated: true)) == .queued(.playing), "a rated match goes on")
    let again = TicketRecord(
      id: "t2", session: "s", account: 1, node: "b", key: "used", purpose: "p", wish: "w", since: 0)
    #expect(try store.answer(.queue(again, rated: true)) == .queued(.led(someID(1))))
    #expect(append(someID(1), 2, in: store) == .applied([someID(1): ["a", "b"]]))
  }

  @Test func `the number of a deleted account is never reused, also after reopening the file`() throws {
    let folder = TemporaryFolder()
    var last: Int64 = 0
    for name in ["x", "y"] {
      let store = try SQLiteStore(path: folder.path + "/m.sqlite")
      let entry = Login.guest(
        names: ["guest-\(name)"], token: Bench.digest(name), session: "s-\(name)", resume: Bench.digest("r-\(name)"),
        lives: Lifetimes(guest: -1, account: 1))
      guard case .login(.entered(let entered)) = try store.answer(.login(entry, "a")) else { throw Bench.Unanswered() }
      #expect(entered.profile.account.id > last)
      last = entered.profile.account.id
      _ = try store.answer(.detach(session: "s-\(name)", generation: 1))
      _ = try store.answer(.clean(guests: 0, keys: 0, lives: Bench.lives))
      #expect(try store.accounts().isEmpty)
      store.close()
    }
  }

  @Test func `a page of a player's history is found by indexes, however many matches there are`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try SQLiteStore(path: path).close()
    var handle, statement: OpaquePointer?
    sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
    defer { sqlite3_close_v2(handle) }
    try #require(
      sqlite3_prepare_v2(handle, "EXPLAIN QUERY PLAN \(SQLiteRows.history)", -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    var plan: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW { plan.append(String(cString: sqlite3_column_text(statement, 3))) }
    let reads = plan.filter { $0.hasPrefix("SEARCH match ") }
    #expect(reads.count >= 5 && reads.allSatisfy { $0.contains("USING") && $0.contains("=") }, "\(plan)")
    #expect(!plan.contains { $0.contains("SCAN match") }, "\(plan)")
  }

  @Test func `commits are synced: WAL with synchronous FULL, also after reopening`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/m.sqlite")
    for _ in 0..<2 {
      let pragmas = try store.writing { (rows: SQLiteRows) throws(StoreError) -> [String] in
        try rows.run("PRAGMA synchronous") { $0.text(0) } + rows.run("PRAGMA journal_mode") { $0.text(0) }
      }
      #expect(pragmas == ["2", "wal"])
      try store.abandon()
    }
  }

  @Test func `an abandoned file is reopened by the next call, after the reads in progress have ended`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let store = try SQLiteStore(path: path)
    let m = someID(1)
    begin(MatchRecord(id: m, created: 5), in: store)
    try store.abandon()
    #expect(try store.match(m)?.length == 1)
    try store.abandon()
    for after in 1...3 {
      let (begun, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let reader = Work { () -> Int? in
        try? store.reading { (rows) throws(StoreError) in
          let before = try rows.matchIDs().count
          begun.signal()
          ends.wait()
          return try rows.matchIDs().count == before ? before : nil
        }
      }
      begun.wait()
      try store.abandon()
      let writer = Work { store.apply([StoreUnit(logs: [.init(m, after: after, [Bench.event(after + 1)])])]) }
      #expect(eventually { store.awaitsReaders })
      ends.signal()
      #expect(try reader.value() == 1, "the read in progress ends normally")
      #expect(try writer.value() == [.applied([m: []])])
    }
    #expect(try store.match(m)?.bodies == Bench.events(4))
    try store.abandon()
    try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    guard case .failed = append(m, 4, in: store) else { throw Bench.Unanswered() }
    guard case .failure(.failed) = store.answer([.tickets])[0] else { throw Bench.Unanswered() }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
    #expect(append(m, 4, in: store) == .applied([m: []]))
  }

  @Test func `a failing batch stores nothing and resets the cache`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let store = try SQLiteStore(path: path)
    let m = someID(1)
    begin(MatchRecord(id: m, created: 5), in: store)
    #expect(append(m, 1, in: store) == .applied([m: []]))
    try SQLiteConnection(path).execute("ALTER TABLE used_key RENAME TO elsewhere")
    var broken = beginning(someID(2))
    broken.keys = [.init(account: 1, "k", purpose: "p")]
    let verdicts = store.apply([StoreUnit(logs: [.init(m, after: 2, [Bench.event(3)])]), broken])
    #expect(verdicts.count == 2)
    for case .applied in verdicts { Issue.record("\(verdicts)") }
    for case .unknown in verdicts { Issue.record("it is known: \(verdicts)") }
    try SQLiteConnection(path).execute("ALTER TABLE elsewhere RENAME TO used_key")
    #expect(try store.match(m)?.bodies == Bench.events(2))
    #expect(append(m, 3, in: store) == .conflict(.log(m)))
    #expect(append(m, 2, in: store) == .applied([m: []]))
    // A unit that fails, because another program has stored its event, does not affect the other units.
    try SQLiteConnection(path).execute("INSERT INTO event SELECT n, 4, x'00' FROM match")
    var two = beginning(someID(9))
    two.logs.append(.init(m, after: 3, [Bench.event(4)]))
    for (i, unit) in [StoreUnit(logs: [two.logs[1]]), two].enumerated() {
      let other = someID(UInt64(10 + i))
      let verdicts = store.apply([unit, beginning(other)])
      if case .applied = verdicts[0] { Issue.record("\(verdicts)") }
      #expect(verdicts[1] == .applied([:]))
      #expect(try store.match(other)?.length == 1)
    }
    #expect(try store.match(someID(9)) == nil)
    #expect(store.apply([beginning(someID(9))]) == [.applied([:])])
    #expect(try store.match(m)?.bodies.count == 4)
  }

  @Test func `stored files are readable by their owner only, and a closed store is a single file`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/data/m.sqlite"
    let files = FileManager.default
    func mode(_ path: String) throws -> Int? { try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
    let store = try SQLiteStore(path: path)
    try store.add([someAccount(1, "Ann")])
    #expect(try store.accounts().count == 1)
    #expect(try mode(folder.path + "/data") == 0o700)
    for file in [path, path + "-wal", path + "-shm", path + ".lock"] { #expect(try mode(file) == 0o600, "\(file)") }
    store.close()
    #expect(try Set(files.contentsOfDirectory(atPath: folder.path + "/data")) == ["m.sqlite", "m.sqlite.lock"])
    try SQLiteStore.backup(of: path, to: folder.path + "/copy")
    #expect(try mode(folder.path + "/copy") == 0o600)
  }

  @Test func `a second server on the same file is refused`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/m.sqlite")
    #expect { _ = try SQLiteStore(path: folder.path + "/m.sqlite") } throws: { "\($0)".contains("another server") }
    store.close()
  }

  @Test func `an old file is migrated, a file for newer builds refused, a file that newer builds extended accepted`()
    throws
  {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try SQLiteTestBed.makeVersion1(at: path)
    do {
      let store = try SQLiteStore(path: path)
      #expect(try store.accounts().isEmpty)
      #expect(try SQLiteTestBed.schema(path) == [SQLiteStore.version, SQLiteStore.minReader])
      store.close()
    }
    try SQLiteTestBed.setSchema(path, version: 99, minReader: 1)
    _ = try SQLiteStore(path: path).accounts()
    #expect(try SQLiteTestBed.schema(path) == [99, 1], "an older build does not change a newer schema")
    try SQLiteTestBed.setSchema(path, version: 99, minReader: 98)
    #expect { _ = try SQLiteStore(path: path) } throws: { if case .tooNew? = $0 as? StoreError { true } else { false } }
  }

  @Test func `damaged files and files that are no database are refused by name`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try Data("this is no database at all, but long enough to be looked at".utf8).write(to: URL(filePath: path))
    #expect { _ = try SQLiteStore(path: path) } throws: { "\($0)".contains(path) }
  }

  @Test func `backup of a live store, restore, export and import keep every match`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let store = try SQLiteStore(path: path)
    let (record, events) = try someMatch()
    try store.add([someAccount(1, "Ann"), someAccount(2, "guest-Bob")])
    begin(record, events, in: store)
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
    #expect(try taken.accounts() == [someAccount(1, "Ann")])
    let forged = text.replacing("b2", with: "c3")
    #expect { try StoreArchive.load(forged.split(separator: "\n"), into: MemoryStore()) } throws: {
      "\($0)".contains("hash")
    }
    store.close()
  }

  @Test func `foreign databases are not restored, and a copied folder is restored completely`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let (record, events) = try someMatch()
    let store = try SQLiteStore(path: path)
    begin(record, events, in: store)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path + "/snap" + suffix)
    }
    store.close()
    try Data().write(to: URL(filePath: folder.path + "/empty"))
    try SQLiteConnection(folder.path + "/foreign", creates: true).execute("CREATE TABLE other (a)")
    let target = folder.path + "/restored/matches.sqlite"
    for file in ["empty", "foreign"] {
      #expect { try SQLiteStore.restore(folder.path + "/" + file, to: target) } throws: {
        "\($0)".contains("\(file) is not a database of alina-server")
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/restored")
      #expect(left.allSatisfy { $0.hasSuffix(".lock") }, "\(left)")
    }
    #expect(try SQLiteStore.restore(folder.path + "/snap", to: target) == nil)
    #expect(try SQLiteStore(path: target).match(record.id)?.bodies == events)
  }

  @Test func `a restored backup becomes the database, and the previous one is kept aside`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let (record, events) = try someMatch()
    do {
      let store = try SQLiteStore(path: path)
      begin(record, events, in: store)
      try SQLiteStore.backup(of: path, to: folder.path + "/copy")
      try store.add([someAccount(1, "Later")])
      store.close()
    }
    let aside = try SQLiteStore.restore(folder.path + "/copy", to: path)
    #expect(aside.map { FileManager.default.fileExists(atPath: $0) } == true)
    let store = try SQLiteStore(path: path)
    #expect(try store.accounts().isEmpty)
    #expect(try store.match(record.id)?.bodies == events)
  }
}

extension StoreArchive {
  static func load(_ lines: some Sequence<Substring>, into store: any MatchStore) throws -> Summary {
    try load({ each in for line in lines { try each(Array(line.utf8)) } }, into: store)
  }
}

@Suite struct StoreArchiveTests {
  @Test func `the lines of an archive are read without their line ends, and an archive is imported in pieces`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/archive"
    let long = String(repeating: "x", count: 200_000)
    try "one\n\n\(long)\r\nthe end".write(toFile: path, atomically: true, encoding: .utf8)
    var lines: [String] = []
    for _ in 0..<2 { try StoreArchive.lines(of: path)({ lines.append(String(decoding: $0, as: UTF8.self)) }) }
    #expect(lines == ["one", long, "the end", "one", long, "the end"])
    struct Stop: Error {}
    #expect(throws: Stop.self) { try StoreArchive.lines(of: path)({ _ in throw Stop() }) }
    #expect { try StoreArchive.lines(of: path + "?")({ _ in }) } throws: { "\($0)".contains("No such file") }
    // More than 100 records are stored in several pieces.
    let store = MemoryStore()
    try store.add((1...250).map { someAccount($0 * 2 + 1, "player \($0)") })
    var archive: [Substring] = []
    _ = try StoreArchive.export(store) { archive.append(Substring(String(decoding: $0.dropLast(), as: UTF8.self))) }
    let taken = MemoryStore()
    #expect(try StoreArchive.load(archive, into: taken).accounts == 250)
    #expect(try taken.accounts() == store.accounts())
  }

  @Test(arguments: StoreKind.allCases)
  func `an archive is imported whole or not at all, and an export skips and names broken logs`(kind: StoreKind) throws {
    let store = MemoryStore()
    let (record, events) = try someMatch()
    let torn = MatchRecord(id: someID(99), x: 1, o: 2, created: 5, ended: 50)
    let live = MatchRecord(id: someID(98), x: 1, o: 10, created: 5)
    try store.add([
      someAccount(1, "Ann"), someAccount(2, "guest-Bob"), someAccount(3, "Cid"), someAccount(10, "guest-Eve"),
    ])
    let units = [
      StoreUnit(logs: [.init(record.id, after: 0, events, record: record)]),
      StoreUnit(logs: [.init(torn.id, after: 0, [[0]], record: torn)]),
      StoreUnit(logs: [.init(live.id, after: 0, Array(events[..<2]), record: live, nodes: ["a"])]),
    ]
    #expect(store.apply(units) == [.applied([:]), .applied([:]), .applied([:])])
    var archive = Data()
    let exported = try StoreArchive.export(store) { archive += $0 }
    #expect(exported.matches == 2 && exported.accounts == 2 && exported.broken.map(\.key) == [torn.id])
    let text = String(decoding: archive, as: UTF8.self)
    let bench = try Bench(kind)
    for cut in ["", String(text.dropLast(9))] {
      #expect(throws: StoreError.self) { try StoreArchive.load(cut.split(separator: "\n"), into: bench.store) }
      #expect(try bench.store.accounts().isEmpty && bench.store.matchIDs().isEmpty)
    }
    for (sound, wrong) in [
      (#""rating":["1500.3"#, #""rating":["nan"#), (#""rating":["1500.3"#, #""rating":["1e3003"#),
      (#""account":1,"#, #""account":9223372036854775807,"#),
    ] {
      let lines = text.replacing(sound, with: wrong).split(separator: "\n")
      #expect { try StoreArchive.load(lines, into: bench.store) } throws: { "\($0)".contains("line 2: ") }
    }
    let lines = text.split(separator: "\n")
    // An archive without its last line, and one without a line in its middle.
    for part in [Array(lines.dropLast()), Array(lines[..<2] + lines[3...])] {
      #expect { try StoreArchive.load(part, into: bench.store) } throws: {
        "\($0)".contains("the archive is incomplete")
      }
    }
    // An archive of version 1 has no last line that marks its end. Here an account, and then a match, occurs twice.
    let old = [Substring(text.split(separator: "\n")[0].replacing("2", with: "1"))] + lines[1..<(lines.count - 1)]
    for i in [1, 3] {
      let other = try Bench(kind)
      #expect { try StoreArchive.load(old + [old[i]], into: other.store) } throws: {
        "\($0)".contains("was not stored")
      }
    }
    #expect(throws: StoreError.self) { try StoreArchive.load(lines + [lines[1]], into: bench.store) }
    #expect(try bench.store.accounts().isEmpty && bench.store.matchIDs().isEmpty)
    let taken = try StoreArchive.load(text.split(separator: "\n"), into: bench.store)
    #expect(taken.matches == 2 && taken.accounts == 2 && taken.events == 6)
    for m in [record.id, live.id] { #expect(try bench.store.match(m) == store.match(m)) }
    #expect(try bench.store.accounts() == [someAccount(1, "Ann"), someAccount(3, "Cid")])
    #expect(throws: StoreError.self) { try StoreArchive.load(text.split(separator: "\n"), into: bench.store) }
    // New accounts get numbers above all in the archive, also above that of the guest Eve, who occurs only in a match.
    #expect(try bench.guest("x").profile.account.id > 10)
    #expect(try bench.adoptOrphans().map(\.match.record.id) == [live.id])
  }

  @Test(arguments: StoreKind.allCases)
  func `a player deleted while the server is stopped keeps number and matches`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    guard case .changed = try bench.change(.name("bOB"), .forget) else { throw Bench.Unanswered() }
    #expect(try bench.change(.name("bob"), .forget) == .unknown)
    #expect(try bench.store.accounts().map(\.name) == ["Ann", "deleted-\(bob.id)"])
    #expect(try bench.resume("r-Bob", as: "f") == .unknown && bench.account(ann.id) == ann)
  }
}
