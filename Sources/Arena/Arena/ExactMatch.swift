import Opponents
import Oracle
import TicTacToe

/// The exact result of two memoryless players: all games that they can play, each weighted by its exact chance.
package struct ExactMatch: Sendable {
  /// The result of all games with the same player as X.
  package struct Seating: Sendable {
    package let xWin: Fraction
    package let draw: Fraction
    package let oWin: Fraction
    /// The mean number of moves in a game, of both sides together.
    package let meanPlies: Fraction

    package init(x: any MemorylessOpponent, o: any MemorylessOpponent, solver: Solver = .shared) {
      let counts = OutcomeCounts<BigNatural>(x: x.distribution, o: o.distribution, solver: solver)
      // `counts` has the chances times the product of the denominators of all earlier plies. Multiplying by `rest[ply]`, the product of the
      // remaining denominators, gives all chances the same denominator `rest[0]`.
      var rest = [BigNatural](repeating: BigNatural(1), count: 11)
      for ply in stride(from: 9, through: 0, by: -1) { rest[ply] = rest[ply + 1] * counts.denominators[ply] }
      var (win, draw, loss, plies) = (BigNatural(0), BigNatural(0), BigNatural(0), BigNatural(0))
      for ply in 0...9 {
        win = win + counts.xWins[ply] * rest[ply]
        draw = draw + counts.draws[ply] * rest[ply]
        loss = loss + counts.oWins[ply] * rest[ply]
        let ended = counts.xWins[ply] + counts.draws[ply] + counts.oWins[ply]
        plies = plies + ended * rest[ply] * BigNatural(UInt64(ply))
      }
      precondition(win + draw + loss == rest[0], "the chances do not sum to 1")
      (xWin, self.draw, oWin) = (Fraction(win, rest[0]), Fraction(draw, rest[0]), Fraction(loss, rest[0]))
      meanPlies = Fraction(plies, rest[0])
    }
  }

  /// With the first player as X.
  package let asX: Seating
  package let asO: Seating

  package init(a: any MemorylessOpponent, b: any MemorylessOpponent, solver: Solver = .shared) {
    asX = Seating(x: a, o: b, solver: solver)
    asO = Seating(x: b, o: a, solver: solver)
  }

  /// The chances that the first player scores 0, ½, 1, 1½ and 2 points in a pair of games.
  package var pentanomial: [Fraction] {
    let first = [asX.oWin, asX.draw, asX.xWin]
    let second = [asO.xWin, asO.draw, asO.oWin]
    var result = [Fraction](repeating: Fraction(BigNatural(0), BigNatural(1)), count: 5)
    for i in 0..<3 { for j in 0..<3 { result[i + j] = result[i + j] + first[i] * second[j] } }
    return result
  }

  /// The first player's mean score over its games with X and its games with O, 0–1.
  package var score: Fraction {
    pentanomial.enumerated().reduce(Fraction(BigNatural(0), BigNatural(1))) {
      $0 + $1.element * Fraction(BigNatural(UInt64($1.offset)), BigNatural(4))
    }
  }
}
