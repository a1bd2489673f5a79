import Foundation
import MatchClient
import MatchProtocol
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// A node that takes connections and says the same to everybody, or nothing, as one does whose process is stopped.
private final class ScriptedNode: Sendable {
  private final class Script: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let visits = Atomic(0)
    let lines: [UInt8]

    init(_ lines: [UInt8]) { self.lines = lines }

    func channelActive(context: ChannelHandlerContext) {
      visits.add(1, ordering: .relaxed)
      if !lines.isEmpty {
        context.writeAndFlush(NIOAny(context.channel.allocator.buffer(bytes: lines)), promise: nil)
      }
    }
  }

  private let script: Script
  private let channel: any Channel
  let endpoint: MatchClient.Configuration.Endpoint

  init(_ lines: [ServerMessage]) async throws {
    let script = Script(lines.flatMap { $0.bytes() })
    self.script = script
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.pipeline.addHandler(script) }
      .bind(host: "127.0.0.1", port: 0).get()
    endpoint = .init(host: "127.0.0.1", port: channel.localAddress?.port ?? 0)
  }

  var visits: Int { script.visits.load(ordering: .relaxed) }
  func stop() async throws { try await channel.close() }
}

/// A client that knows several nodes.
@Suite(.serialized) struct SeveralNodesEndToEndTests {
  private func client(
    _ nodes: [MatchClient.Configuration.Endpoint], _ security: MatchClient.Configuration.Security = .plain,
    folder: String? = nil
  ) -> Watcher {
    var configuration = MatchClient.Configuration(
      host: nodes[0].host, port: nodes[0].port, security: security, identity: .init(client: "test"), folder: folder)
    configuration.others = Array(nodes.dropFirst())
    let client = MatchClient(configuration)
    client.connect()
    return Watcher(client)
  }

  @Test
  func
    `a node that takes the connection and says nothing is left for the next, with TLS in the middle of its handshake`()
    async throws
  {
    let keys = TemporaryFolder()
    let certificate = try ServerTLS.selfSigned(in: keys.path, names: ["localhost"])
    let stopped = try await ScriptedNode([])
    for security in [MatchClient.Configuration.Security.plain, .tls] {
      let server = try await TestServer { if security == .tls { $0.tls = certificate } }
      let folder = TemporaryFolder()
      let before = MatchClient.now
      let watcher = client(
        [stopped.endpoint, .init(host: "127.0.0.1", port: server.port)], security, folder: folder.path)
      _ = try await watcher.online()
      print("a silent node was left for the next within \(MatchClient.now - before) ms (\(security))")
      watcher.client.disconnect()
      try await server.stop()
    }
    #expect(stopped.visits == 2)
    try await stopped.stop()
  }

  @Test func `a node that names another in its bye sends the client there, but nowhere he does not know`() async throws
  {
    let server = try await TestServer()
    let home = MatchClient.Configuration.Endpoint(host: "127.0.0.1", port: server.port)
    let other = try await ScriptedNode([])
    let stranger = try await ScriptedNode([])
    func sending(to node: String) async throws -> ScriptedNode {
      try await ScriptedNode([
        .greeting(server: "test", versions: [1]), .bye(.restart, "your match is there", retry: nil, node: node),
      ])
    }
    let right = try await sending(to: "127.0.0.1:\(server.port)")
    let watcher = client([right.endpoint, other.endpoint, home])
    _ = try await watcher.online()
    #expect(right.visits == 1 && other.visits == 0)
    watcher.client.disconnect()
    let wrong = try await sending(to: "127.0.0.1:\(stranger.endpoint.port)")
    let second = client([wrong.endpoint, home])
    _ = try await second.online()
    #expect(wrong.visits == 1 && stranger.visits == 0)
    second.client.disconnect()
    // One that names itself, or one that is gone, is not asked again and again.
    let gone = try await ScriptedNode([])
    try await gone.stop()
    let circular = try await sending(to: "127.0.0.1:\(gone.endpoint.port)")
    let third = client([circular.endpoint, gone.endpoint, home])
    _ = try await third.online()
    #expect(circular.visits == 1)
    third.client.disconnect()
    for node in [other, stranger, right, wrong, circular] { try await node.stop() }
    try await server.stop()
  }
}
