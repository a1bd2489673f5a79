import Foundation
import MatchProtocol
import ServerTestSupport
import Synchronization
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore
@testable import SQLiteStore
@testable import PostgresStore

@Suite struct PostgresStoreTests {
  private func fresh() throws -> PGAddress { try PGAddress(try PostgresTestBed.shared.freshURL()) }

  /// The statement's locks last as long as the transaction of the returned connection.
  private func holding(_ sql: String, at url: String) throws -> PGConnection {
    let connection = try PGConnection(try PGAddress(url))
    _ = try connection.run([PGStatement.begin(), PGStatement(once: sql)()], within: 5000)
    return connection
  }

  private func endThoseWhoWait(at url: String) throws -> Int {
    try PostgresTestBed.shared.sql(
      """
      SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
      WHERE a.wait_event_type = 'Lock' AND a.pid <> pg_backend_pid() AND EXISTS (
        SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
        WHERE l.pid = a.pid AND c.relnamespace = current_schema()::regnamespace)
      """, at: url
    ).count
  }

  @Test func `values of every type survive a round trip through the database`() throws {
    let connection = try PGConnection(try PGAddress(PostgresTestBed.shared.url))
    let values: [(String, PGValue)] = [
      ("bigint", .int(.min)), ("bigint", .int(-1)), ("bigint", .int(.max)), ("bigint", .null), ("boolean", .bool(true)),
      ("boolean", .bool(false)), ("float8", .double(-1.25e300)), ("float8", .double(0.06)), ("text", .text("")),
      ("text", .text("Ünï ♟ 'quoted' $1")), ("bytea", .bytes([])), ("bytea", .bytes(Array(0...255))),
      ("bigint[]", .ints([])), ("bigint[]", .ints([1, -2, .max])), ("text[]", .texts([])),
      ("text[]", .texts(["a", "", "ä"])),
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

  @Test func `many threads share a few connections, and a failed transaction affects no other`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    try PostgresTestBed.shared.sql("CREATE TABLE one (n BIGINT PRIMARY KEY)", at: url)
    let pool = PostgresPool(try PGAddress(url), setup: [], count: 2)
    defer { pool.close() }
    let put = PGStatement("INSERT INTO one VALUES ($1)")
    let wrong = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 40) { n in
      // Every twentieth transaction inserts the same key twice, so its first call must be rolled back.
      let calls = [put(.int(Int64(n)))] + (n % 20 == 19 ? [put(.int(Int64(n)))] : [])
      do throws(StoreError) {
        _ = try pool.run(calls, within: 120_000)
        if n % 20 == 19 { wrong.withLock { $0 += 1 } }
      } catch {
        guard n % 20 == 19, case .failed = error else { return wrong.withLock { $0 += 1 } }
      }
    }
    let rows = try pool.run([PGStatement(once: "SELECT count(*), sum(n)::bigint FROM one")()])
    let sum = Int64((0..<40).filter { $0 % 20 != 19 }.reduce(0, +))
    #expect(rows.first?.rows == [[.int(38), .int(sum)]] && wrong.withLock { $0 } == 0)
  }

  @Test func `many nodes may migrate the schema at once`() async throws {
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
    defer { store.close() }
    #expect(try store.accounts().isEmpty)
  }

  @Test func `a database for newer builds only is refused, a database that newer builds extended is accepted`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    try PostgresStore(PGAddress(url)).close()
    try PostgresTestBed.shared.sql("UPDATE schema SET version = 99, min_reader = 1", at: url)
    try PostgresTestBed.shared.sql("ALTER TABLE account ADD COLUMN novelty TEXT", at: url)
    let store = try PostgresStore(PGAddress(url))
    try store.add([someAccount(1, "Ann")])
    #expect(try store.accounts() == [someAccount(1, "Ann")])
    store.close()
    #expect(
      try PostgresTestBed.shared.sql("SELECT version, min_reader FROM schema", at: url) == [[.int(99), .int(1)]])
    try PostgresTestBed.shared.sql("UPDATE schema SET min_reader = 98", at: url)
    #expect { _ = try PostgresStore(PGAddress(url)) } throws: {
      if case .tooNew? = $0 as? StoreError { true } else { false }
    }
  }

  @Test func `matches of schema version 6 continue with their logs and are adopted by another node`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let bed = PostgresTestBed.shared
    try bed.sql("CREATE TABLE schema (version BIGINT NOT NULL, min_reader BIGINT NOT NULL)", at: url)
    for statement in PostgresMigrations.steps[..<6].joined() { try bed.sql(statement, at: url) }
    // A development build of schema version 6 left these functions behind, which the migration drops.
    for function in [
      "must (BIGINT, BIGINT, TEXT)",
      "append_events (BIGINT, TEXT[], BIGINT[], BIGINT[], TEXT[], BIGINT[], TEXT[], TEXT[], BYTEA[])",
    ] { try bed.sql("CREATE FUNCTION \(function) RETURNS VOID LANGUAGE plpgsql AS 'BEGIN END'", at: url) }
    try bed.sql("INSERT INTO schema VALUES (6, 3)", at: url)
    let (live, over, older, newer) = (someID(1), someID(2), someID(3), someID(4))
    try bed.sql(
      """
      INSERT INTO account VALUES (7, 'Ann', 'ann', false, NULL, 0, 1500, 350, 0.06, 0, 0, 0, 0, 0, false, false, false,
        '{}', '\(live)')
      """, at: url)
    try bed.sql("INSERT INTO node VALUES (3, 'one', 'h:1', 'h:2', 9, 2, false)", at: url)
    try bed.sql("INSERT INTO session VALUES ('s', 7, 'r', NULL, 9000000000000, 4, 3)", at: url)
    try bed.sql(
      """
      INSERT INTO match (id, x, o, opener, code, created, ended, seq, epoch) VALUES
        ('\(live)', 7, 90, NULL, NULL, 5, NULL, 2, 3), ('\(over)', 7, 8, NULL, NULL, 5, 6, 1, 3),
        ('\(older)', NULL, NULL, 7, 'ABC234', 5, NULL, 0, 3), ('\(newer)', NULL, NULL, 7, 'ABC234', 6, NULL, 0, 3)
      """, at: url)
    for (m, seq) in [(live, 1), (live, 2), (over, 1)] {
      try bed.sql("INSERT INTO match_event VALUES ('\(m)', \(seq), 'x', 'm\(seq)', 3, '{}')", at: url)
    }
    let store = try PostgresStore(PGAddress(url))
    defer { store.close() }
    #expect(try bed.sql("SELECT version, min_reader FROM schema", at: url) == [[.int(11), .int(7)]])
    #expect(try bed.sql("SELECT 1 FROM pg_proc WHERE pronamespace = current_schema()::regnamespace", at: url).isEmpty)
    #expect(try store.answer(.code("ABC234")) == .id(newer), "of two rooms with the same code the newer one keeps it")
    _ = try store.answer(.heartbeat("a", address: "h:1"))
    guard case .adopted(let adopted) = try store.answer(.adoptOrphans("a", limit: 10)) else { return }
    #expect(Set(adopted.map(\.match.record.id)) == [live, older, newer] && adopted.allSatisfy { $0.nodes == ["a"] })
    let found = try #require(adopted.first { $0.match.record.id == live })
    #expect(found.match.length == 2 && found.match.bodies.count == 2 && found.accounts.map(\.name) == ["Ann"])
    #expect(store.apply(move(live, after: 2)) == .applied([live: ["a"]]))
    let wish = TicketRecord(id: "t", session: "s", account: 7, node: "a", key: "", purpose: "p", wish: "w", since: 0)
    #expect(try store.answer(.queue(wish, rated: true)) == .queued(.playing), "a rated match goes on")
    let guest = Login.guest(
      names: ["g"], token: Bench.digest("g"), session: "g", resume: Bench.digest("gr"), lives: Bench.lives)
    guard case .login(.entered(let entered)) = try store.answer(.login(guest, "a")) else { return }
    #expect(entered.profile.account.id > 90, "an id that occurs in a match is not used again")
  }

  @Test func `invalid URLs and unusable databases are reported in one line without the password`() throws {
    let port = PostgresTestBed.shared.port
    let wrong: [(url: String, says: String)] = [
      ("mysql://x", "postgres://USER@HOST:PORT/DATABASE"), ("postgres://u:geheim@h:bad/x", "invalid integer value"),
      ("postgres://u:geheim@h/x?nonsense=1", "cannot be read"), ("postgres://u:geheim@h/x?sslmode", "cannot be read"),
      ("postgres://u:geheim@127.0.0.1:1/x", "refused"), ("postgres://u:geheim@/x?host=/nowhere", "No such file"),
      ("postgres://nobody:geheim@127.0.0.1:\(port)/postgres", "nobody"),
      ("postgres://postgres@127.0.0.1:\(port)/nodatabase", "does not exist"),
      ("postgres://postgres@127.0.0.1:\(port)/postgres?sslmode=require", "SSL"),
      ("postgres://postgres@127.0.0.1:\(port)/postgres?options=-csearch_path%3Dnoschema", "schema"),
      ("postgres://postgres@127.0.0.1:\(port)/postgres?options=-csearch_path%3Dpg_catalog", "denied"),
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

  @Test func `an archive passes from SQLite to PostgreSQL and back unchanged`() throws {
    let folder = TemporaryFolder()
    let sqlite = try SQLiteStore(path: folder.path + "/m.sqlite")
    let (record, events) = try someMatch()
    try sqlite.add([someAccount(1, "Ann"), someAccount(3, "Cat")])
    #expect(sqlite.apply(StoreUnit(logs: [.init(record.id, after: 0, events, record: record)])).isApplied)
    func text(_ store: any MatchStore) throws -> String {
      var archive = Data()
      _ = try StoreArchive.export(store) { archive += $0 }
      return String(decoding: archive, as: UTF8.self)
    }
    let first = try text(sqlite)
    let postgres = try PostgresStore(try fresh())
    defer { postgres.close() }
    let taken = try StoreArchive.load(first.split(separator: "\n"), into: postgres)
    #expect(taken == .init(accounts: 2, matches: 1, events: events.count))
    #expect(try text(postgres) == first)
    #expect(throws: StoreError.self) { try StoreArchive.load(first.split(separator: "\n"), into: postgres) }
    let back = try SQLiteStore(path: folder.path + "/back.sqlite")
    _ = try StoreArchive.load(try text(postgres).split(separator: "\n"), into: back)
    #expect(try text(back) == first)
    let forged = first.replacing("b2", with: "c3")
    let other = try PostgresStore(try fresh())
    defer { other.close() }
    #expect { try StoreArchive.load(forged.split(separator: "\n"), into: other) } throws: {
      "\($0)".contains("hash")
    }
  }

  // MARK: lost answers

  @Test func `a connection that ends after sending leaves a move's outcome unknown, and the store continues`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresStore(PGAddress(url))
    defer { store.close() }
    let m = someID(1)
    #expect(store.apply(beginning(m)) == .applied([:]))
    let holder = try holding("SELECT 1 FROM match FOR UPDATE", at: url)
    let work = Work { store.apply([move(m, after: 1), move(someID(2), after: 1)]) }
    #expect(try eventually { try endThoseWhoWait(at: url) > 0 })
    let verdicts = try work.value()
    #expect(verdicts.count == 2 && verdicts.allSatisfy(\.isUnknown), "\(verdicts)")
    _ = try holder.run([PGStatement.rollback()], within: 5000)
    #expect(try store.length(m) == 1)
    #expect(store.apply(move(m, after: 1)) == .applied([m: ["a"]]))
  }

  @Test func `a unit of two round trips surely fails if its connection ends before the second`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresStore(PGAddress(url))
    defer { store.close() }
    try store.add([someAccount(1, "Ann")])
    let (m, n) = (someID(1), someID(2))
    #expect(store.apply(beginning(n)) == .applied([:]))
    let holder = try holding("SELECT 1 FROM account FOR UPDATE", at: url)
    var unit = beginning(m, x: 1)
    unit.slots = [.init(account: 1, .classic, someAccount(1, "Ann").rating)]
    let work = Work { [unit] in store.apply([unit, move(n, after: 1)]) }
    #expect(try eventually { try endThoseWhoWait(at: url) > 0 })
    let verdicts = try work.value()
    #expect(verdicts.count == 2 && verdicts.allSatisfy(\.isFailed), "\(verdicts)")
    _ = try holder.run([PGStatement.rollback()], within: 5000)
    #expect(try store.match(m) == nil && store.length(n) == 1)
    #expect(store.apply([unit, move(n, after: 1)]) == [.applied([:]), .applied([n: ["a"]])])
  }

  @Test func `if a connection ends in the second round trip, the outcome is unknown, and the unit whole or absent`()
    throws
  {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresStore(PGAddress(url))
    defer { store.close() }
    let (m, n) = (someID(1), someID(2))
    #expect(store.apply(beginning(n)) == .applied([:]))
    let holder = try holding("LOCK TABLE match_event IN EXCLUSIVE MODE", at: url)
    let work = Work { store.apply([beginning(m), move(n, after: 1)]) }
    #expect(try eventually { try endThoseWhoWait(at: url) > 0 })
    let verdicts = try work.value()
    #expect(verdicts.count == 2 && verdicts.allSatisfy(\.isUnknown), "\(verdicts)")
    _ = try holder.run([PGStatement.rollback()], within: 5000)
    #expect(try store.match(m) == nil && store.length(n) == 1)
  }

  @Test func `a commit completed after its timeout is seen by the next decision`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let address = try PGAddress(url)
    let (hasty, store) = (try PostgresStore(address, deadline: 500), try PostgresStore(address))
    defer { for store in [hasty, store] { store.close() } }
    let m = someID(1)
    #expect(store.apply(beginning(m)) == .applied([:]))
    // The commit of an event that ends in "slow" waits until the lock of the table `gate` is released.
    for text in [
      "CREATE TABLE gate ()",
      """
      CREATE FUNCTION wait_long() RETURNS TRIGGER LANGUAGE plpgsql AS $$
      BEGIN
        IF convert_from(NEW.body, 'UTF8') LIKE '%slow' THEN
          PERFORM set_config('lock_timeout', '0', true);
          LOCK TABLE gate IN ACCESS SHARE MODE;
        END IF;
        RETURN NULL;
      END $$
      """,
      """
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON match_event DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait_long()
      """,
    ] { try PostgresTestBed.shared.sql(text, at: url) }
    let holder = try holding("LOCK TABLE gate IN ACCESS EXCLUSIVE MODE", at: url)
    #expect(hasty.apply(move(m, after: 1, "slow")).isUnknown)
    // The next unit for the match must wait for the slow commit, which still waits for the lock of `gate`.
    #expect(try store.length(m) == 1)
    let again = Work { store.apply(move(m, after: 1, "again")) }
    let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    #expect(try eventually { try !PostgresTestBed.shared.sql(waiting, at: url).isEmpty })
    _ = try holder.run([PGStatement.rollback()], within: 5000)
    #expect(try again.value() == .conflict(.log(m)))
    #expect(try store.match(m)?.bodies.last == event(2, "slow"))
  }

  @Test func `a log with a gap ends before the gap, whatever length the match's row states`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresStore(PGAddress(url))
    defer { store.close() }
    let m = someID(1)
    #expect(store.appliesAll([beginning(m), move(m, after: 1), move(m, after: 2)]))
    // As another program might.
    try PostgresTestBed.shared.sql("DELETE FROM match_event WHERE seq = 2", at: url)
    try PostgresTestBed.shared.sql("UPDATE match SET seq = 2", at: url)
    let stored = try #require(try store.match(m))
    #expect(stored.length == 2 && stored.bodies == [event(1)])
  }

  // MARK: several nodes

  @Test func `a unit refused by a conflict leaves no lock`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresStore(PGAddress(url))
    defer { store.close() }
    try store.add([someAccount(1, "Ann")])
    var unit = beginning(someID(1), x: 1)
    unit.slots = [.init(account: 1, .classic, .init())]
    #expect(store.apply(unit) == .conflict(.rating(1)))
    let locks = """
      SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a USING (pid)
      WHERE c.relnamespace = current_schema()::regnamespace AND a.backend_type = 'client backend'
      """
    #expect(try PostgresTestBed.shared.sql(locks, at: url) == [[.int(0)]])
  }

  // MARK: nodes

  @Test func `a node that was removed as dead returns as the youngest, and a clock set back keeps no dead node alive`()
    throws
  {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresStore(PGAddress(url))
    defer { store.close() }
    func living(_ node: NodeID) throws -> [NodeID] {
      guard case .heartbeat(let heartbeat) = try store.answer(.heartbeat(node, address: "h:\(node)")) else { return [] }
      return heartbeat.nodes.map(\.id)
    }
    #expect(try living("a") == ["a"] && living("b") == ["a", "b"])
    try PostgresTestBed.shared.sql("UPDATE node SET beat_at = beat_at - 4000 WHERE id = 'a'", at: url)
    #expect(try living("b") == ["b"])
    _ = try store.answer(.adoptOrphans("b", limit: 1))
    #expect(try living("a") == ["b", "a"])
    // An hour added to every stored time is equivalent to a clock set back by an hour.
    try PostgresTestBed.shared.sql("UPDATE node SET beat_at = beat_at + 3600000", at: url)
    #expect(try living("b") == ["b", "a"])
    try PostgresTestBed.shared.sql("UPDATE node SET beat_at = beat_at - 4000 WHERE id = 'a'", at: url)
    #expect(try living("b") == ["b"], "heartbeats in the future are corrected by the next heartbeat")
  }

  // MARK: what statements cost

  @Test func `moves update no index of their match, and no question reads more rows than it needs`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let address = try PGAddress(url + "&application_name=counted")
    let bed = PostgresTestBed.shared
    let filling = try PostgresStore(address)
    let matches = (0..<3000).map { someID(UInt64($0)) }
    for start in stride(from: 0, to: matches.count, by: 500) {
      let units = (start..<start + 500).map { i in
        let record = MatchRecord(
          id: matches[i], x: Int64(i % 700), o: Int64(i % 600), opener: i % 3 == 0 ? Int64(i % 100) : nil,
          code: i % 3 == 0 ? "C\(i)" : nil, created: Int64(i), ended: i % 10 == 0 ? nil : Int64(i))
        var unit = StoreUnit(logs: [.init(matches[i], after: 0, [event(1), event(2)], record: record, nodes: ["a"])])
        unit.keys = [.init(account: Int64(i), "k", purpose: "p")]
        return unit
      }
      #expect(filling.appliesAll(units))
    }
    try filling.add((1...1000).map { someAccount($0, "player \($0)") })
    for i in 0..<20 {
      let guest = Login.guest(
        names: ["guest \(i)"], token: Bench.digest("g\(i)"), session: "g\(i)", resume: Bench.digest("r\(i)"),
        lives: Bench.lives)
      _ = try filling.answer(.login(guest, "a"))
    }
    filling.close()
    for table in ["match", "match_event", "account", "session", "used_key"] {
      try bed.sql("VACUUM ANALYZE \(table)", at: url)
    }

    /// Counts rows read and rows of `match` updated, of these `hot` without a new index entry. Sessions report counts when they end.
    func rows(_ body: (PostgresStore) throws -> Void) throws -> (read: Int64, hot: Int64, updated: Int64) {
      func counters() throws -> [Int64] {
        try bed.sql(
          """
          SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint,
            sum(n_tup_hot_upd) FILTER (WHERE relname = 'match')::bigint,
            sum(n_tup_upd) FILTER (WHERE relname = 'match')::bigint
          FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname NOT IN ('node', 'schema')
          """, at: url)[0].compactMap(\.int)
      }
      func settled() throws -> [Int64] {
        let isSettled = try eventually {
          try bed.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = 'counted'").isEmpty
        }
        #expect(isSettled)
        return try counters()
      }
      let store = try PostgresStore(address)
      _ = try store.answer(.heartbeat("a", address: "h:1"))
      store.close()
      let before = try settled()
      let used = try PostgresStore(address)
      try body(used)
      used.close()
      let after = try settled()
      return (after[0] - before[0], after[1] - before[1], after[2] - before[2])
    }
    // Opening the store reads a few rows, to find the highest account id.
    let opening = try rows { _ in }.read
    #expect(opening < 20)
    let live = stride(from: 0, to: 3000, by: 10).map { matches[$0] }
    let moved = try rows { store in
      for k in 0..<3 { #expect(store.appliesAll(live[..<40].map { move($0, after: 2 + k) })) }
    }
    #expect(moved.updated == 120 && moved.hot >= 110, "\(moved)")
    #expect(moved.read < 120 * 4 + opening, "\(moved)")
    var memory = Memory()
    for m in live[50..<60] { memory.matches[m] = 2 }
    for id in 1...10 { memory.accounts[Int64(id)] = 0 }
    memory.sessions = ["g1": 1, "g2": 1]
    memory.tickets = ["none"]
    let questions: [(StoreQuestion, Int64)] = [
      (.adoptOrphans("a", limit: 10), 20), (.compare("a", memory), 40), (.follow(live[70], "a"), 20),
      (.match(matches[1]), 20),
      (.code("C30"), 10), (.live(limit: 5), 80), (.history(5, before: .max, limit: 5), 80), (.profile(5), 60),
      (.accounts([1, 2, 3]), 20), (.top(.classic, limit: 5), 20), (.tickets, 10),
      (.players(.named, after: 5, limit: 5), 20), (.players(.banned, after: 0, limit: 5), 10),
      (.players(.muted, after: 0, limit: 5), 10), (.reports(before: .max, limit: 5), 10),
      (.report(ReportRecord(account: 5, m: matches[1], text: "rude")), 10),
      (.login(.resume(presented: Bench.digest("r1"), fresh: Bench.digest("f1"), lives: Bench.lives), "a"), 60),
      (.change(.name("player 5"), .quiet(true)), 20), (.settle(session: "g3", generation: 1), 10),
      (
        .queue(
          TicketRecord(
            id: "t", session: "g4", account: 5, node: "a", key: "k", purpose: "p", wish: "", since: 0), rated: true), 30
      ), (.unqueue("t"), 10),
    ]
    for (question, most) in questions {
      let read = try rows { store in _ = try store.answer(question) }.read - opening
      #expect(read <= most, "\(question) read \(read) rows")
    }
  }
}
