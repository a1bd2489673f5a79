import Lobby
import MatchProtocol
import MatchStore
import NIOCore
import NIOPosix
import TLSChannel

/// The links of one node with the others: those it opens, over which it gives work away, and those others open to it.
///
/// All state belongs to the lobby's event loop, on which the links run too, so that a frame needs no hop to be served.
package final class NodePort: @unchecked Sendable {  // see above
  /// Milliseconds between two signs of life on a link.
  private static let beat: Int64 = 400
  /// Milliseconds of silence after which the other end is given up: a stopped node is noticed before its lease ends.
  static let silence: Int64 = 1500
  /// Bytes waiting for a node that does not read beyond which it is given up.
  static let mostWaiting = 8 * 1024 * 1024

  private let tls: NodeTLS
  private let listenAt: (host: String, port: Int)
  private let loop: any EventLoop
  private let logger: Logger
  private weak var host: LobbyHost?
  private var listener: (any Channel)?
  private var out: [Int64: OutgoingLink] = [:]
  private var incoming: [ObjectIdentifier: IncomingLink] = [:]
  private var nextVirtual: ConnectionID = 1 << 62
  /// When something was heard of an incarnation last, or when it was first called in vain.
  private var heardOf: [Int64: Int64] = [:]

  /// Makes a port that will listen there; port 0 picks a free one.
  package init(host: String, port: Int, tls: NodeTLS, loop: any EventLoop, logger: Logger) {
    (listenAt, self.tls, self.loop, self.logger) = ((host, port), tls, loop, logger)
  }

  /// Listens, and returns the port.
  func listen(for host: LobbyHost) async throws -> Int {
    let channel = try ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 64)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            TLSHandler(self.tls.context), IncomingLink(self))
        }
      }
      .listen(host: listenAt.host, port: listenAt.port)
    try await loop.submit {
      self.host = host
      self.listener = channel
      self.loop.scheduleRepeatedTask(initialDelay: .milliseconds(Self.beat), delay: .milliseconds(Self.beat)) { task in
        guard self.listener != nil else { return task.cancel() }
        self.keepAlive()
      }
    }.value()
    return channel.localAddress?.port ?? listenAt.port
  }

  private func keepAlive() {
    let now = Moment.current.steady
    for link in out.values {
      if now - link.heard > Self.silence { link.giveUp() } else { link.send(.ping) }
    }
    for link in incoming.values where now - link.heard > 2 * Self.silence { link.giveUp() }
  }

  /// Gives a frame to a node, opening a link if there is none; `linkLost` tells when that fails.
  func send(_ frame: NodeFrame, to node: NodeRecord, from epoch: Int64) {
    loop.preconditionInEventLoop()
    let link: OutgoingLink
    if let open = out[node.epoch] {
      link = open
    } else {
      link = OutgoingLink(self, node, loop: loop)
      out[node.epoch] = link
      if heardOf[node.epoch] == nil { heardOf[node.epoch] = link.heard }
      link.send(.hello(epoch: epoch, to: node.epoch))
      dial(link, node)
    }
    link.send(frame)
  }

  private func dial(_ link: OutgoingLink, _ node: NodeRecord) {
    let parts = node.node.peer.split(separator: ":")
    guard let port = parts.last.flatMap({ Int($0) }) else { return lost(link) }
    var address = node.node.peer.dropLast(parts.last.map { $0.count + 1 } ?? 0)
    if address.hasPrefix("[") { address = address.dropFirst().dropLast() }
    ClientBootstrap(group: loop)
      .connectTimeout(.seconds(1))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            TLSHandler(self.tls.context, calling: node.node.name), link)
        }
      }
      .connect(host: String(address), port: port)
      .whenFailure { error in
        self.logger.warning("a node cannot be reached", metadata: ["node": "\(node.node.name)", "error": "\(error)"])
        self.lost(link)
      }
  }

  fileprivate func lost(_ link: OutgoingLink) {
    guard out[link.node.epoch] === link else { return }
    out[link.node.epoch] = nil
    host?.linkLost(link.node.epoch, heard: heardOf[link.node.epoch] ?? link.heard)
  }

  fileprivate func heard(of link: OutgoingLink) { heardOf[link.node.epoch] = Moment.current.steady }

  fileprivate func received(_ frame: NodeFrame, over link: OutgoingLink) {
    host?.answered(frame, by: link.node.epoch)
  }

  fileprivate func opened(_ link: IncomingLink) { incoming[ObjectIdentifier(link)] = link }

  fileprivate func closed(_ link: IncomingLink) {
    incoming[ObjectIdentifier(link)] = nil
    for peer in link.peers.values { host?.disconnected(peer.id, clean: false) }
    link.peers = [:]
  }

  /// Takes a frame that another node sent; `false` if the link must end.
  fileprivate func received(_ frame: NodeFrame, over link: IncomingLink) -> Bool {
    guard let host else { return false }
    if case .hello(let from, let to) = frame {
      link.epoch = to == host.epoch ? from : nil
      return link.epoch != nil
    }
    guard let epoch = link.epoch else { return false }
    switch frame {
    case .attach(let c, let attachment):
      let peer = VirtualPeer(id: nextVirtual, far: c, link: link)
      nextVirtual += 1
      link.peers[c] = peer
      host.attached(epoch, peer.id, peer, attachment)
    case .work(let c, let work, let m, let roundTrip):
      // Passed over, its player would wait for ever; when the link ends he comes back and asks again.
      guard let peer = link.peers[c] else { return false }
      host.hear(.relayed(peer.id, work.aged(at: Moment.current.steady), m, roundTrip: roundTrip))
    case .detach(let c, let clean):
      if let peer = link.peers.removeValue(forKey: c) { host.disconnected(peer.id, clean: clean) }
    case .hint: host.hear(.hinted)
    case .evict(let session, let generation): host.hear(.evicted(session: session, generation: generation))
    case .refresh(let account): host.hear(.refreshed(account: account))
    case .ping: link.send(.pong)
    default: return false
    }
    return true
  }

  /// Ends all links: this incarnation is over.
  func closeLinks() {
    loop.preconditionInEventLoop()
    for link in out.values { link.close() }
    for link in incoming.values {
      link.peers = [:]
      link.close()
    }
    (out, incoming, heardOf) = ([:], [:], [:])
  }

  /// Ends all links and listens no more.
  func close() {
    closeLinks()
    listener?.close(promise: nil)
    listener = nil
  }
}

/// One end of a link: bytes to frames, frames to bytes, flushed once a turn of the loop.
private class LinkHandler: ChannelInboundHandler, @unchecked Sendable {  // confined to the lobby's loop
  typealias InboundIn = ByteBuffer
  var context: ChannelHandlerContext?
  var heard = Moment.current.steady
  private var framer = LineFramer(limit: NodeFrame.longest)
  private var isFlushScheduled = false
  private var isClosed = false
  /// What waits for the handshake.
  private var backlog: [NodeFrame] = []

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    let waiting = backlog
    backlog = []
    for frame in waiting { send(frame) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    wasHeard()
    let buffer = unwrapInboundIn(data)
    var framer = framer
    var isSound = true
    buffer.withUnsafeReadableBytes { raw in
      framer.feed(raw) { piece in
        if case .line(let line) = piece, let frame = try? NodeFrame(line) {
          isSound = take(frame)
        } else {
          isSound = false
        }
        return isSound && !isClosed
      }
    }
    self.framer = framer
    if !isSound { close() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    // An end that the other told is something heard.
    if !isClosed { wasHeard() }
    ended()
  }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Takes a frame; `false` if it makes no sense here.
  func take(_ frame: NodeFrame) -> Bool { false }
  func ended() {}
  func wasHeard() { heard = Moment.current.steady }

  func send(_ frame: NodeFrame) {
    guard !isClosed else { return }
    guard let context, context.channel.isActive else { return backlog.append(frame) }
    context.write(NIOAny(ByteBuffer(bytes: frame.bytes)), promise: nil)
    let waiting =
      context.channel.isWritable ? 0 : (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    if waiting > NodePort.mostWaiting { return close() }
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute {
      bound.value.isFlushScheduled = false
      bound.value.context?.flush()
    }
  }

  func close() {
    isClosed = true
    context?.close(promise: nil)
  }

  /// Ends a link whose other end is silent: nobody waits for a network that answers nothing any more.
  func giveUp() {
    close()
    ended()
  }
}

/// A link this node opened.
private final class OutgoingLink: LinkHandler, @unchecked Sendable {
  let node: NodeRecord
  private let port: NodePort

  init(_ port: NodePort, _ node: NodeRecord, loop: any EventLoop) { (self.port, self.node) = (port, node) }

  override func take(_ frame: NodeFrame) -> Bool {
    if frame != .pong { port.received(frame, over: self) }
    return true
  }
  override func ended() { port.lost(self) }
  override func wasHeard() {
    super.wasHeard()
    port.heard(of: self)
  }
}

/// A link another node opened, and the connections it holds here.
private final class IncomingLink: LinkHandler, @unchecked Sendable {
  var peers: [ConnectionID: VirtualPeer] = [:]
  /// Who opened it, once that is said.
  var epoch: Int64?
  private let port: NodePort

  init(_ port: NodePort) { self.port = port }

  override func channelActive(context: ChannelHandlerContext) {
    port.opened(self)
    super.channelActive(context: context)
  }
  override func take(_ frame: NodeFrame) -> Bool { port.received(frame, over: self) }
  override func ended() { port.closed(self) }
}

/// A player whose connection another node holds, as the lobby's host sees him.
private final class VirtualPeer: LobbyHost.Peer {
  let id: ConnectionID
  var isTouched = false
  fileprivate let far: ConnectionID
  fileprivate weak var link: IncomingLink?

  init(id: ConnectionID, far: ConnectionID, link: IncomingLink) { (self.id, self.far, self.link) = (id, far, link) }

  func deliver(_ line: [UInt8], _ kind: LineKind) { link?.send(.send(far, kind, line)) }
  func flush() {}
  func end(_ code: ByeCode, _ text: String, retry: Int?, node: String?) {
    link?.send(.end(far, code, text, retry: retry))
  }
}

extension LobbyHost.Peer {
  /// Tells the node that holds this player something about him.
  func tellHolder(_ make: (ConnectionID) -> NodeFrame) {
    if let peer = self as? VirtualPeer { peer.link?.send(make(peer.far)) }
  }
}
