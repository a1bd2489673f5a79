import Oracle

extension Level {
  /// The exact odds against `random` over both sides, computed once for all levels (milliseconds).
  package var oddsAgainstRandom: Odds { Level.odds[number - 1].random }

  /// The exact odds against `perfect` over both sides, computed once for all levels (milliseconds).
  package var oddsAgainstPerfect: Odds { Level.odds[number - 1].perfect }

  /// The character, its manner and its exact odds, in three lines.
  package var summary: String {
    func line(_ odds: Odds, _ opponent: String) -> String {
      "against \(opponent): wins \(Level.percent(odds.win)), draws \(Level.percent(odds.draw)), "
        + "loses \(Level.percent(odds.loss))"
    }
    return """
      \(character) \(manner).
      \(line(oddsAgainstRandom, "random play"))
      \(line(oddsAgainstPerfect, "perfect play"))
      """
  }

  private static let odds: [(random: Odds, perfect: Odds)] = all.map {
    (
      Odds.of($0.distribution, against: SimpleOpponent.random.distribution),
      Odds.of($0.distribution, against: SimpleOpponent.perfect.distribution)
    )
  }

  /// Formats a chance in per cent with one decimal; never rounds to 0 or 100 %.
  static func percent(_ chance: Double) -> String {
    let tenths = Int((chance * 1000).rounded())
    if chance > 0 && tenths == 0 { return "<0.1 %" }
    if chance < 1 - 1e-12 && tenths == 1000 { return ">99.9 %" }
    return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
  }
}
