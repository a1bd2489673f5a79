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

/// A node that accepts connections and sends nothing, like a stopped process.
private final class SilentNode: Sendable {
  private final class Silence: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let visits = Atomic(0)

    func channelActive(context: ChannelHandlerContext) { visits.add(1, ordering: .relaxed) }
  }

  private let silence = Silence()
  private let channel: any Channel
  let address: ServerAddress.Node

  init() async throws {
    let silence = silence
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.pipeline.addHandler(silence) }
      .bind(host: "127.0.0.1", port: 0).get()
    address = .init(host: "127.0.0.1", port: channel.localAddress?.port ?? 0)
  }

  var visits: Int { silence.visits.load(ordering: .relaxed) }
  func stop() async throws { try await channel.close() }
}

@Suite(.serialized) struct SeveralNodesEndToEndTests {
  private func client(
    _ nodes: [ServerAddress.Node], _ security: MatchClient.Configuration.Security = .plain,
    folder: String? = nil
  ) -> Watcher {
    let server = ServerAddress(nodes[0], others: Array(nodes.dropFirst()))
    let client = MatchClient(.init(server, security: security, identity: .init(client: "test"), folder: folder))
    client.connect()
    return Watcher(client)
  }

  @Test
  func
    `a client leaves a node that accepts the connection and sends nothing, also during a TLS handshake`()
    async throws
  {
    let keys = TemporaryFolder()
    let certificate = try ServerTLS.selfSigned(in: keys.path, names: ["localhost"])
    let stopped = try await SilentNode()
    for security in [MatchClient.Configuration.Security.plain, .tls] {
      let server = try await TestServer { if security == .tls { $0.tls = certificate } }
      let folder = TemporaryFolder()
      let before = MatchClient.now
      let watcher = client(
        [stopped.address, .init(host: "127.0.0.1", port: server.port)], security, folder: folder.path)
      _ = try await watcher.online()
      print("a silent node was left for the next within \(MatchClient.now - before) ms (\(security))")
      watcher.client.disconnect()
      try await server.stop()
    }
    #expect(stopped.visits == 2)
    try await stopped.stop()
  }
}
