import Interface
import Testing
import TicTacToe

@testable import WindowLogic

extension TableTests {
  @Test(
    "after the daily puzzle, listening or a match the new-game page offers the player's own game and opponent"
  )
  func offered() {
    var window = TestWindow()
    let own = GameSetup(x: .human, o: .level(2), variant: .infinite)
    window.want(.newGame(own))
    #expect(window.state.offered == own)
    for intent in [Intent.today, .listen] {
      window.want(intent)
      #expect(window.state.setup != own && window.state.offered == own)
    }
  }

  @Test("the score continues over rematches, swaps sides with the players, and ends with another opponent")
  func score() {
    var window = TestWindow()
    window.want(.newGame(GameSetup(x: .human, o: .human)))
    window.want(.resign)
    window.step(.tick)
    window.step(.tick)
    #expect(window.state.score == .init(x: 0, o: 1))
    window.want(.rematch)
    window.step(.tick)
    #expect(window.state.score == .init(x: 1, o: 0))
    // Each rematch counts as a game, although no move is made.
    window.want(.rematch)
    window.want(.resign)
    window.step(.tick)
    #expect(window.state.score == .init(x: 0, o: 2))
    window.want(.rematch)
    window.want(.resign)
    window.step(.tick)
    #expect(window.state.score == .init(x: 2, o: 1))
    window.want(.newGame(GameSetup(x: .human, o: .perfect)))
    #expect(window.state.score == .init())
  }

  @Test("a win that is undone does not count, and counts once when played again")
  func scoreOfUndone() {
    var window = TestWindow()
    window.want(.newGame(GameSetup(x: .human, o: .human)))
    for cell in [0, 3, 1, 4, 2] { window.want(.play(Cell(cell))) }
    window.step(.tick)
    #expect(window.state.score == .init(x: 1, o: 0))
    window.want(.undo)
    window.step(.tick)
    #expect(window.state.score == .init())
    window.want(.play(Cell(2)))
    window.step(.tick)
    window.step(.tick)
    #expect(window.state.score == .init(x: 1, o: 0))
  }

  @Test("games of the listening mode are not counted")
  func scoreOfListening() {
    var window = TestWindow()
    window.want(.newGame(GameSetup(x: .human, o: .human)))
    window.want(.resign)
    window.step(.tick)
    window.want(.listen)
    #expect(window.state.score == .init())
    window.step(.tick)
    window.board.game = Game()
    try? window.board.game.lose(.x, by: .resignation)
    window.step(.tick)
    #expect(window.state.score == .init())
    window.want(.stopListening)
    window.step(.tick)
    #expect(window.state.score == .init())
  }
}
