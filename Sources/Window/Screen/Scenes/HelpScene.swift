import Interface
import ScoreModel

/// The page that explains the musical signs and plays them.
final class HelpScene: PageScene {
  override var title: String { context.text(.help) }
  override var columnWidth: Double { 36 }

  override init(context: ViewContext) {
    super.init(context: context)
    let intro = TextRow(context: context, context.text(.helpIntro), faint: false, gap: 0.8)
    let games = ContentsRow(context: context, title: context.text(.rules), intent: .show(.rules))
    let note = TextRow(context: context, context.text(.helpSigns), italic: true, gap: 0.4)
    let keysHead = TextRow(context: context, context.text(.helpKeys), faint: false, size: 1.4, gap: 0.3)
    let keys = TextRow(context: context, context.text(.helpKeysText), faint: false)
    let signs: [PageRow] = MusicSign.allCases.compactMap { sign in
      sign.phrases.map {
        SignRow(context: context, sign: sign, title: context.text($0.title), text: context.text($0.meaning))
      }
    }
    signs.last?.gapAfter = 1.4
    column.isCentered = false
    column.set([intro, games, note] + signs + [keysHead, keys])
    setFooter([(.explainAgain, .explainAgain), (.back, .back)])
    footerButtons[0].isEnabled = !context.settings.explains || !context.settings.explained.isEmpty
  }

  override func receive(_ intent: Intent) -> Bool {
    guard intent == .explainAgain else { return false }
    (context.settings.explains, context.settings.explained) = (true, "")
    footerButtons[0].isEnabled = false
    return true
  }
}

/// Pressing the row plays the sign.
final class SignRow: PressableRow {
  let sign: MusicSign
  private let title: String
  private let text: String
  private lazy var struck = motion(0)

  init(context: ViewContext, sign: MusicSign, title: String, text: String) {
    (self.sign, self.title, self.text) = (sign, title, text)
    super.init(context: context)
    gapAfter = 0.55
  }

  override var accessibilityLabel: String? { "\(title). \(text)" }

  private var indent: Double { em * 1.6 }

  private func body(_ width: Double) -> Typeface.Block {
    context.typeface.block(text, TextStyle(em), width: max(10, width - indent))
  }

  override func height(_ width: Double) -> Double { em * 1.55 + body(width).height }

  override func press() {
    context.animator.set(struck, to: 1)
    context.animator.move(struck, to: 0, seconds: 1.6, .quadOut)
    send(.playSign(sign))
  }

  override func draw(_ canvas: Canvas) {
    let baseline = frame.y + em * 1.05
    let head = context.typeface.block(title, TextStyle(em * 1.15))
    // The note head is filled while the sign sounds or the row has the focus.
    let glyph = ink.value > 0.5 || showsFocus || struck.value > 0 ? Glyphs.blackHead : Glyphs.openHead
    let color =
      struck.value > 0 ? theme.accent.faded(0.4 + 0.6 * struck.value) : showsFocus ? theme.accent : theme.faintInk
    canvas.fill(glyph.scaled(em * 0.42, em * 0.42).moved(frame.x + em * 0.5, baseline - em * 0.32), color)
    canvas.draw(head, at: Point(frame.x + indent, baseline - head.baseline), theme.ink)
    underline(canvas, x: frame.x + indent, y: baseline + em * 0.28, width: head.width)
    canvas.draw(body(frame.width), at: Point(frame.x + indent, frame.y + em * 1.55), theme.faintInk)
  }
}
