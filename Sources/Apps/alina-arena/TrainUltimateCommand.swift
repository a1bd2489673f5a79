import Arena
import ArgumentParser
import Foundation
import Opponents

/// Trains the value function with which the highest level plays Ultimate.
struct TrainUltimateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "train-ultimate", abstract: "Learns the values of Ultimate's top level from games with itself.",
    discussion: """
      The same seed and number of games give the same file on every machine; without options, the one that is shipped \
      as Assets/ultimate.values. Takes about a minute for a million games.
      """)

  @Option(help: "Games, 1–100000000.") var games = UltimateTraining.shippedGames
  @Option(help: "The seed.") var seed = UltimateTraining.shippedSeed
  @Option(help: "Where to write the values.") var out: String
  @Flag(help: "Replace an existing file.") var force = false

  func run() throws {
    guard (1...100_000_000).contains(games) else { throw ArenaError("--games \(games): 1–100000000") }
    try checkPlaces(["--out": out], force: force)
    var training = UltimateTraining(seed: seed, games: games)
    let parts = 20
    for part in 1...parts {
      training.train(games: games * part / parts - training.gamesPlayed)
      tell("\(training.gamesPlayed) games, error \(String(format: "%.4f", training.takeError()))")
    }
    try writeFile(UltimateValue.bytes(of: training.rounded), to: out)
  }
}
