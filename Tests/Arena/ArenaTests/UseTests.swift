import Foundation
import Records
import TestSupport
import Testing

@testable import Arena

@Suite("Options and behaviour known from other match runners", .serialized) struct UseTests {
  @Test func `engines are given with cutechess-cli's options, and the live line has score, ratio and time`() throws {
    try Support.withFolder { folder in
      let book = #"[{"name":"B","command":"\#(Support.bot)","options":[{"name":"Depth","value":3}]}]"#
      try book.write(toFile: folder + "/engines.json", atomically: true, encoding: .utf8)
      let output = try Support.shell(
        """
        cd \(folder) && exec \(Support.arena) run -engine conf=B tc=40/1:00+1 -engine cmd=\(Support.bot) name=A option.Hash=16 \
        -each st=5 stderr=errors.log --games 20 -sprt elo0=-900 elo1=900 --out games --progress always
        """)
      #expect(output.code == 0, "\(output)")
      for part in [" games, ", ", score 0.", ", Elo ", ", LLR ", " s left"] {
        #expect(output.err.contains(part), "\(output)")
      }
      let configuration = try GameFileReader(folder + "/games").configuration
      #expect(configuration.names == ["B", "A"])
      #expect(configuration.entrants.map(\.engine.time?.clock) == [60_000, 0])
      #expect(configuration.entrants.map { $0.engine.options.map(\.value) } == [["3"], ["16"]])
      let unknown = try Support.shell("cd \(folder) && exec \(Support.arena) run -engine conf=C --player random")
      #expect(unknown.code == 2 && unknown.err.contains("no such engine in engines.json or "), "\(unknown)")
    }
  }

  @Test func `a second interrupt ends the arena at once`() throws {
    let arena = try Child(
      [Support.arena, "run", "--x", "mcts:100000000", "--o", "random", "--progress", "always"], errors: .pipe)
    // From its first output on the arena handles signals.
    var message = arena.errors.availableData
    // While SIGSTOP stops the arena, SIGINT and SIGTERM wait. Both arrive when the arena continues.
    for signal in [SIGSTOP, SIGINT, SIGTERM, SIGCONT] { arena.signal(signal) }
    #expect(try arena.wait() == 130)
    message += arena.errors.readDataToEndOfFile()
    #expect(!message.isEmpty && !String(decoding: message, as: UTF8.self).contains("interrupted"))
  }

  @Test func `an interrupt during the writing of PGN leaves no file`() throws {
    try Support.withFolder { folder in
      _ = try Support.play(try Support.match("random", "perfect", games: 20), to: folder + "/games")
      let stop = StopSignal()
      #expect(try PGNExport.write(folder + "/games", to: folder + "/a", stop: stop))
      stop.set()
      #expect(try !PGNExport.write(folder + "/games", to: folder + "/b", stop: stop))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["a", "games"])
    }
  }

  @Test(.needs("python3")) func `memory does not grow with the number of games`() throws {
    func peak(_ games: Int) throws -> Int {
      let code = """
        import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        """
      let arguments = ["run", "--x", "random", "--o", "random", "--games", "\(games)", "--threads", "2"]
      let output = try Support.run(["python3", "-c", code, Support.arena] + arguments, program: "/usr/bin/env")
      return try #require(Int(output.out.trimmingCharacters(in: .whitespacesAndNewlines)), "\(output)")
    }
    let (few, many) = (try peak(1_000_000), try peak(20_000_000))
    #expect(many < few + few / 4, "\(few) and \(many) KiB")
  }

  @Test(.long) func `our own PGN of more than 64 MiB is read back`() throws {
    try Support.withFolder { folder in
      let pgn = folder + "/games.pgn"
      let games = ["run", "--x", "random", "--o", "perfect", "--games", "400000", "--pgn", pgn]
      #expect(try Support.run(games).code == 0)
      #expect(try #require(FileManager.default.contents(atPath: pgn)).count > 1 << 26)
      var (count, last) = (0, "")
      try RecordFile.forEach(of: pgn) { (record) in
        count += 1
        last = record[tag: "Round"] ?? ""
      }
      #expect(count == 400_000 && last == "400000")
    }
  }

  @Test
  func
    `outside the checkout assets are found in a package's folders, or the folders searched are named`()
    throws
  {
    try Support.withFolder { folder in
      let program = try Support.copyArena(into: folder + "/bin")
      let arguments = "run --x 'cmd:\(Support.misbehave) at-once' --o random --games 2 --render scores"
      let lost = try Support.shell("cd \(folder) && exec \(program) \(arguments)")
      #expect(
        lost.code == 2 && lost.err.contains("looked in ") && lost.err.contains("\(folder)/share/alina"), "\(lost)")
      #expect(lost.err.split(separator: "\n").count == 1)
      try FileManager.default.createDirectory(atPath: folder + "/share", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: repository.appending(path: "Assets").path, toPath: folder + "/share/alina")
      let found = try Support.shell("cd \(folder) && exec \(program) \(arguments)")
      #expect(found.code == 0 && found.out.contains("scores/first.flac"), "\(found)")
      let game = "\(folder)/game.pgn"
      try "[Variant \"Ultimate\"]\n\n1. e5 e4 *\n".write(toFile: game, atomically: true, encoding: .utf8)
      for arguments in [
        "run --rules ultimate --x levels:5 --o random --games 2", "review \(game) --simulations 10",
        "engine --batch --rules ultimate --player levels:6", "run --rules ultimate --x search:10 --o random --games 2",
      ] {
        let there = try Support.shell("cd / && exec \(program) \(arguments) </dev/null")
        #expect(there.code == 0, "\(arguments): \(there)")
        let away = try Support.shell(
          "cd / && mv \(folder)/share \(folder)/away; \(program) \(arguments) </dev/null; code=$?; "
            + "mv \(folder)/away \(folder)/share; exit $code")
        let isBatch = arguments.hasPrefix("engine")
        #expect(isBatch || away.code == 2 && away.err.contains("ultimate.values is missing; looked in "), "\(away)")
      }
    }
  }
}
