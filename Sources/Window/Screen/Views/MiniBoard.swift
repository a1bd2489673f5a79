import TicTacToe

/// A board without interaction, in any size.
final class MiniBoard: View {
  var board = BoardFacts(.classic(.start)) {
    didSet { if board != oldValue { setNeedsDisplay() } }
  }

  /// Creates the cells for screen readers; the board's game must not change afterwards.
  override func layout() {
    if children.isEmpty { for cell in board.variant.cells { add(ReadCell(context: context, cell: cell)) } }
    let side = min(frame.width, frame.height)
    let square = Rect(frame.midX - side / 2, frame.midY - side / 2, side, side)
    let geometry = BoardGeometry(variant: board.variant, square: square)
    for (cell, view) in zip(board.variant.cells, children) { view.frame = geometry.place(of: cell) }
  }

  override func draw(_ canvas: Canvas) {
    canvas.miniBoard(board, in: frame, theme)
    context.drawCoordinates(in: frame, of: board.variant, canvas)
  }

  private final class ReadCell: View {
    private let cell: Cell

    init(context: ViewContext, cell: Cell) {
      self.cell = cell
      super.init(context: context)
    }

    private var board: BoardFacts? { (parent as? MiniBoard)?.board }
    override var role: Role { .cell(row: board?.variant.row(of: cell) ?? 0) }
    override var accessibilityText: String? { board.map { context.name(cell, on: $0) } }
  }
}

extension Variant {
  /// The radius of the dot of the last move, relative to the cell's width; Ultimate's cells are a third as wide.
  var dotRadius: Double { isOneBoard ? 0.018 : 0.045 }
}

extension ViewContext {
  /// In the corners of the outer cells, if there is room.
  func drawCoordinates(in box: Rect, of variant: Variant, _ canvas: Canvas) {
    let geometry = BoardGeometry(variant: variant, square: box)
    let side = variant.side
    let cell = geometry.place(of: Cell(0)).width
    let style = TextStyle(min(metrics.em * 0.85, cell * (side == 3 ? 0.14 : 0.3)), italic: true)
    guard box.width > 7 * metrics.em else { return }
    let margin = side == 3 ? style.size * 0.35 : 0
    for i in 0..<side {
      let (low, left) = (variant.cell(row: side - 1, column: i), variant.cell(row: i, column: 0))
      let (foot, edge) = (geometry.place(of: low), geometry.place(of: left))
      canvas.text(
        String(variant.name(of: low).prefix(1)), style, typeface, x: foot.maxX - margin, baseline: box.maxY - margin,
        alignment: .right, theme.faintInk)
      canvas.text(
        String(variant.name(of: left).suffix(1)), style, typeface, x: box.x + margin,
        baseline: edge.y + margin + style.size * 0.7, theme.faintInk)
    }
  }
}

extension Canvas {
  func miniBoard(_ board: BoardFacts, in box: Rect, _ theme: Theme) {
    let side = min(box.width, box.height)
    let square = Rect(box.midX - side / 2, box.midY - side / 2, side, side)
    let geometry = BoardGeometry(variant: board.variant, square: square)
    if let boards = board.boards {
      miniGrid(in: square, width: max(1, side * 0.011), theme.ink.faded(0.75))
      for place in Square.all {
        let room = geometry.room(of: place)
        if boards.lit.contains(place), boards.lit.count < 9 {
          fill(room.insetBy(room.width * 0.03, room.width * 0.03), theme.accent.faded(0.1))
        }
        miniGrid(in: BoardGeometry.inner(room), width: max(0.6, room.width * 0.009), theme.line.faded(0.6))
      }
    } else {
      miniGrid(in: square, width: max(1, side * 0.007), theme.line)
    }
    let line = board.winning
    for cell in board.variant.cells {
      guard let player = board[cell] else { continue }
      let place = geometry.place(of: cell)
      let isPale = !line.isEmpty && !line.contains(cell) || cell == board.oldestMark
      // Small boards need larger marks: strokes of the usual size would be too thin to be seen.
      ink(
        MarkStrokes(player, in: cell), size: place.width * (side < 90 ? 1.08 : 1), center: place.center,
        isPale ? theme.ghost : theme.ink)
      if cell == board.last, line.isEmpty {
        let radius = max(1.2, place.width * board.variant.dotRadius)
        fill(
          Path.ellipse(Point(place.midX, place.midY + place.width * 0.415), radius, radius), theme.accent)
      }
    }
    func strike(_ ends: [Point]) {
      fill(polygon: InkStroke(winning: ends[0], ends[1], cell: side / 3).outline(), theme.accent.faded(0.9))
    }
    guard let boards = board.boards else {
      // Small boards get no line through the winning marks: all other marks are pale.
      guard side >= 90 else { return }
      for cells in board.lines.map({ Array($0) }) {
        strike([cells[0], cells[cells.count - 1]].map { geometry.place(of: $0).center })
      }
      return
    }
    for place in Square.all {
      guard let winner = boards.winner(of: place) else { continue }
      let room = geometry.room(of: place)
      fill(room.insetBy(room.width * 0.035, room.width * 0.035), theme.paper.faded(0.62))
      ink(MarkStrokes(winner, over: place), size: room.width, center: room.center, theme.ink)
    }
    for line in boards.lines.map({ Array($0) }) {
      strike([line[0], line[line.count - 1]].map { geometry.room(of: $0).center })
    }
  }

  private func miniGrid(in box: Rect, width: Double, _ color: Color) {
    let cell = box.width / 3
    var jitter = Jitter(seed: 5)
    for i in 1...2 {
      for vertical in [true, false] {
        let at = Double(i) * cell
        let a = jitter.next() * cell * 0.012
        let knots: [(x: Double, y: Double, width: Double)] =
          [(at + a, cell * 0.06), (at, cell * 1.5), (at - a, cell * 2.94)].map { across, along in
            vertical ? (box.x + across, box.y + along, width) : (box.x + along, box.y + across, width)
          }
        fill(polygon: InkStroke(knots: knots, density: 6).outline(), color)
      }
    }
  }
}
