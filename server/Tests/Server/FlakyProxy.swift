import Base
import MatchProtocol
import NIOCore
import NIOPosix
import Synchronization
import TicTacToe

/// A TCP proxy that simulates a bad network: it delays, splits, stalls and breaks connections.
final class FlakyProxy: @unchecked Sendable {  // state is confined to one event loop
  struct Weather: Sendable {
    /// The least delay in milliseconds.
    var least = 0
    /// The most milliseconds that are added at random to `least`.
    var delay = 40
    /// One in this many pieces of data ends its connection, after a stall of up to a second; 0 for none.
    var lossOneIn = 150

    static let clear = Weather(delay: 0, lossOneIn: 0)
  }

  private let group = MultiThreadedEventLoopGroup.singleton.next()
  private var weather: Weather
  private let target: EventLoopPromise<Int>
  fileprivate private(set) var stallsUntil = NIODeadline.uptimeNanoseconds(0)
  private var random: SplitMix64
  private var channel: (any Channel)?
  var broken: Int { breaks.load(ordering: .relaxed) }
  private let breaks = Atomic(0)

  convenience init(to port: Int, seed: UInt64, _ weather: Weather = .init()) async throws {
    try await self.init(seed: seed, weather)
    lead(to: port)
  }

  /// Connections wait until `lead` sets the target.
  init(seed: UInt64, _ weather: Weather) async throws {
    self.weather = weather
    target = group.makePromise()
    let target = target.futureResult
    random = SplitMix64(seed: seed)
    channel = try await ServerBootstrap(group: group)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { near in
        target.flatMap { port in
          ClientBootstrap(group: near.eventLoop).channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: port)
        }
        .flatMap { far in
          near.eventLoop.makeCompletedFuture {
            try near.pipeline.syncOperations.addHandler(FlakyPipe(self, to: far))
            try far.pipeline.syncOperations.addHandler(FlakyPipe(self, to: near))
            far.setOption(.autoRead, value: true).whenComplete { _ in }
            near.setOption(.autoRead, value: true).whenComplete { _ in }
          }
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var port: Int { channel?.localAddress?.port ?? 0 }

  func lead(to port: Int) { target.succeed(port) }

  func change(_ weather: Weather) { group.execute { self.weather = weather } }

  func stall(milliseconds: Int) {
    group.execute { self.stallsUntil = .now() + .milliseconds(Int64(milliseconds)) }
  }

  func stop() async throws {
    try await channel?.close()
  }

  /// Draws what happens to `count` waiting bytes: the first `piece` of them are passed on after `delay` milliseconds. If `isLost`, none of
  /// them is passed on, and the connection ends after `delay` milliseconds.
  fileprivate func fate(of count: Int) -> (delay: Int, piece: Int, isLost: Bool) {
    let isLost = weather.lossOneIn > 0 && random.below(weather.lossOneIn) == 0
    if isLost { breaks.add(1, ordering: .relaxed) }
    let piece = random.below(3) == 0 ? 1 + random.below(count) : count
    return (isLost ? random.below(1000) : weather.least + random.below(weather.delay + 1), piece, isLost)
  }
}

private final class FlakyPipe: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let proxy: FlakyProxy
  private let other: any Channel
  private var last = NIODeadline.now()
  private var isLost = false

  init(_ proxy: FlakyProxy, to other: any Channel) { (self.proxy, self.other) = (proxy, other) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    let near = context.channel
    while buffer.readableBytes > 0, !isLost {
      let fate = proxy.fate(of: buffer.readableBytes)
      last = max(last, .now() + .milliseconds(Int64(fate.delay)), proxy.stallsUntil)
      if fate.isLost {
        isLost = true
        context.eventLoop.scheduleTask(deadline: last) { [other] in
          near.close(promise: nil)
          other.close(promise: nil)
        }
      } else if let piece = buffer.readSlice(length: fate.piece) {
        context.eventLoop.scheduleTask(deadline: last) { [other] in other.writeAndFlush(piece, promise: nil) }
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    context.eventLoop.scheduleTask(deadline: last) { [other] in other.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
