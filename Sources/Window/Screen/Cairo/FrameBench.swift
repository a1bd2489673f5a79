import Interface
import TicTacToe

/// What drawing costs, in milliseconds: the medians of many frames.
package struct FrameBench: Sendable, Hashable {
  /// A full redraw with the static layer drawn anew.
  package var uncached: Double
  /// A full redraw with the static layer cached.
  package var cached: Double
  /// A cell whose ghost fades in, input included.
  package var cell: Double
  package var width: Int
  package var height: Int

  /// Measures a finished game on the board page; a second at 1280×720, several at 3840×2160.
  package init(width: Int, height: Int, services: PlatformServices, themes: [Theme] = [.light]) {
    (self.width, self.height) = (width, height)
    var silent = services
    silent.configFolder = { "" }
    let screen = RootScreen(services: silent, themes: themes)
    var model = BoardModel()
    for index in [4, 1, 0, 8, 6] { try? model.game.play(Square(index)) }
    screen.model = model
    let buffer = PixelBuffer(width: width, height: height)
    _ = screen.draw(into: buffer.bitmap, isNew: true, at: 0)
    screen.handle([], at: 30)
    uncached = FrameBench.median(of: 21) { _ in
      screen.dropCaches()
      _ = screen.draw(into: buffer.bitmap, isNew: true, at: 30)
    }
    cached = FrameBench.median(of: 61) { _ in _ = screen.draw(into: buffer.bitmap, isNew: true, at: 30) }
    var places: [Point] = []
    screen.boardScene.visit {
      if let cell = $0 as? CellView, cell.square.index == 2 || cell.square.index == 5 {
        places.append(cell.frame.center)
      }
    }
    // The pointer changes cells every tenth frame; every frame in between moves two ghosts.
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

  /// The figures as three lines.
  package var report: String {
    func ms(_ value: Double) -> String { "\((value * 1000).rounded() / 1000) ms" }
    return "\(width)×\(height): full redraw uncached \(ms(uncached)), cached \(ms(cached)), one cell \(ms(cell))"
  }
}
