import Interface
import Testing
import TicTacToe

@testable import WindowLogic

@Suite("Free play in the window's state")
struct FreePlayTests {
  @Test func `every cell may be touched again and again by two fingers, and nothing else sounds`() {
    var window = TestWindow()
    #expect(window.want(.touchBoard).contains(.beginFreePlay) && window.state.mode == .free)
    for _ in 0..<3 {
      #expect(window.want(.play(Cell(4))) == [.touch(Square(4), .x)])
      #expect(window.want(.touchAlso(Cell(4))) == [.touch(Square(4), .o)])
    }
    #expect(window.want(.preview(Cell(4))) == [.preview(nil)])
    #expect(window.want(.keepPiece) == [.file(.keepPiece)] && window.state.isBoardKept)
    #expect(window.want(.undo).contains(.refuse) && window.want(.resign).contains(.refuse))
  }

  @Test func `free play ends with Stop or another game, and does not begin in a running match`() throws {
    var window = TestWindow()
    window.want(.touchBoard)
    window.want(.stopListening)
    #expect(window.state.mode == .local && window.state.setup == GameSetup(x: .human, o: .level(3)))
    window.want(.touchBoard)
    window.want(.listen)
    #expect(window.state.mode == .listening)
    window.want(.touchBoard)
    #expect(window.state.offered == GameSetup(x: .human, o: .level(3)))
    window.want(.newGame(GameSetup(x: .human, o: .human)))
    #expect(window.state.mode == .local && window.want(.play(Cell(4))) == [.play(Cell(4))])
    #expect(window.want(.touchAlso(Cell(0))) == [.play(Cell(0))])
    var match = TestWindow()
    try match.connect(destination: .queue)
    match.online()
    match.start()
    #expect(TestWindow.words(match.want(.touchBoard)) == ["\(.finishFirst)"])
  }
}
