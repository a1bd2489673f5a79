import Oracle

extension Level {
  /// The exact chances to win, draw and lose against `random`, with half the games as X and half as O.
  package var oddsAgainstRandom: Odds { Level.odds[number - 1].random }

  /// The exact chances to win, draw and lose against `perfect`, with half the games as X and half as O.
  package var oddsAgainstPerfect: Odds { Level.odds[number - 1].perfect }

  private static let odds: [(random: Odds, perfect: Odds)] = all.map {
    (
      Odds.of($0.distribution, against: SimpleOpponent.random.distribution),
      Odds.of($0.distribution, against: SimpleOpponent.perfect.distribution)
    )
  }
}
