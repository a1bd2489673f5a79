import Interface
import Oracle
import TicTacToe

/// The last responder: owns the pages, takes input, draws pictures, tells the executable what the player wants.
///
/// Not thread-safe: everything is called from the thread that owns the window.
package final class RootScreen {
  /// Called with what the player wants, during `handle`.
  package var onIntent: (Intent) -> Void = { _ in }

  /// Called with a line for a screen reader whenever something changes that can be told (`--speak-lines`).
  package var onSpeak: ((String) -> Void)? {
    get { context.onSpeak }
    set { context.onSpeak = newValue }
  }

  /// What the board shows; setting it is cheap, the page follows at the next `handle`, `nextFrame` or `draw`.
  package var model = BoardModel()

  package var pages: PagesModel {
    get { context.pages }
    set {
      let old = context.pages
      guard newValue != old else { return }
      context.pages = newValue
      topScene.contentChanged()
      // Another game was opened over the one on the page.
      if currentScene == .review, let game = newValue.replay?.game, game != old.replay?.game { book.open(.review) }
    }
  }

  package var pianos: (all: [PianoKind], playing: PianoKind) {
    get { (context.pianos, context.piano) }
    set { (context.pianos, context.piano) = newValue }
  }

  /// What an opponent or person in a seat is called, in the player's language.
  package func name(of seat: Seat) -> String { context.name(of: seat) }

  /// A line of the string table in the player's language.
  package func text(_ phrase: Phrase) -> String { context.text(phrase) }

  /// The same with values in the places of its `%`.
  package func text(_ phrase: Phrase, _ values: String...) -> String { phrase.text(in: context.language, values) }

  /// What the player has set; each property keeps itself.
  package var settings: Settings { context.settings }

  /// Device pixels per point of the window (2 on a HiDPI screen).
  package var scale = 1.0 {
    didSet { if scale != oldValue { measuredFor = nil } }
  }

  let context: ViewContext
  private var saidStatus = ""
  private let book: Book
  private var captured: View?
  /// Where a finger went down and is now, and the list it moves once it has gone up or down.
  private var finger: (start: Point, last: Point, list: ScrollView?, isDragging: Bool)?
  private var measuredFor: (Int, Int)?
  private var picture = Picture()
  private let chain: Root
  /// Whether the text of the key just pressed is not meant for where the focus has gone by it.
  private var dropsText = false
  private var textPlace: Rect?
  /// When the settings file may be written next.
  private var nextSave = -Double.infinity

  /// Makes the screen with the board as its first page; `themes` are the papers to choose from, the first one stands
  /// in for an unknown name.
  package init(services: PlatformServices, themes: [Theme] = [.light]) {
    precondition(!themes.isEmpty, "no theme at all")
    context = ViewContext(services: services)
    context.themes = themes
    chain = Root(context: context)
    book = Book(context, chain)
    chain.owner = self
    book.willOpen = { [unowned(unsafe) self] in ask(for: $0) }
    book.didTurn = { [unowned(unsafe) self] in
      setHovered(nil)
      captured = nil
      picture.turn(context.animator)
    }
    let settings = context.settings
    settings.$theme.observe { [unowned(unsafe) self] _ in applySettings() }
    settings.$textScale.observe { [unowned(unsafe) self] _ in applySettings() }
    settings.$reducedMotion.observe { [unowned(unsafe) self] _ in applySettings() }
    book.open(.board)
    settings.$language.observe { [unowned(unsafe) self] _ in
      applySettings()
      book.rebuild()
    }
    // At the start only a window can fill the screen: a browser wants a touch.
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

  /// Not while a slider is dragged: a write waits for the disk, 2–50 ms, and the picture with it.
  private var maySave: Bool { context.settings.store.needsSaving && captured == nil }

  /// Writes changed settings at once, but not more often than a key repeats, and rarely to a disk that refuses.
  private func saveSettings() {
    guard maySave, context.now >= nextSave else { return }
    nextSave = context.now + (context.settings.store.save() ? 0.3 : 10)
  }

  // MARK: Pages

  package var currentScene: SceneName { book.name }

  package var title: String { topScene.title }

  /// How many pages lie over the board.
  package var depth: Int { book.scenes.count - 1 }

  /// Turns to a page; the board is always the first one.
  package func show(_ name: SceneName) { book.show(name) }

  /// Before the first picture nobody knows how large the page is.
  var isMeasured: Bool { measuredFor != nil }

  var boardScene: Scene { book.board }

  var topScene: Scene { book.scene }

  /// What a page shows is asked for as it opens, however it is opened.
  private func ask(for name: SceneName) {
    switch name {
    case .games: onIntent(.listGames)
    case .statistics: onIntent(.statistics)
    case .review where context.pages.replay == nil: onIntent(.review)
    default: break
    }
  }

  /// Moves the focus away from what is no longer there to press, and tells the platform whether text is wanted.
  private func settleFocus() {
    if !topScene.focusOrder.contains(where: { $0 === context.focus }) {
      context.moveFocus(to: topScene.initialFocus)
    }
    let place = context.focus?.textPlace
    guard place != textPlace else { return }
    textPlace = place
    context.services.takeText(place.map { $0.pixels(width: .max, height: .max) }, context.focus?.spoken ?? "")
  }

  // MARK: Input

  /// Takes the inputs since the last call and lets time pass to `now` (seconds of the platform's clock).
  package func handle(_ input: [InputEvent], at now: Double) {
    advance(to: now)
    for event in input { take(event) }
    applyModel()
    settleFocus()
    saveSettings()
  }

  private func advance(to now: Double) {
    context.now = max(context.now, now)
    context.animator.advance(to: context.now)
    applyModel()
  }

  private func applyModel() {
    guard model != context.model else { return }
    let old = context.model
    context.model = model
    // The key signature is drawn with the staff.
    if model.tonality.scale != old.tonality.scale { context.staticIsStale = true }
    var still = old
    still.soundNow = model.soundNow
    if still == model {
      for page in book.scenes { page.soundMoved() }
    } else {
      for page in book.scenes { page.modelChanged(from: old) }
      switch context.model.notice {
      case old.notice: break
      case let text?: book.notice.show(text)
      case nil: book.notice.hide()
      }
      speakChange(from: old)
    }
  }

  /// Tells a move, and how the game stands after it.
  private func speakChange(from old: BoardModel) {
    guard context.onSpeak != nil else { return }
    let game = context.model.game
    for (index, cell) in game.cells.enumerated().dropFirst(old.game.cells.count) {
      let mover = game.mover(ofMove: index)
      context.say("\(mover.letter) \(context.text(.speakPlays)) \(context.spoken(cell, of: game.variant))")
    }
    let isNews =
      game != old.game || context.model.isThinking != old.isThinking
      || (context.model.resuming == nil) != (old.resuming == nil)
      || context.model.online?.withoutCountdown != old.online?.withoutCountdown
    if isNews {
      let status = context.statusText(countsDown: false)
      let words = status.detail.isEmpty ? status.main : "\(status.main), \(status.detail)"
      if game.cells.count != old.game.cells.count || words != saidStatus { context.say(words) }
      saidStatus = words
    }
    if let notice = context.model.notice, notice != old.notice { context.say(notice) }
  }

  private func take(_ event: InputEvent) {
    switch event {
    case .pointerMoved(let x, let y):
      let point = Point(x, y)
      if drag(to: point) { return }
      if let captured { _ = captured.pointer(.dragged, at: point) }
      // One ghost on the board: the hand that moved last has it.
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
    case .pointerUp(let x, let y, let isTouch):
      let view = captured
      (captured, finger) = (nil, nil)
      _ = view?.pointer(.up(isTouch: isTouch), at: Point(x, y))
    case .pointerLeft: setHovered(nil)
    case .pointerCancelled:
      (captured, finger) = (nil, nil)
      setHovered(nil)
    case .scrolled(let lines):
      let view = context.hovered ?? scrollView ?? topScene
      _ = view.responders.contains { $0.scrolled(lines) }
    case .key(let key, let modifiers, let isRepeat):
      let focus = context.focus
      setHovered(nil)
      press(key, modifiers, isRepeat: isRepeat)
      // The space that opens a page must not be written into its first field.
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
    // A finger plays where it lifts.
    if view is CellView { return nil }
    let list =
      view?.responders.first { $0 is ScrollView } ?? topScene.children.first { $0 is ScrollView && !$0.isHidden }
    return list as? ScrollView
  }

  /// Moves a list with the finger that goes up or down; what it rested on is not pressed. Gone aside, it is the control's.
  private func drag(to point: Point) -> Bool {
    guard let held = finger, let list = held.list else { return false }
    let way = point - held.start
    if !held.isDragging {
      guard max(abs(way.x), abs(way.y)) > context.metrics.em * 0.7 else { return true }
      guard abs(way.y) > abs(way.x) * 1.5 else {
        finger = nil
        return false
      }
      captured?.hover(false)
      captured = nil
    }
    list.drag(by: held.last.y - point.y)
    finger = (held.start, point, list, true)
    return true
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
    // A key held down must not play a second move, press a word twice or say yes by itself; in a text field it may repeat.
    if isRepeat, !(context.focus is FieldRow) {
      switch key {
      case .enter, .delete, .backspace, .character(" "), .function: return
      case .character(let c) where c.isNumber: return
      default: break
      }
    }
    // On a page with a text field letters are meant for it: anywhere else they would do what nobody wants.
    if case .character(let letter) = key, letter != " ", !modifiers.contains(.control), !(context.focus is FieldRow),
      currentScene != .board, topScene.focusOrder.contains(where: { $0 is FieldRow })
    {
      return
    }
    // Once keys are used the focus is seen; the first Tab only shows where it is.
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
    case .escape where !isRepeat: if currentScene == .board { show(.contents) } else { book.close() }
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

  /// The column of the page that scrolls.
  private var scrollView: ScrollView? { topScene.children.lazy.compactMap { $0 as? ScrollView }.first { !$0.isHidden } }

  /// Scrolls by an arrow where no control of the column is next: text that is only read has nothing that takes the focus.
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
    // Twentieths, so that steps do not add up to 0.7000000000000001 in the settings file.
    context.settings.volume = ((context.settings.volume + step) * 20).rounded() / 20
    let text = "\(context.text(.volume)) \(Int((context.settings.volume * 100).rounded())) %"
    book.notice.show(text)
    context.say(text)
  }

  private func cycleFocus(backwards: Bool, byArrow: Bool = false) {
    // The cells are one stop of the Tab key; arrows move among them.
    let inBoard = context.focus is CellView
    let order = topScene.focusOrder.filter { view in
      // A word within a row is beside it, not below.
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
    case .back: book.close()
    case .show(let name): book.show(name)
    case .hint, .analysis:
      show(.board)
      return boardScene.receive(intent)
    // The board beneath tells it while another page opens.
    case .preview: onIntent(intent)
    default:
      // What is chosen from the table of contents is done on the board.
      if currentScene == .contents { book.close() }
      onIntent(intent)
    }
    return true
  }

  /// Does what the screen does by itself.
  package func perform(_ intent: Intent) {
    if !topScene.receive(intent), [.back, .hint, .analysis].contains(intent) { _ = answer(intent) }
  }

  // MARK: Drawing

  /// When the next picture is due: at or before `now` at once, `.infinity` when nothing moves and nothing is planned.
  package func nextFrame(after now: Double) -> Double {
    applyModel()
    if context.staticIsStale || !context.damage.isEmpty { return now }
    let save = maySave ? max(now, nextSave) : .infinity
    return min(context.animator.nextChange(after: now), topScene.nextChange(after: now), save)
  }

  /// Draws into the bitmap, whose content is what the last call left (undefined when `isNew`); returns what changed.
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
    for page in book.scenes { page.layout() }
    context.staticIsStale = true
  }
}

/// The top of the responder chain.
private final class Root: View {
  unowned(unsafe) var owner: RootScreen?

  override func receive(_ intent: Intent) -> Bool { owner?.answer(intent) ?? false }
}
