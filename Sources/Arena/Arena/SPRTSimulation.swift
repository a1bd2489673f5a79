import Base
import Foundation
import TicTacToe

/// Simulates sequential tests (`SPRT`), to measure how often they err and how long they take.
package struct SPRTSimulation: Sendable {
  package struct Result: Sendable {
    package var h0 = 0
    package var h1 = 0
    /// The number of pairs of games in all tests.
    package var pairs = 0
  }

  private let test: SPRT
  /// The cumulative chances that a pair of games brings 0, ½, 1, 1½ and 2 points.
  private let sums: [Double]

  /// `chances` has the probabilities that a pair of games brings 0, ½, 1, 1½ and 2 points.
  package init(_ test: SPRT, pairs chances: [Double]) {
    self.test = test
    sums = chances.indices.map { chances[...$0].reduce(0, +) }
  }

  /// The probabilities that a pair of games brings 0, ½, 1, 1½ and 2 points; `level` is that of 1 point. Of the other pairs a fifth bring 0
  /// or 2 points. `nil` if `level` leaves too few pairs for the difference `elo`.
  package static func chances(level: Double, elo: Double, of test: SPRT) -> [Double]? {
    let rest = 1 - level
    // The mean and the mean square of the distance between a pair's mean score and ½: the distance is ½ for 0 or 2 points, ¼ for ½ or 1½
    // points.
    let (size, square) = (rest * (0.2 * 0.5 + 0.8 * 0.25), rest * (0.2 * 0.25 + 0.8 * 0.0625))
    let deviations = SPRT.deviations(of: elo)
    let mean =
      test.model == .normalised
      ? deviations * (square / (1 + deviations * deviations)).squareRoot() : Elo.score(of: elo) - 0.5
    let lean = mean / size
    guard abs(lean) <= 1 else { return nil }
    let (up, down) = (rest * (1 + lean) / 2, rest * (1 - lean) / 2)
    return [0.2 * down, 0.8 * down, level, 0.8 * up, 0.2 * up]
  }

  /// The numbers of lost, drawn and won games. Each pair with 1 point counts as two draws.
  private static func games(_ pairs: [Int]) -> [Int] {
    [2 * pairs[0] + pairs[1], pairs[1] + 2 * pairs[2] + pairs[3], pairs[3] + 2 * pairs[4]]
  }

  /// Simulates `count` tests of at most `limit` pairs.
  package func run(_ count: Int, seed: UInt64, limit: Int) -> Result {
    var result = Result()
    for number in 0..<count {
      var generator = SplitMix64(seed: seed, index: UInt64(number))
      var counts = [0, 0, 0, 0, 0]
      let bounds = test.bounds
      for _ in 0..<limit {
        let draw = Double(generator.next() >> 11) / 0x1p53
        counts[sums.firstIndex { draw < $0 } ?? 4] += 1
        result.pairs += 1
        let ratio = test.llr(counts: test.model == .trinomial ? SPRTSimulation.games(counts) : counts)
        if ratio >= bounds.upper { result.h1 += 1 } else if ratio <= bounds.lower { result.h0 += 1 } else { continue }
        break
      }
    }
    return result
  }
}
