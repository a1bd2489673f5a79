/// Music glyphs that the typeface lacks. Unit: one staff space; y downwards.
enum Glyphs {
  /// The origin is on the clef's G line.
  static let trebleClef: [InkStroke] = [
    InkStroke(
      knots: [
        (0.02, 0.52, 0.05), (-0.36, 0.20, 0.18), (-0.24, -0.46, 0.19), (0.30, -0.76, 0.28), (0.96, -0.32, 0.40),
        (0.98, 0.56, 0.30), (0.34, 1.02, 0.17), (-0.60, 0.84, 0.26), (-1.12, 0.05, 0.40), (-0.96, -0.92, 0.40),
        (-0.30, -1.88, 0.33), (0.38, -2.72, 0.36), (0.64, -3.50, 0.34), (0.54, -4.12, 0.18), (0.30, -4.42, 0.06),
        (0.02, -4.10, 0.09), (-0.12, -3.30, 0.15), (0.00, -2.00, 0.15), (0.27, -0.10, 0.14), (0.49, 1.50, 0.13),
        (0.42, 2.16, 0.13), (0.06, 2.50, 0.12), (-0.34, 2.38, 0.16), (-0.46, 2.08, 0.24),
      ], density: 12),
    InkStroke(knots: [(-0.33, 2.00, 0.52), (-0.27, 2.04, 0.56)], density: 2),
  ]

  /// Centred on the origin, 2.8 staff spaces high.
  static let sharp: Path = {
    var path = Path()
    for x in [-0.22, 0.22] {
      let lift = -x * 0.35
      path.polygon(
        Point(x - 0.055, -1.32 + lift), Point(x + 0.055, -1.32 + lift), Point(x + 0.055, 1.32 + lift),
        Point(x - 0.055, 1.32 + lift))
    }
    for y in [-0.46, 0.46] {
      path.polygon(Point(-0.52, y + 0.03), Point(0.52, y - 0.29), Point(0.52, y + 0.01), Point(-0.52, y + 0.33))
    }
    return path
  }()

  /// The flat's bowl is around the origin; 2.5 staff spaces high.
  static let flat: Path = {
    var path = Path()
    path.move(-0.40, -1.72)
    path.line(-0.28, -1.72)
    path.line(-0.30, -0.24)
    path.curve(-0.05, -0.62, 0.46, -0.60, 0.44, -0.12)
    path.curve(0.42, 0.24, -0.02, 0.46, -0.36, 0.74)
    path.close()
    // The inner contour runs in the opposite direction, so that the sign's inside stays open.
    path.move(-0.30, 0.42)
    path.curve(-0.06, 0.24, 0.16, 0.06, 0.17, -0.18)
    path.curve(0.17, -0.42, -0.18, -0.36, -0.31, -0.02)
    path.close()
    return path
  }()

  /// Centred on the origin, 2.7 staff spaces high.
  static let natural: Path = {
    var path = Path()
    path.polygon(Point(-0.36, -1.35), Point(-0.25, -1.35), Point(-0.25, 0.62), Point(-0.36, 0.68))
    path.polygon(Point(0.25, -0.68), Point(0.36, -0.62), Point(0.36, 1.35), Point(0.25, 1.35))
    path.polygon(Point(-0.36, -0.34), Point(0.36, -0.62), Point(0.36, -0.34), Point(-0.36, -0.06))
    path.polygon(Point(-0.36, 0.40), Point(0.36, 0.12), Point(0.36, 0.40), Point(-0.36, 0.68))
    return path
  }()

  static let blackHead = Path.ellipse(Point(0, 0), 0.68, 0.46, angle: -0.42)

  /// A note head without a stem, for a long note.
  static let openHead: Path = {
    var path = Path.ellipse(Point(0, 0), 0.86, 0.52)
    path.steps += Path.ellipse(Point(0, 0), 0.50, 0.30).scaled(1, -1).rotated(0.95).steps
    return path
  }()

  /// The flower that marks an awakening (a win can no longer be prevented), 1.6 staff spaces high.
  static let petals: [Path] = (0..<5).map { i in
    let angle = Double(i) * 2 * Double.pi / 5 - Double.pi / 2
    var petal = Path()
    petal.move(0.10, 0)
    petal.curve(0.22, -0.34, 0.72, -0.38, 0.86, -0.06)
    petal.curve(0.92, 0.22, 0.40, 0.40, 0.10, 0)
    petal.close()
    return petal.rotated(angle)
  }

  /// The upper half of the brace for two staves, from the brace's left point; unit: half the brace's height.
  static let braceHalf = InkStroke(
    knots: [
      (-0.088, 0.0, 0.004), (-0.050, -0.05, 0.036), (-0.026, -0.20, 0.062), (-0.034, -0.46, 0.060),
      (-0.046, -0.72, 0.044), (-0.034, -0.90, 0.024), (0.0, -1.0, 0.004),
    ], density: 10)
}
