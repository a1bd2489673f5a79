import Base
import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@testable import Arena

@Suite("Runs of the variants", .serialized) struct VariantRunEndToEndTests {
  private static func match(
    _ a: String, _ b: String, _ variant: Variant, games: Int = 40, openings: String? = nil
  ) throws -> RunConfiguration {
    var configuration = try Support.match(a, b, games: games)
    configuration.variant = variant
    if let openings { configuration.openings = try Openings(argument: openings, variant) }
    return configuration
  }

  @Test(arguments: Variant.allCases.filter { !$0.isImplied })
  func `a run has the same bytes for any number of threads and after any interruption`(variant: Variant) throws {
    try Support.withFolder { folder in
      var configuration = try Support.tournament(["random", "random", "random"], .roundRobin, games: 40)
      (configuration.variant, configuration.openings) = (variant, .random(plies: 2))
      let path = folder + "/games"
      let whole = try Support.play(configuration, threads: 1, to: path)
      #expect(whole.report.games == 120 && whole.report.bySeat.wins > 0)
      #expect(try Support.play(configuration, threads: 3, to: folder + "/other").bytes == whole.bytes)
      for cut in stride(from: whole.bytes.firstIndex(of: 0x0A)! + 1, to: whole.bytes.count, by: 997) {
        try Data(whole.bytes[..<cut]).write(to: URL(filePath: path))
        var run = try Run(resuming: path, threads: 2, guardExecutable: Support.arena)
        run.output = path
        _ = try run.play()
        #expect(Array(try Data(contentsOf: URL(filePath: path))) == whole.bytes, "cut at \(cut)")
      }
    }
  }

  @Test(arguments: Variant.allCases.filter { !$0.isImplied })
  func `shards of a run merge into the bytes of the whole run`(variant: Variant) throws {
    try Support.withFolder { folder in
      var configuration = try VariantRunEndToEndTests.match("random", "random", variant)
      let whole = try Support.play(configuration, to: folder + "/whole").bytes
      let parts = (1...3).map { "\(folder)/shard-\($0)" }
      for (number, path) in parts.enumerated() {
        configuration.shard = try Shard("\(number + 1)/3")
        _ = try Support.play(configuration, to: path)
      }
      let merged = try Support.run(["merge"] + parts + ["--out", folder + "/merged"])
      #expect(merged.code == 0, "\(merged)")
      #expect(Array(try Data(contentsOf: URL(filePath: folder + "/merged"))) == whole)
    }
  }

  @Test func `a file with an illegal move is refused with the move's line`() throws {
    try Support.withFolder { folder in
      let path = folder + "/games"
      var text = String(
        decoding: try Support.play(try VariantRunEndToEndTests.match("random", "random", .infinite), to: path).bytes,
        as: UTF8.self)
      let line = text.split(separator: "\n")[3]
      let parts = line.components(separatedBy: "\"moves\":\"")
      try #require(parts.count == 2)
      let changed = "\(parts[0])\"moves\":\"\(parts[1].prefix(2))\(parts[1].prefix(2))\(parts[1].dropFirst(4))"
      text = text.replacing(String(line), with: changed)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let refused = try Support.run(["resume", path])
      #expect(refused.code == 2 && refused.err.contains("line 4: the game breaks the rules"), "\(refused)")
      #expect(refused.err.split(separator: "\n").count == 1)
    }
  }

  @Test(arguments: [
    (["--rules", "chess"], "--rules 'chess': \(Variant.names)"),
    (["--rules", "ultimate", "--x", "menace"], "player 'menace' does not play ultimate; allowed: random, "),
    (["--rules", "infinite", "--openings", "random:9"], "--openings 'random:9': random:0 to random:4"),
    (["--ending", "cells"], "--ending 'cells': rules, boards"),
    (["--rules", "infinite", "--ending", "boards"], "--ending boards: only ultimate has boards to count"),
    (["--max-plies", "0"], "--max-plies 0: 1–1000"), (["--draw", "moves=3"], "--draw 'moves=3': moves=1–1000"),
  ])
  func `invalid runs are refused in one line`(words: [String], message: String) throws {
    let players = words.contains("--x") ? ["--o", "random"] : ["--x", "random", "--o", "random"]
    let output = try Support.run(["run"] + players + words)
    #expect(output.code == 2 && output.err.contains(message), "\(output)")
    #expect(output.err.split(separator: "\n").count == 1 && output.out.isEmpty)
  }

  @Test(arguments: [(Variant.classic, 5), (.misere, 5), (.infinite, 50), (.ultimate, 41)])
  func `a clock for fewer moves than a side may make is refused, as its time would not be given again`(
    variant: Variant, most: Int
  ) throws {
    var run = try VariantRunEndToEndTests.match("random", "random", variant)
    for period in [0, most, 99] {
      try run.time.apply("tc", "\(period)/60+1")
      try run.validate()
      #expect(run.time.clock == 60_000 && run.time.increment == 1000)
    }
    try run.time.apply("tc", "\(most - 1)/60")
    #expect(throws: ArenaError.self) { try run.validate() }
    // A time for each move replaces the clock, and with it the number of moves.
    try run.time.apply("st", "2")
    try run.validate()
    run.time = TimeLimit()
    run.entrants[0] = try EngineSettings.entrant(["cmd=x", "tc=\(most - 1)/60"], each: [], default: run.time)
    #expect(throws: ArenaError.self) { try run.validate() }
  }

  @Test func `a run refuses openings of another variant, and starts every game with one of its own variant`() throws {
    try Support.withFolder { folder in
      let openings = "b2 a1\nfen a3b2/c3 o 3 moves a1\na3b2/c3 o 3  # as EPD\n"
      try openings.write(toFile: folder + "/book", atomically: true, encoding: .utf8)
      let book = try VariantRunEndToEndTests.match("random", "random", .infinite, openings: folder + "/book")
      let games = try Support.play(book, to: folder + "/games").bytes
      let lines = String(decoding: games, as: UTF8.self).split(separator: "\n").dropFirst()
      #expect(lines.prefix(1).allSatisfy { $0.contains("\"moves\":\"b2a1") })
      #expect(lines.contains { $0.contains("\"start\":\"a3b2/c3 o 3\",\"moves\":\"a1") })
      #expect(lines.dropFirst(4).prefix(2).allSatisfy { $0.contains("\"start\":\"a3b2/c3 o 3\",\"moves\":\"") })
      #expect(throws: ArenaError.self) {
        _ = try VariantRunEndToEndTests.match("random", "random", .ultimate, openings: folder + "/book")
      }
      var wrong = book
      wrong.variant = .classic
      #expect(throws: ArenaError.self) { try wrong.validate() }
    }
  }

  @Test(.needs("python3"), arguments: Variant.allCases)
  func `the example engine of thirty lines plays every variant by its rules`(variant: Variant) throws {
    let bot = repository.appending(path: "examples/variants.py").path
    var configuration = try VariantRunEndToEndTests.match("cmd:\(bot)", "random", variant, games: 8)
    configuration.time.moveTime = 5000
    var run = try Run(configuration, threads: 2, guardExecutable: Support.arena)
    let report = try run.play()
    #expect(report.games == 8 && report.forfeits.isEmpty, "\(report.forfeits)")
  }

  @Test(arguments: Variant.allCases.filter { !$0.isImplied })
  func `our own engine plays a variant in our arena`(variant: Variant) throws {
    let engine = "cmd:\(Support.arena) engine --player random"
    var run = try Run(
      try VariantRunEndToEndTests.match(engine, "random", variant, games: 8), threads: 2, guardExecutable: Support.arena
    )
    let report = try run.play()
    #expect(report.games == 8 && report.forfeits.isEmpty, "\(report.forfeits)")
  }

  @Test func `a run of our players of a variant has the same bytes for any number of threads and after a resume`()
    throws
  {
    try Support.withFolder { folder in
      for (variant, names) in [
        (Variant.infinite, ["levels:3", "perfect"]), (.infinite, ["trap", "win_block"]),
        (.ultimate, ["levels:1", "levels:3"]), (.ultimate, ["mcts:50", "random"]),
      ] {
        let path = folder + "/games"
        let configuration = try VariantRunEndToEndTests.match(
          names[0], names[1], variant, games: 12, openings: "random:2")
        let whole = try Support.play(configuration, threads: 1, to: path).bytes
        #expect(try Support.play(configuration, threads: 3, to: folder + "/other").bytes == whole, "\(names)")
        try Data(whole[..<(whole.count / 2)]).write(to: URL(filePath: path))
        #expect(try Support.run(["resume", path]).code == 0)
        #expect(Array(try Data(contentsOf: URL(filePath: path))) == whole, "\(names)")
      }
    }
  }

  @Test func `levels of Infinite never beat perfect play from a won position`() throws {
    try Support.withFolder { folder in
      try "a2\n".write(toFile: folder + "/edge", atomically: true, encoding: .utf8)
      let configuration = try VariantRunEndToEndTests.match(
        "perfect", "levels:3", .infinite, games: 200, openings: folder + "/edge")
      let report = try Support.play(configuration, to: folder + "/games").report
      // a2 is an edge cell. With this first move the perfect player always wins as X.
      #expect(report.match.asX.wins == 100, "\(report.match)")
    }
  }

  @Test func `an engine without the variant is refused before the first game`() throws {
    let output = try Support.run(["run", "--rules", "ultimate", "--x", "cmd:\(Support.bot)", "--o", "random"])
    #expect(output.code == 1 && output.err.contains("does not play ultimate; it lists no UCI_Variant"), "\(output)")
  }

  @Test(.needs("python3")) func `an engine that speaks UGI is driven by UGI, and every line is logged`() throws {
    try Support.withFolder { folder in
      let engine = folder + "/ugi.py"
      let script = try String(contentsOfFile: repository.appending(path: "examples/variants.py").path, encoding: .utf8)
        .replacing("[\"uci\"]", with: "[\"ugi\"]").replacing("uciok", with: "ugiok")
      try script.write(toFile: engine, atomically: true, encoding: .utf8)
      let trace = folder + "/trace"
      let output = try Support.run([
        "run", "--rules", "infinite", "--x", "cmd:python3 \(engine)", "--o", "random", "--games", "4", "--trace", trace,
        "--movetime", "5000",
      ])
      #expect(output.code == 0 && !output.out.contains("forfeited"), "\(output)")
      let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
      #expect(lines.allSatisfy { $0.contains(#/^[0-9]+\.[0-9]{3} 0 [<>] /#) })
      #expect(lines.contains { $0.hasSuffix("0 > uginewgame") } && lines.contains { $0.contains("0 < bestmove ") })
    }
  }

  @Test func `perft of the variants matches the published counts`() throws {
    let ultimate = try Support.run(["perft", "5", "--rules", "ultimate"])
    #expect(ultimate.out == "1 81\n2 720\n3 6336\n4 55080\n5 473256\n", "\(ultimate)")
    let infinite = try Support.run(["perft", "5", "--rules", "infinite", "--json"])
    // Up to the fifth ply no side has a fourth mark, so the counts are those of Classic.
    #expect(infinite.out == "{\"rules\":\"infinite\",\"nodes\":[9,72,504,3024,15120]}\n", "\(infinite)")
  }

  @Test func `the table of a solved game has every position`() throws {
    let table = try Support.run(["solve", "--all"])
    let lines = table.out.split(separator: "\n")
    #expect(table.code == 0 && lines.count == 5_479 && lines[1].hasPrefix("3/3/3 x\tdraw\t9\t"))
    #expect(lines.allSatisfy { $0.split(separator: "\t", omittingEmptySubsequences: false).count == 5 })
  }

  @Test func `Infinite is solved from its start, and its table has every board`() throws {
    let solved = try Support.run(["solve", "--rules", "infinite"])
    #expect(solved.out.contains("X to move: win in 13\n") && solved.out.contains("  a2  win in 13\n"), "\(solved)")
    // X wins only by a first move on an edge: "win in 13" (plies) occurs for the position and for the four edges.
    #expect(solved.out.components(separatedBy: "win in 13").count == 1 + 1 + 4)
    let table = try Support.run(["solve", "--rules", "infinite", "--all"]).out.split(separator: "\n")
    let boards = try #require(solved.out.split(separator: "\n").last?.split(separator: " ").dropFirst().first)
    #expect(boards == "\(table.count - 1):" && table[1].hasPrefix("-/- x\twin\t13\t"), "\(boards), \(table.count)")
    for (words, message) in [
      (["--rules", "ultimate", "--all"], "it is not solved; allowed: classic, infinite"),
      (["--rules", "ultimate", "--nodes", "0"], "--nodes 0: 1–1000000000"),
      (["--rules", "ultimate", "--position", "9/9/9/9/4X4/9/9/9/9 o a1"], "no move of X sends to board a1"),
      (["--nodes", "5"], "--nodes goes with --rules ultimate"),
      (["--rules", "infinite", "--position", "a3a3/c3 o 3"], "column 3: a3 is marked twice"),
    ] {
      let refused = try Support.run(["solve"] + words)
      #expect(refused.code == 2 && refused.err.contains(message) && refused.out.isEmpty, "\(refused)")
    }
  }

  @Test func `late positions of Ultimate are proved, and the start is not`() throws {
    let start = try Support.run(["solve", "--rules", "ultimate", "--nodes", "100"])
    #expect(start.code == 0 && start.out.contains("X to move: not proved in 100 nodes\n"), "\(start)")
    #expect(start.out.contains("\n  e5  not proved in 100 nodes\n") && start.out.hasSuffix("100 nodes\n"), "\(start)")
    // g8 wins the top right board and with it the top row of boards.
    let position = "XXX3X2/3XXX3/6X2/OO7/3OO4/9/OO4O1O/9/9 x c3"
    let solved = try Support.run(["solve", "--rules", "ultimate", "--position", position, "--json"])
    let json = try JSON(String(solved.out.dropLast()))
    #expect(json["value"]?.string == "win" && json["over"] == .bool(false), "\(solved)")
    #expect(json["cells"]?["g8"]?.string == "win", "\(solved)")
  }

  @Test func `the referee declares a draw at the ply limit, and the file gives the reason`() throws {
    try Support.withFolder { folder in
      let path = folder + "/games"
      var classic = try VariantRunEndToEndTests.match("random", "perfect", .classic)
      classic.adjudication.maxPlies = 4
      #expect(try Support.play(classic, to: path).report.bySeat.draws == 40)
      #expect(try Support.run(["resume", path]).code == 0)
      var configuration = try VariantRunEndToEndTests.match("random", "random", .ultimate)
      configuration.adjudication.maxPlies = 10
      let played = try Support.play(configuration, to: path)
      #expect(played.report.bySeat.draws == 40 && played.report.forfeits.isEmpty)
      #expect(
        String(decoding: played.bytes, as: UTF8.self).contains(
          "\"termination\":\"adjudication\",\"reason\":\"10 plies\""))
      #expect(try Support.run(["resume", path]).code == 0)
    }
  }

  @Test func `where boards are counted, the side with more of them wins each game that the rules draw`() throws {
    try Support.withFolder { folder in
      var configuration = try VariantRunEndToEndTests.match("random", "random", .ultimate, games: 60)
      let plain = String(decoding: try Support.play(configuration, to: folder + "/plain").bytes, as: UTF8.self)
      configuration.adjudication.ending = .boards
      let (path, winner) = (
        folder + "/games", #/"result":"([^"]+)","termination":"adjudication","reason":"X has (\d) boards, O (\d)"/#
      )
      let counted = String(decoding: try Support.play(configuration, to: path).bytes, as: UTF8.self)
      var won = 0
      for (rules, boards) in zip(plain.split(separator: "\n").dropFirst(), counted.split(separator: "\n").dropFirst())
      where rules.hasPrefix("{\"game\"") {
        guard rules.contains("\"1/2-1/2\""), let found = boards.firstMatch(of: winner) else {
          // Counting boards would only change a game that ends without three boards in a row and with more boards for one side.
          #expect(rules == boards)
          continue
        }
        won += 1
        #expect(found.1 == (found.2 > found.3 ? "1-0" : "0-1") && found.2 != found.3)
        #expect(rules.dropLast().split(separator: "1/2")[0] == boards.split(separator: String(found.1))[0])
        #expect(try Record(jsonLine: String(boards), variants: [.ultimate], rules: .ultimate).resultToken == "1/2-1/2")
      }
      #expect(won > 3, "\(won) of 60 games were won by boards")
      #expect(try Support.run(["resume", path]).code == 0)
      let other = try Support.run(["resume", path, "--ending", "rules"])
      #expect(other.code == 2 && other.err.contains("ending is boards in the file, now none"), "\(other)")
    }
  }

  @Test func `a game ends when its evaluations have stayed within the limits for long enough`() {
    func verdict(_ rules: Adjudication, _ scores: [String?]) -> (plies: Int, outcome: Outcome)? {
      var referee = Referee(rules)
      for (ply, score) in scores.enumerated() {
        let report = MoveReport(evaluation: score.map { "\($0)/1" }, milliseconds: 1)
        if let verdict = referee.verdict(after: report, by: ply % 2 == 0 ? .x : .o, plies: ply + 1) {
          return (ply + 1, verdict.outcome)
        }
      }
      return nil
    }
    var rules = Adjudication()
    rules.draw = try? .init("moves=2,score=10", option: "--draw")
    #expect(verdict(rules, ["+0.05", "-0.10", "+0.00", "+0.02"])?.plies == 4)
    #expect(verdict(rules, ["+0.05", "-0.11", "+0.00", "+0.02"]) == nil)
    #expect(verdict(rules, ["+0.05", nil, "+0.00", "+0.02"]) == nil)
    rules = Adjudication()
    rules.resign = try? .init("moves=2,score=300", option: "--resign")
    #expect(verdict(rules, ["-3.00", "+3.00", "-M2", "+3.00"])?.outcome == .win(.o))
    #expect(verdict(rules, ["-3.00", "+3.00", "-2.99", "+3.00", "-4.00"]) == nil)
  }
}
