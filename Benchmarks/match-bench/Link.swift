import Foundation
import NIOCore
import NIOPosix
import TLS
import TLSChannel

/// One connection of this load generator. Flushes sent lines at the end of a read.
final class Link: ChannelInboundHandler, @unchecked Sendable {  // confined to the one event loop of the load
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var context: ChannelHandlerContext?
  private var partial = ByteBuffer()
  private var isReading = false
  /// Called for each line, without its line end.
  var onLine: (UnsafeRawBufferPointer) -> Void = { _ in }
  var onEnd: () -> Void = {}
  /// Received and sent together.
  private(set) var lines = 0
  /// Received only.
  private(set) var bytes = 0

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    onEnd()
  }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isReading = true
    var buffer = unwrapInboundIn(data)
    bytes += buffer.readableBytes
    if partial.readableBytes > 0 {
      partial.writeBuffer(&buffer)
      swap(&partial, &buffer)
      partial = ByteBuffer()
    }
    let used = buffer.withUnsafeReadableBytes { raw -> Int in
      var rest = raw
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        lines += 1
        onLine(UnsafeRawBufferPointer(rebasing: rest[..<end]))
        rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
      }
      return raw.count - rest.count
    }
    buffer.moveReaderIndex(forwardBy: used)
    if buffer.readableBytes > 0 { partial = buffer }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    context.flush()
  }

  /// `line` includes its end.
  func send(_ line: [UInt8]) {
    guard let context else { return }
    lines += 1
    context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: line)), promise: nil)
    if !isReading { context.flush() }
  }

  func send(_ line: String) { send(Array(line.utf8)) }
  func close() { context?.close(promise: nil) }

  /// Opens connections to the ports in turn, at most 64 at a time. `prepare` runs on the event loop before data arrives.
  static func open(
    _ count: Int, ports: [Int], tls: TLSContext? = nil, on loop: any EventLoop,
    _ prepare: @escaping @Sendable (Int, Link) -> Void
  ) throws -> [Link] {
    let links = (0..<count).map { _ in Link() }
    for start in stride(from: 0, to: count, by: 64) {
      let batch = (start..<min(start + 64, count)).map { i in
        ClientBootstrap(group: loop).channelOption(.socketOption(.tcp_nodelay), value: 1)
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              prepare(i, links[i])
              let pipeline = channel.pipeline.syncOperations
              if let tls { try pipeline.addHandler(TLSHandler(tls, calling: "127.0.0.1")) }
              try pipeline.addHandler(links[i])
            }
          }.connect(host: "127.0.0.1", port: ports[i % ports.count])
      }
      for future in batch { _ = try future.wait() }
    }
    return links
  }
}

extension UnsafeRawBufferPointer {
  func has(_ text: StaticString, at offset: Int = 0) -> Bool {
    let n = text.utf8CodeUnitCount
    guard offset + n <= count, let base = baseAddress else { return false }
    return memcmp(base + offset, text.utf8Start, n) == 0
  }

  /// The offset just after the first `text` at or after `start`.
  func after(_ text: StaticString, from start: Int) -> Int? {
    let n = text.utf8CodeUnitCount
    var at = start
    while at + n <= count, let base = baseAddress {
      guard let next = memchr(base + at, Int32(text.utf8Start[0]), count - at) else { return nil }
      at = next - UnsafeMutableRawPointer(mutating: base)
      if at + n <= count, memcmp(next, text.utf8Start, n) == 0 { return at + n }
      at += 1
    }
    return nil
  }

  func word(at offset: Int) -> String {
    let end = self[offset...].firstIndex(of: UInt8(ascii: "\"")) ?? count
    return String(decoding: self[offset..<end], as: UTF8.self)
  }

  func number(at offset: Int) -> Int {
    var value = 0
    for byte in self[offset...] {
      guard byte &- 0x30 < 10 else { break }
      value = value * 10 + Int(byte - 0x30)
    }
    return value
  }
}
