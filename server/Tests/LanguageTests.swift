import Foundation
import MatchClient
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore

/// Versions of the log's language: who does not speak an event's is told the state, and who does not read it starts nothing.
@Suite struct LanguageTests {
  @Test func `to a connection that does not speak an event's version the state stands for it`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.lobby.connections[UInt64(o)]?.version = 0
    let viewer = world.login("Cid")
    world.lobby.connections[UInt64(viewer)]?.version = 0
    world.type(viewer, #"{"t":"watch","m":"\#(m)"}"#)
    for connection in [x, o, viewer] { _ = world.heard(connection) }
    world.type(x, #"{"t":"move","id":"c1","m":"\#(m)","ply":0,"cell":"b2","mid":"a"}"#)
    func hash(_ line: String) throws -> String { try #require(RawPeer.field("hash", line)) }
    let event = try #require(world.heard(x).first { $0.contains(#""t":"event""#) })
    for (connection, you) in [(o, #""you":"o""#), (viewer, "")] {
      let lines = world.heard(connection)
      let state = try #require(lines.first { $0.contains(#""t":"state""#) })
      #expect(lines.count == 1 && state.contains(#""moves":["b2"]"#) && state.contains(#""seq":2"#), "\(lines)")
      #expect(you.isEmpty ? !state.contains("you") : state.contains(you))
      #expect(try hash(state).hasPrefix(hash(event)), "both prove the same log")
    }
    // What was missed comes as the state too, and a move by state is as good as any other.
    world.type(o, #"{"t":"sync","id":"c2","m":"\#(m)","seq":1}"#)
    let synced = world.heard(o)
    #expect(synced.count == 1 && synced[0].contains(#""t":"state""#) && synced[0].contains(#""re":"c2""#))
    world.type(o, #"{"t":"move","id":"c3","m":"\#(m)","ply":1,"cell":"a1","mid":"b"}"#)
    #expect(world.heard(o).map { RawPeer.field("t", $0) } == ["state", "ok"])
    world.type(x, #"{"t":"sync","id":"c4","m":"\#(m)","seq":1}"#)
    #expect(world.heard(x).filter { $0.contains(#""t":"event""#) }.count == 3, "one as it came, two again")
    // An export is the log as it is: its hash is made of the bytes.
    world.type(o, #"{"t":"export","id":"c5","m":"\#(m)"}"#)
    #expect(world.heard(o).filter { $0.contains(#""t":"event""#) }.count == 3)
  }

  @Test func `the best version that both ends speak is chosen`() throws {
    var hello = ClientMessage.Hello()
    for (theirs, common) in [([1], 1), ([9, 2, 1], 2), ([9], nil), ([0], nil)] as [([Int], Int?)] {
      hello.versions = theirs
      #expect(hello.common(with: protocolVersions) == common)
    }
    var world = try SteppedLobby()
    let id = world.connect()
    world.type(id, #"{"t":"hello","v":[7,1],"client":"t"}"#)
    #expect(world.heardAny(id, #""t":"welcome","v":1,"#))
    #expect(MatchEvent.newest == 3 && MatchEvent.Kind.recovered.since == 1)
  }

  @Test func `a match is set aside by an event where all read it, and just aborted where one may not`() throws {
    for (language, kind, spoken) in [(2, #""k":"aside","#, "[2,1]"), (1, #""k":"end","#, "[1]")] {
      var configuration = LobbyConfiguration()
      configuration.language = language
      var world = try SteppedLobby(configuration)
      let greeted = world.connect()
      #expect(world.heardAny(greeted, #""t":"hello","server":"alina-server","v":\#(spoken),"#))
      let (x, o, m) = world.pair()
      world.lobby.connections[UInt64(x)]?.version = language
      world.lobby.connections[UInt64(o)]?.version = 1
      for connection in [x, o] { _ = world.heard(connection) }
      world.step(.setAside(try #require(MatchID(rawValue: m))))
      let (new, old) = (world.heard(x), world.heard(o))
      #expect(new.count == 1 && new[0].contains(kind), "\(new)")
      #expect(old.count == 1 && old[0].contains(#""reason":"aborted""#), "\(old)")
      #expect(old[0].contains(language == 1 ? kind : #""phase":"over""#))
      #expect(world.lobby.matches.values.allSatisfy { $0.isOver && $0.record.ended != nil })
    }
  }

  /// A store with a live match whose third event no build knows yet.
  private func later(_ store: any MatchStore) throws {
    let info = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    let bodies = [
      MatchEvent(at: 1, .start(Sides(x: info, o: info), MatchTerms(), confirm: false, previous: nil, keys: [])).body,
      MatchEvent(at: 2, .recovered).body, Array(#"{"k":"teleported","at":3}"#.utf8),
    ]
    let events = bodies.enumerated().map { StoredEvent(seq: $0 + 1, side: nil, mid: nil, body: $1) }
    try store.commit([
      StoreTransaction(
        number: 1,
        writes: [
          .account(someAccount(1, "Ann")), .account(someAccount(2, "Bob")),
          .match(MatchRecord(id: someID(3), x: 1, o: 2, created: 5)), .append(someID(3), after: 0, events),
        ])
    ])
  }

  @Test(arguments: StoreKind.allCases)
  func `a server does not start on a live match that a newer build wrote, and leaves it as it is`(
    kind: StoreKind
  ) async throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    try later(store)
    let error = await #expect(throws: StoreError.self) { _ = try await TestServer(store: store) }
    guard case .tooNew(let text) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(text.contains(someID(3).rawValue) && text.contains("event 3") && text.contains("teleported"))
    #expect(try store.match(someID(3))?.events.count == 3)
  }

  @Test func `the program says so in one line, and ends`() throws {
    let folder = TemporaryFolder()
    try later(try StoreKind.sqlite.make(folder))
    let (code, _, said) = try ServerChild.run([
      "--listen", "127.0.0.1:0", "--data", folder.path, "--no-page", "--no-admin",
    ])
    #expect(code == 1)
    #expect(said.hasPrefix("alina-server: match \(someID(3)), event 3: events of the kind \"teleported\" are newer"))
    #expect(said.split(separator: "\n").count == 1, "\(said)")
  }

  @Test func `in PostgreSQL who is gone a minute is not waited for, and builds that know no versions are shut out`()
    throws
  {
    let bed = PostgresTestBed.shared
    let url = try bed.freshURL()
    let new = try PostgresCluster(try PGAddress(url), reads: 2)
    _ = try new.join(node("a"), lease: 60_000, replacing: nil)
    // As such a build does it, which then dies.
    try bed.sql(
      """
      INSERT INTO node (epoch, name, address, peer, lease_until)
      VALUES (nextval('node_epoch'), 'b', '', '', (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
      """, at: url)
    #expect(try new.renew(lease: 60_000)?.common == 1)
    try new.raiseLanguage()
    #expect(try bed.sql("SELECT l.version, min_reader FROM log_language l, schema", at: url) == [[.int(1), .int(1)]])
    try bed.sql("UPDATE node SET lease_until = lease_until - 60000 WHERE name = 'b'", at: url)
    #expect(try new.renew(lease: 60_000)?.common == 2)
    try new.raiseLanguage()
    #expect(try bed.sql("SELECT l.version, min_reader FROM log_language l, schema", at: url) == [[.int(2), .int(3)]])
    func refusal(_ open: () throws -> Void) -> String? {
      do { try open() } catch StoreError.tooNew(let text) { return text } catch {}
      return nil
    }
    #expect(
      refusal { _ = try PostgresCluster(try PGAddress(url), reads: 1) }?.contains("version 2 are in force") == true)
    try new.leave()
    new.close()
    #expect(refusal { _ = try PostgresStore(try PGAddress(url), reads: 1) }?.contains("version 2 are in force") == true)
    let single = try PostgresStore(try PGAddress(url), reads: 4)
    try single.raiseLanguage()
    single.close()
    #expect(refusal { _ = try PostgresCluster(try PGAddress(url), reads: 3) }?.contains("version 4 are in") == true)
  }
}
