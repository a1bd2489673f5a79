import Base
import Foundation
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore
@testable import PostgresStore

@Suite(.serialized) struct PostgresEndToEndTests {
  private func faults(_ crowd: Crowd, _ url: String) throws -> [String] {
    var address = try PGAddress(url)
    // A promoted standby has no standby of its own, so a failover could lose changes. By default a store with several hosts refuses that.
    address.allowsLossyFailover = true
    let store = try PostgresStore(address)
    defer { store.close() }
    try crowd.checker.check(store)
    return crowd.checker.faults
  }

  @Test(.long) func `matches in PostgreSQL survive kill -9 of server and database without loss of acknowledged events`()
    async throws
  {
    let bed = PostgresTestBed()
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(["--store", bed.url])
    let crowd = Crowd()
    crowd.join(8, port: server.port)
    let rounds = amount("KILLS", quick: 1, all: 3)
    var slowest: Int64 = 0
    var random = SplitMix64(seed: 11)
    for round in 0..<rounds {
      try await crowd.play(milliseconds: 300 + random.below(700))
      if round % 2 == 0 {
        server.kill9()
        try server.start(["--store", bed.url])
      }
      try bed.order("kill")
      try await crowd.play(milliseconds: 200)
      try bed.order("start")
      let up = Moment.current.monotonic
      let before = crowd.moves
      try await crowd.play { crowd.moves >= before + 8 }
      slowest = max(slowest, Moment.current.monotonic - up)
      #expect(crowd.moves >= before + 8, "the games continue after round \(round)")
    }
    try await crowd.playOn(8)
    crowd.leave()
    #expect(server.stop() == 0, "SIGTERM ends it in order")
    #expect(try faults(crowd, bed.url) == [])
    print(
      "PostgreSQL: \(rounds) kills of the database, \((rounds + 1) / 2) of the server, \(crowd.moves) moves seen, "
        + "\(crowd.games) ends seen; at most \(slowest) ms from accepting connections to eight moves more")
  }

  @Test(.long) func `a promoted standby has every acknowledged event, and the games continue on it`() async throws {
    let bed = PostgresTestBed()
    let both = try bed.makeStandby()
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(["--store", both])
    let crowd = Crowd()
    crowd.join(8, port: server.port)
    try await crowd.play { crowd.games >= 8 }
    try bed.order("kill")
    try await crowd.play(milliseconds: 200)
    try bed.order("promote")
    try await crowd.playOn(8)
    crowd.leave()
    server.stop()
    #expect(try faults(crowd, both) == [])
  }

  @Test func `a store's error is reported in one line, and passwords are not accepted as arguments`() throws {
    let folder = TemporaryFolder()
    func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> (code: Int32, text: String) {
      let (code, out, errors) = try ServerChild.run(arguments, environment: environment)
      return (code, out + errors)
    }
    let data = ["--data", folder.path, "--no-page", "--no-admin", "--listen", "127.0.0.1:0"]
    let secret = "postgres://u:geheim@127.0.0.1:1/x"
    let wrong: [(arguments: [String], environment: [String: String], says: String)] = [
      (["--store", secret] + data, [:], "PGPASSFILE"), (["--store=\(secret)"] + data, [:], "PGPASSFILE"),
      (["export", "--store", secret, "-"], [:], "PGPASSFILE"), (data, ["ALINA_STORE": secret], "refused"),
      (["--store", "mysql://x"] + data, [:], "postgres://USER@HOST:PORT/DATABASE"),
      (["--memory", "--store", "postgres://h/x"] + data, [:], "exclude"),
      (["backup", "--store", "postgres://h/x", "file"], [:], "pg_dump"),
      (["restore", "file"], ["ALINA_STORE": "postgres://h/x"], "pg_restore"),
    ]
    for (arguments, environment, says) in wrong {
      let (code, text) = try run(arguments, environment)
      #expect(code != 0 && text.contains(says) && !text.contains("geheim"), "\(arguments): \(text)")
      #expect(text.split(separator: "\n").count == 1, "\(text)")
    }
    let url = try PostgresTestBed.shared.freshURL()
    let (record, events) = try someMatch()
    do {
      let sqlite = try SQLiteStore(path: folder.path + "/matches.sqlite")
      defer { sqlite.close() }
      try sqlite.add([someAccount(1, "Ann")])
      let unit = StoreUnit(logs: [.init(record.id, after: 0, events, record: record)])
      #expect(sqlite.apply([unit]) == [.applied([:])])
    }
    let file = folder.path + "/archive"
    let elsewhere = ["ALINA_STORE": "postgres://127.0.0.1:1/x"]
    #expect(try run(["export", "--data", folder.path, file], elsewhere).code == 0, "`--data` overrides settings")
    #expect(try run(["import", "--store", url, file]).text.contains("1 matches, \(events.count) events"))
    let back = try run(["export", "-"], ["ALINA_STORE": url])
    let archive = try String(contentsOfFile: file, encoding: .utf8)
    #expect(back.code == 0 && back.text.contains(archive))
  }
}
