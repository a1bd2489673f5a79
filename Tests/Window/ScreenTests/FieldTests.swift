import Interface
import Testing
import TicTacToe

@testable import Screen

@Suite("Text fields and the focus")
struct FieldTests {
  private func screen(
    _ network: NetworkModel = NetworkModel(phase: .offline), copies: Bool = true
  ) -> RootScreen {
    let screen = Samples.screen(copies: copies)
    screen.pages.network = network
    screen.draw(width: 640, height: 480, at: 0)
    screen.show(.network)
    return screen
  }

  private func press(_ screen: RootScreen, _ key: Key, _ modifiers: KeyModifiers = []) {
    screen.handle([.key(key, modifiers, isRepeat: false)], at: 1)
  }

  private func field(_ screen: RootScreen) -> FieldRow? { screen.context.focus as? FieldRow }

  @Test(
    "combining marks, joiners, right-to-left text and emoji can be typed, stepped over and deleted",
    arguments: ["e\u{301}a", "กิa", "\u{5D1}\u{5B0}\u{5E8}", "👩\u{200D}👩\u{200D}👧x", "\u{301}a", "🇩🇪🇩", "ص\u{64E}ب"])
  func combining(text: String) {
    let screen = screen()
    for scalar in text.unicodeScalars {
      screen.handle([.text(String(scalar))], at: 1)
      screen.draw(width: 640, height: 480, at: 1)
    }
    #expect(field(screen)?.text == text)
    for key in [Key.left, .left, .left, .left, .delete, .right, .right, .right, .right] { press(screen, key) }
    for _ in 0..<9 { press(screen, .backspace) }
    #expect(field(screen)?.text == "")
    press(screen, .home)
    screen.handle([.text("\u{301}"), .text("b")], at: 1)
    press(screen, .home)
    screen.handle([.text("a")], at: 1)
    #expect(field(screen)?.text == "a\u{301}b")
  }

  @Test("Ctrl-A selects all and typing replaces it; Ctrl-Backspace and Ctrl-Delete delete words")
  func words() {
    let screen = screen()
    screen.handle([.text("one two  three")], at: 1)
    press(screen, .backspace, .control)
    #expect(field(screen)?.text == "one two  ")
    press(screen, .backspace, .control)
    press(screen, .home)
    press(screen, .delete, .control)
    #expect(field(screen)?.text == " ")
    screen.handle([.text("x")], at: 1)
    press(screen, .character("a"), .control)
    screen.handle([.text("new")], at: 1)
    #expect(field(screen)?.text == "new")
    press(screen, .character("a"), .control)
    press(screen, .delete)
    #expect(field(screen)?.text == "")
  }

  @Test("Ctrl-X empties the field only if the text was copied", arguments: [true, false])
  func cut(isCopied: Bool) {
    let screen = screen(copies: isCopied)
    screen.handle([.text("one")], at: 1)
    press(screen, .character("x"), .control)
    #expect(field(screen)?.text == (isCopied ? "" : "one"))
  }

  @Test("an input method's composition is shown at the caret and becomes text when finished")
  func composing() {
    let screen = screen()
    screen.handle([.text("ab")], at: 1)
    press(screen, .left)
    let before = screen.png(width: 640, height: 480, at: 1)
    screen.handle([.composing("ni")], at: 1)
    #expect(screen.png(width: 640, height: 480, at: 1) != before)
    #expect(field(screen)?.text == "ab")
    screen.handle([.text("你"), .composing("")], at: 1)
    #expect(field(screen)?.text == "a你b")
  }

  @Test("text input is on while a field has the focus, and off on the board")
  func textInput() {
    nonisolated(unsafe) var places: [PixelRect?] = []
    nonisolated(unsafe) var caption = ""
    var services = Samples.services()
    services.takeText = {
      places.append($0)
      caption = $1
    }
    let screen = RootScreen(services: services, themes: Theme.all)
    screen.draw(width: 640, height: 480, at: 0)
    screen.handle([], at: 1)
    #expect(places.isEmpty)
    screen.show(.network)
    screen.handle([], at: 1)
    #expect(places.count == 1 && places[0] != nil)
    #expect(
      caption == screen.context.focus?.accessibilityLabel && !caption.isEmpty, "a screen reader is told what is typed")
    press(screen, .escape)
    #expect(places.count == 2 && places[1] == nil)
  }

  @Test("the space that opens a page is not typed into its field")
  func openingSpace() {
    let screen = Samples.screen()
    screen.pages.network = NetworkModel(phase: .offline)
    screen.draw(width: 640, height: 480, at: 0)
    screen.show(.contents)
    let row = (screen.topScene as? PageScene)?.column.rows.first { $0.accessibilityLabel == screen.text(.network) }
    screen.context.moveFocus(to: row)
    screen.handle([.key(.character(" "), [], isRepeat: false), .text(" ")], at: 1)
    #expect(screen.currentScene == .network && field(screen)?.text == "")
    screen.handle([.key(.character("a"), [], isRepeat: false), .text("a")], at: 1)
    #expect(field(screen)?.text == "a")
  }

  @Test("refreshing the lobby's list keeps the focus in the text field or on the same line")
  func refresh() {
    let screen = screen(NetworkModel(phase: .lobby))
    let code = (screen.topScene as? PageScene)?.column.rows.first { $0 is FieldRow }
    screen.context.moveFocus(to: code)
    screen.pages.network.matches = [.init(id: "a", title: "Ida – Jan"), .init(id: "b", title: "Ada – Bo")]
    screen.handle([], at: 2)
    #expect(screen.context.focus === code)
    screen.context.moveFocus(to: (screen.topScene as? PageScene)?.column.rows.last)
    screen.pages.network.matches = [.init(id: "b", title: "Ada – Bo"), .init(id: "c", title: "Uta – Eva")]
    screen.handle([], at: 3)
    #expect(screen.context.focus?.accessibilityLabel == "Ada – Bo")
  }

  @Test("in every state of the network page the focus is on a visible control")
  func phases() {
    let phases: [NetworkModel.Phase] = [
      .offline, .connecting, .lobby, .queued(bots: 0), .queued(bots: 1), .room(code: "37WEPN"), .playing,
    ]
    for before in phases {
      for after in phases {
        let screen = screen(NetworkModel(phase: before))
        screen.handle([], at: 1)
        screen.pages.network.phase = after
        #expect(screen.topScene.focusOrder.contains { $0 === screen.context.focus }, "\(before) to \(after)")
      }
    }
  }

  @Test("a disappearing control does not move the focus: a second Enter after a rematch has no effect")
  func hiddenButton() {
    let screen = Samples.screen()
    let log = IntentLog()
    screen.model = Samples.model([4, 1, 0, 8, 6, 2, 3])
    screen.draw(width: 800, height: 600, at: 0)
    screen.handle([], at: 1)
    screen.context.moveFocus(to: screen.topScene.focusOrder.first { $0.accessibilityLabel == screen.text(.rematch) })
    log.attach(to: screen)
    press(screen, .enter)
    #expect(log.intents == [.rematch])
    screen.model = Samples.model([])
    screen.handle([], at: 2)
    press(screen, .enter)
    #expect(log.intents.filter { $0 == .rematch }.count == 1)
    #expect(screen.context.focus is CellView)
  }

  @Test("controls below the board do not move until the pointer leaves them or presses one that disappears")
  func bar() throws {
    let screen = Samples.screen()
    func places() -> [String: Rect] {
      var places: [String: Rect] = [:]
      screen.boardScene.visit { if let button = $0 as? TextButton { places[button.title] = button.frame } }
      return places
    }
    screen.model = Samples.model([4, 1])
    screen.draw(width: 800, height: 600, at: 0)
    let before = places()
    let undo = try #require(before[screen.text(.undo)]).center
    screen.handle([.pointerMoved(x: undo.x, y: undo.y)], at: 1)
    screen.model.canRedo = true
    screen.handle([.pointerDown(x: undo.x, y: undo.y, isTouch: false)], at: 2)
    screen.handle([.pointerUp(x: undo.x, y: undo.y, isTouch: false)], at: 2)
    #expect(places() == before)
    screen.handle([.pointerMoved(x: 400, y: 100)], at: 3)
    #expect(places()[screen.text(.redo)] != nil)
    // A press on Rematch begins a new game, and the control Rematch disappears at once.
    screen.model = Samples.model([4, 1, 0, 8, 6, 2, 3])
    screen.handle([], at: 4)
    let again = try #require(places()[screen.text(.rematch)]).center
    screen.handle([.pointerMoved(x: again.x, y: again.y)], at: 5)
    screen.handle([.pointerDown(x: again.x, y: again.y, isTouch: false)], at: 5)
    screen.handle([.pointerUp(x: again.x, y: again.y, isTouch: false)], at: 5)
    screen.model = Samples.model([])
    screen.handle([], at: 6)
    #expect(places()[screen.text(.rematch)] == nil)
  }

  @Test("a code can be entered with a controller's buttons, letter by letter")
  func controller() {
    let screen = screen(NetworkModel(phase: .lobby))
    screen.context.moveFocus(to: screen.topScene.focusOrder.first { $0 is FieldRow })
    let (turn, next) = (Key.controllerX, Key.controllerY)
    for key in [turn, turn, turn, next, turn, next] { press(screen, key) }
    #expect(field(screen)?.text == "CBA")
    for _ in 0..<26 { press(screen, turn) }
    #expect(field(screen)?.text == "CB0")
    press(screen, .left)
    press(screen, turn)
    #expect(field(screen)?.text == "CC0")
    for key in 1...12 where ![1, 5, 11, 12].contains(key) { press(screen, .function(key)) }
    #expect(field(screen)?.text == "CC0", "the keys of a keyboard write nothing")
  }

  @Test("the help page opens at its top, at every text size")
  func head() {
    let screen = Samples.screen()
    screen.settings.textScale = 2
    screen.draw(width: 640, height: 480, at: 0)
    screen.show(.help)
    screen.handle([], at: 5)
    let column = (screen.topScene as? PageScene)?.column
    #expect(column?.rows.first?.frame.y == column?.frame.y)
  }

  private func pointing(at square: Square) -> (screen: RootScreen, cell: Point) {
    let screen = Samples.screen()
    screen.draw(width: 800, height: 600, at: 0)
    let cell = screen.boardCell(square)
    screen.handle([.pointerMoved(x: cell.x, y: cell.y)], at: 1)
    return (screen, cell)
  }

  @Test("mouse and keyboard never show two preview marks at once")
  func ghosts() {
    let (screen, cell) = pointing(at: Square(0))
    press(screen, .left)
    #expect(screen.ghosts(at: 3) == [3])
    screen.handle([.pointerMoved(x: cell.x + 1, y: cell.y)], at: 4)
    #expect(screen.ghosts(at: 6) == [0])
  }

  @Test("the staff shows the note of a cell while it can be marked")
  func note() {
    let (screen, _) = pointing(at: Square(4))
    var staff: StaffView?
    screen.boardScene.visit { staff = staff ?? $0 as? StaffView }
    #expect(staff?.ghost == Cell(4))
    screen.model = Samples.model([4])
    screen.handle([], at: 2)
    #expect(staff?.ghost == nil)
    screen.model = Samples.model([])
    screen.handle([], at: 3)
    #expect(staff?.ghost == Cell(4))
  }

  @Test("an unchanged clock and a page at rest request no frame")
  func clocks() {
    let screen = Samples.screen()
    var model = Samples.model([4, 0])
    model.clocks = .init(x: 61_900, o: 58_000)
    screen.model = model
    let buffer = PixelBuffer(width: 800, height: 600)
    for now in [0.0, 9, 18] {
      screen.handle([], at: now)
      _ = screen.draw(into: buffer.bitmap, isNew: now == 0, at: now)
    }
    screen.model.clocks = .init(x: 61_850, o: 58_000)
    screen.handle([], at: 20)
    #expect(screen.nextFrame(after: 20) == .infinity)
    screen.model.clocks = .init(x: 60_950, o: 58_000)
    screen.handle([], at: 21)
    #expect(screen.nextFrame(after: 21) == 21)
  }

  @Test("a running clock does not extend earlier animations")
  func runningClock() {
    let screen = Samples.screen()
    screen.draw(width: 800, height: 600, at: 0)
    let cell = screen.boardCell(Square(4))
    screen.handle([.pointerMoved(x: cell.x, y: cell.y)], at: 1)
    screen.handle([], at: 2)
    screen.handle([.pointerMoved(x: 0, y: 0)], at: 2)
    let buffer = PixelBuffer(width: 800, height: 600)
    for frame in 0...60 {
      // Sixty frames in a second. The clock loses one millisecond in each frame, but shows the same second.
      let now = 2 + Double(frame) / 60
      screen.model.clocks = .init(x: 61_999 - frame, o: 58_000)
      screen.handle([], at: now)
      _ = screen.draw(into: buffer.bitmap, isNew: frame == 0, at: now)
    }
    #expect(screen.nextFrame(after: 3) == .infinity)
  }

  @Test("a finger drags a list without pressing its lines; a sideways drag moves a slider")
  func drag() throws {
    let screen = Samples.screen()
    let log = IntentLog()
    screen.draw(width: 480, height: 480, at: 0)
    screen.show(.help)
    log.attach(to: screen)
    let row = try #require((screen.topScene as? PageScene)?.column.rows.first { $0.isClickable })
    let (x, y) = (row.frame.midX, row.frame.midY)
    screen.handle([.pointerDown(x: x, y: y, isTouch: true)], at: 1)
    for step in 1...10 { screen.handle([.pointerMoved(x: x, y: y - Double(step) * 10)], at: 1) }
    screen.handle([.pointerUp(x: x, y: y - 100, isTouch: true), .pointerLeft], at: 1)
    #expect(abs(row.frame.midY - (y - 100)) < 1 && log.intents.isEmpty)
    screen.handle([.pointerDown(x: x, y: y, isTouch: true), .pointerUp(x: x, y: y, isTouch: true)], at: 2)
    #expect(log.intents.count == 1)
    screen.show(.settings)
    let place = try #require((screen.topScene as? PageScene)?.column.rows.first { $0 is SliderRow }).frame
    screen.settings.volume = 0.8
    screen.handle([.pointerDown(x: place.x + 20, y: place.midY, isTouch: true)], at: 3)
    screen.handle([.pointerMoved(x: place.maxX - 1, y: place.midY + 2)], at: 3)
    screen.handle([.pointerUp(x: place.maxX - 1, y: place.midY, isTouch: true)], at: 3)
    #expect(screen.settings.volume == 1)
    // A finger that lands on a slider and moves down drags the list. A tap moves the slider.
    let (left, height) = (place.x + 20, place.midY)
    screen.handle([.pointerDown(x: left, y: height, isTouch: true)], at: 4)
    for step in 1...10 { screen.handle([.pointerMoved(x: left, y: height + Double(step) * 3)], at: 4) }
    screen.handle([.pointerUp(x: left, y: height + 30, isTouch: true)], at: 4)
    #expect(screen.settings.volume == 1)
    screen.handle(
      [.pointerDown(x: left, y: height, isTouch: true), .pointerUp(x: left, y: height, isTouch: true)], at: 5)
    #expect(screen.settings.volume < 0.2)
  }

  @Test("a finger that swipes within a cell marks nothing; a finger that trembles marks the cell")
  func swipe() throws {
    let screen = Samples.screen()
    let log = IntentLog()
    screen.draw(width: 390, height: 844, at: 0)
    log.attach(to: screen)
    var cells: [CellView] = []
    screen.boardScene.visit { if let cell = $0 as? CellView { cells.append(cell) } }
    let cell = try #require(cells.first)
    func touch(by way: Double) -> Int {
      let (x, y) = (cell.frame.x + 4, cell.frame.midY)
      screen.handle([.pointerDown(x: x, y: y, isTouch: true), .pointerMoved(x: x + way, y: y)], at: 1)
      screen.handle([.pointerUp(x: x + way, y: y, isTouch: true), .pointerLeft], at: 1)
      return log.intents.count { $0 == .play(cell.cell) }
    }
    try #require(cell.frame.width > 70)
    #expect(touch(by: 60) == 0 && touch(by: 9) == 1)
    // The system takes a touch for a gesture of its own.
    screen.handle([.pointerDown(x: cell.frame.midX, y: cell.frame.midY, isTouch: true)], at: 2)
    #expect(cell.showsGhost)
    screen.handle([.pointerCancelled], at: 2)
    #expect(!cell.showsGhost && log.intents.last == .preview(nil))
    // Another page opens while the finger is on the cell.
    screen.handle([.pointerDown(x: cell.frame.midX, y: cell.frame.midY, isTouch: true)], at: 3)
    #expect(cell.showsGhost)
    screen.show(.help)
    #expect(!cell.showsGhost)
  }

  @Test("letters missing in the typeface come from the system's fonts")
  func fallback() {
    let typeface = Typeface()
    // DejaVu, installed on every Debian desktop, has Hebrew letters; EB Garamond does not.
    let text = "שלום"
    #expect(typeface.missingGlyphs(in: text) == 4)
    #expect(typeface.missingGlyphs(in: text, withFallback: true) <= typeface.missingGlyphs(in: text))
    #expect(typeface.block("Ida שלום", TextStyle(20)).width > typeface.block("Ida ", TextStyle(20)).width)
  }

  @Test("zero and one are as high as capitals, so that they do not look like o and I", arguments: [false, true])
  func figures(italic: Bool) {
    let typeface = Typeface()
    func height(_ text: String) -> Int {
      let buffer = PixelBuffer(width: 100, height: 100)
      Canvas(buffer.bitmap).text(
        text, TextStyle(80, italic: italic), typeface, x: 10, baseline: 80, Color(hex: 0xFFFFFF))
      let pixels = buffer.bitmap
      return (0..<100).count { y in (0..<100).contains { pixels.pixels[y * pixels.stride + $0] & 0xFF > 128 } }
    }
    for figure in ["0", "1"] { #expect(abs(height(figure) - height("H")) <= 4, "\(figure): \(height(figure))") }
  }
}

extension RootScreen {
  /// The cells with a visible preview mark, after all animations.
  func ghosts(at now: Double) -> [Int] {
    handle([], at: now)
    var shown: [Int] = []
    boardScene.visit { if let cell = $0 as? CellView, cell.showsGhost { shown.append(cell.cell.index) } }
    return shown
  }
}
