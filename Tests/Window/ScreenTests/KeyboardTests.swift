import Interface
import Base
import Testing
import TicTacToe

@testable import Screen

@Suite("Keyboard and responder chain")
struct KeyboardTests {
  private func press(_ screen: RootScreen, _ key: Key, _ modifiers: KeyModifiers = [], at now: Double = 1) {
    screen.handle([.key(key, modifiers, isRepeat: false)], at: now)
  }

  @Test("Tab reaches every control of every page, forwards and backwards")
  func tab() {
    for name in SceneName.allCases {
      for shift in [KeyModifiers(), .shift] {
        let screen = Samples.screen()
        screen.model = Samples.model([4, 0, 8])
        screen.draw(width: 800, height: 600, at: 0)
        screen.show(name)
        // Tab must reach the elements that a screen reader can press, but only the first of several radio buttons in a row.
        let wanted = screen.accessible(hidden: true).filter {
          !["gridcell", "paragraph"].contains($0.role) && $0.state != "disabled"
        }
        var (reached, answer): (Set<Int>, Int?) = ([], nil)
        for _ in 0..<(wanted.count + 3) {
          press(screen, .tab, shift)
          if let focus = screen.accessibleFocus { reached.insert(focus) }
        }
        #expect(wanted.count > 1 || name == .rules, "\(name)")
        for control in wanted {
          if control.role != "radio" || control.place.x == 0 { answer = nil }
          if control.role == "radio", let first = answer, control.id - first < 64 { continue }
          if control.role == "radio" { answer = control.id }
          #expect(reached.contains(control.id), "\(name): \(control.words) cannot be reached")
        }
        if name == .board { #expect(screen.topScene.focusOrder.contains { $0 is CellView }) }
      }
    }
  }

  @Test("arrows and hjkl move over the board and wrap around; Enter plays")
  func arrows() {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    screen.draw(width: 800, height: 600, at: 0)
    for key in [Key.up, .left, .left, .character("j"), .character("l"), .down] { press(screen, key) }
    press(screen, .enter)
    // The focus moved from the centre to b3, a3, c3 (around the edge), c2, a2 (around the edge) and a1.
    #expect(log.intents.last == .play(Cell(6)))
    let previews = log.intents.compactMap { if case .preview(let square) = $0 { square?.index } else { nil } }
    #expect(previews == [4, 1, 0, 2, 5, 3, 6])
  }

  @Test(
    "in Ultimate a digit marks a cell of the board to play in; if any board may be chosen, a digit selects one first")
  func ultimateKeypad() throws {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    screen.model = Samples.model(.ultimate, "")
    screen.draw(width: 800, height: 600, at: 0)
    func played() -> [String] {
      log.intents.compactMap { if case .play(let cell) = $0 { Variant.ultimate.name(of: cell) } else { nil } }
    }
    press(screen, .character("7"))
    #expect(played().isEmpty)
    press(screen, .character("3"))
    #expect(played() == ["c7"])
    screen.model = Samples.model(.ultimate, "c7 i3")
    press(screen, .character("5"))
    #expect(played() == ["c7", "h8"])
    // The first Up moves the focus from h8 to h9, at the top edge; the second wraps around to h1.
    for key in [Key.up, .up, .enter] { press(screen, key) }
    #expect(played().last == "h1")
  }

  @Test("a cell of the longer games describes the effect of a mark")
  func spokenCells() throws {
    let screen = Samples.screen()
    func words(_ name: String) throws -> String {
      screen.handle([], at: 1)
      let variant = screen.model.game.variant
      var words: String?
      screen.boardScene.visit {
        if let cell = $0 as? CellView, variant.name(of: cell.cell) == name { words = cell.accessibilityLabel }
      }
      return try #require(words)
    }
    screen.model = Samples.infinite
    #expect(try words("b2") == "b2, X, removed next")
    #expect(try words("c2") == "c2, empty")
    screen.model = Samples.ultimate
    #expect(try words("g4") == "board c2, cell a1, empty; sends O to any board")
    #expect(try words("g6") == "board c2, cell a3, empty; sends O to any board")
    #expect(try words("h6") == "board c2, cell b3, empty; sends O to board b3")
    #expect(try words("i6") == "board c2, cell c3, O")
    #expect(try words("d1") == "board b1, cell a1, empty")
  }

  @Test("on a touch screen the board to play in is enlarged, or the board that the player touches if there are several")
  func fingers() throws {
    let screen = Samples.screen(leastTarget: 44)
    let log = IntentLog()
    log.attach(to: screen)
    screen.model = Samples.model(.ultimate, "")
    screen.draw(width: 390, height: 844, at: 0)
    func cell(_ name: String) throws -> CellView {
      var found: CellView?
      screen.boardScene.visit {
        if let cell = $0 as? CellView, Variant.ultimate.name(of: cell.cell) == name { found = cell }
      }
      return try #require(found)
    }
    func touch(_ name: String, at now: Double) throws {
      let place = try cell(name).frame.center
      screen.handle(
        [.pointerDown(x: place.x, y: place.y, isTouch: true), .pointerUp(x: place.x, y: place.y, isTouch: true)],
        at: now)
      screen.handle([], at: now + 2)
    }
    #expect(try cell("a9").frame.width < 44)
    try touch("b8", at: 1)
    #expect(try cell("a9").frame.width >= 44 && cell("i1").frame.width < 44)
    #expect(!log.intents.contains { if case .play = $0 { true } else { false } })
    try touch("a9", at: 4)
    #expect(log.intents.last == .play(Cell(0)))
    screen.model = Samples.model(.ultimate, "a9 b8")
    screen.handle([], at: 8)
    screen.handle([], at: 10)
    #expect(try cell("e5").frame.width >= 44 && cell("a9").frame.width < 44)
    let near = try cell("e5").frame
    #expect(!(try cell("a9").frame.intersects(near)))
  }

  @Test("Down moves from game to game in the list; a game's actions are beside it")
  func gamesList() {
    let screen = Samples.screen()
    screen.draw(width: 800, height: 600, at: 0)
    screen.show(.games)
    screen.handle([], at: 1)
    func path() -> String? { (screen.context.focus as? GameRow)?.entry.path }
    let paths = screen.pages.games.map { $0.path }
    press(screen, .down)  // shows the focus, and moves it
    #expect(path() == paths[1])
    press(screen, .down)
    #expect(path() == paths[2])
    press(screen, .right)
    #expect((screen.context.focus as? TextButton)?.intent == .chooseGame(path: paths[2]))
    press(screen, .left)
    #expect(path() == paths[2])
    press(screen, .right)
    press(screen, .up)
    #expect(path() == paths[2] || path() == paths[1])
  }

  @Test("cells of a won board are not announced as empty, and the reviewed board has its cells")
  func wonBoards() {
    let screen = Samples.screen()
    screen.model = Samples.ultimateWon
    screen.draw(width: 800, height: 600, at: 0)
    func cells() -> [String] { screen.accessible(hidden: true).filter { $0.role == "gridcell" }.map { $0.name } }
    let won = BoardFacts(of: screen.model.game)
    let empty = Variant.ultimate.cells.filter { cell in
      won[cell] == nil && Variant.ultimate.board(of: cell).map { won.boards?.winner(of: $0) != nil } == true
    }
    #expect(!empty.isEmpty && cells().count == 81)
    #expect(cells().count { $0.hasSuffix("empty") } + empty.count == 81 - won.x.count - won.o.count)
    #expect(cells().contains { $0.contains(", board won by ") })
    screen.show(.review)
    screen.draw(width: 800, height: 600, at: 1)
    #expect(cells().count == 81 && cells().contains { $0.contains(", X") })
    press(screen, .home)
    #expect(cells().allSatisfy { $0.hasSuffix("empty") })
  }

  @Test("every page opens from the menu by keyboard, and each Esc goes one step back")
  func contents() {
    let titles: [SceneName] = [.newGame, .network, .games, .statistics, .help, .settings]
    let screen = Samples.screen()
    screen.draw(width: 800, height: 600, at: 0)
    for name in titles {
      press(screen, .escape)
      #expect(screen.currentScene == .contents)
      let rows = (screen.topScene as? PageScene)?.column.rows.compactMap { $0 as? ContentsRow } ?? []
      let index = rows.firstIndex { $0.intent == .show(name) } ?? 0
      for _ in 0..<index { press(screen, .down) }
      press(screen, .enter)
      #expect(screen.currentScene == name)
      press(screen, .escape)
      #expect(screen.currentScene == .contents)
      press(screen, .escape)
      #expect(screen.currentScene == .board)
    }
  }

  @Test("Esc never quits, Ctrl-Q does; the function keys have their documented effects")
  func functionKeys() {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    for _ in 0..<9 { press(screen, .escape) }
    #expect(!log.intents.contains(.quit))
    press(screen, .character("q"), .control)
    press(screen, .function(12))
    press(screen, .function(5))
    press(screen, .character("s"), .control)
    press(screen, .character("m"))
    #expect(
      log.intents.filter { if case .preview = $0 { false } else { true } }
        == [.quit, .screenshot, .reloadRules, .saveGame, .setMuted(true)])
    press(screen, .function(1))
    #expect(screen.currentScene == .help)
    #expect(!screen.settings.fullScreen)
    press(screen, .function(11))
    #expect(screen.settings.fullScreen)
    let before = screen.settings.volume
    press(screen, .character("-"))
    #expect(screen.settings.volume < before)
  }

  @Test("letters are typed in a text field, and Enter submits it")
  func field() {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    screen.pages.network = NetworkModel(phase: .offline)
    screen.show(.network)
    #expect(screen.context.focus is FieldRow)
    for letter in "mnh.no:9" {
      screen.handle([.key(.character(letter), [], isRepeat: false), .text(String(letter))], at: 1)
    }
    press(screen, .backspace)
    press(screen, .home)
    screen.handle([.text("a\nb")], at: 1)
    press(screen, .enter)
    #expect(log.intents == [.connect(address: "abmnh.no:")])
    #expect(screen.currentScene == .network)
  }

  @Test("a token is shown and spoken as dots, is sent with the request to connect, and is then removed from the page")
  func token() throws {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    screen.pages.network = NetworkModel(phase: .offline)
    screen.show(.network)
    screen.handle([.text("a:1")], at: 1)
    while screen.context.focus?.accessibilityLabel?.hasPrefix("Token") != true { press(screen, .tab) }
    screen.handle([.text("kitten")], at: 1)
    #expect(screen.context.focus?.accessibilityLabel?.hasSuffix(": ••••••") == true)
    for letter in "cx" { press(screen, .character(letter), .control) }
    #expect(screen.context.services.clipboard() == nil)
    press(screen, .enter)
    #expect(log.intents == [.connect(address: "a:1", token: "kitten")])
    #expect(screen.context.focus?.accessibilityLabel?.contains("•") == false)
  }

  @Test("letters outside the text field of a page have no effect")
  func straying() {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    screen.draw(width: 800, height: 600, at: 0)
    screen.show(.network)
    for _ in 0..<3 where screen.context.focus is FieldRow { press(screen, .tab) }
    #expect(!(screen.context.focus is FieldRow))
    let clock = screen.settings.networkClock
    let volume = screen.settings.volume
    for letter in "hello-minus-m+l" { press(screen, .character(letter)) }
    #expect(screen.settings.networkClock == clock && screen.settings.volume == volume)
    #expect(!log.intents.contains { if case .setMuted = $0 { true } else { false } })
  }

  @Test("a hint points at a winning cell, is refused in a match, and disappears with the next move")
  func hint() {
    var spoken: [String] = []
    let screen = Samples.screen()
    screen.onSpeak = { spoken.append($0) }
    screen.model = Samples.model([0, 3, 1, 4])
    screen.draw(width: 800, height: 600, at: 0)
    press(screen, .function(2))
    #expect(spoken.contains("Hint: c3"))
    let board = screen.topScene.children.compactMap { $0 as? BoardView }.first
    #expect(board?.hint == Cell(2))
    screen.model = Samples.model([0, 3, 1, 4, 8])
    screen.handle([], at: 2)
    #expect(board?.hint == nil)
    screen.model = Samples.model([0, 3, 1, 4], setup: GameSetup(x: .human, o: .remote(name: "Ida")))
    screen.handle([], at: 3)
    press(screen, .function(2))
    #expect(board?.hint == nil)
    press(screen, .function(3))
    #expect(board?.showsAnalysis == false)
  }

  @Test("the analysis of the board is off in matches, where help is not allowed")
  func analysisEnds() throws {
    let screen = Samples.screen()
    screen.model = Samples.model([0, 3])
    screen.draw(width: 800, height: 600, at: 0)
    let board = try #require(screen.topScene.children.compactMap { $0 as? BoardView }.first)
    press(screen, .function(3))
    #expect(board.showsAnalysis)
    screen.model = Samples.model([0, 3], setup: GameSetup(x: .human, o: .remote(name: "Ida")))
    screen.handle([], at: 2)
    #expect(!board.showsAnalysis)
  }

  @Test("the moves and the result of a game are spoken once")
  func speech() {
    var spoken: [String] = []
    let screen = Samples.screen()
    screen.onSpeak = { spoken.append($0) }
    screen.model = Samples.model([4])
    screen.handle([], at: 1)
    screen.model = Samples.model([4, 1, 0, 8, 6, 2, 3])
    screen.handle([], at: 2)
    #expect(spoken.contains("X plays b2"))
    #expect(spoken.contains("X plays a2"))
    #expect(spoken.last == "You win")
    // Later changes of a finished match do not announce the result again.
    for mayRematch in [true, false] {
      var online = OnlineModel(you: .x)
      online.rematchIn = mayRematch ? 30 : nil
      screen.model.online = online
      screen.handle([], at: 3)
    }
    #expect(spoken.filter { $0 == "You win" }.count == 1)
    screen.model.online = nil
    screen.handle([], at: 4)
    press(screen, .tab)
    press(screen, .tab)
    #expect(spoken.last == "New game")
  }

  @Test("a search for a match is announced once, not with every countdown")
  func looking() throws {
    let screen = Samples.screen()
    var spoken: [String] = []
    screen.onSpeak = { spoken.append($0) }
    for words in ["next try in 2 s", "next try in 1 s"] as [Message] {
      screen.model.resuming = words
      screen.handle([], at: 0)
    }
    #expect(spoken == ["Returning to your match, next try in 2 s"])
  }

  @Test("a room's code, letter by letter, and the wait are announced once")
  func spokenRoom() {
    var spoken: [String] = []
    let screen = Samples.screen()
    screen.onSpeak = { spoken.append($0) }
    screen.show(.network)
    screen.pages.network = NetworkModel(phase: .room(code: "SPYQXY"))
    screen.handle([], at: 1)
    screen.pages.network.hostAddress = "192.0.2.2:4664"
    screen.handle([], at: 2)
    screen.pages.network = NetworkModel(phase: .queued(bots: 0))
    screen.handle([], at: 3)
    #expect(spoken.filter { $0.contains("S P Y Q X Y") }.count == 1)
    #expect(spoken.last == screen.text(.queued))
  }

  @Test("the room's page offers game and clock, and requests a new room when one is chosen")
  func roomTerms() throws {
    var wanted: [Intent] = []
    let screen = Samples.screen()
    screen.onIntent = { wanted.append($0) }
    screen.show(.network)
    screen.pages.network = NetworkModel(phase: .room(code: "SPYQXY"))
    screen.handle([], at: 1)
    let rows = screen.topScene.focusOrder.compactMap { $0 as? ChoiceRow }
    #expect(rows.count == 2 && rows.last?.accessibilityLabel?.contains(screen.text(.noClock)) == true)
    for row in rows {
      wanted = []
      _ = row.key(.right, [])
      _ = row.key(.left, [])
      #expect(wanted.contains(.openRoom))
    }
  }

  @Test("a match pressed during a refresh of the list is still there on release")
  func pressedRow() throws {
    var wanted: [Intent] = []
    let screen = Samples.screen()
    screen.onIntent = { wanted.append($0) }
    screen.show(.network)
    screen.pages.network = NetworkModel(phase: .lobby, matches: [.init(id: "m", title: "Ann – Bob")])
    screen.draw(width: 1_280, height: 720, at: 1)
    let row = try #require(screen.topScene.focusOrder.last { ($0 as? ContentsRow)?.intent == .watch(id: "m") })
    let point = Point(row.frame.midX, row.frame.midY)
    screen.handle([.pointerDown(x: point.x, y: point.y, isTouch: false)], at: 2)
    screen.pages.network.matches.append(.init(id: "n", title: "Eve – Dan"))
    screen.handle([.pointerUp(x: point.x, y: point.y, isTouch: false)], at: 3)
    #expect(wanted.contains(.watch(id: "m")))
  }

  @Test("a room on this computer shows the address of its page for browsers, if there is a page, and a QR code")
  func roomLink() {
    let screen = RootScreen(services: PlatformServices(locks: .none))
    screen.show(.network)
    func rows() -> (links: [String], pictures: Int) {
      screen.draw(width: 800, height: 600, at: 1)
      var pictures = 0
      screen.topScene.visit { if $0 is QRRow { pictures += 1 } }
      return (screen.accessible(hidden: true).map { $0.name }.filter { $0.contains("://") }, pictures)
    }
    screen.pages.network = NetworkModel(phase: .room(code: "SPYQXY"))
    screen.pages.network.hostAddress = "192.0.2.2:4664"
    #expect(rows() == ([], 0))
    screen.pages.network.hostPage = "https://192.0.2.2:4680/"
    #expect(rows() == (["https://192.0.2.2:4680/r/SPYQXY"], 1))
  }

  @Test("an intent passes from cell to board to scene to app, and stops at the first that handles it")
  func chain() {
    let screen = Samples.screen()
    var cell: View?
    screen.boardScene.visit { if $0 is CellView, cell == nil { cell = $0 } }
    var path: [String] = []
    var next = cell
    while let view = next {
      path.append("\(type(of: view))")
      next = view.parent
    }
    #expect(path == ["CellView", "BoardView", "BoardScene", "Root"])
    let log = IntentLog()
    log.attach(to: screen)
    #expect(cell?.send(.play(Cell(0))) == true)
    #expect(cell?.send(.hint) == true)
    #expect(log.intents == [.play(Cell(0))])
    #expect(cell?.send(.back) == true)
  }

  @Test("after ten thousand random inputs the screen has not crashed and has a focus")
  func monkey() {
    let screen = Samples.screen()
    screen.onIntent = { [unowned screen] intent in
      switch intent {
      case .newGame(let setup):
        screen.model = Samples.model(setup.variant, "")
        screen.model.setup = setup
      case .play(let square):
        var model = screen.model
        if (try? model.game.play(square)) != nil { screen.model = model }
      case .setMuted(let muted): screen.model.isMuted = muted
      default: break
      }
    }
    var generator = SplitMix64(seed: 6)
    let buffer = PixelBuffer(width: 320, height: 480)
    let keys: [Key] =
      [.up, .down, .left, .right, .enter, .escape, .tab, .backspace, .delete, .home, .end, .pageUp, .pageDown]
      + (1...12).map { .function($0) } + "0123456789hjklmnrsz+- ".map { .character($0) }
    var now = 0.0
    for _ in 0..<10_000 {
      now += Double(generator.next() % 100) / 1000
      let x = Double(generator.next() % 340) - 10
      let y = Double(generator.next() % 500) - 10
      let isTouch = generator.next() % 2 == 0
      let event: InputEvent =
        switch generator.next() % 13 {
        case 12: .composing(isTouch ? "に" : "")
        case 0, 1: .pointerMoved(x: x, y: y)
        case 2, 3: .pointerDown(x: x, y: y, isTouch: isTouch)
        case 4, 5: .pointerUp(x: x, y: y, isTouch: isTouch)
        case 6: .scrolled(lines: x / 50 - 3)
        case 7: .text(["ä\u{7}x", "\u{301}", "ש\u{5B0}", "👩\u{200D}👧", "กิ"][Int(generator.next() % 5)])
        case 8: .pointerLeft
        default:
          .key(
            keys[Int(generator.next() % UInt64(keys.count))], KeyModifiers(rawValue: UInt8(generator.next() % 12 / 8)),
            isRepeat: isTouch)
        }
      screen.handle([event], at: now)
      if generator.next() % 64 == 0 { _ = screen.draw(into: buffer.bitmap, isNew: false, at: now) }
      #expect(screen.context.focus != nil)
    }
  }
}
