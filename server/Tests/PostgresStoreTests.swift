import Foundation
import MatchProtocol
import Synchronization
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore

@Suite struct PostgresStoreTests {
  private func fresh() throws -> PGAddress { try PGAddress(try PostgresTestBed.shared.freshURL()) }

  @Test func `values of every type come back from the database as they went`() throws {
    let connection = try PGConnection(try PGAddress(PostgresTestBed.shared.url))
    let values: [(String, PGValue)] = [
      ("bigint", .int(.min)), ("bigint", .int(-1)), ("bigint", .int(.max)), ("bigint", .null), ("boolean", .bool(true)),
      ("boolean", .bool(false)), ("float8", .double(-1.25e300)), ("float8", .double(0.06)), ("text", .text("")),
      ("text", .text("Ünï ♟ 'quoted' $1")), ("bytea", .bytes([])), ("bytea", .bytes(Array(0...255))),
      ("bigint[]", .ints([])), ("bigint[]", .ints([1, -2, .max])),
    ]
    for (type, value) in values {
      let rows = try connection.run([PGStatement(once: "SELECT $1::\(type)")(value)], within: 5000)
      #expect(rows.first?.rows == [[value]])
    }
    let arrays = try connection.run(
      [
        PGStatement(once: "SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[])")(
          .texts(["a", nil, ""]), .blobs([[0, 255], [], [7]]), .ints([nil, 2, 3]))
      ], within: 5000)
    #expect(
      arrays.first?.rows == [
        [.text("a"), .bytes([0, 255]), .null], [.null, .bytes([]), .int(2)], [.text(""), .bytes([7]), .int(3)],
      ])
  }

  @Test func `what is refused holds no lock`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let (a, b) = (try PostgresCluster(PGAddress(url)), try PostgresCluster(PGAddress(url)))
    _ = try a.join(node("a"), lease: 60_000, replacing: nil)
    #expect(throws: StoreError.self) { try b.join(node("a"), lease: 60_000, replacing: nil) }
    // Only in this test's schema: others join theirs in the meantime.
    let locks = """
      SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a USING (pid)
      WHERE c.relnamespace = current_schema()::regnamespace AND a.backend_type = 'client backend'
      """
    #expect(try PostgresTestBed.shared.sql(locks, at: url) == [[.int(0)]], "the refused node keeps nobody from joining")
    _ = try b.join(node("b"), lease: 60_000, replacing: nil)
    let (ann, bob) = (try a.player("Ann"), try a.player("Bob"))
    var stale = beginning(someID(1), ann.account, bob.account)
    stale.ratings[0].value = 1
    #expect(try b.begin(stale) == .stale)
    #expect(try PostgresTestBed.shared.sql(locks, at: url) == [[.int(0)]], "what did not begin holds no account")
    #expect(try b.begin(beginning(someID(1), ann.account, bob.account)) == .begun)
    a.close()
    b.close()
  }

  @Test func `many threads share a few connections, and a flight that fails takes nothing with it`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    try PostgresTestBed.shared.sql("CREATE TABLE one (n BIGINT PRIMARY KEY)", at: url)
    let pool = PostgresPool(try PGAddress(url), setup: [], count: 2)
    defer { pool.close() }
    let put = PGStatement("put", "INSERT INTO one VALUES ($1)")
    let wrong = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 200) { n in
      // Every fourth breaks in its second call, so that its first must be undone.
      let calls = [put(.int(Int64(n)))] + (n % 4 == 3 ? [put(.int(Int64(n)))] : [])
      do throws(StoreError) {
        _ = try pool.run(calls, within: 120_000)
        if n % 4 == 3 { wrong.withLock { $0 += 1 } }
      } catch {
        guard n % 4 == 3, case .contended = error else { return wrong.withLock { $0 += 1 } }
      }
    }
    let rows = try pool.run([PGStatement(once: "SELECT count(*), sum(n)::bigint FROM one")()])
    let sum = Int64((0..<200).filter { $0 % 4 != 3 }.reduce(0, +))
    #expect(rows.first?.rows == [[.int(150), .int(sum)]] && wrong.withLock { $0 } == 0)
  }

  @Test func `many nodes may bring the schema up to date at once`() async throws {
    let address = try fresh()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let connection = try PGConnection(address)
          try PostgresMigrations.run(connection, place: "here")
        }
      }
      try await group.waitForAll()
    }
    let store = try PostgresStore(address)
    #expect(try store.recover().accounts.isEmpty)
  }

  @Test func `a database for newer readers is refused, one they extended is taken`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    try PostgresStore(PGAddress(url)).close()
    try PostgresTestBed.shared.sql("UPDATE schema SET version = 99, min_reader = 1", at: url)
    try PostgresTestBed.shared.sql("ALTER TABLE account ADD COLUMN novelty TEXT", at: url)
    let store = try PostgresStore(PGAddress(url))
    try store.commit([StoreTransaction(number: 1, writes: [.account(someAccount(1, "Ann"))])])
    #expect(try store.recover().accounts == [someAccount(1, "Ann")])
    store.close()
    #expect(
      try PostgresTestBed.shared.sql("SELECT version, min_reader FROM schema", at: url) == [[.int(99), .int(1)]])
    try PostgresTestBed.shared.sql("UPDATE schema SET min_reader = 98", at: url)
    #expect { _ = try PostgresStore(PGAddress(url)) } throws: {
      if case .tooNew? = $0 as? StoreError { true } else { false }
    }
  }

  @Test func `a second server is kept out, and let in once the first is gone`() throws {
    let address = try fresh()
    let store = try PostgresStore(address)
    #expect { _ = try PostgresStore(address) } throws: { "\($0)".contains("another server") }
    store.close()
    try PostgresStore(address).close()
  }

  @Test func `a server whose connection was ended writes nothing more until it opens the store again`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresStore(PGAddress(url))
    let record = MatchRecord(id: someID(1), x: 1, o: 2, created: 5)
    try store.commit([StoreTransaction(number: 1, writes: [.match(record)])])
    try PostgresTestBed.shared.sql(
      """
      SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND objid = hashtext('serve ' || current_schema())::oid
      """, at: url)
    #expect(throws: StoreError.self) {
      try store.commit([StoreTransaction(number: 2, writes: [.account(someAccount(1, "Ann"))])])
    }
    #expect(throws: StoreError.self) {
      try store.commit([StoreTransaction(number: 3, writes: [.account(someAccount(1, "Ann"))])])
    }
    try store.reopen()
    #expect(try store.recover().accounts.isEmpty)
    try store.commit([StoreTransaction(number: 4, writes: [.account(someAccount(1, "Ann"))])])
    #expect(try store.recover().accounts.count == 1)
  }

  @Test func `URLs that cannot be and databases that cannot serve are told in one line without the password`() throws {
    let port = PostgresTestBed.shared.url.split(separator: ":").last ?? ""
    let wrong: [(url: String, says: String)] = [
      ("mysql://x", "postgres://USER@HOST:PORT/DATABASE"), ("postgres://u:geheim@h:bad/x", "invalid integer value"),
      ("postgres://u:geheim@h/x?nonsense=1", "cannot be read"), ("postgres://u:geheim@h/x?sslmode", "cannot be read"),
      ("postgres://u:geheim@127.0.0.1:1/x", "refused"), ("postgres://u:geheim@/x?host=/nowhere", "No such file"),
      ("postgres://nobody:geheim@127.0.0.1:\(port)", "nobody"),
      ("postgres://postgres:geheim@127.0.0.1:\(port.split(separator: "/")[0])/nodatabase", "does not exist"),
      ("postgres://postgres@127.0.0.1:\(port)?sslmode=require", "SSL"),
      ("postgres://postgres@127.0.0.1:\(port)?options=-csearch_path%3Dnoschema", "schema"),
      ("postgres://postgres@127.0.0.1:\(port)?options=-csearch_path%3Dpg_catalog", "denied"),
    ]
    for (url, says) in wrong {
      #expect {
        _ = try PostgresStore(PGAddress(url))
      } throws: { error in
        let text = "\(error)"
        return text.contains(says) && !text.contains("geheim") && !text.contains("\n")
      }
    }
  }

  @Test func `exports go from SQLite to PostgreSQL and back with every hash`() throws {
    let folder = TemporaryFolder()
    let sqlite = try SQLiteStore(path: folder.path + "/m.sqlite")
    let (record, events) = try SQLiteTestBed.aMatch()
    try sqlite.commit([
      StoreTransaction(
        number: 1,
        writes: [
          .account(someAccount(1, "Ann")), .account(someAccount(3, "Cat")), .match(record),
          .append(record.id, after: 0, events),
        ])
    ])
    func text(_ store: any MatchStore) throws -> String {
      var archive = Data()
      _ = try StoreArchive.export(store) { archive += $0 }
      return String(decoding: archive, as: UTF8.self)
    }
    let first = try text(sqlite)
    let postgres = try PostgresStore(try fresh())
    let taken = try StoreArchive.load(first.split(separator: "\n"), into: postgres)
    #expect(taken == .init(accounts: 2, matches: 1, events: events.count))
    #expect(try text(postgres) == first)
    #expect(throws: StoreError.self) { try StoreArchive.load(first.split(separator: "\n"), into: postgres) }
    let back = try SQLiteStore(path: folder.path + "/back.sqlite")
    _ = try StoreArchive.load(try text(postgres).split(separator: "\n"), into: back)
    #expect(try text(back) == first)
    let forged = first.replacing("b2", with: "c3")
    let other = try PostgresStore(try fresh())
    #expect { try StoreArchive.load(forged.split(separator: "\n"), into: other) } throws: {
      "\($0)".contains("hash")
    }
  }
}

/// What happens to the database itself happens to a database of these tests' own.
@Suite(.serialized) struct PostgresFaultTests {
  @Test func `commits around a kill of the database are there or not, never in part, and none that was told is lost`()
    throws
  {
    let bed = PostgresTestBed()
    let store = try PostgresStore(PGAddress(bed.url))
    let record = MatchRecord(id: someID(1), x: 1, o: 2, created: 5)
    try store.commit([StoreTransaction(number: 1, writes: [.match(record)])])
    let told = Mutex(0)
    let stop = Mutex(false)
    var unknown = 0
    let kills = amount("KILLS", quick: 1, all: 3)
    for round in 0..<kills {
      let writer = Thread {
        var seq = (try? store.match(record.id)?.events.count) ?? 0
        while !stop.withLock({ $0 }) {
          let body = Array(#"{"k":"confirm","at":\#(seq + 1),"side":"x"}"#.utf8)
          let events = (1...2).map { StoredEvent(seq: seq + $0, side: nil, mid: nil, body: body) }
          do {
            try store.commit([StoreTransaction(number: 2, writes: [.append(record.id, after: seq, events)])])
          } catch { break }
          seq += 2
          told.withLock { $0 = seq }
        }
        stop.withLock { $0 = true }
      }
      let begun = told.withLock { $0 }
      writer.start()
      while told.withLock({ $0 }) < begun + 40, !stop.withLock({ $0 }) { usleep(1000) }
      try #require(told.withLock { $0 } >= begun + 40, "the writer ended before the kill")
      try bed.order("kill")
      while !stop.withLock({ $0 }) { usleep(1000) }
      #expect(throws: StoreError.self, "there is no database now") { try store.reopen() }
      try bed.order("start")
      try store.reopen()
      let count = try #require(try store.match(record.id)?.events.count)
      #expect([told.withLock { $0 }, told.withLock { $0 } + 2].contains(count), "round \(round)")
      if count > told.withLock({ $0 }) { unknown += 1 }
      told.withLock { $0 = count }
      stop.withLock { $0 = false }
    }
    print("kill -9 of PostgreSQL: \(kills) times, \(told.withLock { $0 }) events, \(unknown) commits done but not told")
  }

  @Test func `the way to the database is encrypted, and a certificate of somebody else's refused, as the URL asks`()
    throws
  {
    let bed = PostgresTestBed(tls: true)
    let store = try PostgresStore(PGAddress(bed.url))
    try store.commit([StoreTransaction(number: 1, writes: [.account(someAccount(1, "Ann"))])])
    let encrypted = try bed.sql(
      "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
        + "WHERE application_name = 'alina-server'")
    #expect(encrypted == [[.bool(true)]])
    store.close()
    let other = PostgresTestBed(tls: true)
    let root = try #require(other.url.split(separator: "sslrootcert=").last)
    let wrong = try #require(bed.url.split(separator: "sslrootcert=").first) + "sslrootcert=" + root
    #expect { _ = try PostgresStore(PGAddress(String(wrong))) } throws: {
      "\($0)".contains("certificate verify failed")
    }
  }

  @Test func `a database that hangs makes the outcome unknown in time, and the store is whole once it goes on`() throws
  {
    let bed = PostgresTestBed()
    let store = try PostgresStore(PGAddress(bed.url))
    let record = MatchRecord(id: someID(1), x: 1, o: 2, created: 5)
    try store.commit([StoreTransaction(number: 1, writes: [.match(record)])])
    try bed.order("stop")
    let event = StoredEvent(seq: 1, side: nil, mid: nil, body: Array(#"{"k":"confirm","at":1,"side":"x"}"#.utf8))
    #expect {
      try store.commit([StoreTransaction(number: 2, writes: [.append(record.id, after: 0, [event])])])
    } throws: {
      if case .unknownOutcome? = $0 as? StoreError { true } else { false }
    }
    try bed.order("cont")
    try store.reopen()
    let count = try #require(try store.match(record.id)?.events.count)
    #expect(count <= 1)
    // Whatever it was, it stays: the old connection's process has ended.
    let next = StoredEvent(seq: count + 1, side: nil, mid: nil, body: event.body)
    try store.commit([StoreTransaction(number: 3, writes: [.append(record.id, after: count, [next])])])
    #expect(try store.match(record.id)?.events.count == count + 1)
  }
}
