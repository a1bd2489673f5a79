import Base
import TicTacToe

/// A pen stroke of varying width, which can be drawn up to a part of its length.
struct InkStroke: Sendable, Hashable {
  private let points: [Point]
  private let widths: [Double]
  /// The length of the line from its start to each of `points`.
  private let travelled: [Double]

  /// Interpolates the knots by a Catmull–Rom spline with `density` samples per span.
  init(knots: [(x: Double, y: Double, width: Double)], density: Int = 10) {
    precondition(knots.count >= 2, "a stroke needs two knots, not \(knots.count)")
    var points: [Point] = []
    var widths: [Double] = []
    for i in 0..<(knots.count - 1) {
      let p0 = knots[max(0, i - 1)]
      let p1 = knots[i]
      let p2 = knots[i + 1]
      let p3 = knots[min(knots.count - 1, i + 2)]
      for step in 0..<density {
        let t = Double(step) / Double(density)
        points.append(
          Point(InkStroke.spline(p0.x, p1.x, p2.x, p3.x, t), InkStroke.spline(p0.y, p1.y, p2.y, p3.y, t)))
        widths.append(max(0.001, InkStroke.spline(p0.width, p1.width, p2.width, p3.width, t)))
      }
    }
    let last = knots[knots.count - 1]
    points.append(Point(last.x, last.y))
    widths.append(last.width)
    self.init(points: points, widths: widths)
  }

  /// The stroke through a winning line from cell centre `a` to cell centre `b`, extended by a third of a cell at both ends.
  init(winning a: Point, _ b: Point, cell: Double) {
    let over = (b - a) * (0.34 * cell / (b - a).length)
    let (from, to) = (a - over, b + over)
    let normal = Point(-(to.y - from.y), to.x - from.x) * (0.012)
    let width = cell * 0.036
    self.init(knots: [
      (from.x, from.y, width * 0.4),
      (mix(from.x, to.x, 0.12), mix(from.y, to.y, 0.12), width),
      (mix(from.x, to.x, 0.5) + normal.x, mix(from.y, to.y, 0.5) + normal.y, width * 0.8),
      (mix(from.x, to.x, 0.9), mix(from.y, to.y, 0.9), width),
      (to.x, to.y, width * 0.25),
    ])
  }

  private init(points: [Point], widths: [Double]) {
    (self.points, self.widths) = (points, widths)
    var travelled = [0.0]
    for i in 1..<points.count { travelled.append(travelled[i - 1] + (points[i] - points[i - 1]).length) }
    self.travelled = travelled
  }

  private static func spline(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ t: Double) -> Double {
    let t2 = t * t
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t2 + (3 * b - a - 3 * c + d) * t2 * t)
  }

  func placed(scale k: Double, at origin: Point) -> InkStroke {
    InkStroke(points: points.map { Point(origin.x + $0.x * k, origin.y + $0.y * k) }, widths: widths.map { $0 * k })
  }

  /// The outline up to `progress` (0…1) of the length; empty at 0.
  func outline(upTo progress: Double = 1) -> [Point] {
    guard progress > 0, let total = travelled.last, total > 0 else { return [] }
    let end = total * min(1, progress)
    var line: [Point] = []
    var half: [Double] = []
    for i in points.indices {
      if travelled[i] <= end {
        line.append(points[i])
        half.append(widths[i] / 2)
      } else {
        let t = (end - travelled[i - 1]) / max(1e-9, travelled[i] - travelled[i - 1])
        line.append(points[i - 1] + (points[i] - points[i - 1]) * t)
        half.append(mix(widths[i - 1], widths[i], t) / 2)
        break
      }
    }
    guard line.count >= 2 else { return [] }
    var left: [Point] = []
    var right: [Point] = []
    for i in line.indices {
      let direction = line[min(i + 1, line.count - 1)] - line[max(i - 1, 0)]
      let length = max(1e-9, direction.length)
      let normal = Point(-direction.y / length, direction.x / length)
      left.append(line[i] + normal * half[i])
      right.append(line[i] - normal * half[i])
    }
    return InkStroke.cap(at: line[line.count - 1], from: left[left.count - 1], to: right[right.count - 1], into: left)
      + InkStroke.cap(at: line[0], from: right[0], to: left[0], into: right.reversed())
  }

  /// Appends a round cap around the line's end `center`, from edge point `a` to edge point `b`.
  private static func cap(at center: Point, from a: Point, to b: Point, into outline: [Point]) -> [Point] {
    let radius = (a - center).length
    guard radius > 0.3 else { return outline }
    var result = outline
    let arm = a - center
    for step in 1..<6 {
      let angle = -Double.pi * Double(step) / 6
      result.append(
        Point(
          center.x + arm.x * cosine(angle) - arm.y * sine(angle),
          center.y + arm.x * sine(angle) + arm.y * cosine(angle)))
    }
    return result
  }
}

/// A mark (X or O) as pen strokes in a unit square centred on the origin.
struct MarkStrokes: Sendable {
  /// The strokes in drawing order, with the times (0…1 of the animation) at which each stroke begins and ends.
  private let strokes: [(stroke: InkStroke, from: Double, to: Double)]

  /// `seed` varies the shape slightly.
  static func x(seed: Int) -> MarkStrokes {
    var jitter = Jitter(seed: seed)
    func j(_ amount: Double) -> Double { jitter.next() * amount }
    let first = InkStroke(knots: [
      (-0.292 + j(0.020), -0.300 + j(0.020), 0.030),
      (-0.255, -0.262, 0.062),
      (-0.110 + j(0.014), -0.105 + j(0.014), 0.070),
      (0.060 + j(0.014), 0.075 + j(0.014), 0.062),
      (0.215, 0.228, 0.066),
      (0.290 + j(0.020), 0.300 + j(0.020), 0.026),
    ])
    let second = InkStroke(knots: [
      (0.285 + j(0.022), -0.305 + j(0.020), 0.026),
      (0.225, -0.232, 0.050),
      (0.070 + j(0.014), -0.072 + j(0.014), 0.044),
      (-0.080 + j(0.014), 0.086 + j(0.014), 0.048),
      (-0.235, 0.248, 0.064),
      (-0.300 + j(0.014), 0.306 + j(0.020), 0.022),
    ])
    return MarkStrokes(strokes: [(first, 0, 0.46), (second, 0.54, 1)])
  }

  static func o(seed: Int) -> MarkStrokes {
    var jitter = Jitter(seed: seed &+ 77)
    var knots: [(x: Double, y: Double, width: Double)] = []
    let steps = 14
    let tilt = jitter.next() * 0.16
    let phase = jitter.next() * 2.5
    for step in 0...steps {
      let t = Double(step) / Double(steps)
      // Counter-clockwise from just right of the top, as a hand writes an O; the end overlaps the beginning by 20°.
      let angle = -Double.pi / 2 + 0.22 - t * (2 * Double.pi + 0.34)
      let wobble =
        1 + 0.016 * sine(2 * angle + phase) + 0.008 * sine(3 * angle - phase) + (t > 0.9 ? (t - 0.9) * -0.35 : 0)
      let x = cosine(angle) * 0.272 * wobble
      let y = sine(angle) * 0.300 * wobble
      // A broad nib held at 40°: thickest at the lower left and the upper right, thinnest at the upper left and the lower right.
      let nib = abs(sine(angle + Double.pi / 2 + 0.7))
      let taper = min(1, min(t / 0.05 + 0.35, (1 - t) / 0.06 + 0.3))
      knots.append(
        (x * cosine(tilt) - y * sine(tilt), x * sine(tilt) + y * cosine(tilt), (0.036 + 0.036 * nib) * taper))
    }
    return MarkStrokes(strokes: [(InkStroke(knots: knots, density: 6), 0, 1)])
  }

  /// The outlines at `progress` (0…1) of the animation; `size` in pixels.
  func outlines(progress: Double, size: Double, center: Point) -> [[Point]] {
    strokes.compactMap { part in
      let local = ((progress - part.from) / (part.to - part.from)).clamped(to: 0...1)
      guard local > 0 else { return nil }
      return part.stroke.placed(scale: size, at: center).outline(upTo: local)
    }
  }
}

extension MarkStrokes {
  init(_ player: Player, seed: Int) { self = player == .x ? .x(seed: seed) : .o(seed: seed) }

  /// The cell's index seeds the shape, so that each redraw gives the same shape.
  init(_ player: Player, in cell: Cell) { self.init(player, seed: cell.index * 7 + (player == .x ? 1 : 2)) }

  /// The large mark over one of the nine boards of Ultimate.
  init(_ player: Player, over board: Square) { self.init(player, seed: 90 + board.index) }
}

/// Reproducible numbers −1…1, which make strokes look drawn by hand.
struct Jitter {
  private var random: SplitMix64

  init(seed: Int) { random = SplitMix64(seed: UInt64(bitPattern: Int64(seed))) }

  mutating func next() -> Double { Double(Int64(bitPattern: random.next()) >> 11) / 0x1p52 }
}

extension Canvas {
  func ink(_ mark: MarkStrokes, progress: Double = 1, size: Double, center: Point, _ color: Color) {
    fill(polygons: mark.outlines(progress: progress, size: size, center: center), color)
  }
}
