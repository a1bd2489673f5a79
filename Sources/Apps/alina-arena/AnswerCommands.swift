import Arena
import ArenaTexts
import ArgumentParser
import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

struct ExactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exact", abstract: "Computes the result of two memoryless players exactly, where the game is solved.")

  @Option(help: "The first player, X.") var x: String
  @Option(help: "The second player, O.") var o: String
  @Option(help: "The game: \(Variant.solvedNames).") var rules = "classic"
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let variant = try Variant(option: rules)
    switch variant {
    case .classic: try writeOut(result(variant, .shared))
    case .misere: try writeOut(result(variant, .misere))
    case .infinite:
      let players = try both { $0.infinite }
      try writeOut(AnswerText.exact(players.a, players.b, asJSON: json))
    case .ultimate: throw unsolved(variant)
    }
  }

  private func result(_ variant: Variant, _ solver: Solver) throws -> String {
    // Menace's matchboxes are frozen: exact results exist only for players that do not change.
    let players = try both { (spec) throws(ArenaError) in try spec.memoryless(in: variant, freezing: true) }
    let match = ExactMatch(a: players.a, b: players.b, solver: solver)
    return json ? AnswerText.exactJSON(match, x, o, variant) : AnswerText.exact(match, x, o)
  }

  private func both<Found>(
    _ find: (PlayerSpec) throws(ArenaError) -> Found?
  ) throws(ArenaError) -> (a: Found, b: Found) {
    func player(_ name: String, _ option: String) throws(ArenaError) -> Found {
      if let player = try find(PlayerSpec(name)) { return player }
      let learners = rules == Variant.classic.rawValue ? ", menace[:FILE] (frozen)" : ""
      throw ArenaError(
        "\(option) '\(name)' has no exact result in \(rules): it is not memoryless; "
          + "allowed: \(PlayerSpec.memoryless)\(learners)")
    }
    return (try player(x, "--x"), try player(o, "--o"))
  }
}

struct PerftCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "perft", abstract: "Counts every move sequence to a depth.")

  @Argument(
    help: "Plies: \(Variant.allCases.map { "0–\(mostPlies(of: $0)) for \($0.rawValue)" }.joined(separator: ", ")).")
  var depth = 9
  @Option(help: "The game: \(Variant.names).") var rules = "classic"
  @Option(help: "The position to start from, as X1O/1X1/3 o.") var position: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let variant = try Variant(option: rules)
    let most = Self.mostPlies(of: variant)
    guard (0...most).contains(depth) else { throw ArenaError("depth \(depth): 0–\(most) for \(rules)") }
    switch variant {
    case .classic: try countClassic()
    case .infinite: try count(Infinite.self)
    case .misere: try count(Misere.self)
    case .ultimate: try count(Ultimate.self)
    }
  }

  /// The most plies whose move sequences can be counted within some seconds.
  private static func mostPlies(of variant: Variant) -> Int {
    switch variant {
    case .classic, .misere: 9
    case .infinite: 12
    case .ultimate: 8
    }
  }

  private func count<R: Rules>(_ rules: R.Type) throws {
    let start = try state(position, rules)
    let nodes = (0...depth).dropFirst().map { R.perft(start, depth: $0) }
    try writeOut(AnswerText.perft(nodes, R.variant, asJSON: json))
  }

  private func countClassic() throws {
    let start = try state(position, Classic.self)
    let begun = monotonicMilliseconds()
    let perft = Perft(of: start, depth: depth)
    let seconds = (monotonicMilliseconds() - begun) / 1000
    try writeOut(
      json ? AnswerText.perftJSON(perft, seconds: seconds) + "\n" : AnswerText.perft(perft, seconds: seconds))
  }
}

struct SolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "solve", abstract: "Prints value, distance and best moves of a position.",
    discussion:
      "A position of ultimate is searched for a proof, which is found only late in a game or where a win is forced.")

  @Option(
    help: "The position, as X1O/1X1/3 o, or a3b2/c3 o 3 of infinite, or a position of ultimate; the start without it.")
  var position: String?
  @Option(help: "The game: \(Variant.names).") var rules = "classic"
  @Option(help: "Ultimate: the most positions to search, 1–\(SolveCommand.nodeLimit) (default: 1000000).") var nodes:
    Int?
  @Flag(help: "Write every position as a table of tab-separated columns.") var all = false
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    guard !all || (position == nil && !json) else { throw ArenaError("--all goes without --position and --json") }
    let variant = try Variant(option: rules)
    guard nodes == nil || !variant.isSolved else { throw ArenaError("--nodes goes with --rules ultimate") }
    switch variant {
    case .classic: try writeOut(solve(Classic.self, .shared))
    case .misere: try writeOut(solve(Misere.self, .misere))
    case .infinite:
      try writeOut(
        all ? AnswerText.infiniteTable() : AnswerText.solve(state(position, Infinite.self), asJSON: json))
    case .ultimate:
      guard !all else { throw unsolved(variant) }
      let limit = nodes ?? 1_000_000
      guard (1...SolveCommand.nodeLimit).contains(limit) else {
        throw ArenaError("--nodes \(limit): 1–\(SolveCommand.nodeLimit)")
      }
      try writeOut(AnswerText.solve(state(position, Ultimate.self), nodes: limit, asJSON: json))
    }
  }

  private func solve<R: Rules>(_ rules: R.Type, _ solver: Solver) throws -> String where R.State == Position {
    if all { return AnswerText.table(by: solver) }
    let state = try state(position, rules)
    return json ? AnswerText.solveJSON(state, R.variant, by: solver) : AnswerText.solve(state, by: solver)
  }

  /// A search of one thousand million positions takes about an hour.
  private static let nodeLimit = 1_000_000_000
}

private func unsolved(_ variant: Variant) -> ArenaError {
  ArenaError("--rules \(variant.rawValue): it is not solved; allowed: \(Variant.solvedNames)")
}

private func state<R: Rules>(_ text: String?, _ rules: R.Type) throws(ArenaError) -> R.State {
  guard let text else { return R.start }
  do throws(NotationError) { return try R.state(notation: text) } catch {
    throw ArenaError("--position '\(text)', column \(error.column): \(error.message)")
  }
}

struct AnalyseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "analyse", abstract: "Explains games move by move: values, only moves, mistakes, accuracy.",
    discussion:
      "Values of solved games (\(Variant.solvedNames)) are exact; those of others are what a search believes.",
    aliases: ["review"])

  @Argument(help: "A file of records (PGN or JSON Lines); - reads standard input.") var game: String
  @Option(help: "Simulations for each move of a game that is not solved, 1–10000000.") var simulations = 10_000
  @Flag(help: "Print JSON, a line a game.") var json = false

  func run() throws {
    guard (1...10_000_000).contains(simulations) else {
      throw ArenaError("--simulations \(simulations): 1–10000000")
    }
    var count = 0
    try RecordFile.forEach(of: game) { (record) throws(ArenaError) in
      count += 1
      switch record.game.variant {
      case .classic, .infinite, .misere:
        try writeOut(json ? AnswerText.analysisJSON(record) : AnswerText.analysis(record))
      case .ultimate: try writeOut(AnswerText.reviewUltimate(record, simulations: simulations, asJSON: json))
      }
    }
    guard count > 0 else { throw ArenaError("\(game) contains no game") }
  }
}

struct MenaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "menace", abstract: "Teaches the matchbox machine and shows its boxes.",
    subcommands: [MenaceShow.self, MenaceTrain.self])
}

struct MenaceShow: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows every box with its beads.")

  @Argument(help: "The file of boxes; new boxes without it.") var file: String?
  @Flag(help: "Print the boxes as JSON.") var json = false

  func run() throws {
    let menace = try file.map { (path) throws(ArenaError) in try MatchboxFile.load(path) } ?? Menace()
    try writeOut(json ? MatchboxFile.text(of: menace) : AnswerText.boxes(menace))
  }
}

struct MenaceTrain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "train", abstract: "Plays games against teachers and measures the boxes exactly as they fill.")

  @Option(help: "A teacher without memory; given several times they take turns (default: perfect and random).")
  var opponent: [String] = []
  @Option(help: "Games.") var games = 2000
  @Option(help: "Games between two measurements.") var interval = 50
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
      guard let teacher = try PlayerSpec(name).memoryless(in: .classic, freezing: true) else {
        throw ArenaError("--opponent '\(name)' is not memoryless")
      }
      return teacher
    }
    var training = MenaceTraining(try load.map { (path) throws(ArenaError) in try MatchboxFile.load(path) } ?? Menace())
    training.train(against: teachers, games: games, seed: seed, measuringEvery: interval)
    if let save { try writeFile(MatchboxFile.text(of: training.menace).utf8, to: save) }
    if let svg { try writeFile(LearningCurve(training).svg.utf8, to: svg) }
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
