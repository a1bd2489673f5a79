import Dispatch
import Foundation
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore
@testable import PostgresStore
@testable import ServerTransport

@Suite struct StoreTroubleEndToEndTests {
  /// Repeats a command until the answer is not `busy`.
  private func insist(_ peer: RawPeer, _ line: String, id: String) async throws -> String {
    for _ in 0..<200 {
      peer.type(line)
      let answer = try peer.wait(#""re":"\#(id)""#)
      guard answer.contains(#""code":"busy""#) else { return answer }
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("busy for ever")
    return ""
  }

  /// Ten heartbeats a second, to notice soon a store that refuses requests, and hardly any limit of logins.
  private var quick: LobbyConfiguration {
    var configuration = LobbyConfiguration()
    (configuration.heartbeatInterval, configuration.loginsPerMinute, configuration.rate) = (100, 100_000, [1000, 1000])
    return configuration
  }

  /// Repeats `request`, which the store refuses, until the server is not ready; returns the reason.
  private func untilNotReady(_ server: TestServer, _ request: (Int) throws -> Void) async throws -> String? {
    for i in 0..<500 where server.host.whyNotReady == nil {
      try request(i)
      try await Task.sleep(for: .milliseconds(20))
    }
    return server.host.whyNotReady
  }

  private func failLogin(_ server: TestServer) throws {
    let peer = try RawPeer(server.port)
    peer.type(#"{"t":"hello","v":[1]}"#)
    #expect(try peer.wait(#""t":"bye""#).contains("restart"))
  }

  @Test func `the store counts as refusing if requests fail before and after a good heartbeat, until one succeeds`() {
    var count = RefusalCount()
    for _ in 0..<3 { count.requestFailed(at: 1000) }
    #expect(!count.isRefused(at: 1000), "one interval may be a restart of the database")
    count.heartbeatEnded(succeeded: true)
    #expect(!count.isRefused(at: 2000))
    count.requestFailed(at: 2000)
    #expect(count.isRefused(at: 2000) && count.isRefused(at: 61_999) && !count.isRefused(at: 62_000))
    count.requestFailed(at: 62_000)
    #expect(count.isRefused(at: 62_000))
    count.requestSucceeded()
    #expect(!count.isRefused(at: 62_000))
  }

  @Test func `requests that fail while heartbeats fail do not make the store count as refusing`() {
    var count = RefusalCount()
    count.requestFailed(at: 1000)
    count.heartbeatEnded(succeeded: false)
    count.requestFailed(at: 1500)
    count.heartbeatEnded(succeeded: true)
    #expect(!count.isRefused(at: 2000))
    count.requestFailed(at: 2000)
    #expect(count.isRefused(at: 2000), "the store refuses after it has answered again")
    count.heartbeatEnded(succeeded: false)
    #expect(!count.isRefused(at: 2000))
  }

  @Test func `with a full disk no player is disconnected or misinformed, and the match continues once there is space`()
    async throws
  {
    let store = TroubledStore()
    let server = try await TestServer(store: store)
    let (x, o, m, _) = try RawPeer.pair(server.port)
    store.trouble.withLock { $0 = .full }
    x.move(m, 0, "b2")
    await #expect(throws: StoreError.self) { _ = try await server.host.administer(.player("guest-x", .ban)) }
    #expect(o.line(within: 1)?.contains(#""k":"move""#) != true, "a move that is not stored is not shown")
    #expect(try #require(MatchID(rawValue: m).flatMap { try store.match($0) }).folded().moves.isEmpty)
    store.trouble.withLock { $0 = nil }
    let command = #"{"t":"move","id":"again","m":"\#(m)","ply":0,"cell":"b2","mid":"p0"}"#
    #expect(try await insist(x, command, id: "again").contains(#""t":"ok""#))
    try o.wait(#""ply":0"#)
    o.move(m, 1, "a1")
    try x.wait(#""ply":1"#)
    let late = try RawPeer(server.port)
    try late.hello()
    try await server.stop()
  }

  @Test func `a store that answers everything except logins makes the server not ready, until a login succeeds`()
    async throws
  {
    let store = TroubledStore()
    let server = try await TestServer(store: store, lobby: quick)
    store.trouble.withLock { $0 = .full }
    #expect(try await untilNotReady(server) { _ in try failLogin(server) } == "the store refuses logins or moves")
    #expect(try await !server.host.reachesStore())
    store.trouble.withLock { $0 = nil }
    try RawPeer(server.port).hello()
    #expect(server.host.whyNotReady == nil)
    #expect(try await server.host.reachesStore())
    try await server.stop()
  }

  @Test func `a file whose index of sessions is damaged makes the server not ready`() async throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    try SQLiteStore(path: path).close()
    let place = try SQLiteConnection(path).run(
      "SELECT rootpage - 1, page_size FROM sqlite_master, pragma_page_size WHERE name = 'session_resume'"
    ) { $0.int(0) * $0.int(1) }
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: UInt64(place[0]))
    try file.write(contentsOf: Data(repeating: 0xFF, count: 64))
    try file.close()
    let store = try SQLiteStore(path: path)
    let server = try await TestServer(store: store, lobby: quick)
    #expect(try await untilNotReady(server) { _ in try failLogin(server) } != nil)
    #expect(try await !server.host.reachesStore())
    try await server.stop()
    store.close()
  }

  @Test func `a store that stores nothing makes the server not ready, though the store answers all questions`()
    async throws
  {
    let store = TroubledStore()
    let server = try await TestServer(store: store, lobby: quick)
    let (x, _, m, _) = try RawPeer.pair(server.port)
    store.trouble.withLock { $0 = .full }
    #expect(
      try await untilNotReady(server) { i in
        x.type(#"{"t":"move","id":"r\#(i)","m":"\#(m)","ply":0,"cell":"b2","mid":"p\#(i)"}"#)
        try x.wait(#""re":"r\#(i)","code":"busy""#)
      } != nil)
    #expect(try await !server.host.reachesStore())
    store.trouble.withLock { $0 = nil }
    #expect(
      try await insist(x, #"{"t":"move","id":"again","m":"\#(m)","ply":0,"cell":"b2","mid":"p"}"#, id: "again")
        .contains("ok"))
    #expect(server.host.whyNotReady == nil)
    #expect(try await server.host.reachesStore())
    try await server.stop()
  }

  @Test func `after a restart of PostgreSQL that lost moves the server is ready without another move or login`()
    async throws
  {
    let bed = PostgresTestBed()
    let store = try PostgresStore(PGAddress(bed.url))
    let server = try await TestServer(store: store, lobby: quick)
    let (x, _, m, _) = try RawPeer.pair(server.port)
    try bed.order("kill")
    let why = try await untilNotReady(server) { i in
      x.type(#"{"t":"move","id":"r\#(i)","m":"\#(m)","ply":0,"cell":"b2","mid":"p\#(i)"}"#)
      try x.wait(#""re":"r\#(i)","code":"busy""#)
    }
    #expect(why == "the database cannot be reached", "the reason is the lost database, not the refused moves")
    try bed.order("start")
    for _ in 0..<500 where server.host.whyNotReady != nil { try await Task.sleep(for: .milliseconds(20)) }
    #expect(server.host.whyNotReady == nil)
    #expect(try await server.host.reachesStore())
    try await server.stop()
    store.close()
  }

  @Test func `each move is answered even if PostgreSQL accepts everything and never answers`() async throws {
    let bed = PostgresTestBed()
    let store = try PostgresStore(PGAddress(bed.url))
    let server = try await TestServer(store: store)
    let (x, o, m, _) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    try bed.order("stop")
    o.move(m, 1, "a1")
    #expect(try o.wait(#""re":"r1""#, within: 30).contains(#""code":"busy""#))
    try bed.order("cont")
    let command = #"{"t":"move","id":"again","m":"\#(m)","ply":1,"cell":"a1","mid":"p1"}"#
    #expect(try await insist(o, command, id: "again").contains(#""t":"ok""#))
    try x.wait(#""ply":1"#)
    try await server.stop()
    store.close()
  }

  @Test func `commits with unknown outcome are read back: each command counts once, and no player is disconnected`()
    async throws
  {
    let store = TroubledStore()
    let server = try await TestServer(store: store)
    var (x, o, m, _) = try RawPeer.pair(server.port)
    store.trouble.withLock { $0 = .unknown }
    let players = [x, o]
    for (ply, cell) in ["b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"].enumerated() {
      let (mover, other) = (players[ply % 2], players[1 - ply % 2])
      let command = #"{"t":"move","id":"r\#(ply)","m":"\#(m)","ply":\#(ply),"cell":"\#(cell)","mid":"p\#(ply)"}"#
      #expect(try await insist(mover, command, id: "r\(ply)").contains(#""t":"ok""#))
      try other.wait(#""ply":\#(ply),"#)
    }
    try players[1].wait(#""k":"end""#)
    store.trouble.withLock { $0 = nil }
    (x, o, m, _) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    try await server.stop()
    var checker = HistoryChecker()
    try checker.check(store)
    #expect(checker.faults == [])
  }

  @Test
  func `while another program locks the SQLite file, the server is not ready and logins are refused, not delayed`()
    async throws
  {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let store = try SQLiteStore(path: path)
    let server = try await TestServer(store: store, lobby: quick)
    let other = try SQLiteConnection(path)
    try other.execute("BEGIN IMMEDIATE")
    let peer = try RawPeer(server.port)
    peer.type(#"{"t":"hello","v":[1]}"#)
    // At most one other write comes before the login. Each of them waits a second for the database's lock, and then fails.
    #expect(try peer.wait(#""t":"bye""#, within: 10).contains("restart"))
    #expect(try await !server.host.reachesStore())
    try other.execute("ROLLBACK")
    for _ in 0..<500 where try await !server.host.reachesStore() { try await Task.sleep(for: .milliseconds(20)) }
    try RawPeer(server.port).hello()
    #expect(server.host.whyNotReady == nil)
    try await server.stop()
    store.close()
  }

  @Test func `a hanging disk does not keep a server from stopping`() async throws {
    let store = TroubledStore()
    let server = try await TestServer(store: store) { $0.drainSeconds = 0 }
    let (x, _, m, _) = try RawPeer.pair(server.port)
    store.isHeld.withLock { $0 = true }
    x.move(m, 0, "b2")
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        store.waitUntilHeld()
        continuation.resume()
      }
    }
    await server.listener.stop()
    let said = x.rest()
    #expect(said.last?.contains(#""t":"bye""#) == true && !said.contains { $0.contains(#""re":"r0""#) }, "\(said)")
    store.isHeld.withLock { $0 = false }
    try await server.stop()
  }
}
