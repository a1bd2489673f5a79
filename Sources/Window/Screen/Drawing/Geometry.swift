/// A position in device pixels, origin top left, y downwards.
package struct Point: Sendable, Hashable {
  package var x: Double
  package var y: Double

  package init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }

  static func + (a: Point, b: Point) -> Point { Point(a.x + b.x, a.y + b.y) }
  static func - (a: Point, b: Point) -> Point { Point(a.x - b.x, a.y - b.y) }
  static func * (a: Point, k: Double) -> Point { Point(a.x * k, a.y * k) }

  var length: Double { (x * x + y * y).squareRoot() }
}

/// A rectangle in device pixels.
package struct Rect: Sendable, Hashable {
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double

  /// A negative width or height becomes 0.
  package init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
    (self.x, self.y) = (x, y)
    self.width = max(0, width)
    self.height = max(0, height)
  }

  static let zero = Rect(0, 0, 0, 0)

  var maxX: Double { x + width }
  var maxY: Double { y + height }
  var midX: Double { x + width / 2 }
  var midY: Double { y + height / 2 }
  var center: Point { Point(midX, midY) }
  var isEmpty: Bool { width <= 0 || height <= 0 }

  func insetBy(_ dx: Double, _ dy: Double) -> Rect { Rect(x + dx, y + dy, width - 2 * dx, height - 2 * dy) }
  func movedBy(_ dx: Double, _ dy: Double) -> Rect { Rect(x + dx, y + dy, width, height) }

  func contains(_ p: Point) -> Bool { p.x >= x && p.x < maxX && p.y >= y && p.y < maxY }

  func intersects(_ other: Rect) -> Bool {
    !isEmpty && !other.isEmpty && x < other.maxX && other.x < maxX && y < other.maxY && other.y < maxY
  }

  func contains(_ other: Rect) -> Bool {
    other.x >= x && other.maxX <= maxX && other.y >= y && other.maxY <= maxY
  }

  func union(_ other: Rect) -> Rect {
    if isEmpty { return other }
    if other.isEmpty { return self }
    let left = min(x, other.x)
    let top = min(y, other.y)
    return Rect(left, top, max(maxX, other.maxX) - left, max(maxY, other.maxY) - top)
  }

  /// The smallest rectangle of whole pixels that contains this rectangle, cut to `limitX` × `limitY` pixels.
  func pixels(width limitX: Int, height limitY: Int) -> PixelRect {
    let left = min(max(0, Int(x.rounded(.down))), limitX)
    let top = min(max(0, Int(y.rounded(.down))), limitY)
    let right = min(max(left, Int(maxX.rounded(.up))), limitX)
    let bottom = min(max(top, Int(maxY.rounded(.up))), limitY)
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }
}

func mix(_ a: Rect, _ b: Rect, _ t: Double) -> Rect {
  Rect(mix(a.x, b.x, t), mix(a.y, b.y, t), mix(a.width, b.width, t), mix(a.height, b.height, t))
}

extension PixelRect {
  package var isEmpty: Bool { width <= 0 || height <= 0 }

  var rect: Rect { Rect(Double(x), Double(y), Double(width), Double(height)) }
}
