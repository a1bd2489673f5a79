import ArgumentParser
import Base
import Foundation
import Opponents
import Records
import SampledPiano
import ScoreFormats
import ScoreIO
import Synth
import TicTacToe
import Tintinnabuli

struct GameOptions: ParsableArguments {
  @Argument(help: "The game's record; - reads standard input.") var game: String
  @Option(name: .customLong("game"), help: ArgumentHelp("Which game of a file of many, from 1.", valueName: "n"))
  var number: Int?
  @Option(help: ArgumentHelp("A rule file by name or path; the record's own if not given.", valueName: "rules"))
  var scoreRules: String?
  @Option(help: ArgumentHelp("The music's seed; the record's own if not given.", valueName: "n")) var seed: UInt64?
  @Option(help: ArgumentHelp("The side of the one local human; the record's own if not given.", valueName: "x|o"))
  var human: String?

  /// Replaces the name of a level by the name of the level's character.
  static func called(_ name: String) -> String { Level.all.first { $0.name == name }?.character ?? name }

  func validate() throws {
    if let human, side == nil { throw ValidationError("--human \(human): x or o") }
  }

  var side: Player? { human.flatMap { Player(text: $0) } }

  /// The rules of `--score-rules`, else those of the record. If the rules of the record are not installed, prints a line and returns the
  /// installed rules of the same name, or else the standard rules.
  func rules(for record: Record) throws -> ScoreRules {
    guard scoreRules == nil, let heard = record.scoreRules else { return try RuleLibrary.load(scoreRules).rules }
    let folder = URL(fileURLWithPath: game).deletingLastPathComponent().path
    if let found = RuleLibrary.load(recorded: heard, beside: folder) { return found.rules }
    let near = try RuleLibrary.load(RuleLibrary.path(of: heard.name) == nil ? nil : heard.name)
    let told = "heard with score rules \(heard.name) (\(heard.hash)), which are not here; taking \(near.path)"
    try? FileHandle.standardError.write(contentsOf: Data("alina-score: \(told)\n".utf8))
    return near.rules
  }

  func record() throws -> Record {
    let records = try GameFile.records(game)
    guard !records.isEmpty else { throw ScoreFileError("\(GameFile.name(game)): contains no game") }
    if records.count > 1 && number == nil {
      throw ScoreFileError(
        "\(GameFile.name(game)): holds \(records.count) games; choose one with --game 1…\(records.count)")
    }
    let index = (number ?? 1) - 1
    guard records.indices.contains(index) else {
      throw ScoreFileError("--game \(index + 1): \(GameFile.name(game)) has the games 1…\(records.count)")
    }
    return records[index]
  }
}

struct SoundOptions: ParsableArguments {
  @Option(name: .customLong("piano"), help: ArgumentHelp("modal, grand, or a soundfont file.", valueName: "piano"))
  var piano = "modal"
  @Option(
    help: ArgumentHelp(
      "even, as the window plays, or concert: quiet passages as soft as they are composed.", valueName: "even|concert"))
  var loudness = "even"

  var isEven: Bool { loudness == "even" }

  /// The engine is valid only until `body` returns.
  func playing(_ rules: ScoreRules, _ body: (Engine) throws -> Void) throws {
    let font = piano == "modal" ? nil : piano == "grand" ? SampledPiano.standardFont : piano
    try SampledPiano.playing(Patch(rules), font: font) { engine in
      engine.setEven(isEven)
      try body(engine)
    }
  }

  func validate() throws {
    guard ["modal", "grand"].contains(piano) || piano.hasSuffix(".sf2") || piano.hasSuffix(".sf3") else {
      throw ValidationError("--piano \(piano): modal, grand, or a file ending in .sf2 or .sf3")
    }
    guard ["even", "concert"].contains(loudness) else {
      throw ValidationError("--loudness \(loudness): even or concert")
    }
  }
}

enum GameFile {
  static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

  static func variant(_ name: String) throws -> Variant {
    guard let variant = Variant(rawValue: name) else { throw ValidationError("--rules \(name): \(Variant.names)") }
    return variant
  }

  /// The games of a file, or of all files of a directory, sorted by the files' names.
  static func records(_ path: String) throws -> [Record] {
    var isDirectory: ObjCBool = false
    if path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
      let files = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
      let kinds = [".pgn", ".ttt", ".jsonl", ".json", ".txt"]
      let games = files.filter { file in kinds.contains { file.hasSuffix($0) } }
      guard !games.isEmpty else { throw ScoreFileError("\(path): contains no .pgn, .ttt or .jsonl file") }
      return try games.flatMap { file in
        // Foundation replaces bytes that are not UTF-8 by U+FFFD; the file cannot be opened by such a name.
        guard !file.contains("\u{FFFD}") else {
          throw ScoreFileError("\(path): the file name \(file) is not UTF-8; rename the file")
        }
        do { return try records("\(path)/\(file)") } catch let error as ScoreFileError {
          // A directory may contain text and JSON files that are not games.
          guard file.hasSuffix(".txt") || file.hasSuffix(".json") else { throw error }
          try? FileHandle.standardError.write(contentsOf: Data("alina-score: left out: \(error)\n".utf8))
          return []
        }
      }
    }
    let read =
      path == "-" ? FileHandle.standardInput.readDataToEndOfFile() : FileManager.default.contents(atPath: path)
    guard let data = read else { throw ScoreFileError("\(path): no such file, or it cannot be read") }
    do {
      var lines = RecordLines()
      var records: [Record] = []
      for line in data.split(separator: 0x0A, omittingEmptySubsequences: false) { records += try lines.take(line) }
      return try records + lines.finish()
    } catch {
      throw ScoreFileError("\(name(path)):\(error.description)")
    }
  }
}
