import Base
import Testing
import TicTacToe

@Suite("Facts of moves and refused cells") struct VariantMoveTests {
  @Test("a move of Ultimate wins or fills its board, sends to a board and wins the game as its marks say")
  func boards() throws {
    var (filled, won, free, ended) = (0, 0, 0, 0)
    for game in 0..<100 {
      var generator = SplitMix64(seed: 45, index: UInt64(game))
      var state = VariantState(startOf: .ultimate)
      while state.outcome == nil {
        let move = VariantMove(state.moves.randomCell(using: &generator), in: state)
        let lines = (0..<9).map { move.after.position(on: $0).completedLines(of: move.mover) }
        let isFull = move.after.position(on: move.board).empty.isEmpty
        let next = move.after.position(on: move.square.index)
        let isOpen = !next.empty.isEmpty && Player.allCases.allSatisfy { next.completedLines(of: $0).isEmpty }
        let mine: SquareSet = Square.all.filter { !lines[$0.index].isEmpty }.reduce(into: []) { $0.insert($1) }
        let completed = Line.all.filter { $0.isSubset(of: mine) && $0.contains(Square(move.board)) }
        try #require(move.cell == Cell(move.board * 9 + move.square.index) && move.ply == move.after.plies)
        try #require(move.winsBoard == !lines[move.board].isEmpty)
        try #require(move.fillsBoard == (isFull && lines[move.board].isEmpty))
        try #require(move.sendsTo == (isOpen && move.outcome == nil ? move.square.index : nil))
        try #require(Set(move.winningBoards) == Set(completed.flatMap { $0.map { $0.index } }))
        try #require(move.winningBoards.isEmpty || move.winningBoards.last == move.board)
        filled += move.fillsBoard ? 1 : 0
        won += move.winsBoard ? 1 : 0
        free += move.sendsTo == nil && move.outcome == nil ? 1 : 0
        ended += move.winningBoards.isEmpty ? 0 : 1
        state = move.after
      }
    }
    #expect([filled, won, free, ended].allSatisfy { $0 > 20 })
  }

  @Test("a refused cell is taken, on a board that is won, or on another board than the one to play in")
  func refusals() throws {
    let ultimate = try VariantState(
      .ultimate, notation: "3X3X1/1O2O4/3O1X1X1/5X3/4X4/1X1X1O3/4XO1OO/O3O4/XO6X o c3")
    for (name, why, isMarked) in [
      ("e5", "is taken", true), ("d5", "is on a board that is won or full", false),
      ("c1", "is not on board c3, to which the last move sends", false),
    ] {
      let cell = try #require(Variant.ultimate.cell(named: name))
      #expect(
        !ultimate.moves.contains(cell) && ultimate.refusal(of: cell) == why && ultimate.isMarked(cell) == isMarked)
    }
    for variant in Variant.allCases {
      var state = VariantState(startOf: variant)
      state.play(Cell(4))
      #expect(state.isMarked(Cell(4)) && state.refusal(of: Cell(4)) == "is taken")
      #expect(variant.cells.filter { state.isMarked($0) } == [Cell(4)])
    }
  }

  @Test("the cells of a game are numbered by board and by place on it")
  func cells() {
    for variant in Variant.allCases {
      #expect(variant.cells.map(\.index) == Array(0..<(variant.isOneBoard ? 9 : 81)))
      for cell in variant.cells {
        #expect(variant.board(of: cell)?.index == (variant.isOneBoard ? nil : cell.index / 9))
        #expect(variant.place(of: cell).index == cell.index % 9)
      }
    }
  }
}
