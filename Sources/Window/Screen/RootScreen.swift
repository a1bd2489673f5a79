import Interface
import Oracle
import TicTacToe

/// Owns the pages, handles input and draws frames. Not thread-safe: call everything on the thread that owns the window.
package final class RootScreen {
  /// Called during `handle` with the intents that no view handles.
  package var onIntent: (Intent) -> Void = { _ in }

  /// Called after another page has come to the top.
  package var onPageChange: () -> Void {
    get { pageStack.didTurn }
    set { pageStack.didTurn = newValue }
  }

  /// Called with a line for a screen reader at each change worth announcing.
  package var onSpeak: ((String) -> Void)? {
    get { context.onSpeak }
    set { context.onSpeak = newValue }
  }

  /// Called with the answer to a player's question about the board; if `nil`, `onSpeak` gets the answer.
  package var onReply: ((String) -> Void)? {
    get { context.onReply }
    set { context.onReply = newValue }
  }

  /// The content of the board; the page is updated at the next `handle`, `advance` or `draw`.
  package var model = BoardModel()

  package var pages: PagesModel {
    get { context.pages }
    set {
      let old = context.pages
      guard newValue != old else { return }
      context.pages = newValue
      topScene.contentChanged()
      if currentScene == .review, let game = newValue.replay?.game, game != old.replay?.game { pageStack.open(.review) }
    }
  }

  package var pianos: (all: [PianoKind], playing: PianoKind) {
    get { (context.pianos, context.piano) }
    set { (context.pianos, context.piano) = newValue }
  }

  package func name(of seat: Seat) -> String { context.name(of: seat) }

  /// Shows a message above the open page for some seconds and passes the message to a screen reader; `nil` removes the shown message.
  package func say(_ message: Message?) { pageStack.notice.show(message) }

  /// The message shown now or from the next frame on.
  package var notice: Message? { pageStack.notice.message }

  package func text(_ phrase: Phrase) -> String { context.text(phrase) }

  /// Each change is stored.
  package var settings: Settings { context.settings }

  /// Device pixels per point of the window (2 on a HiDPI screen).
  package var scale = 1.0 {
    didSet { if scale != oldValue { measuredFor = nil } }
  }

  let context: ViewContext
  private var saidStatus = ""
  private let pageStack: PageStack
  private var captured: View?
  /// `list` scrolls if the finger's first movement is vertical.
  private var finger: (start: Point, last: Point, list: ScrollView?, isDragging: Bool)?
  private var measuredFor: (Int, Int)?
  private var picture = Picture()
  private let chain: Root
  /// Whether to drop the text of a key press that moved the focus.
  private var dropsText = false
  private var textPlace: Rect?
  /// The earliest time of the next write of the settings file, in seconds of the platform's clock.
  private var nextSave = -Double.infinity

  /// The first of `themes` replaces an unknown theme in the settings.
  package init(services: PlatformServices, themes: [Theme] = Theme.all) {
    precondition(!themes.isEmpty, "no theme at all")
    context = ViewContext(services: services)
    context.themes = themes
    chain = Root(context: context)
    pageStack = PageStack(context, chain)
    chain.owner = self
    pageStack.willOpen = { [unowned(unsafe) self] in ask(for: $0) }
    pageStack.willTurn = { [unowned(unsafe) self] in
      setHovered(nil)
      releaseCaptured()
      picture.turn(context.animator)
    }
    let settings = context.settings
    settings.$theme.observe { [unowned(unsafe) self] _ in applySettings() }
    settings.$textScale.observe { [unowned(unsafe) self] _ in applySettings() }
    settings.$reducedMotion.observe { [unowned(unsafe) self] _ in applySettings() }
    pageStack.open(.board)
    settings.$language.observe { [unowned(unsafe) self] _ in
      applySettings()
      pageStack.rebuild()
    }
    // A browser allows full screen only after a touch, click or key press.
    settings.$fullScreen.observe { [context] isFull in
      if context.now > 0 || isFull && !services.isPage { services.setFullScreen(isFull) }
    }
  }

  // MARK: Settings

  private func applySettings() {
    let settings = context.settings
    context.theme = context.themes.first { $0.name == settings.theme } ?? context.themes[0]
    context.language = settings.language
    context.animator.isReduced = settings.reducedMotion
    measuredFor = nil
    context.staticIsStale = true
  }

  /// Not while a view is held down: a write takes 2–50 ms and would delay the frames of a slider that is dragged.
  private var maySave: Bool { context.settings.store.needsSaving && captured == nil }

  /// At most once in 0.3 s, and after a failure at most once in 10 s.
  private func saveSettings() {
    guard maySave, context.now >= nextSave else { return }
    nextSave = context.now + (context.settings.store.save() ? 0.3 : 10)
  }

  // MARK: Pages

  package var currentScene: SceneName { pageStack.name }

  package var title: String { topScene.title }

  package var depth: Int { pageStack.scenes.count - 1 }

  package func show(_ name: SceneName) { pageStack.show(name) }

  /// Whether a frame was drawn since the last change of `scale`, theme, text size or language.
  var isMeasured: Bool { measuredFor != nil }

  var boardScene: Scene { pageStack.board }

  var topScene: Scene { pageStack.scene }

  /// Requests the data of a page that opens, such as the list of saved games.
  private func ask(for name: SceneName) {
    switch name {
    case .games: onIntent(.listGames)
    case .statistics: onIntent(.statistics)
    case .letters: onIntent(.letter(.list))
    case .music: onIntent(.ownMusic(.show))
    case .review where context.pages.replay == nil: onIntent(.review)
    default: break
    }
  }

  /// Moves the focus away from a removed view. Starts text input if the focus is in a text field, else ends text input.
  private func settleFocus() {
    if !topScene.focusOrder.contains(where: { $0 === context.focus }) {
      context.moveFocus(to: topScene.initialFocus)
    }
    let place = context.focus?.textPlace
    guard place != textPlace else { return }
    textPlace = place
    context.services.takeText(
      place.map { $0.pixels(width: .max, height: .max) }, context.focus?.accessibilityLabel ?? "")
  }

  // MARK: Input

  /// `now` in seconds of the platform's clock.
  package func handle(_ input: [InputEvent], at now: Double) {
    advance(to: now)
    for event in input { take(event) }
    advance(to: now)
    settleFocus()
    saveSettings()
  }

  /// Advances time to `now`, in seconds of the platform's clock, and shows changes of the model.
  package func advance(to now: Double) {
    context.now = max(context.now, now)
    context.animator.advance(to: context.now)
    applyModel()
    pageStack.notice.update()
  }

  private func applyModel() {
    guard model != context.model else { return }
    let old = context.model
    context.model = model
    // The key signature is in the static layer, which is redrawn only on request.
    if model.tonality.scale != old.tonality.scale { context.staticIsStale = true }
    var still = old
    still.soundNow = model.soundNow
    if still == model {
      for page in pageStack.scenes { page.soundMoved() }
    } else {
      for page in pageStack.scenes { page.modelChanged(from: old) }
      speakChange(from: old)
    }
  }

  private func speakChange(from old: BoardModel) {
    guard context.onSpeak != nil else { return }
    let game = context.model.game
    for index in game.cells.indices.dropFirst(old.game.cells.count) { context.announce(context.spokenMove(index)) }
    let isNews =
      game != old.game || context.model.isFree != old.isFree || context.model.isThinking != old.isThinking
      || (context.model.resuming == nil) != (old.resuming == nil)
      || context.model.online?.withoutCountdown != old.online?.withoutCountdown
    if isNews {
      let status = context.statusText(countsDown: false)
      let words = status.detail.isEmpty ? status.main : "\(status.main), \(status.detail)"
      if game.cells.count != old.game.cells.count || words != saidStatus { context.announce(words) }
      saidStatus = words
    }
  }

  private func take(_ event: InputEvent) {
    switch event {
    case .pointerMoved(let x, let y):
      let point = Point(x, y)
      if drag(to: point) { return }
      if let captured { _ = captured.pointer(.dragged, at: point) }
      // At most one ghost mark is shown: for the pointer or for the focus, whichever moved last.
      hideFocus()
      setHovered(topScene.hit(point))
    case .pointerDown(let x, let y, let isTouch):
      let point = Point(x, y)
      hideFocus()
      let view = topScene.hit(point)
      setHovered(isTouch ? nil : view)
      captured = view
      if isTouch { finger = (point, point, list(around: view), false) }
      guard let view else { return }
      if view.isClickable { context.moveFocus(to: view) }
      _ = view.pointer(.down(isTouch: isTouch), at: point)
    case .alsoDown(let x, let y): (topScene.hit(Point(x, y)) as? CellView)?.touchAlso()
    case .pointerUp(let x, let y, let isTouch):
      let (view, way) = (captured, finger.map { Point(x, y) - $0.start } ?? Point(0, 0))
      (captured, finger) = (nil, nil)
      if abs(way.x) > max(context.metrics.bounds.width / 4, abs(way.y) * 2), topScene.swiped(toLeft: way.x < 0) {
        view?.hover(false)
        return
      }
      _ = view?.pointer(.up(isTouch: isTouch), at: Point(x, y))
    case .pointerLeft: setHovered(nil)
    case .pointerCancelled:
      releaseCaptured()
      finger = nil
      setHovered(nil)
    case .scrolled(let lines):
      let view = context.hovered ?? scrollView ?? topScene
      _ = view.responders.contains { $0.scrolled(lines) }
    case .key(let key, let modifiers, let isRepeat):
      let focus = context.focus
      setHovered(nil)
      press(key, modifiers, isRepeat: isRepeat)
      // If a character key moves the focus, as to a new page's first field, the field must not get the character.
      if case .character = key { dropsText = context.focus !== focus } else { dropsText = false }
    case .text(let text):
      if !dropsText { _ = context.focus?.typed(text) }
      dropsText = false
    case .composing(let text): context.focus?.composed(text)
    case .dropped(let path): _ = answer(.openGame(path: path))
    case .focus(let gained): if !gained { setHovered(nil) }
    case .visible: context.staticIsStale = true
    case .closeRequested: onIntent(.quit)
    }
  }

  private func list(around view: View?) -> ScrollView? {
    // A finger lifted from a cell plays there, so a finger that goes down on a cell must not scroll the page.
    if view is CellView { return nil }
    let list =
      view?.responders.first { $0 is ScrollView } ?? topScene.children.first { $0 is ScrollView && !$0.isHidden }
    return list as? ScrollView
  }

  /// A finger that moves vertically scrolls the list instead of pressing a control. Returns `true` if no control may get the movement.
  private func drag(to point: Point) -> Bool {
    guard let held = finger, let list = held.list else { return false }
    let way = point - held.start
    if !held.isDragging {
      guard max(abs(way.x), abs(way.y)) > context.metrics.em * 0.7 else { return true }
      guard abs(way.y) > abs(way.x) * 1.5 else {
        finger?.list = nil
        return false
      }
      releaseCaptured()
    }
    list.drag(by: held.last.y - point.y)
    finger = (held.start, point, list, true)
    return true
  }

  /// Ends the press of the captured view without an effect: the view no longer shows a finger on it.
  private func releaseCaptured() {
    captured?.hover(false)
    captured = nil
  }

  private func hideFocus() {
    guard context.showsFocus else { return }
    context.showsFocus = false
    context.focus?.focusChanged(true)
  }

  private func setHovered(_ view: View?) {
    guard context.hovered !== view else { return }
    let old = context.hovered
    context.hovered = view
    old?.hover(false)
    view?.hover(true)
    topScene.hoverMoved()
    context.services.setPointingHand(view?.showsHand ?? false)
  }

  private func press(_ key: Key, _ modifiers: KeyModifiers, isRepeat: Bool) {
    // A held key must not play, press or confirm repeatedly.
    if isRepeat, !(context.focus is FieldRow) {
      switch key {
      case .enter, .delete, .backspace, .character(" "), .function: return
      case .character(let c) where c.isNumber: return
      default: break
      }
    }
    // On a page with text fields, a letter typed outside of a field must not act as a shortcut.
    if case .character(let letter) = key, letter != " ", !modifiers.contains(.control), !(context.focus is FieldRow),
      currentScene != .board, topScene.focusOrder.contains(where: { $0 is FieldRow })
    {
      return
    }
    // Any key makes the focus visible. A Tab on an invisible focus does nothing else.
    if !context.showsFocus {
      context.showsFocus = true
      context.focus?.focusChanged(true)
      if key == .tab, context.focus != nil { return }
    }
    if (context.focus ?? topScene).responders.contains(where: { $0.key(key, modifiers) }) { return }
    if modifiers.contains(.control) {
      switch key {
      case .character("q"): onIntent(.quit)
      case .character("o"): _ = answer(.show(.games))
      case .character("s"): onIntent(.saveGame)
      default: break
      }
      return
    }
    switch key {
    case .tab: cycleFocus(backwards: modifiers.contains(.shift))
    case .escape where !isRepeat: if currentScene == .board { show(.contents) } else { pageStack.close() }
    case .function(1): show(.help)
    case .function(5): onIntent(.reloadRules)
    case .function(11) where !isRepeat: context.settings.fullScreen.toggle()
    case .function(12) where !isRepeat: onIntent(.screenshot)
    case .character("m") where !isRepeat: onIntent(.setMuted(!context.model.isMuted))
    case .character("+"), .character("="): changeVolume(by: 0.05)
    case .character("-"): changeVolume(by: -0.05)
    case .pageUp, .pageDown: _ = scrollView?.scrolled(by: key)
    case .down where !reads(key): cycleFocus(backwards: false, byArrow: true)
    case .up where !reads(key): cycleFocus(backwards: true, byArrow: true)
    default: break
    }
  }

  private var scrollView: ScrollView? { topScene.children.lazy.compactMap { $0 as? ScrollView }.first { !$0.isHidden } }

  /// Scrolls instead of skipping text if the next control is far outside of the visible part. Returns whether the column scrolled.
  private func reads(_ key: Key) -> Bool {
    guard let scrollView else { return false }
    let order = topScene.focusOrder
    let at = order.firstIndex { $0 === context.focus } ?? -1
    let next = at + (key == .up ? -1 : 1)
    let isInColumn = order.indices.contains(next) && order[next].responders.contains { $0 === scrollView }
    if isInColumn, scrollView.reaches(order[next]) { return false }
    return scrollView.scrolled(by: key)
  }

  private func changeVolume(by step: Double) {
    // Without rounding the settings file would contain 0.7000000000000001.
    context.settings.volume = ((context.settings.volume + step) * 20).rounded() / 20
    say("\(.volume) \(Int((context.settings.volume * 100).rounded())) %")
  }

  private func cycleFocus(backwards: Bool, byArrow: Bool = false) {
    // The Tab key stops once for all cells; the arrow keys move between the cells.
    let inBoard = context.focus is CellView
    let order = topScene.focusOrder.filter { view in
      // Up and down arrows skip the buttons within a row, which left and right arrows reach.
      if byArrow, view.parent is PressableRow, view !== context.focus { return false }
      guard view is CellView else { return true }
      return inBoard ? view === context.focus : view === topScene.homeCell
    }
    guard !order.isEmpty else { return }
    let at = order.firstIndex { $0 === context.focus } ?? (backwards ? 0 : -1)
    context.moveFocus(to: order[(at + (backwards ? order.count - 1 : 1)) % order.count])
  }

  fileprivate func answer(_ intent: Intent) -> Bool {
    switch intent {
    case .back: pageStack.close()
    case .show(let name): pageStack.show(name)
    case .hint, .analysis:
      show(.board)
      return boardScene.receive(intent)
    // While the contents page opens, the board sends `preview(nil)`, which must not close the contents page.
    case .preview: onIntent(intent)
    default:
      // An action chosen on the contents page applies to the board.
      if currentScene == .contents { pageStack.close() }
      onIntent(intent)
    }
    return true
  }

  /// Shows a touch of recorded free play, for a film.
  package func showTouch(_ square: Square) { (boardScene as? BoardScene)?.showTouch(square) }

  package func perform(_ intent: Intent) {
    if !topScene.receive(intent), [.back, .hint, .analysis].contains(intent) { _ = answer(intent) }
  }

  // MARK: Drawing

  /// See `PlatformGame.nextFrame`.
  package func nextFrame(after now: Double) -> Double {
    if context.staticIsStale || !context.damage.isEmpty { return now }
    let save = maySave ? max(now, nextSave) : .infinity
    return min(context.animator.nextChange(after: now), topScene.nextChange(after: now), save)
  }

  /// See `PlatformGame.draw`.
  package func draw(into bitmap: Surface, isNew: Bool, at now: Double) -> [PixelRect] {
    measure(bitmap.width, bitmap.height)
    advance(to: now)
    return picture.draw(topScene, of: context, into: bitmap, isNew: isNew)
  }

  private func measure(_ width: Int, _ height: Int) {
    if let measuredFor, measuredFor == (width, height) { return }
    measuredFor = (width, height)
    context.metrics = Metrics(
      width: Double(width), height: Double(height), scale: scale, textScale: context.settings.textScale,
      target: context.services.leastTarget)
    for page in pageStack.scenes { page.layout() }
    context.staticIsStale = true
  }
}

/// The last view of the responder chain, above the pages.
private final class Root: View {
  unowned(unsafe) var owner: RootScreen?

  override func receive(_ intent: Intent) -> Bool { owner?.answer(intent) ?? false }
}
