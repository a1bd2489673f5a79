import Testing
import TicTacToe

@testable import Screen

@Suite("Drawing only the changed region of a picture")
struct DamageTests {
  /// One of two screens draws only its damage (the regions that have changed).
  @Test("drawing the damage alone gives the same picture as a full redraw", arguments: [(320, 480), (1280, 720)])
  func equality(width: Int, height: Int) {
    let partial = RootScreen(services: Samples.services())
    let full = RootScreen(services: Samples.services())
    let a = PixelBuffer(width: width, height: height)
    let b = PixelBuffer(width: width, height: height)
    var isNew = true
    var drawn = 0
    func frame(_ now: Double) {
      let rects = partial.draw(into: a.bitmap, isNew: isNew, at: now)
      _ = full.draw(into: b.bitmap, isNew: true, at: now)
      isNew = false
      drawn += rects.reduce(0) { $0 + $1.width * $1.height }
      var worst = 0
      var different = 0
      for y in 0..<height {
        for x in 0..<width {
          let (p, q) = (a.bitmap.pixels[y * a.bitmap.stride + x], b.bitmap.pixels[y * b.bitmap.stride + x])
          guard p != q else { continue }
          different += 1
          for shift in [0, 8, 16] as [UInt32] {
            worst = max(worst, abs(Int(p >> shift & 255) - Int(q >> shift & 255)))
          }
        }
      }
      // Cairo cuts a path at the clip before rasterising it, so an edge at the clip may differ by one of a pixel's fifteen sub-rows (255 /
      // 15 = 17 levels). A larger difference means that a view draws outside its bounds.
      #expect(worst <= 17 && different <= 3, "\(different) pixels differ, by up to \(worst), at \(now)")
    }
    func both(_ events: [InputEvent], _ now: Double) {
      partial.handle(events, at: now)
      full.handle(events, at: now)
    }
    frame(0)
    let moves = [4, 1, 0, 8, 6, 2, 3]
    var now = 0.0
    for count in 1...moves.count {
      let model = Samples.model(Array(moves.prefix(count)))
      partial.model = model
      full.model = model
      let place = partial.boardCell(Square(moves[count - 1]))
      both([.pointerMoved(x: place.x, y: place.y)], now)
      for _ in 0..<4 {
        now += 0.17
        both([], now)
        frame(now)
      }
      both([.key(.tab, [], isRepeat: false)], now)
      frame(now)
    }
    for _ in 0..<12 {
      now += 0.17
      both([], now)
      frame(now)
    }
    // Most frames change only a small part of the picture.
    #expect(drawn < width * height * 25, "damage is \(Double(drawn) / Double(width * height)) pages")
  }

  @Test("a picture at rest requests no frame and draws no region")
  func rest() {
    let screen = RootScreen(services: Samples.services())
    screen.model = Samples.model([4, 0])
    let buffer = PixelBuffer(width: 640, height: 360)
    _ = screen.draw(into: buffer.bitmap, isNew: true, at: 0)
    screen.handle([], at: 30)
    _ = screen.draw(into: buffer.bitmap, isNew: false, at: 30)
    #expect(screen.nextFrame(after: 31) == .infinity)
    #expect(screen.draw(into: buffer.bitmap, isNew: false, at: 31).isEmpty)
  }

  @Test("a hover repaints no more than a cell and the staff")
  func hover() {
    let screen = RootScreen(services: Samples.services())
    let buffer = PixelBuffer(width: 1280, height: 720)
    _ = screen.draw(into: buffer.bitmap, isNew: true, at: 0)
    screen.handle([], at: 5)
    _ = screen.draw(into: buffer.bitmap, isNew: false, at: 5)
    let place = screen.boardCell(Square(2))
    screen.handle([.pointerMoved(x: place.x, y: place.y)], at: 6)
    let rects = screen.draw(into: buffer.bitmap, isNew: false, at: 6.05)
    let area = rects.reduce(0) { $0 + $1.width * $1.height }
    #expect(area > 0)
    #expect(area < 1280 * 720 / 3, "\(rects)")
  }
}
