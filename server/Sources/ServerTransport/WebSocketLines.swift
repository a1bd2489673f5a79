import NIOCore
import NIOWebSocket

/// One text message of a WebSocket is one line, in both directions.
final class WebSocketLines: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = WebSocketFrame

  /// The most bytes of a frame; a longer one ends the connection. Lines, possibly of several frames, have their own limit.
  static let mostFrame = 16 * 1024

  /// Whether a message has begun and its last frame is missing.
  private var isInside = false
  private var isClosing = false
  /// The number of pings, pongs and empty frames since the last line. More than `mostIdle` end the connection.
  private var idle = 0
  private static let mostIdle = 1000

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    let frame = unwrapInboundIn(data)
    guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return end(.protocolError, context) }
    let isIdle = frame.length == 0 || frame.opcode == .ping || frame.opcode == .pong
    idle = isIdle ? idle + 1 : frame.fin ? 0 : idle
    guard idle <= Self.mostIdle else { return end(.policyViolation, context) }
    switch frame.opcode {
    case .text where !isInside, .continuation where isInside:
      isInside = !frame.fin
      var bytes = frame.unmaskedData
      if frame.fin { bytes.writeInteger(UInt8(ascii: "\n")) }
      context.fireChannelRead(wrapInboundOut(bytes))
    case .binary: end(.unacceptableData, context)
    case .ping:
      // Send no more pongs to a client that does not read them.
      guard context.channel.isWritable else { return }
      context.write(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)), promise: nil)
    case .pong: break
    case .connectionClose: end(.normalClosure, context)
    default: end(.protocolError, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case _ where isClosing: break
    case NIOWebSocketError.invalidFrameLength: end(.messageTooLarge, context)
    case is NIOWebSocketError: end(.protocolError, context)
    default: context.fireErrorCaught(error)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !isClosing else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    var lines = unwrapOutboundIn(data)
    while let end = lines.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
      let line = lines.readSlice(length: end - lines.readerIndex)
    {
      lines.moveReaderIndex(forwardBy: 1)
      let frame = WebSocketFrame(fin: true, opcode: .text, data: line)
      context.write(wrapOutboundOut(frame), promise: lines.readableBytes == 0 ? promise : nil)
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    sayClose(.normalClosure, context)
    context.close(mode: mode, promise: promise)
  }

  private func end(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
    sayClose(code, context)
    // Closing with unread input would reset the connection and might lose the close frame: continue reading for a moment.
    let channel = context.channel
    context.eventLoop.scheduleTask(in: .milliseconds(SessionHandler.linger)) { channel.close(promise: nil) }
  }

  private func sayClose(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
    guard !isClosing else { return }
    isClosing = true
    var data = ByteBuffer()
    data.write(webSocketErrorCode: code)
    context.writeAndFlush(
      wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)), promise: nil)
  }
}
