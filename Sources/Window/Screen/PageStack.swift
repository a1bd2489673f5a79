import Interface

/// The open pages: the board at the bottom, the last opened page on top, each page at most once.
final class PageStack {
  /// The message above the open page.
  let notice: NoticeView
  /// Called before a page is created.
  var willOpen: (SceneName) -> Void = { _ in }
  /// Called before the page on top changes or is laid out anew.
  var willTurn: () -> Void = {}
  /// Called after another page has come to the top.
  var didTurn: () -> Void = {}
  /// The top page at the last call of `pageChanged`.
  private var last = SceneName.board
  private var pages: [(name: SceneName, scene: Scene)] = []
  private let context: ViewContext
  private let chain: View

  /// `chain` is the parent view of all pages and gets the intents that no page handles.
  init(_ context: ViewContext, _ chain: View) {
    (self.context, self.chain) = (context, chain)
    notice = NoticeView(context: context)
  }

  var name: SceneName { pages.last?.name ?? .board }
  var scene: Scene { pages[pages.count - 1].scene }
  var board: Scene { pages[0].scene }
  var scenes: [Scene] { pages.map { $0.scene } }

  func show(_ name: SceneName) {
    guard name != self.name else { return }
    if name == .board {
      while pages.count > 1 { close() }
    } else {
      open(name)
    }
  }

  /// A page that is open already is made anew.
  func open(_ name: SceneName) {
    willOpen(name)
    pages.removeAll { $0.name == name }
    relink()
    let scene = make(name)
    pages.append((name, scene))
    chain.add(scene)
    pageChanged(focus: scene.initialFocus)
    if pages.count > 1 { context.announce(scene.title) }
  }

  func close() {
    guard pages.count > 1 else { return }
    scene.willClose()
    if pages.removeLast().name == .review { context.pages.replay = nil }
    relink()
    pageChanged(focus: scene.initialFocus)
    context.announce(scene.title)
  }

  /// Makes every page anew in the new language and keeps the focus.
  func rebuild() {
    let at = scene.focusOrder.firstIndex { $0 === context.focus }
    pages = pages.map { ($0.name, make($0.name)) }
    relink()
    let order = scene.focusOrder
    pageChanged(focus: at.map { order[min($0, order.count - 1)] } ?? scene.initialFocus)
  }

  private func relink() {
    chain.removeChildren()
    for page in pages { chain.add(page.scene) }
  }

  private func pageChanged(focus: View?) {
    willTurn()
    notice.parent?.remove(notice)
    if name == last { notice.retranslate() } else { notice.pageChanged() }
    scene.add(notice)
    for page in pages { page.scene.layout() }
    context.isTurning = true
    context.moveFocus(to: focus)
    context.isTurning = false
    context.staticIsStale = true
    guard name != last else { return }
    last = name
    didTurn()
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
    case .letters: LettersScene(context: context)
    case .letter: LetterScene(context: context)
    case .tournament: TournamentScene(context: context)
    case .music: MusicScene(context: context)
    }
  }
}
