import NIOCore

/// Reads the PROXY header (versions 1 and 2, haproxy's proxy-protocol.txt) that a trusted proxy sends first on a connection.
final class ProxyProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// The longest accepted header in bytes. A version 1 line has at most 107, a version 2 header for IPv4 or IPv6 less than 536.
  private static let most = 536

  private var held = ByteBuffer()
  private let found: (SocketAddress?, ChannelHandlerContext) -> Void
  private let within: TimeAmount
  private var timeout: Scheduled<Void>?

  /// Calls `found` with the client's address, or `nil` if the header names none. Closes a connection whose header does not arrive in time.
  init(within: TimeAmount, _ found: @escaping (SocketAddress?, ChannelHandlerContext) -> Void) {
    (self.within, self.found) = (within, found)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    timeout = context.eventLoop.scheduleTask(in: within) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timeout?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    held.writeBuffer(&buffer)
    switch ProxyHeader.parse(Array(held.readableBytesView.prefix(ProxyProtocolHandler.most))) {
    case .needsMore where held.readableBytes < ProxyProtocolHandler.most: break
    case .needsMore, .invalid: context.close(promise: nil)
    case .header(let length, let address):
      held.moveReaderIndex(forwardBy: length)
      found(address, context)
      let rest = held
      held = ByteBuffer()
      if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
      context.fireChannelReadComplete()
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
  }
}

enum ProxyHeader {
  enum Result: Equatable {
    case needsMore
    case invalid
    case header(length: Int, SocketAddress?)
  }

  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

  static func parse(_ bytes: [UInt8]) -> Result {
    if bytes.starts(with: signature.prefix(bytes.count)) {
      return bytes.count < 16 ? .needsMore : parseBinary(bytes)
    }
    let start = Array("PROXY ".utf8)
    guard bytes.starts(with: start.prefix(bytes.count)) else { return .invalid }
    guard let end = bytes.firstIndex(of: 0x0A) else { return bytes.count > 107 ? .invalid : .needsMore }
    guard end >= 1, end <= 107, bytes[end - 1] == 0x0D else { return .invalid }
    let words = String(decoding: bytes[..<(end - 1)], as: UTF8.self).split(separator: " ").map(String.init)
    if words.count >= 2, words[1] == "UNKNOWN" { return .header(length: end + 1, nil) }
    guard words.count == 6, words[1] == "TCP4" || words[1] == "TCP6", let port = Int(words[4]),
      (0...65535).contains(port),
      let address = try? SocketAddress(ipAddress: words[2], port: port)
    else { return .invalid }
    return .header(length: end + 1, address)
  }

  private static func parseBinary(_ bytes: [UInt8]) -> Result {
    let total = 16 + (Int(bytes[14]) << 8 | Int(bytes[15]))
    guard bytes[12] >> 4 == 2, total <= 536 else { return .invalid }
    guard bytes.count >= total else { return .needsMore }
    if bytes[12] & 15 == 0 { return .header(length: total, nil) }  // LOCAL: the proxy's own health check
    let body = bytes[16..<total]
    switch bytes[13] {
    case 0x11 where body.count >= 12:
      let text = body.prefix(4).map(String.init).joined(separator: ".")
      let port = Int(body[24]) << 8 | Int(body[25])
      return (try? SocketAddress(ipAddress: text, port: port)).map { .header(length: total, $0) } ?? .invalid
    case 0x21 where body.count >= 36:
      let groups = stride(from: 16, to: 32, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
      let port = Int(bytes[48]) << 8 | Int(bytes[49])
      return (try? SocketAddress(ipAddress: groups.joined(separator: ":"), port: port)).map {
        .header(length: total, $0)
      } ?? .invalid
    default: return .header(length: total, nil)
    }
  }
}
