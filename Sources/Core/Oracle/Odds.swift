import TicTacToe

/// A number type for the chances of a game: `Double`, or an exact type.
package protocol ChanceNumber {
  static func + (a: Self, b: Self) -> Self
  static func * (a: Self, b: Self) -> Self
  /// Converts a whole number.
  init(_ value: UInt64)
  /// A number n, so that this type can represent n · `weight`/`total` for each of these totals and every weight. For exact whole numbers:
  /// the least common multiple of the totals.
  static func commonDenominator(of totals: [UInt64]) -> Self
  /// Multiplies by `weight`/`total`.
  func share(_ weight: UInt64, of total: UInt64) -> Self
}

/// A memoryless player: the exact chances of its moves, from a live position and the last move.
package typealias Policy = (_ position: Position, _ lastMove: Square?) -> MoveDistribution

/// The chances of each result of a game between two memoryless players, from one pass over all states.
///
/// The chance of a position with n marks is stored as a weight: the chance times the product of `denominators[..<n]`. So the weights of
/// exact chances are whole numbers.
package struct OutcomeCounts<Number: ChanceNumber> {
  /// At index n, the chance that X wins with the n-th mark, times the product of `denominators[..<n]`.
  package private(set) var xWins: [Number]
  /// At index n, the chance that O wins with the n-th mark, times the product of `denominators[..<n]`.
  package private(set) var oWins: [Number]
  /// At index n, the chance that the n-th mark draws the game, times the product of `denominators[..<n]`.
  package private(set) var draws: [Number]
  /// By ply, the common denominator of the chances of all moves of this ply; 1 for plies that are never played.
  package private(set) var denominators: [Number]

  /// Follows all games together, ply by ply. There are at most 13,306 live states; a state is a position with its last move.
  package init(x: Policy, o: Policy, from start: Position = .start, solver: Solver = .shared) {
    xWins = .init(repeating: Number(0), count: 10)
    oWins = xWins
    draws = xWins
    denominators = .init(repeating: Number(1), count: 10)
    // States are kept in order of discovery, which is the same in every run; `index` finds a state by its key.
    var states: [(position: Position, last: Square?, mass: Number)] = [(start, nil, Number(1))]
    var index = [Int32](repeating: -1, count: Position.keyCount * 9)
    for ply in start.ply...9 {
      for state in states {
        switch solver.outcome(of: state.position) {
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
          // Each ply adds a mark, so states of different plies have different keys, and `index` need not be cleared between plies.
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
  /// Always 1: a `Double` can represent any share, with rounding.
  package static func commonDenominator(of totals: [UInt64]) -> Double { 1 }
  /// Multiplies by `weight`/`total`, with rounding.
  package func share(_ weight: UInt64, of total: UInt64) -> Double { self * Double(weight) / Double(total) }
}

/// The chances that the first of two players wins, draws or loses. The first player plays X; or it plays X in half the games and O in the
/// other half, and the odds are the mean of both.
package struct Odds: Sendable, Hashable {
  /// The chance that the first player wins.
  package let win: Double
  /// The chance of a draw.
  package let draw: Double
  /// The chance that the first player loses.
  package let loss: Double

  /// Makes odds from three chances, whose sum must be 1.
  package init(win: Double, draw: Double, loss: Double) {
    (self.win, self.draw, self.loss) = (win, draw, loss)
  }

  /// Averages the odds of a player's games as X (`asX`) and as O (`asO`); in both arguments a win is a win of X.
  package init(asX: Odds, asO: Odds) {
    self.init(
      win: (asX.win + asO.loss) / 2, draw: (asX.draw + asO.draw) / 2, loss: (asX.loss + asO.win) / 2)
  }

  /// The expected score of the first player, 0–1.
  package var score: Double { win + draw / 2 }

  /// The odds of one game for X: exact up to `Double` rounding.
  package static func ofX(
    _ x: Policy, against o: Policy, from start: Position = .start, solver: Solver = .shared
  ) -> Odds {
    let counts = OutcomeCounts<Double>(x: x, o: o, from: start, solver: solver)
    let (win, draw, loss) = (counts.xWins.reduce(0, +), counts.draws.reduce(0, +), counts.oWins.reduce(0, +))
    // Normalised, since by rounding even a result that always occurs could get a chance below 1.
    let sum = win + draw + loss
    return Odds(win: win / sum, draw: draw / sum, loss: loss / sum)
  }

  /// The odds of a player against another player: half the games as X, half as O.
  package static func of(_ player: Policy, against other: Policy, solver: Solver = .shared) -> Odds {
    Odds(
      asX: ofX(player, against: other, solver: solver), asO: ofX(other, against: player, solver: solver))
  }
}
