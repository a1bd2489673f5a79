import Base
import Foundation
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore
@testable import SQLiteStore
@testable import PostgresStore

@Suite(.serialized) struct UpgradeEndToEndTests {
  private let m = someID(17)
  private let tokens = ["the resume token of x", "the resume token of o"]
  private let now = Moment.current.wall

  private func events() throws -> [[UInt8]] {
    let seats = Sides(
      x: PlayerInfo(name: "guest-x", rating: 1500, guest: true),
      o: PlayerInfo(name: "guest-o", rating: 1500, guest: true))
    let terms = MatchTerms(clock: TimeControl("600+0"), rated: false)
    let log = [
      MatchEvent(at: now - 2000, .start(seats, terms, confirm: false, previous: nil, keys: [])),
      MatchEvent(
        at: now - 1000, side: .x, mid: "p0", .move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 900)),
    ]
    return log.map(\.body)
  }

  private func digest(_ token: String) -> SHA256.Digest { SHA256.hash(Array(token.utf8)) }

  /// Both players resume their sessions and finish their match. The history has the match that ended before the upgrade.
  private func finishMatch(_ server: ServerChild) throws {
    let (x, o) = (try RawPeer(server.port), try RawPeer(server.port))
    for (peer, token) in zip([x, o], tokens) {
      try peer.hello(#""resume":"\#(token)""#)
      #expect(try peer.wait(#""t":"state""#).contains(#""moves":["b2"]"#))
    }
    o.move(m.rawValue, 1, "a1")
    try x.wait(#""ply":1"#)
    // A command sent again after the upgrade is not executed twice.
    x.move(m.rawValue, 0, "b2", mid: "p0")
    #expect(try x.wait(#""re":"r0""#).contains(#""t":"ok""#))
    x.type(#"{"t":"resign","m":"\#(m)","mid":"end"}"#)
    try o.wait(#""result":"o","reason":"resign""#)
    x.type(#"{"t":"history","id":"h"}"#)
    #expect(try x.wait(#""re":"h""#).contains(someMatch().0.id.rawValue))
    let (x2, o2, m2, _) = try RawPeer.pair(server.port)
    x2.move(m2, 0, "b2")
    try o2.wait(#""ply":0"#)
    #expect(server.stop() == 0)
  }

  private func check(_ store: any MatchStore) throws {
    defer { store.close() }
    #expect(try store.match(m)?.folded().end?.outcome == .win(.o))
    #expect(try store.match(someMatch().0.id)?.bodies == someMatch().1)
    #expect(try store.accounts().contains { $0.name == "guest-x" && $0.lost == 1 })
  }

  @Test func `a SQLite file with schema version 4 is upgraded with live matches, sessions and histories`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/matches.sqlite"
    do {
      let db = try SQLiteConnection(path, creates: true)
      try db.execute("CREATE TABLE schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL)")
      for step in SQLiteMigrations.steps.prefix(4) { try db.execute(step) }
      try db.execute("INSERT INTO schema VALUES (4, 4)")
      for (i, side) in ["x", "o"].enumerated() {
        try db.run(
          """
          INSERT INTO account VALUES (?, ?, ?, 1, ?, ?, 1500, 350, 0.06, 0, 0, 0, 0, 0, 0, 0, 0, '')
          """, .int(i + 1), .text("guest-\(side)"), .text("guest-\(side)"), .blob(digest("token \(side)")),
          .int(now + 86_400_000))
        try db.run(
          "INSERT INTO session VALUES (?, ?, ?, NULL, ?)", .text("s\(side)"), .int(i + 1), .blob(digest(tokens[i])),
          .int(now + 86_400_000))
      }
      let (over, log) = try someMatch()
      for (n, match, ended, log) in [(1, over.id, now - 9000 as Int64?, log), (2, m, nil, try events())] {
        try db.run(
          "INSERT INTO match VALUES (?, ?, 1, 2, NULL, NULL, ?, ?)", .int(n), .text(match.rawValue), .int(now - 10_000),
          .int(ended))
        for (seq, body) in zip(1..., log) {
          try db.run(
            "INSERT INTO event VALUES (?, ?, '', NULL, ?)", .int(n), .int(seq), .blob(body))
        }
      }
    }
    let server = ServerChild(folder)
    try server.start()
    try finishMatch(server)
    try check(try SQLiteStore(path: path))
  }

  @Test func `a PostgreSQL database with schema version 6 is upgraded with live matches, sessions and histories`()
    throws
  {
    let url = try PostgresTestBed.shared.freshURL()
    do {
      let connection = try PGConnection(try PGAddress(url))
      func run(_ sql: String, _ values: PGValue...) throws {
        _ = try connection.run([PGCall(statement: PGStatement(once: sql), values: values)], within: 10_000)
      }
      try run("CREATE TABLE schema (version BIGINT NOT NULL, min_reader BIGINT NOT NULL)")
      for step in PostgresMigrations.steps.prefix(6).joined() { try run(step) }
      try run("INSERT INTO schema VALUES (6, 3)")
      try run("UPDATE log_language SET version = 3")
      // Adds the row of the node (epoch 7) that followed the matches below and has shut down.
      try run(
        """
        INSERT INTO node (epoch, name, address, peer, lease_until, events, has_left)
        VALUES (7, 'n1', '127.0.0.1:1', '127.0.0.1:2', $1, 3, true)
        """, .int(now - 5000))
      for (i, side) in ["x", "o"].enumerated() {
        try run(
          """
          INSERT INTO account (id, name, name_lower, guest, token, token_expires, rating, deviation, volatility, rated_at,
            won, drawn, lost, x_balance, quiet, muted, banned, blocked)
          VALUES ($1, $2, $2, true, $3, $4, 1500, 350, 0.06, 0, 0, 0, 0, 0, false, false, false, '{}')
          """, .int(Int64(i + 1)), .text("guest-\(side)"), .bytes(digest("token \(side)").bytes),
          .int(now + 86_400_000))
        try run(
          "INSERT INTO session (id, account, resume, expires, generation, epoch) VALUES ($1, $2, $3, $4, 1, 7)",
          .text("s\(side)"), .int(Int64(i + 1)), .bytes(digest(tokens[i]).bytes), .int(now + 86_400_000))
      }
      try run("SELECT setval('account_id', 2)")
      let (over, log) = try someMatch()
      for (match, ended, log) in [(over.id, now - 9000 as Int64?, log), (m, nil, try events())] {
        try run(
          "INSERT INTO match (id, x, o, created, ended, seq, epoch) VALUES ($1, 1, 2, $2, $3, $4, 7)",
          .text(match.rawValue), .int(now - 10_000), ended.map { .int($0) } ?? .null, .int(Int64(log.count)))
        for (seq, body) in zip(1..., log) {
          try run(
            "INSERT INTO match_event (match_id, seq, side, epoch, body) VALUES ($1, $2, '', 7, $3)",
            .text(match.rawValue), .int(Int64(seq)), .bytes(body))
        }
      }
    }
    let server = ServerChild(TemporaryFolder())
    try server.start(["--store", url])
    try finishMatch(server)
    try check(try PostgresStore(try PGAddress(url)))
  }
}
