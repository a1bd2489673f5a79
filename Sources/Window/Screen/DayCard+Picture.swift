import Interface
import TicTacToe

extension DayCard {
  /// Width and height in pixels, suitable for news feeds and messengers.
  package static let side = 1080
}

extension RootScreen {
  /// Draws the picture of the daily puzzle; `surface` must be square.
  package func draw(_ card: DayCard, into surface: Surface) {
    let (side, theme) = (Double(surface.width), context.theme)
    let (middle, em) = (side / 2, side / 24)
    theme.sheet.fill(surface)
    let canvas = Canvas(surface)
    func line(_ text: String, _ size: Double, baseline: Double, _ color: Color, italic: Bool = false) {
      let style = TextStyle(size, italic: italic)
      let width = context.typeface.block(text, style).width
      let fitting = TextStyle(size * min(1, side * 0.88 / width), italic: italic)
      canvas.text(text, fitting, context.typeface, x: middle, baseline: baseline, alignment: .center, color)
    }
    line(card.title, 1.15 * em, baseline: 2.2 * em, theme.faintInk, italic: true)
    line(card.goal, 1.9 * em, baseline: 4.6 * em, theme.ink)
    let board = 14.5 * em
    canvas.miniBoard(BoardFacts(card.state), in: Rect(middle - board / 2, 6 * em, board, board), theme)
    line(card.result, 1.15 * em, baseline: 22.6 * em, theme.faintInk, italic: true)
    canvas.flush()
  }
}
