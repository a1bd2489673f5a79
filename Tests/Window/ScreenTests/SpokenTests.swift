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

  private static let pages = [
    (320, 480, 44.0), (360, 640, 44), (390, 664, 44), (390, 844, 44), (430, 932, 44), (768, 1_024, 44), (640, 360, 44),
    (1_280, 720, 0), (960, 600, 0), (1_920, 1_080, 0),
  ]

  private func place(_ model: BoardModel, on screen: RootScreen, _ width: Int, _ height: Int) throws -> Rect {
    screen.model = model
    screen.draw(width: width, height: height, at: 1)
    return try #require(screen.topScene.children.lazy.compactMap { $0 as? BoardView }.first).frame
  }

  @Test("the board stays in its place when the first move removes the choice of the game")
  func steadyBoard() throws {
    for (width, height, target) in SpokenTests.pages {
      let screen = Samples.screen(leastTarget: target)
      let places = try [[], [4]].map { try place(Samples.model($0), on: screen, width, height) }
      #expect(places[0] == places[1], "\(width)×\(height)")
    }
  }

  @Test("the board stays in its place when a puzzle is answered, and at the end of the answer")
  func steadyPuzzle() throws {
    for (width, height, target) in SpokenTests.pages {
      for sprint in [nil, PuzzleModel.Sprint(seconds: 90, solved: 2, mistakes: 1)] {
        let screen = Samples.screen(leastTarget: target)
        let states: [([Int], Bool?)] = [
          ([4, 1, 0, 8, 6], nil), ([4, 1, 0, 8, 6, 2], true), ([4, 1, 0, 8, 6, 2, 3], true),
        ]
        let places = try states.map { moves, isSolved in
          var model = Samples.model(moves, setup: GameSetup(x: .human, o: .human))
          model.puzzle = PuzzleModel(isSolved: isSolved)
          model.puzzle?.sprint = sprint
          return try place(model, on: screen, width, height)
        }
        #expect(places[1] == places[0] && places[2] == places[0], "\(places) at \(width)×\(height)")
      }
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
