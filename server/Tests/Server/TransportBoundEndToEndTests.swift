import Foundation
import MatchProtocol
import NIOCore
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

@Suite struct TransportBoundEndToEndTests {
  @Test(arguments: [false, true])
  func `a connection stops reading while the lobby is behind, and others do not`(web: Bool) async throws {
    let server = try await TestServer { ($0.session.rate, $0.session.burst) = (1_000_000, 1_000_000) }
    let (peer, other) = (try RawPeer(server.port(web: web), web: web), try RawPeer(server.port))
    for peer in [peer, other] { try peer.hello() }
    let (isHeld, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    server.host.loop.execute {
      isHeld.signal()
      mayGoOn.wait()
    }
    isHeld.wait()
    let count = 40_000
    let line = Array(#"{"t":"unseek"}"#.utf8) + [10]
    var frames = WebSocketFrames()
    let bytes = web ? frames.frames(of: line) : line
    nonisolated(unsafe) let flood = peer
    let sender = Thread { for _ in 0..<count { flood.sendRaw(bytes) } }
    sender.start()
    while server.host.unhandledLines <= LobbyHost.mostUnhandled { await Task.yield() }
    // Each `pong` takes a turn of the event loop, in which the server would read more of the flood if it had not stopped.
    for i in 0..<500 {
      other.type(#"{"t":"ping","ts":\#(i)}"#)
      try other.wait(#""t":"pong""#)
    }
    #expect(server.host.unhandledLines < LobbyHost.mostUnhandled + 1000, "at most one more piece was read")
    mayGoOn.signal()
    var answers = 0
    while answers < count, let line = peer.line(within: 20) { if line.contains(#""t":"ok""#) { answers += 1 } }
    #expect(answers == count)
    #expect(server.host.unhandledLines == 0)
    try await server.stop()
  }

  @Test func `a client that answers pings late gets no more time back than the network took`() async throws {
    let server = try await TestServer { $0.session.heartbeat = 1 }
    let peer = try RawPeer(server.port)
    try peer.hello()
    for _ in 0..<2 {
      let ping = try peer.wait(#""t":"ping""#)
      try await Task.sleep(for: .milliseconds(300))
      peer.type(ping.replacing("ping", with: "pong"))
    }
    peer.type(#"{"t":"unseek","id":"u"}"#)
    try peer.wait(#""re":"u""#)
    let trips = try await server.host.inspect { $0.people.connections.values.map(\.roundTrip) }
    #expect(trips.allSatisfy { $0 < 100 }, "\(trips)")
    try await server.stop()
  }

  @Test func `a resume token is invalid once the client has received a new one and sent a line`() async throws {
    let server = try await TestServer()
    var resume = try #require(RawPeer.field("resume", try RawPeer(server.port).hello()))
    for _ in 0..<100 {
      let peer = try RawPeer(server.port)
      let old = resume
      resume = try #require(RawPeer.field("resume", try peer.hello(#""resume":"\#(old)""#)))
      peer.type(#"{"t":"me","id":"m"}"#)
      try peer.wait(#""re":"m""#)
      let thief = try RawPeer(server.port)
      thief.type(#"{"t":"hello","v":[1],"client":"raw","resume":"\#(old)"}"#)
      try thief.wait(#""code":"auth""#)
    }
    try await server.stop()
  }

  @Test(arguments: [STDOUT_FILENO, STDERR_FILENO])
  func `a server keeps running when the pipe that it writes to is full`(descriptor: Int32) throws {
    let folder = TemporaryFolder()
    let process = Process()
    process.executableURL = URL(filePath: try #require(ServerChild.binary))
    process.arguments = [
      "--listen", "127.0.0.1:0", "--no-page", "--no-admin", "--data", folder.path, "--log-level", "trace",
    ]
    let (full, other) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = descriptor == STDOUT_FILENO ? (full, other) : (other, full)
    // A full pipe keeps the server from writing to standard output, or to standard error.
    let end = full.fileHandleForWriting.fileDescriptor
    _ = fcntl(end, F_SETFL, O_NONBLOCK)
    while write(end, [0x2E], 1) > 0 {}
    _ = fcntl(end, F_SETFL, 0)
    try process.run()
    let said = other.fileHandleForReading
    func wait(_ text: String) -> Bool {
      var all = ""
      while !all.contains(text) {
        let piece = said.availableData
        if piece.isEmpty { return false }
        all += String(decoding: piece, as: UTF8.self)
      }
      return true
    }
    #expect(wait(descriptor == STDOUT_FILENO ? "node" : "listening "))
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func `an address named by a proxy may have a port`() {
    for (text, address) in [
      ("1.2.3.4", "1.2.3.4"), (" 1.2.3.4:567", "1.2.3.4"), ("2001:db8::1", "2001:db8::1"),
      ("[2001:db8::1]:567", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
    ] { #expect(PeoplePage.address(text)?.ipAddress == address, "\(text)") }
    for text in ["", "unknown", "1.2.3.4:5:6", "_hidden"] { #expect(PeoplePage.address(text) == nil, "\(text)") }
  }

  @Test func `the administrators' port accepts only this computer's own host names`() async throws {
    let server = try await TestServer()
    let admin = AdminPage(host: server.host, listener: server.listener)
    for (host, status) in [
      ("evil.example", 421), ("evil.example:4681", 421), ("127.0.0.1.evil.example", 421), ("localhost:4681", 200),
      ("127.0.0.1:4681", 200), ("[::1]:4681", 200),
    ] {
      let request = HTTPRequest(
        method: .GET, path: ["healthz"], query: "", headers: ["host": host], peer: nil)
      #expect(try await admin.answer(request).status.code == status, "\(host)")
    }
    try await server.stop()
  }

  @Test func `a reload of certificates counts as failed until one succeeds, and the certificate's expiry is known`()
    throws
  {
    let folder = TemporaryFolder()
    let tls = try ServerTLS.selfSigned(in: folder.path, names: ["localhost"])
    let key = URL(filePath: folder.path + "/self-signed.key")
    let kept = try Data(contentsOf: key)
    try Data("none".utf8).write(to: key)
    tls.reload(Logger(from: nil))
    #expect(tls.isRefused)
    try kept.write(to: key)
    tls.reload(Logger(from: nil))
    #expect(!tls.isRefused)
    let days = (Double(tls.expires) - Date().timeIntervalSince1970) / 86_400
    #expect(days > 3640 && days < 3660, "the certificate is valid for ten years")
  }

  @Test func `the folder of the page may be a symbolic link`() throws {
    let folder = TemporaryFolder()
    let (real, link) = (folder.path + "/real", folder.path + "/link")
    try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: true)
    try "page".write(toFile: real + "/index.html", atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
    #expect(try Site(folder: link).isThere)
  }

}
