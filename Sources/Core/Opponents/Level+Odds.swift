import Oracle

extension Level {
  /// The exact chances to win, draw and lose against `random`, if the level plays half the games as X and half as O. Computed once for all
  /// levels, in a few milliseconds.
  package var oddsAgainstRandom: Odds { Level.odds[number - 1].random }

  /// The exact chances to win, draw and lose against `perfect`, if the level plays half the games as X and half as O. Computed once for all
  /// levels, in a few milliseconds.
  package var oddsAgainstPerfect: Odds { Level.odds[number - 1].perfect }

  private static let odds: [(random: Odds, perfect: Odds)] = all.map {
    (
      Odds.of($0.distribution, against: SimpleOpponent.random.distribution),
      Odds.of($0.distribution, against: SimpleOpponent.perfect.distribution)
    )
  }
}
