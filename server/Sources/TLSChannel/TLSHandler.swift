import NIOCore
import TLS

/// TLS between a socket and handlers for plain text. After the handshake, writes are encrypted at once, so that the channel counts the
/// bytes that a slow reader has not read.
package final class TLSHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  private let engine: TLSEngine
  private var early: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  private var (canRead, canWrite, hasDelivered) = (true, true, false)

  /// `host`: the server to which a client connects; `nil` on a server.
  package init(_ context: TLSContext, calling host: String? = nil) throws {
    engine = try TLSEngine(context, host == nil ? .server : .client)
    if let host { try engine.expect(host) }
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { step(context) }
  }

  package func handlerRemoved(context: ChannelHandlerContext) { stopWriting() }

  package func channelActive(context: ChannelHandlerContext) {
    step(context)
    context.fireChannelActive()
  }

  /// A missing closing alert is not reported: a line or HTTP request shows by its form whether it is complete.
  package func channelInactive(context: ChannelHandlerContext) {
    stopWriting()
    context.fireChannelInactive()
  }

  // MARK: in

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unwrapInboundIn(data).withUnsafeReadableBytes { engine.take($0) }
    step(context)
  }

  /// If the read delivered no plain text, reads from the socket again: the next handler, which got nothing, does not ask for more.
  package func channelReadComplete(context: ChannelHandlerContext) {
    if !hasDelivered { context.read() }
    hasDelivered = false
    context.fireChannelReadComplete()
  }

  private func step(_ context: ChannelHandlerContext) {
    guard canRead else { return }
    var said = context.channel.allocator.buffer(capacity: 0)
    var problem: TLSFailure?
    do throws(TLSFailure) {
      let wasEstablished = engine.isEstablished
      if try engine.shakeHands() {
        if !wasEstablished { sealEarly(context) }
        try read(into: &said)
      }
    } catch {
      problem = error
      canRead = false
    }
    // Send the next handshake message, or the alert that explains a failure.
    sendLeaving(context)
    if said.readableBytes > 0 {
      hasDelivered = true
      context.fireChannelRead(wrapInboundOut(said))
    }
    guard !canRead else { return }
    if problem == nil, canWrite {
      engine.sayGoodbye()
      sendLeaving(context)
    }
    stopWriting()
    if let problem { context.fireErrorCaught(problem) }
    context.close(promise: nil)
  }

  private func read(into said: inout ByteBuffer) throws(TLSFailure) {
    while canRead {
      var reading = Result<TLSEngine.Reading, TLSFailure>.success(.ended)
      said.writeWithUnsafeMutableBytes(minimumWritableBytes: 1024) { raw in
        reading = Result { () throws(TLSFailure) in try engine.read(into: raw) }
        if case .success(.bytes(let count)) = reading { return count }
        return 0
      }
      switch try reading.get() {
      case .bytes: break
      case .wantsMore: return
      case .ended: canRead = false
      }
    }
  }

  // MARK: out

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = unwrapOutboundIn(data)
    guard canWrite else { return promise?.fail(ChannelError.ioOnClosedChannel) ?? () }
    guard engine.isEstablished else { return early.append((bytes, promise)) }
    seal(bytes, promise, context)
  }

  private func seal(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    do {
      try bytes.withUnsafeReadableBytes { try engine.say($0) }
      context.write(wrapOutboundOut(ByteBuffer(bytes: engine.takeLeaving())), promise: promise)
    } catch {
      promise?.fail(error)
      context.fireErrorCaught(error)
    }
  }

  private func sealEarly(_ context: ChannelHandlerContext) {
    sendLeaving(context)
    let waiting = early
    early = []
    for (bytes, promise) in waiting { seal(bytes, promise, context) }
    context.flush()
  }

  private func sendLeaving(_ context: ChannelHandlerContext) {
    let leaving = engine.takeLeaving()
    if !leaving.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: leaving)), promise: nil) }
  }

  private func stopWriting() {
    canWrite = false
    let waiting = early
    early = []
    for (_, promise) in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
  }

  // MARK: the end

  /// Sends TLS's closing alert first, if it can still be written.
  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input, canWrite {
      stopWriting()
      engine.sayGoodbye()
      sendLeaving(context)
    }
    context.close(mode: mode, promise: promise)
  }
}
