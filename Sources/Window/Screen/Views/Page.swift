import Interface

/// A row of a text page; the height depends on the width.
class PageRow: View {
  /// The space below the row, in em.
  var gapAfter = 1.0
  /// Whether the next row must be in the same column as this row.
  var keepsWithNext = false

  func height(_ width: Double) -> Double { 0 }

  /// Returns the row's height.
  func arrange(x: Double, y: Double, width: Double) -> Double {
    frame = Rect(x, y, width, max(isClickable ? context.metrics.target : 0, height(width)))
    return frame.height
  }

  final func drawCaption(_ caption: String, _ canvas: Canvas) {
    canvas.text(
      caption, TextStyle(em * 0.95, italic: true), context.typeface, x: frame.x, baseline: frame.y + em, theme.faintInk)
  }
}

/// A column of rows, scrollable if longer than its frame.
final class ScrollView: View {
  private(set) var rows: [PageRow] = []
  private lazy var offset = motion(0)
  private var target = 0.0
  private(set) var contentHeight = 0.0
  /// Whether content shorter than the frame is placed near the frame's middle instead of at the top.
  var isCentered = true

  override func moved() {
    place()
    setNeedsDisplay()
  }

  override var inkBounds: Rect { frame.insetBy(-8, 0) }
  override var childClip: Rect? { inkBounds }

  func set(_ rows: [PageRow]) {
    self.rows = rows
    removeChildren()
    for row in rows { add(row) }
  }

  override func layout() {
    place()
    clampTarget(animated: false)
    place()
  }

  var columns = 1
  /// The space between columns, in em.
  static let gutter = 4.0

  private func place() {
    let top = frame.y - offset.value + lead
    let gap = columns > 1 ? ScrollView.gutter * em : 0
    let width = (frame.width - gap * Double(columns - 1)) / Double(columns)
    let shown = rows.filter { !$0.isHidden }
    let heights = shown.map { $0.arrange(x: frame.x, y: top, width: width) + $0.gapAfter * em }
    let share = heights.reduce(0, +) / Double(columns)
    var (x, y, tallest) = (frame.x, top, 0.0)
    var isKept = false
    for (row, height) in zip(shown, heights) {
      // Columns share the height equally. A row moves to the next column if more than half of the row would exceed the share.
      if columns > 1, !isKept, y - top + height / 2 > share, x + width < frame.maxX - 1 {
        x += width + gap
        y = top
      }
      isKept = row.keepsWithNext
      _ = row.arrange(x: x, y: y, width: width)
      y += height
      tallest = max(tallest, y - top)
    }
    contentHeight = tallest
  }

  private var lead: Double {
    isCentered && contentHeight > 0 && contentHeight < frame.height ? (frame.height - contentHeight) * 0.36 : 0
  }

  private func clampTarget(animated: Bool) {
    let limit = max(0, contentHeight - frame.height)
    target = target.clamped(to: 0...limit)
    context.animator.bring(offset, to: target, animated: animated, seconds: 0.25, .cubicOut)
  }

  override func scrolled(_ lines: Double) -> Bool {
    guard contentHeight > frame.height else { return false }
    target -= lines * em * 3
    clampTarget(animated: true)
    return true
  }

  func drag(by distance: Double) {
    target = offset.value + distance
    clampTarget(animated: false)
  }

  /// Returns `false` if nothing moved.
  func scrolled(by key: Key) -> Bool {
    let before = target
    switch key {
    case .pageUp: _ = scrolled(frame.height / em / 3.6)
    case .pageDown: _ = scrolled(-frame.height / em / 3.6)
    case .up: _ = scrolled(1.5)
    case .down: _ = scrolled(-1.5)
    default: return false
    }
    return target != before
  }

  /// Whether a view is visible or at most 5 em outside of the visible part.
  func reaches(_ view: View) -> Bool { view.frame.maxY > frame.y - 5 * em && view.frame.y < frame.maxY + 5 * em }

  func reveal(_ row: View) {
    let room = em
    if row.frame.y < frame.y + room {
      target = offset.value + row.frame.y - frame.y - room
    } else if row.frame.maxY > frame.maxY - room {
      target = offset.value + row.frame.maxY - frame.maxY + room
    } else {
      return
    }
    clampTarget(animated: true)
  }

  override func draw(_ canvas: Canvas) {
    let limit = contentHeight - frame.height
    guard limit > 1 else { return }
    let length = max(em * 2, frame.height * frame.height / contentHeight)
    let y = frame.y + (frame.height - length) * (offset.value / limit)
    let x = min(frame.maxX + 5, context.metrics.bounds.width - 4)
    canvas.fill(Rect(x, y, max(1.5, em * 0.1), length), theme.line.faded(0.45))
  }
}

/// A text page: a heading, a column of rows, and buttons at the bottom.
class PageScene: Scene {
  let column: ScrollView
  private var headBaseline = 0.0
  private var headSize = 0.0

  override init(context: ViewContext) {
    column = ScrollView(context: context)
    super.init(context: context)
    add(column)
  }

  /// The maximal column width in em.
  var columnWidth: Double { 31 }
  var mayHaveTwoColumns: Bool { false }

  override func layout() {
    let m = context.metrics
    frame = m.bounds
    headSize = min(em * 2.2, (m.bounds.width - 2 * m.margin) / 6.5)
    headBaseline = m.margin * 0.8 + headSize * 0.9
    arrangeFooter()
    let pair = em * (2 * columnWidth + ScrollView.gutter)
    column.columns = mayHaveTwoColumns && m.bounds.width - 2 * m.margin >= pair ? 2 : 1
    let width = column.columns == 2 ? pair : min(m.bounds.width - 2 * m.margin, em * columnWidth)
    let top = headBaseline + headSize * 0.35 + em * 0.6
    column.frame = Rect((m.bounds.width - width) / 2, top, width, max(em, footerTop - top - em * 0.4))
    column.layout()
  }

  override func drawStatic(_ canvas: Canvas) {
    drawHeading(title, size: headSize, baseline: headBaseline, on: canvas)
  }

  /// Places the rows again, but not the rest of the page.
  final func relayColumn() {
    column.layout()
    column.setNeedsDisplay()
  }

  override func focusMoved(to view: View) {
    // Do not scroll to the first control, which gets the focus when a page opens.
    guard !context.isTurning, let row = view.responders.first(where: { $0.parent === column }) else { return }
    column.reveal(row)
  }
}

final class TextRow: PageRow {
  var text: String {
    didSet { if text != oldValue { setNeedsDisplay() } }
  }
  private let isItalic: Bool
  private let isFaint: Bool
  var size: Double
  var alignment = TextAlignment.left
  /// Other texts that the row may show: the row has room for each, so that a change of text moves no row below.
  var others: [String] = []

  init(
    context: ViewContext, _ text: String, italic: Bool = false, faint: Bool = true, size: Double = 1, gap: Double = 1
  ) {
    self.text = text
    (isItalic, isFaint, self.size) = (italic, faint, size)
    super.init(context: context)
    gapAfter = gap
  }

  override var accessibilityText: String? { text }

  private func block(_ text: String, _ width: Double) -> Typeface.Block {
    context.typeface.block(
      text, TextStyle(em * size, italic: isItalic), width: width, alignment: alignment
    )
  }

  override func height(_ width: Double) -> Double {
    (others + [text]).map { $0.isEmpty ? 0 : block($0, width).height }.max() ?? 0
  }

  override func draw(_ canvas: Canvas) {
    guard !text.isEmpty else { return }
    canvas.draw(
      block(text, frame.width), at: Point(frame.x, frame.y), isFaint ? theme.faintInk : theme.ink)
  }
}

/// A slider: a line with a note head on it.
final class SliderRow: PageRow {
  let caption: String
  private(set) var value: Double
  private let range: ClosedRange<Double>
  private let step: Double
  private let describe: (Double) -> String
  private let onChange: (Double) -> Void
  private var isHovered = false

  init(
    context: ViewContext, _ caption: Phrase, value: Double, in range: ClosedRange<Double>, step: Double,
    describe: @escaping (Double) -> String, onChange: @escaping (Double) -> Void
  ) {
    (self.caption, self.value, self.range, self.step) = (context.text(caption), value, range, step)
    (self.describe, self.onChange) = (describe, onChange)
    super.init(context: context)
  }

  override var isClickable: Bool { true }
  override var accessibilityLabel: String? { "\(caption): \(describe(value))" }
  override var role: Role {
    .slider(caption: caption, value: describe(value), numbers: [value, range.lowerBound, range.upperBound])
  }

  private var track: (left: Double, right: Double, y: Double) {
    return (frame.x + em * 0.5, frame.maxX - em * 4.2, frame.y + em * 2.35)
  }

  override func height(_ width: Double) -> Double { em * 3.2 }

  func set(_ next: Double) {
    let snapped = ((next / step).rounded() * step).clamped(to: range)
    guard snapped != value else { return }
    value = snapped
    setNeedsDisplay()
    onChange(snapped)
    context.announce(accessibilityLabel)
  }

  override func hover(_ isInside: Bool) {
    isHovered = isInside
    setNeedsDisplay()
  }

  override func pointer(_ phase: PointerPhase, at point: Point) -> Bool {
    guard phase.slides else { return true }
    let t = track
    set(mix(range.lowerBound, range.upperBound, ((point.x - t.left) / (t.right - t.left)).clamped(to: 0...1)))
    return true
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    switch key {
    case .left, .character("h"): set(value - step)
    case .right, .character("l"): set(value + step)
    case .home: set(range.lowerBound)
    case .end: set(range.upperBound)
    default: return false
    }
    return true
  }

  override func draw(_ canvas: Canvas) {
    let t = track
    drawCaption(caption, canvas)
    canvas.fill(Rect(t.left, t.y - max(0.5, em * 0.03), t.right - t.left, max(1, em * 0.06)), theme.line)
    let x = mix(t.left, t.right, (value - range.lowerBound) / (range.upperBound - range.lowerBound))
    let grow = em * (isHovered || showsFocus ? 0.62 : 0.54)
    canvas.fill(Glyphs.blackHead.scaled(grow, grow).moved(x, t.y), showsFocus ? theme.accent : theme.ink)
    canvas.text(
      describe(value), TextStyle(em), context.typeface, x: frame.maxX, baseline: t.y + em * 0.34,
      alignment: .right, theme.ink)
  }
}
