import Interface
import Oracle
import ScoreModel
import TicTacToe

/// The board: nine cells, four pen lines, and the line that wins.
final class BoardView: View {
  private(set) var cells: [CellView] = []
  private let winStroke = Motion(0)
  private var winningLines: [SquareSet] = []

  override init(context: ViewContext) {
    super.init(context: context)
    for square in Square.all {
      let cell = CellView(context: context, square: square)
      cells.append(cell)
      add(cell)
    }
    follow([winStroke])
  }

  override var inkBounds: Rect { frame.insetBy(-frame.width * 0.02, -frame.width * 0.02) }

  override func layout() {
    let side = frame.width / 3
    for cell in cells {
      cell.frame = Rect(
        frame.x + Double(cell.square.column) * side, frame.y + Double(cell.square.row) * side, side, side)
    }
  }

  /// Brings the board to the context's model.
  func showModel(animated: Bool) {
    let game = context.model.game
    let last = game.moves.last
    var lines: [SquareSet] = []
    var winner = game.turn
    if case .win(let side) = game.position.outcome { (winner, lines) = (side, game.position.completedLines(of: side)) }
    let winning = lines.reduce(into: SquareSet()) { $0.formUnion($1) }
    for cell in cells {
      cell.show(
        game.position[cell.square], isLast: cell.square == last && lines.isEmpty,
        isBeaten: !lines.isEmpty && !winning.contains(cell.square),
        animated: animated)
    }
    if lines != winningLines {
      winningLines = lines
      context.animator.set(winStroke, to: 0)
      if !lines.isEmpty {
        if animated {
          context.animator.move(winStroke, to: 1, seconds: 0.7, after: 0.55, .cubicInOut)
          if !context.animator.isReduced {
            sing(winning, winner)
            context.animator.play(
              .sequence([
                .pause(seconds: 1.15), .tween(context.settle, to: 2, seconds: 0.12, .quadOut),
                .tween(context.settle, to: 0, seconds: 0.5, .backOut),
              ]))
          }
        } else {
          context.animator.set(winStroke, to: 1)
        }
      }
      setNeedsDisplay()
    }
  }

  /// The cells of the line swell as the last bar sounds their notes.
  private func sing(_ winning: SquareSet, _ winner: Player) {
    let model = context.model
    guard let bar = model.bars.last(where: { $0.kind == .move }) else { return }
    var left = Array(winning)
    for note in bar.pairs.compactMap({ $0.m }) {
      let at = left.firstIndex { (model.tonality.pitch(of: $0, for: winner).midi - note.pitch.midi) % 12 == 0 }
      guard let at else { continue }
      cells[left.remove(at: at).index].sing(after: max(0, (bar.start + note.onset - model.soundNow).seconds))
    }
  }

  override func drawStatic(_ canvas: Canvas) {
    let side = frame.width / 3
    var jitter = Jitter(seed: 3)
    for i in 1...2 {
      let at = Double(i) * side
      for vertical in [true, false] {
        let a = jitter.next() * side * 0.01
        let b = jitter.next() * side * 0.012
        let thin = frame.width * 0.0042
        let thick = frame.width * 0.0072
        let knots: [(Double, Double, Double)] = [
          (at + a, side * 0.03, thin), (at, side * 0.5, thick), (at + b, side * 1.5, thick * 0.85),
          (at, side * 2.5, thick), (at - a, side * 2.97, thin),
        ]
        let stroke = InkStroke(
          knots: knots.map { across, along, width in
            vertical ? (frame.x + across, frame.y + along, width) : (frame.x + along, frame.y + across, width)
          })
        canvas.fill(polygon: stroke.outline(), context.theme.line)
      }
    }
  }

  // MARK: Hint, analysis, beads

  /// The cell a hint points at.
  var hint: Square? {
    didSet { if hint != oldValue { setNeedsDisplay() } }
  }
  /// Whether every empty cell shows what it is worth.
  var showsAnalysis = false {
    didSet { if showsAnalysis != oldValue { setNeedsDisplay() } }
  }

  private func drawOverlays(_ canvas: Canvas) {
    // A hint and the analysis are spoken of by the names of cells.
    if context.settings.coordinates || hint != nil || showsAnalysis { context.drawCoordinates(in: frame, canvas) }
    let position = context.model.game.position
    guard !context.model.game.isOver else { return }
    let theme = context.theme
    for square in position.legalMoves {
      let cell = cells[square.index].frame
      let size = min(context.metrics.em, cell.width * 0.15)
      if hint == square {
        let ring = Path.ellipse(cell.center, cell.width * 0.34, cell.width * 0.34)
        canvas.stroke(ring, width: max(1, cell.width * 0.012), theme.accent)
        canvas.fill(Path.ellipse(cell.center, cell.width * 0.03, cell.width * 0.03), theme.accent)
      }
      if showsAnalysis {
        let worth = Solver.shared.evaluation(of: square, in: position)
        let words = context.words(for: worth.value, in: worth.distance)
        // Filled, half, open: readable without colour.
        let at = Point(cell.midX, cell.y + cell.height * 0.15)
        let radius = size * 0.26
        if worth.value == .win { canvas.fill(Path.ellipse(at, radius, radius), theme.ink) }
        if worth.value == .draw {
          canvas.saved {
            canvas.clip(Rect(at.x - radius, at.y, 2 * radius, radius * 2))
            canvas.fill(Path.ellipse(at, radius, radius), theme.ink)
          }
        }
        canvas.stroke(Path.ellipse(at, radius, radius), width: max(1, size * 0.08), theme.ink)
        canvas.text(
          words, TextStyle(size, italic: true, lining: true), context.typeface, x: cell.midX,
          baseline: cell.y + cell.height * 0.15 + size * 1.35, alignment: .center, theme.faintInk)
      }
      if let beads = context.model.beads, beads.indices.contains(square.index) {
        drawBeads(beads[square.index], in: cell, canvas)
      }
    }
  }

  /// The beads of a matchbox that stand for a cell, five in a row, a number past ten.
  private func drawBeads(_ count: Int, in cell: Rect, _ canvas: Canvas) {
    guard count > 0 else { return }
    let theme = context.theme
    let radius = cell.width * 0.032
    let y = cell.maxY - cell.width * 0.14
    if count > 10 {
      canvas.fill(Path.ellipse(Point(cell.midX - radius * 3, y), radius, radius), theme.line)
      canvas.text(
        "× \(count)", TextStyle(cell.width * 0.12, lining: true), context.typeface, x: cell.midX - radius,
        baseline: y + cell.width * 0.04, theme.faintInk)
      return
    }
    for bead in 0..<count {
      let row = Double(bead / 5)
      let inRow = Double(min(5, count - bead / 5 * 5))
      let x = cell.midX + (Double(bead % 5) - (inRow - 1) / 2) * radius * 2.6
      canvas.fill(Path.ellipse(Point(x, y + row * radius * 2.6 - radius), radius, radius), theme.line)
    }
  }

  override func draw(_ canvas: Canvas) {
    drawOverlays(canvas)
    guard winStroke.value > 0 else { return }
    let side = frame.width / 3
    for line in winningLines {
      let squares = Array(line)
      guard let first = squares.first, let last = squares.last else { continue }
      let stroke = InkStroke(
        winning: cells[first.index].frame.center, cells[last.index].frame.center, cell: side)
      canvas.fill(polygon: stroke.outline(upTo: winStroke.value), context.theme.accent.faded(0.9))
    }
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    guard modifiers.isDisjoint(with: [.control, .alt]) else { return false }
    if case .character(let c) = key, let digit = c.wholeNumberValue, (1...9).contains(digit) {
      // A keypad has 7 8 9 in its top row.
      let square = Square((2 - (digit - 1) / 3) * 3 + (digit - 1) % 3)
      focus(square)
      return send(.play(square))
    }
    guard let focused = cells.first(where: { $0.isFocused })?.square else { return false }
    var (row, column) = (focused.row, focused.column)
    switch key {
    case .up, .character("k"): row -= 1
    case .down, .character("j"): row += 1
    case .left, .character("h"): column -= 1
    case .right, .character("l"): column += 1
    default: return false
    }
    // Past the edge the arrows come in again on the other side.
    focus(Square((row + 3) % 3 * 3 + (column + 3) % 3))
    return true
  }

  private func focus(_ square: Square) { context.moveFocus(to: cells[square.index]) }
}

extension ViewContext {
  /// A value for whoever is to move, and in how many plies it is reached.
  func words(for value: Value, in plies: Int) -> String {
    switch value {
    case .win: "\(text(.win)) \(plies)"
    case .draw: text(.drawShort)
    case .loss: "\(text(.loss)) \(plies)"
    }
  }
}
