import Foundation
import MatchStore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization

/// A request without its body: no reply depends on a body.
struct HTTPRequest: Sendable {
  let method: HTTPMethod
  /// The decoded path components, without the query.
  let path: [String]
  /// The query, not decoded.
  let query: String
  let headers: HTTPHeaders
  /// The address of the other end of the connection.
  let peer: SocketAddress?
}

struct HTTPReply: Sendable {
  var status = HTTPResponseStatus.ok
  var type = "text/plain; charset=utf-8"
  var text = ""
  /// The body; `nil` if the body is `text`.
  var bytes: ByteBuffer?
  var headers: HTTPHeaders = [:]
  /// If set, the connection is upgraded to a WebSocket, and this function adds the handlers for its frames.
  var socket: (@Sendable (any Channel) throws -> Void)?

  static func refusal(_ status: HTTPResponseStatus, _ why: String) -> HTTPReply {
    HTTPReply(status: status, text: why + "\n")
  }
}

struct HTTPLimits: Sendable {
  var most: Int
  /// The most connections of one address; further connections are closed before their request.
  var mostPerAddress = Int.max
  /// The key under which an address is counted. Connections without a key (of this machine and of proxies) count only towards `most`.
  var key: @Sendable (SocketAddress) -> String? = PeerAddress.key
  /// How long a request may take to arrive, after connecting and after each reply; how long its answer may take; and how long the client
  /// may take to read a piece of the reply.
  var requestTimeout = TimeAmount.seconds(20)
}

/// Answers HTTP/1.1 on one address. All connections are on one event loop.
package final class HTTPServer: Sendable {
  /// The most bytes of a request's head, its line and headers.
  static let mostHead = 16 * 1024
  /// The bytes of a body that are written at once. With TLS they are encrypted for each connection, and wait in memory until they are read.
  /// A client has 20 s to take each piece.
  static let piece = 32 * 1024

  private let loop: any EventLoop
  private let channel: any Channel
  private let open: Connections

  /// Accessed on `loop` only.
  final class Connections: @unchecked Sendable {
    let limits: HTTPLimits
    var all: [ObjectIdentifier: HTTPConnection] = [:]
    var by = AddressCounts()
    var isStopping = false

    init(_ limits: HTTPLimits) { self.limits = limits }
  }

  /// May be called from any thread except the loop's.
  func connections() async throws -> Int { try await loop.submit { self.open.all.count }.value() }

  package var port: Int { channel.localAddress?.port ?? 0 }
  /// A port 0 is replaced by the port that was picked.
  package let address: ListenAddress

  private init(_ loop: any EventLoop, _ channel: any Channel, _ open: Connections, _ address: ListenAddress) {
    (self.loop, self.channel, self.open) = (loop, channel, open)
    self.address = address.bound(to: channel)
  }

  /// `atOnce` answers on the loop; requests for which `atOnce` returns `nil` go to `answer`.
  static func start(
    at address: ListenAddress, loop: any EventLoop, limits: HTTPLimits, tls: ServerTLS? = nil,
    atOnce: @escaping @Sendable (HTTPRequest) -> HTTPReply? = { _ in nil },
    answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPReply
  ) throws -> HTTPServer {
    let open = Connections(limits)
    let channel = try ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if case .tcp = address { try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1) }
          if let tls { try channel.pipeline.syncOperations.addHandler(tls.handler()) }
          var heads = NIOHTTPDecoderLimitConfiguration()
          (heads.maxHeaderFieldSize, heads.maxHeaderListSize) = (mostHead, mostHead)
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: heads)
          try channel.pipeline.syncOperations.addHandler(HTTPConnection(open, atOnce, answer))
        }
      }
      .listen(at: address)
    return HTTPServer(loop, channel, open, address)
  }

  /// Accepts no more connections, and returns once pending requests are answered.
  package func stop() async {
    try? await (channel.close(mode: .all) as EventLoopFuture).value()
    if case .socket(let path) = address { unlink(path) }
    let open = open
    let closed = try? await loop.submit {
      open.isStopping = true
      return open.all.values.map { $0.stop() }
    }.value()
    for future in closed ?? [] { try? await future.value() }
  }
}

/// A connection with one request at a time: NIO's pipelining handler holds the next one back.
final class HTTPConnection: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    /// No request has arrived, or only a part of one.
    case waiting(HTTPRequestHead?)
    case answering
  }

  private let open: HTTPServer.Connections
  private let atOnce: @Sendable (HTTPRequest) -> HTTPReply?
  private let answer: @Sendable (HTTPRequest) async throws -> HTTPReply
  private var state = State.waiting(nil)
  private var context: ChannelHandlerContext?
  private var timeout: Scheduled<Void>?
  /// The key (`HTTPLimits.key`) under which the connection is counted.
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

  /// Closes the connection after `requestTimeout`, unless this function is called again.
  private func wait(_ context: ChannelHandlerContext) {
    timeout?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timeout = context.eventLoop.scheduleTask(in: open.limits.requestTimeout) { bound.value.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): state = .waiting(head)
    case .body: break
    case .end:
      guard case .waiting(let head?) = state else { return }
      // Close the connection of a client that sends requests without reading the replies.
      guard context.channel.isWritable else { return context.close(promise: nil) }
      state = .answering
      wait(context)
      let path = head.uri.prefix { $0 != "?" }.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
      let request = HTTPRequest(
        method: head.method, path: path, query: String(head.uri.drop { $0 != "?" }.dropFirst()), headers: head.headers,
        peer: context.remoteAddress)
      let reply = context.eventLoop.makePromise(of: HTTPReply.self)
      if let ready = atOnce(request) {
        // NIO's decoder is calling this function, so reply after the decoder has returned.
        context.eventLoop.execute { reply.succeed(ready) }
      } else {
        reply.completeWithTask { [answer] in try await answer(request) }
      }
      let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
      reply.futureResult.whenComplete { result in
        bound.value.write((try? result.get()) ?? .refusal(.internalServerError, "the request failed"), to: head)
      }
    }
  }

  private func write(_ reply: HTTPReply, to request: HTTPRequestHead) {
    guard let context else { return }
    if let socket = reply.socket { return upgrade(context, request, socket) }
    // After a request with the header `upgrade`, NIO's decoder reads no further request: close the connection after the reply.
    let isLast = !request.isKeepAlive || open.isStopping || request.headers.contains(name: "upgrade")
    var head = HTTPResponseHead(version: request.version, status: reply.status, headers: reply.headers)
    head.headers.add(name: "server", value: "alina-server")
    head.headers.add(name: "date", value: HTTPConnection.date())
    head.headers.add(name: "content-type", value: reply.type)
    for (name, value) in HTTPConnection.protection where !head.headers.contains(name: name) {
      head.headers.add(name: name, value: value)
    }
    let body = reply.bytes ?? ByteBuffer(string: reply.text)
    if reply.status != .notModified {
      head.headers.add(name: "content-length", value: "\(body.readableBytes)")
    }
    if isLast { head.headers.add(name: "connection", value: "close") }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    state = .waiting(nil)
    send(request.method == .HEAD ? ByteBuffer() : body, isLast: isLast)
  }

  /// Sends a piece of a body; once the kernel has taken the piece, sends the rest.
  private func send(_ body: ByteBuffer, isLast: Bool) {
    var rest = body
    guard let context, let piece = rest.readSlice(length: min(rest.readableBytes, HTTPServer.piece)) else { return }
    wait(context)
    let isWhole = rest.readableBytes == 0
    let part = HTTPServerResponsePart.body(.byteBuffer(piece))
    if isWhole { context.write(wrapOutboundOut(part), promise: nil) }
    let written = context.writeAndFlush(wrapOutboundOut(isWhole ? .end(nil) : part))
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    written.whenSuccess { [rest] _ in
      let (connection, context) = bound.value
      connection.timeout?.cancel()
      if !isWhole {
        // A task for now would run before the loop looks at its sockets, so all pieces of a fast reader would come before other connections.
        context.eventLoop.scheduleTask(in: .milliseconds(1)) { bound.value.0.send(rest, isLast: isLast) }
      } else if isLast {
        context.close(promise: nil)
      } else {
        connection.wait(context)
      }
    }
  }

  /// NIO's own upgrade handler considers only the first request of a connection, but a reverse proxy reuses connections.
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
        var refusal = HTTPReply.refusal(.badRequest, "this is not a handshake of WebSocket version 13")
        refusal.headers = ["sec-websocket-version": "13"]
        write(refusal, to: request)
      }
  }

  /// Lets a pending request be answered; returns the future of the connection's end.
  func stop() -> EventLoopFuture<Void> {
    guard let context else { fatalError("a connection is listed as long as it is open") }
    switch state {
    case .waiting: context.close(promise: nil)
    case .answering: break
    }
    return context.channel.closeFuture
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Security headers of each reply unless it sets its own: no scripts, no framing, no content sniffing.
  private static let protection = [
    ("content-security-policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    ("referrer-policy", "no-referrer"), ("x-content-type-options", "nosniff"),
  ]

  private static func date() -> String {
    var (now, parts) = (time(nil), tm())
    var text = [CChar](repeating: 0, count: 40)
    gmtime_r(&now, &parts)
    // HTTP's date format needs the C locale, which the process never changes.
    strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
