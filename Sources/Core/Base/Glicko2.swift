import Glibc

/// Glicko-2 ratings: Glickman, "Example of the Glicko-2 system", 2013. Each game is a rating period of its own, and a rating's deviation
/// grows with each day without a game.
package enum Glicko2 {
  package struct Rating: Sendable, Hashable {
    /// The strength in rating points.
    package var value: Double
    /// The standard deviation of the strength in rating points, 30…350.
    package var deviation: Double
    package var volatility: Double

    package init(value: Double = 1500, deviation: Double = 350, volatility: Double = 0.06) {
      (self.value, self.deviation, self.volatility) = (value, deviation, volatility)
    }

    /// The rating after `days` days without a game: only the deviation grows.
    package func aged(days: Double) -> Rating {
      let phi = deviation / scale
      var result = self
      result.deviation = min(350, scale * (phi * phi + volatility * volatility * max(0, days)).squareRoot())
      return result
    }
  }

  /// 400 / ln 10: a rating is 1500 plus the paper's μ times this number.
  private static let scale = 173.7178
  /// The paper's τ, recommended 0.3–1.2. A smaller τ lets improbable results change the volatility less.
  private static let tau = 0.5

  /// `score` is the player's score against the opponent: 1, 0.5 or 0.
  package typealias Game = (opponent: Rating, score: Double)

  /// The player's rating after a rating period with these games.
  package static func rate(_ player: Rating, _ games: [Game]) -> Rating {
    guard !games.isEmpty else { return player.aged(days: 1) }
    let mu = (player.value - 1500) / scale
    let phi = player.deviation / scale
    var inverseVariance = 0.0
    var sum = 0.0
    for game in games {
      let phiJ = game.opponent.deviation / scale
      let g = 1 / (1 + 3 * phiJ * phiJ / (Double.pi * Double.pi)).squareRoot()
      let expected = 1 / (1 + exp(-g * (mu - (game.opponent.value - 1500) / scale)))
      inverseVariance += g * g * expected * (1 - expected)
      sum += g * (game.score - expected)
    }
    let v = 1 / inverseVariance
    let sigma = volatility(phi: phi, v: v, delta: v * sum, sigma: player.volatility)
    let phiStar = (phi * phi + sigma * sigma).squareRoot()
    let newPhi = 1 / (1 / (phiStar * phiStar) + 1 / v).squareRoot()
    return Rating(
      value: scale * (mu + newPhi * newPhi * sum) + 1500, deviation: min(350, max(30, scale * newPhi)),
      volatility: sigma)
  }

  /// Step 5 of the paper: finds the root of its function f by the Illinois method.
  private static func volatility(phi: Double, v: Double, delta: Double, sigma: Double) -> Double {
    let a = log(sigma * sigma)
    func f(_ x: Double) -> Double {
      let e = exp(x)
      let d = phi * phi + v + e
      return e * (delta * delta - d) / (2 * d * d) - (x - a) / (tau * tau)
    }
    var low = a
    var high: Double
    if delta * delta > phi * phi + v {
      high = log(delta * delta - phi * phi - v)
    } else {
      var k = 1.0
      while f(a - k * tau) < 0 { k += 1 }
      high = a - k * tau
    }
    var (fLow, fHigh) = (f(low), f(high))
    while abs(high - low) > 0.000_001 {
      let c = low + (low - high) * fLow / (fHigh - fLow)
      let fc = f(c)
      if fc * fHigh <= 0 { (low, fLow) = (high, fHigh) } else { fLow /= 2 }
      (high, fHigh) = (c, fc)
    }
    return exp(low / 2)
  }
}
