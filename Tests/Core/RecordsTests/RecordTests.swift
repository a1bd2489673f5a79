import Base
import Foundation
@testable import Records
import Oracle
import Testing

import TicTacToe

@Suite("Notation of positions and cells") struct NotationTests {
  @Test func `every position is written and read back`() throws {
    for position in Solver.positions {
      #expect(try Position(notation: position.notation) == position)
      let boardOnly = String(position.notation.split(separator: " ")[0])
      #expect(try Position(notation: boardOnly.lowercased()) == position)
    }
    #expect(Position.start.notation == "3/3/3 x")
    #expect(try Position(notation: "X1O/1X1/3 o")[Square(name: "c3")!] == .o)
  }

  @Test(arguments: [
    ("", 1), ("3/3", 4), ("3/3/3/3", 6), ("4/3/3 x", 1), ("3/3/22 x", 6), ("X2/3/3 x", 8), ("3/3/3 z", 7),
    ("3/3/3 x x", 9), ("XX1/3/3 x", 1), ("O2/3/3 o", 1), ("XXX/OO1/3 o", -1), ("XXX/OOO/3 x", 1), ("3/3/3x", 6),
    ("12X/3/3 o", 3), ("1X/3/3 o", 3), ("ä/3/3 x", 1), (String(repeating: "3/", count: 40), 1),
  ])
  func `an invalid position is refused at its column`(text: String, column: Int) {
    // A negative column marks a valid text: in XXX/OO1/3 X has won, but the position is possible.
    if column < 0 {
      #expect(throws: Never.self) { try Position(notation: text) }
      return
    }
    let error = #expect(throws: NotationError.self) { try Position(notation: text) }
    #expect(error?.column == column, "\(text): \(error?.description ?? "")")
  }

  @Test func `cells have chess-like names and digits in reading order`() {
    #expect(Square.all.map(\.name) == ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"])
    for square in Square.all {
      #expect(Square(name: square.name) == square)
      #expect(Square(name: "\(square.index + 1)") == square)
    }
    for bad in ["", "a", "a0", "a4", "d1", "0", "10", "A1", "a1 ", "é1"] { #expect(Square(name: bad) == nil) }
  }
}

@Suite("Game records") struct RecordTests {
  static func full() throws -> Record {
    var game = Game()
    for name in ["b2", "a1", "c1"] { try game.play(Square(name: name)!) }
    try game.lose(.o, by: .resignation)
    var record = Record(game: game)
    record.times = [
      .init(elapsed: 1500, clock: 298_500, frame: 48_000), .init(elapsed: 61_001, clock: 3_600_000, frame: 144_123),
      .init(frame: 0),
    ]
    record[player: .x] = "Ann \"the \\ cat\""
    record[player: .o] = "levels:3"
    record[tag: "Date"] = "2026.11.21"
    record.seed = .max
    record.scoreRules = Record.ScoreRules(name: "night, sparse", hash: "0123abc")
    record.timeControl = "300+3"
    record[tag: "Reason"] = "line\nend"
    record.startFrame = 12
    record.endFrame = 999_999
    record.addBar(7, ply: 0)
    record.addBar(3, ply: 2)
    for candidate in [1, 0, 11, 1_000_000] { record.addBar(candidate, ply: 3) }
    try record.addComment("before\nall", ply: 0)
    try record.addComment("  the centre [%foo 1] ♯ ", ply: 1)
    try record.addComment("a second one", ply: 1)
    try record.addComment("gives up", ply: 3)
    return record
  }

  @Test func `a record with every kind of data is read back as it was written`() throws {
    let text = try RecordTests.full().text
    #expect(
      text == """
        [Event "?"]
        [Site "?"]
        [Date "2026.11.21"]
        [Round "?"]
        [White "Ann \\"the \\\\ cat\\""]
        [Black "levels:3"]
        [Result "1-0"]
        [Seed "18446744073709551615"]
        [Rules "standard"]
        [ScoreRules "night, sparse 0123abc"]
        [TimeControl "300+3"]
        [Termination "resignation"]
        [Reason "line end"]

        {[%frame 12] [%bar 7]} {before
        all} 1. b2 {[%emt 0:00:01.500] [%clk 0:04:58.500] [%frame 48000]}
        {the centre [%foo 1] ♯} {a second one} 1... a1
        {[%emt 0:01:01.001] [%clk 1:00:00] [%frame 144123] [%bar 3]} 2. c1
        {[%frame 0] [%bar 1,0,11,1000000] [%end 999999]} {gives up} 1-0

        """)
  }

  @Test func `a record survives a round trip through text and JSON`() throws {
    let record = try RecordTests.full()
    #expect(try Record(text: record.text) == record)
    #expect(try Record(jsonLine: record.jsonLine) == record)
    #expect(!record.jsonLine.contains("\n"))
    #expect((try? JSONSerialization.jsonObject(with: Data(record.jsonLine.utf8))) != nil)
    #expect(try Record(text: record.text).text == record.text)
    #expect(record.seed == .max)
    #expect(record.scoreRules == Record.ScoreRules(name: "night, sparse", hash: "0123abc"))
    #expect(record.bars(ply: 3) == [1, 0, 11, 1_000_000])
    #expect(record.bars(ply: 1) == [])
    #expect(record.bars(ply: 99) == [])
  }

  @Test func `games of any length with every kind of end are read back`() throws {
    var generator = SplitMix64(seed: 1)
    var texts = ""
    var records: [Record] = []
    for index in 0..<3000 {
      var game = Game(start: Solver.positions[generator.below(5478)])
      var times: [Record.MoveTimes] = []
      while !game.isOver, generator.below(9) > 0 {
        let moves = Array(game.position.legalMoves)
        try game.play(moves[generator.below(moves.count)])
        times.append(
          .init(
            elapsed: index % 2 == 0 ? Int64(generator.below(1 << 30)) : nil,
            clock: index % 3 == 0 ? Int64(generator.below(1 << 20)) * 1000 : nil,
            frame: index % 5 == 0 ? Int64(generator.below(1 << 31)) : nil))
      }
      if !game.isOver {
        switch index % 7 {
        case 0: game.finish(GameEnd(outcome: nil, termination: .abandoned))
        case 1: try game.lose(.x, by: .time)
        case 2: try game.lose(.o, by: .forfeit)
        case 3: game.finish(GameEnd(outcome: .draw, termination: .agreement))
        case 4: game.drawOffer = .o
        default: break
        }
      }
      var record = Record(game: game)
      record.times = times
      record[tag: "Round"] = "\(index)"
      for ply in 0...game.moves.count where generator.below(2) == 0 { record.addBar(generator.below(12), ply: ply) }
      #expect(try Record(text: record.text) == record, "\(record.text)")
      #expect(try Record(jsonLine: record.jsonLine) == record, "\(record.jsonLine)")
      records.append(record)
      texts += record.text + "\n"
    }
    #expect(try Record.all(in: texts) == records)
  }

  @Test func `records of other programs are read`() throws {
    let foreign = """
      \u{FEFF}% an escaped line
      [Event "x"] [Site "?"]
      [X "me"]
      [O "you"]
      [Result "0-1"]
      [Termination "time forfeit"]

      1.5 {[%emt 1.5]} 1. ... 1 2. a1 ; to the end of the line
      {a} 0-1

      """
    let record = try Record(text: foreign)
    #expect(record.game.moves.map(\.name) == ["b2", "a3", "a1"])
    #expect(record.times == [.init(elapsed: 1500)])
    #expect(record[player: .x] == "me")
    #expect(record.comments.map(\.text) == ["to the end of the line", "a"])
    #expect(record.game.end == GameEnd(outcome: .win(.o), termination: .time))
    #expect(try Record(text: record.text) == record)
    #expect(try Record(text: "*").game.moves.isEmpty)
    #expect(try Record(text: "1. a1 b2 1-0").game.end?.termination == .resignation)
    #expect(try Record(text: "1. a1 b2 1/2-1/2").game.end?.termination == .agreement)
    let line = #"{"game":12,"x":"random","o":"perfect","moves":"b2a1","result":"*","unknown":[1,{"a":null}]}"#
    #expect(try Record(jsonLine: line)[tag: "Round"] == "12")
    // An adjudicated game is read as a draw by agreement or as a resignation.
    for (result, termination) in [("1/2-1/2", Termination.agreement), ("0-1", .resignation)] {
      let cut = #"{"game":1,"moves":"b2a1","result":"\#(result)","termination":"adjudication"}"#
      #expect(try Record(jsonLine: cut).game.end?.termination == termination)
    }
  }

  @Test(arguments: [
    ("", 1, 1, "no game"),
    ("1. b2", 1, 6, "no result"),
    ("1. b2 b2 *", 1, 7, "is taken"),
    ("1. b2\n  a9 *", 2, 3, "neither a move"),
    ("2. b2 *", 1, 1, "move number"),
    ("1. b2 1. a1 2. a1 *", 1, 16, "is taken"),
    ("1. b2 a1 2. b1 a2 3. b3 a3 1-0", 1, 25, "over"),
    ("1. b2 a1 2. b1 a2 3. b3 0-1", 1, 25, "board says 1-0"),
    ("1. b2 a1 2. b1 a2 3. b3 *", 1, 25, "board says 1-0"),
    ("[Termination \"time\"]\n1. b2 a1 2. b1 a2 3. b3 1-0", 1, 15, "normal"),
    ("[Termination \"normal\"]\n1. b2 1-0", 1, 15, "has not ended"),
    ("[Termination \"boredom\"]\n1. b2 1-0", 1, 15, "unknown; allowed"),
    ("[Result \"1-0\"]\n1. b2 0-1", 1, 10, "tag Result"),
    ("[Rules \"misere\"]\n*", 1, 9, "standard"),
    ("[FEN \"XX1/3/3 x\"]\n*", 1, 7, "alternate"),
    ("[FEN \"3/4/3 x\"]\n*", 1, 9, "a row is"),
    ("[SetUp \"1\"]\n*", 1, 9, "FEN"),
    ("[Seed \"-1\"]\n*", 1, 8, "seed"),
    ("[Seed \"1\"]\n[Seed \"2\"] *", 2, 1, "twice"),
    ("[X \"a\"][White \"b\"] *", 1, 8, "twice"),
    ("[DrawOffer \"z\"]\n*", 1, 13, "x or o"),
    ("[Event \"a\nb\"] *", 1, 10, "line end"),
    ("[Event \"a\\n\"] *", 1, 11, "after"),
    ("[Event a] *", 1, 8, "quotes"),
    ("[Event \"a\" *", 1, 12, "']'"),
    ("[Event \"a", 1, 1, "not closed"),
    ("[ \"a\"] *", 1, 3, "name"),
    ("{open *", 1, 1, "not closed"),
    ("1. b2 {[%emt x]} *", 1, 8, "h:mm:ss"),
    ("{[%emt 0:00:01]} *", 1, 2, "after a move"),
    ("1. b2 {[%clk 99999999:00:00]} *", 1, 8, "h:mm:ss"),
    ("1. b2 {ab [%frame -1]} *", 1, 11, "frame number"),
    ("1. b2 {[%emt[%frame 2] 1]} *", 1, 8, "not finished"),
    ("1. b2 {[%bar 1,,2]} *", 1, 8, "candidate"),
    ("1. b2 {[%bar 1000001]} *", 1, 8, "candidate"),
    ("1. b2 (1. a1) *", 1, 7, "variations"),
    ("1. b2 $1 *", 1, 7, "glyphs"),
    ("1. b2\n[Event \"a\"] *", 2, 1, "tag inside"),
    ("é é", 1, 1, "neither"),
    ("1. b2 é *", 1, 7, "neither"),
    ("{é} é *", 1, 5, "neither"),
    ("1. b2 \u{1}", 1, 7, "control"),
    ("1. b2 } *", 1, 7, "neither"),
    ("1. b2 ; a } b\n*", 1, 11, "'}'"),
    ("* *", 1, 1, "more than one"),
    ("[Variant \"Ultimate\"] 1. e5 *", 1, 11, "games of ultimate are not read here; allowed: classic"),
  ])
  func `an invalid record is refused with its line and column`(text: String, line: Int, column: Int, says: String) {
    let error = #expect(throws: NotationError.self) { try Record(text: text) }
    #expect(error?.line == line && error?.column == column, "\(text): \(error?.description ?? "")")
    #expect(error?.message.contains(says) == true, "\(text): \(error?.description ?? "")")
    #expect(error?.message.contains("\n") == false)
  }

  @Test func `a record that exceeds a limit of size is refused`() {
    let long = String(repeating: "a", count: 2000)
    #expect(throws: NotationError.self) { try Record(text: "[Event \"\(long)\"] *") }
    #expect(throws: NotationError.self) { try Record(text: "[\(long) \"\"] *") }
    #expect(throws: NotationError.self) { try Record(text: "{\(long)\(long)\(long)} *") }
    #expect(throws: NotationError.self) { try Record(text: String(repeating: "{a}", count: 257) + "*") }
    #expect(throws: NotationError.self) { try Record(text: (0..<65).map { "[T\($0) \"\"]" }.joined() + "*") }
    #expect(throws: NotationError.self) {
      try Record(text: "{[%bar \((0..<65).map { "\($0)" }.joined(separator: ","))]} *")
    }
    var reader = RecordReader(bytes: [UInt8](repeating: 0x20, count: Record.Limit.bytes + 1))
    #expect(throws: NotationError.self) { try reader.next() }
    var notText = RecordReader(bytes: Array("{".utf8) + [0xFF, 0xFE] + Array("} *".utf8))
    #expect(throws: NotationError.self) { try notText.next() }
  }

  @Test func `ten thousand corrupted records crash no reader, and those accepted are read back unchanged`() throws {
    let text = Array(try RecordTests.full().text.utf8)
    let line = Array(try RecordTests.full().jsonLine.utf8)
    var generator = SplitMix64(seed: 7)
    var (read, refused) = (0, 0)
    for index in 0..<10_000 {
      var bytes = index % 2 == 0 ? text : line
      for _ in 0...generator.below(4) {
        let place = generator.below(bytes.count)
        switch generator.below(4) {
        case 0: bytes[place] = UInt8(generator.below(256))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: bytes[place..<min(place + 20, bytes.count)], at: generator.below(bytes.count))
        default: bytes.removeSubrange(place..<min(place + generator.below(60), bytes.count))
        }
      }
      do {
        if index % 2 == 0 {
          var reader = RecordReader(bytes: bytes)
          while let record = try reader.next() {
            #expect(try Record(text: record.text) == record, "\(record.text)")
            read += 1
          }
        } else {
          let record = try Record(json: JSON(bytes: bytes))
          #expect(try Record(jsonLine: record.jsonLine) == record)
          read += 1
        }
      } catch {
        #expect(error.line >= 1 && error.column >= 1)
        refused += 1
      }
    }
    #expect(read > 500 && refused > 500, "\(read) read, \(refused) refused")
  }

  @Test(arguments: [
    #"[]"#, #"{"moves":"b2"}"#, #"{"moves":"b2a","result":"*"}"#, #"{"moves":"b2b2","result":"*"}"#,
    #"{"moves":"b2","result":"2-0"}"#, #"{"moves":"b2","result":"*","emt":[]}"#,
    #"{"moves":"b2","result":"*","emt":[-1]}"#, #"{"moves":"b2","result":"*","bars":[[],[],[]]}"#,
    #"{"moves":"b2","result":"*","bars":[["a"]]}"#, #"{"moves":"b2","result":"*","comments":[[2,"a"]]}"#,
    #"{"moves":"b2","result":"*","comments":[[1,"}"]]}"#, #"{"moves":"b2","result":"*","tags":{"FEN":"3/3/3 x"}}"#,
    #"{"moves":"b2","result":"*","tags":{"A\" x":"b"}}"#, #"{"moves":"b2","result":"*","result":"*"}"#,
    #"{"moves":"b2","result":"*"} x"#, #"{"moves":"b2","result":"*","startFrame":1.5}"#,
    #"{"moves":"b2","result":"*","emt":[01]}"#, #"{"moves":"b2","result":"*""#, #"{"moves":"b2\ud800","result":"*"}"#,
  ])
  func `an invalid line of JSON is refused`(line: String) {
    #expect(throws: NotationError.self) { try Record(jsonLine: line) }
  }

  @Test func `errors of JSON Lines name the line of the file`() {
    let error = #expect(throws: NotationError.self) { try Record(jsonLine: #"{"moves":"b2","#, line: 41) }
    #expect(error?.line == 41)
    #expect(error?.column == 15)
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: NotationError.self) { try Record(jsonLine: deep) }
  }

  @Test func `comments that the text form cannot hold are refused`() {
    var record = Record()
    #expect(throws: NotationError.self) { try record.addComment("a } b", ply: 0) }
    #expect(throws: NotationError.self) { try record.addComment("[%emt 1]", ply: 0) }
    #expect(throws: NotationError.self) { try record.addComment("a", ply: 1) }
    #expect(throws: NotationError.self) { try record.addComment("\u{0}", ply: 0) }
    #expect(record.comments.isEmpty)
  }
}
