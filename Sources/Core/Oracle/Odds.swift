import TicTacToe

/// A number that can hold the chances of a game: `Double`, or something exact.
package protocol ChanceNumber {
  /// The sum.
  static func + (a: Self, b: Self) -> Self
  /// The product.
  static func * (a: Self, b: Self) -> Self
  /// A whole number: 0 is nothing, 1 everything.
  init(_ value: UInt64)
  /// What makes every share of these totals a number that can be held: for whole numbers their least common multiple.
  static func commonDenominator(of totals: [UInt64]) -> Self
  /// This times `weight`/`total`.
  func share(_ weight: UInt64, of total: UInt64) -> Self
}

/// A player that has no memory: the exact chances of its moves in a live position after the last move.
package typealias Policy = (_ position: Position, _ lastMove: Square?) -> MoveDistribution

/// The chances of every end of a game between two memoryless players, counted over all states in one pass.
///
/// Counts share a denominator that grows by `denominators[p]` at each ply, so that whole numbers stay whole.
package struct OutcomeCounts<Number: ChanceNumber> {
  /// Weight of X's wins by the number of moves, over the product of the denominators before that ply.
  package private(set) var xWins: [Number]
  /// Weight of O's wins, likewise.
  package private(set) var oWins: [Number]
  /// Weight of draws, likewise.
  package private(set) var draws: [Number]
  /// What a ply's weights are divided by, beyond the plies before it; 1 for a ply that is never played.
  package private(set) var denominators: [Number]

  /// Plays every game at once; 13,306 live states of position and last move at most.
  package init(x: Policy, o: Policy, from start: Position = .start) {
    xWins = .init(repeating: Number(0), count: 10)
    oWins = xWins
    draws = xWins
    denominators = .init(repeating: Number(1), count: 10)
    // Kept in order of discovery, which is the same on every run; the index finds a state again.
    var states: [(position: Position, last: Square?, mass: Number)] = [(start, nil, Number(1))]
    var index = [Int32](repeating: -1, count: Position.keyCount * 9)
    for ply in start.ply...9 {
      for state in states {
        switch state.position.outcome {
        case .win(.x): xWins[ply] = xWins[ply] + state.mass
        case .win(.o): oWins[ply] = oWins[ply] + state.mass
        case .draw: draws[ply] = draws[ply] + state.mass
        case nil: break
        }
      }
      states.removeAll { $0.position.outcome != nil }
      if states.isEmpty { break }
      let choices = states.map { state in
        ply % 2 == 0 ? x(state.position, state.last) : o(state.position, state.last)
      }
      let common = Number.commonDenominator(of: choices.map { $0.total })
      denominators[ply] = common
      var next: [(position: Position, last: Square?, mass: Number)] = []
      for (state, choice) in zip(states, choices) {
        for square in state.position.legalMoves where choice[square] > 0 {
          let after = state.position.playing(square)
          let mass = state.mass * common.share(choice[square], of: choice.total)
          // A key belongs to one ply, so that the index need not be cleared.
          let key = after.ternaryKey * 9 + square.index
          if index[key] < 0 {
            index[key] = Int32(next.count)
            next.append((after, square, mass))
          } else {
            next[Int(index[key])].mass = next[Int(index[key])].mass + mass
          }
        }
      }
      states = next
    }
  }
}

extension Double: ChanceNumber {
  /// 1: every share can be held, rounded.
  package static func commonDenominator(of totals: [UInt64]) -> Double { 1 }
  /// This times `weight`/`total`, rounded.
  package func share(_ weight: UInt64, of total: UInt64) -> Double { self * Double(weight) / Double(total) }
}

/// How games between two players end, as chances.
package struct Odds: Sendable, Hashable {
  /// The chance that the first player wins.
  package let win: Double
  /// The chance of a draw.
  package let draw: Double
  /// The chance that the first player loses.
  package let loss: Double

  /// Makes odds that sum to 1.
  package init(win: Double, draw: Double, loss: Double) {
    (self.win, self.draw, self.loss) = (win, draw, loss)
  }

  /// The odds of a player over both seats, from X's odds where it is X and where it is O.
  package init(asX: Odds, asO: Odds) {
    self.init(
      win: (asX.win + asO.loss) / 2, draw: (asX.draw + asO.draw) / 2, loss: (asX.loss + asO.win) / 2)
  }

  /// The expected score of the first player, 0–1.
  package var score: Double { win + draw / 2 }

  /// The exact odds of one game, from X's side, rounded to `Double` at the end of each sum.
  package static func ofX(_ x: Policy, against o: Policy, from start: Position = .start) -> Odds {
    let counts = OutcomeCounts<Double>(x: x, o: o, from: start)
    let (win, draw, loss) = (counts.xWins.reduce(0, +), counts.draws.reduce(0, +), counts.oWins.reduce(0, +))
    // The sum is 1 but for roundings; what is certain shall read so.
    let sum = win + draw + loss
    return Odds(win: win / sum, draw: draw / sum, loss: loss / sum)
  }

  /// The exact odds of a player against another with seats swapped: half the games as X, half as O.
  package static func of(_ player: Policy, against other: Policy) -> Odds {
    Odds(asX: ofX(player, against: other), asO: ofX(other, against: player))
  }
}
