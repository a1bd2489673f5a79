import Interface

/// The page of what is said beside a match: lines, a field, small words to press.
final class TalkScene: PageScene {
  private let field: FieldRow
  private let words: WordsRow
  private let rest: WordsRow

  override var title: String { context.text(.talk) }
  override var initialFocus: View? { field }

  override init(context: ViewContext) {
    field = FieldRow(context: context, caption: context.text(.say), text: "", limit: 200, intent: Intent.say)
    words = WordsRow(context: context, Emote.allCases.map { (context.text($0.phrase), .emote($0), nil) })
    rest = WordsRow(
      context: context,
      [
        ("", .setTalkMuted(true), context.text(.muteTalkPoem)), ("", .setBlocked(true), context.text(.blockPoem)),
        (context.text(.report), .reportOpponent, nil),
      ])
    super.init(context: context)
    setFoot([TextButton(context: context, title: context.text(.back), intent: .back)])
    column.isCentered = false
    fill()
  }

  /// The newest lines; a talk of two over a small board is never longer.
  private static let shown = 30

  private func fill() {
    let talk = context.pages.talk
    var rows: [PageRow] = talk.lines.suffix(TalkScene.shown).map { line in
      TextRow(context: context, "\(line.name): \(line.text)", faint: false, gap: 0.3)
    }
    // Said here, and not taken by the server yet.
    for said in talk.unsent {
      rows.append(TextRow(context: context, "\(said) …", italic: true, gap: 0.3))
    }
    if rows.isEmpty {
      rows.append(TextRow(context: context, context.text(.talkIntro), italic: true))
    }
    rows.last?.gapAfter = 1
    column.set(rows + [field, words, rest])
    (rest.words[0].title, rest.words[0].intent) = (
      context.text(talk.isMuted ? .unmuteTalk : .muteTalk), .setTalkMuted(!talk.isMuted)
    )
    (rest.words[1].title, rest.words[1].intent) = (
      context.text(talk.isBlocked ? .unblock : .block), .setBlocked(!talk.isBlocked)
    )
  }

  override func contentChanged() {
    fill()
    layout()
    column.reveal(field)
    context.staticIsStale = true
  }

  override func receive(_ intent: Intent) -> Bool {
    guard case .say(let text) = intent else { return false }
    field.clear()
    return text.isEmpty
  }
}
