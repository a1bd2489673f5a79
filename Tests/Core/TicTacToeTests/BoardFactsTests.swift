import Testing
import TicTacToe

@Suite("Marks and cells that a board shows")
struct BoardFactsTests {
  private func facts(_ variant: Variant, _ names: String) throws -> BoardFacts {
    var game = Game(from: VariantState(startOf: variant))
    for name in names.split(separator: " ") { try game.play(try #require(variant.cell(named: name))) }
    return BoardFacts(of: game)
  }

  @Test("in Infinite the mark shown as the next to disappear is the oldest of three of the side to move")
  func oldestMark() throws {
    #expect(try facts(.infinite, "b2 a3 c1 b3").oldestMark == nil)
    let board = try facts(.infinite, "b2 a3 c1 b3 c3 a1")
    #expect(board.oldestMark == Cell(4) && board[Cell(4)] == .x && !board.allowed.contains(Cell(4)))
    let won = try facts(.infinite, "b2 a3 c1 b3 c3 a1 c2")
    #expect(won.oldestMark == nil && won[Cell(4)] == nil && won.lines == [MoveSet([Square(2), Square(5), Square(8)])])
  }

  @Test("in Ultimate the playable boards are lit: the board that the last move selected, or all open ones")
  func lit() throws {
    let start = try facts(.ultimate, "").boards
    #expect(start?.lit == .full && start?.target == nil)
    let sent = try facts(.ultimate, "e5 f6")
    #expect(sent.boards?.target == Square(2) && sent.allowed.count == 9)
    #expect(sent.allowed.allSatisfy { Variant.ultimate.board(of: $0) == Square(2) })
  }

  @Test("won boards have a winner, and an abandoned game has no playable cells")
  func boards() throws {
    let state = try VariantState(
      .ultimate, notation: "3X3X1/1O2O4/3O1X1X1/5X3/4X4/1X1X1O3/4XO1OO/O3O4/XO6X o c3")
    let boards = try #require(BoardFacts(state).boards)
    #expect(boards.winner(of: Square(4)) == .x && boards.winner(of: Square(0)) == nil)
    #expect(boards.closed == SquareSet(Square(4)) && boards.target == Square(2) && boards.lines.isEmpty)
    var game = Game(from: state)
    try game.lose(game.turn, by: .resignation)
    #expect(BoardFacts(of: game).allowed.isEmpty && BoardFacts(of: game).boards?.lit == [])
  }
}
