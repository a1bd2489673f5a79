import Base
import Foundation

package struct Tally: Sendable, Hashable {
  package var wins = 0
  package var draws = 0
  package var losses = 0

  package var games: Int { wins + draws + losses }
  /// 1 for a win, ½ for a draw.
  package var points: Double { Double(wins) + Double(draws) / 2 }
  /// The mean points of a game, 0–1; ½ without games.
  package var score: Double { games == 0 ? 0.5 : points / Double(games) }

  package static func + (a: Tally, b: Tally) -> Tally {
    Tally(wins: a.wins + b.wins, draws: a.draws + b.draws, losses: a.losses + b.losses)
  }
}

/// The results of one player against another: by side, and by pairs of games from the same opening with sides swapped.
package struct PairingStatistics: Sendable, Hashable {
  /// The first player's games as X.
  package var asX = Tally()
  package var asO = Tally()
  /// The numbers of pairs in which the first player scored 0, ½, 1, 1½ and 2 points.
  package var pentanomial = [0, 0, 0, 0, 0]
  /// The number of games that ended by forfeit or time.
  package var forfeits = 0

  package var total: Tally { asX + asO }

  /// The first player's mean score: from pairs of games, or from single games if no pair is complete.
  package var estimate: Estimate {
    pentanomial.contains { $0 > 0 }
      ? Estimate(counts: pentanomial) : Estimate(counts: [total.losses, total.draws, total.wins])
  }

  package var normalisedElo: Double {
    estimate.normalisedElo(gamesPerObservation: estimate.counts.count == 5 ? 2 : 1)
  }
}

/// A logistic Elo difference, or only a bound if one side never scored.
package enum Elo: Sendable, Hashable {
  case exactly(Double)
  /// The second player never scored, so the difference has no estimate, only this lower bound (one-sided, 95 %).
  case atLeast(Double)
  /// The first player never scored, so the difference has no estimate, only this upper bound (one-sided, 95 %).
  case atMost(Double)
  /// The difference is unknown: there are no games, or this end of an interval stands for a score of at most 0 or at least 1.
  case unknown

  /// The difference, `+12.01`; a bound, `≥ +200.10` or `≤ -200.10`; or `?` if the difference is unknown.
  package var text: String {
    switch self {
    case .exactly(let value): Elo.signed(value)
    case .atLeast(let value): "≥ \(Elo.signed(value))"
    case .atMost(let value): "≤ \(Elo.signed(value))"
    case .unknown: "?"
    }
  }

  package static func signed(_ value: Double) -> String { String(format: "%+.2f", value == 0 ? 0 : value) }

  /// `score` must lie strictly between 0 and 1.
  package static func of(score: Double) -> Double { 0 - 400 * log10(1 / score - 1) }

  package static func score(of elo: Double) -> Double { 1 / (1 + pow(10, -elo / 400)) }
}

/// A mean score with its uncertainty.
package struct Estimate: Sendable, Hashable {
  /// How often each of k equally spaced scores (0, 1/(k−1), …, 1) occurred.
  package let counts: [Int]

  /// The number of observations.
  package var number: Int { counts.reduce(0, +) }

  /// The number, the mean and the variance of the observations, after `prior` was added to each of `counts`.
  func moments(prior: Double = 0) -> (number: Double, mean: Double, variance: Double) {
    let weights = counts.map { Double($0) + prior }
    let number = weights.reduce(0, +)
    guard number > 0 else { return (0, 0.5, 0) }
    let last = Double(counts.count - 1)
    let mean = zip(weights, counts.indices).reduce(0) { $0 + $1.0 * Double($1.1) / last } / number
    let variance =
      zip(weights, counts.indices).reduce(0) { $0 + $1.0 * pow(Double($1.1) / last - mean, 2) } / number
    return (number, mean, variance)
  }

  /// The variance of an observation, with ½ added to each of `counts` (Jeffreys), so that it is never 0.
  var steadyVariance: Double { moments(prior: 0.5).variance }

  /// The mean score, 0–1; ½ without observations.
  package var score: Double { moments().mean }

  /// The Elo difference of the mean score; a one-sided 95 % bound if a side never scored.
  package var elo: Elo {
    guard number > 0 else { return .unknown }
    if score <= 0 { return .atMost(Elo.of(score: bound(1.644_853_627))) }
    if score >= 1 { return .atLeast(Elo.of(score: bound(-1.644_853_627))) }
    return .exactly(Elo.of(score: score))
  }

  /// The 95 % interval of the Elo difference, with ½ added to each of `counts` (Jeffreys).
  package var interval: (low: Elo, high: Elo) {
    guard number > 0 else { return (.unknown, .unknown) }
    let (n, mean, variance) = moments(prior: 0.5)
    let half = 1.959_963_985 * (variance / n).squareRoot()
    let low: Elo = mean - half > 0 ? .exactly(Elo.of(score: mean - half)) : .unknown
    let high: Elo = mean + half < 1 ? .exactly(Elo.of(score: mean + half)) : .unknown
    return (low, high)
  }

  /// The mean score plus `z` standard errors, strictly between 0 and 1.
  private func bound(_ z: Double) -> Double {
    let (n, mean, variance) = moments(prior: 0.5)
    return min(max(mean + z * (variance / n).squareRoot(), 1e-9), 1 - 1e-9)
  }

  /// The Elo difference and its 95 % interval, `+12.01 [+1.20, +22.90]`; `+12.01 [≤ +22.90]` if only one end of the interval is known.
  package var eloText: String {
    guard number > 0 else { return "?" }
    let (low, high) = interval
    switch (elo, low, high) {
    case (.exactly, .unknown, .exactly): return "\(elo.text) [≤ \(high.text)]"
    case (.exactly, .exactly, .unknown): return "\(elo.text) [≥ \(low.text)]"
    case (.exactly, .exactly, .exactly): return "\(elo.text) [\(low.text), \(high.text)]"
    default: return elo.text
    }
  }

  /// The likelihood of superiority: the probability that the true score is above ½ (normal approximation).
  package var los: Double {
    guard number > 0 else { return 0.5 }
    let plain = moments()
    let (n, mean, variance) = plain.variance > 0 ? plain : moments(prior: 0.5)
    return 0.5 * erfc(-(mean - 0.5) / (2 * variance / n).squareRoot())
  }

  /// The distance of the mean score from ½, in standard deviations of the score of one game, times 800/ln 10. `gamesPerObservation` is 2
  /// for pairs of games, else 1. Source: M. Van den Bergh, "Normalized Elo", 2019.
  package func normalisedElo(gamesPerObservation: Double) -> Double {
    let plain = moments()
    let (_, mean, variance) = plain.variance > 0 ? plain : moments(prior: 0.5)
    return (mean - 0.5) / (variance * gamesPerObservation).squareRoot() * 800 / log(10)
  }
}

/// A sequential probability ratio test between two Elo differences, logistic except in the model `normalised`.
package struct SPRT: Sendable, Hashable {
  package enum Model: String, Sendable, Hashable, CaseIterable {
    /// Pairs of games, which have five possible scores.
    case pentanomial
    /// Single games, which have three possible scores.
    case trinomial
    /// Pairs of games; the differences are normalised Elo, measured in standard deviations.
    case normalised
  }

  package enum Verdict: String, Sendable, Hashable {
    /// Accepts the lower Elo difference.
    case h0 = "H0"
    /// Accepts the higher Elo difference.
    case h1 = "H1"
    case inconclusive
  }

  package var elo0: Double
  package var elo1: Double
  /// The chance of accepting the higher difference if the lower is true.
  package var alpha = 0.05
  /// The chance of accepting the lower difference if the higher is true.
  package var beta = 0.05
  package var model = Model.pentanomial
}

extension SPRT {
  var json: JSON {
    [
      "elo0": .double(elo0), "elo1": .double(elo1), "alpha": .double(alpha), "beta": .double(beta),
      "model": .string(model.rawValue),
    ]
  }

  init?(_ json: JSON) {
    guard let elo0 = json["elo0"]?.number, let elo1 = json["elo1"]?.number, let alpha = json["alpha"]?.number,
      let beta = json["beta"]?.number, let model = json["model"]?.string.flatMap(Model.init)
    else { return nil }
    self.init(elo0: elo0, elo1: elo1, alpha: alpha, beta: beta, model: model)
  }

  /// Reads `elo0=0,elo1=20[,alpha=0.05,beta=0.05,model=pentanomial|trinomial|normalised]`.
  package init(_ text: String) throws(ArenaError) {
    self.init(elo0: .nan, elo1: .nan)
    for field in text.split(separator: ",") {
      let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw ArenaError("--sprt '\(field)': NAME=VALUE is needed") }
      if parts[0] == "model" {
        guard let model = Model(rawValue: parts[1]) else {
          throw ArenaError("--sprt model '\(parts[1])': \(Model.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.model = model
        continue
      }
      guard let value = Double(parts[1]), value.isFinite else {
        throw ArenaError("--sprt \(parts[0]) '\(parts[1])' is not a number")
      }
      switch parts[0] {
      case "elo0": elo0 = value
      case "elo1": elo1 = value
      case "alpha": alpha = value
      case "beta": beta = value
      default: throw ArenaError("--sprt '\(parts[0])' is unknown; allowed: elo0, elo1, alpha, beta, model")
      }
    }
    guard !elo0.isNaN, !elo1.isNaN else { throw ArenaError("--sprt needs elo0 and elo1") }
    try validate()
  }

  func validate() throws(ArenaError) {
    guard elo0 < elo1, abs(elo0) <= 1000, abs(elo1) <= 1000 else {
      throw ArenaError("--sprt: elo0 must be below elo1, both within ±1000")
    }
    guard (0.0001..<0.5).contains(alpha), (0.0001..<0.5).contains(beta) else {
      throw ArenaError("--sprt: alpha and beta must be at least 0.0001 and below 0.5")
    }
  }

  /// The log-likelihood ratios at which the test ends.
  package var bounds: (lower: Double, upper: Double) { (log(beta / (1 - alpha)), log((1 - beta) / alpha)) }

  /// Replaces a count of 0, so that the test does not take a score that has not occurred yet for impossible.
  private static let prior = 1e-3

  /// The log-likelihood ratio of `elo1` against `elo0`.
  package func llr(_ statistics: PairingStatistics) -> Double {
    let total = statistics.total
    return llr(counts: model == .trinomial ? [total.losses, total.draws, total.wins] : statistics.pentanomial)
  }

  /// The log-likelihood ratio of the likeliest distribution of scores whose difference is `elo1` against the likeliest one whose difference
  /// is `elo0`. Source: M. Van den Bergh, "Comments on normalized Elo" and "GSPRT approximation", 2019–2020.
  package func llr(counts: [Int]) -> Double {
    guard counts.contains(where: { $0 > 0 }) else { return 0 }
    let weights = counts.map { $0 > 0 ? Double($0) : SPRT.prior }
    return zip(weights, zip(tilts(weights, elo0), tilts(weights, elo1))).reduce(0) {
      $0 + $1.0 * (log1p($1.1.0) - log1p($1.1.1))
    }
  }

  /// Converts a normalised Elo difference to standard deviations of a pair's score.
  static func deviations(of elo: Double) -> Double { elo * log(10) / 800 * 2.0.squareRoot() }

  /// Dividing each score's weight by 1 + its tilt gives the likeliest distribution with the difference `elo`.
  private func tilts(_ weights: [Double], _ elo: Double) -> [Double] {
    let scores = weights.indices.map { Double($0) / Double(weights.count - 1) }
    guard model == .normalised else { return tilts(weights, scores.map { $0 - Elo.score(of: elo) }) }
    // A normalised difference fixes (mean − ½) / deviation, which is not linear in the probabilities. So linearise this condition
    // repeatedly, each time at the distribution of the previous step.
    let (aim, total) = (SPRT.deviations(of: elo), weights.reduce(0, +))
    var chances = SPRT.chances(scores, deviations: aim)
    var result: [Double] = []
    for _ in 0..<50 {
      let (mean, deviation) = SPRT.moments(chances, scores)
      result = tilts(
        weights, scores.map { $0 - 0.5 - aim * (deviation + ($0 - mean) * ($0 - mean) / deviation) / 2 })
      let next = zip(weights, result).map { $0 / total / (1 + $1) }
      let change = zip(next, chances).reduce(0) { max($0, abs($1.0 - $1.1)) }
      chances = next
      if change < 1e-12 { break }
    }
    return result
  }

  /// The distribution proportional to exp(t · score) whose mean is `aim` standard deviations above ½.
  private static func chances(_ scores: [Double], deviations aim: Double) -> [Double] {
    var (low, high) = (-1000.0, 1000.0)
    var chances: [Double] = []
    for _ in 0..<100 {
      let t = (low + high) / 2
      let weights = scores.map { exp(t * $0 - max(t, 0)) }
      let total = weights.reduce(0, +)
      chances = weights.map { $0 / total }
      let (mean, deviation) = moments(chances, scores)
      if mean - 0.5 < aim * deviation { low = t } else { high = t }
    }
    return chances
  }

  private static func moments(_ chances: [Double], _ scores: [Double]) -> (mean: Double, deviation: Double) {
    let mean = zip(chances, scores).reduce(0) { $0 + $1.0 * $1.1 }
    let variance = zip(chances, scores).reduce(0) { $0 + $1.0 * ($1.1 - mean) * ($1.1 - mean) }
    return (mean, variance.squareRoot())
  }

  /// The tilt θ·d of each distance d, with the θ that solves Σ w·d/(1 + θd) = 0. With the largest distance D > 0 and the smallest −E < 0,
  /// the sum falls from +∞ to −∞ between its poles θ = −1/D and θ = 1/E, so there is exactly one solution. Without distances of both signs,
  /// all tilts are 0.
  private func tilts(_ weights: [Double], _ distances: [Double]) -> [Double] {
    guard let least = distances.min(), let most = distances.max(), least < 0, most > 0 else {
      return distances.map { _ in 0 }
    }
    var (low, high, theta) = (-1 / most, -1 / least, 0.0)
    for _ in 0..<100 {
      var (value, slope) = (0.0, 0.0)
      for (weight, distance) in zip(weights, distances) {
        let share = distance / (1 + theta * distance)
        value += weight * share
        slope -= weight * share * share
      }
      if value > 0 { low = theta } else { high = theta }
      // Newton's step if the new θ stays between its bounds `low` and `high`, else bisection.
      var next = theta - value / slope
      if !(next > low && next < high) { next = (low + high) / 2 }
      if abs(next - theta) <= 1e-13 * (1 + abs(theta)) { break }
      theta = next
    }
    return distances.map { theta * $0 }
  }

  package func verdict(_ statistics: PairingStatistics) -> Verdict {
    let ratio = llr(statistics)
    return ratio >= bounds.upper ? .h1 : ratio <= bounds.lower ? .h0 : .inconclusive
  }
}
