import Interface

/// Where the pointer is in its gesture.
enum PointerPhase: Hashable {
  case down(isTouch: Bool)
  case dragged
  case up(isTouch: Bool)

  /// Whether what is slid goes there: a finger that came down may have meant the list it came down on.
  var slides: Bool { ![.down(isTouch: true), .up(isTouch: false)].contains(self) }
}

/// A rectangle of the page that draws itself and answers input; the parent is the next responder.
class View {
  let context: ViewContext
  /// A number that no other view of the window has.
  let number: Int
  private(set) unowned(unsafe) var parent: View?
  private(set) var children: [View] = []
  var isHidden = false {
    didSet { if isHidden != oldValue { setNeedsDisplay() } }
  }

  /// The place on the page in device pixels (absolute, not relative to the parent).
  var frame = Rect.zero {
    didSet {
      guard frame != oldValue else { return }
      context.damage(oldValue)
      setNeedsDisplay()
    }
  }

  /// The size of running text, and the page's colours.
  final var em: Double { context.metrics.em }
  final var theme: Theme { context.theme }

  /// Numbers that the view shows.
  private var motions: [Motion] = []

  init(context: ViewContext) {
    self.context = context
    number = context.nextNumber()
  }

  deinit {
    // References up the tree are not counted: whoever goes is forgotten by those that know it.
    for child in children { child.parent = nil }
    for motion in motions { motion.view = nil }
    if context.focus === self { context.focus = nil }
    if context.hovered === self { context.hovered = nil }
  }

  /// A number that may move: whenever it does, the view draws itself anew.
  final func motion(_ value: Double) -> Motion {
    let motion = Motion(value)
    motion.view = self
    motions.append(motion)
    return motion
  }

  final func add(_ child: View) {
    child.parent = self
    children.append(child)
  }

  final func remove(_ child: View) {
    guard let at = children.firstIndex(where: { $0 === child }) else { return }
    children.remove(at: at)
    child.parent = nil
  }

  final func removeChildren() {
    for child in children { child.parent = nil }
    children = []
  }

  // MARK: Drawing

  /// What the children are cut to, if anything.
  var childClip: Rect? { nil }
  /// What the view may paint on: its frame and a little more where strokes overhang.
  var inkBounds: Rect { frame.insetBy(-3, -3) }
  /// Draws what changes only with the layout; kept in the static layer.
  func drawStatic(_ canvas: Canvas) {}
  /// Draws what may change at any frame.
  func draw(_ canvas: Canvas) {}
  /// Places the children; called when the page's measures change.
  func layout() { for child in children { child.layout() } }

  /// A number of the view's, which an animator moves, has changed.
  func moved() { setNeedsDisplay() }

  final func setNeedsDisplay() { context.damage(inkBounds) }

  // MARK: Input

  /// Whether the pointer can press here, and the keyboard come here.
  var isClickable: Bool { false }
  /// Whether the pointer becomes a hand here.
  var showsHand: Bool { isClickable }
  /// What a screen reader says of the view, if it is a control.
  var spoken: String? { nil }
  /// What stands there to be read, if it is no control.
  var reading: String? { nil }
  /// Where the view can be pressed and what each place means, in words; a control is one place.
  var places: [(place: Rect, words: String)] { spoken.map { [(frame, $0)] } ?? [] }
  /// What the view is to whoever reads the page without seeing it.
  var role: Role { .button }
  /// A pointer gesture that began here; returns whether the view took it.
  func pointer(_ phase: PointerPhase, at point: Point) -> Bool { false }
  /// The pointer came or went.
  func hover(_ isInside: Bool) {}
  func focusChanged(_ isFocused: Bool) { setNeedsDisplay() }
  /// A key went down while the focus is here or below; returns whether the view took it.
  func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool { false }
  /// Text was typed while the focus is here; returns whether the view took it.
  func typed(_ text: String) -> Bool { false }
  /// An input method composes a text that is not typed yet.
  func composed(_ text: String) {}
  /// Where the view takes text, if it does: an input method shows its candidates there.
  var textPlace: Rect? { nil }
  /// The wheel turned over the view or below; returns whether the view took it.
  func scrolled(_ lines: Double) -> Bool { false }
  /// What is wanted below; returns whether the view answered it.
  func receive(_ intent: Intent) -> Bool { false }

  final var isFocused: Bool { context.focus === self }
  /// Whether the focus is here and must be seen.
  final var showsFocus: Bool { isFocused && context.showsFocus }

  /// The responder chain: the view and those above it.
  final var responders: UnfoldFirstSequence<View> { sequence(first: self) { $0.parent } }

  /// Sends an intent up the responder chain, beginning with the parent; returns whether anyone answered.
  @discardableResult
  final func send(_ intent: Intent) -> Bool { parent?.responders.contains { $0.receive(intent) } ?? false }

  /// The deepest visible view at a place that takes the pointer.
  final func hit(_ point: Point) -> View? {
    guard !isHidden, childClip?.contains(point) ?? true else { return nil }
    for child in children.reversed() {
      if let view = child.hit(point) { return view }
    }
    return isClickable && frame.contains(point) ? self : nil
  }

  /// Draws the view and everything visible below it that touches `area`.
  final func render(_ canvas: Canvas, in area: Rect) {
    guard !isHidden else { return }
    if inkBounds.intersects(area) { draw(canvas) }
    guard let childClip else {
      for child in children { child.render(canvas, in: area) }
      return
    }
    guard childClip.intersects(area) else { return }
    canvas.saved {
      canvas.clip(childClip)
      for child in children { child.render(canvas, in: area) }
    }
  }

  /// Calls `body` for the view and everything visible below it, parents first.
  final func visit(_ body: (View) -> Void) {
    guard !isHidden else { return }
    body(self)
    for child in children { child.visit(body) }
  }

  /// The controls the keyboard reaches, in reading order.
  final var focusOrder: [View] {
    var result: [View] = []
    visit { if $0.isClickable { result.append($0) } }
    return result
  }
}

/// Where a notice lies: its middle, how broad it may be, and its lower edge.
struct NoticePlace {
  var midX: Double
  var width: Double
  var foot: Double
  /// Bands of the page that a notice may cover: the first that it fits into has it in its middle.
  private(set) var free: [ClosedRange<Double>] = []

  init(midX: Double, width: Double, foot: Double) { (self.midX, self.width, self.foot) = (midX, width, foot) }

  /// Lets a notice cover what is between two heights, where there is anything.
  mutating func mayCover(from top: Double, to bottom: Double) { if top < bottom { free.append(top...bottom) } }
}

/// One page of the game.
class Scene: View {
  /// The view that has the focus when the page opens, and when the one that had it is gone.
  var initialFocus: View? { focusOrder.first }
  /// The cell that Tab comes to: the cells of a board are one stop.
  var homeCell: View? { nil }
  /// The model of the board changed; `old` is what was shown before.
  func modelChanged(from old: BoardModel) {}
  /// Only the moment of the sound has moved on.
  func soundMoved() {}
  /// When the scene itself wants the next frame, beside what is animated.
  func nextChange(after now: Double) -> Double { .infinity }
  func focusMoved(to view: View) {}
  /// The pointer has come to another view of the page, or to none.
  func hoverMoved() {}
  /// Something the page shows, other than the board, has changed.
  func contentChanged() {}
  /// The page is about to be left.
  func willClose() {}
  /// Where a notice lies: at the foot, unless a page has a better place.
  var noticePlace: NoticePlace {
    NoticePlace(midX: frame.midX, width: frame.width - 2 * context.metrics.margin, foot: footTop)
  }
  /// What to say when the page opens.
  var title: String { "" }

  /// The words to press at the foot, and the height at which they begin.
  private(set) final var foot: [TextButton] = []
  private(set) final var footTop = 0.0

  final func setFoot(_ words: [(Phrase, Intent)]) {
    foot = words.map { TextButton(context: context, $0.0, $0.1) }
    for button in foot { add(button) }
  }

  /// Places the words that are there.
  final func arrangeFoot() {
    let m = context.metrics
    footTop = TextButton.arrangeInRows(
      foot.filter { !$0.isHidden }, width: m.bounds.width - m.margin, midX: m.bounds.midX,
      bottom: m.bounds.height - m.margin * 0.45)
  }

  /// Draws a heading in the middle of the page, smaller where it is too broad.
  final func drawHeading(_ text: String, size: Double, baseline: Double, on canvas: Canvas) {
    let m = context.metrics
    let width = context.typeface.block(text, TextStyle(size, lining: true)).width
    let fitting = min(size, size * (m.bounds.width - 2 * m.margin) / max(1, width))
    canvas.text(
      text, TextStyle(fitting, lining: true), context.typeface, x: m.bounds.midX, baseline: baseline,
      alignment: .center, theme.ink)
  }

  /// Places everything anew, once the page has been placed at all.
  final func relay() {
    guard frame.width > 0 else { return }
    layout()
    context.staticIsStale = true
  }
}
