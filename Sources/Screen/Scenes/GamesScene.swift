import TicTacToe

/// The list of saved games, with a field for any other file.
final class GamesScene: PageScene {
  private let field: FieldRow
  private let empty: TextRow

  override var title: String { stage.text(.games) }
  override var initialFocus: View? { column.rows.first { $0 is GameRow } ?? field }
  override var columnWidth: Double { 36 }

  override init(stage: Stage) {
    weak var scene: GamesScene?
    field = FieldRow(
      stage: stage, caption: stage.text(.pathField), text: "", limit: 4096
    ) { scene?.open($0) }
    empty = TextRow(stage: stage, stage.text(.noGames))
    empty.isItalic = true
    super.init(stage: stage)
    scene = self
    column.isCentered = false
    setFoot([
      TextButton(stage: stage, title: stage.text(.save), action: .save),
      TextButton(stage: stage, title: stage.text(.copy), action: .copy),
      TextButton(stage: stage, title: stage.text(.paste), action: .paste),
      TextButton(stage: stage, title: stage.text(.back), action: .back),
    ])
    fill()
  }

  private func fill() {
    let rows = stage.games.enumerated().map { GameRow(stage: stage, index: $0, entry: $1) }
    column.set(rows.isEmpty ? [empty, field] : [field] + rows)
  }

  override func contentChanged() {
    let shown = column.rows.compactMap { ($0 as? GameRow)?.entry }
    guard shown != stage.games else { return }
    let hadFocus = stage.focus is GameRow
    fill()
    column.layout()
    if hadFocus { stage.moveFocus(to: initialFocus) }
    column.setNeedsDisplay()
  }

  private func open(_ path: String) {
    guard !path.isEmpty else { return }
    send(.intent(.openGame(path: path)))
  }

  override func receive(_ message: Message) -> Bool {
    switch message {
    case .activated(.line(let index)):
      if stage.games.indices.contains(index) { open(stage.games[index].path) }
      return true
    case .activated(.save): return send(.intent(.saveGame))
    case .activated(.copy): return send(.intent(.copyGame))
    case .activated(.paste):
      return send(.intent(.pasteGame(text: stage.services.clipboard() ?? "")))
    default: return super.receive(message)
    }
  }
}

/// A saved game: a small board, who played when, how it ended.
final class GameRow: PressableRow {
  let entry: GameEntry
  private let index: Int

  init(stage: Stage, index: Int, entry: GameEntry) {
    self.entry = entry
    self.index = index
    super.init(stage: stage)
    gapAfter = 0.35
  }

  override func press() { send(.activated(.line(index))) }
  override var spoken: String? { "\(entry.players), \(entry.date), \(entry.result)" }

  override func arrange(x: Double, y: Double, width: Double) -> Double {
    let height = stage.metrics.em * 3.4
    frame = Rect(x, y, width, height)
    return height
  }

  override func draw(_ canvas: Canvas) {
    let em = stage.metrics.em
    let theme = stage.theme
    canvas.miniBoard(entry.position, in: Rect(frame.x, frame.y + em * 0.1, em * 3.2, em * 3.2), theme)
    let left = frame.x + em * 4.2
    canvas.saved {
      canvas.clip(Rect(left - em, frame.y, frame.maxX - left + em, frame.height))
      let name = stage.typeface.block(entry.players, TextStyle(em * 1.1))
      canvas.draw(name, at: Point(left, frame.y + em * 1.45 - name.baseline), theme.ink)
      canvas.text(
        "\(entry.date)   ·   \(entry.result)", TextStyle(em * 0.95, italic: true), stage.typeface, x: left,
        baseline: frame.y + em * 2.75, theme.faintInk)
      underline(canvas, x: left, y: frame.y + em * 1.72, width: name.width)
    }
  }
}
