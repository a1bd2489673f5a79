import Base
import Foundation
import Opponents
import Oracle
import TestSupport
import Records
import Testing
import TicTacToe

@testable import Arena
@testable import ArenaTexts

@Suite("Runs of the arena") struct RunTests {
  /// Together these configurations use every kind of built-in player and every format.
  static func varied() throws -> [RunConfiguration] {
    var openings = try Support.match("levels:2", "win_block", games: 400, seed: 9)
    openings.openings = .random(plies: 2)
    var listed = try Support.match("trap", "levels:1", games: 60)
    listed.openings = try Openings(
      lines: ["b2 a1", "fen X1O/3/3 x", "# remark", "fen X1O/3/3 x moves b2 a1"], name: "list")
    var swiss = try Support.tournament(["random", "menace", "levels:3", "perfect", "adaptive"], .swiss, games: 20)
    swiss.rounds = 4
    var frozen = try Support.match("menace", "random", games: 100)
    frozen.isFrozen = true
    return [
      openings, listed, swiss, frozen,
      try Support.match("menace", "adaptive", games: 500),
      try Support.match("mcts:60", "levels:4", games: 40),
      try Support.tournament(["menace", "random", "adaptive", "levels:5", "mcts:20"], .roundRobin, games: 30),
      try Support.tournament(["perfect", "random", "menace"], .gauntlet, games: 200),
      try Support.tournament(["levels:6", "levels:5", "levels:4", "perfect", "random", "menace"], .knockout, games: 2),
    ]
  }

  @Test func `a run's file has the same bytes for any number of threads`() throws {
    try Support.withFolder { folder in
      for (number, configuration) in try RunTests.varied().enumerated() {
        let one = try Support.play(configuration, threads: 1, to: "\(folder)/\(number)-1")
        #expect(one.report.games > 0)
        for threads in [2, 3, 8] {
          let many = try Support.play(configuration, threads: threads, to: "\(folder)/\(number)-\(threads)")
          #expect(one.bytes == many.bytes, "\(configuration.headerLine), \(threads) threads")
        }
      }
    }
  }

  @Test func `a file cut off anywhere is resumed to the same bytes`() throws {
    var generator = SplitMix64(seed: 3)
    try Support.withFolder { folder in
      for (number, configuration) in try RunTests.varied().enumerated() {
        let whole = try Support.play(configuration, to: "\(folder)/\(number)").bytes
        let header = try #require(whole.firstIndex(of: 0x0A)) + 1
        var cuts = (0..<6).map { _ in header + generator.below(whole.count - header) }
        cuts += [header, whole.count - 1, whole.count]
        for cut in cuts {
          let path = "\(folder)/cut"
          try Data(whole[..<cut]).write(to: URL(filePath: path))
          var run = try Run(resuming: path, threads: 1 + generator.below(4), guardExecutable: Support.arena)
          let report = try run.play()
          let resumed = Array(try #require(FileManager.default.contents(atPath: path)))
          #expect(resumed == whole, "\(configuration.headerLine) cut at \(cut) of \(whole.count)")
          #expect(report.ending == .complete)
        }
      }
    }
  }

  @Test func `a resume with a changed setting is refused with the setting's name`() throws {
    try Support.withFolder { folder in
      let path = folder + "/a"
      let whole = try Support.play(try Support.match("random", "perfect", games: 20), to: path).bytes
      try Data(whole[..<(whole.count - 200)]).write(to: URL(filePath: path))
      func refused(_ name: String, _ change: @escaping (inout RunConfiguration) throws -> Void) {
        let error = #expect(throws: ArenaError.self) {
          _ = try Run(resuming: path, threads: 1, guardExecutable: Support.arena) {
            (configuration) throws(ArenaError) in
            do { try change(&configuration) } catch { throw ArenaError("\(error)") }
          }
        }
        #expect(error?.description.contains(name) == true, "\(error?.description ?? "")")
      }
      refused("seed") { $0.seed = 2 }
      refused("games") { $0.games = 40 }
      refused("players") { $0.entrants[0] = .init(try PlayerSpec("levels:1")) }
      refused("openings") { $0.openings = .random(plies: 1) }
      refused("sprt") { $0.sprt = try SPRT("elo0=0,elo1=5") }
      refused("frozen") { $0.isFrozen = true }
      refused("date") { $0.date = "2026.01.01" }
      refused("format") { $0.format = .roundRobin }
    }
  }

  @Test func `a resume starts no program before the file is compared, and none whose hash the file lacks`() throws {
    try Support.withFolder { folder in
      let path = folder + "/games"
      var configuration = try Support.match("cmd:sh -c 'touch started'", "random", games: 2)
      configuration.entrants[0].engine.folder = folder
      func refused(_ says: String, _ change: @escaping (inout RunConfiguration) -> Void = { _ in }) throws {
        try Data((configuration.headerLine + "\n").utf8).write(to: URL(filePath: path))
        let error = #expect(throws: ArenaError.self) {
          _ = try Run(resuming: path, threads: 1, guardExecutable: Support.arena) {
            (configuration) throws(ArenaError) in change(&configuration)
          }
        }
        #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
      }
      func isStarted() -> Bool { FileManager.default.fileExists(atPath: folder + "/started") }
      try refused("no SHA-256 of the program 'sh'")
      configuration.entrants[0].files = try configuration.entrants[0].fileHashes()
      try refused("seed is 1 in the file, now 2") { $0.seed = 2 }
      let engine = configuration.entrants[0]
      configuration.entrants[0].files[0].sha256 = "00"
      try refused("files of cmd:sh") { $0.entrants[0] = engine }
      #expect(!isStarted())
      configuration.entrants[0].files = engine.files
      try refused("sh")
      #expect(isStarted(), "the file's own program, which is no engine")
    }
  }

  @Test func `a resume of a changed or foreign file is refused with the number of the wrong line`() throws {
    try Support.withFolder { folder in
      let path = folder + "/a"
      let whole = try Support.play(try Support.match("random", "perfect", games: 20), to: path).bytes
      let text = String(decoding: whole, as: UTF8.self)
      func refused(_ changed: String, _ says: String) throws {
        try Data(changed.utf8).write(to: URL(filePath: path))
        let error = #expect(throws: ArenaError.self) {
          var run = try Run(resuming: path, threads: 1, guardExecutable: Support.arena)
          _ = try run.play()
        }
        #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
      }
      try refused("", "no header")
      try refused("{}\n", "line 1")
      try refused("hello\n", "line 1")
      let unfinished = text.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
      try refused(unfinished.replacing("\"seed\":\"1\"", with: "\"seed\": \"1\""), "line 1")
      try refused(unfinished.replacing("\"version\":2", with: "\"version\":1"), "line 1")
      try refused(unfinished.replacing("\"seed\":\"1\"", with: "\"seed\":\"2\""), "the header was changed")
      try refused(text.replacing("{\"game\":3,", with: "{\"game\":4,"), "line 5")
      try refused(text.replacing("{\"game\":3,", with: "x"), "line 5")
      let line = String(text.split(separator: "\n")[4])
      func turned(_ result: String) -> String { line.replacing(/"result":"[^"]+"/, with: "\"result\":\"\(result)\"") }
      let others = ["1-0", "0-1", "1/2-1/2"].map(turned).filter { $0 != line }
      for other in others { try refused(unfinished.replacing(line, with: other), "line 5: the game breaks the rules") }
      let moves = try #require(line.firstMatch(of: /"moves":"([a-c1-3]+)"/)).output.1
      for wrong in [moves.prefix(2) + moves.prefix(2), moves + "a1"] {
        try refused(
          unfinished.replacing(line, with: line.replacing(moves, with: wrong)), "line 5: ")
      }
      let legal = moves == "a1a2b1b2c1" ? "a1a3b1b3c1" : "a1a2b1b2c1"
      try refused(
        unfinished.replacing(line, with: turned("1-0").replacing("\"\(moves)\"", with: "\"\(legal)\"")),
        "line 5: the game differs from the one")
      try refused(
        unfinished.replacing("\"x\":0,\"o\":1", with: "\"x\":1,\"o\":0"),
        "line 2: the game's players are not those of the header")
      try refused(text + text.split(separator: "\n")[1] + "\n", "nothing may follow the footer")
      try refused(text.replacing("\"xWins\":", with: "\"xWins\":1"), "line 22: the footer is not that of these games")
      try refused(text.replacing(/"sha256":"[0-9a-f]+/, with: "\"sha256\":\"00"), "line 22: the hash does not fit")
    }
  }

  @Test func `a file in use by another run is refused, and free after that run`() throws {
    try Support.withFolder { folder in
      let path = folder + "/a"
      let whole = try Support.play(try Support.match("random", "perfect", games: 20), to: path).bytes
      try Data(whole[..<(whole.count - 200)]).write(to: URL(filePath: path))
      func resumed() throws -> Run { try Run(resuming: path, threads: 1, guardExecutable: Support.arena) }
      do {
        var first = try resumed()
        let error = #expect(throws: ArenaError.self) { _ = try resumed() }
        #expect(error?.description.contains("is being written by another run") == true)
        _ = try first.play()
      }
      _ = try resumed()
      #expect(FileManager.default.contents(atPath: path) == Data(whole))
      // The lock of `b.part` shows that another run is about to start `b`.
      let part = folder + "/b.part"
      try Data("header".utf8).write(to: URL(filePath: part))
      let other = try #require(FileHandle(forReadingAtPath: part))
      #expect(flock(other.fileDescriptor, LOCK_EX) == 0)
      #expect(throws: ArenaError.self) {
        try Support.play(try Support.match("random", "perfect", games: 2), to: folder + "/b")
      }
      #expect(FileManager.default.contents(atPath: part) == Data("header".utf8))
    }
  }

  @Test func `the hash in a file is the one that the documented command prints`() throws {
    try Support.withFolder { folder in
      let path = folder + "/a"
      _ = try Support.play(try Support.match("random", "random", games: 40_000), to: path)
      let script =
        "(head -n 1 $0 | sha256sum; tail -n +2 $0 | head -n -1 | split -l 16384 --filter=sha256sum) | sha256sum"
      let hex = try Child.run(["/bin/sh", "-c", script, path]).out.prefix(64)
      #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix("\"sha256\":\"\(hex)\"}\n"))
    }
  }

  @Test func `lines of games are read back as written`() {
    var generator = SplitMix64(seed: 11)
    for index in 0..<2000 {
      var position = Position.start
      var moves: [Square] = []
      while position.outcome == nil {
        let legal = Array(position.legalMoves)
        moves.append(legal[generator.below(legal.count)])
        position = position.playing(moves[moves.count - 1])
      }
      let ending: PackedGame.Ending = index % 3 == 0 ? .forfeit : index % 3 == 1 ? .time : .normal
      let outcome = ending == .normal ? position.outcome ?? .draw : .win(.o)
      let game = PackedGame(moves: moves, outcome: outcome, ending: ending)
      #expect(game.moves == moves && game.outcome == outcome && game.ending == ending)
      var notes: GameNotes?
      if ending != .normal { notes = GameNotes(reason: "said \"\\ \(index)") }
      if index % 4 == 0 {
        notes = notes ?? GameNotes()
        notes?.reports = moves.indices.map {
          $0 % 2 == 0 ? nil : MoveReport(evaluation: index % 8 == 0 ? "+0.31/\($0)" : nil, milliseconds: index)
        }
      }
      let line = LineBuffer(capacity: 16)
      let start = index % 5 == 0 && ending == .normal ? VariantState.classic(position) : nil
      GameLine.write(index: index * 499_999, x: 63, o: index % 64, start: start, game: game, notes: notes, to: line)
      let text = UnsafeRawBufferPointer(rebasing: line.written.dropLast())
      let content = GameLine.read(text)
      #expect(content?.index == index * 499_999 && content?.x == 63 && content?.o == index % 64)
      #expect(content?.game == game && content?.notes == notes && content?.start == start)
      // `Record` reads only lines of games that ended normally and began at the usual start.
      let record = try? Record(jsonLine: String(decoding: text, as: UTF8.self))
      #expect((record?.game.moves == moves) || ending != .normal || start != nil)
    }
  }

  @Test(arguments: ["-1", "-9223372036854775808", "31536000001", "9223372036854775807"])
  func `a game's line is refused if a move took less than nothing or more than a year`(time: String) {
    func isRead(_ times: String) -> Bool {
      let line = #"{"game":0,"x":0,"o":1,"moves":"a1a2b1b2c1","result":"1-0","emt":[\#(times)]}"#
      return Array(line.utf8).withUnsafeBytes { GameLine.read($0) != nil }
    }
    #expect(isRead("5,null,0,31536000000,7"))
    #expect(!isRead("5,null,0,7,\(time)"))
  }

  @Test func `headers of runs are read back as written`() throws {
    for configuration in try RunTests.varied() {
      #expect(try RunConfiguration(headerLine: configuration.headerLine) == configuration)
    }
    var full = try Support.match("cmd:./my-bot 'a b' \"c'd\"", "random", games: 10)
    full.entrants[0].id = "Bot \"1\""
    full.entrants[0].files = [.init(word: 0, sha256: "00"), .init(word: 2, sha256: "ff")]
    full.sprt = try SPRT("elo0=-1.5,elo1=3,model=trinomial")
    full.time.clock = 1000
    full.date = "2026.11.21"
    // The header leaves out the folder.
    let read = try RunConfiguration(headerLine: full.headerLine)
    #expect(read.differences(from: full).isEmpty && read.headerLine == full.headerLine)
    full.entrants[0].spec = full.entrants[0].spec.portable
    #expect(read == full)
    #expect(full.headerLine.contains("\"deterministic\":false"))
    full.time.moveTime = .max
    #expect(throws: ArenaError.self) { try RunConfiguration(headerLine: full.headerLine) }
  }

  @Test(arguments: Variant.allCases) func `the rules' start position is accepted as an opening`(variant: Variant) throws
  {
    let lines = ["startpos", variant == .ultimate ? "e5" : "b2"]
    var configuration = try Support.match("random", "random", games: 8)
    configuration.variant = variant
    configuration.openings = try Openings(lines: lines, name: "x", variant)
    #expect(try RunConfiguration(headerLine: configuration.headerLine) == configuration)
    try Support.withFolder { folder in
      let report = try Support.play(configuration, to: folder + "/a").report
      #expect(report.games == 8)
      #expect(try Support.games(folder + "/a").games.count == 8)
    }
  }

  @Test func `a closed run delivers no further games, even if it is stopped within a batch`() throws {
    // Menace learns, so its games are played in order. A batch is delivered only once both pairings have played their games in it.
    let configuration = try Support.tournament(["random", "win_block", "menace"], .roundRobin, games: 40_000)
    let stop = StopSignal()
    let players = try Players(configuration, threads: 1, guardExecutable: "", stop: stop)
    let stage = Stage(
      firstGame: 0, firstRound: 0, pairings: [Pairing(a: 0, b: 1), Pairing(a: 0, b: 2)], rounds: 20_000)
    var taken: [Range<Int>] = []
    let consumer = GamePool.Consumer(
      prepare: { $0.counted(pairings: 2) },
      take: { (batch, _) in
        taken.append(batch.indices)
        stop.set()
        return false
      }, progress: {})
    let pool = GamePool(stage, indices: stage.indices, known: nil, players: players, consumer: consumer)
    #expect(try !pool.run(threads: 1))
    #expect(taken == [0..<GameBatch.size])
  }

  @Test func `PGN contains every game and is read back`() throws {
    try Support.withFolder { folder in
      for (number, configuration) in try RunTests.varied().enumerated() {
        let path = "\(folder)/\(number)"
        let report = try Support.play(configuration, to: path).report
        try PGNExport.write(path, to: path + ".pgn")
        let text = try String(contentsOfFile: path + ".pgn", encoding: .utf8)
        let records = try Record.all(in: text)
        #expect(records.count == report.games)
        #expect(records.filter { $0.resultToken == "1-0" }.count == report.bySeat.wins)
        #expect(records[0][player: .x] == configuration.names[0] || configuration.format != .match)
        #expect(text == records.map { $0.text + "\n" }.joined())
        #expect(records.map { $0.game.moves } == (try Support.games(path)).games.map(\.game.moves))
      }
    }
  }

  @Test func `a player's table of moves chooses the same moves as the player`() throws {
    for spec in ["random", "win_block", "trap", "levels:2", "levels:5"] {
      let player = try #require(try PlayerSpec(spec).memoryless(in: .classic))
      let table = DistributionTable(player)
      for position in Solver.positions where position.outcome == nil {
        for last in [nil] + position[position.turn.opponent].map({ Optional($0) }) {
          let seed = UInt64(position.ternaryKey)
          var (a, b) = (SplitMix64(seed: seed), SplitMix64(seed: seed))
          let expected = player.move(in: position, lastMove: last, using: &a)
          #expect(table.move(key: position.ternaryKey, last: last?.index ?? 9, using: &b) == expected.index)
        }
      }
    }
  }

  @Test func `played games agree with exact chances within four standard deviations`() throws {
    let names = ["random", "perfect", "perfect_distance", "win_block", "trap"] + (1...6).map { "levels:\($0)" }
    let number = Support.isSlow ? 1_000_000 : amount("PAIR_GAMES", quick: 20_000, all: 100_000)
    for (index, a) in names.enumerated() {
      for b in names[index...] {
        var run = try Run(
          try Support.match(a, b, games: number, seed: UInt64(index)), threads: 2, guardExecutable: Support.arena)
        let played = try run.play().match
        let players = try [a, b].map { try #require(try PlayerSpec($0).memoryless(in: .classic)) }
        let exact = ExactMatch(a: players[0], b: players[1])
        let n = Double(number / 2)
        func check(_ count: Int, _ chance: Fraction, _ what: String) {
          let p = chance.double
          let sigma = (n * p * (1 - p)).squareRoot()
          #expect(
            abs(Double(count) - n * p) <= 4 * sigma + 1e-6, "\(a) – \(b), \(what): \(count) of \(n), exactly \(p)")
        }
        check(played.asX.wins, exact.asX.xWin, "won as X")
        check(played.asX.draws, exact.asX.draw, "drawn as X")
        check(played.asO.wins, exact.asO.oWin, "won as O")
        check(played.asO.draws, exact.asO.draw, "drawn as O")
        for (count, chance) in zip(played.pentanomial, exact.pentanomial) { check(count, chance, "pairs") }
      }
    }
  }
}

@Suite("Players that learn, and adaptive ones") struct LearnerTests {
  @Test func `menace has the matchboxes of Michie's machine`() throws {
    let labels = MenaceBoxes.shared.boxes
    #expect(labels.filter { $0.ply % 2 == 0 }.count == 304)
    #expect(labels.filter { $0.ply % 2 == 1 }.count == 289)
    let facts = StatisticsTests.facts["menace_boxes"] as! [String: Any]
    for (ply, count) in facts["by_ply"] as! [String: Int] {
      #expect(labels.filter { $0.ply == Int(ply) }.count == count)
    }
  }

  @Test func `menace learns to draw against the perfect player and to beat the random one`() throws {
    var drawing = MenaceTraining(Menace())
    drawing.train(against: [SimpleOpponent.perfect], games: 10_000, seed: 1, measuringEvery: 500)
    #expect(try #require(drawing.curve.first).againstPerfect < 0.1)
    #expect(try #require(drawing.curve.last).againstPerfect > 0.499)
    #expect(drawing.curve.count == 21)
    var beating = MenaceTraining(Menace())
    beating.train(against: [SimpleOpponent.random], games: 20_000, seed: 1, measuringEvery: 5000)
    #expect(try #require(beating.curve.last).againstRandom > 0.8)
    let svg = LearningCurve(drawing).svg
    #expect(svg.contains("<polyline") && svg.hasSuffix("</svg>\n"))
    #expect(!svg.contains("nan,") && !svg.contains(",nan") && !svg.contains("inf"))
  }

  @Test func `saved and loaded matchboxes learn the same as matchboxes that were never saved`() throws {
    try Support.withFolder { folder in
      var whole = MenaceTraining(Menace())
      whole.train(against: [SimpleOpponent.random], games: 400, seed: 5, measuringEvery: 400)
      var half = MenaceTraining(Menace())
      half.train(against: [SimpleOpponent.random], games: 200, seed: 5, measuringEvery: 200)
      try writeFile(MatchboxFile.text(of: half.menace).utf8, to: folder + "/boxes")
      let loaded = try MatchboxFile.load(folder + "/boxes")
      #expect(loaded.beads == half.menace.beads && loaded.gamesLearned == 200)
      var rest = MenaceTraining(loaded)
      rest.train(against: [SimpleOpponent.random], games: 200, seed: 5, measuringEvery: 200)
      #expect(rest.menace.beads == whole.menace.beads)
      let text = MatchboxFile.text(of: loaded)
      for wrong in [
        "", "{}", text.replacing("\"version\":1", with: "\"version\":2"),
        text.replacing("\"3/3/3 x\":{", with: "\"3/3/3 x\":{\"a3\":0,"), String(text.dropLast(40)),
        text.replacing("\"games\":", with: "\"games\":-"),
        text.replacing("\"games\":200", with: "\"games\":9223372036854775807"),
      ] {
        try Data(wrong.utf8).write(to: URL(filePath: folder + "/wrong"))
        #expect(throws: ArenaError.self) { try MatchboxFile.load(folder + "/wrong") }
      }
    }
  }

  @Test(arguments: ["-1", "1.5", "\"4\"", "4294967300", "1000001"])
  func `an invalid number of beads is refused with its box and move`(beads: String) throws {
    try Support.withFolder { folder in
      let text = MatchboxFile.text(of: Menace()).replacing(
        "\"3/3/3 x\":{\"a3\":4", with: "\"3/3/3 x\":{\"a3\":\(beads)")
      try Data(text.utf8).write(to: URL(filePath: folder + "/boxes"))
      let error = #expect(throws: ArenaError.self) { try MatchboxFile.load(folder + "/boxes") }
      #expect(
        error?.description
          == "\(folder)/boxes, box '3/3/3 x': a3 has \(beads) beads; a box has 0–1000000 of each of its moves")
    }
  }

  @Test func `matchboxes are read once, so that a file that vanishes during a tournament changes nothing`() throws {
    try Support.withFolder { folder in
      try writeFile(MatchboxFile.text(of: Menace()).utf8, to: folder + "/boxes")
      let configuration = try Support.tournament(
        ["menace:\(folder)/boxes", "random", "perfect"], .roundRobin, games: 2)
      let players = try Players(configuration, threads: 1, guardExecutable: Support.arena, stop: StopSignal())
      try FileManager.default.removeItem(atPath: folder + "/boxes")
      for other in 1...2 { #expect(players.learner(0, in: Pairing(a: 0, b: other), isSecond: false) != nil) }
    }
  }

  @Test func `frozen menace does not change, and its exact result agrees with play`() throws {
    var configuration = try Support.match("menace", "random", games: 40_000)
    configuration.isFrozen = true
    var run = try Run(configuration, threads: 2, guardExecutable: Support.arena)
    let played = try run.play().match.total
    let exact = ExactMatch(a: Menace().frozen, b: SimpleOpponent.random)
    #expect(abs(played.score - exact.score.double) < 4 * 0.5 / 40_000.0.squareRoot())
  }

  @Test(arguments: ["random"] + (1...5).map { "levels:\($0)" } + ["win_block", "mcts:5"])
  func `the adaptive player scores about half against players that can lose`(name: String) throws {
    let score = try adaptiveScore(against: name)
    #expect((0.45...0.55).contains(score), "\(name): \(score)")
  }

  @Test(arguments: ["levels:6", "perfect", "trap"])
  func `the adaptive player scores at least 45 % against players that cannot lose`(name: String) throws {
    let score = try adaptiveScore(against: name)
    #expect(score >= 0.45, "\(name): \(score)")
  }

  /// Only games 201 to 2,200 count, when `adaptive` has adapted.
  private func adaptiveScore(against name: String) throws -> Double {
    try Support.withFolder { folder in
      _ = try Support.play(try Support.match("adaptive", name, games: 2200, seed: 4), to: folder + "/a")
      let games = try Support.games(folder + "/a").games[200..<2200]
      let points = games.map { $0.game.result == 2 ? 1 : ($0.game.result == 1) == ($0.o == 0) ? 2 : 0 }
      return Double(points.reduce(0, +)) / 4000
    }
  }

  @Test func `a tree search finds forced moves, and the same seed gives the same move`() throws {
    for position in Solver.positions where position.outcome == nil {
      let wins = position.winningSquares(for: position.turn)
      guard !wins.isEmpty, position.ternaryKey % 7 == 0 else { continue }
      var generator = SplitMix64(seed: 1)
      // The search need not choose the quickest win.
      let square = MonteCarloSearch().bestMove(in: position, simulations: 1000, using: &generator)
      #expect(Solver.shared.valuePreservingMoves(in: position).contains(square), "\(position.notation)")
    }
    let search = MonteCarloSearch()
    var (a, b) = (SplitMix64(seed: 2), SplitMix64(seed: 2))
    for _ in 0..<20 {
      let fresh = MonteCarloSearch().bestMove(in: .start, simulations: 100, using: &a)
      #expect(search.bestMove(in: .start, simulations: 100, using: &b) == fresh)
    }
    var run = try Run(
      try Support.match("mcts:2000", "perfect", games: 60), threads: 2, guardExecutable: Support.arena)
    #expect(try run.play().match.total.score > 0.45)
  }
}
