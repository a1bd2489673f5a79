import TicTacToe

struct BoardGeometry: Hashable {
  let variant: Variant
  let square: Rect

  /// The margin of each of Ultimate's nine boards, relative to a third of the square's side.
  private static let gap = 0.06

  /// A ninth of the square for each of Ultimate's nine boards, the whole square in other games.
  func room(of board: Square?) -> Rect {
    guard let board else { return square }
    let side = square.width / 3
    return Rect(square.x + Double(board.column) * side, square.y + Double(board.row) * side, side, side)
  }

  func place(of cell: Cell) -> Rect {
    let board = variant.board(of: cell)
    return BoardGeometry.place(variant.place(of: cell), in: room(of: board), isOneOfNine: board != nil)
  }

  /// With `isOneOfNine` a margin of `gap` surrounds the board.
  static func place(_ cell: Square, in room: Rect, isOneOfNine: Bool) -> Rect {
    let inner = isOneOfNine ? BoardGeometry.inner(room) : room
    let side = inner.width / 3
    return Rect(inner.x + Double(cell.column) * side, inner.y + Double(cell.row) * side, side, side)
  }

  /// The square without the margin `gap`.
  static func inner(_ room: Rect) -> Rect { room.insetBy(room.width * gap, room.width * gap) }
}

/// The four pen lines of a board.
struct PenGrid {
  /// The width of a line at its ends, relative to the side of the board.
  var thin = 0.0042
  /// The greatest width of a line, relative to the side of the board.
  var thick = 0.0072
  var seed = 3

  func draw(in box: Rect, _ canvas: Canvas, _ color: Color) {
    let side = box.width / 3
    var jitter = Jitter(seed: seed)
    for i in 1...2 {
      let at = Double(i) * side
      for vertical in [true, false] {
        let a = jitter.next() * side * 0.01
        let b = jitter.next() * side * 0.012
        let (thin, thick) = (max(0.8, box.width * thin), max(1, box.width * thick))
        let knots: [(Double, Double, Double)] = [
          (at + a, side * 0.03, thin), (at, side * 0.5, thick), (at + b, side * 1.5, thick * 0.85),
          (at, side * 2.5, thick), (at - a, side * 2.97, thin),
        ]
        let stroke = InkStroke(
          knots: knots.map { across, along, width in
            vertical ? (box.x + across, box.y + along, width) : (box.x + along, box.y + across, width)
          })
        canvas.fill(polygon: stroke.outline(), color)
      }
    }
  }
}
