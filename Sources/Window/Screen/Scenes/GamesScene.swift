import Interface
import TicTacToe

/// The list of saved games, with a field for the path of another file.
final class GamesScene: PageScene {
  private let field: FieldRow
  private let empty: TextRow
  private let pieces: ContentsRow
  /// The game whose actions are shown; `isNaming`: the player edits the game's name.
  private var chosen: (path: String, isNaming: Bool)?

  override var title: String { context.text(.games) }
  override var initialFocus: View? {
    column.rows.first { $0 is GameRow } ?? (field.isHidden ? footerButtons.last : field)
  }
  override var columnWidth: Double { 36 }

  override init(context: ViewContext) {
    field = FieldRow(context: context, .pathField, limit: 4096, intent: Intent.openGame(path:))
    empty = TextRow(context: context, context.text(.noGames), italic: true)
    pieces = ContentsRow(context: context, title: context.text(.openPieces), intent: .openPieces)
    super.init(context: context)
    column.isCentered = false
    setFooter([(.save, .saveGame), (.copy, .copyGame), (.paste, .pasteGame), (.back, .back)])
    fill()
  }

  private func fill() {
    let rows: [PageRow] = context.pages.games.flatMap { entry in
      [
        GameRow(
          context: context, entry: entry, open: .openGame(path: entry.path),
          more: (.moreWords, .chooseGame(path: entry.path)), delete: .deleteGame(path: entry.path))
      ] + (chosen?.path == entry.path ? [words(of: entry)] : [])
    }
    // A browser has no paths and folders to choose from.
    (field.isHidden, pieces.isHidden) = (context.services.isPage, context.services.isPage)
    let older: [PageRow] =
      context.pages.hasOlderGames
      ? [ContentsRow(context: context, title: context.text(.olderGames), intent: .listOlder)] : []
    column.set((rows.isEmpty ? [empty, field] : [field] + rows) + older + [pieces])
  }

  /// The actions for a game or, while the player renames the game, the field for the new name.
  private func words(of entry: GameEntry) -> PageRow {
    let path = entry.path
    if chosen?.isNaming == true {
      return FieldRow(context: context, .gameName, text: entry.name, limit: 60) {
        .renameGame(path: path, name: $0)
      }
    }
    var words: [(Phrase, Intent)] = [
      (.playMusic, .playGame(path: path)), (.open, .openGame(path: path)), (.renameGame, .nameGame(path: path)),
      (.deleteGame, .deleteGame(path: path)),
    ]
    if context.services.share != nil { words.insert((.share, .shareSaved(path: path)), at: 3) }
    return WordsRow(context: context, words)
  }

  override func receive(_ intent: Intent) -> Bool {
    switch intent {
    case .chooseGame(let path): choose(chosen?.path == path ? nil : (path, false))
    case .nameGame(let path): choose((path, true))
    default: return false
    }
    return true
  }

  private func choose(_ game: (path: String, isNaming: Bool)?) {
    let row = game?.path ?? chosen?.path
    chosen = game
    fill()
    relayColumn()
    guard let place = column.rows.firstIndex(where: { ($0 as? GameRow)?.entry.path == row }) else { return }
    let next = game == nil ? column.rows[place] : column.rows[place + 1]
    context.moveFocus(to: (next as? WordsRow)?.words.first ?? next)
  }

  override func contentChanged() {
    let shown = column.rows.compactMap { ($0 as? GameRow)?.entry }
    guard shown != context.pages.games else { return }
    let hadFocus = context.focus is GameRow || chosen != nil
    // After a press of *Older games*, the focus moves to the first older game, whose row replaces the button's row.
    let older = column.rows.firstIndex { $0 === context.focus && ($0 as? ContentsRow)?.intent == .listOlder }
    chosen = nil
    fill()
    relayColumn()
    if hadFocus || older != nil { context.moveFocus(to: older.map { column.rows[$0] } ?? initialFocus) }
  }
}

/// A saved game or a game played by links, with a button `more`.
final class GameRow: PressableRow {
  let entry: GameEntry
  private let more: TextButton
  private let (open, delete): (Intent, Intent)

  init(context: ViewContext, entry: GameEntry, open: Intent, more word: (Phrase, Intent), delete: Intent) {
    (self.entry, self.open, self.delete) = (entry, open, delete)
    more = TextButton(context: context, word.0, word.1)
    more.size = 0.85
    super.init(context: context)
    gapAfter = 0.35
    add(more)
  }

  override func arrange(x: Double, y: Double, width: Double) -> Double {
    let height = super.arrange(x: x, y: y, width: width)
    let ideal = more.idealSize
    more.frame = Rect(frame.maxX - ideal.width, frame.midY - ideal.height / 2, ideal.width, ideal.height)
    return height
  }

  override func press() { send(open) }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    switch key {
    case .delete, .backspace: return send(delete)
    case .right where isFocused: context.moveFocus(to: more)
    case .left where more.isFocused: context.moveFocus(to: self)
    default: return super.key(key, modifiers)
    }
    return true
  }

  private var titleLine: String { entry.name.isEmpty ? entry.players : entry.name }
  private var detailLine: String {
    let line = "\(entry.date)   ·   \(entry.result)"
    return entry.name.isEmpty ? line : "\(entry.players)   ·   \(line)"
  }

  override var accessibilityLabel: String? {
    ((entry.name.isEmpty ? [] : [entry.name]) + [entry.players, entry.date, entry.result]).joined(separator: ", ")
  }

  override func height(_ width: Double) -> Double { em * 3.4 }

  override func draw(_ canvas: Canvas) {
    canvas.miniBoard(entry.board, in: Rect(frame.x, frame.y + em * 0.1, em * 3.2, em * 3.2), theme)
    let left = frame.x + em * 4.2
    canvas.saved {
      canvas.clip(Rect(left - em, frame.y, more.frame.x - left + em, frame.height))
      let name = context.typeface.block(titleLine, TextStyle(em * 1.1))
      canvas.draw(name, at: Point(left, frame.y + em * 1.45 - name.baseline), theme.ink)
      canvas.text(
        detailLine, TextStyle(em * 0.95, italic: true), context.typeface, x: left,
        baseline: frame.y + em * 2.75, theme.faintInk)
      underline(canvas, x: left, y: frame.y + em * 1.72, width: name.width)
    }
  }
}
