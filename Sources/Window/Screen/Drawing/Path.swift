struct Path: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case move(Point)
    case line(Point)
    case curve(Point, Point, Point)
    case close
  }

  var steps: [Step] = []

  init() {}

  init(through points: [Point]) { steps = points.enumerated().map { $0 == 0 ? .move($1) : .line($1) } }

  mutating func move(_ x: Double, _ y: Double) { steps.append(.move(Point(x, y))) }
  mutating func line(_ x: Double, _ y: Double) { steps.append(.line(Point(x, y))) }
  mutating func curve(_ ax: Double, _ ay: Double, _ bx: Double, _ by: Double, _ x: Double, _ y: Double) {
    steps.append(.curve(Point(ax, ay), Point(bx, by), Point(x, y)))
  }
  mutating func close() { steps.append(.close) }

  mutating func polygon(_ points: Point...) {
    steps += Path(through: points).steps
    close()
  }

  /// An ellipse rotated by `angle` radians.
  static func ellipse(_ center: Point, _ rx: Double, _ ry: Double, angle: Double = 0) -> Path {
    let k = 0.5522847498  // the cubic that is closest to a quarter circle
    var path = Path()
    path.move(1, 0)
    path.curve(1, k, k, 1, 0, 1)
    path.curve(-k, 1, -1, k, -1, 0)
    path.curve(-1, -k, -k, -1, 0, -1)
    path.curve(k, -1, 1, -k, 1, 0)
    path.close()
    return path.scaled(rx, ry).rotated(angle).moved(center.x, center.y)
  }

  func mapped(_ f: (Point) -> Point) -> Path {
    var result = Path()
    result.steps = steps.map { step in
      switch step {
      case .move(let p): .move(f(p))
      case .line(let p): .line(f(p))
      case .curve(let a, let b, let p): .curve(f(a), f(b), f(p))
      case .close: .close
      }
    }
    return result
  }

  func scaled(_ kx: Double, _ ky: Double) -> Path { mapped { Point($0.x * kx, $0.y * ky) } }
  func moved(_ dx: Double, _ dy: Double) -> Path { mapped { Point($0.x + dx, $0.y + dy) } }
  func rotated(_ angle: Double) -> Path {
    angle == 0
      ? self : mapped { p in Point(p.x * cosine(angle) - p.y * sine(angle), p.x * sine(angle) + p.y * cosine(angle)) }
  }
}

extension Canvas {
  /// Fills the union of the polygons, so that a translucent colour covers each pixel once.
  func fill(polygons: [[Point]], _ color: Color) {
    var path = Path()
    for polygon in polygons where polygon.count > 2 {
      path.steps += Path(through: polygon).steps
      path.close()
    }
    fill(path, color)
  }

  func fill(polygon points: [Point], _ color: Color) { fill(polygons: [points], color) }

  func line(_ a: Point, _ b: Point, width: Double, _ color: Color) {
    stroke(Path(through: [a, b]), width: width, color, round: false)
  }
}
