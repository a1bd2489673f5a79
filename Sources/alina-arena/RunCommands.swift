import Arena
import ArgumentParser
import Foundation
import Synchronization

/// Set by SIGINT and SIGTERM.
private let interruption = Atomic<Bool>(false)

private func noteInterruption(_ signal: Int32) { interruption.store(true, ordering: .relaxed) }

/// When a progress line is shown.
enum ProgressMode: String, ExpressibleByArgument, CaseIterable {
  case auto, never, always
}

/// What decides which games are played.
struct GameOptions: ParsableArguments {
  @Option(help: "The first player of a match: it has X in the first game of each pair.") var x: String?
  @Option(help: "The second player of a match.") var o: String?
  @Option(
    help: ArgumentHelp("A player, as often as there are players: \(PlayerSpec.allowed).", valueName: "player"))
  var player: [String] = []
  @Option(help: "match, round-robin, gauntlet, swiss or knockout (default: match).") var format: String?
  @Option(help: "Games of each pairing, even (default: 100).") var games: Int?
  @Option(help: "Rounds of a Swiss tournament.") var rounds: Int?
  @Option(help: "The seed of every choice (default: 1).") var seed: UInt64?
  @Option(help: "random:PLIES, or a file with an opening a line.") var openings: String?
  @Option(help: "End a match early: elo0=0,elo1=20[,alpha=0.05,beta=0.05,model=pentanomial|trinomial].")
  var sprt: String?
  @Option(help: "Milliseconds an engine has for a move (default: 1000).") var movetime: Int?
  @Option(help: "Seconds and increment of an engine's clock, as 10+0.1.") var tc: String?
  @Option(help: "Nodes a move, sent to engines.") var nodes: Int?
  @Option(help: "Milliseconds granted beyond the limit (default: 50).") var margin: Int?
  @Flag(help: "Learning players do not learn.") var freeze = false
  @Option(help: "The date in records, as 2026.11.21.") var date: String?

  /// Applies what was given.
  func apply(to configuration: inout RunConfiguration) throws(ArenaError) {
    var names = player
    if x != nil || o != nil {
      guard let x, let o, player.isEmpty else { throw ArenaError("--x and --o go together and without --player") }
      names = [x, o]
    }
    if !names.isEmpty {
      var entrants: [RunConfiguration.Entrant] = []
      for name in names { entrants.append(RunConfiguration.Entrant(try PlayerSpec(name))) }
      configuration.entrants = entrants
    }
    if let format {
      guard let chosen = Format(rawValue: format) else {
        throw ArenaError("--format '\(format)': \(Format.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      configuration.format = chosen
    }
    if let games { configuration.games = games }
    if let rounds { configuration.rounds = rounds }
    if let seed { configuration.seed = seed }
    if let openings { configuration.openings = try Openings(argument: openings) }
    if let sprt { configuration.sprt = try SPRT(sprt) }
    if let date {
      guard date.range(of: #"^[0-9?]{4}\.[0-9?]{2}\.[0-9?]{2}$"#, options: .regularExpression) != nil else {
        throw ArenaError("--date '\(date)': YYYY.MM.DD, ? where unknown")
      }
      configuration.date = date
    }
    if freeze { configuration.isFrozen = true }
    try applyTime(to: &configuration.time)
  }

  private func applyTime(to time: inout TimeLimit) throws(ArenaError) {
    for (name, value) in [("movetime", movetime), ("nodes", nodes), ("margin", margin)] {
      guard let value else { continue }
      guard (name == "movetime" ? 1 : 0) <= value, value <= 3_600_000 else {
        throw ArenaError("--\(name) \(value): \(name == "movetime" ? 1 : 0)–3600000")
      }
      switch name {
      case "movetime": time.moveTime = value
      case "nodes": time.nodes = value
      default: time.margin = value
      }
    }
    if let tc {
      let parts = tc.split(separator: "+", omittingEmptySubsequences: false).map { Double($0) ?? -1 }
      guard (1...2).contains(parts.count), parts[0] > 0, parts.allSatisfy({ (0...3600).contains($0) }) else {
        throw ArenaError("--tc '\(tc)': SECONDS or SECONDS+INCREMENT, at most 3600 each")
      }
      time.moveTime = 0
      time.clock = Int(parts[0] * 1000)
      time.increment = parts.count > 1 ? Int(parts[1] * 1000) : 0
    }
  }
}

/// What does not change the games.
struct OutputOptions: ParsableArguments {
  @Option(help: "Games at a time (default: cores).") var threads: Int?
  @Option(help: "Also write the games as PGN.") var pgn: String?
  @Option(help: "A progress line: auto (on a terminal), never, always.") var progress = ProgressMode.auto
  @Flag(help: "Print the result as JSON.") var json = false
  @Option(help: "Save menace's boxes after a match.") var saveMenace: String?
  @OptionGroup var score: ScoreOptions

  /// The number of threads, checked.
  func threadCount() throws(ArenaError) -> Int {
    let count = threads ?? ProcessInfo.processInfo.activeProcessorCount
    guard (1...256).contains(count) else { throw ArenaError("--threads \(count): 1–256") }
    return count
  }

  /// Refuses before the first game what could not be written after the last.
  func check(_ configuration: RunConfiguration) throws(ArenaError) {
    if saveMenace != nil {
      let players = configuration.entrants.filter { if case .menace = $0.spec { true } else { false } }
      guard configuration.format == .match, players.count == 1 else {
        throw ArenaError("--save-menace needs a match in which exactly one player is menace")
      }
    }
    for (option, path) in [("--pgn", pgn), ("--save-menace", saveMenace)] {
      guard let path else { continue }
      var isFolder: ObjCBool = false
      let folder = URL(filePath: path).deletingLastPathComponent().path
      guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
        throw ArenaError("\(option) \(path): is a folder")
      }
      guard access(folder, W_OK | X_OK) == 0 else {
        throw ArenaError("\(option) \(path) cannot be written: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Plays, shows and writes what was asked for; `games` is the file of games, `isKept` if it is no temporary one.
  func finish(_ run: inout Run, games: String?, isKept: Bool, scores: GameScores?) throws {
    signal(SIGINT, noteInterruption)
    signal(SIGTERM, noteInterruption)
    // Whoever started us may have left them blocked; masks are inherited.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    sigprocmask(SIG_UNBLOCK, &signals, nil)
    let isInterrupted = { @Sendable in interruption.load(ordering: .relaxed) }
    run.isInterrupted = isInterrupted
    let meter = ProgressMeter(mode: progress)
    run.progress = { meter.show($0, $1) }
    run.picksHighlights = scores != nil
    var report = try run.play()
    meter.finish()
    if report.ending == .interrupted {
      let hint = isKept ? "; continue with: alina-arena resume \(games ?? "")" : ""
      FileHandle.standardError.write(Data("alina-arena: interrupted after \(report.games) games\(hint)\n".utf8))
      throw ExitCode(130)
    }
    if let pgn, let games { try PGNExport.write(games, to: pgn) }
    if let saveMenace, let menace = run.trainedMenace { try MatchboxFile.save(menace, to: saveMenace) }
    if let scores, try !scores.write(&report.highlights, threads: run.threads, isInterrupted: isInterrupted) {
      let hint = isKept ? "; the games are complete: alina-arena resume \(games ?? "") --render \(scores.folder)" : ""
      FileHandle.standardError.write(Data("alina-arena: interrupted while writing scores\(hint)\n".utf8))
      throw ExitCode(130)
    }
    print(json ? RunText.json(report) : RunText.text(report), terminator: json ? "\n" : "")
  }
}

/// Plays games.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "run", abstract: "Plays games and counts them.")

  @OptionGroup var game: GameOptions
  @OptionGroup var output: OutputOptions
  @Option(help: "Write the games as JSON Lines; can be resumed.") var out: String?
  @Flag(help: "Replace the file of --out.") var force = false

  func run() throws {
    var configuration = RunConfiguration()
    configuration.games = 100
    configuration.seed = 1
    try game.apply(to: &configuration)
    try configuration.validate()
    try output.check(configuration)
    if let out, !force, FileManager.default.fileExists(atPath: out) {
      throw ArenaError("\(out) exists; use 'resume \(out)' to continue it or --force to replace it")
    }
    if let pgn = output.pgn, !force, FileManager.default.fileExists(atPath: pgn) {
      throw ArenaError("\(pgn) exists; use --force to replace it")
    }
    let scores = try output.score.prepared()
    var run = try Run(configuration, threads: output.threadCount(), guardExecutable: ownExecutable)
    // PGN is made from the games' file; without one it passes through a temporary.
    let games = out ?? output.pgn.map { $0 + ".jsonl.part" }
    run.output = games
    defer { if out == nil, let games { unlink(games) } }
    try output.finish(&run, games: games, isKept: out != nil, scores: scores)
  }
}

/// Continues a file of games.
struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Continues a file of games that was interrupted; other options may only repeat what the file says.")

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
      resuming: file, threads: output.threadCount(), guardExecutable: ownExecutable, folders: folders
    ) { (configuration) throws(ArenaError) in try game.apply(to: &configuration) }
    try output.check(run.configuration)
    if run.truncatedBytes > 0 {
      FileHandle.standardError.write(
        Data("alina-arena: \(file): dropped \(run.truncatedBytes) bytes of a line that was cut off\n".utf8))
    }
    if run.isFinished { FileHandle.standardError.write(Data("alina-arena: \(file) is finished already\n".utf8)) }
    try output.finish(&run, games: file, isKept: true, scores: scores)
  }
}

/// A line that tells how far a run has come.
final class ProgressMeter {
  private let isOn: Bool
  private let begun = Date()
  private var shown = Date.distantPast
  private var first: Int?
  private var width = 0

  init(mode: ProgressMode) {
    isOn = mode == .always || (mode == .auto && isatty(2) == 1)
  }

  func show(_ done: Int, _ total: Int?) {
    if first == nil { first = done }
    guard isOn, Date().timeIntervalSince(shown) >= 0.2 else { return }
    shown = Date()
    let seconds = max(Date().timeIntervalSince(begun), 1e-3)
    let rate = Double(done - (first ?? 0)) / seconds
    var line = "\(done)\(total.map { "/\($0)" } ?? "") games, \(Int(rate)) a second"
    if let total, rate > 0 { line += ", \(Int((Double(total - done) / rate).rounded(.up))) s left" }
    let padding = String(repeating: " ", count: max(0, width - line.count))
    width = line.count
    FileHandle.standardError.write(Data("\r\(line)\(padding)".utf8))
  }

  func finish() {
    if isOn, width > 0 { FileHandle.standardError.write(Data("\n".utf8)) }
  }
}
