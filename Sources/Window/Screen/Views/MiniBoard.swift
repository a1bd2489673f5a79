import TicTacToe

/// A board to look at: any position, any size, with numbers of plies if wanted.
final class MiniBoard: View {
  var position = Position.start {
    didSet { if position != oldValue { setNeedsDisplay() } }
  }
  var last: Square? {
    didSet { if last != oldValue { setNeedsDisplay() } }
  }

  /// Whether rows and columns are named.
  var hasCoordinates = false

  override func draw(_ canvas: Canvas) {
    canvas.miniBoard(position, last: last, in: frame, context.theme)
    if hasCoordinates { context.drawCoordinates(in: frame, canvas) }
  }
}

extension ViewContext {
  /// Names columns and rows in the corners of the outer cells, where there is room for letters.
  func drawCoordinates(in box: Rect, _ canvas: Canvas) {
    let cell = box.width / 3
    let style = TextStyle(min(metrics.em * 0.85, cell * 0.14), italic: true, lining: true)
    guard box.width > 7 * metrics.em else { return }
    let margin = style.size * 0.35
    for i in 0..<3 {
      let letter = String(Square(6 + i).name.prefix(1))
      let digit = String(Square(3 * i).name.suffix(1))
      canvas.text(
        letter, style, typeface, x: box.x + Double(i + 1) * cell - margin, baseline: box.maxY - margin,
        alignment: .right, theme.faintInk)
      canvas.text(
        digit, style, typeface, x: box.x + margin, baseline: box.y + Double(i) * cell + margin + style.size * 0.7,
        theme.faintInk)
    }
  }
}

extension Canvas {
  /// Draws a position into a square.
  func miniBoard(_ position: Position, last: Square? = nil, in box: Rect, _ theme: Theme) {
    let side = min(box.width, box.height)
    let cell = side / 3
    let origin = Point(box.midX - side / 2, box.midY - side / 2)
    var jitter = Jitter(seed: 5)
    let width = max(1, side * 0.007)
    for i in 1...2 {
      for vertical in [true, false] {
        let at = Double(i) * cell
        let a = jitter.next() * cell * 0.012
        let knots: [(x: Double, y: Double, width: Double)] =
          [(at + a, cell * 0.06), (at, cell * 1.5), (at - a, cell * 2.94)].map { across, along in
            vertical ? (origin.x + across, origin.y + along, width) : (origin.x + along, origin.y + across, width)
          }
        fill(polygon: InkStroke(knots: knots, density: 6).outline(), theme.line)
      }
    }
    var lines: [SquareSet] = []
    if case .win(let winner) = position.outcome { lines = position.completedLines(of: winner) }
    let line = lines.reduce(into: SquareSet()) { $0.formUnion($1) }
    for square in Square.all {
      guard let player = position[square] else { continue }
      let center = Point(
        origin.x + (Double(square.column) + 0.5) * cell, origin.y + (Double(square.row) + 0.5) * cell)
      let mark: MarkStrokes =
        player == .x ? .x(seed: square.index * 7 + 1) : .o(seed: square.index * 7 + 2)
      let color = line.isEmpty || line.contains(square) ? theme.ink : theme.ghost
      // Thin pens vanish in small boards.
      ink(mark, size: cell * (side < 90 ? 1.08 : 1), center: center, color)
      if square == last, line.isEmpty {
        fill(
          Path.ellipse(Point(center.x, center.y + cell * 0.415), max(1.2, cell * 0.02), max(1.2, cell * 0.02)),
          theme.accent)
      }
    }
    // In a small board the ink that has paled says it well enough.
    guard side >= 90 else { return }
    for squares in lines.map(Array.init) {
      let ends = [squares[0], squares[squares.count - 1]].map {
        Point(origin.x + (Double($0.column) + 0.5) * cell, origin.y + (Double($0.row) + 0.5) * cell)
      }
      fill(polygon: InkStroke(winning: ends[0], ends[1], cell: cell).outline(), theme.accent.faded(0.9))
    }
  }
}
