import Dispatch
import Lobby
import MatchProtocol
import MatchStore
import NIOCore
import Synchronization

/// The last handler of a connection's pipeline, between `ServerSession` and the lobby. Confined to the channel's event loop.
final class SessionHandler: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The most bytes that may wait in the channel before a slow reader is disconnected.
  static let mostWaiting = 256 * 1024
  /// Milliseconds for which the channel may be unwritable before the client is disconnected.
  static let longestWait: Int64 = 10_000
  /// The most bytes of lines that are collected for one write. Only bytes in the channel count towards `mostWaiting`.
  static let mostAtOnce = 16 * 1024
  /// Milliseconds that a closing connection has to read the `bye`.
  static let linger: Int64 = 250

  let id: ConnectionID
  private let metrics: HostMetrics
  private let sweep: ConnectionSweep
  private var session: ServerSession
  private var context: ChannelHandlerContext?
  let loop: any EventLoop
  private var isEnding = false
  private var saidBye = false
  /// The number of lines of this connection that the lobby has not handled.
  private let unhandled = Atomic(0)
  /// Whether reading is paused because the lobby is behind.
  private var isPaused = false
  private var missed: [MatchID] = []
  /// When `welcome` was written, in monotonic milliseconds. Later lines must get a later date: the first ends the old resume token.
  private var welcomed: Int64?
  /// The longest round trip, in milliseconds, not charged to a client's clock: the kernel's measurement plus `answerTime`.
  private var longestTrip = Int.max
  /// Behind a proxy the kernel measures only the route to the proxy. A round trip between continents takes less than 200 ms.
  private static let longestTripBehindProxy = 200
  /// Milliseconds that a client may take to answer a ping.
  private static let answerTime = 20
  /// When the channel stopped being writable, in monotonic milliseconds; `nil` while the channel is writable.
  private var unwritableSince: Int64?
  private var hasBegun = false
  /// Input before the lobby's greeting, which must be sent first; `nil` after the greeting.
  private var early: ByteBuffer? = ByteBuffer()
  /// The most bytes of input before the lobby's greeting; more end the connection.
  private static let mostEarly = 64 * 1024
  private static let allocator = ByteBufferAllocator()
  /// Lines of the lobby that are collected for a single write.
  private var outgoing: ByteBuffer?
  /// The client's address as named by a trusted proxy.
  var proxied: SocketAddress?

  init(
    id: ConnectionID, metrics: HostMetrics, sweep: ConnectionSweep, configuration: ServerSession.Configuration,
    loop: any EventLoop
  ) {
    (self.id, self.metrics, self.sweep, self.loop) = (id, metrics, sweep, loop)
    session = ServerSession(configuration, now: Moment.currentMonotonic)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { begin(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    guard !hasBegun else { return }
    hasBegun = true
    sweep.add(self)
    let address = proxied.map(PeerAddress.key) ?? context.channel.peerKey
    measureNetwork(context)
    sweep.inbox.put(.connected(id, self, address: address))
  }

  func channelInactive(context: ChannelHandlerContext) {
    sweep.remove(self)
    sweep.inbox.put(.disconnected(id, clean: saidBye))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  // MARK: in

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isEnding else { return }
    let buffer = unwrapInboundIn(data)
    guard early == nil else {
      early?.writeImmutableBuffer(buffer)
      if early?.readableBytes ?? 0 > SessionHandler.mostEarly {
        end(.flood, "too much before the greeting", retry: nil)
      }
      return
    }
    take(buffer, context)
  }

  private func take(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
    let now = Moment.currentMonotonic
    var lines: [(line: ClientLine, at: Int64)] = []
    var ending: (ByeCode, String, String?)?
    buffer.withUnsafeReadableBytes { raw in
      session.receive(raw, now: now) { action in
        switch action {
        case .deliver(let line, let at): lines.append((line, max(at, (welcomed ?? at - 1) + 1)))
        case .send(let line): write(line, context)
        case .close(let code, let text, let re): ending = (code, text, re)
        }
      }
    }
    if !lines.isEmpty {
      let read = DispatchTime.now().uptimeNanoseconds
      unhandled.add(lines.count, ordering: .relaxed)
      sweep.inbox.put(.lines(id, lines, roundTrip: min(session.roundTrip, longestTrip), read: read))
    }
    if let (code, text, re) = ending {
      saidBye = code == .bye
      end(code, text, re: re, retry: nil)
    } else if isOverfull(context) {
      dropSlowReader()
    }
  }

  private func isOverfull(_ context: ChannelHandlerContext) -> Bool {
    guard unwritableSince != nil else { return false }
    return (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 > SessionHandler.mostWaiting
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.flush()
    if !isPaused, mustPause {
      isPaused = true
      sweep.paused.append(self)
      context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
    }
    context.fireChannelReadComplete()
  }

  /// Called on the lobby's loop.
  func handled(_ lines: Int) { unhandled.subtract(lines, ordering: .relaxed) }

  /// Whether to stop reading: the lobby is behind, and some of its unhandled lines came from this connection.
  private var mustPause: Bool {
    sweep.inbox.isFull && unhandled.load(ordering: .relaxed) > 0
  }

  /// Returns whether the connection reads again.
  func readOn() -> Bool {
    guard !mustPause else { return false }
    isPaused = false
    context?.channel.setOption(.autoRead, value: true).whenFailure { _ in }
    return true
  }

  // MARK: out

  /// Called on `loop`, the event loop of this connection.
  func take(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      switch delivery {
      case .line(let line, let kind): deliver(line, kind)
      case .end(let code, let text, let retry): end(code, text, retry: retry)
      }
    }
    guard let context else { return }
    write(context)
    context.flush()
  }

  private func deliver(_ line: [UInt8], _ kind: LineKind) {
    guard let context, !isEnding else { return }
    if welcomed == nil, session.isOpen { welcomed = Moment.currentMonotonic }
    if unwritableSince != nil {
      switch kind {
      case .droppable: return
      case .spectator(let m):
        if !missed.contains(m) { missed.append(m) }
        return
      case .essential: if isOverfull(context) { return dropSlowReader() }
      }
    }
    if outgoing == nil { outgoing = SessionHandler.allocator.buffer(capacity: max(line.count, 512)) }
    outgoing?.writeBytes(line)
    if let waiting = outgoing?.readableBytes, waiting > SessionHandler.mostAtOnce { write(context) }
    if let early {
      self.early = nil
      if early.readableBytes > 0 { take(early, context) }
    }
  }

  /// Writes a line of `ServerSession`, such as a heartbeat, after the lobby's collected lines.
  private func write(_ line: [UInt8], _ context: ChannelHandlerContext) {
    write(context)
    context.write(wrapOutboundOut(ByteBuffer(bytes: line)), promise: nil)
  }

  private func write(_ context: ChannelHandlerContext) {
    guard let buffer = outgoing else { return }
    outgoing = nil
    context.write(wrapOutboundOut(buffer), promise: nil)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      unwritableSince = nil
      if !missed.isEmpty { sweep.inbox.put(.caughtUp(id, missed)) }
      missed = []
    } else {
      unwritableSince = Moment.currentMonotonic
    }
    context.fireChannelWritabilityChanged()
  }

  /// Called once a second.
  func tick(now: Int64) {
    guard let context, !isEnding else { return }
    if let since = unwritableSince, now - since > SessionHandler.longestWait { return dropSlowReader() }
    // While reading is paused, the client's lines are not seen, so the time limits for a silent client do not apply.
    guard !isPaused else { return }
    var wrote = false
    var ending: (ByeCode, String)?
    session.tick(now: now) { action in
      switch action {
      case .send(let line):
        write(line, context)
        wrote = true
      case .close(let code, let text, _): ending = (code, text)
      case .deliver: break
      }
    }
    if wrote {
      context.flush()
      measureNetwork(context)
    }
    if let (code, text) = ending { end(code, text, retry: nil) }
  }

  private func measureNetwork(_ context: ChannelHandlerContext) {
    if let proxied, proxied.ipAddress != context.remoteAddress?.ipAddress {
      longestTrip = SessionHandler.longestTripBehindProxy
    } else if let socket = context.channel as? any SocketOptionProvider {
      socket.getTCPInfo().assumeIsolated().whenSuccess {
        self.longestTrip = Int($0.tcpi_rtt) / 1000 + SessionHandler.answerTime
      }
    }
  }

  /// Disconnects a slow reader, without waiting until `bye` is written.
  private func dropSlowReader() {
    isEnding = true
    guard let context else { return }
    metrics.ended(.slow)
    write(ServerMessage.bye(.slow, "your client did not read what the server sent", retry: nil).bytes(), context)
    context.flush()
    context.close(promise: nil)
  }

  private func end(_ code: ByeCode, _ text: String, re: String? = nil, retry: Int?) {
    guard let context, !isEnding else { return }
    isEnding = true
    metrics.ended(code)
    write(ServerMessage.bye(code, text, retry: retry).bytes(re: re), context)
    context.flush()
    // Closing with unread input would reset the connection and might lose the `bye`: continue reading for a moment.
    loop.scheduleTask(in: .milliseconds(SessionHandler.linger)) { self.context?.close(promise: nil) }
  }
}

/// Collects the inputs of an event loop's connections in one turn of the loop, and passes them to the lobby in one call.
final class Inbox: @unchecked Sendable {  // confined to its event loop
  private let loop: any EventLoop
  private let host: LobbyHost
  private var arrivals: [Arrival] = []

  init(loop: any EventLoop, host: LobbyHost) { (self.loop, self.host) = (loop, host) }

  var isFull: Bool { host.unhandledLines > LobbyHost.mostUnhandled }

  /// Called on the loop only.
  func put(_ arrival: Arrival) {
    if case .lines(_, let lines, _, _) = arrival { host.read(lines.count) }
    arrivals.append(arrival)
    guard arrivals.count == 1 else { return }
    // This task runs after the reads of other connections in this turn of the loop, and passes on their inputs as well.
    loop.execute {
      let arrivals = self.arrivals
      // Make a new array, since the lobby's thread reads the old one.
      self.arrivals = []
      self.host.arrive(arrivals)
    }
  }
}

/// Calls `tick` of each connection once a second, group by group, so that simultaneous pings do not delay moves.
final class ConnectionSweep: @unchecked Sendable {  // confined to its event loop
  /// Every 1,000 / 20 = 50 ms the connections of the next group are ticked.
  private static let slices = 20
  let inbox: Inbox
  /// Connections whose reading is paused until the lobby has caught up.
  var paused: [SessionHandler] = []
  private var handlers = [[ObjectIdentifier: SessionHandler]](repeating: [:], count: slices)
  private var next = 0

  init(loop: any EventLoop, host: LobbyHost) {
    inbox = Inbox(loop: loop, host: host)
    let pause = TimeAmount.milliseconds(1000 / Int64(ConnectionSweep.slices))
    loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [weak self] task in
      guard let self else { return task.cancel() }
      let now = Moment.currentMonotonic
      for handler in self.handlers[self.next].values { handler.tick(now: now) }
      self.next = (self.next + 1) % ConnectionSweep.slices
      // Empty `paused` first: a connection that resumes may add itself to `paused` again at once.
      let paused = self.paused
      self.paused = []
      let stillPaused = paused.filter { !$0.readOn() }
      self.paused += stillPaused
    }
  }

  func add(_ handler: SessionHandler) { handlers[slice(handler)][ObjectIdentifier(handler)] = handler }
  func remove(_ handler: SessionHandler) { handlers[slice(handler)][ObjectIdentifier(handler)] = nil }

  /// Connection ids are sequential: connections made at the same time go to different slices.
  private func slice(_ handler: SessionHandler) -> Int { Int(handler.id % ConnectionID(ConnectionSweep.slices)) }
}

extension Channel {
  /// The key under which limits count this peer: its IPv4 address, or the first 64 bits of its IPv6 address; `nil` for this machine.
  var peerKey: String? { remoteAddress.flatMap(PeerAddress.key) }
}

/// Counts items by the key of their peer's address. An item without a key is allowed and not counted.
struct AddressCounts: Sendable {
  private var counts: [String: Int] = [:]

  func allow(_ key: String?, most: Int) -> Bool { key.map { counts[$0, default: 0] < most } ?? true }

  /// Returns `false`, and counts nothing, if the address has `most` items already.
  mutating func count(_ key: String?, most: Int) -> Bool {
    guard allow(key, most: most) else { return false }
    if let key { counts[key, default: 0] += 1 }
    return true
  }

  mutating func discount(_ key: String?) {
    guard let key, let count = counts[key] else { return }
    counts[key] = count > 1 ? count - 1 : nil
  }
}

package enum PeerAddress {
  /// Whether the host is this machine by its text alone: `127.example.org` is a name, which may be anywhere.
  package static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || (try? SocketAddress(ipAddress: host, port: 0)).map { key($0) == nil } == true
  }

  static func key(_ address: SocketAddress) -> String? {
    if let bytes = address.bytesOf4 {
      return bytes[0] == 127 ? nil : bytes.map { "\($0)" }.joined(separator: ".")
    }
    let bytes = address.addressBytes
    if bytes.isEmpty || bytes.dropLast().allSatisfy({ $0 == 0 }) && bytes.last == 1 { return nil }
    return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
  }
}
