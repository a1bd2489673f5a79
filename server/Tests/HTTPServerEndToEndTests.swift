import Foundation
import NIOPosix
import Synchronization
import Testing

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// HTTP as the pages speak it, and what it lets nobody do.
@Suite struct HTTPServerEndToEndTests {
  private func server(
    most: Int = 100, patience: Int64 = 20_000, stream: @escaping @Sendable (EventStream) -> Void = { _ in }
  ) async throws -> HTTPServer {
    try HTTPServer.start(
      ("127.0.0.1", 0), loop: MultiThreadedEventLoopGroup.singleton.next(), mostConnections: most,
      patience: .milliseconds(patience)
    ) { request in
      switch request.path {
      case ["stream"]: HTTPReply(type: "text/event-stream", stream: stream)
      case ["fail"]: throw CancellationError()
      default: HTTPReply(text: request.path.joined(separator: "|"))
      }
    }
  }

  private func ask(_ server: HTTPServer, _ text: String) throws -> RawPeer {
    let peer = try RawPeer(server.port)
    peer.send(Array(text.replacing("\n", with: "\r\n").utf8))
    return peer
  }

  @Test func `requests on one connection are answered in their order, HEAD without a body`() async throws {
    let server = try await server()
    let host = "HTTP/1.1\nHost: x\n"
    let peer = try ask(
      server, "GET /a%2Fb/c?d=/e \(host)\nHEAD /long \(host)\nGET /fail \(host)\nGET /z \(host)Connection: close\n\n")
    let lines = peer.rest(pause: 10).map { $0.trimmingCharacters(in: .newlines) }
    #expect(peer.isAtEnd, "as was asked")
    #expect(lines.filter { $0.hasPrefix("content-length") } == [5, 4, 10, 1].map { "content-length: \($0)" })
    #expect(lines.contains("server: alina-server") && lines.contains { $0.hasPrefix("date: ") && $0.hasSuffix(" GMT") })
    // What has no line end is the beginning of the line of the next reply.
    #expect(
      lines.filter { $0.contains("HTTP/1.1") } == [
        "HTTP/1.1 200 OK", "a/b|cHTTP/1.1 200 OK", "HTTP/1.1 500 Internal Server Error", "HTTP/1.1 200 OK",
      ], "\(lines)")
    await server.stop()
  }

  @Test func `heads that are too long, half a request and one connection too many are ended`() async throws {
    let server = try await server(most: 1, patience: 300)
    let long = try ask(server, "GET / HTTP/1.1\nHost: x\nX: \(String(repeating: "x", count: 20_000))\n\n")
    #expect(!long.rest(pause: 10).joined().contains("200 OK") && long.isAtEnd)
    let slow = try ask(server, "GET / HTTP/1.1\nHost: x\n")
    let other = try ask(server, "GET / HTTP/1.1\nHost: x\n\n")
    #expect(other.rest(pause: 10) == [] && other.isAtEnd, "the second of one")
    #expect(slow.rest(pause: 10) == [] && slow.isAtEnd, "the rest does not come")
    await server.stop()
  }

  @Test func `who does not read what goes on without end is ended, and stopping ends it for who does`() async throws {
    let streams = AsyncStream<EventStream>.makeStream()
    let server = try await server { streams.continuation.yield($0) }
    var opened = streams.stream.makeAsyncIterator()
    let sleeper = try ask(server, "GET /stream HTTP/1.1\nHost: x\n\n")
    let first = try #require(await opened.next())
    let isGone = Mutex(false)
    first.whenClosed { isGone.withLock { $0 = true } }
    let block = "data: \(String(repeating: "x", count: 60_000))\n\n"
    while !isGone.withLock({ $0 }) {
      first.send(block)
      await Task.yield()
    }
    _ = sleeper.rest(pause: 10)
    #expect(sleeper.isAtEnd)
    let reader = try ask(server, "GET /stream HTTP/1.1\nHost: x\n\n")
    let second = try #require(await opened.next())
    second.send("data: 1\n\n")
    try reader.wait("data: 1")
    await server.stop()
    #expect(reader.rest(pause: 10).contains("0\r"), "the last chunk")
    #expect(reader.isAtEnd)
  }
}
