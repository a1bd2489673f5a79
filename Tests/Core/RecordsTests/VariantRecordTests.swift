import Base
import Records
import Testing
import TicTacToe

@Suite("Records of Infinite and Ultimate") struct VariantRecordTests {
  /// Random moves. If the game is not over after `plies`, the side to move resigns.
  static func randomGame(
    from start: VariantState, _ generator: inout SplitMix64, plies: Int = .max
  ) throws -> Game {
    var game = Game(from: start)
    while !game.isOver, game.cells.count < plies {
      try game.play(game.state.moves.randomCell(using: &generator))
    }
    if !game.isOver { try game.lose(game.turn, by: .resignation) }
    return game
  }

  @Test(arguments: Variant.allCases.filter { !$0.isImplied })
  func `text and JSON keep every game with all its data`(variant: Variant) throws {
    var generator = SplitMix64(seed: 11)
    var lengths: Set<Int> = []
    for round in 0..<300 {
      var start = VariantState(startOf: variant)
      if round % 3 == 1 {
        // Some games start from a position that was written as text and read again.
        let middle = try VariantRecordTests.randomGame(from: start, &generator, plies: 3 + generator.below(4))
        if middle.state.outcome == nil { start = try VariantState(variant, notation: middle.state.notation) }
      }
      let plies = round % 2 == 0 ? Int.max : 2 + generator.below(9)
      let game = try VariantRecordTests.randomGame(from: start, &generator, plies: plies)
      lengths.insert(game.cells.count)
      var record = Record(game: game)
      record.times = game.cells.map { _ in .init(elapsed: Int64(generator.below(5000)), frame: 7) }
      record[player: .o] = "levels:3"
      try record.addComment("the last", ply: game.cells.count)
      record.addBar(5, ply: game.cells.count)
      #expect(record.text.contains("[Variant \"\(variant.title)\"]") && !record.text.contains("[Rules "))
      #expect(try Record(text: record.text, variants: [variant]) == record, "\(record.text)")
      #expect(try Record(jsonLine: record.jsonLine, variants: [variant]) == record, "\(record.jsonLine)")
      // Without `variants` a reader allows Classic only.
      #expect(throws: NotationError.self) { try Record(text: record.text) }
      #expect(throws: NotationError.self) { try Record(jsonLine: record.jsonLine) }
    }
    #expect(lengths.count > (variant.isLong ? 15 : 8))
  }

  @Test(arguments: [
    ("[Variant \"Chess\"] *", 11, "the game 'Chess' is unknown; allowed: \(Variant.names)"),
    ("[Variant \"Infinite\"] 1. e5 *", 25, "'e5' is neither a move (a1–c3 or 1–9) nor a result"),
    ("[Variant \"Ultimate\"] 1. 5 *", 25, "'5' is neither a move (a1–i9) nor a result"),
    ("[Variant \"Ultimate\"] 1. e5 a1 *", 28, "'a1' is not on board b2, to which the last move sends"),
    ("[Variant \"Ultimate\"] 1. e5 e5 *", 28, "'e5' is taken"),
    ("[Variant \"Infinite\"] 1. a1 b1 2. a2 b2 3. c3 c2 4. a1 *", 52, "'a1' is taken"),
    ("[Variant \"Infinite\"] 1. a1 b1 2. a2 b2 3. a3 c1 *", 46, "the game is over before 'c1'"),
    ("[Variant \"Infinite\"] 1. a1 b1 2. a2 b2 3. a3 0-1", 46, "the board says 1-0, not 0-1"),
    ("[Variant \"Infinite\"] [FEN \"3/3/3 x\"] *", 28, "'3/' is not a cell"),
    ("[Variant \"Ultimate\"] [Termination \"normal\"] 1. e5 1-0", 36, "the board has not ended this game"),
    ("[Variant \"Ultimate\"] [Rules \"chess\"] *", 30, "rules 'chess' are unknown"),
  ])
  func `moves against the rules are refused at their column`(text: String, column: Int, says: String) {
    let error = #expect(throws: NotationError.self) { try Record(text: text, variants: Variant.allCases) }
    #expect(error?.column == column && error?.message.contains(says) == true, "\(text): \(error?.description ?? "")")
  }

  @Test(arguments: [
    (#"{"rules":"chess","moves":"","result":"*"}"#, "member 'rules' must be \(Variant.names)"),
    (#"{"rules":"ultimate","moves":"e5a1","result":"*"}"#, "'a1' is not on board b2"),
    (#"{"rules":"infinite","moves":"e5","result":"*"}"#, "'e5' in 'moves' is not a cell (a1–c3)"),
    (#"{"moves":"e5","result":"*"}"#, "'e5' in 'moves' is not a cell (a1–c3)"),
  ])
  func `an invalid line of JSON is refused with the reason`(line: String, says: String) {
    let error = #expect(throws: NotationError.self) { try Record(jsonLine: line, variants: Variant.allCases) }
    #expect(error?.message.contains(says) == true, "\(line): \(error?.description ?? "")")
  }

  @Test func `corrupted records of Infinite and Ultimate crash no reader, and those accepted are read back unchanged`()
    throws
  {
    var generator = SplitMix64(seed: 5)
    var (read, refused) = (0, 0)
    for round in 0..<4_000 {
      let variant = round % 2 == 0 ? Variant.infinite : .ultimate
      let game = try VariantRecordTests.randomGame(from: VariantState(startOf: variant), &generator, plies: 20)
      var bytes = Array(round % 4 < 2 ? Record(game: game).text.utf8 : Record(game: game).jsonLine.utf8)
      let place = generator.below(bytes.count)
      switch generator.below(3) {
      case 0: bytes[place] = UInt8(generator.below(128))
      case 1: bytes.removeSubrange(place..<min(place + generator.below(4), bytes.count))
      default: bytes.swapAt(place, generator.below(bytes.count))
      }
      let text = String(decoding: bytes, as: UTF8.self)
      do {
        let record =
          round % 4 < 2
          ? try Record(text: text, variants: Variant.allCases)
          : try Record(jsonLine: text, variants: Variant.allCases)
        #expect(try Record(text: record.text, variants: Variant.allCases) == record)
        read += 1
      } catch { refused += 1 }
    }
    #expect(read > 200 && refused > 200, "\(read) read, \(refused) refused")
  }
}

@Suite("Links of the longer games") struct VariantLinkTests {
  @Test func `a window's game of Ultimate with seventy plies has a link under 1,000 characters`() throws {
    var generator = SplitMix64(seed: 8)
    var game = Game(from: VariantState(startOf: .ultimate))
    while game.cells.count < 70 {
      game = try VariantRecordTests.randomGame(from: VariantState(startOf: .ultimate), &generator)
    }
    var record = Record(game: game)
    var frame: Int64 = 480_000
    record.times = game.cells.map { _ in
      let elapsed = Int64(1_200 + generator.below(9_000))
      // 48 frames are a millisecond. The music delays a move to the next beat.
      frame += elapsed * 48 + Int64(generator.below(40_000))
      return .init(elapsed: elapsed, frame: frame)
    }
    for ply in 0...game.cells.count { record.addBar(generator.below(12), ply: ply) }
    (record.seed, record.startFrame) = (3_141_592_653, 12_000)
    (record[player: .x], record[player: .o]) = ("Vera", "levels:4")
    record[tag: "Date"] = "2026.11.24"
    let link = try #require(record.link)
    #expect(link.utf8.count < 1_000, "\(link.utf8.count) characters for \(game.cells.count) plies")
    #expect(try Record(link: link) == record)
  }
}

@Suite("Games of any variant") struct VariantGameTests {
  @Test(arguments: Variant.allCases) func `undo restores the game before the move`(variant: Variant) throws {
    var generator = SplitMix64(seed: 3)
    for _ in 0..<50 {
      var game = Game(from: VariantState(startOf: variant))
      var before: [Game] = []
      while !game.isOver {
        before.append(game)
        try game.play(game.state.moves.randomCell(using: &generator))
      }
      #expect(game.end?.outcome == game.state.outcome && game.state.moves.isEmpty)
      #expect(throws: RuleViolation.gameIsOver) { try game.play(Cell(0)) }
      while let expected = before.popLast() {
        #expect(game.undo() != nil)
        #expect(game == expected)
      }
      #expect(game.undo() == nil)
    }
  }

  @Test func `an illegal cell is refused and changes nothing`() throws {
    var game = Game(from: VariantState(startOf: .ultimate))
    let centre = try #require(Variant.ultimate.cell(named: "e5"))
    try game.play(centre)
    let before = game
    let corner = try #require(Variant.ultimate.cell(named: "a1"))
    #expect(throws: RuleViolation.notAllowed(corner)) { try game.play(corner) }
    #expect(throws: RuleViolation.notAllowed(centre)) { try game.play(centre) }
    #expect(game == before && game.state.isMarked(centre) && !game.state.isMarked(corner))
  }
}
