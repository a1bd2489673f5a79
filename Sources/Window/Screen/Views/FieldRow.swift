import Interface

final class FieldRow: PageRow {
  let caption: String
  /// The text before and after the caret. Two strings, because a combining mark after the caret joins the letter before the caret.
  private var before: String
  private var after = ""
  /// The text that an input method is composing at the caret, not part of `text` yet.
  private var composing = ""
  /// Whether all text is selected and is replaced by input.
  private var isSelected = false
  private let limit: Int
  /// Whether dots replace the letters, on the screen and for screen readers.
  private let isSecret: Bool
  /// The intent that the Enter key sends for a text.
  private let intent: (String) -> Intent

  var text: String { before + after }

  init(
    context: ViewContext, _ caption: Phrase, text: String = "", limit: Int, isSecret: Bool = false,
    intent: @escaping (String) -> Intent
  ) {
    (self.caption, self.limit, self.isSecret, self.intent) = (context.text(caption), limit, isSecret, intent)
    before = text
    super.init(context: context)
  }

  override var isClickable: Bool { true }
  override var accessibilityLabel: String? { "\(caption): \(shown(text))" }
  override var textPlace: Rect? { frame }
  override var role: Role { .field(caption: caption, text: shown(text)) }

  private func shown(_ text: String) -> String {
    isSecret ? String(repeating: "•", count: text.count) : text
  }

  override func height(_ width: Double) -> Double { em * 3.3 }

  override func typed(_ addition: String) -> Bool {
    // Drop control characters and line ends.
    let clean = String(
      String.UnicodeScalarView(addition.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }))
    composing = ""
    removeSelection()
    for scalar in clean.unicodeScalars {
      let longer = before + String(scalar)
      // `limit` counts letters without combining marks, so limit the scalars as well, to eight for each letter.
      guard longer.count + after.count <= limit, text.unicodeScalars.count < 8 * limit else { break }
      before = longer
    }
    setNeedsDisplay()
    return true
  }

  override func composed(_ text: String) {
    composing = text
    setNeedsDisplay()
  }

  override func focusChanged(_ isFocused: Bool) {
    if !isFocused { (composing, isSelected) = ("", false) }
    super.focusChanged(isFocused)
  }

  private func removeSelection() {
    if isSelected { (before, after, isSelected) = ("", "", false) }
  }

  func clear() {
    (before, after, composing, isSelected) = ("", "", "", false)
    setNeedsDisplay()
  }

  private func left(_ count: Int) {
    after = before.suffix(count) + after
    before.removeLast(min(count, before.count))
  }

  private func right(_ count: Int) {
    before += after.prefix(count)
    after.removeFirst(min(count, after.count))
  }

  /// The length of the last word with the spaces after the word.
  private static func word(_ letters: some BidirectionalCollection<Character>) -> Int {
    let reversed = letters.reversed()
    let spaces = reversed.prefix { $0 == " " }.count
    return spaces + reversed.dropFirst(spaces).prefix { $0 != " " }.count
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    let isControl = modifiers.contains(.control)
    let wasSelected = isSelected
    switch key {
    case .enter:
      return send(intent(text))
    case .backspace, .delete:
      if isSelected {
        removeSelection()
      } else if key == .backspace {
        before.removeLast(min(before.count, isControl ? FieldRow.word(before) : 1))
      } else {
        after.removeFirst(min(after.count, isControl ? FieldRow.word(after.reversed()) : 1))
      }
      setNeedsDisplay()
      return true
    case .left: left(isControl ? FieldRow.word(before) : 1)
    case .right: right(isControl ? FieldRow.word(after.reversed()) : 1)
    case .home: left(before.count)
    case .end: right(after.count)
    // On a controller X cycles the letter before the caret, and Y adds a letter.
    case .controllerX:
      removeSelection()
      let at = before.last.flatMap { FieldRow.wheel.firstIndex(of: Character($0.uppercased())) }
      if at != nil { before.removeLast() }
      return typed(String(FieldRow.wheel[at.map { ($0 + 1) % FieldRow.wheel.count } ?? 0]))
    case .controllerY: return typed(String(FieldRow.wheel[0]))
    case .character("a") where isControl: isSelected = !text.isEmpty
    case .character("v") where isControl: return typed(context.services.clipboard() ?? "")
    case .character("c") where isControl && !isSecret: context.services.setClipboard(text) { _ in }
    case .character("x") where isControl && !isSecret:
      let cut = text
      // A browser may refuse to copy: then keep the text.
      context.services.setClipboard(cut) { isCopied in if isCopied, self.text == cut { self.clear() } }
    case .character: return !isControl  // also arrives as text
    default: return false
    }
    if wasSelected, !isControl { isSelected = false }
    setNeedsDisplay()
    return true
  }

  /// The letters for controllers, sufficient for codes and addresses.
  private static let wheel = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-")

  override func pointer(_ phase: PointerPhase, at point: Point) -> Bool {
    if case .down = phase {
      isSelected = false
      right(after.count)
      setNeedsDisplay()
    }
    return true
  }

  override func draw(_ canvas: Canvas) {
    let style = TextStyle(em * 1.12)
    let baseline = frame.y + em * 2.4
    drawCaption(caption, canvas)
    canvas.saved {
      canvas.clip(Rect(frame.x - 2, frame.y, frame.width + 4, frame.height))
      let (head, tail) = (shown(before), shown(after))
      let line = head + composing + tail
      let block = context.typeface.block(line, style)
      let start = block.caret(after: head.utf8.count)
      let caret = composing.isEmpty ? start : block.caret(after: head.utf8.count + composing.utf8.count)
      // A long text scrolls, so that the caret is visible.
      let x = frame.x - max(0, caret - frame.width + em)
      let top = baseline - em * 0.85
      if isSelected { canvas.fill(Rect(x, top, block.width, em * 1.2), theme.ghost) }
      canvas.text(line, style, context.typeface, x: x, baseline: baseline, theme.ink)
      if !composing.isEmpty {
        canvas.fill(
          Rect(x + min(start, caret), baseline + em * 0.18, abs(caret - start), max(1, em * 0.06)), theme.accent)
      }
      if isFocused { canvas.fill(Rect(x + caret + 1, top, max(1, em * 0.07), em * 1.1), theme.accent) }
    }
    canvas.fill(
      Rect(frame.x, baseline + em * 0.38, frame.width, max(1, em * 0.06)),
      showsFocus ? theme.accent : theme.line)
  }
}
