import Glibc
import NIOCore
import NIOPosix

/// The reference for the server's rate: a NIO program that sends each line back unchanged.
enum Echo {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var partial = ByteBuffer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      if partial.readableBytes > 0 {
        partial.writeBuffer(&buffer)
        swap(&partial, &buffer)
        partial = ByteBuffer()
      }
      while let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
        let line = buffer.readSlice(length: end - buffer.readerIndex + 1)
      {
        context.write(wrapOutboundOut(line), promise: nil)
      }
      if buffer.readableBytes > 0 { partial = buffer }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
  }

  /// Has the same socket options as the match server.
  static func serve() throws -> Never {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.maxMessagesPerRead, value: 1024)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler()) }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    print("listening 127.0.0.1:\(channel.localAddress?.port ?? 0)")
    fflush(nil)
    try channel.closeFuture.wait()
    exit(0)
  }
}
