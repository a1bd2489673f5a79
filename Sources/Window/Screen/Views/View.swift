import Interface

/// A step of a pointer gesture, from press to release.
enum PointerPhase: Hashable {
  case down(isTouch: Bool)
  case dragged
  case up(isTouch: Bool)

  /// A slider ignores a finger's touch, which may begin to scroll, and the release of the mouse.
  var slides: Bool { ![.down(isTouch: true), .up(isTouch: false)].contains(self) }
}

/// A rectangle of the page that draws itself and handles input; the parent view is the next responder.
class View {
  let context: ViewContext
  /// Unique in the window.
  let number: Int
  private(set) unowned(unsafe) var parent: View?
  private(set) var children: [View] = []
  var isHidden = false {
    didSet { if isHidden != oldValue { setNeedsDisplay() } }
  }

  /// On the page in device pixels, not relative to the parent.
  var frame = Rect.zero {
    didSet {
      guard frame != oldValue else { return }
      context.damage(oldValue)
      setNeedsDisplay()
    }
  }

  final var em: Double { context.metrics.em }
  final var theme: Theme { context.theme }

  private var motions: [Motion] = []

  init(context: ViewContext) {
    self.context = context
    number = context.nextNumber()
  }

  deinit {
    // Children, motions and context have unowned references to this view.
    for child in children { child.parent = nil }
    for motion in motions { motion.view = nil }
    if context.focus === self { context.focus = nil }
    if context.hovered === self { context.hovered = nil }
  }

  /// The view is redrawn whenever the number changes.
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

  /// The rectangle to which children are clipped, if any.
  var childClip: Rect? { nil }
  /// The area that the view may paint: its frame plus room for overhanging strokes.
  var inkBounds: Rect { frame.insetBy(-3, -3) }
  /// Draws the part that depends only on the layout, into a cached picture of the page (the static layer).
  func drawStatic(_ canvas: Canvas) {}
  /// Draws the part that may change in any frame.
  func draw(_ canvas: Canvas) {}
  func layout() { for child in children { child.layout() } }

  func moved() { setNeedsDisplay() }

  final func setNeedsDisplay() { context.damage(inkBounds) }

  // MARK: Input

  /// Whether the view accepts presses and the focus.
  var isClickable: Bool { false }
  var showsHand: Bool { isClickable }
  /// The accessibility label, if the view is a control.
  var accessibilityLabel: String? { nil }
  /// The accessibility text, if the view is not a control.
  var accessibilityText: String? { nil }
  /// The accessible elements with their positions and labels; by default one for a control.
  var accessibilityElements: [(place: Rect, words: String)] { accessibilityLabel.map { [(frame, $0)] } ?? [] }
  var role: Role { .button }
  /// Handles a gesture that began in this view; returns whether the view handled the gesture.
  func pointer(_ phase: PointerPhase, at point: Point) -> Bool { false }
  func hover(_ isInside: Bool) {}
  func focusChanged(_ isFocused: Bool) { setNeedsDisplay() }
  /// Handles a key pressed while this view or a descendant has the focus; returns whether the view handled the key.
  func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool { false }
  /// Handles text typed while this view has the focus; returns whether the view handled the text.
  func typed(_ text: String) -> Bool { false }
  /// Shows text that an input method is composing.
  func composed(_ text: String) {}
  /// The position of text input, if any, near which input methods show candidates.
  var textPlace: Rect? { nil }
  /// Handles the wheel over this view or a descendant; returns whether the view handled the wheel.
  func scrolled(_ lines: Double) -> Bool { false }
  /// Handles an intent that no descendant has handled; returns whether the view handled the intent.
  func receive(_ intent: Intent) -> Bool { false }

  final var isFocused: Bool { context.focus === self }
  final var showsFocus: Bool { isFocused && context.showsFocus }

  /// The view and its ancestors.
  final var responders: UnfoldFirstSequence<View> { sequence(first: self) { $0.parent } }

  /// Sends an intent up the responder chain from the parent; returns whether a view handled the intent.
  @discardableResult
  final func send(_ intent: Intent) -> Bool { parent?.responders.contains { $0.receive(intent) } ?? false }

  /// The deepest visible view at `point` that accepts the pointer.
  final func hit(_ point: Point) -> View? {
    guard !isHidden, childClip?.contains(point) ?? true else { return nil }
    for child in children.reversed() {
      if let view = child.hit(point) { return view }
    }
    return isClickable && frame.contains(point) ? self : nil
  }

  /// Draws the view and its visible descendants that touch `area`.
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

  /// Parents first, without hidden views.
  final func visit(_ body: (View) -> Void) {
    guard !isHidden else { return }
    body(self)
    for child in children { child.visit(body) }
  }

  final var focusOrder: [View] {
    var result: [View] = []
    visit { if $0.isClickable { result.append($0) } }
    return result
  }
}

/// The horizontal middle, maximal width and lower edge of a notice.
struct NoticePlace {
  var midX: Double
  var width: Double
  var bottom: Double
  /// Bands of the page that a notice may cover; a notice is centred in the first band that is high enough.
  private(set) var free: [ClosedRange<Double>] = []

  init(midX: Double, width: Double, bottom: Double) { (self.midX, self.width, self.bottom) = (midX, width, bottom) }

  /// Ignores an empty band.
  mutating func mayCover(from top: Double, to bottom: Double) { if top < bottom { free.append(top...bottom) } }
}

class Scene: View {
  /// The view that gets the focus when the page opens, or after the focused view was removed.
  var initialFocus: View? { focusOrder.first }
  /// The cell that represents the board in the Tab order.
  var homeCell: View? { nil }
  /// `old` is the model shown before.
  func modelChanged(from old: BoardModel) {}
  /// Called when only the time of the sound changed in the model.
  func soundMoved() {}
  /// The time of the next frame that the page needs for a change other than an animation, in seconds of the platform's clock.
  func nextChange(after now: Double) -> Double { .infinity }
  func focusMoved(to view: View) {}
  /// Called when the pointer entered another view of the page, or left the page.
  func hoverMoved() {}
  /// Called when the page's content other than the board changed.
  func contentChanged() {}
  /// Handles a finger that moved sideways over more than a quarter of the page; returns whether the page handled the swipe.
  func swiped(toLeft: Bool) -> Bool { false }
  func willClose() {}
  /// By default above the footer.
  var noticePlace: NoticePlace {
    NoticePlace(midX: frame.midX, width: frame.width - 2 * context.metrics.margin, bottom: footerTop)
  }
  /// Announced when the page opens.
  var title: String { "" }

  private(set) final var footerButtons: [TextButton] = []
  private(set) final var footerTop = 0.0

  final func setFooter(_ words: [(Phrase, Intent)]) {
    footerButtons = words.map { TextButton(context: context, $0.0, $0.1) }
    for button in footerButtons { add(button) }
  }

  final func arrangeFooter() {
    let m = context.metrics
    footerTop = TextButton.arrangeInRows(
      footerButtons.filter { !$0.isHidden }, width: m.bounds.width - m.margin, midX: m.bounds.midX,
      bottom: footerFoot)
  }

  final var footerFoot: Double { context.metrics.bounds.height - context.metrics.margin * 0.45 }

  /// Draws a centred heading, scaled down if too wide.
  final func drawHeading(_ text: String, size: Double, baseline: Double, on canvas: Canvas) {
    let m = context.metrics
    let width = context.typeface.block(text, TextStyle(size)).width
    let fitting = min(size, size * (m.bounds.width - 2 * m.margin) / max(1, width))
    canvas.text(
      text, TextStyle(fitting), context.typeface, x: m.bounds.midX, baseline: baseline,
      alignment: .center, theme.ink)
  }

  /// Places the views of the page again, if they were placed before.
  final func relay() {
    guard frame.width > 0 else { return }
    layout()
    context.staticIsStale = true
  }
}
