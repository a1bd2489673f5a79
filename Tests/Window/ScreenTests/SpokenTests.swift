import Interface
import Testing
import TicTacToe

@testable import Screen

@Suite("Answers spoken on request, and rows left out")
struct SpokenTests {
  @Test("keys ask for the last move, the turn, a row and the clocks")
  func questions() {
    let screen = Samples.screen()
    var replies: [String] = []
    screen.onReply = { replies.append($0) }
    func ask(_ keys: String) -> [String] {
      replies = []
      screen.handle([], at: 1)
      for key in keys { screen.handle([.key(.character(key), [], isRepeat: false)], at: 1) }
      return replies
    }
    screen.draw(width: 800, height: 600, at: 0)
    #expect(
      ask("ptic") == ["The empty board.", "Your move", "a2 empty; b2 empty; c2 empty", "Time control: unlimited"])
    screen.model = Samples.infinite
    #expect(ask("i") == ["a2 empty; b2 X, removed next; c2 empty"])
    screen.model = Samples.online()
    #expect(ask("pc") == ["X plays c1", "X 0:58, O 0:41"])
    screen.model = Samples.model(.ultimate, "c7 i3")
    #expect(ask("pt") == ["O plays board c1, cell c3", "Your move, in board c3"])
    screen.handle([.key(.left, [], isRepeat: false)], at: 1)
    #expect(ask("i").first?.hasPrefix("board ") == true)
  }

  @Test("a move chosen in advance in a match is spoken and is part of its cell's name")
  func premove() {
    let screen = Samples.screen()
    screen.model = Samples.online()
    screen.model.online?.premove = Cell(2)
    screen.draw(width: 800, height: 600, at: 0)
    #expect(screen.accessible().contains { $0.name == "c3, empty, your next move" })
  }

  @Test("the menu leads to the rules; the settings offer a piano only with a choice, and speech only if installed")
  func needlessRows() {
    let screen = Samples.screen()
    #expect(screen.model.menuControls(isPage: false, canShare: false).contains { $0.intent == .show(.rules) })
    func names(_ canSpeak: Bool, _ pianos: [PianoKind]) -> Set<String> {
      var services = Samples.services()
      services.canSpeak = { canSpeak }
      let screen = RootScreen(services: services)
      screen.pianos = (pianos, .modal)
      screen.draw(width: 800, height: 600, at: 0)
      screen.show(.settings)
      screen.draw(width: 800, height: 600, at: 1)
      return Set(screen.accessible(hidden: true).map { String($0.name.split(separator: ":")[0]) })
    }
    #expect(names(false, [.modal]).isDisjoint(with: ["Piano", "Speak moves and controls"]))
    #expect(names(true, [.modal, .grand]).isSuperset(of: ["Piano", "Speak moves and controls"]))
  }

  @Test("the board stays in its place when the first move removes the choice of the game")
  func steadyBoard() throws {
    for (width, height, target) in [
      (320, 480, 44.0), (360, 640, 44), (390, 664, 44), (390, 844, 44), (430, 932, 44), (768, 1_024, 44),
      (1_280, 720, 0),
      (960, 600, 0),
    ] {
      let screen = Samples.screen(leastTarget: target)
      func place(_ moves: [Int]) throws -> Rect {
        screen.model = Samples.model(moves)
        screen.draw(width: width, height: height, at: 1)
        return try #require(screen.topScene.children.lazy.compactMap { $0 as? BoardView }.first).frame
      }
      #expect(try place([]) == place([4]), "\(width)×\(height)")
    }
  }

  @Test("the menu of a touch device names no keys")
  func fingers() {
    for (target, hasKeys) in [(44.0, false), (0, true)] {
      let screen = Samples.screen(leastTarget: target)
      screen.draw(width: 390, height: 844, at: 0)
      screen.show(.contents)
      let rows = screen.topScene.children.flatMap { $0.children }.compactMap { $0 as? ContentsRow }
      #expect(rows.contains { !$0.key.isEmpty } == hasKeys)
    }
  }
}
