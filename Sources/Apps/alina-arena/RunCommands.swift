import Arena
import ArenaTexts
import ArgumentParser
import Foundation
import Processes
import TicTacToe

private let interruption = StopSignal()

private func noteInterruption(_ signal: Int32) { if interruption.set() { _exit(130) } }

enum ProgressMode: String, ExpressibleByArgument, CaseIterable {
  case auto, never, always
}

struct GameOptions: ParsableArguments {
  @Option(help: "The game: \(Variant.names) (default: classic).") var rules: String?
  @Option(help: "The first player of a match: it has X in the first game of each pair.") var x: String?
  @Option(help: "The second player of a match.") var o: String?
  @Option(
    help: ArgumentHelp("A player, as often as there are players: \(PlayerSpec.allowed).", valueName: "player"))
  var player: [String] = []
  @Option(
    help: ArgumentHelp(
      "An engine with settings, in cutechess-cli's words: -engine cmd=… name=… dir=… tc=… st=… nodes=… option.X=… env.X=… "
        + "stderr=…, or conf=NAME.", valueName: "words"))
  var engine: [String] = []
  @Option(help: ArgumentHelp("What every -engine begins with: -each tc=… option.X=….", valueName: "words"))
  var each: String?
  @Option(help: "match, round-robin, gauntlet, swiss or knockout (default: match).") var format: String?
  @Option(help: "Games of each pairing, even (default: 100).") var games: Int?
  @Option(help: "Rounds of a Swiss tournament.") var rounds: Int?
  @Option(help: "The seed of every choice (default: 1).") var seed: UInt64?
  @Option(help: "random:PLIES, or a file: an opening a line, EPD, or PGN.") var openings: String?
  @Option(help: "End a match early: elo0=0,elo1=20[,alpha=0.05,beta=0.05,model=pentanomial|trinomial|normalised].")
  var sprt: String?
  @Option(help: "Milliseconds an engine has for a move (default: 1000).") var movetime: Int?
  @Option(help: "Seconds and increment of an engine's clock, as 10+0.1.") var tc: String?
  @Option(help: "Nodes a move, sent to engines.") var nodes: Int?
  @Option(help: "Milliseconds granted beyond the limit (default: 50).") var margin: Int?
  @Option(
    help: "The result of Ultimate when nobody has a line: rules (a draw, the default) or boards (more boards win).")
  var ending: String?
  @Option(help: "Draw a game after this number of plies.") var maxPlies: Int?
  @Option(help: "Draw when both engines report values near 0: moves=4,score=10 (hundredths).") var draw: String?
  @Option(help: "A side loses when its engine reports the other side ahead by so much: moves=3,score=900 (hundredths).")
  var resign: String?
  @Flag(help: "Learning players do not learn.") var freeze = false
  @Option(
    help: ArgumentHelp("Play one of several equal shares of the games: 3/16; see merge.", valueName: "number/count"))
  var shard: String?
  @Option(help: "The date in records, as 2026.11.21.") var date: String?

  func apply(to configuration: inout RunConfiguration) throws(ArenaError) {
    var names = player
    if x != nil || o != nil {
      guard let x, let o, player.isEmpty else { throw ArenaError("--x and --o go together and without --player") }
      names = [x, o]
    }
    var entrants = try names.map { (name) throws(ArenaError) in RunConfiguration.Entrant(try PlayerSpec(name)) }
    for (name, value) in [("movetime", movetime), ("nodes", nodes), ("margin", margin)] {
      if let value { try configuration.time.apply(name, "\(value)") }
    }
    if let tc { try configuration.time.apply("tc", tc) }
    func words(_ text: String) -> [String] { text.split(separator: EngineSettings.separator).map(String.init) }
    for engine in engine {
      entrants.append(
        try EngineSettings.entrant(words(engine), each: words(each ?? ""), default: configuration.time))
    }
    guard each == nil || !engine.isEmpty else { throw ArenaError("-each needs an -engine") }
    if !entrants.isEmpty { configuration.entrants = entrants }
    if let format {
      guard let chosen = Format(rawValue: format) else {
        throw ArenaError("--format '\(format)': \(Format.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      configuration.format = chosen
    }
    if let games { configuration.games = games }
    if let rounds { configuration.rounds = rounds }
    if let seed { configuration.seed = seed }
    if let rules { configuration.variant = try Variant(option: rules) }
    if let openings { configuration.openings = try Openings(argument: openings, configuration.variant) }
    if let ending { configuration.adjudication.ending = try .init(option: ending) }
    if let maxPlies {
      guard (1...1000).contains(maxPlies) else { throw ArenaError("--max-plies \(maxPlies): 1–1000") }
      configuration.adjudication.maxPlies = maxPlies
    }
    if let draw { configuration.adjudication.draw = try .init(draw, option: "--draw") }
    if let resign { configuration.adjudication.resign = try .init(resign, option: "--resign") }
    if let sprt { configuration.sprt = try SPRT(sprt) }
    if let date {
      guard date.range(of: #"^[0-9?]{4}\.[0-9?]{2}\.[0-9?]{2}$"#, options: .regularExpression) != nil else {
        throw ArenaError("--date '\(date)': YYYY.MM.DD, ? where unknown")
      }
      configuration.date = date
    }
    if let shard { configuration.shard = try Shard(shard) }
    if freeze { configuration.isFrozen = true }
  }
}

struct GameFileOptions: ParsableArguments {
  @Option(help: "Write the games as JSON Lines; can be resumed.") var out: String?
  @Flag(help: "Replace the file of --out.") var force = false
}

/// Options that do not change which games are played.
struct OutputOptions: ParsableArguments {
  @Option(help: "Games at a time (default: cores).") var threads: Int?
  @Option(help: "Also write the games as PGN.") var pgn: String?
  @Option(help: "A progress line: auto (on a terminal), never, always.") var progress = ProgressMode.auto
  @Flag(help: "Print the result as JSON.") var json = false
  @Option(help: "Write every line to and from engines, with times.") var trace: String?
  @Option(help: "Save menace's boxes after a match.") var saveMenace: String?
  @OptionGroup var score: ScoreOptions

  func threadCount() throws(ArenaError) -> Int {
    let count = threads ?? ProcessInfo.processInfo.activeProcessorCount
    guard (1...256).contains(count) else { throw ArenaError("--threads \(count): 1–256") }
    return count
  }

  /// Throws before the first game if two options name the same file or a file cannot be written. `games` is the path of the file of games.
  func check(_ configuration: RunConfiguration, games: String?, force: Bool) throws(ArenaError) {
    if saveMenace != nil {
      let players = configuration.entrants.filter { if case .menace = $0.spec { true } else { false } }
      guard configuration.format == .match, players.count == 1 else {
        throw ArenaError("--save-menace needs a match in which exactly one player is menace")
      }
    }
    try checkPlaces(["--pgn": pgn], force: force)
    try checkPlaces(["--pgn": pgn, "--save-menace": saveMenace, "--trace": trace], besides: games, force: true)
  }

  func play(_ configuration: RunConfiguration, to file: GameFileOptions) throws {
    let out = file.out
    try configuration.validate()
    try check(configuration, games: out, force: file.force)
    try checkPlaces(["--out": out], force: file.force)
    let scores = try score.prepared()
    var run = try Run(configuration, threads: threadCount(), guardExecutable: Installation.program)
    // PGN is made from the file of games, which is temporary without `--out`.
    let games = out ?? pgn.map { $0 + ".jsonl.part" }
    (run.output, run.isTemporary) = (games, out == nil)
    defer { run.removeTemporary() }
    try finish(&run, games: games, isKept: out != nil, scores: scores)
  }

  /// `games` is the path of the file of games; `isKept` is false if this file is temporary.
  func finish(_ run: inout Run, games: String?, isKept: Bool, scores: GameScores?) throws {
    signal(SIGINT, noteInterruption)
    signal(SIGTERM, noteInterruption)
    // Unblock SIGINT and SIGTERM: the process may have inherited them blocked.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    sigprocmask(SIG_UNBLOCK, &signals, nil)
    run.stop = interruption
    let meter = ProgressMeter(mode: progress)
    run.trace = try trace.map { (path) throws(ArenaError) in try EngineTrace(path) }
    run.progress = { meter.show($0) }
    run.notice = tell
    run.picksHighlights = scores != nil
    var report = try run.play()
    meter.finish()
    // The shell command that continues the run, with the options `more` added.
    func resume(_ more: [String] = []) -> String {
      let folders = Set(run.configuration.entrants.flatMap(\.searchFolders)).sorted().flatMap { ["--where", $0] }
      return (["alina-arena", "resume", games ?? ""] + folders + more).map {
        $0.contains { " '\"$\\&;()*?<>|".contains($0) } ? "'" + $0.replacing("'", with: "'\\''") + "'" : $0
      }.joined(separator: " ")
    }
    func interrupted(_ when: String, _ hint: String) -> ExitCode {
      tell("interrupted \(when)\(isKept ? "; \(hint)" : "")")
      return ExitCode(130)
    }
    if report.ending == .interrupted {
      throw interrupted("after \(report.games) games", "continue with: \(resume())")
    }
    if let pgn, let games, try !PGNExport.write(games, to: pgn, stop: interruption) {
      throw interrupted("while writing \(pgn)", "the games are complete: \(resume(["--pgn", pgn]))")
    }
    if let saveMenace, let menace = run.trainedMenace {
      try writeFile(MatchboxFile.text(of: menace).utf8, to: saveMenace)
    }
    let isInterrupted = { @Sendable in interruption.isSet }
    if let scores, try !scores.write(&report.highlights, threads: run.threads, isInterrupted: isInterrupted) {
      throw interrupted("while writing scores", "the games are complete: \(resume(["--render", scores.folder]))")
    }
    try writeOut(json ? RunText.json(report) + "\n" : RunText.text(report))
  }
}

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "run", abstract: "Plays games and counts them.")

  @OptionGroup var game: GameOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var file: GameFileOptions

  func run() throws {
    var configuration = RunConfiguration()
    configuration.games = 100
    configuration.seed = 1
    try game.apply(to: &configuration)
    try output.play(configuration, to: file)
  }
}

struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Continues an interrupted file of games; other options may only repeat the file's values.",
    discussion: """
      Runs the programs that the file names, with the arguments, options and environment that it gives them: resume only \
      a file that you trust. A program whose SHA-256 is not in the file runs only if the options give the players again.
      """)

  @Argument(help: "The file.") var file: String
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "A folder in which to look for programs and matchboxes, by name and hash; the current one and that of the file are "
        + "looked in anyway.", valueName: "folder"))
  var folders: [String] = []
  @OptionGroup var game: GameOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let scores = try output.score.prepared()
    var run = try Run(
      resuming: file, threads: output.threadCount(), guardExecutable: Installation.program, folders: folders
    ) { (configuration) throws(ArenaError) in try game.apply(to: &configuration) }
    try output.check(run.configuration, games: file, force: true)
    try output.finish(&run, games: file, isKept: true, scores: scores)
  }
}

struct MergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Joins the shards of a run to the file that one machine would have written.",
    discussion: "Without --out, counts the games that the shards contain so far.")

  @Argument(help: "The files of all shards, in any order.") var files: [String]
  @Option(help: "The file to write.") var out: String?
  @Option(help: "A test of all games of a match: elo0=0,elo1=20[,alpha=0.05,beta=0.05,model=…].") var sprt: String?
  @Option(
    name: .customLong("where"), help: ArgumentHelp("A folder in which to look for matchboxes.", valueName: "folder"))
  var folders: [String] = []
  @Flag(help: "Replace the file of --out.") var force = false
  @Flag(help: "Print the result as JSON.") var json = false

  func run() throws {
    try checkPlaces(["--out": out], force: force)
    let test = try sprt.map { (text) throws(ArenaError) in try SPRT(text) }
    let report = try Merge.write(files, to: out, sprt: test, folders: folders)
    try writeOut(json ? RunText.json(report) + "\n" : RunText.text(report))
  }
}

struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Plays a changed program against its previous version until the gain in strength is known.",
    discussion: """
      NEW and OLD are players, or programs that speak UCI. Unless the options say otherwise, the games begin at random \
      openings, and the test elo0=0,elo1=10 ends them, or the 20000th game.
      """)

  @Argument(help: "The program before the change.") var old: String
  @Argument(help: "The program after the change.") var new: String
  @OptionGroup var game: GameOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var file: GameFileOptions

  func run() throws {
    var configuration = RunConfiguration()
    (configuration.games, configuration.seed) = (20_000, 1)
    var game = game
    guard game.x == nil, game.o == nil, game.player.isEmpty, game.engine.isEmpty, game.format == nil else {
      throw ArenaError("compare plays a match of OLD and NEW; -engine, --player, --x, --o and --format go with run")
    }
    (game.x, game.o) = (CompareCommand.player(new), CompareCommand.player(old))
    let variant = try game.rules.map { (name) throws(ArenaError) in try Variant(option: name) } ?? .classic
    if game.openings == nil { game.openings = "random:\(variant.comparedPlies)" }
    if game.sprt == nil { game.sprt = "elo0=0,elo1=10" }
    try game.apply(to: &configuration)
    try output.play(configuration, to: file)
  }

  private static func player(_ name: String) -> String {
    FileManager.default.isExecutableFile(atPath: name) ? PlayerSpec.engine([name]).text : name
  }
}

struct SPRTCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sprt", abstract: "Simulates tests to find their error rates and numbers of games.")

  @Argument(help: "The test: elo0=0,elo1=20[,alpha=0.05,beta=0.05,model=pentanomial|trinomial|normalised].") var test:
    String
  @Option(help: "Simulated tests of each kind.") var runs = 2000
  @Option(help: "The seed.") var seed: UInt64 = 1

  func run() throws {
    let sprt = try SPRT(test)
    guard (1...1_000_000).contains(runs) else { throw ArenaError("--runs \(runs): 1–1000000") }
    try writeOut("level pairs  truth      H1 %    H0 %   mean games\n")
    for level in [0.2, 0.5, 0.8, 0.95, 0.99] {
      for (name, elo) in [("elo0", sprt.elo0), ("middle", (sprt.elo0 + sprt.elo1) / 2), ("elo1", sprt.elo1)] {
        guard let chances = SPRTSimulation.chances(level: level, elo: elo, of: sprt) else { continue }
        let result = SPRTSimulation(sprt, pairs: chances).run(runs, seed: seed, limit: 1_000_000)
        let percent = 100 / Double(runs)
        try writeOut(
          String(
            format: "%8.0f %%   %@ %9.2f %7.2f %12.0f\n", level * 100,
            name.padding(toLength: 7, withPad: " ", startingAt: 0),
            Double(result.h1) * percent, Double(result.h0) * percent, 2 * Double(result.pairs) / Double(runs)))
      }
    }
  }
}

final class ProgressMeter {
  private let isOn: Bool
  private var width = 0
  /// The last 50 times at which the progress was shown, in monotonic milliseconds, to compute the games per second.
  private var marks = [(time: monotonicMilliseconds(), games: 0)]

  init(mode: ProgressMode) {
    isOn = mode == .always || (mode == .auto && isatty(2) == 1)
  }

  func show(_ progress: RunProgress) {
    guard isOn else { return }
    marks.append((monotonicMilliseconds(), progress.played))
    if marks.count > 50 { marks.removeFirst() }
    let seconds = (marks[marks.count - 1].time - marks[0].time) / 1000
    let rate = seconds > 0 ? Double(progress.played - marks[0].games) / seconds : 0
    var line = "\(progress.games)\(progress.total.map { "/\($0)" } ?? "") games"
    if rate > 0 { line += ", \(Int(rate)) a second" }
    if let match = progress.match, match.total.games > 0 {
      line += String(format: ", score %.4f, Elo %@", match.total.score, match.estimate.eloText)
    }
    if let llr = progress.llr { line += String(format: ", LLR %.2f (%.2f, %.2f)", llr.ratio, llr.lower, llr.upper) }
    if let total = progress.total, rate > 0 {
      // A sequential test (`llr`) can end the run before `total` games.
      let left = Int((Double(total - progress.games) / rate).rounded(.up))
      line += ", \(progress.llr == nil ? "" : "at most ")\(left) s left"
    }
    let padding = String(repeating: " ", count: max(0, width - line.count))
    width = line.count
    writeError("\r\(line)\(padding)")
  }

  func finish() {
    if isOn, width > 0 { writeError("\n") }
  }
}
