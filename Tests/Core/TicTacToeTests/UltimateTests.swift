import Base
import TestSupport
import Testing

@testable import TicTacToe

@Suite("Ultimate") struct UltimateTests {
  @Test func `perft matches published counts and a slow implementation`() {
    let known = [1, 81, 720, 6336, 55_080, 473_256, 4_020_960, 33_782_544]
    for depth in 0...7 { #expect(Ultimate.perft(Ultimate.start, depth: depth) == known[depth]) }
    for depth in 0...(runsAll ? 6 : 5) { #expect(SlowUltimate().perft(depth) == known[depth]) }
  }

  @Test func `random games agree with a slow implementation`() {
    let games = amount("ALINA_ULTIMATE_GAMES", quick: 3000, all: 300_000)
    let variant = Variant.ultimate
    var ends: [UInt8: Int] = [:]
    for game in 0..<games {
      var generator = SplitMix64(seed: 30, index: UInt64(game))
      var (state, slow) = (Ultimate.start, SlowUltimate())
      var outcome: Outcome?
      while outcome == nil {
        var expected = MoveSet()
        for move in slow.moves { expected.insert(variant.cell(row: move.row, column: move.column)) }
        let moves = Ultimate.moves(state)
        // A testing macro in each of 5·10⁷ plies would take longer than the plies, so an issue is recorded only on failure.
        guard moves == expected, (Ultimate.turn(in: state) == .x) == (slow.mover == SlowUltimate.x) else {
          Issue.record("game \(game): other moves than the slow implementation's in \(Ultimate.notation(of: state))")
          return
        }
        let cell = moves.randomCell(using: &generator)
        outcome = Ultimate.play(cell, &state)
        slow.play(row: variant.row(of: cell), column: variant.column(of: cell))
      }
      let letter =
        switch outcome {
        case .win(.x): SlowUltimate.x
        case .win(.o): SlowUltimate.o
        default: UInt8(ascii: "=")
        }
      guard letter == slow.result, Ultimate.moves(state).isEmpty, Ultimate.outcome(of: state) == outcome else {
        Issue.record("game \(game): another end than the slow implementation's in \(Ultimate.notation(of: state))")
        return
      }
      ends[letter, default: 0] += 1
    }
    #expect([SlowUltimate.x, SlowUltimate.o, UInt8(ascii: "=")].allSatisfy { ends[$0, default: 0] > games / 10 })
  }

  @Test func `every state of random games is read back from its text`() throws {
    for game in 0..<amount("ALINA_ULTIMATE_TEXTS", quick: 200, all: 5000) {
      var generator = SplitMix64(seed: 31, index: UInt64(game))
      var state = Ultimate.start
      repeat {
        let text = Ultimate.notation(of: state)
        try #require(try Ultimate.state(notation: text) == state, "\(text)")
      } while Ultimate.play(Ultimate.moves(state).randomCell(using: &generator), &state) == nil
      #expect(try Ultimate.state(notation: Ultimate.notation(of: state)) == state)
    }
    #expect(Ultimate.notation(of: Ultimate.start) == "9/9/9/9/9/9/9/9/9 x -")
    var state = Ultimate.start
    _ = Ultimate.play(try #require(Variant.ultimate.cell(named: "d4")), &state)
    #expect(Ultimate.notation(of: state) == "9/9/9/9/9/3X5/9/9/9 o a1")
  }

  @Test(arguments: [
    ("9/9/9/9/4X4/9/9/9 o b2", 18, "'/' must follow row 8 of 9"),
    ("9/9/9/9/4Y4/9/9/9/9 o b2", 10, "a row is written with X, O and 1–9 for empty cells"),
    ("9/9/9/9/4X5/9/9/9/9 o b2", 11, "row 5 has more than 9 cells"),
    ("9/9/9/9/4X4/9/9/9/9 x b2", 21, "the marks say that O is to move"),
    ("9/9/9/9/4X4/9/9/9/9 o d2", 23, "'d2': the board to play in is a1–c3, or - for any"),
    ("9/9/9/9/4X4/9/9/9/9 o -", 23, "no board is won or full, so that the board to play in must be named"),
    ("9/9/9/9/4X4/9/9/9/9 o a1", 23, "no move of X sends to board a1"),
    ("9/9/9/9/9/9/9/9/9 x a1", 21, "the board to play in is - before the first move and after the last"),
    ("9/9/9/9/3XX4/9/9/9/9 o b2", 1, "2 X against 0 O: X moves first and sides alternate"),
    ("9/9/9/9/4X4/9/9/9/9 o b2 3", 26, "nothing may follow the board to play in"),
    ("XXX6/OOO6/9/9/9/9/9/9/9 x a1", 1, "both sides have a line on board a3"),
    ("XXXO5/O2O5/O2O5/9/9/9/9/9/9 o a3", 1, "3 X against 5 O: X moves first and sides alternate"),
    ("XXXO5/O8/9/9/9/9/9/9/9 o a3", 26, "board a3 is won or full"),
  ])
  func `an invalid state text is refused with its place`(text: String, column: Int, message: String) {
    #expect(throws: NotationError(column: column, message: message)) { try Ultimate.state(notation: text) }
  }

  @Test func `names, rows and columns of the 81 cells agree`() throws {
    let variant = Variant.ultimate
    var names: Set<String> = []
    for index in 0..<81 {
      let cell = Cell(index)
      #expect(variant.cell(row: variant.row(of: cell), column: variant.column(of: cell)) == cell)
      #expect(variant.cell(named: variant.name(of: cell)) == cell)
      names.insert(variant.name(of: cell))
    }
    #expect(names.count == 81)
    // a1 is the bottom left cell of the bottom left board, e5 the middle cell of the centre board.
    #expect(variant.cell(named: "a1") == Cell(9 * 6 + 6))
    #expect(variant.cell(named: "e5") == Cell(9 * 4 + 4))
    for wrong in ["", "a", "a0", "j1", "a10", "5", "A1"] { #expect(variant.cell(named: wrong) == nil) }
    for square in Square.all {
      #expect(Variant.classic.name(of: Cell(square.index)) == square.name)
      #expect(Variant.infinite.cell(named: square.name) == Cell(square.index))
    }
  }
}
