import Interface
import TicTacToe

/// The games played by links, and a field for a link.
final class LettersScene: PageScene {
  private let field: FieldRow

  override var title: String { context.text(.letters) }
  override var initialFocus: View? { column.rows.first { $0 is GameRow } ?? footerButtons.first }
  override var columnWidth: Double { 36 }

  override init(context: ViewContext) {
    field = FieldRow(context: context, .letterField, limit: 2_200) { .letter(.open($0)) }
    super.init(context: context)
    column.isCentered = false
    setFooter([(.newGame, .letter(.begin)), (.paste, .pasteGame), (.back, .back)])
    fill()
  }

  private func fill() {
    let rows: [PageRow] = context.pages.letters.compactMap { entry in
      UInt64(entry.path).map { id in
        GameRow(
          context: context, entry: entry, open: .letter(.show(id)), more: (.deleteGame, .letter(.delete(id))),
          delete: .letter(.delete(id)))
      }
    }
    let intro = TextRow(context: context, context.text(.lettersIntro), italic: true)
    column.set([intro] + rows + [field])
  }

  override func contentChanged() {
    let shown = column.rows.compactMap { ($0 as? GameRow)?.entry }
    guard shown != context.pages.letters else { return }
    let hadFocus = context.focus.map { $0 is GameRow || $0.parent is GameRow } ?? false
    fill()
    relayColumn()
    if hadFocus { context.moveFocus(to: initialFocus) }
  }
}

/// The page with the player's last letter (a link that carries a game), or with both boards if a letter contradicts the stored game.
final class LetterScene: PageScene {
  private let words: FieldRow
  private let name: FieldRow
  private let link: TextRow
  private var shown: LetterModel?

  override var title: String { context.text(.playByLink) }
  override var initialFocus: View? { column.rows.first { $0 is WordsRow }?.children.first ?? footerButtons.first }

  override init(context: ViewContext) {
    let model = context.model.letter
    words = FieldRow(context: context, .letterWords, text: model?.words ?? "", limit: 80) { .letter(.write($0)) }
    name = FieldRow(context: context, .yourName, text: context.settings.name, limit: 20) { .letter(.sign($0)) }
    link = TextRow(context: context, "")
    super.init(context: context)
    link.alignment = .center
    setFooter([(.letters, .show(.letters)), (.back, .show(.board))])
    fill()
  }

  private func fill() {
    shown = context.model.letter
    guard let model = shown else { return column.set([]) }
    if let other = model.other {
      return column.set([
        TextRow(context: context, context.text(.letterFork), faint: false),
        TwoBoardsRow(context: context, [(.letterHere, BoardFacts(of: context.model.game)), (.letterThere, other)]),
      ])
    }
    link.text = model.address
    var sending: [(Phrase, Intent)] = [(.copy, .letter(.copy))]
    if context.services.share != nil { sending.append((.share, .letter(.share))) }
    // A pressed button must still exist when it is released, so keep the buttons.
    let buttons = column.rows.first { $0 is WordsRow } ?? WordsRow(context: context, sending)
    let picture: [PageRow] = QRCode(model.address).map { [QRRow(context: context, $0)] } ?? []
    column.set(
      [TextRow(context: context, context.text(.letterSendIt), faint: false), words, name, buttons] + picture + [link])
  }

  override func modelChanged(from old: BoardModel) {
    guard context.model.letter != shown else { return }
    fill()
    relay()
  }

  /// Stores the contents of the fields `words` and `name` in the letter.
  private func write() {
    guard let model = context.model.letter, model.other == nil, !model.path.isEmpty else { return }
    if name.text != context.settings.name { context.settings.name = name.text }
    if name.text != model.name { send(.letter(.sign(name.text))) }
    if words.text != model.words { send(.letter(.write(words.text))) }
  }

  /// The letter must contain the fields' texts before its link is copied or shared.
  override func receive(_ intent: Intent) -> Bool {
    switch intent {
    case .letter(.copy), .letter(.share), .show: write()
    case .letter(.sign(let name)): context.settings.name = name
    default: break
    }
    return false
  }

  override func focusMoved(to view: View) {
    super.focusMoved(to: view)
    if !context.isTurning, !(view is FieldRow) { write() }
  }
}

private final class TwoBoardsRow: PageRow {
  private let boards: [(Phrase, BoardFacts)]

  init(context: ViewContext, _ boards: [(Phrase, BoardFacts)]) {
    self.boards = boards
    super.init(context: context)
  }

  override var accessibilityText: String? {
    boards.map { caption, board in
      let variant = board.variant
      let marks = (0..<variant.side * variant.side).compactMap { index -> String? in
        let cell = variant.cell(row: index / variant.side, column: index % variant.side)
        return board[cell].map { "\($0.letter) \(context.name(cell, of: variant))" }
      }
      return "\(context.text(caption)): \(marks.joined(separator: ", "))"
    }.joined(separator: ". ")
  }

  private func side(_ width: Double) -> Double { min(12 * em, width * 0.45) }

  override func height(_ width: Double) -> Double { side(width) + 2 * em }

  override func draw(_ canvas: Canvas) {
    let side = side(frame.width)
    for (index, (caption, board)) in boards.enumerated() {
      let midX = frame.x + frame.width * (index == 0 ? 0.25 : 0.75)
      canvas.text(
        context.text(caption), TextStyle(em, italic: true), context.typeface, x: midX, baseline: frame.y + em,
        alignment: .center, theme.ink)
      canvas.miniBoard(board, in: Rect(midX - side / 2, frame.y + 1.6 * em, side, side), theme)
    }
  }
}
