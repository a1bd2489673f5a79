import ArgumentParser
import Base
import Foundation
import GameScore
import Processes
import Records
import ScoreIO
import ScoreMeasures
import Synth
import TicTacToe
import Tintinnabuli

@main
struct AlinaScore {
  static func main() {
    do {
      if let fault = Arguments.fault { throw ScoreFileError(fault) }
      var command = try Root.parseAsRoot()
      try command.run()
    } catch {
      EndSignal.obey()
      do {
        guard Root.exitCode(for: error) == .success else { throw error }
        try writeOut(Root.fullMessage(for: error) + "\n")
        exit(0)
      } catch { fail(error) }
    }
  }

  private static func fail(_ error: any Error) -> Never {
    // A `ScoreFileError` may have several lines, one for each error of a rule file.
    let line = Root.message(for: error).split(separator: "\n").first.map(String.init) ?? "failed"
    let told = (error as? ScoreFileError)?.description ?? line
    try? FileHandle.standardError.write(contentsOf: Data("alina-score: \(told)\n".utf8))
    exit(2)
  }
}

/// Unlike `print`, fails if standard output cannot be written.
func writeOut(_ text: String) throws(ScoreFileError) {
  do throws(OutputError) { try writeStandardOutput(text.utf8) } catch {
    throw ScoreFileError(error.description, number: error.number)
  }
}

struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alina-score", abstract: "The music of games: render, explain and measure it.", version: alinaVersion,
    subcommands: [
      Render.self, Live.self, PlaySign.self, Edit.self, Simulate.self, Explain.self, Measure.self, CheckRules.self,
      Effects.self,
      Tone.self,
      Envelope.self,
      Bench.self, Devices.self,
    ] + drawn)

  #if canImport(CCairo)
    private static let drawn: [any ParsableCommand.Type] = [MakeFilm.self, DrawBoards.self]
  #else
    private static let drawn: [any ParsableCommand.Type] = []
  #endif
}

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print, bar by bar, the facts, the applied rules, and the reason for each note.")

  @OptionGroup var source: GameOptions

  func run() throws {
    let record = try source.record()
    let rules = try source.rules(for: record)
    let rendition = Rendition(of: record, rules: rules, seed: source.seed, human: source.side, explains: true)
    try writeOut(Explanation.text(rendition, record: record))
  }
}

struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the sound of many games played one after another without players, to measure it.")

  @Option(help: ArgumentHelp("How many games.", valueName: "n")) var games = 40
  @Option(help: ArgumentHelp("The game: \(Variant.names).", valueName: "game"))
  var rules = "classic"
  @Option(help: ArgumentHelp("Their seed.", valueName: "n")) var seed: UInt64 = 1
  @Option(help: ArgumentHelp("A rule file by name or path.", valueName: "rules")) var scoreRules: String?
  @OptionGroup var sounding: SoundOptions
  @Option(help: ArgumentHelp("The median thinking time, 0.5–30.", valueName: "seconds")) var median = 4.0
  @Option(help: ArgumentHelp("Time without moves after the last game.", valueName: "seconds")) var idle = 0.0
  @Option(help: ArgumentHelp("The sound to write.", valueName: "file")) var wav: String

  func validate() throws {
    _ = try GameFile.variant(rules)
    guard (1...1_000).contains(games) else { throw ValidationError("--games \(games): 1–1000") }
    guard (0.5...30).contains(median) else { throw ValidationError("--median \(median): 0.5–30 seconds") }
    guard (0...3_600).contains(idle) else { throw ValidationError("--idle \(idle): 0–3600 seconds") }
  }

  func run() throws {
    let variant = try GameFile.variant(rules)
    let rules = try RuleLibrary.load(scoreRules).rules
    let play = SimulatedPlay(games: games, of: variant, seed: seed, rules: rules, median: median, idle: idle)
    var sound = OfflineSound(play.events, end: play.end)
    sound.turns = play.turns
    try OutputFile.write(wav) { try sound.write(to: $0, format: .wav, rules: rules, sounding) }
  }
}

struct CheckRules: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-rules", abstract: "Check a rule file: every error with its line, key and what is allowed.")

  @Argument(help: "The rule file, by path or by the name of one that is shipped.") var file: String
  @Flag(help: "Print every value in use, including the defaults of keys that the file leaves out.") var all = false

  func run() throws {
    let loaded = try RuleLibrary.load(file)
    var text = "\(loaded.path): good; name \(loaded.rules.name), hash \(loaded.hash)\n"
    for line in RuleAdvice.lines(loaded.rules) { text += "  in vain: \(line)\n" }
    for line in RuleAdvice.moved(loaded.rules) { text += "  moved: \(line)\n" }
    if all { text += RuleText.yaml(loaded.rules) }
    try writeOut(text)
  }
}

struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the style table of games; without any, of seeded games of win-or-block players.",
    discussion: "With --pace or --png, plays the seeded games at the pace of people, and prints or draws the result.")

  @Argument(help: "Files of one game or many, or directories of them; - reads standard input.") var games: [String] = []
  @Option(
    help: ArgumentHelp(
      "Measure lines of JSON instead, as live reads them, each bar heard to its end; - reads standard input.",
      valueName: "file"))
  var events: String?
  @Option(help: ArgumentHelp("How many reference games to measure when no file is given.", valueName: "n"))
  var count = 200
  @Option(
    help: ArgumentHelp(
      "The game of the reference games: \(Variant.names). Without it --pace measures each game, the others classic.",
      valueName: "game"))
  var rules: String?
  @Option(help: ArgumentHelp("Their seed.", valueName: "n")) var seed: UInt64 = 1
  @Option(help: ArgumentHelp("A rule file by name or path.", valueName: "rules")) var scoreRules: String?
  @Option(
    help: ArgumentHelp(
      "How much is heard at the pace of people instead: all, quick (a median of 1.5 s a move), median (4 s) or slow (12 s).",
      valueName: "pace"))
  var pace: String?
  @Option(
    help: ArgumentHelp(
      "Draw what comes back in ten minutes of play: how alike any two seconds sound, a dot each.", valueName: "file"))
  var png: String?
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    _ = try variants
    if events != nil, !games.isEmpty || pace != nil || png != nil {
      throw ValidationError("--events measures lines alone, without games, --pace and --png")
    }
    guard png == nil || games.isEmpty else {
      throw ValidationError("--png draws ten minutes of simulated play, and takes no files")
    }
    if let pace, pace != "all", PaceReport.medians.allSatisfy({ $0.name != pace }) {
      throw ValidationError("--pace \(pace): all, quick, median or slow")
    }
    guard (1...100_000).contains(count) else { throw ValidationError("--count \(count): 1–100000") }
  }

  private var variants: [Variant] {
    get throws {
      if let rules { return [try GameFile.variant(rules)] }
      return pace == nil ? [.classic] : Variant.allCases
    }
  }

  func run() throws {
    let variants = try self.variants
    let rules = try RuleLibrary.load(scoreRules).rules
    if let png { return try draw(png, variants[0], rules) }
    if let events {
      var report = StyleReport()
      var lines: [EventLine] = []
      try EventSource(path: events).forEachLine(rules) { lines.append($0) }
      let piece = LiveScore.uncut(lines, seed: seed, rules: rules)
      report.add(piece: piece.score.conductor.bars, scale: piece.score.conductor.rules.scale)
      return try writeOut(json ? report.json + "\n" : report.text)
    }
    guard games.isEmpty else { return try measure(games.flatMap { try GameFile.records($0) }, rules) }
    for variant in variants {
      if variants.count > 1 { try writeOut("\(variant == variants[0] ? "" : "\n")\(variant.title)\n\n") }
      try measure(ReferenceGames.games(count, of: variant, seed: seed), rules)
    }
  }

  private func measure(_ records: [Record], _ rules: ScoreRules) throws {
    guard !records.isEmpty else { throw ScoreFileError("no games to measure") }
    if let pace {
      try writeOut(PaceReport.text(PaceReport.all(records, rules: rules, paces: pace)))
      if pace == "all" { try writeOut("\n" + FormReport(records, rules: rules).text) }
      return
    }
    var report = StyleReport()
    let progress = Progress()
    for (index, record) in records.enumerated() {
      report.add(record, rules: rules)
      try progress.tell(Double(index + 1), of: Double(records.count), "games")
    }
    progress.end()
    try writeOut(json ? report.json + "\n" : report.text)
  }

  private func draw(_ path: String, _ variant: Variant, _ rules: ScoreRules) throws {
    let play = SimulatedPlay(games: 12, of: variant, seed: seed, rules: rules)
    var sound = OfflineSound(play.events, end: play.end)
    (sound.range, sound.turns) = (0...600, play.turns)
    var form = SelfSimilarity()
    let progress = Progress()
    try sound.render(Engine(patch: Patch(rules))) { samples, done, all in
      form.add(samples)
      try progress.tell(done, of: all)
    }
    progress.end()
    try OutputFile.write(path) { try form.writePNG(to: $0) }
    func percent(_ share: Double) -> String { String(format: "%.2f", 100 * share) }
    try writeOut(
      "\(path): \(form.harmony.count) s; of seconds half a minute apart \(percent(form.returns)) % sound alike, of the middle third \(percent(form.middleReturns)) %\n"
    )
  }
}
