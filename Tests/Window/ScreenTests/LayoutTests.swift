import Base
import Interface
import TestSupport
import Testing
import TicTacToe

@testable import Screen

@Suite("Layout of pages")
struct LayoutTests {
  static let sizes = [
    (320, 480), (480, 320), (360, 640), (480, 800), (640, 360), (600, 600), (1024, 768), (1280, 720), (1920, 1080),
    (1080, 1920), (2560, 1440), (3840, 2160), (3840, 1000),
  ]

  /// Leaf views, and scrolling columns as a whole, must not overlap.
  private func blocks(_ view: View) -> [View] {
    if view.isHidden || view.frame.isEmpty && view.children.isEmpty { return [] }
    if view is BoardView || view is ScrollView || view.children.isEmpty { return [view] }
    return view.children.flatMap(blocks)
  }

  private func models() -> [BoardModel] {
    var clocks = Samples.model([4, 0, 8])
    clocks.clocks = .init(x: 61_000, o: 9_400)
    clocks.canRedo = true
    return [clocks, Samples.model([4, 1, 0, 8, 6, 2, 3]), Samples.online()]
  }

  @Test("no views overlap or leave the window, from 320×480 to 3840×2160, at every text size and language")
  func fits() {
    let screen = Samples.screen()
    screen.say("A notice of several words, as long as they come: it was saved where it can be found again.")
    for (width, height) in LayoutTests.sizes {
      for textScale in [0.75, 1, 1.5, 2] {
        // German has the longest words, so it stands for all languages at two of the sizes.
        for language in runsAll || [1, 2].contains(textScale) ? Language.allCases : [.german] {
          screen.settings.textScale = textScale
          screen.settings.language = language
          checkPages(screen, models(), width, height, "at \(textScale) in \(language)")
        }
      }
    }
  }

  @Test("the page of a tournament fits in every phase, for players and organisers, at every size, in every language")
  func tournament() {
    let screen = Samples.screen()
    for (width, height) in LayoutTests.sizes {
      for language in Language.allCases {
        for (phase, isOrganiser) in [
          (TournamentModel.Phase.waiting, true), (.running, false), (.running, true), (.over, false),
        ] {
          screen.settings.language = language
          screen.pages.tournament = Samples.tournament(phase, isOrganiser: isOrganiser)
          screen.show(.board)
          screen.show(.tournament)
          screen.measureForTest(width, height)
          let place = "\(phase) \(isOrganiser) \(width)×\(height) \(language)"
          check(screen.topScene, width, height, place)
          guard let page = screen.topScene as? PageScene, page.column.columns == 1 else { continue }
          for (above, below) in zip(page.column.rows, page.column.rows.dropFirst()) {
            #expect(above.frame.maxY <= below.frame.y + 0.5, "\(place)")
          }
        }
      }
    }
  }

  @Test("no page crashes at any window size from 1×1, scale or text size, or when everything is pressed")
  func anySize() {
    var random = SplitMix64(seed: 11)
    let edges = [1, 2, 3, 5, 17, 40, 65, 78, 106, 200, 321]
    let all = SceneName.allCases
    let games = models() + [Samples.infinite, Samples.misere, Samples.ultimate]
    for round in 0..<amount("sizes of a window", quick: 260, all: 4_000) {
      let screen = Samples.screen(leastTarget: [0, 44][random.below(2)])
      screen.scale = [0.5, 1, 1.5, 3][random.below(4)]
      screen.settings.textScale = [0.75, 1, 2][random.below(3)]
      screen.model = games[random.below(games.count)]
      if random.below(2) == 0 { screen.pages.tournament = Samples.tournament(.running, isOrganiser: true) }
      let name = all[round % all.count]
      let (width, height) =
        round < edges.count * edges.count / 2
        ? (edges[round * 2 % edges.count], edges[round * 2 / edges.count % edges.count])
        : (1 + random.below(400), 1 + random.below(400))
      screen.show(name)
      screen.draw(width: width, height: height, at: 0)
      for control in screen.accessible(hidden: true) { screen.activate(control.id, at: 1) }
      screen.handle([.scrolled(lines: -3), .pointerMoved(x: 0, y: 0)], at: 2)
      screen.draw(width: height, height: width, at: 3)
      #expect(screen.isMeasured)
    }
  }

  @Test("text has a positive size where a window leaves no room for it", arguments: [-3, 0, 0.01, .nan] as [Double])
  func noRoom(size: Double) {
    #expect(TextStyle(size).size > 0)
  }

  @Test("touch targets on a phone are at least 44 points in size and do not overlap")
  func finger() {
    let screen = Samples.screen(leastTarget: 44)
    for (width, height) in [(360, 740), (740, 360)] {
      checkPages(screen, models().dropFirst(), width, height) { place in
        screen.topScene.visit { view in
          guard view.isClickable else { return }
          for (box, words) in view.accessibilityElements {
            #expect(min(box.width, box.height) >= 43.9, "\(words) is \(box.width)×\(box.height): \(place)")
          }
        }
      }
    }
  }

  /// Checks every page with every model; calls `body` for each.
  private func checkPages(
    _ screen: RootScreen, _ models: some Sequence<BoardModel>, _ width: Int, _ height: Int, _ setting: String = "",
    _ body: (_ place: String) -> Void = { _ in }
  ) {
    for model in models {
      screen.model = model
      for name in SceneName.allCases {
        screen.show(.board)
        screen.handle([], at: 0)
        screen.show(name)
        screen.measureForTest(width, height)
        let place = "\(name) \(width)×\(height) \(setting)"
        check(screen.topScene, width, height, place)
        body(place)
      }
    }
  }

  private func check(_ scene: Scene, _ width: Int, _ height: Int, _ place: String) {
    let window = Rect(-0.5, -0.5, Double(width) + 1, Double(height) + 1)
    // Notices overlap the page by design.
    let views = blocks(scene).filter { !($0 is NoticeView) }
    for (index, view) in views.enumerated() {
      #expect(window.contains(view.frame), "\(type(of: view)) \(view.frame) leaves the window: \(place)")
      for other in views[(index + 1)...] where view.frame.insetBy(0.5, 0.5).intersects(other.frame.insetBy(0.5, 0.5)) {
        Issue.record("\(type(of: view)) \(view.frame) overlaps \(type(of: other)) \(other.frame): \(place)")
      }
    }
    // With larger letters a small window has no free place for a notice.
    if scene.context.settings.textScale <= 1, let notice = scene.children.lazy.compactMap({ $0 as? NoticeView }).first {
      let slip = notice.slipFrame
      #expect(window.contains(slip), "the notice \(slip) leaves the window: \(place)")
      for view in views where view is TextButton || view is PlayersView {
        #expect(!slip.intersects(view.frame), "the notice \(slip) covers \(view.frame): \(place)")
      }
      let head = (scene as? PageScene)?.column.frame.y ?? 0
      #expect(slip.y >= head, "the notice covers the title: \(place)")
    }
    guard let board = views.first(where: { $0 is BoardView }) else { return }
    let least = Double(min(width, height)) * 0.3
    #expect(board.frame.width >= least, "the board is only \(board.frame.width) wide: \(place)")
  }

  @Test(
    "on a wide page a notice covers neither board nor score", arguments: [(1_280, 720), (1_920, 1_080), (1_024, 600)])
  func notice(_ width: Int, _ height: Int) throws {
    let screen = Samples.screen()
    screen.model = models()[0]
    screen.say("A notice of several words, as long as they come: it was saved where it can be found again.")
    screen.handle([], at: 0)
    screen.measureForTest(width, height)
    let notice = try #require(screen.topScene.children.lazy.compactMap { $0 as? NoticeView }.first)
    for view in screen.topScene.children where view is BoardView || view is StaffView || view is StatusView {
      #expect(!notice.slipFrame.intersects(view.frame), "\(type(of: view)) \(view.frame) under \(notice.slipFrame)")
    }
  }

  @Test("a dismissed notice disappears and does not return at the end of its time")
  func takenAway() throws {
    let screen = Samples.screen()
    let size = (width: 800, height: 600)
    screen.draw(width: size.width, height: size.height, at: 1)
    let notice = try #require(screen.topScene.children.lazy.compactMap { $0 as? NoticeView }.first)
    screen.say("Press once more to resign: your opponent wins the game.")
    for time in [1.0, 1.5] {
      screen.handle([], at: time)
      screen.draw(width: size.width, height: size.height, at: time)
    }
    #expect(notice.inkBounds.width > 0)
    screen.say(nil)
    for time in [2.0, 2.5, 4] {
      screen.handle([], at: time)
      screen.draw(width: size.width, height: size.height, at: time)
    }
    #expect(notice.inkBounds.width == 0)
  }

  @Test("a notice disappears when its page is left, but stays if a page is opened together with the notice")
  func noticeOfAPage() {
    let screen = Samples.screen()
    screen.draw(width: 360, height: 640, at: 1)
    screen.say("\(.reallyResign)")
    screen.handle([], at: 1)
    #expect(screen.notice == "\(.reallyResign)")
    screen.say("\(.roomClosed)")
    screen.show(.network)
    #expect(screen.notice == "\(.roomClosed)")
    screen.handle([], at: 2)
    screen.draw(width: 360, height: 640, at: 3)
    let notice = screen.topScene.children.lazy.compactMap { $0 as? NoticeView }.first
    #expect(notice.map { $0.inkBounds.width > 0 } == true)
    screen.show(.board)
    #expect(screen.notice == nil && notice?.inkBounds.width == 0)
  }

  @Test("a notice changes with the language, is spoken once, and disappears after six seconds")
  func translated() {
    let screen = Samples.screen()
    var spoken: [String] = []
    screen.onSpeak = { spoken.append($0) }
    screen.draw(width: 1_280, height: 720, at: 1)
    let before = try? #require(screen.topScene.children.lazy.compactMap { $0 as? NoticeView }.first).slipFrame
    screen.say("\(.keptIn) p")
    screen.handle([], at: 1)
    let widths = Language.allCases.map { language in
      screen.settings.language = language
      screen.handle([], at: 2)
      return screen.topScene.children.lazy.compactMap { $0 as? NoticeView }.first?.slipFrame.width
    }
    #expect(Set(widths).count == Language.allCases.count && before != nil)
    #expect(spoken.count { $0 == Phrase.keptIn.text(in: .english) + " p" } == 1)
    screen.handle([], at: 6.9)
    #expect(screen.notice == "\(.keptIn) p")
    screen.handle([], at: 7)
    #expect(screen.notice == nil)
  }

  @Test("asking for the time of the next frame changes nothing")
  func nextFrame() {
    let screen = Samples.screen()
    screen.draw(width: 1_280, height: 720, at: 1)
    screen.model = models()[0]
    let before = screen.nextFrame(after: 40)
    #expect(screen.nextFrame(after: 40) == before && screen.context.model != screen.model)
    screen.advance(to: 40)
    #expect(screen.nextFrame(after: 40) == 40)
  }

  @Test(
    "on a tall page a short notice covers neither board nor score",
    arguments: [(360, 640), (390, 844), (480, 800), (768, 1_024), (1_080, 1_920)])
  func highNotice(_ width: Int, _ height: Int) throws {
    let screen = Samples.screen()
    for notice in ["Copied.", "Press once more to resign: your opponent wins the game."] as [Message] {
      screen.model = models()[0]
      screen.say(notice)
      screen.handle([], at: 0)
      screen.measureForTest(width, height)
      let slip = try #require(screen.topScene.children.lazy.compactMap { $0 as? NoticeView }.first).slipFrame
      for view in screen.topScene.children where view is BoardView || view is StaffView {
        #expect(!slip.intersects(view.frame), "\(type(of: view)) \(view.frame) under \(slip)")
      }
      // On a phone the notice has the space above the board, and must cover neither the turn nor the players.
      guard (width, height) == (390, 844) else { continue }
      for view in screen.topScene.children where view is StatusView || view is PlayersView {
        #expect(!slip.intersects(view.frame), "\(type(of: view)) \(view.frame) under \(slip)")
      }
    }
  }

  @Test(
    "on a phone a notice of any length covers neither the result nor the opponent's rematch offer",
    arguments: [(320, 480), (320, 568), (360, 640), (390, 844), (412, 915), (640, 360), (844, 390)])
  func noticeAtTheEnd(_ width: Int, _ height: Int) throws {
    let screen = Samples.screen(leastTarget: 44)
    let long: Message = "\(.signFork) (X): \(.whatFork) \(.whatFork)"
    for notice in ["Ida: Good game", "\(.signWin): \(.whatWin)", long] as [Message] {
      for textScale in [1.0, 1.5] {
        screen.settings.textScale = textScale
        screen.model = Samples.model([4, 1, 0, 8, 6, 2, 3], setup: GameSetup(x: .human, o: .remote(name: "Ida")))
        screen.model.online = OnlineModel(you: .x)
        screen.model.online?.rematch = .theirs
        screen.say(notice)
        screen.handle([], at: 0)
        screen.measureForTest(width, height)
        let slip = try #require(screen.topScene.children.lazy.compactMap { $0 as? NoticeView }.first).slipFrame
        for view in screen.topScene.children where view is StatusView || view is TextButton && !view.isHidden {
          #expect(!slip.intersects(view.frame), "\(type(of: view)) \(view.frame) under \(slip) at \(textScale)")
        }
      }
    }
  }

  @Test(
    "beside a review a short notice covers neither board nor score nor text",
    arguments: [(1_280, 720), (1_920, 1_080), (390, 844), (768, 1_024), (1_080, 1_920)])
  func reviewNotice(_ width: Int, _ height: Int) throws {
    let screen = Samples.screen()
    screen.model = models()[0]
    screen.say("Press once more to resign: your opponent wins the game.")
    screen.handle([], at: 0)
    screen.show(.review)
    screen.measureForTest(width, height)
    let scene = screen.topScene
    let slip = try #require(scene.children.lazy.compactMap { $0 as? NoticeView }.first).slipFrame
    let notes = try #require(scene.children.lazy.compactMap { $0 as? ScrollView }.first)
    let words = Rect(notes.frame.x, notes.frame.y, notes.frame.width, min(notes.contentHeight, notes.frame.height))
    for frame in scene.children.filter({ $0 is MiniBoard || $0 is StaffView && !$0.isHidden }).map(\.frame) + [words] {
      #expect(!slip.intersects(frame), "\(frame) under \(slip)")
    }
  }

  @Test("rows of a text page do not overlap, and keys scroll to each of them", arguments: [false, true])
  func rows(byPages: Bool) {
    let screen = Samples.screen()
    for textScale in [1.0, 2] {
      screen.settings.textScale = textScale
      for name in SceneName.allCases where ![.board, .review].contains(name) {
        screen.show(.board)
        screen.show(name)
        screen.measureForTest(480, 640)
        guard let page = screen.topScene as? PageScene else { continue }
        let rows = page.column.rows.filter { !$0.isHidden }
        for (above, below) in zip(rows, rows.dropFirst()) {
          #expect(above.frame.maxY <= below.frame.y + 0.5, "\(name): \(above.frame) and \(below.frame)")
        }
        var unseen = rows.map { $0 as View }
        for _ in 0..<(byPages ? 40 : 300) where !unseen.isEmpty {
          let window = page.column.frame
          // A row that is taller than the window counts as seen once its lower end is visible.
          unseen.removeAll { $0.frame.maxY <= window.maxY + 1 && $0.frame.maxY > window.y }
          screen.handle([.key(byPages ? .pageDown : .down, [], isRepeat: false)], at: screen.context.now + 5)
          screen.handle([], at: screen.context.now + 5)
        }
        #expect(unseen.isEmpty, "\(name): \(unseen.count) rows stay out of sight")
      }
    }
  }
}

extension RootScreen {
  /// Computes the layout without drawing.
  func measureForTest(_ width: Int, _ height: Int) {
    context.metrics = Metrics(
      width: Double(width), height: Double(height), scale: scale, textScale: settings.textScale,
      target: context.services.leastTarget)
    boardScene.layout()
    topScene.layout()
  }
}
