import Interface
import TicTacToe

/// A question with some answers, of which one is selected.
final class ChoiceRow: PageRow {
  private let caption: String
  var options: [String]
  private(set) var selected: Int
  var onSelect: (Int) -> Void = { _ in }
  private var boxes: [Rect] = []
  private lazy var mark = motion(1)

  init(context: ViewContext, _ caption: Phrase, _ options: [String], selected: Int?) {
    (self.caption, self.options, self.selected) = (context.text(caption), options, selected ?? 0)
    super.init(context: context)
  }

  convenience init(context: ViewContext, games: [Variant] = Variant.allCases, selected: Variant) {
    self.init(
      context: context, .game, games.map { context.name(of: $0) }, selected: games.firstIndex(of: selected))
  }

  override var isClickable: Bool { true }
  override var accessibilityLabel: String? { "\(caption): \(options[selected])" }
  override var accessibilityElements: [(place: Rect, words: String)] {
    zip(boxes, options).map { ($0, "\(caption): \($1)") }
  }
  override var role: Role { .choice(selected: selected) }
  override var inkBounds: Rect { frame.insetBy(-em * 0.5, -4) }

  private var style: TextStyle { TextStyle(em * 1.12) }

  override func arrange(x: Double, y: Double, width: Double) -> Double {
    let rowHeight = max(context.metrics.target, em * 2.1)
    let captionHeight = em * 1.5
    boxes = []
    var cx = x
    var cy = y + captionHeight
    for option in options {
      let w = max(context.metrics.target, context.typeface.block(option, style).width + em * 1.1)
      if cx + w > x + width, cx > x {
        cx = x
        cy += rowHeight
      }
      boxes.append(Rect(cx - em * 0.4, cy, w, rowHeight))
      cx += w + em * 0.5
    }
    let height = cy + rowHeight - y
    frame = Rect(x, y, width, height)
    return height
  }

  /// Changes the selection without calling `onSelect`.
  func show(_ index: Int) {
    selected = index
    setNeedsDisplay()
  }

  func select(_ index: Int) {
    guard options.indices.contains(index), index != selected else { return }
    selected = index
    context.animator.set(mark, to: 0)
    context.animator.move(mark, to: 1, seconds: 0.22, .sineOut)
    // The choice of another language recreates the page, so announce before `onSelect`.
    context.announce(accessibilityLabel)
    onSelect(index)
  }

  override func pointer(_ phase: PointerPhase, at point: Point) -> Bool {
    if case .up = phase, let index = boxes.firstIndex(where: { $0.contains(point) }) { select(index) }
    return true
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    switch key {
    case .left, .character("h"): select(max(0, selected - 1))
    case .right, .character("l"): select(min(options.count - 1, selected + 1))
    case .character(" "): select((selected + 1) % options.count)
    default: return false
    }
    return true
  }

  override func draw(_ canvas: Canvas) {
    drawCaption(caption, canvas)
    for (index, place) in boxes.enumerated() {
      let block = context.typeface.block(options[index], style)
      let left = place.x + em * 0.4
      let top = place.midY - block.height / 2
      canvas.draw(block, at: Point(left, top), index == selected ? theme.ink : theme.faintInk)
      if index == selected {
        canvas.underline(
          from: Point(left - em * 0.1, top + block.baseline + em * 0.3), width: (block.width + em * 0.2) * mark.value,
          thickness: em * 0.11, showsFocus ? theme.accent : theme.ink)
      }
    }
  }
}
