import Arena
import ArgumentParser
import Foundation
import Opponents

struct TrainUltimateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "train-ultimate", abstract: "Learns the values of Ultimate's top level from games with itself.",
    discussion: """
      The tables learn from games without a search. Then tables and a small net learn from games of the search, in rounds: the \
      second round has twice as many games as the first, and so on. The same seed and numbers of games give the same \
      file on every machine; without options, the one that is shipped as Assets/ultimate.values, in about fifteen minutes \
      of one core.
      """)

  @Option(help: "Games without a search, 1–100000000.") var games = UltimateTraining.shippedGames
  @Option(help: "Games of the search in the first round, 1–100000.") var roundGames = UltimateTraining.shippedRoundGames
  @Option(help: "Rounds of games of the search, 0–10.") var rounds = UltimateTraining.shippedRounds
  @Option(help: "The seed.") var seed = UltimateTraining.shippedSeed
  @Option(help: "Where to write the values.") var out: String
  @Flag(help: "Replace an existing file.") var force = false

  func run() throws {
    guard (1...100_000_000).contains(games) else { throw ArenaError("--games \(games): 1–100000000") }
    guard (1...100_000).contains(roundGames) else { throw ArenaError("--round-games \(roundGames): 1–100000") }
    guard (0...10).contains(rounds) else { throw ArenaError("--rounds \(rounds): 0–10") }
    try checkPlaces(["--out": out], force: force)
    var training = UltimateTraining(seed: seed, games: games)
    let parts = 20
    for part in 1...parts {
      training.train(games: games * part / parts - training.gamesPlayed)
      tell("\(training.gamesPlayed) games, error \(String(format: "%.4f", training.takeError()))")
    }
    for round in 0..<rounds {
      training.trainNet(games: roundGames)
      tell("round \(round + 1), error \(String(format: "%.4f", training.takeError()))")
    }
    try writeFile(UltimateValue.bytes(of: training.rounded), to: out)
  }
}
