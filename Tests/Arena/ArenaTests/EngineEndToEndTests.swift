import Foundation
import Opponents
import Oracle
import Records
import TestSupport
import Testing
import TicTacToe

@testable import Arena
@testable import ArenaTexts

@Suite("UCI engines in the arena", .serialized) struct EngineEndToEndTests {
  @Test func `our engine's dialogue with cutechess-cli matches the transcript`() throws {
    let file = Support.folder.appending(path: "Goldens/cutechess.txt")
    let golden = try String(contentsOf: file, encoding: .utf8)
    var server = try UCIServer(.simple(.perfectDistance), seed: 1)
    var transcript = golden.split(separator: "\n").prefix(1).map(String.init)
    for line in golden.split(separator: "\n") where line.hasPrefix(">") {
      transcript.append(String(line))
      switch server.handle(String(line.dropFirst(2))) {
      case .reply(let lines): transcript += lines.map { "< \($0)" }
      case .search: Issue.record("a player without memory does not search")
      case .quit: break
      }
    }
    let ours = transcript.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      try ours.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(ours == golden)
  }

  @Test func `the engine program gives the answers of the transcript`() throws {
    let golden = try String(contentsOf: Support.folder.appending(path: "Goldens/cutechess.txt"), encoding: .utf8)
    let lines = golden.split(separator: "\n")
    let input = lines.filter { $0.hasPrefix(">") }.map { String($0.dropFirst(2)) + "\n" }.joined()
    let expected = lines.filter { $0.hasPrefix("<") }.map { String($0.dropFirst(2)) + "\n" }.joined()
    let output = try Support.run(["engine", "--player", "perfect_distance"], input: input)
    #expect(output.out == expected && output.code == 0)
  }

  @Test func `positions and moves are read in our notation and in that of cutechess`() {
    for position in Solver.positions {
      for notation in [UCINotation.native, .cutechess] {
        let words = notation.text(of: position).split(separator: " ").map(String.init)
        #expect(UCINotation.position(words) == position)
      }
    }
    #expect(UCINotation.cutechess.text(of: .start) == "3/3/3[PPPPPpppp] w - - 0 1")
    for square in Square.all {
      #expect(UCINotation.square("P@\(square.name)") == square && UCINotation.square("p@\(square.name)") == square)
    }
    #expect(UCINotation.position(["3/3/3[PP"]) == nil && UCINotation.position([]) == nil)
  }

  @Test func `our perfect engine draws all games against the arena's perfect player and against itself`() throws {
    let command = "cmd:\(Support.arena) engine --player perfect"
    var run = try Run(
      try Support.match(command, "perfect", games: 40), threads: 2, guardExecutable: Support.arena)
    let report = try run.play()
    #expect(report.games == 40 && report.match.total.draws == 40, "\(report.forfeits)")
    #expect(report.configuration.entrants[0].id == "Alina perfect")
    var clock = try Support.match(command, command, games: 10)
    clock.time.moveTime = 0
    clock.time.clock = 5000
    clock.time.increment = 10
    run = try Run(clock, threads: 2, guardExecutable: Support.arena)
    #expect(try run.play().match.total.draws == 10)
  }

  @Test func `the twenty-line bot of the examples plays and wins`() throws {
    let lines = try String(contentsOfFile: Support.bot, encoding: .utf8).split(separator: "\n").count
    #expect(lines <= 25)
    var configuration = try Support.match("cmd:\(Support.bot)", "random", games: 40)
    configuration.time.moveTime = 5000
    var run = try Run(configuration, threads: 2, guardExecutable: Support.arena)
    let report = try run.play()
    #expect(report.forfeits.isEmpty && report.match.total.score > 0.75)
  }

  @Test(
    .long,
    arguments: [
      ("crash", "crashed with signal 6"), ("exit", "exited with code 7"), ("hang", "no move within"),
      ("cheat", "illegal move"), ("nonsense", "illegal move 'z9'"), ("no-move", "illegal move ''"),
      ("binary", "not text"), ("flood", "without a move"), ("close", "closed its output"), ("late", "no move within"),
      ("megabyte", "a line of more than 4096 bytes"), ("between", "exited with code 9"),
      ("exits-at-isready", "exited with code 5 before 'readyok'"), ("twice", "an unasked 'bestmove"),
      ("deaf", "closed its input"),
    ])
  func `a misbehaving engine loses, the record says why, and the engine is started again`(mode: String, says: String)
    throws
  {
    let mark = UUID().uuidString
    var configuration = try Support.match("random", "perfect", games: 4)
    configuration.entrants[0] = Support.misbehaving(mode, mark: mark)
    let isLate = mode == "hang" || mode == "late"
    // In the modes `hang` and `late` the engine answers too late on purpose. In all other modes it must fail within its time.
    configuration.time.moveTime = isLate ? 250 : 10_000
    try Support.withFolder { folder in
      let (bytes, report) = try Support.play(configuration, threads: 1, to: folder + "/a")
      #expect(report.games == 4 && report.match.total.losses == 4)
      #expect(report.forfeits.allSatisfy { $0.player == 0 && $0.reason.contains(says) }, "\(report.forfeits)")
      #expect(report.forfeits.reduce(0) { $0 + $1.count } == 4)
      let games = try Support.games(folder + "/a").games
      #expect(games.count == 4 && games.allSatisfy { $0.game.ending != .normal && $0.notes?.reason != nil })
      let termination = isLate ? "time" : "forfeit"
      #expect(String(decoding: bytes, as: UTF8.self).contains("\"termination\":\"\(termination)\""))
      try PGNExport.write(folder + "/a", to: folder + "/pgn")
      let records = try Record.all(in: try String(contentsOfFile: folder + "/pgn", encoding: .utf8))
      #expect(records.allSatisfy { $0[tag: "Reason"]?.contains(says) == true })
    }
    #expect(eventually { Support.processes(marked: mark) == 0 })
  }

  @Test func `an unsolicited move is detected while another engine is to move`() throws {
    try Support.withFolder { folder in
      try Data().write(to: URL(filePath: folder + "/said"))
      var configuration = try Support.match("random", "random", games: 2)
      configuration.entrants = ["afterthought", "patient"].map { Support.misbehaving("\($0) \(folder)/said") }
      configuration.time.moveTime = 10_000
      var run = try Run(configuration, threads: 1, guardExecutable: Support.arena)
      let forfeits = try run.play().forfeits
      #expect(forfeits.reduce(0) { $0 + $1.count } == 2)
      #expect(forfeits.allSatisfy { $0.player == 0 && $0.reason.contains("an unasked 'bestmove") }, "\(forfeits)")
    }
  }

  @Test(arguments: runsAll ? [1, 2] : [2]) func `the limit of simultaneous games holds over all pairings`(
    threads: Int
  )
    throws
  {
    try Support.withFolder { folder in
      let log = folder + "/log"
      var configuration = try Support.tournament(.init(repeating: "random", count: 6), .roundRobin, games: 2)
      for player in 0..<6 { configuration.entrants[player] = Support.misbehaving("busy \(log)") }
      configuration.time.moveTime = 60_000
      var run = try Run(configuration, threads: threads, guardExecutable: Support.arena)
      // `Run` has started each engine once to ask for its name; discards what these engines have logged.
      try Data().write(to: URL(filePath: log))
      let report = try run.play()
      #expect(report.games == 30 && report.forfeits.isEmpty, "\(report.forfeits)")
      // An engine logs `+` and `-` around its thinking, `s` when it starts and `e` when it ends.
      func most(_ begin: Character, _ end: Character) throws -> Int {
        var (now, most) = (0, 0)
        for letter in try String(contentsOfFile: log, encoding: .utf8) {
          if letter == begin { now += 1 } else if letter == end { now -= 1 }
          most = max(most, now)
        }
        #expect(now == 0)
        return most
      }
      #expect(try most("+", "-") <= threads)
      #expect(try most("s", "e") <= 2 * threads)
    }
  }

  @Test(.long, arguments: ["cmd:hang", "mcts:100000000"]) func `a stopped run does not wait for a thinking engine`(
    name: String
  ) throws {
    try Support.withFolder { folder in
      let path = folder + "/a"
      var configuration = try Support.match("random", name == "cmd:hang" ? "random" : name, games: 4)
      if name == "cmd:hang" { configuration.entrants[1] = Support.misbehaving("hang") }
      configuration.time.moveTime = 3_600_000
      var run = try Run(configuration, threads: 2, guardExecutable: Support.arena)
      run.output = path
      let stop = run.stop
      // Without the stop this test would take an hour.
      run.progress = { _ in stop.set() }
      #expect(try run.play().ending == .interrupted)
      var again = try Run(
        resuming: path, threads: 2, guardExecutable: Support.arena, folders: [Support.folder.path + "/Fixtures"])
      again.stop.set()
      #expect(try again.play().ending == .interrupted)
    }
  }

  @Test func `an engine runs in its folder with its options, is told to quit, and its output is kept`() throws {
    try Support.withFolder { folder in
      let words = [
        "cmd=\(Support.misbehave)", "arg=polite", "name=Polite", "dir=\(folder)", "stderr=\(folder)/log",
        "option.Hash=7",
      ]
      var configuration = try Support.match("random", "random", games: 2)
      configuration.entrants[0] = try EngineSettings.entrant(
        words, each: ["st=60", "env.ALINA_TEST=x"], default: TimeLimit())
      let report = try Support.play(configuration, threads: 1, to: folder + "/a").report
      #expect(report.forfeits.isEmpty && report.configuration.names[0] == "Polite")
      // The engine is started once for its name and once for the games.
      let said = try String(contentsOfFile: folder + "/said", encoding: .utf8)
      #expect(said == "setoption name Hash value 7\nquit\nsetoption name Hash value 7\nquit\n")
      #expect(try String(contentsOfFile: folder + "/log", encoding: .utf8) == "x\nx\n")
      let games = try Support.games(folder + "/a").games
      #expect(games.allSatisfy { $0.notes?.reports.contains { $0?.evaluation == "-0.07/3" } == true })
      try PGNExport.write(folder + "/a", to: folder + "/pgn")
      let pgn = try String(contentsOfFile: folder + "/pgn", encoding: .utf8)
      #expect(pgn.contains("{-0.07/3 0.0") && pgn.contains("[White \"Polite\"]"))
      #expect(try Record.all(in: pgn).count == 2)
      let header = try String(contentsOfFile: folder + "/a", encoding: .utf8).prefix { $0 != "\n" }
      #expect(!header.contains(folder) && header.contains("\"options\":{\"Hash\":\"7\"}"))
      #expect(try RunConfiguration(headerLine: String(header)).entrants[0].engine.time?.moveTime == 60_000)
    }
  }

  @Test(arguments: [
    ["name=x"], ["cmd=x", "proto=xboard"], ["cmd=x", "tc=4/x"], ["cmd=x", "hash=3"], ["cmd"], ["conf=nobody"],
    ["cmd=x", "option.A=b\nquit"], ["cmd=x", "tc=0.0001"], ["cmd=x", "tc=1:x"], ["cmd=x", "option.=5"],
    ["cmd=x", "env.=5"],
  ])
  func `invalid engine options are refused`(words: [String]) {
    #expect(throws: ArenaError.self) { try EngineSettings.entrant(words, each: [], default: TimeLimit()) }
  }

  @Test func `an engine's name has one line and defaults to its command; tabs may separate the words it sends`() throws
  {
    func played(_ mode: String) throws -> RunReport {
      var configuration = try Support.match("random", "random", games: 2)
      configuration.entrants[0] = Support.misbehaving(mode)
      var run = try Run(configuration, threads: 1, guardExecutable: Support.arena)
      return try run.play()
    }
    #expect(try played("nameless").configuration.names[0] == "cmd:…/misbehave.py nameless")
    #expect(try played("accents").configuration.names[0].unicodeScalars.count == 80)
    #expect(try played("reversed").configuration.names[0] == "abc")
    #expect(try played("tabs").forfeits.isEmpty)
    #expect(try EngineSettings.entrant(["cmd=x", "name="], each: [], default: TimeLimit()).engine.name == nil)
  }

  @Test func `an engine's comment that is not UTF-8 is harmless`() throws {
    var configuration = try Support.match("random", "random", games: 4)
    configuration.entrants[0] = Support.misbehaving("latin")
    var run = try Run(configuration, threads: 1, guardExecutable: Support.arena)
    #expect(try run.play().forfeits.isEmpty)
  }

  @Test func `moves late by less than the margin are counted, with the largest delay, also after a resume`() throws {
    try Support.withFolder { folder in
      var configuration = try Support.match("random", "random", games: 2)
      configuration.entrants[1] = Support.misbehaving("tardy")
      (configuration.time.moveTime, configuration.time.margin) = (1, 60_000)
      let (_, report) = try Support.play(configuration, threads: 1, to: folder + "/games")
      let late = try #require(report.lateMoves.first)
      let moves = try Support.games(folder + "/games").games.reduce(0) {
        $0 + ($1.notes?.reports.compactMap { $0 }.count ?? 0)
      }
      #expect(report.lateMoves.count == 1 && late.player == 1 && late.count == moves && late.most >= 49)
      #expect(
        RunText.text(report).contains("late within the margin: misbehave tardy, \(moves) moves, by \(late.most) ms"))
      var again = try Run(
        resuming: folder + "/games", threads: 1, guardExecutable: Support.arena,
        folders: [Support.folder.appending(path: "Fixtures").path])
      let resumed = try again.play()
      #expect(resumed.lateMoves.map { [$0.player, $0.count, $0.most] } == [[late.player, late.count, late.most]])
    }
  }

  @Test func `entrants of the same name get numbers in tables and records`() throws {
    var configuration = try Support.tournament(["random", "random", "perfect"], .roundRobin, games: 2)
    configuration.entrants[2] = Support.misbehaving("at-once")
    configuration.entrants[2].engine.name = "random"
    #expect(configuration.names == ["random", "random (2)", "random (3)"])
  }

  @Test func `running games are stopped when a sequential test has reached its verdict`() throws {
    var configuration = try Support.match("random", "perfect", games: 4)
    // After the opening b2 the engine never answers, so only a stop can end this game within the hour for a move.
    configuration.entrants[0] = Support.misbehaving("hangs-after-b2")
    configuration.time.moveTime = 3_600_000
    configuration.openings = try Openings(lines: ["a1", "b2"], name: "lines", .classic)
    // The engine loses both games of the first pair by illegal moves, which decides the sequential test.
    configuration.sprt = SPRT(elo0: 0, elo1: 600, alpha: 0.45, beta: 0.45)
    var run = try Run(configuration, threads: 2, guardExecutable: Support.arena)
    let report = try run.play()
    #expect(report.ending == .sprt && report.games == 2)
  }

  @Test(.needs("python3")) func `the example bot reads startpos and positions with and without moves`() throws {
    for position in ["startpos moves b2 a3 c3 c2", "fen 3/3/3 x moves b2 a3 c3 c2", "fen O1X/1XO/3 x"] {
      let output = try Support.run([], input: "position \(position)\ngo\nquit\n", program: Support.bot)
      #expect(output.out == "bestmove a1\n", "\(position): \(output)")
    }
  }

  @Test func `an answer that arrived in time counts even if it is read late`() throws {
    try Support.withFolder { folder in
      let command = [Support.misbehave, "punctual", folder + "/said"]
      let process = try EngineProcess(.init(command, guardExecutable: Support.arena), StopSignal())
      defer { process.stop() }
      #expect(process.write("isready\n", deadline: .infinity))
      #expect(eventually { FileManager.default.fileExists(atPath: folder + "/said") })
      guard case .line("readyok") = process.readLine(deadline: monotonicMilliseconds() - 1) else {
        Issue.record("what was written in time was not read")
        return
      }
      guard case .late = process.readLine(deadline: monotonicMilliseconds() - 1) else {
        Issue.record("nothing was written, and the deadline has passed")
        return
      }
    }
  }

  @Test func `a run of engines with folders of their own resumes if --where names the folders`() throws {
    try Support.withFolder { folder in
      let (home, games) = (folder + "/engines", folder + "/games")
      try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: Support.bot, toPath: home + "/mine.py")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home + "/mine.py")
      let engines = ["E", "F"].flatMap { ["-engine", "cmd=./mine.py", "dir=\(home)", "name=\($0)"] }
      let played = try Support.run(["run"] + engines + ["--games", "8", "--out", games])
      #expect(played.code == 0, "\(played)")
      let whole = try #require(FileManager.default.contents(atPath: games))
      try whole.prefix(whole.count * 2 / 3).write(to: URL(filePath: games))
      var engine = RunConfiguration.Entrant(try PlayerSpec("cmd:./mine.py"))
      engine.engine.folder = home
      #expect(engine.searchFolders == [home, folder])
      let resumed = try Support.run(["resume", games] + engine.searchFolders.flatMap { ["--where", $0] })
      #expect(resumed.code == 0, "\(resumed)")
      #expect(try Support.games(games).games.count == 8)
    }
  }

  @Test func `a move's evaluation is that of the best variation, never from a comment`() {
    func evaluation(_ line: String) -> String? { EngineClient.evaluation(in: line.split(separator: " ")) }
    #expect(evaluation("info depth 9 score cp 31 pv b2") == "+0.31/9")
    #expect(evaluation("info depth 9 multipv 1 score mate -2 pv b2") == "-M2/9")
    #expect(evaluation("info depth 9 multipv 2 score cp -250 pv a1") == nil)
    #expect(evaluation("info string I once had score cp 900 here") == nil)
    #expect(evaluation("info depth 3 pv a1 score cp 7") == nil)
    for (value, score) in [(Int.max, 100_000), (.min, -100_000), (31, 31), (-250, -250)] {
      let report = MoveReport(evaluation: evaluation("info depth 1 score cp \(value) pv b2"), milliseconds: 0)
      #expect(report.score == score)
    }
  }

  @Test func `our engine reports a position's value only for players that compute it`() throws {
    func said(_ player: String) throws -> String {
      var server = try UCIServer(PlayerSpec(player), seed: 1)
      _ = server.handle("position startpos moves b2 b1")
      guard case .reply(let lines) = server.handle("go") else { return "" }
      return lines[0]
    }
    #expect(try said("perfect_distance").contains("score mate "))
    #expect(try said("levels:6").contains("score mate "))
    for player in ["random", "win_block", "levels:5"] { #expect(try !said(player).contains("score")) }
    let searched = try Support.run(
      ["engine", "--player", "mcts:2000"], input: "position startpos moves b2 b1\ngo\n")
    // `mcts` reports the mean result of its simulations (`cp`), not a proved win or loss (`mate`).
    let words = searched.out.split(whereSeparator: \.isWhitespace)
    let at = try #require(words.firstIndex(of: "cp"))
    #expect((50...100).contains(Int(words[at + 1]) ?? -1), "\(searched.out)")
  }

  @Test func `a standalone player uses the clock of its game`() throws {
    try Support.withFolder { folder in
      var time = TimeLimit()
      (time.moveTime, time.clock, time.increment) = (0, 60_000, 2000)
      let engine = try StandalonePlayer(
        try PlayerSpec("cmd:\(Support.misbehave) told \(folder)/said"), seed: 1, guardExecutable: Support.arena,
        time: time)
      engine.beginGame()
      var state = VariantState(startOf: .classic)
      state.play(Cell(4))
      #expect(engine.move(in: .classic(.start), after: [], clocks: (own: 7000, other: 5000)) == Cell(0))
      #expect(engine.move(in: state, after: [Cell(4)], clocks: (own: 4000, other: 6000)) == Cell(0))
      #expect(
        try String(contentsOfFile: folder + "/said", encoding: .utf8)
          == "go wtime 7000 btime 5000 winc 2000 binc 2000\ngo wtime 6000 btime 4000 winc 2000 binc 2000\n")
    }
  }

  @Test(arguments: ["nodes nan", "nodes 1e300", "nodes -5", "wtime nan", "wtime -5", "movetime nan", "movetime x"])
  func `invalid limits do not end our engine`(limit: String) throws {
    let output = try Support.run(
      ["engine", "--player", "mcts:50"], input: "position startpos\ngo \(limit)\nquit\n")
    #expect(output.code == 0 && output.out.contains("bestmove "), "\(output)")
  }

  @Test(arguments: [Variant.classic, .ultimate])
  func `our engine answers isready and stop during a search, and moves within its time`(variant: Variant) throws {
    let (input, output) = (Pipe(), Pipe())
    let server = Thread {
      // So many simulations take weeks, so only a command or the time given with `go` can cause an answer.
      var server = try? UCIServer(.mcts(.simulations(1_000_000_000_000)), seed: 1)
      server?.serve(
        input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor)
      try? output.fileHandleForWriting.close()
    }
    server.start()
    func say(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }
    var text = ""
    func hear(_ line: String) {
      while !text.contains(line) {
        var item = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&item, 1, 60_000) > 0 else { break }
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { break }
        text += String(decoding: data, as: UTF8.self)
      }
      #expect(text.contains(line), "\(text)")
    }
    // The engine answers isready during the search.
    try say("setoption name UCI_Variant value \(variant.uciName)\nposition startpos\ngo\nisready\n")
    hear("readyok\n")
    #expect(!text.contains("bestmove"))
    try say("stop\n")
    hear("bestmove")
    text = ""
    try say("go movetime 50\n")
    hear("bestmove")
    text = ""
    try say("go infinite\nisready\n")
    hear("readyok\n")
    #expect(!text.contains("bestmove"))
    try say("quit\n")
    hear("bestmove")
  }

  @Test(arguments: [("grandchildren", 8), ("escape", 4), ("comet", 8)])
  func `processes started by an engine end with it, and with a killed arena`(mode: String, atLeast count: Int) throws {
    // Depending on `mode`, the engine starts processes whose parent ends, that leave its session, or that fork and exit repeatedly.
    let mark = UUID().uuidString
    var configuration = try Support.match("random", "random", games: 4)
    configuration.entrants[0] = Support.misbehaving(mode, mark: mark)
    var run = try Run(configuration, threads: 1, guardExecutable: Support.arena)
    let report = try run.play()
    #expect(report.games == 4 && report.forfeits.isEmpty, "\(report.forfeits)")
    // A run ends an engine's processes before it returns, so no wait is needed.
    #expect(Support.processes(marked: mark) == 0)

    // Kills the arena alone, then terminates the arena and the engines' guard processes as `pkill alina-arena` does.
    for isKilled in [true, false] {
      let arena = try Child(
        [
          Support.arena, "run", "--x", "cmd:\(Support.misbehave) \(mode)", "--o", "cmd:\(Support.misbehave) \(mode)",
          "--games", "1000000", "--threads", "2",
        ], environment: ["ALINA_TEST": mark])
      #expect(eventually { Support.processes(marked: mark) >= count })
      if isKilled {
        arena.signal(SIGKILL)
      } else {
        for pid in Support.pids(marked: mark, named: "alina-arena") { kill(pid, SIGTERM) }
      }
      #expect(eventually { Support.processes(marked: mark) == 0 })
    }
  }

  @Test(arguments: runsAll ? ["dies-at-start", "silent"] : ["dies-at-start"])
  func `an engine that fails its handshake ends the program with code 1`(mode: String) throws {
    let mark = UUID().uuidString
    let output = try Support.run([
      "run", "-engine", "cmd=\(Support.misbehave) \(mode)", "env.ALINA_TEST=\(mark)", "--player", "random", "--games",
      "2",
    ])
    #expect(output.code == 1, "\(output)")
    #expect(output.err.split(separator: "\n").count == 1 && output.err.contains("misbehave.py \(mode)"))
    #expect(eventually { Support.processes(marked: mark) == 0 })
  }

  @Test func `the error about a missing engine names its program`() throws {
    let output = try Support.run(["run", "--x", "cmd:./no-such-engine", "--o", "random", "--games", "2"])
    #expect(output.code == 1 && output.err.contains("no-such-engine") && output.err.contains("No such file"))
  }

  @Test func `resuming games of engines neither loses nor repeats any`() throws {
    try Support.withFolder { folder in
      let path = folder + "/a"
      let command = "cmd:\(Support.arena) engine --player levels:3"
      let whole = try Support.play(try Support.match(command, "random", games: 40), to: path).bytes
      try Data(whole[..<(whole.count / 2)]).write(to: URL(filePath: path))
      let places = [URL(filePath: Support.arena).deletingLastPathComponent().path]
      var run = try Run(resuming: path, threads: 2, guardExecutable: Support.arena, folders: places)
      let report = try run.play()
      let file = try Support.games(path)
      #expect(report.games == 40 && file.games.count == 40 && file.isFinished)
      #expect(report.resumedGames > 5 && report.resumedGames < 40)
    }
  }
}
