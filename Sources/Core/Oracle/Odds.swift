import TicTacToe

/// A number type for the chances of a game: `Double`, or an exact type.
package protocol ChanceNumber {
  static func + (a: Self, b: Self) -> Self
  static func * (a: Self, b: Self) -> Self
  init(_ value: UInt64)
  /// A number n so that this type can represent n · `weight`/`total` for each total and every weight. For whole numbers: the least common
  /// multiple of the totals.
  static func commonDenominator(of totals: [UInt64]) -> Self
  /// Multiplies by `weight`/`total`.
  func share(_ weight: UInt64, of total: UInt64) -> Self
}

/// A memoryless player: the exact chances of its moves, from a live position and the last move.
package typealias Policy = (_ position: Position, _ lastMove: Square?) -> MoveDistribution

/// The chances of each result of a game between two memoryless players, from one pass over all states.
///
/// `xWins[n]`, `oWins[n]` and `draws[n]` are the chances that X wins, that O wins and that the game is drawn, at the n-th mark, times the
/// product of `denominators[..<n]`. This factor makes exact chances whole numbers.
package struct OutcomeCounts<Number: ChanceNumber> {
  package private(set) var xWins: [Number]
  package private(set) var oWins: [Number]
  package private(set) var draws: [Number]
  /// By ply, the common denominator of the chances of all moves of this ply; 1 for plies that are never played.
  package private(set) var denominators: [Number]

  /// Follows all games together, ply by ply, through at most 13,306 live states: positions with their last move.
  package init(x: Policy, o: Policy, from start: Position = .start, solver: Solver = .shared) {
    xWins = .init(repeating: Number(0), count: 10)
    oWins = xWins
    draws = xWins
    denominators = .init(repeating: Number(1), count: 10)
    // In order of discovery, which is the same in every run; `index` finds a state by its key.
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
          // States of different plies have different keys, as each ply adds a mark, so `index` need not be cleared.
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
  /// A `Double` can represent any share, with rounding.
  package static func commonDenominator(of totals: [UInt64]) -> Double { 1 }
  package func share(_ weight: UInt64, of total: UInt64) -> Double { self * Double(weight) / Double(total) }
}

/// The chances that the first of two players wins, draws or loses, as X or as the mean of both sides.
package struct Odds: Sendable, Hashable {
  package let win: Double
  package let draw: Double
  package let loss: Double

  /// The sum must be 1.
  package init(win: Double, draw: Double, loss: Double) {
    (self.win, self.draw, self.loss) = (win, draw, loss)
  }

  /// In both arguments a win is a win of X.
  package init(asX: Odds, asO: Odds) {
    self.init(
      win: (asX.win + asO.loss) / 2, draw: (asX.draw + asO.draw) / 2, loss: (asX.loss + asO.win) / 2)
  }

  /// The expected score of the first player, 0–1.
  package var score: Double { win + draw / 2 }

  /// The odds of one game for X, exact up to `Double` rounding.
  package static func ofX(
    _ x: Policy, against o: Policy, from start: Position = .start, solver: Solver = .shared
  ) -> Odds {
    let counts = OutcomeCounts<Double>(x: x, o: o, from: start, solver: solver)
    let (win, draw, loss) = (counts.xWins.reduce(0, +), counts.draws.reduce(0, +), counts.oWins.reduce(0, +))
    // Normalised: by rounding, even a result that always occurs could get a chance below 1.
    let sum = win + draw + loss
    return Odds(win: win / sum, draw: draw / sum, loss: loss / sum)
  }

  /// The odds of `player`, who plays half of the games as X and half as O.
  package static func of(_ player: Policy, against other: Policy, solver: Solver = .shared) -> Odds {
    Odds(
      asX: ofX(player, against: other, solver: solver), asO: ofX(other, against: player, solver: solver))
  }
}
