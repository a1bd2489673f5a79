import Foundation
import MatchProtocol
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TicTacToe

/// Runs a `ClientModel` over sockets on one event loop: connects, protects, heals.
final class ClientRunner: @unchecked Sendable {  // all state is confined to `loop`
  /// The longest pause between two tries, milliseconds.
  private static let longestPause = 8000
  /// The longest pause where there are several nodes: one that is well is worth looking for.
  private static let longestPauseOfMany = 600
  /// Milliseconds of silence after which a node is asked for a sign of life, and after which the next one is tried.
  private static let (askNode, leaveNode): (Int64, Int64) = (1000, 2500)
  /// Milliseconds in which a node must have said its first word: a process that is stopped is still connected to by its kernel.
  private static let greetNode: Int64 = 1500

  private let configuration: MatchClient.Configuration
  private let loop: any EventLoop
  private let folder: ClientFolder?
  /// The nodes known, the ones asked for first, and which of them it is now.
  private var endpoints: [MatchClient.Configuration.Endpoint]
  private var current = 0
  /// What is known of the others: each has a certificate of its own.
  private var pins: [MatchClient.Configuration.Endpoint: ClientFolder] = [:]
  private var model: ClientModel
  private var channel: (any Channel)?
  private var framer = LineFramer(limit: Limits.lineOut)
  private var wanted = false
  private var tries = 0
  private var attempt = 0
  private var retryTask: Scheduled<Void>?
  /// The connection being made, and when that has taken too long.
  private var dialing: (any Channel)?
  private var dialTask: Scheduled<Void>?
  private var heartbeat: RepeatedTask?
  private var heard: Int64 = 0
  private var hasHeard = false
  private var lastProblem: ConnectionProblem?
  private var random = SystemRandomNumberGenerator()
  /// Set once, before anything runs.
  var deliver: (@Sendable ([ClientEvent], [MatchID: MatchView]) -> Void)?

  init(_ configuration: MatchClient.Configuration, loop: any EventLoop) {
    self.configuration = configuration
    self.loop = loop
    endpoints = [.init(host: configuration.host, port: configuration.port)]
    for other in configuration.others where !endpoints.contains(other) { endpoints.append(other) }
    var identity = configuration.identity
    // Tokens of accounts are for protected connections only; what a plain one brings is kept apart from them.
    let mayUseToken = configuration.usesTLS || configuration.isLoopback
    folder = configuration.folder.map {
      ClientFolder($0, host: configuration.host, port: configuration.port, isExposed: !mayUseToken)
    }
    if let saved = folder?.credentials {
      if mayUseToken, identity.token == nil { identity.token = saved.token }
      if identity.resume == nil, identity.token == nil || identity.token == saved.token {
        identity.resume = saved.resume
      }
    }
    if !mayUseToken { identity.token = nil }
    model = ClientModel(identity, seed: random.next())
  }

  static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  // MARK: commands, from any thread

  func open() {
    loop.execute {
      self.wanted = true
      self.tries = 0
      self.retryTask?.cancel()
      if self.channel == nil { self.dial() }
    }
  }

  func close() {
    loop.execute {
      self.wanted = false
      self.attempt += 1
      self.retryTask?.cancel()
      self.stopDialing()
      if let channel = self.channel {
        channel.writeAndFlush(ByteBuffer(bytes: ClientLine(.bye).bytes)).whenComplete { _ in channel.close(promise: nil)
        }
        self.channel = nil
        self.model.disconnected()
      }
      self.heartbeat?.cancel()
      self.tell([.status(.closed)])
    }
  }

  func drop() { loop.execute { self.channel?.close(promise: nil) } }
  func ask(_ message: ClientMessage) { loop.execute { self.carryOut(self.model.ask(message)) } }
  func act(_ m: MatchID, _ action: MatchAction) {
    loop.execute { self.carryOut(self.model.act(m, action, now: ClientRunner.now)) }
  }
  func forget(_ m: MatchID) {
    loop.execute {
      self.model.forget(m)
      self.tell([])
    }
  }

  func move(_ m: MatchID, _ cell: Square) {
    loop.execute {
      guard let view = self.model.matches[m] else { return }
      let action = MatchAction.move(ply: view.state.position.ply, cell: cell)
      self.carryOut(self.model.act(m, action, now: ClientRunner.now))
    }
  }

  func acceptBots() {
    loop.execute {
      guard var seek = self.model.currentSeek else { return }
      seek.bots = true
      self.carryOut(self.model.ask(.seek(seek)))
    }
  }

  // MARK: connecting

  private var endpoint: MatchClient.Configuration.Endpoint { endpoints[current] }
  private var hasSeveral: Bool { endpoints.count > 1 }

  /// What is kept of the node it is now.
  private var known: ClientFolder? {
    guard current > 0, let path = configuration.folder else { return folder }
    if let known = pins[endpoint] { return known }
    let fresh = ClientFolder(path, host: endpoint.host, port: endpoint.port)
    pins[endpoint] = fresh
    return fresh
  }

  private func dial(pinning asked: Bool = false) {
    // Who was pinned is held to that, even if an authority should vouch for somebody else by now.
    let known = known
    let pinning = asked || known?.pin != nil
    attempt += 1
    let attempt = attempt
    tell([.status(.connecting)])
    let tls: NIOSSLContext?
    let usesTLS = configuration.usesTLS(to: endpoint)
    do { tls = usesTLS ? try TLSTrust.context(verifying: !pinning) : nil } catch {
      return failed(.tls(.unusable("\(error)")))
    }
    let trust = TLSTrust(folder: known)
    let (host, port) = (endpoint.host, endpoint.port)
    let patience: Int64 = hasSeveral ? 1000 : 5000
    // The handshake of TLS has no end of its own: to a process that is stopped it would take for ever.
    dialTask = loop.scheduleTask(in: .milliseconds(patience + (hasSeveral ? ClientRunner.greetNode : patience))) {
      guard attempt == self.attempt, self.wanted else { return }
      self.attempt += 1
      self.stopDialing()
      self.lastProblem = .unreachable("\(host):\(port)")
      self.scheduleRetry()
    }
    ClientBootstrap(group: loop)
      .connectTimeout(.milliseconds(patience))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        if attempt == self.attempt { self.dialing = channel }
        return channel.eventLoop.makeCompletedFuture {
          if let tls {
            let name = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." } ? nil : host
            let handler =
              pinning
              ? try NIOSSLClientHandler(
                context: tls, serverHostname: name,
                customVerificationCallback: { chain, promise in trust.verify(chain, promise) })
              : try NIOSSLClientHandler(context: tls, serverHostname: name)
            try channel.pipeline.syncOperations.addHandler(handler)
          }
          try channel.pipeline.syncOperations.addHandler(
            ClientChannelHandler(
              up: { self.isUp($0, attempt, tls: tls != nil) }, bytes: { self.received($0, attempt) },
              down: { self.isDown(attempt, problem: $0, tls: tls != nil, trust, pinning) }, waitsForTLS: tls != nil))
        }
      }
      .connect(host: host, port: port)
      .whenFailure { error in
        guard attempt == self.attempt, self.wanted else { return }
        self.stopDialing()
        self.lastProblem = .unreachable("\(host):\(port)")
        self.scheduleRetry()
      }
  }

  private func stopDialing() {
    dialTask?.cancel()
    dialing?.close(promise: nil)
    dialing = nil
  }

  private func isUp(_ channel: any Channel, _ attempt: Int, tls: Bool) {
    guard attempt == self.attempt, wanted else { return channel.close(promise: nil) }
    if tls { known?.rememberVerified(unlessPinned: true) }
    dialing = nil
    dialTask?.cancel()
    self.channel = channel
    framer = LineFramer(limit: Limits.lineOut)
    heard = ClientRunner.now
    hasHeard = false
    carryOut(model.connected())
    startBeating()
  }

  private func startBeating() {
    heartbeat?.cancel()
    let every: TimeAmount = hasSeveral ? .milliseconds(250) : .seconds(5)
    heartbeat = loop.scheduleRepeatedTask(initialDelay: every, delay: every) { _ in self.beat() }
  }

  /// Notices a server that has gone without a word.
  private func beat() {
    guard let channel else { return }
    let silence = ClientRunner.now - heard
    let longest = hasHeard ? ClientRunner.leaveNode : ClientRunner.greetNode
    if silence > (hasSeveral ? longest : Int64(Limits.silence)) {
      lastProblem = .silent
      channel.close(promise: nil)
    } else if silence > (hasSeveral ? ClientRunner.askNode : Int64(Limits.heartbeat)) {
      send([ClientLine(.ping(ClientRunner.now)).bytes])
    }
  }

  private func received(_ buffer: ByteBuffer, _ attempt: Int) {
    guard attempt == self.attempt else { return }
    heard = ClientRunner.now
    var framer = framer
    buffer.withUnsafeReadableBytes { raw in
      framer.feed(raw) { piece in
        guard case .line(let line) = piece else { return true }
        hasHeard = true
        carryOut(model.receive(line, now: ClientRunner.now))
        return channel != nil
      }
    }
    self.framer = framer
  }

  private func isDown(_ attempt: Int, problem: (any Error)?, tls: Bool, _ trust: TLSTrust, _ pinning: Bool) {
    guard attempt == self.attempt else { return }
    let wasUp = channel != nil
    channel = nil
    stopDialing()
    heartbeat?.cancel()
    model.disconnected()
    guard wanted else { return }
    if let failure = model.failure { return failed(failure) }
    if tls, !wasUp {
      if let change = trust.change {
        return failed(.fingerprintChanged(expected: change.expected, found: change.found))
      }
      if let problem, TLSTrust.isVerificationFailure(problem) {
        // Not vouched for by anybody: a self-signed server is taken at its word the first time, and held to it after.
        if !pinning, known?.wasVerified != true { return dial(pinning: true) }
        return failed(.tls(.untrusted))
      }
      if let problem, problem is NIOSSLError || problem is BoringSSLError {
        return failed(.tls(.absent))
      }
    }
    if lastProblem == nil { lastProblem = wasUp && !hasHeard && !tls ? .wordless : .lost }
    scheduleRetry()
  }

  private func failed(_ failure: ClientFailure) {
    wanted = false
    tell([.status(.failed(failure))])
  }

  /// Tries again after a pause that grows, with jitter so that not all clients of a restarted server come at once.
  private func scheduleRetry() {
    // With several nodes the next one is tried at once, and only after a whole round the pauses grow. A server may say
    // where the match is, but not send anybody to a place he does not know.
    let named = model.takeDirection().flatMap { MatchClient.Configuration.Endpoint($0) }
    current = named.flatMap { endpoints.firstIndex(of: $0) } ?? (current + 1) % endpoints.count
    let round = tries / endpoints.count
    let pause = min(
      hasSeveral ? ClientRunner.longestPauseOfMany : ClientRunner.longestPause,
      (hasSeveral ? 100 : 250) << min(round, 5))
    let asked = hasSeveral ? 0 : model.retry ?? 0
    let wait = max(asked, pause / 2) + Int.random(in: 0...(pause / 2), using: &random)
    tries += 1
    tell([.status(.waiting(milliseconds: wait, reason: lastProblem ?? .lost))])
    lastProblem = nil
    retryTask = loop.scheduleTask(in: .milliseconds(Int64(wait))) {
      if self.wanted, self.channel == nil { self.dial() }
    }
  }

  // MARK: carrying out

  private func carryOut(_ output: ClientModel.Output) {
    send(output.lines)
    for case .status(.online(let welcome)) in output.events {
      tries = 0
      learn(welcome.nodes)
    }
    if output.credentialsChanged {
      folder?.credentials = .init(token: model.identity.token, resume: model.identity.resume)
    }
    tell(output.events)
    if output.close, let channel {
      if model.failure == nil, let retry = model.retry { lastProblem = .asked(milliseconds: retry) }
      channel.close(promise: nil)
    }
  }

  /// Remembers the nodes a server tells of, if what it knows of us is as safe with them.
  private func learn(_ nodes: [String]) {
    let hadSeveral = hasSeveral
    for node in nodes.compactMap({ MatchClient.Configuration.Endpoint($0) }) where endpoints.count < 16 {
      if !endpoints.contains(node), configuration.mayKnow(node) { endpoints.append(node) }
    }
    if hasSeveral, !hadSeveral { startBeating() }
  }

  private func send(_ lines: [[UInt8]]) {
    guard let channel, !lines.isEmpty else { return }
    var buffer = channel.allocator.buffer(capacity: lines.reduce(0) { $0 + $1.count })
    for line in lines { buffer.writeBytes(line) }
    channel.writeAndFlush(buffer, promise: nil)
  }

  private func tell(_ events: [ClientEvent]) { deliver?(events, model.matches) }
}

/// Passes a channel's life and bytes on, once TLS, if there is any, is through.
private final class ClientChannelHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let up: (any Channel) -> Void
  private let bytes: (ByteBuffer) -> Void
  private let down: ((any Error)?) -> Void
  private let waitsForTLS: Bool
  private var problem: (any Error)?

  init(
    up: @escaping (any Channel) -> Void, bytes: @escaping (ByteBuffer) -> Void,
    down: @escaping ((any Error)?) -> Void, waitsForTLS: Bool
  ) {
    (self.up, self.bytes, self.down, self.waitsForTLS) = (up, bytes, down, waitsForTLS)
  }

  func channelActive(context: ChannelHandlerContext) { if !waitsForTLS { up(context.channel) } }
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted = event { up(context.channel) }
    context.fireUserInboundEventTriggered(event)
  }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) { bytes(unwrapInboundIn(data)) }
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if problem == nil { problem = error }
    context.close(promise: nil)
  }
  func channelInactive(context: ChannelHandlerContext) { down(problem) }
}
