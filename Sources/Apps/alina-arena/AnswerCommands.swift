import Arena
import ArgumentParser
import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

/// Computes exact results.
struct ExactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exact", abstract: "Computes the result of two memoryless players: exact fractions in classic.")

  @Option(help: "The first player, X.") var x: String
  @Option(help: "The second player, O.") var o: String
  @Option(help: "The game: classic or infinite; ultimate is not solved.") var rules = "classic"
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    guard try solved(rules) == .classic else {
      func infinite(_ name: String, _ option: String) throws(ArenaError) -> InfiniteOpponent {
        if let player = try PlayerSpec(name).infinite { return player }
        throw ArenaError(
          "\(option) '\(name)' has no exact result in infinite: it is not memoryless; allowed: \(PlayerSpec.memoryless)"
        )
      }
      return try writeOut(AnswerText.exact(infinite(x, "--x"), infinite(o, "--o"), asJSON: json))
    }
    let (a, b) = (try player(x, "--x"), try player(o, "--o"))
    let match = ExactMatch(a: a, b: b)
    try writeOut(json ? AnswerText.exactJSON(match, x, o) + "\n" : AnswerText.exact(match, x, o))
  }

  private func player(_ name: String, _ option: String) throws -> any MemorylessOpponent {
    // Menace's boxes are frozen, as exact results exist only for players that do not change.
    guard let player = try PlayerSpec(name).memoryless(freezing: true) else {
      throw ArenaError(
        "\(option) '\(name)' has no exact result: it is not memoryless; allowed: \(PlayerSpec.memoryless), "
          + "menace[:FILE] (frozen)")
    }
    return player
  }
}

/// Counts the nodes of the game tree.
struct PerftCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "perft", abstract: "Counts every move sequence to a depth.")

  @Argument(help: "Plies: 0–9 for classic, 1–12 for infinite, 1–8 for ultimate.") var depth = 9
  @Option(help: "The game: classic, infinite or ultimate.") var rules = "classic"
  @Option(help: "The position to start from, as X1O/1X1/3 o.") var position: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let variant = try Variant(option: rules)
    guard variant == .classic else {
      let most = variant == .infinite ? 12 : 8
      guard position == nil else { throw ArenaError("--position: perft of \(rules) begins at its start") }
      guard (1...most).contains(depth) else { throw ArenaError("depth \(depth): 1–\(most) for \(rules)") }
      let nodes = (1...depth).map {
        variant == .infinite
          ? Infinite.perft(Infinite.start, depth: $0)
          : Ultimate.perft(Ultimate.start, depth: $0)
      }
      return try writeOut(AnswerText.perft(nodes, variant, asJSON: json))
    }
    guard (0...9).contains(depth) else { throw ArenaError("depth \(depth): 0–9") }
    let start = try state(position, Classic.self)
    let begun = Date()
    let perft = Perft(of: start, depth: depth)
    let seconds = Date().timeIntervalSince(begun)
    try writeOut(
      json ? AnswerText.perftJSON(perft, seconds: seconds) + "\n" : AnswerText.perft(perft, seconds: seconds))
  }
}

/// Prints value, distance and best moves of a position.
struct SolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "solve", abstract: "Prints value, distance and best moves of a position.")

  @Option(help: "The position, as X1O/1X1/3 o, or a3b2/c3 o 3 of infinite; the empty board without it.")
  var position: String?
  @Option(help: "The game: classic or infinite; ultimate is not solved.") var rules = "classic"
  @Flag(help: "Write every position as a table of tab-separated columns.") var all = false
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    guard !all || (position == nil && !json) else { throw ArenaError("--all goes without --position and --json") }
    guard try solved(rules) == .classic else {
      if all { return try writeOut(AnswerText.infiniteTable()) }
      return try writeOut(AnswerText.solve(state(position, Infinite.self), asJSON: json))
    }
    if all { return try writeOut(AnswerText.table()) }
    let position = try state(position, Classic.self)
    try writeOut(json ? AnswerText.solveJSON(position) + "\n" : AnswerText.solve(position))
  }
}

/// The game of the option `--rules`; throws if it is not solved.
private func solved(_ rules: String) throws(ArenaError) -> Variant {
  let variant = try Variant(option: rules)
  guard variant != .ultimate else {
    throw ArenaError("--rules ultimate: it is not solved; allowed: classic, infinite")
  }
  return variant
}

/// The state of the option `--position`; the start without it.
private func state<R: Rules>(_ text: String?, _ rules: R.Type) throws(ArenaError) -> R.State {
  guard let text else { return R.start }
  do throws(NotationError) { return try R.state(notation: text) } catch {
    throw ArenaError("--position '\(text)', column \(error.column): \(error.message)")
  }
}

/// Explains games move by move.
struct AnalyseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "analyse", abstract: "Explains games move by move: values, only moves, mistakes, accuracy.",
    discussion: "Values of classic and infinite are exact; those of ultimate are what a search believes.",
    aliases: ["review"])

  @Argument(help: "A file of records (PGN or JSON Lines); - reads standard input.") var game: String
  @Option(help: "Simulations for each move of ultimate, 1–10000000.") var simulations = 10_000
  @Flag(help: "Print JSON, a line a game.") var json = false

  func run() throws {
    guard (1...10_000_000).contains(simulations) else {
      throw ArenaError("--simulations \(simulations): 1–10000000")
    }
    var count = 0
    try RecordFile.forEach(of: game) { (record) throws(ArenaError) in
      count += 1
      switch record.game.variant {
      case .classic, .infinite: try writeOut(json ? AnswerText.analysisJSON(record) : AnswerText.analysis(record))
      case .ultimate: try writeOut(AnswerText.reviewUltimate(record, simulations: simulations, asJSON: json))
      }
    }
    guard count > 0 else { throw ArenaError("\(game) holds no game") }
  }
}

/// Trains the matchbox machine and shows its boxes.
struct MenaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "menace", abstract: "Teaches the matchbox machine and shows its boxes.",
    subcommands: [MenaceShow.self, MenaceTrain.self])
}

/// Prints every box with its beads.
struct MenaceShow: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows every box with its beads.")

  @Argument(help: "The file of boxes; new boxes without it.") var file: String?
  @Flag(help: "Print the boxes as JSON.") var json = false

  func run() throws {
    let menace = try file.map { (path) throws(ArenaError) in try MatchboxFile.load(path) } ?? Menace()
    try writeOut(json ? MatchboxFile.text(of: menace) : AnswerText.boxes(menace))
  }
}

/// Trains boxes by games against teachers.
struct MenaceTrain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "train", abstract: "Plays games against teachers and measures the boxes exactly as they fill.")

  @Option(help: "A teacher without memory; given several times they take turns (default: perfect and random).")
  var opponent: [String] = []
  @Option(help: "Games.") var games = 2000
  @Option(help: "Measure after so many games.") var interval = 50
  @Option(help: "The seed.") var seed: UInt64 = 1
  @Option(help: "Boxes to begin with.") var load: String?
  @Option(help: "Where to save the boxes.") var save: String?
  @Option(help: "Where to draw the curve.") var svg: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    guard (1...10_000_000).contains(games) else { throw ArenaError("--games \(games): 1–10000000") }
    guard interval >= 1, games / interval <= 10_000 else {
      throw ArenaError("--interval \(interval): at least 1, and at most 10000 measurements")
    }
    try checkPlaces(["--save": save, "--svg": svg], force: true)
    let teachers = try (opponent.isEmpty ? ["perfect", "random"] : opponent).map { name in
      guard let teacher = try PlayerSpec(name).memoryless(freezing: true) else {
        throw ArenaError("--opponent '\(name)' is not memoryless")
      }
      return teacher
    }
    var training = MenaceTraining(try load.map { (path) throws(ArenaError) in try MatchboxFile.load(path) } ?? Menace())
    training.train(against: teachers, games: games, seed: seed, measuringEvery: interval)
    if let save { try writeFile(MatchboxFile.text(of: training.menace).utf8, to: save) }
    if let svg { try writeFile(training.svg.utf8, to: svg) }
    if json {
      let points = training.curve.map {
        "{\"games\":\($0.games),\"againstRandom\":\($0.againstRandom),\"againstPerfect\":\($0.againstPerfect)}"
      }
      try writeOut("{\"curve\":[\(points.joined(separator: ","))]}\n")
    } else {
      for point in training.curve {
        try writeOut(
          "\(point.games) games: "
            + String(format: "%.4f against random, %.4f against perfect\n", point.againstRandom, point.againstPerfect))
      }
    }
  }
}
