import Base
import Foundation
import MatchClient
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore
@testable import ServerTransport

/// Tests that take seconds run over TCP alone, unless all tests run.
private let slowTransports = runsAll ? [false, true] : [false]

@Suite(.serialized) struct WireEndToEndTests {
  @Test(arguments: [false, true]) func `a whole game arrives one byte at a time`(web: Bool) async throws {
    let server = try await TestServer()
    let (x, o, m, _) = try RawPeer.pair(server.port(web: web), web: web)
    for (ply, cell) in ["b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1", "c1"].enumerated() {
      let line = #"{"t":"move","id":"r\#(ply)","m":"\#(m)","ply":\#(ply),"cell":"\#(cell)","mid":"p\#(ply)"}"#
      (ply % 2 == 0 ? x : o).type(line, pieces: 1)
      for peer in [x, o] { try peer.wait(#""ply":\#(ply),"cell":"\#(cell)""#) }
    }
    for peer in [x, o] { try peer.wait(#""result":"draw","reason":"normal""#) }
    try await server.stop()
  }

  @Test(arguments: slowTransports)
  func `lines that are too long, not UTF-8 or not JSON are refused, and the third ends the connection`(web: Bool)
    async throws
  {
    let server = try await TestServer()
    let wrong: [[UInt8]] = [
      Array(repeating: UInt8(ascii: "x"), count: 5000), [0x7B, 0xFF, 0xFE, 0x7D], Array("{\"t\":".utf8),
      Array(#"{"t":"hello","v":[1],"caps":[[[[["deep"]]]]]}"#.utf8), Array(repeating: UInt8(ascii: "{"), count: 4000),
      Array(#"{"t":"me","t":"top"}"#.utf8), [UInt8(ascii: "h"), 0xC3, 0x28],
    ]
    for bytes in wrong {
      let peer = try RawPeer(server.port(web: web), web: web)
      try peer.hello()
      peer.send(bytes + [0x0A])
      try peer.wait(#""code":"bad_request""#)
      peer.type("me")
      try peer.wait(#""t":"page","of":"me""#)
      for _ in 0..<2 { peer.send(bytes + [0x0A]) }
      try peer.wait(#""t":"bye","code":"malformed""#)
      _ = peer.rest(pause: 20)
      #expect(peer.isAtEnd)
    }
    // A line that is too long is refused once, before its end arrives. A line without an end counts as a flood.
    let endless = try RawPeer(server.port(web: web), web: web)
    try endless.hello()
    for _ in 0..<2 { endless.send(Array(repeating: UInt8(ascii: "y"), count: 12_288)) }
    try endless.wait(#""code":"bad_request""#)
    endless.send([0x0A])
    endless.type("me")
    try endless.wait(#""t":"page","of":"me""#)
    for _ in 0..<32 { endless.send(Array(repeating: UInt8(ascii: "y"), count: 12_288)) }
    try endless.wait(#""t":"bye","code":"flood""#)
    try await server.stop()
  }

  @Test(arguments: slowTransports) func `a flooding client is slowed, then closed, and others play on`(web: Bool)
    async throws
  {
    let server = try await TestServer()
    let (x, o, m, _) = try RawPeer.pair(server.port(web: web), web: web)
    let flooder = try RawPeer(server.port(web: web), web: web)
    try flooder.hello()
    flooder.send(Array(String(repeating: "me\n", count: 5000).utf8))
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    let lines = flooder.rest(pause: 20)
    #expect(flooder.isAtEnd)
    #expect(lines.filter { $0.contains(#""of":"me""#) }.count <= 41)
    #expect(lines.filter { $0.contains(#""code":"rate""#) }.count == 100)
    #expect(lines.last?.contains(#""t":"bye","code":"flood""#) == true)
    try await server.stop()
  }

  @Test(arguments: [false, true])
  func `a repeated command changes nothing, and a different one with the same mid is refused`(web: Bool) async throws {
    let server = try await TestServer()
    let (x, o, m, resume) = try RawPeer.pair(server.port(web: web), web: web)
    x.move(m, 0, "b2")
    let answer = try x.wait(#""t":"ok""#)
    for _ in 0..<3 {
      x.move(m, 0, "b2")
      #expect(try x.wait(#""t":"ok""#) == answer)
    }
    x.move(m, 0, "a1")
    try x.wait(#""code":"mid_reused""#)
    x.move(m, 0, "a1", mid: "other")
    try x.wait(#""code":"stale_ply""#)
    let again = try RawPeer(server.port(web: web), web: web)
    try again.hello(#""resume":"\#(resume[0])""#)
    again.move(m, 0, "b2")
    #expect(try again.wait(#""t":"ok""#) == answer)
    let thief = try RawPeer(server.port(web: web), web: web)
    try thief.hello()
    thief.move(m, 0, "b2")
    try thief.wait(#""code":"forbidden""#)
    o.move(m, 1, "a1")
    try o.wait(#""t":"ok","re":"r1","m":"\#(m)","#)
    let moves = try await server.host.inspect { lobby in lobby.matches.values.map(\.state.moves.count) }
    #expect(moves == [2])
    try await server.stop()
  }

  @Test(arguments: [false, true]) func `a resumed session ends its first connection`(web: Bool)
    async throws
  {
    let server = try await TestServer()
    let first = try RawPeer(server.port(web: web), web: web)
    let resume = try #require(RawPeer.field("resume", try first.hello()))
    let second = try RawPeer(server.port(web: web), web: web)
    try second.hello(#""resume":"\#(resume)""#)
    try first.wait(#""t":"bye","code":"replaced""#)
    _ = first.rest(pause: 20)
    #expect(first.isAtEnd)
    second.type("me")
    try second.wait(#""of":"me""#)
    try await server.stop()
  }

  @Test(arguments: slowTransports)
  func `silent peers are disconnected, their opponent is told, and they can resume`(web: Bool) async throws {
    let server = try await TestServer {
      $0.session.heartbeat = 300
      $0.session.silence = 1500
      $0.session.helloWithin = 700
    }
    let mute = try RawPeer(server.port(web: web), web: web)
    let (x, o, m, resume) = try RawPeer.pair(server.port(web: web), web: web)
    // O sends nothing, as if its cable had been pulled. X answers heartbeats inside `wait`.
    let gone = try x.wait(#""t":"gone","m":"\#(m)","side":"o""#)
    #expect(RawPeer.field("in_ms", gone) == "40000")
    try mute.wait(#""code":"timeout","msg":"no hello"#)
    let back = try RawPeer(server.port(web: web), web: web)
    try back.hello(#""resume":"\#(resume[1])""#)
    try back.wait(#""t":"state","m":"\#(m)""#)
    try x.wait(#""k":"back""#)
    #expect(o.rest(pause: 20).last?.contains(#""code":"timeout""#) == true)
    try await server.stop()
  }

  @Test(arguments: slowTransports)
  func `a client that does not read is dropped without effect on others, and can resume`(web: Bool)
    async throws
  {
    let server = try await TestServer {
      $0.sendBuffer = 8192
      ($0.session.rate, $0.session.burst) = (1_000_000, 1_000_000)
    }
    let (x, o, m, resume) = try RawPeer.pair(server.port(web: web), web: web, receiveBuffer: 4096)
    let open = try await server.host.inspect { $0.people.connections.count }
    for _ in 0..<1500 { guard o.type("help") else { break } }
    try x.wait(#""k":"gone""#, within: 60)
    #expect(try await server.host.inspect { $0.people.connections.count } == open - 1)
    x.move(m, 0, "b2")
    try x.wait(#""t":"ok""#)
    let back = try RawPeer(server.port(web: web), web: web)
    try back.hello(#""resume":"\#(resume[1])""#)
    #expect(try back.wait(#""t":"state""#).contains(#""moves":["b2"]"#))
    try await server.stop()
  }

  @Test(arguments: slowTransports)
  func `a slow reader misses chat but no event, and a slow spectator gets the newest state`(web: Bool) async throws {
    let server = try await TestServer {
      $0.sendBuffer = 8192
      ($0.session.rate, $0.session.burst) = (1_000_000, 1_000_000)
    }
    let (x, o, m, _) = try RawPeer.pair(server.port(web: web), web: web, receiveBuffer: 4096)
    let watcher = try RawPeer(server.port(web: web), web: web, receiveBuffer: 4096)
    try watcher.hello()
    watcher.type(#"{"t":"watch","m":"\#(m)"}"#)
    try watcher.wait(#""t":"state""#)
    // 240 answers to `help`, of about 600 bytes each, fill the kernel's buffers and exceed 64 KiB, above which the server drops chat, but
    // not 256 KiB, above which the server disconnects a reader.
    for peer in [o, watcher] { for _ in 0..<240 { peer.type("help") } }
    // Once X sees O's chat line, and the queue has the spectator's seek, the server has read all earlier lines of O and of the spectator.
    o.type(#"{"t":"say","id":"s","m":"\#(m)","text":"mark"}"#)
    try x.wait(#""text":"mark""#)
    watcher.type(#"{"t":"seek","clock":"60+2","rated":false,"key":"mark"}"#)
    for _ in 0..<10_000 where try await server.host.inspect({ $0.matchmaker.queue.isEmpty }) {
      try await Task.sleep(for: .milliseconds(2))
    }
    for i in 0..<5 { x.type(#"{"t":"say","id":"s","m":"\#(m)","text":"line \#(i)"}"#) }
    x.move(m, 0, "b2")
    try x.wait(#""t":"ok","re":"r0""#)
    o.move(m, 1, "a1")
    try x.wait(#""ply":1"#)
    x.move(m, 2, "c3")
    try x.wait(#""t":"ok","re":"r2""#)
    let toPlayer = o.rest()
    #expect(toPlayer.filter { $0.contains(#""t":"help""#) }.count == 240)
    #expect(toPlayer.filter { $0.contains(#""t":"chat""#) }.isEmpty, "chat is dropped")
    for ply in 0..<3 { #expect(toPlayer.contains { $0.contains(#""k":"move""#) && $0.contains(#""ply":\#(ply)"#) }) }
    let toWatcher = watcher.rest()
    #expect(!toWatcher.contains { $0.contains(#""k":"move""#) })
    #expect(toWatcher.last { $0.contains(#""t":"state""#) }?.contains(#""moves":["b2","a1","c3"]"#) == true)
    // The spectator has the newest state, so the next move comes as an event.
    o.move(m, 3, "a3")
    try watcher.wait(#""ply":3"#)
    try await server.stop()
  }

  @Test(arguments: slowTransports) func `a thousand connections that send nonsense and break leave no state`(
    web: Bool
  ) async throws {
    let server = try await TestServer()
    var random = SplitMix64(seed: 8)
    for i in 0..<1000 {
      let peer = try RawPeer(server.port(web: web), web: web)
      switch i % 4 {
      case 0: break
      case 1: peer.send((0..<random.below(200)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      case 2: peer.type(#"{"t":"hello","v":[1]}"#)
      default: peer.type("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      }
      peer.hangUp(reset: i % 3 == 0)
    }
    let end = Date().addingTimeInterval(60)  // half of it is needed with a sanitizer on a busy machine
    // Connections are accepted in order: once the last one is answered, all are accepted.
    let last = try RawPeer(server.port(web: web), web: web)
    try last.hello()
    last.hangUp()
    var quiet = 0
    while quiet < 25, Date() < end {
      quiet = try await server.host.inspect { $0.people.connections.count == 0 } ? quiet + 1 : 0
      try await Task.sleep(for: .milliseconds(20))
    }
    let left = try await server.host.inspect {
      ($0.people.connections.count, $0.matchmaker.queue.count, $0.matches.count)
    }
    #expect(left == (0, 0, 0))
    let (x, o, m, _) = try RawPeer.pair(server.port(web: web), web: web)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    try await server.stop()
  }

  @Test
  func `every game continues and every log stays consistent over a network that delays, splits and breaks connections`()
    async throws
  {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.path + "/m.sqlite")
    let server = try await TestServer(store: store) { ($0.session.rate, $0.session.burst) = (1000, 1000) }
    let proxy = try await FlakyProxy(to: server.port, seed: 5)
    let crowd = Crowd()
    let (games, cuts) = (amount("FLAKY_GAMES", quick: 12, all: 60), amount("FLAKY_CUTS", quick: 4, all: 15))
    crowd.join(8, port: proxy.port)
    try await crowd.play { crowd.games >= games && proxy.broken >= cuts }
    #expect(
      crowd.games >= games && proxy.broken >= cuts, "\(crowd.games) ends seen, \(proxy.broken) connections broken")
    crowd.leave()
    try await server.stop()
    try await proxy.stop()
    try crowd.checker.check(store)
    #expect(crowd.checker.faults == [])
    print("bad network: \(proxy.broken) connections broken, \(crowd.moves) moves and \(crowd.games) ends seen")
  }

  @Test(arguments: [false, true])
  func `the greeting precedes every answer, even to early messages`(web: Bool) async throws {
    let server = try await TestServer(threads: 2)
    for _ in 0..<60 {
      let peer = try RawPeer(server.port(web: web), web: web)
      peer.type(#"{"t":"ping","ts":1}"#)
      let lines = [try peer.wait(#""t":"#), try peer.wait(#""t":"#)]
      #expect(lines[0].contains(#""t":"hello""#) && lines[1].contains(#""t":"pong""#), "\(lines)")
    }
    try await server.stop()
  }
}
