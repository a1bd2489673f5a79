import Foundation
import MatchStore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization

/// A request, without the body: nothing here takes one.
struct HTTPRequest: Sendable {
  let method: HTTPMethod
  /// The words between the slashes, without what follows a question mark.
  let path: [String]
  /// What follows the question mark, as it was sent.
  let query: String
  let headers: HTTPHeaders
  /// The other end of the connection.
  let peer: SocketAddress?
}

struct HTTPReply: Sendable {
  var status = HTTPResponseStatus.ok
  var type = "text/plain; charset=utf-8"
  var text = ""
  /// Sent instead of the text.
  var bytes: ByteBuffer?
  var headers: HTTPHeaders = [:]
  /// Takes over a reply that goes on without end; it is called once the head is written.
  var stream: (@Sendable (EventStream) -> Void)?
  /// Takes over the connection, which has become a WebSocket, by adding what handles its frames.
  var socket: (@Sendable (any Channel) throws -> Void)?

  static func refusal(_ status: HTTPResponseStatus, _ why: String) -> HTTPReply {
    HTTPReply(status: status, text: why + "\n")
  }
}

/// An endless reply. Whoever falls behind is ended rather than waited for.
final class EventStream: Sendable {
  private let channel: any Channel

  init(_ channel: any Channel) { self.channel = channel }

  var loop: any EventLoop { channel.eventLoop }

  /// Writes, on the stream's loop.
  func send(_ bytes: ByteBuffer) {
    loop.preconditionInEventLoop()
    guard channel.isWritable else { return channel.close(promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
  }

  func whenClosed(_ body: @escaping @Sendable () -> Void) { channel.closeFuture.whenComplete { _ in body() } }
}

/// How much of an HTTP port others may take.
struct HTTPLimits: Sendable {
  var most: Int
  /// Connections of one address: whoever has more is turned away before he has asked for anything.
  var mostPerAddress = Int.max
  /// What connections are counted by; those without a key (this machine's, a proxy's) are counted in `most` alone.
  var key: @Sendable (SocketAddress) -> String? = PeerAddress.key
  /// How long a request may take to arrive, and the next one after each reply.
  var patience = TimeAmount.seconds(20)
}

/// Answers HTTP/1.1 on one address until it is stopped. All its connections are on one event loop.
package final class HTTPServer: Sendable {
  /// Bytes of a request's head.
  static let mostHead = 16 * 1024

  private let loop: any EventLoop
  private let channel: any Channel
  private let open: Connections

  /// Every connection there is; on `loop` alone.
  fileprivate final class Connections: @unchecked Sendable {
    let limits: HTTPLimits
    var all: [ObjectIdentifier: HTTPConnection] = [:]
    var by = AddressCounts()
    var isStopping = false

    init(_ limits: HTTPLimits) { self.limits = limits }
  }

  /// How many connections are open. May be called from any thread but the loop's.
  func connections() async throws -> Int { try await loop.submit { self.open.all.count }.value() }

  package var port: Int { channel.localAddress?.port ?? 0 }

  private init(_ loop: any EventLoop, _ channel: any Channel, _ open: Connections) {
    (self.loop, self.channel, self.open) = (loop, channel, open)
  }

  /// Listens; throws one line that names the address and what is wrong. `answer` is for what is not answered at once.
  static func start(
    _ address: (host: String, port: Int), loop: any EventLoop, limits: HTTPLimits, tls: ServerTLS? = nil,
    atOnce: @escaping @Sendable (HTTPRequest) -> HTTPReply? = { _ in nil },
    answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPReply
  ) throws -> HTTPServer {
    let open = Connections(limits)
    let channel = try ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(tls.handler()) }
          var heads = NIOHTTPDecoderLimitConfiguration()
          (heads.maxHeaderFieldSize, heads.maxHeaderListSize) = (mostHead, mostHead)
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: heads)
          try channel.pipeline.syncOperations.addHandler(HTTPConnection(open, atOnce, answer))
        }
      }
      .listen(host: address.host, port: address.port)
    return HTTPServer(loop, channel, open)
  }

  /// Takes no more connections, ends the endless replies, and returns once what was asked is answered.
  package func stop() async {
    try? await (channel.close(mode: .all) as EventLoopFuture).value()
    let open = open
    let closed = try? await loop.submit {
      open.isStopping = true
      return open.all.values.map { $0.stop() }
    }.value()
    for future in closed ?? [] { try? await future.value() }
  }
}

/// One connection and the request that is being answered on it; NIO's handlers before it hold the next one back.
private final class HTTPConnection: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    /// No request, or not all of one.
    case waiting(HTTPRequestHead?)
    case answering
    case streaming
  }

  private let open: HTTPServer.Connections
  private let atOnce: @Sendable (HTTPRequest) -> HTTPReply?
  private let answer: @Sendable (HTTPRequest) async throws -> HTTPReply
  private var state = State.waiting(nil)
  private var context: ChannelHandlerContext?
  private var timeout: Scheduled<Void>?
  /// What it is counted by.
  private var key: String?

  init(
    _ open: HTTPServer.Connections, _ atOnce: @escaping @Sendable (HTTPRequest) -> HTTPReply?,
    _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPReply
  ) {
    (self.open, self.atOnce, self.answer) = (open, atOnce, answer)
  }

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    let key = context.remoteAddress.flatMap(open.limits.key)
    guard !open.isStopping, open.all.count < open.limits.most, open.by.count(key, most: open.limits.mostPerAddress)
    else { return context.close(promise: nil) }
    open.all[ObjectIdentifier(self)] = self
    self.key = key
    wait(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    context.fireChannelInactive()
    leave()
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave() }

  private func leave() {
    if open.all.removeValue(forKey: ObjectIdentifier(self)) != nil { open.by.discount(key) }
    context = nil
    timeout?.cancel()
  }

  /// Ends a connection on which no whole request comes in time, no answer to it, or on which nothing was read of the last reply: of that
  /// so many bytes are left, as far as is known.
  private func wait(_ context: ChannelHandlerContext, unread: Int = 0) {
    timeout?.cancel()
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timeout = context.eventLoop.scheduleTask(in: open.limits.patience) {
      let (handler, context) = bound.value
      let left = handler.unread(context)
      if left > 0, left < unread { return handler.wait(context, unread: left) }
      context.close(promise: nil)
    }
  }

  /// Bytes that are to be sent and that the system has not taken.
  private func unread(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): state = .waiting(head)
    case .body: break
    case .end:
      guard case .waiting(let head?) = state else { return }
      // Who does not read the replies may not go on asking.
      guard context.channel.isWritable else { return context.close(promise: nil) }
      state = .answering
      wait(context)
      let path = head.uri.prefix { $0 != "?" }.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
      let request = HTTPRequest(
        method: head.method, path: path, query: String(head.uri.drop { $0 != "?" }.dropFirst()), headers: head.headers,
        peer: context.remoteAddress)
      let reply = context.eventLoop.makePromise(of: HTTPReply.self)
      if let ready = atOnce(request) {
        // Not before the decoder is done with what it has.
        context.eventLoop.execute { reply.succeed(ready) }
      } else {
        reply.completeWithTask { [answer] in try await answer(request) }
      }
      let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
      reply.futureResult.whenComplete { result in
        bound.value.write((try? result.get()) ?? .refusal(.internalServerError, "it failed"), to: head)
      }
    }
  }

  private func write(_ reply: HTTPReply, to request: HTTPRequestHead) {
    guard let context else { return }
    if let socket = reply.socket { return upgrade(context, request, socket) }
    // After a wish for another protocol the decoder takes nothing more.
    let isLast = !request.isKeepAlive || open.isStopping || request.headers.contains(name: "upgrade")
    var head = HTTPResponseHead(version: request.version, status: reply.status, headers: reply.headers)
    head.headers.add(name: "server", value: "alina-server")
    head.headers.add(name: "date", value: HTTPConnection.date())
    head.headers.add(name: "content-type", value: reply.type)
    for (name, value) in HTTPConnection.protection where !head.headers.contains(name: name) {
      head.headers.add(name: name, value: value)
    }
    let body = reply.bytes ?? ByteBuffer(string: reply.text)
    if reply.stream == nil, reply.status != .notModified {
      head.headers.add(name: "content-length", value: "\(body.readableBytes)")
    }
    if isLast { head.headers.add(name: "connection", value: "close") }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if let stream = reply.stream, request.method != .HEAD, !open.isStopping {
      state = .streaming
      timeout?.cancel()
      context.flush()
      return stream(EventStream(context.channel))
    }
    if request.method != .HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    state = .waiting(nil)
    let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
    wait(context, unread: unread(context))
    if isLast {
      let channel = context.channel
      written.whenComplete { _ in channel.close(promise: nil) }
    }
  }

  /// Makes the connection a WebSocket's. Not by NIO's handler for that, which knows the first request of a connection only:
  /// a reverse proxy asks on one where others were answered.
  private func upgrade(
    _ context: ChannelHandlerContext, _ request: HTTPRequestHead,
    _ socket: @escaping @Sendable (any Channel) throws -> Void
  ) {
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: WebSocketLines.mostFrame, automaticErrorHandling: false,
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeCompletedFuture { try socket(channel) } })
    let pipeline = context.pipeline.syncOperations
    func remove<Handler: RemovableChannelHandler>(_: Handler.Type) throws {
      pipeline.removeHandler(context: try pipeline.context(handlerType: Handler.self), promise: nil)
    }
    upgrader.buildUpgradeResponse(channel: context.channel, upgradeRequest: request, initialResponseHeaders: [:])
      .assumeIsolated().flatMapThrowing { [self] headers in
        let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        try remove(HTTPConnection.self)
        try remove(HTTPServerProtocolErrorHandler.self)
        try remove(NIOHTTPResponseHeadersValidator.self)
        try remove(HTTPServerPipelineHandler.self)
        try remove(HTTPResponseEncoder.self)
        try remove(ByteToMessageHandler<HTTPRequestDecoder>.self)
        upgrader.upgrade(context: context, upgradeRequest: request).assumeIsolated().whenFailure { _ in
          context.close(promise: nil)
        }
      }
      .whenFailure { [self] _ in
        var refusal = HTTPReply.refusal(.badRequest, "this is no handshake of WebSocket version 13")
        refusal.headers = ["sec-websocket-version": "13"]
        write(refusal, to: request)
      }
  }

  /// Ends it as soon as what was asked is answered; gives the end of the connection.
  func stop() -> EventLoopFuture<Void> {
    guard let context else { fatalError("a connection is listed as long as it is open") }
    switch state {
    case .waiting: context.close(promise: nil)
    case .answering: break
    case .streaming:
      let channel = context.channel
      context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
    return context.channel.closeFuture
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// What every reply tells a browser, unless it says otherwise: nothing may run, frame or be guessed at.
  private static let protection = [
    ("content-security-policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    ("referrer-policy", "no-referrer"), ("x-content-type-options", "nosniff"),
  ]

  private static func date() -> String {
    var (now, parts) = (time(nil), tm())
    var text = [CChar](repeating: 0, count: 40)
    gmtime_r(&now, &parts)
    // In the C locale, which the process never leaves.
    strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
