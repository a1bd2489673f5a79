import Foundation
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore
@testable import PostgresStore

@Suite struct PostgresPlanTests {
  private func useAll(_ bench: Bench, _ n: UInt64) throws {
    let (ann, bob) = (try bench.player("Ann\(n)"), try bench.player("Bob\(n)"))
    _ = try bench.resume("r-Ann\(n)", as: "fresh-\(n)")
    _ = try bench.login(
      .token(Bench.digest("t-Bob\(n)"), session: "two-\(n)", resume: Bench.digest("two-\(n)"), lives: Bench.lives))
    for (name, account) in [("a\(n)", ann), ("b\(n)", bob)] {
      _ = try bench.queue(bench.ticket(name, account.id, key: name), rated: true)
    }
    _ = try bench.store.answer(.unqueue("c\(n)"))
    var unit = bench.beginning(someID(n), ann.id, bob.id)
    unit.tickets = ["a\(n)", "b\(n)"]
    unit.keys = [.init(account: ann.id, "a\(n)", purpose: "p"), .init(account: bob.id, "b\(n)", purpose: "p")]
    unit.slots = [.init(account: ann.id, .classic, ann.rating), .init(account: bob.id, .classic, bob.rating)]
    #expect(bench.apply(unit) == .applied([:]))
    #expect(bench.apply(StoreUnit(logs: [.init(someID(n), after: 1, [Bench.event(2)])])).isApplied)
    _ = try bench.follow(someID(n), "b")
    _ = try bench.compare {
      $0.matches[someID(n)] = 2
      $0.accounts[ann.id] = 0
      $0.sessions["s-Ann\(n)"] = 1
      $0.tickets = ["a\(n)"]
    }
    try bench.change(someID(n)) { $0.ended = 7 }
    #expect(bench.apply(bench.beginning(someID(n + 100), opener: ann.id, code: "c\(n)")).isApplied)
    for question in [
      .code("c\(n)"), .live(limit: 5), .history(ann.id, before: .max, limit: 5), .profile(ann.id), .match(someID(n)),
      .accounts([ann.id]), .change(.name("Bob\(n)"), .quiet(true)), .top(.classic, limit: 5),
      .settle(session: "two-\(n)", generation: 1), .detach(session: "two-\(n)", generation: 1),
      .report(ReportRecord(at: 5, account: ann.id, m: someID(n), text: "t")), .reports(before: .max, limit: 5),
      .players(.banned, after: 0, limit: 5),
    ] as [StoreQuestion] { _ = try bench.store.answer(question) }
  }

  /// `isPlannedAgain`: PostgreSQL plans a statement again when one of its tables was altered, and at other times of its choosing.
  @Test(arguments: [false, true]) func `the rows read for one player do not grow with the database`(
    isPlannedAgain: Bool
  ) throws {
    let bench = try Bench(.postgres)
    func alterTables() throws {
      for table in ["account", "session", "match", "match_event", "ticket", "used_key", "standing", "report"] {
        try bench.sql("ALTER TABLE \(table) SET (autovacuum_enabled = off)")
      }
    }
    try alterTables()
    // PostgreSQL plans the statements while the tables are empty.
    try useAll(bench, 1)
    for filling in [
      """
      account (id, name, name_lower, guest, token, token_expires, rating, deviation, volatility, rated_at, won, drawn,
        lost, x_balance, quiet, muted, banned, blocked)
      SELECT n, 'p' || n, 'p' || n, false, sha256(n::text::bytea), 1e15, 1500, 300, 0.06, 5, 0, 0, 0, 0, false, false,
        false, '{}'
      """,
      "session SELECT 's' || n, n, sha256(n::text::bytea), NULL, 1e15, 1, 'a'",
      """
      match (id, x, o, opener, code, created, ended, seq, nodes)
      SELECT n, n, n + 1, CASE WHEN n % 2 = 0 THEN n END, 'code' || n, n, NULL, 1, '{a}'
      """,
      "match_event SELECT n, 1, 'x'", "ticket SELECT n, 's' || n, n, 'a', 'k' || n, 'p', 'w', n",
      "used_key SELECT n, 'k' || n, n, 'p', n",
      "report (at, account, match_id, text) SELECT n, n, n, 't'",
    ] {
      // Flushes the statistics, so that the rows that this statement reads are already in `before`.
      try bench.sql(
        """
        WITH filled AS (INSERT INTO \(filling) FROM generate_series(100000, 104999) AS n)
        SELECT pg_stat_force_next_flush()
        """)
    }
    if isPlannedAgain { try alterTables() }
    /// The number of rows read from each table and index.
    func read() throws -> [String: Int64] {
      let rows = try bench.sql(
        """
        SELECT indexrelname::text, idx_tup_read FROM pg_stat_user_indexes WHERE schemaname = current_schema()
        UNION ALL SELECT relname::text, seq_tup_read FROM pg_stat_user_tables WHERE schemaname = current_schema()
        """)
      return Dictionary(uniqueKeysWithValues: rows.compactMap { row in row[0].text.map { ($0, row[1].int ?? 0) } })
    }
    let before = try read()
    try useAll(bench, 2)
    bench.store.close()
    // A connection adds its counts to the statistics before it disappears from the list of open connections.
    let others = """
      SELECT 1 FROM pg_stat_activity
      WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()
      """
    #expect(try eventually { try bench.sql(others).isEmpty })
    let grown = try read().merging(before, uniquingKeysWith: -)
    #expect((1..<1000).contains(grown["match_pkey"] ?? 0), "reads of this index are counted, and are few")
    #expect(grown.filter { $0.value >= 1000 } == [:])
  }
}
