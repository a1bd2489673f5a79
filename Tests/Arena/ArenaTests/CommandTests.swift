import Base
import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@testable import Arena

@Suite("Commands of the arena", .serialized) struct CommandTests {
  @Test(arguments: [
    ["run"], ["run", "--x", "random"], ["run", "--x", "random", "--o", "nobody"], ["run", "--games", "3"],
    ["run", "--x", "random", "--o", "random", "--games", "3"],
    ["run", "--x", "random", "--o", "random", "--threads", "0"],
    ["run", "--x", "random", "--o", "random", "--openings", "random:9"],
    ["run", "--x", "random", "--o", "random", "--openings", "/no/such/file"],
    ["run", "--x", "random", "--o", "random", "--sprt", "elo0=1"],
    ["run", "--x", "random", "--o", "random", "--tc", "x"],
    ["run", "--x", "random", "--o", "random", "--format", "league"],
    ["run", "--x", "random", "--o", "random", "--date", "today"],
    ["run", "--x", "random", "--o", "random", "--out", "/no/such/folder/file"],
    ["run", "--x", "menace:/no/such/file", "--o", "random"],
    ["run", "--x", "random", "--o", "random", "--save-menace", "/tmp/never"],
    ["run", "--player", "random", "--player", "random", "--player", "random"],
    ["run", "--player", "random", "--player", "perfect", "--format", "swiss", "--rounds", "2"],
    ["exact", "--x", "mcts:5", "--o", "random"], ["run", "--x", "random", "--o", "random", "--shard", "0/3"],
    ["run", "--x", "menace", "--o", "random", "--shard", "1/3"], ["merge", "/no/such/file", "--out", "/tmp/never"],
    ["run", "--x", "random", "--o", "random", "--out", "/dev/null", "--force"], ["sprt", "elo0=1"],
    ["run", "-engine", "name=x", "--player", "random"], ["run", "-each", "tc=1", "--x", "random", "--o", "random"],
    ["exact", "--x", "cmd:x", "--o", "random"], ["exact", "--x", "random"], ["perft", "10"], ["perft", "x"],
    ["solve", "--position", "4/3/3"], ["analyse", "/no/such/file"], ["resume", "/no/such/file"], ["dance"],
    ["engine", "--player", "cmd:x"], ["menace", "show", "/no/such/file"], ["menace", "train", "--games", "0"],
    ["run", "--nonsense"], ["analyse", "/proc/self/mem"], ["resume", "/proc/self/mem"],
    ["exact", "--x", "menace:/proc/self/mem", "--o", "random"],
    ["run", "--x", "random", "--o", "random", "--openings", "/proc/self/mem"],
    ["run", "--x", "random", "--o", "random", "--out", "/tmp/never", "--pgn", "/tmp/./never"],
  ])
  func `wrong arguments end with code 2 and one line`(arguments: [String]) throws {
    let output = try Support.run(arguments)
    #expect(output.code == 2, "\(output)")
    #expect(output.err.split(separator: "\n").count == 1 && output.err.hasPrefix("alina-arena: "), "\(output.err)")
    #expect(output.out.isEmpty)
  }

  @Test(arguments: [["--help"], ["--version"], ["run", "--help"], ["help", "exact"]])
  func `help and version go to standard output`(arguments: [String]) throws {
    let output = try Support.run(arguments)
    #expect(output.code == 0 && !output.out.isEmpty && output.err.isEmpty)
  }

  @Test(arguments: [
    ["run", "--x", "levels:3", "--o", "perfect", "--games", "20", "--json"],
    ["run", "--player", "random", "--player", "menace", "--player", "adaptive", "--format", "round-robin", "--json"],
    ["exact", "--x", "levels:3", "--o", "random", "--json"], ["perft", "5", "--json"],
    ["solve", "--position", "X1O/1X1/3 o", "--json"], ["menace", "train", "--games", "20", "--json"],
    ["menace", "show", "--json"],
  ])
  func `every report is available as JSON`(arguments: [String]) throws {
    let output = try Support.run(arguments)
    #expect(output.code == 0 && output.err.isEmpty)
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(output.out.utf8)) }
  }

  @Test func `solve shows value and distance of the position and, on a board, of each move`() throws {
    let output = try Support.run(["solve", "--position", "X1O/1X1/3 o"])
    #expect(
      output.out == """
        position  X1O/1X1/3 o
        O to move: draw, 6 plies to the end
        keep it   c1
        best      c1
        threats   X wins at c1
          3  X   -2  O\u{20}\u{20}
          2  -2  X   -2\u{20}
          1  -2  -2  =6\u{20}
             a   b   c
        (+N wins, =N draws, -N loses; N plies to the end)

        """)
  }

  @Test func `analyse names the first mistake, only moves and accuracy`() throws {
    let game = "1. a1 b1 2. c3 b2 3. c1 b3 0-1"
    let text = try Support.run(["analyse", "-"], input: game).out
    #expect(text.contains("first mistake: move 2, O b1"))
    #expect(text.contains("2. O b1  loss in"))
    #expect(text.contains("accuracy: X "))
    let json = try Support.run(["analyse", "-", "--json"], input: game).out
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as! [String: Any]
    #expect(object["firstMistake"] as? Int == 2)
    #expect((object["moves"] as! [Any]).count == 6)
    let wrong = try Support.run(["analyse", "-"], input: "1. b2\nb2 *")
    #expect(wrong.code == 2 && wrong.err.contains("line 2, column 1"))
  }

  @Test func `files are overwritten only with --force, and --pgn works without a file of games`() throws {
    try Support.withFolder { folder in
      let arguments = ["run", "--x", "random", "--o", "perfect", "--games", "10", "--out", folder + "/a"]
      #expect(try Support.run(arguments).code == 0)
      #expect(try Support.run(arguments).code == 2)
      #expect(try Support.run(arguments + ["--force"]).code == 0)
      let pgn = try Support.run(
        ["run", "--x", "random", "--o", "perfect", "--games", "10", "--pgn", folder + "/p", "--date", "2026.11.21"])
      #expect(pgn.code == 0)
      #expect(try Record.all(in: try String(contentsOfFile: folder + "/p", encoding: .utf8)).count == 10)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["a", "p"])
      for file in ["/a", "/p"] {
        let analysed = try Support.run(["analyse", folder + file, "--json"])
        #expect(analysed.out.split(separator: "\n").count == 10)
        #expect(try Support.run(["analyse", folder + file]).out.hasPrefix("random – perfect, "))
      }
      mkfifo(folder + "/fifo", 0o600)
      symlink(folder + "/a", folder + "/link")
      for place in ["/fifo", "/link"] {
        let refused = try Support.run(arguments.dropLast() + [folder + place, "--force"])
        #expect(refused.code == 2 && refused.err.contains("is not a regular file"), "\(refused)")
      }
    }
  }

  @Test func `a full output device is an error`() throws {
    for arguments in [
      "run --x random --o random --json", "perft 3", "exact --x random --o random", "menace show", "--help",
    ] {
      let output = try Support.shell("exec \(Support.arena) \(arguments) > /dev/full")
      #expect(output.code == 3 && output.err.contains("standard output cannot be written"), "\(output)")
    }
  }

  @Test func `a read error is not taken for the end of a file`() throws {
    for arguments in ["analyse /proc/self/mem", "run --x random --o random --openings /proc/self/mem"] {
      #expect(try Support.run(arguments.split(separator: " ").map(String.init)).err.contains(": Input/output error"))
    }
  }

  @Test func `standard input, output and error may be full or closed`() throws {
    for place in ["/dev/full", "&-"] {
      #expect(try Support.shell("exec \(Support.arena) nonsense 2>\(place)").code == 2)
      try Support.withFolder { folder in
        let games = "--games 100000 --progress always --out \(folder)/a"
        #expect(try Support.shell("exec \(Support.arena) run --x random --o random \(games) 2>\(place)").code == 0)
        let file = try Support.games(folder + "/a")
        #expect(file.isFinished && file.games.count == 100_000)
      }
    }
    let closed = "exec \(Support.arena) run --x 'cmd:\(Support.bot)' --o random --games 2 <&- >&- 2>&-"
    #expect(try Support.shell(closed).code == 3)
  }

  @Test func `a FIFO is refused as a file of games, boxes, curves or engine output`() throws {
    try Support.withFolder { folder in
      let fifo = folder + "/fifo"
      mkfifo(fifo, 0o600)
      for arguments in [
        "resume \(fifo)", "menace train --games 2 --save \(fifo)", "menace train --games 2 --svg \(fifo)",
        "run -engine cmd=\(Support.bot) stderr=\(fifo) --player random --games 2",
      ] {
        let output = try Support.shell("exec timeout -s KILL 60 \(Support.arena) \(arguments)")
        #expect(output.code == 2 && output.err.contains(fifo), "\(arguments): \(output)")
        var status = stat()
        #expect(lstat(fifo, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
      }
    }
  }

  @Test(.needs("prlimit"), .needs("setpriv")) func `a run that gets no more threads ends with one error`() throws {
    try Support.withFolder { folder in
      // The limit of processes does not apply to root, so another user runs a copy of the program outside the build's folder.
      let program = try Support.copyArena(into: folder)
      let user = geteuid() == 0 ? "setpriv --reuid=54321 --regid=54321 --clear-groups" : ""
      let run = "\(program) run --x random --o random --threads 2"
      let output = try Support.shell("exec timeout -s KILL 60 prlimit --nproc=1 \(user) \(run)")
      #expect(output.code == 3 && output.err.contains("the system has no more threads"), "\(output)")
    }
  }

  @Test func `a run that gets no more file descriptors ends with an error that says so, and loses no game`() throws {
    try Support.withFolder { folder in
      let engines = (0..<17).map { _ in "--player 'cmd:\(Support.bot)'" }.joined(separator: " ")
      let output = try Support.shell(
        "ulimit -n 40; exec \(Support.arena) run \(engines) --format round-robin --games 2 --threads 16 --out \(folder)/a"
      )
      #expect(output.code == 3 && output.err.contains("the system has no more "), "\(output)")
      #expect(output.err.split(separator: "\n").count == 1)
      #expect(try Support.games(folder + "/a").games.allSatisfy { $0.game.ending == .normal })
    }
  }

  @Test func `Ctrl-C ends a run with a hanging engine, and prints how to resume`() throws {
    try Support.withFolder { folder in
      let arena = try Child(
        [
          Support.arena, "run", "--x", "cmd:\(Support.misbehave) hang", "--o", "random", "--movetime", "3600000",
          "--out", folder + "/a b",
        ], errors: .pipe)
      #expect(eventually { FileManager.default.fileExists(atPath: folder + "/a b") })
      arena.signal(SIGINT)
      // The interrupted run would take an hour.
      #expect(try arena.wait() == 130)
      let message = String(decoding: arena.errors.readDataToEndOfFile(), as: UTF8.self)
      let fixtures = Support.folder.appending(path: "Fixtures").path
      #expect(message.contains("alina-arena resume '\(folder)/a b' --where \(fixtures)\n"), "\(message)")
    }
  }

  @Test func `merged shards equal a single run byte for byte, or the missing ones are named`() throws {
    try Support.withFolder { folder in
      for (number, players) in [
        "--x levels:3 --o levels:2 --games 40000 --openings random:2", "--x random --o random --games 100000",
        "--player random --player perfect --player levels:2 --player mcts:5 --format round-robin --games 60",
      ].enumerated() {
        let arguments = ["run"] + players.split(separator: " ").map(String.init) + ["--seed", "5"]
        let whole = "\(folder)/whole\(number)"
        #expect(try Support.run(arguments + ["--out", whole]).code == 0)
        let shards = (1...5).map { "\(folder)/shard\(number)-\($0)" }
        for shard in 1...5 {
          let output = try Support.run(
            arguments + ["--shard", "\(shard)/5", "--threads", "\(shard)", "--out", shards[shard - 1]])
          #expect(output.code == 0, "\(output)")
        }
        // Cuts the file of shard 3, as if its run had been killed.
        let third = try #require(FileManager.default.contents(atPath: shards[2]))
        try third.prefix(third.count / 2).write(to: URL(filePath: shards[2]))
        func merge(_ files: [String]) throws -> Support.Output {
          try Support.run(["merge"] + files + ["--out", folder + "/merged", "--force"])
        }
        try Data("old".utf8).write(to: URL(filePath: folder + "/merged"))
        let torn = try merge(shards)
        #expect(torn.code == 2 && torn.err.contains("shard 3/5 is not finished"), "\(torn)")
        #expect(FileManager.default.contents(atPath: folder + "/merged") == Data("old".utf8))
        #expect(try Support.run(["resume", shards[2]]).code == 0)
        #expect(FileManager.default.contents(atPath: shards[2]) == third)
        let merged = try merge([shards[3], shards[0], shards[4], shards[2], shards[1]])
        #expect(merged.code == 0, "\(merged)")
        #expect(FileManager.default.contents(atPath: folder + "/merged") == FileManager.default.contents(atPath: whole))
        let missing = try merge(Array(shards[1...3]))
        #expect(missing.code == 2 && missing.err.contains("missing: shard 1/5, 5/5"))
        #expect(try merge(shards + [shards[0]]).err.contains("are both shard 1/5"))
        let counted = try Support.run(["merge", shards[1], shards[4], "--sprt", "elo0=0,elo1=20"])
        let games = "games \(number == 0 ? 16000 : 40000):"
        let isTested = counted.out.contains("  SPRT  ") && counted.out.contains(games)
        #expect(number < 2 ? isTested : counted.err.contains("--sprt needs a match of two players"), "\(counted)")
        #expect(try merge([whole]).err.contains("is not a shard of a run"))
        #expect(
          try Support.run(arguments.dropLast() + ["6", "--shard", "1/5", "--out", folder + "/x", "--force"]).code == 0)
        let other = try merge([folder + "/x"] + shards[1...])
        #expect(other.code == 2 && other.err.contains("seed is "), "\(other)")
      }
    }
  }

  /// The package moreutils has a different program of this name.
  private static let hasGNUParallel =
    program("parallel").flatMap { try? Child.run([$0, "--version"]) }?.out.hasPrefix("GNU parallel") == true

  @Test(.enabled(if: hasGNUParallel, "not installed: GNU parallel"))
  func `GNU parallel runs shards with the documented command`() throws {
    try Support.withFolder { folder in
      let run = "\(Support.arena) run --x levels:3 --o perfect --games 1000 --seed 7"
      let output = try Support.shell(
        """
        cd \(folder) && parallel --will-cite '\(run) --threads 1 --shard {}/4 --out shard-{}.jsonl' ::: 1 2 3 4 >/dev/null &&
        \(Support.arena) merge shard-*.jsonl --out games.jsonl >/dev/null && \(run) --out whole.jsonl >/dev/null &&
        cmp games.jsonl whole.jsonl
        """)
      #expect(output.code == 0, "\(output)")
    }
  }

  @Test func `progress is shown on request and never in a pipe`() throws {
    let quiet = try Support.run(["run", "--x", "random", "--o", "random", "--games", "200000"])
    #expect(quiet.err.isEmpty)
    let loud = try Support.run(
      ["run", "--x", "random", "--o", "random", "--games", "200000", "--progress", "always"])
    #expect(loud.err.contains("/200000 games, ") && loud.err.contains(" a second"))
  }

  @Test func `an interrupt ends with code 130 and a file that resumes to the same bytes`() throws {
    try Support.withFolder { folder in
      let arguments = ["--x", "mcts:300", "--o", "levels:5", "--games", "12000", "--seed", "5"]
      #expect(try Support.run(["run"] + arguments + ["--out", folder + "/whole"]).code == 0)
      let arena = try Child([Support.arena, "run"] + arguments + ["--out", folder + "/cut"], errors: .pipe)
      #expect(
        eventually { (FileManager.default.contents(atPath: folder + "/cut")?.count ?? 0) > 600 })
      arena.signal(SIGINT)
      #expect(try arena.wait() == 130)
      let message = String(decoding: arena.errors.readDataToEndOfFile(), as: UTF8.self)
      #expect(message.contains("resume \(folder)/cut"))
      #expect(try Support.run(["resume", folder + "/cut"]).code == 0)
      #expect(
        FileManager.default.contents(atPath: folder + "/cut") == FileManager.default.contents(atPath: folder + "/whole")
      )
      let again = try Support.run(["resume", folder + "/cut"])
      #expect(again.code == 0 && again.err.contains("finished already"))
      let changed = try Support.run(["resume", folder + "/cut", "--seed", "6"])
      #expect(changed.code == 2 && changed.err.contains("seed is 5 in the file, now 6"))
    }
  }

  @Test(.long) func `a run killed at random moments and resumed ends with the file of a whole run`() throws {
    let kills = Support.isSlow ? 200 : 10
    var generator = SplitMix64(seed: 77)
    try Support.withFolder { folder in
      var done = 0
      var round = 0
      while done < kills {
        round += 1
        let arguments = [
          "--player", "menace", "--player", "levels:3", "--player", "adaptive", "--player", "mcts:20", "--format",
          "round-robin", "--games", "1500", "--seed", "\(round)", "--threads", "\(1 + round % 3)",
        ]
        #expect(try Support.run(["run"] + arguments + ["--out", folder + "/whole", "--force"]).code == 0)
        let whole = FileManager.default.contents(atPath: folder + "/whole")
        try? FileManager.default.removeItem(atPath: folder + "/cut")
        var isFirst = true
        while true {
          let command = isFirst ? ["run"] + arguments + ["--out", folder + "/cut"] : ["resume", folder + "/cut"]
          let arena = try Child([Support.arena] + command)
          usleep(UInt32(15_000 + generator.below(60_000)))
          let wasRunning = arena.isRunning
          arena.kill()
          isFirst = !FileManager.default.fileExists(atPath: folder + "/cut")
          if !wasRunning { break }
          done += 1
          if done >= kills, done % 10 == 0 { break }
        }
        let last = isFirst ? ["run"] + arguments + ["--out", folder + "/cut"] : ["resume", folder + "/cut"]
        let end = try Support.run(last)
        #expect(end.code == 0, "\(end)")
        #expect(FileManager.default.contents(atPath: folder + "/cut") == whole, "round \(round)")
      }
    }
  }

  @Test func `menace is trained in a match, saved, loaded and shown`() throws {
    try Support.withFolder { folder in
      let boxes = folder + "/boxes"
      let taught = try Support.run(
        ["run", "--x", "menace", "--o", "random", "--games", "2000", "--save-menace", boxes])
      #expect(taught.code == 0, "\(taught)")
      #expect(try Support.run(["menace", "show", boxes]).out.hasPrefix("593 boxes, 2000 games learned"))
      let again = try Support.run(
        ["run", "--x", "menace:\(boxes)", "--o", "random", "--games", "100", "--freeze", "--out", folder + "/a"])
      #expect(again.code == 0)
      let header = try String(contentsOfFile: folder + "/a", encoding: .utf8).prefix { $0 != "\n" }
      #expect(header.contains("\"sha256\":"))
      let trained = try Support.run(
        ["menace", "train", "--opponent", "perfect", "--games", "100", "--load", boxes, "--svg", folder + "/c.svg"])
      #expect(trained.code == 0 && trained.out.contains("2100 games"))
      #expect(try String(contentsOfFile: folder + "/c.svg", encoding: .utf8).contains("</svg>"))
      #expect(try Support.run(["exact", "--x", "menace:\(boxes)", "--o", "random"]).code == 0)
    }
  }

  @Test(.long) func `scores of music are the same files for any number of threads and after a resume`() throws {
    try Support.withFolder { folder in
      // Games that start near their end have short music.
      let openings = "fen 1XO/XO1/1X1 o\nfen XOX/OOX/1X1 o\nfen XO1/OX1/3 x"
      try openings.write(toFile: folder + "/openings", atomically: true, encoding: .utf8)
      let players = [
        "--x", "levels:2", "--o", "random", "--games", "60", "--seed", "3", "--openings", folder + "/openings",
      ]
      func files(_ name: String) throws -> [String: Data] {
        var result: [String: Data] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)") {
          result[file] = FileManager.default.contents(atPath: "\(folder)/\(name)/\(file)")
        }
        return result
      }
      let one = try Support.run(
        ["run"] + players + ["--threads", "1", "--render", folder + "/1", "--out", folder + "/games", "--json"])
      #expect(one.code == 0 && one.err.isEmpty, "\(one)")
      let report = try JSONSerialization.jsonObject(with: Data(one.out.utf8)) as! [String: Any]
      let scores = report["scores"] as! [[String: Any]]
      #expect(scores.flatMap { $0["choices"] as! [String] }.sorted() == ["dramatic", "first", "longest", "shortest"])
      let first = try files("1")
      #expect(Set(scores.flatMap { $0["files"] as! [String] }) == Set(first.keys.map { "\(folder)/1/\($0)" }))
      for (name, data) in first {
        let begins = ["pgn": "[Event ", "flac": "fLaC", "mid": "MThd", "musicxml": "<?xml", "svg": "<svg", "txt": ""]
        let kind = String(name.split(separator: ".")[1])
        #expect(data.count > 100 && data.starts(with: Data((begins[kind] ?? "none").utf8)), "\(name)")
      }
      let games = try Support.games(folder + "/games").games
      for score in scores {
        let names = score["choices"] as! [String]
        let record = try Record.all(in: String(decoding: try #require(first["\(names[0]).pgn"]), as: UTF8.self))
        #expect(record.count == 1 && record[0].game.moves == games[score["game"] as! Int].game.moves)
      }
      // A run that is resumed from half of its file must leave the same files of music as the first run, and no others.
      let whole = try #require(FileManager.default.contents(atPath: folder + "/games"))
      try whole.prefix(whole.count / 2).write(to: URL(filePath: folder + "/games"))
      try FileManager.default.createDirectory(atPath: folder + "/2", withIntermediateDirectories: true)
      for name in Highlight.names { try Data("old".utf8).write(to: URL(filePath: "\(folder)/2/\(name).svg")) }
      let resumed = try Support.run(["resume", folder + "/games", "--threads", "2", "--render", folder + "/2"])
      #expect(resumed.code == 0 && resumed.out.contains("/2/first.flac"))
      #expect(try files("2") == first)
    }
  }

  @Test func `an unwritable folder is refused before the first game`() throws {
    try Support.withFolder { folder in
      try Data().write(to: URL(filePath: folder + "/file"))
      for bad in ["/proc/alina", folder + "/file", folder + "/file/in"] {
        let output = try Support.run(
          ["run", "--x", "random", "--o", "random", "--games", "1000000000", "--render", bad, "--out", folder + "/out"])
        #expect(output.code == 2 && output.err.contains("--render \(bad) cannot be written"), "\(output)")
        #expect(output.err.split(separator: "\n").count == 1)
      }
      for (option, bad) in [("--pgn", "/proc/alina/x"), ("--pgn", folder), ("--save-menace", "/no/such/folder/x")] {
        let output = try Support.run(
          ["run", "--x", "menace", "--o", "random", "--games", "1000000000", option, bad, "--out", folder + "/out"])
        #expect(output.code == 2 && output.err.contains("\(option) \(bad)"), "\(output)")
      }
      let rules = try Support.run(
        ["run", "--x", "random", "--o", "random", "--render", folder + "/r", "--score-rules", "no-such-rules"])
      #expect(rules.code == 2 && rules.err.contains("no-such-rules: no such rule file"), "\(rules)")
      #expect(!FileManager.default.fileExists(atPath: folder + "/out"))
    }
  }

  @Test func `a game without moves has a score of music`() throws {
    try Support.withFolder { folder in
      let output = try Support.run([
        "run", "--x", "cmd:\(Support.misbehave) at-once", "--o", "random", "--games", "2", "--render", folder, "--json",
      ])
      #expect(output.code == 0, "\(output)")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(names.sorted() == ["first.flac", "first.mid", "first.musicxml", "first.pgn", "first.svg", "first.txt"])
    }
  }

  @Test func `matchboxes are saved as they were when the sequential test reached its verdict`() throws {
    try Support.withFolder { folder in
      let run = ["--x", "menace", "--o", "random", "--sprt", "elo0=0,elo1=50", "--seed", "3", "--threads", "2"]
      for games in ["20000", "4000"] {
        let output = try Support.run(["run"] + run + ["--games", games, "--save-menace", "\(folder)/\(games)"])
        #expect(output.code == 0, "\(output)")
      }
      let (one, other) = ("\(folder)/20000", "\(folder)/4000")
      #expect(FileManager.default.contentsEqual(atPath: one, andPath: other))
    }
  }

  @Test func `headers and games contain no paths, and a run resumes after its programs were moved`() throws {
    try Support.withFolder { folder in
      for name in ["a", "b", "c"] {
        try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
      }
      let engine = try #require(FileManager.default.contents(atPath: Support.bot))
      try engine.write(to: URL(filePath: folder + "/a/my-engine.py"))
      #expect(
        try Support.run(["run", "--x", "menace", "--o", "random", "--save-menace", folder + "/a/boxes"]).code == 0)
      let command = "cmd:python3 \(folder)/a/my-engine.py --book=\(folder)/a/boxes"
      let games = folder + "/c/games"
      let arguments = ["--x", command, "--o", "menace:\(folder)/a/boxes", "--games", "10", "--movetime", "5000"]
      #expect(try Support.run(["run"] + arguments + ["--out", games]).code == 0)
      let whole = try #require(FileManager.default.contents(atPath: games))
      let text = String(decoding: whole, as: UTF8.self)
      #expect(!text.contains(folder) && !text.contains("/a/"), "\(text.prefix(600))")
      #expect(text.contains(#""spec":"cmd:python3 …/my-engine.py --book=…/boxes""#))
      #expect(text.contains(#""spec":"menace:…/boxes""#))
      func cut() throws { try whole.prefix(whole.count * 2 / 3).write(to: URL(filePath: games)) }

      // Without an engine's program at its old path, in the working folder or beside the file of games, `resume` must name --where.
      try cut()
      try FileManager.default.moveItem(atPath: folder + "/a/my-engine.py", toPath: folder + "/b/my-engine.py")
      let lost = try Support.run(["resume", games])
      #expect(lost.code == 2 && lost.err.contains("no file 'my-engine.py' with SHA-256 "), "\(lost.err)")
      #expect(lost.err.contains("--where FOLDER") && lost.err.split(separator: "\n").count == 1)
      let found = try Support.run(["resume", games, "--where", folder + "/a", "--where", folder + "/b"])
      #expect(found.code == 0, "\(found)")
      #expect(
        FileManager.default.contents(atPath: games)?.prefix(text.prefix { $0 != "\n" }.utf8.count)
          == whole.prefix(text.prefix { $0 != "\n" }.utf8.count))
      #expect(try Support.games(games).games.count == 10)

      try cut()
      let again = try Support.run([
        "resume", games, "--x", "cmd:python3 \(folder)/b/my-engine.py --book=\(folder)/a/boxes", "--o",
        "menace:\(folder)/a/boxes",
      ])
      #expect(again.code == 0, "\(again)")

      try cut()
      try (engine + Data("# changed\n".utf8)).write(to: URL(filePath: folder + "/b/my-engine.py"))
      let changed = try Support.run(["resume", games, "--where", folder + "/a", "--where", folder + "/b"])
      #expect(changed.code == 2 && changed.err.contains("my-engine.py"), "\(changed.err)")
      let given = try Support.run([
        "resume", games, "--x", "cmd:python3 \(folder)/b/my-engine.py --book=\(folder)/a/boxes", "--o",
        "menace:\(folder)/a/boxes",
      ])
      #expect(given.code == 2 && given.err.contains("files of cmd:python3 …/my-engine.py"), "\(given.err)")
    }
  }
}
