import Base
import Foundation
import MatchProtocol
import ServerTestSupport
import Synchronization
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

@Suite struct PromiseEndToEndTests {
  @Test func `no id that a client can send equals one of the server's own`() async throws {
    let server = try await TestServer()
    let (x, o, m, _) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2", mid: "srv-4")
    try x.wait(#""re":"r0""#)
    o.move(m, 1, "c3")
    try x.wait(#""ply":1"#)
    x.type("move a1")
    #expect(try !x.wait(#""t":"ok""#).contains(#""re""#), "the answer to a bare command has no `re`")
    #expect(try !o.wait(#""cell":"a1""#).contains("srv-4"))
    try await server.stop()
  }

  @Test func `a corrupt log ends its match and affects no other`() async throws {
    let store = MemoryStore()
    let server = try await TestServer(store: store)
    let (x, _, m, resume) = try RawPeer.pair(server.port)
    let (x2, o2, m2, _) = try RawPeer.pair(server.port)
    let id = try #require(MatchID(rawValue: m))
    let there = try #require(try store.match(id)?.bodies.count)
    let strange = Array(#"{"k":"move","at":1}"#.utf8)
    let node = server.host.node
    #expect(store.apply([StoreUnit(logs: [.init(id, after: there, [strange])])]) == [.applied([id: [node]])])
    x.move(m, 0, "b2")
    x2.move(m2, 0, "b2")
    try o2.wait(#""cell":"b2""#)
    #expect(try x.wait(#""t":"bye""#).contains("is broken; come back"))
    // Before the match's end is stored, a returning player is still offered the match.
    while try store.match(id)?.record.ended == nil { await Task.yield() }
    let back = try RawPeer(server.port)
    #expect(try back.hello(#""resume":"\#(resume[0])""#).contains(#""matches":[]"#))
    back.move(m, 0, "b2")
    #expect(try back.wait(#""re":"r0""#).contains("broken"))
    #expect(try await server.host.inspect { $0.gauges.contains { $0.name == "broken_matches" && $0.value > 0 } })
    try await server.stop()
  }

  @Test func `a server that ends waits for its store's running calls`() async throws {
    let store = TroubledStore()
    let server = try await TestServer(store: store)
    let (x, _, m, _) = try RawPeer.pair(server.port)
    store.isHeld.withLock { $0 = true }
    x.move(m, 0, "b2")
    store.waitUntilHeld()
    try await server.host.drain(retry: 0, within: 0)
    store.isHeld.withLock { $0 = false }
    try await server.host.finish()
    #expect(store.running.withLock { $0 } == 0, "a commit is still running")
    try await server.stop()
  }

  @Test func `while the disk stalls, commands that need the disk are refused in time, and others are answered`()
    async throws
  {
    var lobby = LobbyConfiguration()
    lobby.maxWait = 250
    let store = TroubledStore()
    let server = try await TestServer(store: store, lobby: lobby)
    let (x, o, m, _) = try RawPeer.pair(server.port)
    // `o2` stays connected, because a disconnect would be a change, which the stalled store could not store.
    let (x2, o2, m2, _) = try RawPeer.pair(server.port)
    defer { withExtendedLifetime(o2) {} }
    let reader = try RawPeer(server.port)
    try reader.hello()
    store.isHeld.withLock { $0 = true }
    x.move(m, 0, "b2")
    store.waitUntilHeld()
    // After `maxWait` the lobby refuses all changes until the move is stored.
    while try await !server.host.inspect({ $0.isBusy(at: Moment.current.monotonic) }) { await Task.yield() }
    for (i, command) in [#""t":"me""#, #""t":"top""#, #""t":"list""#].enumerated() {
      reader.type(#"{"id":"q\#(i)",\#(command)}"#)
      try reader.wait(#""re":"q\#(i)""#)
    }
    o.type(#"{"t":"say","id":"s","m":"\#(m)","text":"hm"}"#)
    try o.wait(#""re":"s""#)
    x2.move(m2, 0, "b2")
    #expect(try x2.wait(#""re":"r0""#).contains(#""code":"busy""#))
    // No client sees an event before it is stored, not even the mover.
    x.type(#"{"t":"sync","id":"y","m":"\#(m)","seq":0}"#)
    x.type(#"{"t":"ping","ts":1}"#)
    // `b2` alone is in the random match id once in a hundred runs.
    while let line = x.line(within: 20), !line.contains(#""t":"pong""#) {
      #expect(!line.contains(#""cell":"b2""#) && !line.contains(#""re":"r0""#), "\(line)")
    }
    let late = try RawPeer(server.port)
    late.type(#"{"t":"hello","v":[1]}"#)
    #expect(try late.wait(#""t":"bye""#).contains("restart"))
    store.isHeld.withLock { $0 = false }
    #expect(try x.wait(#""re":"r0""#).contains(#""t":"ok""#))
    try x.wait(#""re":"y""#)
    try o.wait(#""cell":"b2""#)
    try await server.stop()
  }

  @Test func `an administrator's order is acknowledged when it is durable`() async throws {
    let store = TroubledStore()
    let server = try await TestServer(store: store)
    let peer = try RawPeer(server.port)
    #expect(try peer.hello(#""guest":"ann""#).contains("guest-ann"))
    store.isHeld.withLock { $0 = true }
    let isAnswered = Mutex(false)
    let host = server.host
    let order = Task {
      let isKnown = try await host.administer(.player("guest-ann", .mute))
      isAnswered.withLock { $0 = true }
      return isKnown
    }
    store.waitUntilHeld()
    for _ in 0..<100 { await Task.yield() }
    #expect(!isAnswered.withLock { $0 })
    store.isHeld.withLock { $0 = false }
    #expect(try await order.value)
    try await server.stop()
  }

  @Test func `slow history pages do not delay other questions`() async throws {
    let store = TroubledStore()
    let server = try await TestServer(store: store)
    let reader = try RawPeer(server.port)
    try reader.hello()
    store.isHistoryHeld.withLock { $0 = true }
    reader.type(#"{"t":"history","id":"h"}"#)
    store.waitUntilHeld()
    let other = try RawPeer(server.port)
    try other.hello()
    other.type(#"{"t":"sync","id":"s","m":"nosuchmatch","seq":0}"#)
    #expect(try other.wait(#""re":"s""#).contains("not_found"))
    store.isHistoryHeld.withLock { $0 = false }
    try reader.wait(#""re":"h""#)
    try await server.stop()
  }

  @Test func `connections from this computer are not limited by address`() async throws {
    let server = try await TestServer { $0.maxPerAddress = 2 }
    let peers = try (0..<5).map { _ in try RawPeer(server.port) }
    for peer in peers { try peer.hello() }
    try await server.stop()
  }
}
