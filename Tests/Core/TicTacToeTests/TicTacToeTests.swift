import Base
import Testing

@testable import TicTacToe

@Suite("Rules of Classic") struct RulesTests {
  @Test func `the eight lines are detected among any other marks`() {
    for mask in 0..<512 {
      let marks = SquareSet(rawValue: UInt16(mask))
      #expect(Line.hasLine(marks) == Line.all.contains { $0.isSubset(of: marks) })
      var completions: SquareSet = []
      for square in Square.all {
        let others = Line.all.filter { $0.contains(square) }.map { $0.subtracting(SquareSet(square)) }
        if others.contains(where: { $0.isSubset(of: marks) }) { completions.insert(square) }
      }
      #expect(Line.completions(of: marks) == completions, "mask \(mask)")
    }
  }

  @Test func `exactly the boards that legal play reaches count as reachable`() {
    var reached: Set<Position> = [.start]
    var row = [Position.start]
    while !row.isEmpty {
      let next = row.flatMap { position in position.legalMoves.map { position.playing($0) } }
      row = next.filter { reached.insert($0).inserted }
    }
    #expect(reached.count == 5_478)
    for x in 0..<UInt16(512) {
      for o in 0..<UInt16(512) {
        let position = Position(x: SquareSet(rawValue: x), o: SquareSet(rawValue: o))
        if position.isReachable != reached.contains(position) { Issue.record("\(x)/\(o)") }
      }
    }
    #expect(!Position(x: SquareSet(rawValue: 0x200), o: []).isReachable)
  }

  @Test func `all 255,168 games, played by the type Game, have the known numbers of results`() throws {
    var results: [Outcome: Int] = [:]
    func visit(_ game: Game) throws {
      if let end = game.end {
        #expect(end.termination == .normal)
        results[try #require(end.outcome), default: 0] += 1
        return
      }
      for square in game.position.legalMoves {
        var next = game
        try next.play(square)
        if next.moves.count == 1 {
          #expect(throws: RuleViolation.notAllowed(Cell(square.index))) { try next.play(square) }
        }
        try visit(next)
      }
    }
    try visit(Game())
    #expect(results[.win(.x)] == 131_184)
    #expect(results[.win(.o)] == 77_904)
    #expect(results[.draw] == 46_080)
  }

  @Test func `a finished game refuses further commands`() throws {
    var game = Game()
    for name in ["a1", "b1", "a2", "b2", "a3"] { try game.play(Square(name: name)!) }
    #expect(game.end == GameEnd(outcome: .win(.x), termination: .normal))
    #expect(throws: RuleViolation.gameIsOver) { try game.play(Square(name: "c3")!) }
    #expect(throws: RuleViolation.gameIsOver) { try game.lose(.x, by: .resignation) }
  }

  @Test func `draw offers last until the next move or the end`() throws {
    var game = Game()
    game.drawOffer = .x
    try game.play(Square(4))
    #expect(game.drawOffer == nil)
    game.drawOffer = .o
    game.finish(GameEnd(outcome: .draw, termination: .agreement))
    #expect(game.drawOffer == nil && game.end == GameEnd(outcome: .draw, termination: .agreement))
  }

  @Test func `undo takes back a move together with the end and the awakening (sure win) that it caused`() throws {
    var game = Game()
    #expect(game.undo() == nil)
    for name in ["a1", "b1", "a2", "c1"] { try game.play(Square(name: name)!) }
    let before = game
    try game.play(Square(name: "a3")!)
    #expect(game.isOver)
    #expect(game.undo() == Cell(0))
    #expect(game == before)
    try game.lose(.x, by: .time)
    #expect(game.undo() != nil)
    #expect(!game.isOver)
  }
}

@Suite("SplitMix64") struct SplitMix64Tests {
  @Test func `the numbers of a seed match the published ones`() {
    // The first outputs for seed 1234567 of Vigna's reference implementation.
    var generator = SplitMix64(seed: 1_234_567)
    let expected: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
      16_408_922_859_458_223_821,
    ]
    #expect((0..<5).map { _ in generator.next() } == expected)
  }

  @Test func `random numbers below a bound occur equally often`() {
    for bound in 1...9 {
      var counts = [Int](repeating: 0, count: bound)
      var generator = SplitMix64(seed: 3, index: UInt64(bound))
      for _ in 0..<90_000 { counts[generator.below(bound)] += 1 }
      let mean = 90_000.0 / Double(bound)
      #expect(counts.allSatisfy { abs(Double($0) - mean) < 5 * mean.squareRoot() }, "\(counts)")
    }
  }
}
