import Foundation
import Opponents
import Testing
import TicTacToe

@testable import Arena

@Suite("Engines", .serialized) struct EngineEndToEndTests {
  @Test func `our engine answers cutechess-cli as the transcript says`() throws {
    let file = Support.folder.appending(path: "Goldens/cutechess.txt")
    let golden = try String(contentsOf: file, encoding: .utf8)
    var server = UCIServer(player: PerfectDistanceOpponent(), seed: 1)
    var transcript = golden.split(separator: "\n").prefix(1).map(String.init)
    for line in golden.split(separator: "\n") where line.hasPrefix(">") {
      transcript.append(String(line))
      switch server.handle(String(line.dropFirst(2))) {
      case .reply(let lines): transcript += lines.map { "< \($0)" }
      case .quit: break
      }
    }
    let ours = transcript.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      try ours.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(ours == golden)
  }

  @Test func `the program answers as the library does`() throws {
    let golden = try String(contentsOf: Support.folder.appending(path: "Goldens/cutechess.txt"), encoding: .utf8)
    let lines = golden.split(separator: "\n")
    let input = lines.filter { $0.hasPrefix(">") }.map { String($0.dropFirst(2)) + "\n" }.joined()
    let expected = lines.filter { $0.hasPrefix("<") }.map { String($0.dropFirst(2)) + "\n" }.joined()
    let output = try Support.run(["engine", "--player", "perfect_distance"], input: input)
    #expect(output.out == expected && output.code == 0)
  }

  @Test func `positions and moves are read in both notations`() {
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

  @Test func `our engine plays under our arena, in both seats, as its player does`() throws {
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

  @Test(arguments: [
    ("crash", "crashed with signal 6"), ("exit", "exited with code 7"), ("hang", "no move within"),
    ("cheat", "illegal move"), ("nonsense", "illegal move 'z9'"), ("no-move", "illegal move ''"),
    ("binary", "no text"), ("flood", "without a move"), ("close", "closed its output"), ("late", "no move within"),
    ("megabyte", "a line of more than 4096 bytes"),
  ])
  func `an engine that misbehaves loses with its reason, and is started again`(mode: String, says: String) throws {
    var configuration = try Support.match("cmd:\(Support.misbehave) \(mode)", "perfect", games: 4)
    let isLate = mode == "hang" || mode == "late"
    // Only who is late is measured: the others must have said or done it before their time is over, on any machine.
    configuration.time.moveTime = isLate ? 250 : 10_000
    try Support.withFolder { folder in
      let (bytes, report) = try Support.play(configuration, threads: 1, to: folder + "/a")
      #expect(report.games == 4 && report.match.total.losses == 4)
      #expect(report.forfeits.allSatisfy { $0.player == 0 && $0.reason.contains(says) }, "\(report.forfeits)")
      #expect(report.forfeits.reduce(0) { $0 + $1.count } == 4)
      let file = try GameFile(path: folder + "/a")
      #expect(file.reasons.count == 4 && file.games.allSatisfy { $0.ending != .normal })
      let termination = isLate ? "time" : "forfeit"
      #expect(String(decoding: bytes, as: UTF8.self).contains("\"termination\":\"\(termination)\""))
      try PGNExport.write(folder + "/a", to: folder + "/pgn")
      let records = try Record.all(in: try String(contentsOfFile: folder + "/pgn", encoding: .utf8))
      #expect(records.allSatisfy { $0[tag: "Reason"]?.contains(says) == true })
    }
    #expect(Support.eventually(within: 20) { Support.processes(holding: "misbehave.py \(mode)") == 0 })
  }

  @Test func `hanging engines do not wait for one another, nor others for them`() throws {
    // What is measured is waiting, and as a ratio: four pairings in which an engine hangs take little longer than one.
    func seconds(_ pairings: Int) throws -> Double {
      let hanging = [String](repeating: "cmd:\(Support.misbehave) hang", count: pairings)
      var configuration = try Support.tournament(["random", "perfect"] + hanging, .gauntlet, games: 6)
      configuration.time.moveTime = 600
      var run = try Run(configuration, threads: 1, guardExecutable: Support.arena)
      let report = try run.play()
      #expect(report.games == 6 * (pairings + 1) && report.forfeits.allSatisfy { $0.reason.contains("no move within") })
      return report.seconds
    }
    let (one, four) = (try seconds(1), try seconds(4))
    #expect(four < 2.5 * one, "one pairing \(one) s, four \(four) s")
  }

  @Test(arguments: [
    ("grandchildren", "sleep 987654", 8), ("escape", "sleep 987653", 4), ("comet", "misbehave.py comet", 8),
  ])
  func `everything an engine started dies with it, and with a killed arena`(
    mode: String, holding text: String, atLeast count: Int
  ) throws {
    // Fathers die, sessions are left, processes change places: what counts is that none is there in the end.
    func isGone() -> Bool {
      Support.processes(holding: text) == 0 && Support.processes(holding: "misbehave.py \(mode)") == 0
    }
    #expect(isGone())
    var run = try Run(
      try Support.match("cmd:\(Support.misbehave) \(mode)", "random", games: 4), threads: 1,
      guardExecutable: Support.arena)
    let report = try run.play()
    #expect(report.games == 4 && report.forfeits.isEmpty, "\(report.forfeits)")
    // Here there is nothing to wait for: an engine's end is the end of all it started.
    #expect(isGone())

    let process = Process()
    process.executableURL = URL(filePath: Support.arena)
    process.arguments = [
      "run", "--x", "cmd:\(Support.misbehave) \(mode)", "--o", "cmd:\(Support.misbehave) \(mode)", "--games", "1000000",
      "--threads", "2",
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    #expect(Support.eventually(within: 20) { Support.processes(holding: text) >= count })
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(Support.eventually { isGone() })
  }

  @Test(arguments: ["dies-at-start", "silent"])
  func `an engine that fails its handshake ends the program with code 1`(mode: String) throws {
    let output = try Support.run(["run", "--x", "cmd:\(Support.misbehave) \(mode)", "--o", "random", "--games", "2"])
    #expect(output.code == 1)
    #expect(output.err.split(separator: "\n").count == 1 && output.err.contains("misbehave.py \(mode)"))
    #expect(Support.eventually(within: 20) { Support.processes(holding: "misbehave.py \(mode)") == 0 })
  }

  @Test func `a program that is not there is named`() throws {
    let output = try Support.run(["run", "--x", "cmd:./no-such-engine", "--o", "random", "--games", "2"])
    #expect(output.code == 1 && output.err.contains("no-such-engine") && output.err.contains("No such file"))
  }

  @Test func `resuming games of engines loses none and repeats none`() throws {
    try Support.withFolder { folder in
      let path = folder + "/a"
      let command = "cmd:\(Support.arena) engine --player levels:3"
      let whole = try Support.play(try Support.match(command, "random", games: 40), to: path).bytes
      try Data(whole[..<(whole.count / 2)]).write(to: URL(filePath: path))
      let places = [URL(filePath: Support.arena).deletingLastPathComponent().path]
      var run = try Run(resuming: path, threads: 2, guardExecutable: Support.arena, folders: places)
      let report = try run.play()
      let file = try GameFile(path: path)
      #expect(report.games == 40 && file.games.count == 40 && file.footer != nil)
      #expect(report.resumedGames > 5 && report.resumedGames < 40)
    }
  }
}
