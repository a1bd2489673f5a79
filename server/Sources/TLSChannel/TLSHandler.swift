import NIOCore
import TLS

/// TLS between a socket and handlers that know nothing of it. What is written before hands are shaken waits; after that
/// it is sealed at once, so that what waits for a slow reader waits in the channel and is counted there.
package final class TLSHandler: ChannelDuplexHandler {
  /// Sealed.
  package typealias InboundIn = ByteBuffer
  /// In the clear.
  package typealias InboundOut = ByteBuffer
  /// In the clear.
  package typealias OutboundIn = ByteBuffer
  /// Sealed.
  package typealias OutboundOut = ByteBuffer

  private let engine: TLSEngine
  private var early: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  private var (canRead, canWrite, hasDelivered) = (true, true, false)

  /// One end of a connection: of the one who calls a host, or of the one who is called.
  package init(_ context: TLSContext, calling host: String? = nil) throws {
    engine = try TLSEngine(context, host == nil ? .called : .caller)
    if let host { try engine.expect(host) }
  }

  /// Begins the handshake on a connection that is there.
  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { step(context) }
  }

  /// Nothing is sealed any more.
  package func handlerRemoved(context: ChannelHandlerContext) { stopWriting() }

  /// Begins the handshake.
  package func channelActive(context: ChannelHandlerContext) {
    step(context)
    context.fireChannelActive()
  }

  /// An end without a good bye is none of ours to judge: lines and requests tell by themselves whether they are whole.
  package func channelInactive(context: ChannelHandlerContext) {
    stopWriting()
    context.fireChannelInactive()
  }

  // MARK: in

  /// Takes what is sealed, and hands on what it says.
  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unwrapInboundIn(data).withUnsafeReadableBytes { engine.take($0) }
    step(context)
  }

  /// Whoever asked for something to read has it, or asks the socket once more.
  package func channelReadComplete(context: ChannelHandlerContext) {
    if !hasDelivered { context.read() }
    hasDelivered = false
    context.fireChannelReadComplete()
  }

  /// Goes on as far as what has arrived allows.
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
    // A handshake's next words, or why it fails.
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

  /// Seals bytes, or keeps them until hands are shaken.
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
