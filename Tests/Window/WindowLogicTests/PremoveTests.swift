import Interface
import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

@Suite("The move for the next turn in a match")
struct PremoveTests {
  /// This player is X and has marked the centre, so Ida is to move.
  private static func match() -> TestWindow {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    window.want(.play(Cell(4)))
    window.move(4)
    return window
  }

  private static func moves(_ effects: [Effect]) -> [Int] {
    effects.compactMap { effect in
      if case .command(.move(_, let cell)) = effect { cell.index } else { nil }
    }
  }

  private static func premove(_ window: TestWindow) -> Int? {
    window.state.online(at: window.now, client: 0)?.premove?.index
  }

  @Test func `a premove is sent as soon as the opponent has moved, and shown after that move`() {
    var window = PremoveTests.match()
    let asked = window.want(.play(Cell(8)))
    #expect(PremoveTests.moves(asked).isEmpty && TestWindow.words(asked).count == 1)
    #expect(PremoveTests.premove(window) == 8 && window.board.game.cells.count == 1)
    window.move(0)
    #expect(PremoveTests.moves(window.effects) == [4, 8] && PremoveTests.premove(window) == nil)
    #expect(window.board.game.cells.map { $0.index } == [4, 0, 8])
    window.move(8)
    #expect(PremoveTests.moves(window.effects) == [4, 8], "it is sent once")
  }

  @Test func `a second premove replaces the first, and pressing its cell again takes it back`() {
    var window = PremoveTests.match()
    window.want(.play(Cell(8)))
    window.want(.play(Cell(2)))
    #expect(PremoveTests.premove(window) == 2)
    #expect(TestWindow.words(window.want(.play(Cell(2)))).count == 1)
    #expect(PremoveTests.premove(window) == nil)
    #expect(window.want(.play(Cell(4))).contains(.refuse), "a marked cell")
    window.move(0)
    #expect(PremoveTests.moves(window.effects) == [4])
  }

  @Test func `a premove is dropped with a notice if the opponent marks its cell`() {
    var window = PremoveTests.match()
    window.want(.play(Cell(8)))
    window.move(8)
    #expect(PremoveTests.moves(window.effects) == [4] && PremoveTests.premove(window) == nil)
    #expect(TestWindow.words(window.effects).last == "\(.premoveIllegal)")
    window.want(.play(Cell(0)))
    #expect(PremoveTests.moves(window.effects) == [4, 0])
  }

  @Test(arguments: [1, 3]) func `after a lost connection a premove is played only at its ply`(missed: Int) {
    var window = PremoveTests.match()
    window.want(.play(Cell(8)))
    window.step(.network(.status(.waiting(milliseconds: 900, reason: .lost)), nil))
    var view = window.views[TestWindow.m]
    // Moves made while the connection was lost. X's move came from another window of this player.
    for (index, cell) in [0, 2, 6].prefix(missed).enumerated() {
      let side: Player = index % 2 == 0 ? .o : .x
      let event = MatchEvent(
        at: 0, side: side, mid: nil, .move(ply: 1 + index, cell: CellName(Cell(cell), in: .classic), spent: 1))
      try? view?.state.append(event, body: event.body)
    }
    window.views[TestWindow.m] = view
    window.online([TestWindow.m])
    window.step(.network(.state(TestWindow.m), view))
    #expect(PremoveTests.moves(window.effects) == (missed == 1 ? [4, 8] : [4]))
    #expect(PremoveTests.premove(window) == nil)
  }

  @Test func `a premove is sent in the step in which the opponent's move arrives, so that it costs no time`() {
    var window = PremoveTests.match()
    window.want(.play(Cell(8)))
    window.now += 3
    window.step(.tick)
    #expect(PremoveTests.moves(window.effects) == [4], "nothing is sent before")
    let view = window.views[TestWindow.m]
    let move = MatchEvent(
      at: 0, side: .o, mid: nil, .move(ply: 1, cell: CellName(Cell(0), in: .classic), spent: 3_000))
    var next = view
    try? next?.state.append(move, body: move.body)
    let effects = window.state.step(.network(.event(TestWindow.m, seq: 3, move), next), window.board, at: window.now)
    #expect(PremoveTests.moves(effects) == [8])
  }

  @Test func `a premove ends with its match`() {
    var window = PremoveTests.match()
    window.want(.play(Cell(8)))
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    #expect(PremoveTests.premove(window) == nil && PremoveTests.moves(window.effects) == [4])
  }

  @Test func `spectators and local games have no premoves`() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.want(.watch(id: TestWindow.m.rawValue))
    window.start(you: nil)
    #expect(window.want(.play(Cell(8))).contains(.refuse) && PremoveTests.premove(window) == nil)
    var local = TestWindow()
    local.want(.play(Cell(4)))
    #expect(local.want(.play(Cell(8))).contains(.refuse) && PremoveTests.premove(local) == nil)
  }
}
