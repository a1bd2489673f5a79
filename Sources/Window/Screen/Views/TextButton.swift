import Interface

final class TextButton: PressableRow {
  var title: String {
    didSet { if title != oldValue { setNeedsDisplay() } }
  }
  var intent: Intent
  var size = 1.0
  /// Less than 1 if the button is wider than the page.
  private var fit = 1.0
  var isEnabled = true {
    didSet { if isEnabled != oldValue { setNeedsDisplay() } }
  }
  var subtitle: String?

  init(context: ViewContext, _ phrase: Phrase, _ intent: Intent) {
    (title, self.intent) = (context.text(phrase), intent)
    super.init(context: context)
  }

  var style: TextStyle { TextStyle(em * size * fit, smallCaps: true, tracking: 0.06) }

  /// The width of the title or subtitle with a margin, and the height; both at least the minimal size of controls.
  var idealSize: (width: Double, height: Double) {
    let target = context.metrics.target
    let width = max(context.typeface.block(title, style).width, poemBlock?.width ?? 0)
    return (max(target, width + 1.1 * em), max(target, 2.3 * em))
  }

  private func squeeze(into width: Double) {
    fit = 1
    let (ideal, margin) = (idealSize.width, 1.1 * em)
    if ideal > width { fit = max(0.4, (width - margin) / (ideal - margin)) }
  }

  private var poemBlock: Typeface.Block? {
    subtitle.map { context.typeface.block($0, TextStyle(em * 0.72, italic: true)) }
  }

  static func rows(_ buttons: [TextButton], width: Double) -> [[TextButton]] {
    var rows: [[TextButton]] = []
    var used = Double.infinity
    for button in buttons {
      let ideal = button.idealSize.width
      if used + ideal > width {
        rows.append([])
        used = 0
      }
      rows[rows.count - 1].append(button)
      used += ideal
    }
    return rows
  }

  /// Centred rows that end at `bottom`; returns the top of the first row.
  static func arrangeInRows(_ buttons: [TextButton], width: Double, midX: Double, bottom: Double) -> Double {
    guard let first = buttons.first else { return bottom }
    for button in buttons { button.squeeze(into: width) }
    let rows = rows(buttons, width: width)
    let rowHeight = first.idealSize.height
    let top = bottom - rowHeight * Double(rows.count)
    for (index, row) in rows.enumerated() {
      var x = midX - row.reduce(0) { $0 + $1.idealSize.width } / 2
      for button in row {
        let ideal = button.idealSize
        button.frame = Rect(x, top + Double(index) * rowHeight, ideal.width, rowHeight)
        x += ideal.width
      }
    }
    return top
  }

  override var isClickable: Bool { isEnabled }
  override var accessibilityLabel: String? { title }

  override func press() { send(intent) }

  override func draw(_ canvas: Canvas) {
    let block = context.typeface.block(title, style)
    let left = frame.midX - block.width / 2
    let top = frame.midY - block.height / 2 - (subtitle == nil ? 0 : 0.28 * em)
    if let poemBlock {
      canvas.draw(
        poemBlock, at: Point(frame.midX - poemBlock.width / 2, frame.midY + 0.3 * em), theme.faintInk)
    }
    canvas.draw(block, at: Point(left, top), isEnabled ? theme.ink : theme.ghost)
    if isEnabled { underline(canvas, x: left, y: top + block.baseline + 0.32 * em, width: block.width) }
  }
}

extension Canvas {
  func underline(from start: Point, width: Double, thickness: Double, _ color: Color) {
    guard width > 1 else { return }
    let stroke = InkStroke(
      knots: [
        (start.x, start.y, thickness * 0.5), (start.x + width * 0.3, start.y - thickness * 0.35, thickness),
        (start.x + width * 0.75, start.y + thickness * 0.25, thickness * 0.85),
        (start.x + width, start.y - thickness * 0.2, thickness * 0.3),
      ], density: 6)
    fill(polygon: stroke.outline(), color)
  }
}
