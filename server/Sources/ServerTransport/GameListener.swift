import Foundation
import MatchProtocol
import MatchStore
import NIOCore
import NIOPosix
import Synchronization

package struct ListenerConfiguration: Sendable {
  /// A name or an IP address.
  package var host = "127.0.0.1"
  /// 0 picks a free port.
  package var port = 4664
  package var tls: ServerTLS?
  package var session = ServerSession.Configuration()
  /// The most connections. Keep it below `ulimit -n`: without a free descriptor, accepting would fail and be retried without a pause.
  package var maxConnections = 10_000
  /// The most connections from one address, except this machine's.
  package var maxPerAddress = 64
  /// Networks of trusted proxies, such as `10.0.0.0/8`, whose connections begin with a PROXY header.
  package var proxies: [AddressRange] = []
  /// The kernel's send buffer of a connection, in bytes; `nil` is the kernel's default.
  var sendBuffer: Int?
  /// The most seconds for which a shutdown waits until all units are stored and sent.
  package var drainSeconds = 5

  package init() {}
}

/// A range of addresses, such as `10.0.0.0/8`, or a single address.
package struct AddressRange: Sendable, Hashable {
  private let bytes: [UInt8]
  private let bits: Int

  /// Parses `ADDRESS/BITS` or an address; `nil` if invalid.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    guard let first = parts.first, let address = try? SocketAddress(ipAddress: first, port: 0) else { return nil }
    bytes = address.addressBytes
    bits = parts.count > 1 ? Int(parts[1]) ?? -1 : bytes.count * 8
    guard !bytes.isEmpty, (0...(bytes.count * 8)).contains(bits) else { return nil }
  }

  func contains(_ address: SocketAddress) -> Bool {
    let other = bytes.count == 4 ? address.bytesOf4 ?? [] : address.addressBytes
    guard other.count == bytes.count else { return false }
    for bit in 0..<bits where (bytes[bit / 8] ^ other[bit / 8]) >> UInt8(7 - bit % 8) & 1 != 0 { return false }
    return true
  }
}

extension SocketAddress {
  var addressBytes: [UInt8] {
    switch self {
    case .v4(let v4): withUnsafeBytes(of: v4.address.sin_addr) { Array($0) }
    case .v6(let v6): withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
    case .unixDomainSocket: []
    }
  }

  /// The bytes of an IPv4 address, or of an IPv4 address that a dual-stack socket maps to IPv6; `nil` for other addresses.
  var bytesOf4: [UInt8]? {
    let bytes = addressBytes
    if bytes.count == 4 { return bytes }
    let isMapped = bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
    return isMapped ? Array(bytes.suffix(4)) : nil
  }
}

package final class GameListener: Sendable {
  private let configuration: ListenerConfiguration
  private let host: LobbyHost
  private let group: any EventLoopGroup
  private let logger: Logger
  private let channel = Mutex<(any Channel)?>(nil)
  private let open = Mutex(Open())
  private let sweeps = Mutex<[ObjectIdentifier: ConnectionSweep]>([:])

  private struct Open {
    var isListening = false
    var hasWarned = false
    var (all, made) = (0, UInt64(0))
    var by = AddressCounts()
  }

  package init(
    _ configuration: ListenerConfiguration, host: LobbyHost, group: any EventLoopGroup, logger: Logger
  ) {
    (self.configuration, self.host, self.group, self.logger) = (configuration, host, group, logger)
  }

  /// Small read buffers, because each connection keeps one; longer lines arrive in several reads.
  private static var pieces: FixedSizeRecvByteBufferAllocator { .init(capacity: 256) }

  package var connections: Int { open.withLock { $0.all } }
  var mostPerAddress: Int { configuration.maxPerAddress }
  var isListening: Bool { open.withLock { $0.isListening } }

  /// Returns `HOST:PORT` once players can log in, or after five seconds if a slow store delays their logins.
  package func start() async throws -> String {
    var bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // By default NIO accepts 4 connections per turn of the event loop: while the loop was busy, new connections waited for seconds.
      .serverChannelOption(.maxMessagesPerRead, value: 1024)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 * 1024, high: 64 * 1024))
      .childChannelOption(.recvAllocator, value: Self.pieces)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.prepare(channel) }
      }
    if let size = configuration.sendBuffer {
      bootstrap = bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: .init(size))
    }
    let place = ListenAddress.tcp(host: configuration.host, port: configuration.port)
    let channel = try bootstrap.listen(at: place)
    let address = place.bound(to: channel).description
    self.channel.withLock { $0 = channel }
    let isWildcard = ["0.0.0.0", "::"].contains(configuration.host)
    try await host.start(at: isWildcard ? "" : address)
    open.withLock { $0.isListening = true }
    return address
  }

  /// Accepts no more connections, announces the shutdown, waits at most `drainSeconds` for the store, and closes the connections.
  package func stop() async {
    logger.notice("stopping", metadata: ["connections": "\(connections)"])
    open.withLock { $0.isListening = false }
    try? await channel.withLock({ $0 })?.close(mode: .all).value()
    let retry = 1000
    try? await host.drain(retry: retry, within: configuration.drainSeconds)
    try? await host.closeAll(.restart, "the server stops; come back", retry: retry)
    for _ in 0..<40 where connections > 0 { try? await Task.sleep(for: .milliseconds(25)) }
    logger.notice("stopped")
  }

  private func prepare(_ channel: any Channel) throws {
    let isProxy = channel.remoteAddress.map(isProxy) ?? false
    guard let handler = admit(channel, by: isProxy ? nil : channel.peerKey) else { return refuseConnection(channel) }
    let pipeline = channel.pipeline.syncOperations
    func addRest() throws {
      if let tls = configuration.tls { try pipeline.addHandler(tls.handler()) }
      try pipeline.addHandler(handler)
    }
    if isProxy {
      try pipeline.addHandler(
        ProxyProtocolHandler(within: .milliseconds(Int64(configuration.session.helloWithin))) { address, context in
          handler.proxied = address
          if let key = address.flatMap(PeerAddress.key) {
            let most = self.configuration.maxPerAddress
            guard self.open.withLock({ $0.by.count(key, most: most) }) else {
              return self.refuseConnection(context.channel)
            }
            self.discount(key, when: context.channel)
          }
          do { try addRest() } catch { context.close(promise: nil) }
        })
    } else {
      try addRest()
    }
  }

  var tls: ServerTLS? { configuration.tls }

  /// Warns once of a proxy that does not name its clients: all of them then share the limits of one address.
  func warnOfUnnamedClients(behind proxy: SocketAddress) {
    guard
      open.withLock({ open in
        defer { open.hasWarned = true }
        return !open.hasWarned
      })
    else { return }
    logger.warning(
      "a proxy sends no X-Forwarded-For: all its clients count as one",
      metadata: ["proxy": proxy.ipAddress ?? "?"])
  }

  func isProxy(_ address: SocketAddress) -> Bool { configuration.proxies.contains { $0.contains(address) } }

  /// Makes a WebSocket connection a game connection. `proxied`: the client's address, if a trusted proxy named it.
  func takeIn(_ channel: any Channel, from proxied: SocketAddress?) throws {
    if let size = configuration.sendBuffer {
      try channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: .init(size))
    }
    try channel.syncOptions?.setOption(.recvAllocator, value: Self.pieces)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(WebSocketLines())
    guard let handler = admit(channel, by: proxied.map(PeerAddress.key) ?? channel.peerKey) else {
      return sayFull(channel)
    }
    handler.proxied = proxied
    try pipeline.addHandler(handler)
  }

  /// Counts a connection, also under `key`, and makes its handler; `nil` if a limit is reached.
  private func admit(_ channel: any Channel, by key: String?) -> SessionHandler? {
    let id = open.withLock { open -> UInt64? in
      guard open.all < configuration.maxConnections else { return nil }
      guard open.by.count(key, most: configuration.maxPerAddress) else { return nil }
      open.all += 1
      open.made += 1
      return open.made
    }
    guard let id else { return nil }
    channel.closeFuture.whenComplete { _ in self.open.withLock { $0.all -= 1 } }
    if let key { discount(key, when: channel) }
    let loop = channel.eventLoop
    let sweep = sweeps.withLock { sweeps in
      if let sweep = sweeps[ObjectIdentifier(loop)] { return sweep }
      let sweep = ConnectionSweep(loop: loop, host: host)
      sweeps[ObjectIdentifier(loop)] = sweep
      return sweep
    }
    return SessionHandler(
      id: id, metrics: host.metrics, sweep: sweep, configuration: configuration.session, loop: loop)
  }

  private func discount(_ key: String, when channel: any Channel) {
    channel.closeFuture.whenComplete { _ in self.open.withLock { $0.by.discount(key) } }
  }

  /// With TLS the client is not told why, because a message would need the handshake first.
  private func refuseConnection(_ channel: any Channel) {
    guard configuration.tls == nil else {
      host.metrics.ended(.full)
      return channel.close(promise: nil)
    }
    sayFull(channel)
  }

  private func sayFull(_ channel: any Channel) {
    host.metrics.ended(.full)
    let bye = ServerMessage.bye(.full, "too many connections; come back later", retry: 10_000).bytes()
    channel.writeAndFlush(ByteBuffer(bytes: bye)).whenComplete { _ in channel.close(promise: nil) }
  }
}

private final class ResultBox<Value: Sendable>: Sendable { let result = Mutex<Result<Value, any Error>?>(nil) }

extension EventLoopFuture where Value: Sendable {
  /// Like `get`, but through a lock: ThreadSanitizer does not see the order of accesses in `get`, and would report a race.
  func value() async throws -> Value {
    let box = ResultBox<Value>()
    await withUnsafeContinuation { (waiting: UnsafeContinuation<Void, Never>) in
      whenComplete { result in
        box.result.withLock { $0 = result }
        waiting.resume()
      }
    }
    return try (box.result.withLock { $0 } ?? .failure(CancellationError())).get()
  }
}
