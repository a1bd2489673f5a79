import Foundation
import MatchProtocol
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import Synchronization
import ServerTestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

@Suite struct HTTPServerEndToEndTests {
  private func server(
    most: Int = 100, mostPerAddress: Int = .max, requestTimeout: Int64 = 20_000
  ) async throws -> HTTPServer {
    try HTTPServer.start(
      at: .tcp(host: "127.0.0.1", port: 0), loop: MultiThreadedEventLoopGroup.singleton.next(),
      limits: HTTPLimits(
        most: most, mostPerAddress: mostPerAddress, key: { $0.ipAddress }, requestTimeout: .milliseconds(requestTimeout)
      )
    ) { request in
      switch request.path {
      case ["fail"]: throw CancellationError()
      case ["large"]:
        return HTTPReply(text: String(repeating: String(repeating: "x", count: 16_383) + "\n", count: 800))
      default: return HTTPReply(text: request.path.joined(separator: "|"))
      }
    }
  }

  private func ask(_ server: HTTPServer, _ text: String) throws -> RawPeer {
    let peer = try RawPeer(server.port)
    peer.send(Array(text.replacing("\n", with: "\r\n").utf8))
    return peer
  }

  @Test func `requests on one connection are answered in order, HEAD without a body`() async throws {
    let server = try await server()
    let host = "HTTP/1.1\nHost: x\n"
    let peer = try ask(
      server, "GET /a%2Fb/c?d=/e \(host)\nHEAD /long \(host)\nGET /fail \(host)\nGET /z \(host)Connection: close\n\n")
    let lines = peer.rest(pause: 10).map { $0.trimmingCharacters(in: .newlines) }
    #expect(peer.isAtEnd, "the connection is closed as the client asked")
    #expect(lines.filter { $0.hasPrefix("content-length") } == [5, 4, 19, 1].map { "content-length: \($0)" })
    #expect(lines.contains("server: alina-server") && lines.contains { $0.hasPrefix("date: ") && $0.hasSuffix(" GMT") })
    // The second reply's body, `a/b|c`, has no line end.
    #expect(
      lines.filter { $0.contains("HTTP/1.1") } == [
        "HTTP/1.1 200 OK", "a/b|cHTTP/1.1 200 OK", "HTTP/1.1 500 Internal Server Error", "HTTP/1.1 200 OK",
      ], "\(lines)")
    await server.stop()
  }

  @Test func `each address has its own limit of connections, whatever they request`() async throws {
    let server = try await server(mostPerAddress: 3)
    let mine = try (0..<3).map { _ in try RawPeer(server.port) }
    // After the reply on the third connection the server has accepted all three.
    mine[2].send(Array("GET /a HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    _ = try mine[2].wait("200 OK")
    let more = try RawPeer(server.port)
    #expect(more.rest(pause: 10) == [] && more.isAtEnd, "closed before its first request")
    let other = try RawPeer(server.port, from: "127.0.0.2")
    other.send(Array("GET /b HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    #expect(try other.wait("HTTP/1.1").contains("200 OK"))
    mine[0].hangUp(reset: true)
    var again: RawPeer?
    for _ in 0..<100 where again == nil {
      let peer = try RawPeer(server.port)
      peer.send(Array("GET /c HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
      if (try? peer.wait("200 OK")) != nil { again = peer }
    }
    #expect(again != nil, "after a connection has ended another one is accepted")
    await server.stop()
  }

  @Test func `localhost and the addresses that have no key are this machine`() {
    for host in ["localhost", "127.0.0.1", "127.9.9.9", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"] {
      #expect(PeerAddress.isLoopback(host), "\(host)")
    }
    for host in ["127.example.org", "0.0.0.0", "::", "192.0.2.1", "::2", ""] {
      #expect(!PeerAddress.isLoopback(host), "\(host)")
    }
  }

  @Test func `every reply has the headers that restrict browsers`() async throws {
    let server = try await server()
    for path in ["/", "/fail"] {
      let lines = try ask(server, "GET \(path) HTTP/1.1\nHost: x\nConnection: close\n\n").rest(pause: 10)
        .map { $0.trimmingCharacters(in: .newlines).lowercased() }
      for header in ["referrer-policy: no-referrer", "x-content-type-options: nosniff"] {
        #expect(lines.contains(header), "\(path)")
      }
      #expect(lines.contains { $0.hasPrefix("content-security-policy: ") && $0.contains("frame-ancestors 'none'") })
    }
    await server.stop()
  }

  @Test func `long headers, incomplete requests and connections above the limit are closed`() async throws {
    let server = try await server(most: 1, requestTimeout: 300)
    let long = try ask(server, "GET / HTTP/1.1\nHost: x\nX: \(String(repeating: "x", count: 20_000))\n\n")
    #expect(!long.rest(pause: 10).joined().contains("200 OK") && long.isAtEnd)
    let slow = try ask(server, "GET / HTTP/1.1\nHost: x\n")
    let other = try ask(server, "GET / HTTP/1.1\nHost: x\n\n")
    #expect(other.rest(pause: 10) == [] && other.isAtEnd, "the second connection is above the limit of one")
    #expect(slow.rest(pause: 10) == [] && slow.isAtEnd, "an incomplete request is ended by the time limit")
    await server.stop()
  }

  @Test func `a late request on an idle connection has the full time for its answer`() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let channel = NIOAsyncTestingChannel(loop: loop)
    let (mayAnswer, answering) = AsyncStream<Void>.makeStream()
    try await loop.executeInContext {
      let connection = HTTPConnection(HTTPServer.Connections(HTTPLimits(most: 1)), { _ in nil }) { request in
        if request.path == ["slow"] { for await _ in mayAnswer { break } }
        return HTTPReply(text: request.path.joined())
      }
      try channel.pipeline.syncOperations.addHandler(connection)
    }
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    func ask(_ path: String) async throws {
      try await channel.writeInbound(HTTPServerRequestPart.head(.init(version: .http1_1, method: .GET, uri: path)))
      try await channel.writeInbound(HTTPServerRequestPart.end(nil))
    }
    func reply() async throws -> String {
      var text = ""
      while true {
        switch try await channel.waitForOutboundWrite(as: HTTPServerResponsePart.self) {
        case .head: break
        case .body(.byteBuffer(let bytes)): text += String(buffer: bytes)
        case .body: break
        case .end: return text
        }
      }
    }
    let almost = HTTPLimits(most: 1).requestTimeout - .milliseconds(1)
    try await ask("/first")
    #expect(try await reply() == "first")
    await loop.advanceTime(by: almost)
    try await ask("/slow")
    await loop.advanceTime(by: almost)
    #expect(channel.isActive)
    answering.finish()
    #expect(try await reply() == "slow")
    await loop.advanceTime(by: almost)
    #expect(channel.isActive)
    await loop.advanceTime(by: .milliseconds(1))
    #expect(!channel.isActive)
  }

  @Test func `a client that does not read its reply is closed`() async throws {
    let server = try await server(most: 2, requestTimeout: 300)
    let sleeper = try ask(server, "GET /large HTTP/1.1\nHost: x\n\n")
    while try await server.connections() > 0 { try await Task.sleep(for: .milliseconds(10)) }
    withExtendedLifetime(sleeper) {}
    await server.stop()
  }

  /// A connection's socket. Its reader takes all that was written at each call of `take`.
  private final class SlowSocket: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart
    /// The bytes of the body that the reader has not taken.
    private(set) var left = 0
    private var promise: EventLoopPromise<Void>?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .body(.byteBuffer(let bytes)) = unwrapOutboundIn(data) { left += bytes.readableBytes }
      if let promise { self.promise = promise }
    }

    func flush(context: ChannelHandlerContext) {}

    func take() {
      let taken = promise
      (left, promise) = (0, nil)
      taken?.succeed()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      self.promise?.fail(ChannelError.ioOnClosedChannel)
      context.close(mode: mode, promise: promise)
    }
  }

  @Test(arguments: [false, true])
  func `a reader who takes a piece within each time limit gets the whole reply; one who stops is closed`(
    stops: Bool
  ) async throws {
    let (loop, piece) = (NIOAsyncTestingEventLoop(), HTTPServer.piece)
    let channel = NIOAsyncTestingChannel(loop: loop)
    let socket = try await loop.executeInContext {
      let socket = SlowSocket()
      try channel.pipeline.syncOperations.addHandlers(
        socket,
        HTTPConnection(
          HTTPServer.Connections(HTTPLimits(most: 1)),
          { _ in HTTPReply(bytes: ByteBuffer(repeating: 0, count: 2 * piece + 1)) }
        ) { _ in HTTPReply(text: "") })
      return NIOLoopBound(socket, eventLoop: loop)
    }
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["connection": "close"])
    try await channel.writeInbound(HTTPServerRequestPart.head(head))
    try await channel.writeInbound(HTTPServerRequestPart.end(nil))
    await loop.run()
    let almost = HTTPLimits(most: 1).requestTimeout - .milliseconds(1)
    for bytes in [piece, piece, 1] {
      #expect(try await loop.executeInContext { socket.value.left } == bytes, "a piece waits for the one before it")
      await loop.advanceTime(by: almost)
      #expect(channel.isActive)
      if stops, bytes == 1 { continue }
      try await loop.executeInContext { socket.value.take() }
      // The next piece is sent a millisecond later.
      await loop.advanceTime(by: .milliseconds(1))
    }
    if stops { await loop.advanceTime(by: .milliseconds(1)) }
    await loop.run()
    #expect(!channel.isActive)
  }
}
