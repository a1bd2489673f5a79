import Interface

/// What is said beside a match: lines, a field, small words to press.
final class Talk {
  let field: FieldRow
  private let words: WordsRow
  private let context: ViewContext

  init(context: ViewContext) {
    self.context = context
    field = FieldRow(context: context, .say, limit: 200, intent: Intent.say)
    words = WordsRow(context: context, Emote.allCases.map { ($0.phrase, .emote($0)) })
  }

  /// The newest lines; a talk of two over a small board is never longer.
  private static let shown = 30

  var rows: [PageRow] {
    let talk = context.pages.talk
    var rows: [PageRow] = talk.lines.suffix(Talk.shown).map { line in
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
    return rows + [field, words]
  }

  /// Takes what is said out of the field; whether there is nothing to send on.
  func take(_ text: String) -> Bool {
    field.clear()
    return text.isEmpty
  }
}

/// The page of what is said beside a match.
final class TalkScene: PageScene {
  private let talk: Talk
  private let rest: WordsRow

  override var title: String { context.text(.talk) }
  override var initialFocus: View? { talk.field }

  override init(context: ViewContext) {
    talk = Talk(context: context)
    rest = WordsRow(
      context: context, [(.muteTalk, .setTalkMuted(true)), (.block, .setBlocked(true)), (.report, .reportOpponent)])
    (rest.words[0].poem, rest.words[1].poem) = (context.text(.muteTalkPoem), context.text(.blockPoem))
    super.init(context: context)
    setFoot([(.back, .back)])
    column.isCentered = false
    fill()
  }

  private func fill() {
    let model = context.pages.talk
    column.set(talk.rows + [rest])
    (rest.words[0].title, rest.words[0].intent) = (
      context.text(model.isMuted ? .unmuteTalk : .muteTalk), .setTalkMuted(!model.isMuted)
    )
    (rest.words[1].title, rest.words[1].intent) = (
      context.text(model.isBlocked ? .unblock : .block), .setBlocked(!model.isBlocked)
    )
  }

  override func contentChanged() {
    fill()
    relay()
    column.reveal(talk.field)
  }

  override func receive(_ intent: Intent) -> Bool {
    if case .say(let text) = intent { talk.take(text) } else { false }
  }
}
