import Foundation

package struct Rating: Sendable, Hashable {
  /// Relative to the mean rating of all players.
  package var elo: Double
  /// Half the width of the rating's 95 % interval.
  package var error: Double

  /// The maximum likelihood ratings, with a draw as half a win. One extra drawn game for each pairing keeps the ratings finite. Source: D.
  /// R. Hunter, "MM algorithms for generalized Bradley–Terry models", Annals of Statistics 32, 2004.
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
    // If one player wins almost every game, the iteration needs about as many steps as there are games, each of `players`² divisions. The
    // bound keeps the time to a second.
    for _ in 0..<max(10_000, 100_000_000 / (players * players)) {
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
    let errors = Rating.errors(results, strength, games)
    return (0..<players).map { player in
      Rating(elo: scale * (log(strength[player]) - mean), error: 1.959_963_985 * scale * errors[player])
    }
  }

  /// The standard errors of the logarithms of the players' strengths relative to the mean; all infinite if the games do not connect all
  /// players.
  ///
  /// The two games of a pair depend on each other. So the covariance is H⁺ V H⁺ (Huber's sandwich estimator), with the pseudoinverse H⁺ of
  /// the curvature of the log-likelihood, and the measured variance V of the points.
  private static func errors(
    _ results: [RunReport.Result], _ strength: [Double], _ games: [[Double]]
  ) -> [Double] {
    let count = strength.count
    let zeros = [[Double]](repeating: .init(repeating: 0, count: count), count: count)
    func join(_ matrix: inout [[Double]], _ a: Int, _ b: Int, _ weight: Double) {
      matrix[a][a] += weight
      matrix[b][b] += weight
      matrix[a][b] -= weight
      matrix[b][a] -= weight
    }
    var (curvature, variance) = (zeros, zeros)
    for result in results {
      let score = strength[result.a] / (strength[result.a] + strength[result.b])
      join(&curvature, result.a, result.b, games[result.a][result.b] * score * (1 - score))
      let estimate = result.statistics.estimate
      // With five counts an observation is a pair of games, worth two points; otherwise it is a single game.
      let points = estimate.counts.count == 5 ? 2.0 : 1
      join(&variance, result.a, result.b, Double(estimate.number) * points * points * estimate.steadyVariance)
    }
    // The curvature is singular, because ratings that all rise equally explain the results as well. Adding `share` to each element before
    // the inversion, and subtracting it afterwards, gives the pseudoinverse.
    let share = 1 / Double(count)
    guard var inverse = inverted(curvature.map { $0.map { $0 + share } }) else {
      return .init(repeating: .infinity, count: count)
    }
    for row in 0..<count { for column in 0..<count { inverse[row][column] -= share } }
    return (0..<count).map { player in
      var sum = 0.0
      for one in 0..<count {
        for other in 0..<count { sum += inverse[player][one] * variance[one][other] * inverse[other][player] }
      }
      return max(0, sum).squareRoot()
    }
  }

  /// By Gauss–Jordan elimination; `nil` if the matrix is singular.
  private static func inverted(_ matrix: [[Double]]) -> [[Double]]? {
    let count = matrix.count
    var rows = matrix.enumerated().map { row, values in values + (0..<count).map { $0 == row ? 1 : 0 } }
    for column in 0..<count {
      guard let pivot = (column..<count).max(by: { abs(rows[$0][column]) < abs(rows[$1][column]) }),
        abs(rows[pivot][column]) > 1e-9
      else { return nil }
      rows.swapAt(pivot, column)
      let factor = rows[column][column]
      for place in rows[column].indices { rows[column][place] /= factor }
      for row in 0..<count where row != column && rows[row][column] != 0 {
        let factor = rows[row][column]
        for place in rows[row].indices { rows[row][place] -= factor * rows[column][place] }
      }
    }
    return rows.map { Array($0.dropFirst(count)) }
  }
}
