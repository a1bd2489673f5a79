import Interface

final class Talk {
  let field: FieldRow
  private let words: WordsRow
  private let context: ViewContext

  init(context: ViewContext) {
    self.context = context
    field = FieldRow(context: context, .say, limit: 200, intent: Intent.say)
    words = WordsRow(context: context, Emote.allCases.map { ($0.phrase, .emote($0)) })
  }

  /// The maximum number of shown lines.
  private static let shown = 30

  var rows: [PageRow] {
    let talk = context.pages.talk
    var rows: [PageRow] = talk.lines.suffix(Talk.shown).map { line in
      TextRow(context: context, "\(line.name): \(line.text.text(in: context.language))", faint: false, gap: 0.3)
    }
    // Lines that the server has not confirmed yet.
    for said in talk.unsent {
      rows.append(TextRow(context: context, "\(said.text(in: context.language)) …", italic: true, gap: 0.3))
    }
    if rows.isEmpty {
      rows.append(TextRow(context: context, context.text(.talkIntro), italic: true))
    }
    rows.last?.gapAfter = 1
    return rows + [field, words]
  }

  /// Returns `true` for an empty line, which must not be sent.
  func take(_ text: String) -> Bool {
    field.clear()
    return text.isEmpty
  }
}

final class TalkScene: PageScene {
  private let talk: Talk
  private let rest: WordsRow

  override var title: String { context.text(.talk) }
  override var initialFocus: View? { talk.field }

  override init(context: ViewContext) {
    talk = Talk(context: context)
    rest = WordsRow(
      context: context, [(.muteTalk, .setTalkMuted(true)), (.block, .setBlocked(true)), (.report, .reportOpponent)])
    (rest.words[0].subtitle, rest.words[1].subtitle) = (context.text(.muteTalkSubtitle), context.text(.blockSubtitle))
    super.init(context: context)
    setFooter([(.back, .back)])
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
