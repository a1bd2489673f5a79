extension Emote {
  /// The word in a language.
  package func text(in language: Language) -> String { phrase.text(in: language) }

  fileprivate var phrase: Phrase {
    switch self {
    case .hi: .emoteHi
    case .gl: .emoteGl
    case .gg: .emoteGg
    case .thx: .emoteThx
    case .wow: .emoteWow
    case .oops: .emoteOops
    }
  }
}

/// The page of what is said beside a match: lines, a field, small words to press.
final class TalkScene: PageScene {
  private let field: FieldRow
  private let words: WordsRow
  private let rest: WordsRow

  override var title: String { stage.text(.talk) }
  override var initialFocus: View? { field }

  override init(stage: Stage) {
    field = FieldRow(stage: stage, caption: stage.text(.say), text: "", limit: 200, intent: Intent.say)
    words = WordsRow(stage: stage, Emote.allCases.map { (stage.text($0.phrase), .emote($0), nil) })
    rest = WordsRow(
      stage: stage,
      [
        ("", .setTalkMuted(true), stage.text(.muteTalkPoem)), ("", .setBlocked(true), stage.text(.blockPoem)),
        (stage.text(.report), .reportOpponent, nil),
      ])
    super.init(stage: stage)
    setFoot([TextButton(stage: stage, title: stage.text(.back), intent: .back)])
    column.isCentered = false
    fill()
  }

  /// The newest lines; a talk of two over a small board is never longer.
  private static let shown = 30

  private func fill() {
    let talk = stage.talk
    var rows: [PageRow] = talk.lines.suffix(TalkScene.shown).map { line in
      let row = TextRow(stage: stage, "\(line.name): \(line.text)")
      row.isFaint = false
      row.gapAfter = 0.3
      return row
    }
    // Said here, and not taken by the server yet.
    for said in talk.unsent {
      let row = TextRow(stage: stage, "\(said) …")
      row.isItalic = true
      row.gapAfter = 0.3
      rows.append(row)
    }
    if rows.isEmpty {
      let row = TextRow(stage: stage, stage.text(.talkIntro))
      row.isItalic = true
      rows.append(row)
    }
    rows.last?.gapAfter = 1
    column.set(rows + [field, words, rest])
    (rest.words[0].title, rest.words[0].intent) = (
      stage.text(talk.isMuted ? .unmuteTalk : .muteTalk), .setTalkMuted(!talk.isMuted)
    )
    (rest.words[1].title, rest.words[1].intent) = (
      stage.text(talk.isBlocked ? .unblock : .block), .setBlocked(!talk.isBlocked)
    )
  }

  override func contentChanged() {
    fill()
    layout()
    column.reveal(field)
    stage.staticIsStale = true
  }

  override func receive(_ intent: Intent) -> Bool {
    guard case .say(let text) = intent else { return false }
    field.clear()
    return text.isEmpty
  }
}
