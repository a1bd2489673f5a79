import Base
import TestSupport
import Testing

@testable import TicTacToe

@Suite("Infinite") struct InfiniteTests {
  /// Lists of cells, oldest first.
  private struct SlowInfinite {
    var marks: [Player: [Int]] = [.x: [], .o: []]
    var turn = Player.x
    var boards: [String: Int] = ["[][]x": 1]
    var plies = 0

    var moves: [Int] { (0..<9).filter { !marks[.x, default: []].contains($0) && !marks[.o, default: []].contains($0) } }

    mutating func play(_ cell: Int) -> Outcome? {
      var mine = marks[turn, default: []] + [cell]
      if mine.count == 4 { mine.removeFirst() }
      marks[turn] = mine
      plies += 1
      let lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
      if lines.contains(mine.sorted()) { return .win(turn) }
      turn = turn.opponent
      let text = "\(marks[.x, default: []])\(marks[.o, default: []])\(turn)"
      boards[text, default: 0] += 1
      return plies == 100 || boards[text] == 3 ? .draw : nil
    }
  }

  @Test func `random games agree with a slow implementation, and are read back from their texts`() throws {
    let games = amount("ALINA_INFINITE_GAMES", quick: 3000, all: 200_000)
    var ends: [Outcome: Int] = [:]
    for game in 0..<games {
      var generator = SplitMix64(seed: 32, index: UInt64(game))
      var (state, slow) = (Infinite.start, SlowInfinite())
      var outcome: Outcome?
      while outcome == nil {
        try #require(Infinite.moves(state).map(\.index) == slow.moves)
        try #require(Infinite.turn(in: state) == slow.turn && state.plies == slow.plies)
        let read = try Infinite.state(notation: Infinite.notation(of: state))
        try #require(read.board == state.board && read.plies == state.plies)
        let cell = Infinite.moves(state).randomCell(using: &generator)
        let oldestMark = state.board[state.board.turn].oldestMark
        outcome = Infinite.play(cell, &state)
        try #require(outcome == slow.play(cell.index))
        if let oldestMark { try #require(state.board.position[oldestMark] == nil) }
      }
      try #require(Infinite.moves(state).isEmpty)
      ends[try #require(outcome), default: 0] += 1
    }
    #expect(ends[.win(.x), default: 0] > ends[.win(.o), default: 0] && ends[.win(.o), default: 0] > games / 10)
  }

  /// X cycles over the cells in `x` and O over those in `o`, without completing a line.
  private func draw(x: [Int], o: [Int]) -> (outcome: Outcome?, plies: Int) {
    var state = Infinite.start
    for ply in 0..<200 {
      let cells = ply % 2 == 0 ? x : o
      let cell = Cell(cells[ply / 2 % cells.count])
      guard Infinite.moves(state).contains(cell) else { return (nil, state.plies) }
      if let outcome = Infinite.play(cell, &state) { return (outcome, state.plies) }
    }
    return (nil, 200)
  }

  @Test func `the third occurrence of a position with the same order of marks draws`() {
    let (outcome, plies) = draw(x: [0, 1, 5, 6], o: [2, 3, 7, 8])
    #expect(outcome == .draw)
    // The position after ply 6, the first with six marks, occurs again after plies 14 and 22.
    #expect(plies == 22)
  }

  @Test func `positions with different orders of marks are different`() {
    var (first, second) = (Infinite.start, Infinite.start)
    for cell in [0, 2, 1, 3, 5, 7] { _ = Infinite.play(Cell(cell), &first) }
    for cell in [1, 2, 0, 3, 5, 7] { _ = Infinite.play(Cell(cell), &second) }
    #expect(first.board.position == second.board.position)
    #expect(first.board != second.board && first.board.key != second.board.key)
  }

  @Test func `a game is drawn at its hundredth ply unless that ply wins`() throws {
    var state = try Infinite.state(notation: "a1b1c2/a3b3c1 x 98")
    #expect(Infinite.play(Cell(4), &state) == nil)
    #expect(state.plies == 99 && Infinite.moves(state).count == 3)
    #expect(Infinite.play(Cell(2), &state) == .draw)
    var won = try Infinite.state(notation: "a1b2c2/b1a3b3 o 99")
    #expect(Infinite.play(Cell(2), &won) == .win(.o))
  }

  @Test(arguments: [
    ("a3a2a1a1/- x 0", 7, "a side has at most 3 marks"),
    ("a3a3/c3 o 3", 3, "a3 is marked twice"),
    ("a3/a3 x 2", 4, "a3 is marked twice"),
    ("a3d1/c3 o 3", 3, "'d1' is not a cell; a side's marks are cells, a1–c3, or -"),
    ("a3 c3 o 3", 3, "'/' must follow X's marks"),
    ("a3b2/c3 x 3", 9, "after 3 plies O is to move"),
    ("a3b2/c3 o 5", 1, "after 5 plies X has 3 marks and O 2, not 2 and 1"),
    ("a3b2/c3 o 101", 11, "the plies played are a number, 0–100"),
    ("a3b2/c3 o", 10, "the plies played are a number, 0–100"),
    ("a3b2/c3 o 3 x", 13, "nothing may follow the plies played"),
    ("a3b3c3/a1b1 x 6", 1, "after 6 plies X has 3 marks and O 3, not 3 and 2"),
    ("a3b3c3/a1b1c2 x 6", 1, "no legal play reaches this position: the game would have ended before"),
  ])
  func `an invalid state text is refused with its place`(text: String, column: Int, message: String) {
    #expect(throws: NotationError(column: column, message: message)) { try Infinite.state(notation: text) }
  }
}

@Suite("Classic as a set of rules") struct ClassicRulesTests {
  @Test func `the rules of Classic give the known numbers of move sequences`() {
    let totals = (0...9).map { Classic.perft(Classic.start, depth: $0) }
    #expect(totals == [1, 9, 72, 504, 3_024, 15_120, 54_720, 148_176, 200_448, 127_872])
  }
}
