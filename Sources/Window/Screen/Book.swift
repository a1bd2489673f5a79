import Interface

/// The open pages, the board beneath and the newest on top; a page is in the book once.
final class Book {
  /// Lies over whatever page is open.
  let notice: NoticeView
  /// Told a page's name before it is made.
  var willOpen: (SceneName) -> Void = { _ in }
  /// Told that another page is on top.
  var didTurn: () -> Void = {}
  private var pages: [(name: SceneName, scene: Scene)] = []
  private let context: ViewContext
  private let chain: View

  /// An empty book, whose pages answer to `chain`.
  init(_ context: ViewContext, _ chain: View) {
    (self.context, self.chain) = (context, chain)
    notice = NoticeView(context: context)
  }

  var name: SceneName { pages.last?.name ?? .board }
  var scene: Scene { pages[pages.count - 1].scene }
  var board: Scene { pages[0].scene }
  var scenes: [Scene] { pages.map { $0.scene } }

  /// Turns to a page; the board is always the first one.
  func show(_ name: SceneName) {
    guard name != self.name else { return }
    if name == .board {
      while pages.count > 1 { close() }
    } else {
      open(name)
    }
  }

  /// Opens a page on top; one that is there already is made anew.
  func open(_ name: SceneName) {
    willOpen(name)
    pages.removeAll { $0.name == name }
    relink()
    let scene = make(name)
    pages.append((name, scene))
    chain.add(scene)
    turned(focus: scene.initialFocus)
    if pages.count > 1 { context.say(scene.title) }
  }

  /// Closes the page on top, unless it is the board.
  func close() {
    guard pages.count > 1 else { return }
    scene.willClose()
    if pages.removeLast().name == .review { context.pages.replay = nil }
    relink()
    turned(focus: scene.initialFocus)
    context.say(scene.title)
  }

  /// Makes every page again, in another language, with the focus where it was.
  func rebuild() {
    let at = scene.focusOrder.firstIndex { $0 === context.focus }
    pages = pages.map { ($0.name, make($0.name)) }
    relink()
    let order = scene.focusOrder
    turned(focus: at.map { order[min($0, order.count - 1)] } ?? scene.initialFocus)
  }

  private func relink() {
    chain.removeChildren()
    for page in pages { chain.add(page.scene) }
  }

  private func turned(focus: View?) {
    didTurn()
    notice.parent?.remove(notice)
    scene.add(notice)
    for page in pages { page.scene.layout() }
    context.isTurning = true
    context.moveFocus(to: focus)
    context.isTurning = false
    context.staticIsStale = true
  }

  private func make(_ name: SceneName) -> Scene {
    switch name {
    case .board: BoardScene(context: context)
    case .newGame: NewGameScene(context: context)
    case .contents: ContentsScene(context: context)
    case .settings: SettingsScene(context: context)
    case .help: HelpScene(context: context)
    case .rules: RulesScene(context: context)
    case .review: ReviewScene(context: context)
    case .games: GamesScene(context: context)
    case .statistics: StatisticsScene(context: context)
    case .network: NetworkScene(context: context)
    case .talk: TalkScene(context: context)
    case .easings: EasingsScene(context: context)
    }
  }
}
