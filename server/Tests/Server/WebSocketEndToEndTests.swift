import Base
import Foundation
import MatchProtocol
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// Tests of what is special to WebSockets: handshake, frames, origin. Sessions in general are in `WireEndToEndTests`.
@Suite(.serialized) struct WebSocketEndToEndTests {
  @Test func `a whole game is played between a TCP line and a WebSocket with one-byte fragments`()
    async throws
  {
    let server = try await TestServer()
    let page = try RawPeer(server.page.port, web: true), window = try RawPeer(server.port)
    var x = page, o = window
    for peer in [page, window] { try peer.hello() }
    for peer in [page, window] { peer.type(#"{"t":"seek","clock":"60+2","rated":false,"key":"k"}"#) }
    let paired = try page.wait(#""t":"paired""#)
    let m = try #require(RawPeer.field("m", paired))
    if RawPeer.field("side", paired) == "o" { swap(&x, &o) }
    for peer in [x, o] { try peer.wait(#""k":"start""#) }
    for (ply, cell) in ["b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1", "c1"].enumerated() {
      let line = #"{"t":"move","m":"\#(m)","ply":\#(ply),"cell":"\#(cell)","mid":"p\#(ply)"}"#
      let mover = ply % 2 == 0 ? x : o
      if mover === page {
        for byte in line.utf8 { page.send([byte]) }
        // A control frame, here a ping, may come between a message's frames.
        page.sendRaw(WebSocketFrames.frame(0x89, [UInt8(ply)]))
        page.send([0x0A])
      } else {
        mover.type(line)
      }
      for peer in [x, o] { try peer.wait(#""ply":\#(ply),"cell":"\#(cell)""#) }
    }
    for peer in [x, o] { try peer.wait(#""result":"draw","reason":"normal""#) }
    #expect(page.frames?.pongs == (x === page ? [0, 2, 4, 6, 8] : [1, 3, 5, 7]).map { [$0] })
    page.type("bye")
    try page.wait(#""t":"bye","code":"bye""#)
    _ = page.rest(pause: 20)
    #expect(page.frames?.closeCode == 1000 && page.isAtEnd)
    try await server.stop()
  }

  @Test func `invalid frames end the connection with the right close code`() async throws {
    let server = try await TestServer()
    let text = Array("me".utf8)
    let long = [UInt8](repeating: 0x20, count: WebSocketLines.mostFrame + 1)
    let wrong: [(String, Int, [[UInt8]])] = [
      ("unmasked", 1002, [WebSocketFrames.frame(0x81, text, isMasked: false)]),
      ("a reserved bit", 1002, [WebSocketFrames.frame(0xC1, text)]),
      ("an unknown kind", 1002, [WebSocketFrames.frame(0x83, text)]),
      ("binary", 1003, [WebSocketFrames.frame(0x82, text)]),
      ("the middle of nothing", 1002, [WebSocketFrames.frame(0x80, text)]),
      ("a message in a message", 1002, [WebSocketFrames.frame(0x01, text), WebSocketFrames.frame(0x81, text)]),
      ("a ping in pieces", 1002, [WebSocketFrames.frame(0x09, text)]),
      ("a ping of 126", 1002, [WebSocketFrames.frame(0x89, Array(long.prefix(126)))]),
      ("too long", 1009, [WebSocketFrames.frame(0x81, long)]),
      ("too long, it says", 1009, [WebSocketFrames.frame(0x81, text, length: Int(UInt32.max))]),
      ("longer than memory", 1009, [WebSocketFrames.frame(0x81, text, length: Int.max)]),
      ("pings for ever", 1008, Array(repeating: WebSocketFrames.frame(0x89, []), count: 1001)),
      ("pongs for ever", 1008, Array(repeating: WebSocketFrames.frame(0x8A, []), count: 1001)),
      (
        "a message of nothing for ever", 1008,
        [WebSocketFrames.frame(0x01, text)] + Array(repeating: WebSocketFrames.frame(0x00, []), count: 1001)
      ), ("its own end", 1000, [WebSocketFrames.frame(0x88, [0x03, 0xE9])]),
    ]
    for (what, code, frames) in wrong {
      let peer = try RawPeer(server.page.port, web: true)
      try peer.hello()
      for frame in frames { peer.sendRaw(frame) }
      _ = peer.rest(pause: 20)
      #expect(peer.frames?.closeCode == code && peer.isAtEnd, "\(what): \(peer.frames?.closeCode ?? 0)")
    }
    // Random bytes are invalid or empty frames: the server must survive them.
    var random = SplitMix64(seed: 18)
    for _ in 0..<200 {
      let peer = try RawPeer(server.page.port, web: true)
      peer.sendRaw((0..<random.below(600)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      peer.hangUp(reset: random.below(2) == 0)
    }
    try RawPeer(server.page.port, web: true).hello()
    try await server.stop()
  }

  @Test
  func `a WebSocket request without handshake, from a foreign page or to a stopped server is refused with the reason`()
    async throws
  {
    let server = try await TestServer()
    let handshake = WebSocketFrames.request.dropFirst(2).map { $0 }
    func ask(_ headers: [String], method: String = "GET") throws -> (status: Int, head: String, body: String) {
      try RawPeer(server.page.port).http("play", method: method, headers: headers)
    }
    let plain = try ask([])
    #expect(plain.status == 426 && plain.head.lowercased().contains("upgrade: websocket"))
    #expect(try ask(handshake, method: "HEAD").status == 426)
    let old = try ask(handshake.dropLast() + ["Sec-WebSocket-Version: 8"])
    #expect(old.status == 400 && old.head.lowercased().contains("sec-websocket-version: 13"))
    #expect(try ask(handshake.filter { !$0.contains("Key") }).status == 400)
    for origin in ["http://evil.example", "https://localhost:1", "null", "http://localhost.evil.example", "localhost"] {
      let answer = try ask(handshake + ["Origin: \(origin)"])
      #expect(answer.status == 403 && answer.body == "not for a page from \(origin)\n")
    }
    for origin in ["http://localhost", "https://localhost", "https://elsewhere.example"] {
      try RawPeer(server.page.port, web: true, headers: ["Origin: \(origin)"]).hello()
    }
    await server.listener.stop()
    #expect(try ask(handshake).status == 503)
    try await server.stop()
  }

  @Test func `a connection used for pages can become a WebSocket, as reverse proxies do`() async throws {
    let server = try await TestServer()
    let peer = try RawPeer(server.page.port)
    for _ in 0..<2 { peer.send(Array("HEAD /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)) }
    for _ in 0..<2 { _ = peer.rest { $0 == "\r" } }
    try peer.shakeHands()
    try peer.hello()
    try await server.stop()
  }

  @Test func `a proxy that names no clients is reported in the log, once`() throws {
    let server = ServerChild(TemporaryFolder())
    try server.start(["--proxy-from", "127.0.0.0/8"], pages: true)
    let port = try #require(server.port(of: "page"))
    try RawPeer(port, web: true, headers: ["X-Forwarded-For: 203.0.113.7"]).hello()
    for _ in 0..<2 { try RawPeer(port, web: true).hello() }
    #expect(server.logs("a proxy sends no X-Forwarded-For: all its clients count as one proxy=127.0.0.1"))
    // The log is written in order: a second report would come before the line that the server writes when it ends.
    #expect(server.stop() == 0)
    #expect(server.logText.components(separatedBy: "a proxy sends no X-Forwarded-For").count == 2, "\(server.logText)")
  }

  @Test func `forwarded addresses count for the limits if the proxy is trusted, and are ignored otherwise`()
    async throws
  {
    let server = try await TestServer {
      $0.proxies = ["127.0.0.0/8", "10.0.0.0/8"].compactMap { AddressRange($0) }
      $0.maxPerAddress = 2
    }
    let named = [
      ["X-Forwarded-For: 203.0.113.7"], ["X-Forwarded-For: 198.51.100.1, 203.0.113.7, 10.1.2.3"],
      ["X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 2001:db8:7::1"], ["X-Forwarded-For: nonsense"], [],
    ]
    let peers = try named.map { try RawPeer(server.page.port, web: true, headers: $0) }
    for peer in peers { try peer.hello() }
    let addresses = try await server.host.inspect { $0.people.connections.values.compactMap(\.address) }
    #expect(addresses.sorted() == ["203.0.113.7", "203.0.113.7", "20:1:d:b8:0:7:0:0"].sorted())
    let third = try RawPeer(server.page.port, web: true, headers: named[0])
    try third.wait(#""t":"bye","code":"full""#)
    _ = third.rest(pause: 20)
    #expect(third.isAtEnd)
    try await server.stop()
    let other = try await TestServer { $0.proxies = ["10.0.0.0/8"].compactMap { AddressRange($0) } }
    try RawPeer(other.page.port, web: true, headers: named[0]).hello()
    #expect(try await other.host.inspect { $0.people.connections.values.compactMap(\.address) } == [])
    try await other.stop()
  }
}
