import Interface
import TicTacToe

/// The large marks over Ultimate's won boards, and the line through three won boards in a row.
final class BoardMarks: View {
  private var winners: [Player?] = Array(repeating: nil, count: 9)
  private var boards: BoardFacts.Boards?
  private lazy var drawn = Square.all.map { _ in motion(1) }
  private lazy var stroke = motion(0)
  private var lines: [SquareSet] = []

  func clear() {
    (winners, boards, lines) = (Array(repeating: nil, count: 9), nil, [])
    context.animator.set(stroke, to: 0)
  }

  func show(_ next: BoardFacts.Boards, animated: Bool) {
    boards = next
    for board in Square.all {
      let winner = next.winner(of: board)
      guard winner != winners[board.index] else { continue }
      winners[board.index] = winner
      context.animator.set(drawn[board.index], to: animated ? 0 : 1)
      if animated { context.animator.move(drawn[board.index], to: 1, seconds: 0.7, after: 0.35, .sineInOut) }
    }
    guard next.lines != lines else { return }
    lines = next.lines
    context.animator.set(stroke, to: animated || lines.isEmpty ? 0 : 1)
    if animated, !lines.isEmpty {
      context.animator.move(stroke, to: 1, seconds: 0.9, after: 1.1, .cubicInOut)
      if !context.animator.isReduced { context.settleDown() }
    }
    setNeedsDisplay()
  }

  override func draw(_ canvas: Canvas) {
    guard let boards, let board = parent as? BoardView else { return }
    let line = lines.reduce(into: SquareSet()) { $0.formUnion($1) }
    for square in Square.all {
      let room = board.room(of: square)
      if let winner = winners[square.index] {
        let drawn = drawn[square.index].value
        canvas.fill(room.insetBy(room.width * 0.035, room.width * 0.035), theme.paper.faded(0.62 * min(1, 3 * drawn)))
        let isBeaten = !line.isEmpty && !line.contains(square)
        canvas.ink(
          MarkStrokes(winner, over: square), progress: drawn, size: room.width, center: room.center,
          theme.ink.faded(isBeaten ? 0.4 : 0.92))
      } else if board.showsAnalysis, line.isEmpty {
        // A faint large mark of each side that would complete a line of three boards by winning this board.
        for side in Player.allCases where boards.threats(of: side).contains(square) {
          canvas.ink(
            MarkStrokes(side, over: square), size: room.width * 0.9, center: room.center, theme.accent.faded(0.16))
        }
      }
    }
    guard stroke.value > 0 else { return }
    for line in lines {
      let ends = [line.first, Array(line).last].compactMap { $0 }.map { board.room(of: $0) }
      let pen = InkStroke(winning: ends[0].center, ends[1].center, cell: ends[0].width)
      canvas.fill(polygon: pen.outline(upTo: stroke.value), theme.accent.faded(0.9))
    }
  }
}
