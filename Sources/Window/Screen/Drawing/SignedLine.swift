/// A line of text with ♯ and ♭, which the typeface lacks and which are drawn as paths.
struct SignedLine<Piece> {
  /// At least one piece, which may be empty.
  private(set) var pieces: [(piece: Piece, x: Double)] = []
  private(set) var width = 0.0
  /// `x` is the left edge of the sign.
  private var signs: [(isSharp: Bool, x: Double)] = []
  private let size: Double

  /// The width of a sign in em.
  private static var advance: Double { 0.34 }

  /// Splits a text at its signs; `make` lays out a piece.
  init(_ text: String, size: Double, make: (String) -> Piece, width measure: (Piece) -> Double) {
    self.size = size
    var run = ""
    func flush() {
      guard !run.isEmpty || pieces.isEmpty else { return }
      let piece = make(run)
      pieces.append((piece, width))
      width += measure(piece)
      run = ""
    }
    for scalar in text.unicodeScalars {
      if scalar == "♯" || scalar == "♭" {
        flush()
        signs.append((scalar == "♯", width))
        width += size * SignedLine.advance
      } else {
        run.unicodeScalars.append(scalar)
      }
    }
    flush()
  }

  func drawSigns(on canvas: Canvas, x: Double, baseline: Double, _ color: Color) {
    for sign in signs {
      let space = size * 0.17
      let at = Point(x + sign.x + size * SignedLine.advance * 0.47, baseline - size * 0.3)
      canvas.fill((sign.isSharp ? Glyphs.sharp : Glyphs.flat).scaled(space, space).moved(at.x, at.y), color)
    }
  }
}
