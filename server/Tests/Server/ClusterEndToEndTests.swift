import Foundation
import MatchClient
import MatchProtocol
import PostgresStore
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// Three nodes in this process that share a PostgreSQL database.
final class TestCluster {
  private(set) var nodes: [TestServer] = []
  private let url: String

  init(_ count: Int = 3) async throws {
    url = try PostgresTestBed.shared.freshURL()
    for _ in 0..<count { nodes.append(try await TestServer(store: try store())) }
    for node in nodes {
      for _ in 0..<400 {
        if try await node.host.inspect({ $0.otherNodes.count }) == count - 1 { break }
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(try await node.host.inspect { $0.otherNodes.count } == count - 1, "the nodes do not find each other")
    }
  }

  func store() throws -> PostgresStore { try PostgresStore(try PGAddress(url)) }

  /// The client learns of the other nodes from the server.
  func client(_ node: Int, _ guest: String) -> Watcher { Watcher(nodes[node].client(guest)) }

  func stop(_ i: Int) async throws { try await nodes.remove(at: i).stop() }

  func finish() async throws {
    while !nodes.isEmpty { try await stop(0) }
    var checker = HistoryChecker()
    let store = try store()
    defer { store.close() }
    try checker.check(store)
    #expect(checker.faults.isEmpty, "\(checker.faults)")
  }
}

@Suite(.serialized) struct ClusterEndToEndTests {
  private func pair(_ cluster: TestCluster, _ a: Int, _ b: Int) async throws -> (x: Watcher, o: Watcher, m: MatchID) {
    let one = cluster.client(a, "one")
    let other = cluster.client(b, "two")
    let welcome = try await one.online()
    #expect(welcome.nodes.count == cluster.nodes.count - 1)
    _ = try await other.online()
    one.client.perform(.seek(MatchTerms()))
    other.client.perform(.seek(MatchTerms()))
    let (m, side) = try await one.paired()
    _ = try await other.paired()
    for watcher in [one, other] { try await live(watcher, m) }
    return side == .x ? (one, other, m) : (other, one, m)
  }

  private func live(_ watcher: Watcher, _ m: MatchID) async throws {
    if watcher.client.match(m)?.state.phase == .live { return }
    _ = try await watcher.wait("the start") { event -> Bool? in
      switch event {
      case .event(m, _, _), .state(m): watcher.client.match(m)?.state.phase == .live ? true : nil
      default: nil
      }
    }
  }

  @Test func `players on two nodes play a match with chat and rematch, watched from a third`() async throws {
    let cluster = try await TestCluster()
    var (x, o, m) = try await pair(cluster, 0, 1)
    let viewer = cluster.client(2, "viewer")
    _ = try await viewer.online()
    viewer.client.perform(.watch(m, code: nil))
    _ = try await viewer.wait("the board") { if case .state(m) = $0 { true } else { nil } }
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7].enumerated() {
      (ply % 2 == 0 ? x : o).client.perform(.move(m, Cell(cell)))
      for watcher in [x, o, viewer] { try await watcher.move(ply: ply) }
    }
    x.client.perform(.say(m, "nearly"))
    _ = try await o.wait("the word") { if case .chat(m, _, "nearly"?, _) = $0 { true } else { nil } }
    x.client.perform(.move(m, Cell(8)))
    for watcher in [x, o, viewer] {
      _ = try await watcher.event("the end") { if case .end = $0 { true } else { false } }
    }
    x.client.perform(.rematch(m))
    _ = try await o.event("the wish") { if case .rematch = $0 { true } else { false } }
    o.client.perform(.rematch(m))
    let next = try await x.paired()
    #expect(next.1 == .o)
    try await live(x, next.0)
    try await live(o, next.0)
    (x, o) = (o, x)
    m = next.0
    x.client.perform(.move(m, Cell(4)))
    try await o.move(ply: 0)
    for watcher in [x, o, viewer] { watcher.client.disconnect() }
    try await cluster.finish()
  }

  @Test func `sixty players who seek at once on three nodes are all paired`() async throws {
    let cluster = try await TestCluster()
    let crowd = (0..<60).map { cluster.client($0 % 3, "crowd\($0)") }
    for watcher in crowd { _ = try await watcher.online() }
    for watcher in crowd { watcher.client.perform(.seek(MatchTerms())) }
    var seats: [MatchID: Set<Player>] = [:]
    for watcher in crowd {
      let (m, side) = try await watcher.paired()
      #expect(seats[m, default: []].insert(side).inserted)
    }
    #expect(seats.count == 30 && seats.values.allSatisfy { $0.count == 2 })
    for watcher in crowd { watcher.client.disconnect() }
    try await cluster.finish()
  }

  @Test func `a node that stops delays no match, and its players continue on other nodes`() async throws {
    let cluster = try await TestCluster()
    let (x, o, m) = try await pair(cluster, 0, 1)
    x.client.perform(.move(m, Cell(4)))
    try await o.move(ply: 0)
    let before = MatchClient.now
    try await cluster.stop(0)
    o.client.perform(.move(m, Cell(0)))
    try await o.move(ply: 1)
    // A player who reconnects after the move gets the move as a part of the state.
    _ = try await x.wait("ply 1, or the board") { event in
      switch event {
      case .state(m): true
      case .event(m, _, let event): if case .move(1, _, _) = event.kind { true } else { nil }
      default: nil
      }
    }
    print("a match went on \(MatchClient.now - before) ms after a node of its players began to stop")
    x.client.perform(.resign(m))
    _ = try await o.event("the end") { if case .end = $0 { true } else { false } }
    x.client.disconnect()
    o.client.disconnect()
    try await cluster.finish()
  }

  @Test func `rooms are joined from every node, also by bare commands, and names are unique across nodes`() async throws
  {
    let cluster = try await TestCluster()
    let host = cluster.client(0, "host")
    _ = try await host.online()
    host.client.perform(.create(MatchTerms()))
    let (m, code) = try await host.wait("the room") {
      if case .room(let m, let code, _) = $0 { (m, code) } else { nil }
    }
    let peer = try RawPeer(cluster.nodes[2].port)
    peer.type("hello guest")
    try peer.wait(#""t":"welcome""#)
    peer.type("join \(code.lowercased())")
    try peer.wait(#""t":"event""#)
    try await live(host, m)
    let isX = host.client.match(m)?.you == .o
    if isX {
      peer.type("move b2")
      try await host.move(ply: 0)
    } else {
      host.client.perform(.move(m, Cell(4)))
      try peer.wait(#""ply":0"#)
      peer.type("move a1")
      try await host.move(ply: 1)
    }
    peer.type("register Someone")
    try peer.wait(#""t":"token""#)
    host.client.perform(.register("SOMEONE"))
    _ = try await host.wait("the refusal") { if case .refused(.name, _, _) = $0 { true } else { nil } }
    peer.type("resign")
    _ = try await host.event("the end") { if case .end = $0 { true } else { false } }
    peer.type("me")
    try peer.wait(#""name":"Someone""#)
    host.client.disconnect()
    try await cluster.finish()
  }

  @Test func `a ban or mute on one node applies on all nodes`() async throws {
    let cluster = try await TestCluster(2)
    let (one, other) = (try RawPeer(cluster.nodes[0].port), try RawPeer(cluster.nodes[1].port))
    for (peer, name) in [(one, "one"), (other, "two")] {
      #expect(try peer.hello(#""guest":"\#(name)""#).contains("guest-\(name)"))
    }
    let began = MatchClient.now
    #expect(try await cluster.nodes[0].host.administer(.player("guest-two", .ban)))
    try other.wait(#""t":"bye","code":"banned""#)
    print("a ban reached the other node in \(MatchClient.now - began) ms")
    #expect(MatchClient.now - began < 3000)
    #expect(try await !cluster.nodes[1].host.administer(.player("nobody", .ban)))
    one.hangUp()
    try await cluster.finish()
  }

  @Test func `a session resumed on another node ends on the first and continues its match`() async throws {
    let cluster = try await TestCluster(2)
    let (x, o) = (try RawPeer(cluster.nodes[0].port), try RawPeer(cluster.nodes[1].port))
    let welcome = try x.hello(#""guest":"one""#)
    try o.hello(#""guest":"two""#)
    let resume = try #require(RawPeer.field("resume", welcome))
    for peer in [x, o] { peer.type(#"{"t":"seek","clock":"600+0","rated":false,"key":"k"}"#) }
    let m = try #require(RawPeer.field("m", try x.wait(#""t":"paired""#)))
    try o.wait(#""t":"paired""#)
    let again = try RawPeer(cluster.nodes[1].port)
    try again.hello(#""resume":"\#(resume)""#)
    #expect(try again.wait(#""t":"state""#).contains(m))
    try x.wait(#""t":"bye","code":"replaced""#)
    again.type(#"{"t":"resign","m":"\#(m)","mid":"end"}"#)
    try o.wait(#""reason":"resign""#)
    again.hangUp()
    o.hangUp()
    try await cluster.finish()
  }
}
