import Interface

/// A row that can be pressed. Its title is underlined under the pointer, and in the accent colour while the row shows the focus.
class PressableRow: PageRow {
  private(set) lazy var ink = motion(0)

  override var isClickable: Bool { true }

  func press() {}

  override func hover(_ isInside: Bool) {
    context.animator.move(ink, to: isInside ? 1 : 0, seconds: isInside ? 0.14 : 0.3)
  }

  override func pointer(_ phase: PointerPhase, at point: Point) -> Bool {
    if case .up = phase, frame.contains(point), isClickable { press() }
    return true
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    guard isClickable, key == .enter || key == .character(" ") else { return false }
    press()
    return true
  }

  /// `x` and `y` are the left end of the line, `width` is the width of the title.
  func underline(_ canvas: Canvas, x: Double, y: Double, width: Double) {
    let shown = showsFocus ? 1 : ink.value
    guard shown > 0 else { return }
    canvas.underline(
      from: Point(x - em * 0.1, y), width: (width + em * 0.2) * shown, thickness: em * 0.085,
      showsFocus ? theme.accent : theme.ink)
  }
}

/// A line of a table of contents: title, dots, key.
final class ContentsRow: PressableRow {
  let title: String
  let key: String
  let intent: Intent
  let subtitle: String?

  init(context: ViewContext, title: String, key: String = "", intent: Intent, subtitle: String? = nil) {
    (self.title, self.key, self.intent, self.subtitle) = (title, key, intent, subtitle)
    super.init(context: context)
    gapAfter = 0
  }

  override var accessibilityLabel: String? { title }
  override func press() { send(intent) }

  override func height(_ width: Double) -> Double { em * (subtitle == nil ? 2.2 : 2.8) }

  override func draw(_ canvas: Canvas) {
    let block = context.typeface.block(title, TextStyle(em * 1.15))
    let tail = context.typeface.block(key, TextStyle(em * 0.95, italic: true))
    let baseline = frame.y + (frame.height - height(frame.width)) / 2 + em * 1.46
    if let subtitle {
      canvas.text(
        subtitle, TextStyle(em * 0.8, italic: true), context.typeface, x: frame.x,
        baseline: baseline + em, theme.faintInk)
    }
    canvas.draw(block, at: Point(frame.x, baseline - block.baseline), theme.ink)
    canvas.draw(tail, at: Point(frame.maxX - tail.width, baseline - tail.baseline), theme.faintInk)
    let pitch = em * 0.62
    var x = frame.maxX - tail.width - em * 0.7
    while x > frame.x + block.width + em * 0.5 {
      canvas.fill(Rect(x, baseline - em * 0.08, em * 0.085, em * 0.085), theme.line)
      x -= pitch
    }
    underline(canvas, x: frame.x, y: baseline + em * 0.3, width: block.width)
  }
}
