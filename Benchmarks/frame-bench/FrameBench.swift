import Glibc
import Interface
import SDLPlatform
import Screen
import TicTacToe

/// The cost of drawing in milliseconds: medians over many frames of the board page with a game after five moves.
@main struct FrameBench {
  /// A full redraw that also draws the layer of unchanging parts.
  private let uncached: Double
  /// A full redraw with the layer of unchanging parts from a cache.
  private let cached: Double
  /// A frame in which one preview mark fades in and another fades out, with the handling of the pointer's move.
  private let cell: Double

  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    let size = (arguments.first ?? "1280x720").split(separator: "x").compactMap { Int($0) }
    guard arguments.count < 2, size.count == 2, size.allSatisfy({ 320...7_680 ~= $0 }) else {
      print("frame-bench takes the size of the picture, WIDTHxHEIGHT, each from 320 to 7680")
      exit(2)
    }
    let bench = FrameBench(width: size[0], height: size[1])
    func text(_ value: Double) -> String { "\((value * 100).rounded() / 100) ms" }
    print(
      "\(size[0])×\(size[1]): whole picture \(text(bench.uncached)) uncached, \(text(bench.cached)) cached, "
        + "one cell \(text(bench.cell))")
  }

  private init(width: Int, height: Int) {
    var services = PlatformServices.headless()
    services.configFolder = { "" }
    let screen = RootScreen(services: services, themes: [.light])
    var model = BoardModel()
    for index in [4, 1, 0, 8, 6] { try? model.game.play(Square(index)) }
    screen.model = model
    let buffer = PixelBuffer(width: width, height: height)
    _ = screen.draw(into: buffer.bitmap, isNew: true, at: 0)
    screen.handle([], at: 30)
    uncached = FrameBench.median(of: 21) { _ in
      screen.handle([.visible(true)], at: 30)
      _ = screen.draw(into: buffer.bitmap, isNew: true, at: 30)
    }
    cached = FrameBench.median(of: 61) { _ in _ = screen.draw(into: buffer.bitmap, isNew: true, at: 30) }
    // The third and the sixth cell in reading order are empty.
    let cells = screen.accessible().filter { $0.role == "gridcell" }
    let places = [cells[2].place, cells[5].place].map { place -> (x: Double, y: Double) in
      let (halfWidth, halfHeight) = (Double(place.width) / 2, Double(place.height) / 2)
      return (Double(place.x) + halfWidth, Double(place.y) + halfHeight)
    }
    // Every tenth frame the pointer changes between two empty cells. In the frames in between, one preview mark fades in and one fades out.
    cell = FrameBench.median(of: 120) { frame in
      let now = 31 + Double(frame) / 60
      let place = places[frame / 10 % places.count]
      screen.handle([.pointerMoved(x: place.x + Double(frame % 10), y: place.y)], at: now)
      _ = screen.draw(into: buffer.bitmap, isNew: false, at: now)
    }
  }

  private static func median(of count: Int, _ body: (Int) -> Void) -> Double {
    let clock = ContinuousClock()
    let times = (0..<count).map { index in
      let parts = clock.measure { body(index) }.components
      return Double(parts.seconds) * 1e3 + Double(parts.attoseconds) / 1e15
    }
    return times.sorted()[count / 2]
  }
}
