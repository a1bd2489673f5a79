import Interface
import TicTacToe

/// The list of saved games, with a field for any other file.
final class GamesScene: PageScene {
  private let field: FieldRow
  private let empty: TextRow
  private let pieces: ContentsRow

  override var title: String { context.text(.games) }
  override var initialFocus: View? { column.rows.first { $0 is GameRow } ?? (field.isHidden ? foot.last : field) }
  override var columnWidth: Double { 36 }

  override init(context: ViewContext) {
    field = FieldRow(
      context: context, caption: context.text(.pathField), text: "", limit: 4096, intent: Intent.openGame(path:))
    empty = TextRow(context: context, context.text(.noGames), italic: true)
    pieces = ContentsRow(context: context, title: context.text(.openPieces), key: "", intent: .openPieces)
    super.init(context: context)
    column.isCentered = false
    setFoot([
      TextButton(context: context, title: context.text(.save), intent: .saveGame),
      TextButton(context: context, title: context.text(.copy), intent: .copyGame),
      TextButton(context: context, title: context.text(.paste), intent: .pasteGame),
      TextButton(context: context, title: context.text(.back), intent: .back),
    ])
    fill()
  }

  private func fill() {
    let rows: [PageRow] = context.pages.games.map { GameRow(context: context, entry: $0) }
    // A browser has neither paths nor folders.
    (field.isHidden, pieces.isHidden) = (context.services.isPage, context.services.isPage)
    column.set((rows.isEmpty ? [empty, field] : [field] + rows) + [pieces])
  }

  override func contentChanged() {
    let shown = column.rows.compactMap { ($0 as? GameRow)?.entry }
    guard shown != context.pages.games else { return }
    let hadFocus = context.focus is GameRow
    fill()
    column.layout()
    if hadFocus { context.moveFocus(to: initialFocus) }
    column.setNeedsDisplay()
  }
}

/// A saved game: a small board, who played when, how it ended.
final class GameRow: PressableRow {
  let entry: GameEntry

  init(context: ViewContext, entry: GameEntry) {
    self.entry = entry
    super.init(context: context)
    gapAfter = 0.35
  }

  override func press() { send(.openGame(path: entry.path)) }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    guard key == .delete || key == .backspace else { return super.key(key, modifiers) }
    return send(.deleteGame(path: entry.path))
  }

  override func pointer(_ phase: PointerPhase, at point: Point) -> Bool {
    guard case .up = phase, frame.contains(point), point.x > frame.maxX - cross else {
      return super.pointer(phase, at: point)
    }
    return send(.deleteGame(path: entry.path))
  }

  /// The room of the sign at the right that deletes the game.
  private var cross: Double { max(context.metrics.target, context.metrics.em * 2.4) }

  override var spoken: String? { "\(entry.players), \(entry.date), \(entry.result)" }

  override func height(_ width: Double) -> Double { context.metrics.em * 3.4 }

  override func draw(_ canvas: Canvas) {
    let em = context.metrics.em
    let theme = context.theme
    canvas.miniBoard(entry.board, in: Rect(frame.x, frame.y + em * 0.1, em * 3.2, em * 3.2), theme)
    let arm = em * 0.24
    for (from, to) in [(Point(-arm, -arm), Point(arm, arm)), (Point(arm, -arm), Point(-arm, arm))] {
      let middle = Point(frame.maxX - cross / 2, frame.y + em * 1.6)
      canvas.line(middle + from, middle + to, width: max(1, em * 0.07), theme.line)
    }
    let left = frame.x + em * 4.2
    canvas.saved {
      canvas.clip(Rect(left - em, frame.y, frame.maxX - left + em - cross, frame.height))
      let name = context.typeface.block(entry.players, TextStyle(em * 1.1))
      canvas.draw(name, at: Point(left, frame.y + em * 1.45 - name.baseline), theme.ink)
      canvas.text(
        "\(entry.date)   ·   \(entry.result)", TextStyle(em * 0.95, italic: true), context.typeface, x: left,
        baseline: frame.y + em * 2.75, theme.faintInk)
      underline(canvas, x: left, y: frame.y + em * 1.72, width: name.width)
    }
  }
}
