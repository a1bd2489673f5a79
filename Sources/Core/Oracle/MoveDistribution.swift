import Base
import TicTacToe

/// The chances with which a player chooses each of the nine cells: whole-number weights over their sum.
package struct MoveDistribution: Sendable, Equatable {
  private var weights = InlineArray<9, UInt64>(repeating: 0)
  /// The sum of the weights; above 0.
  package private(set) var total: UInt64

  package init(uniformOver squares: SquareSet) {
    precondition(!squares.isEmpty, "no move to choose from")
    for square in squares { weights[square.index] = 1 }
    total = UInt64(squares.count)
  }

  /// The sum of the weights must be above 0 and below 2⁶³.
  package init(weights list: [(Square, UInt64)]) {
    total = 0
    for (square, weight) in list {
      weights[square.index] += weight
      total += weight
    }
    precondition(total > 0, "no move to choose from")
    reduce()
  }

  /// A cell's weight; its chance is the weight over `total`.
  package subscript(square: Square) -> UInt64 { weights[square.index] }

  package func probability(of square: Square) -> Double { Double(weights[square.index]) / Double(total) }

  package var support: SquareSet {
    Square.all.reduce(into: []) { if weights[$1.index] > 0 { $0.insert($1) } }
  }

  /// With probability `taken` / `of` a cell of `squares`, each equally likely; otherwise a cell by the chances of `rest`.
  package init(
    _ squares: SquareSet, taken: UInt64, of: UInt64, otherwise rest: MoveDistribution
  ) {
    precondition(!squares.isEmpty && taken <= of && of > 0, "chance \(taken)/\(of) of \(squares.count) cells")
    // The mixture is rest · (of − taken)/of + squares · taken/(of · n), over the common denominator rest.total · of · n.
    let n = UInt64(squares.count)
    total = rest.total * of * n
    for square in Square.all {
      weights[square.index] =
        rest[square] * (of - taken) * n + (squares.contains(square) ? rest.total * taken : 0)
    }
    reduce()
  }

  /// The chances of the drawn cells differ from the exact chances by less than 2⁻⁶².
  package func draw(using generator: inout SplitMix64) -> Square {
    var rest = generator.next().multipliedFullWidth(by: total).high
    for index in 0..<9 {
      if rest < weights[index] { return Square(index) }
      rest -= weights[index]
    }
    preconditionFailure("weights sum to less than their total \(total)")
  }

  /// Divides the weights by their greatest common divisor, so that mixtures of mixtures stay within 64 bits.
  private mutating func reduce() {
    var divisor = total
    for index in 0..<9 where divisor > 1 && weights[index] > 0 {
      var (a, b) = (divisor, weights[index])
      while b != 0 { (a, b) = (b, a % b) }
      divisor = a
    }
    guard divisor > 1 else { return }
    total /= divisor
    for index in 0..<9 { weights[index] /= divisor }
  }

  package static func == (a: MoveDistribution, b: MoveDistribution) -> Bool {
    a.total == b.total && (0..<9).allSatisfy { a.weights[$0] == b.weights[$0] }
  }
}
