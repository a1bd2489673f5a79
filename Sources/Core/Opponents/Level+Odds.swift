import Oracle

extension Level {
  /// The exact odds against `random`, half the games as X and half as O; computed once for all levels (milliseconds).
  package var oddsAgainstRandom: Odds { Level.odds[number - 1].random }

  /// The exact odds against `perfect`, half the games as X and half as O; computed once for all levels (milliseconds).
  package var oddsAgainstPerfect: Odds { Level.odds[number - 1].perfect }

  private static let odds: [(random: Odds, perfect: Odds)] = all.map {
    (
      Odds.of($0.distribution, against: SimpleOpponent.random.distribution),
      Odds.of($0.distribution, against: SimpleOpponent.perfect.distribution)
    )
  }
}
