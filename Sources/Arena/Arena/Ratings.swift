import Foundation

/// The strength of a player compared with the others of a tournament.
package struct Rating: Sendable, Hashable {
  /// Elo above or below the mean of all.
  package var elo: Double
  /// Half the width of its 95 % interval, against the mean of all.
  package var error: Double

  /// The ratings that make the results most likely. A draw counts as half a win and half a loss. Each pairing counts
  /// one extra drawn game, so the ratings are finite.
  ///
  /// Source: D. R. Hunter, "MM algorithms for generalized Bradley–Terry models", Annals of Statistics 32, 2004.
  static func joint(_ results: [RunReport.Result], players: Int) -> [Rating] {
    var points = [Double](repeating: 0, count: players)
    var games = [[Double]](repeating: .init(repeating: 0, count: players), count: players)
    for result in results {
      let total = result.statistics.total
      points[result.a] += total.points + 0.5
      points[result.b] += Double(total.games) - total.points + 0.5
      games[result.a][result.b] += Double(total.games) + 1
      games[result.b][result.a] += Double(total.games) + 1
    }
    var strength = [Double](repeating: 1, count: players)
    for _ in 0..<10_000 {
      var change = 0.0
      for player in 0..<players where points[player] > 0 {
        let sum = (0..<players).reduce(0) {
          $0 + (games[player][$1] > 0 ? games[player][$1] / (strength[player] + strength[$1]) : 0)
        }
        change = max(change, abs(log(points[player] / sum / strength[player])))
        strength[player] = points[player] / sum
      }
      if change < 1e-10 { break }
    }
    let scale: Double = 400 / log(10)
    let mean = strength.reduce(0) { $0 + log($1) } / Double(players)
    return (0..<players).map { player in
      // The information that the player's own games give about its rating.
      let information = (0..<players).reduce(0) { sum, other in
        let score = strength[player] / (strength[player] + strength[other])
        return sum + games[player][other] * score * (1 - score)
      }
      let error = information > 0 ? 1.959_963_985 * scale / information.squareRoot() : .infinity
      return Rating(elo: scale * (log(strength[player]) - mean), error: error)
    }
  }
}
