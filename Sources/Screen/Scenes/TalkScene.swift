extension Emote {
  /// The word in a language.
  public func text(in language: Language) -> String { phrase.text(in: language) }

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
  private var field: FieldRow
  private let words: WordsRow
  private let rest: WordsRow
  private var typed = ""

  override var title: String { stage.text(.talk) }
  override var initialFocus: View? { field }

  override init(stage: Stage) {
    weak var scene: TalkScene?
    field = TalkScene.emptyField(stage) { scene?.say() }
    words = WordsRow(stage: stage, Emote.allCases.map { (stage.text($0.phrase), .emote($0)) })
    rest = WordsRow(
      stage: stage, [("", .muteTalk), ("", .block), (stage.text(.report), .report)])
    super.init(stage: stage)
    scene = self
    setFoot([TextButton(stage: stage, title: stage.text(.back), action: .back)])
    column.isCentered = false
    fill()
  }

  private static func emptyField(_ stage: Stage, _ onEnter: @escaping () -> Void) -> FieldRow {
    FieldRow(stage: stage, caption: stage.text(.say), text: "", limit: 200) { _ in onEnter() }
  }

  /// The newest lines; a talk of two over a small board is never longer.
  private static let shown = 30

  private func fill() {
    field.onEdit = { [weak self] in self?.typed = $0 }
    let talk = stage.talk
    var rows: [PageRow] = talk.lines.suffix(TalkScene.shown).map { line in
      let row = TextRow(stage: stage, "\(line.name): \(line.text)")
      row.isFaint = false
      row.gapAfter = 0.3
      return row
    }
    if rows.isEmpty {
      let row = TextRow(stage: stage, stage.text(.talkIntro))
      row.isItalic = true
      rows.append(row)
    }
    rows.last?.gapAfter = 1
    column.set(rows + [field, words, rest])
    for button in rest.words {
      switch button.action {
      case .muteTalk: button.title = stage.text(talk.isMuted ? .unmuteTalk : .muteTalk)
      case .block: button.title = stage.text(talk.isBlocked ? .unblock : .block)
      default: break
      }
    }
  }

  override func contentChanged() {
    fill()
    layout()
    column.reveal(field)
    stage.staticIsStale = true
  }

  private func say() {
    guard !typed.isEmpty else { return }
    let text = typed
    typed = ""
    field = TalkScene.emptyField(stage) { [weak self] in self?.say() }
    send(.intent(.say(text)))
    contentChanged()
    stage.moveFocus(to: field)
  }

  override func receive(_ message: Message) -> Bool {
    switch message {
    case .activated(.emote(let emote)): send(.intent(.emote(emote)))
    case .activated(.muteTalk): send(.intent(.setTalkMuted(!stage.talk.isMuted)))
    case .activated(.block): send(.intent(.setBlocked(!stage.talk.isBlocked)))
    case .activated(.report): send(.intent(.reportOpponent))
    default: return super.receive(message)
    }
    return true
  }
}
