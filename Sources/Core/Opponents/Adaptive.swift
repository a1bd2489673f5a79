import Base
import Oracle
import TicTacToe

/// Adapts to its opponent so that over many games each side scores half.
///
/// Counts the opponent's replies. The strong moves keep the value, and the opponent has erred most often after them. Each loss raises the
/// share of strong moves, at first ½, by 1/50, each win lowers it. Until the share reaches −1 or 1, there are at most 75 more wins than
/// losses, so the mean score of n games is within 38/n of ½.
package struct Adaptive: LearningOpponent {
  /// The share of strong moves, in units of 1/65,536. If negative, −`strength` is the share of moves that give value away.
  package private(set) var strength: Int
  /// How often the opponent marked each cell, at [base-3 key][cell] of the canonical position.
  private var habits: [UInt16]
  package private(set) var gamesLearned = 0

  private static let scale = 65_536
  /// Each win or loss changes `strength` by half this number, 1/50 of `scale`.
  private static let gain = scale / 25

  package init() {
    strength = Adaptive.scale / 2
    habits = [UInt16](repeating: 0, count: Position.keyCount * 9)
  }

  package var name: String { "adaptive" }

  /// With the chance |`strength`| draws a strong move (a move that loses value if `strength` is negative), otherwise any legal move.
  package func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square {
    let draw = generator.below(Adaptive.scale)
    return MoveDistribution(uniformOver: draw < abs(strength) ? wish(in: position) : position.legalMoves)
      .draw(using: &generator)
  }

  package var frozen: FrozenPlayer {
    FrozenPlayer(name: "adaptive:frozen") { (position, _) in
      MoveDistribution(
        wish(in: position), taken: UInt64(abs(strength)), of: UInt64(Adaptive.scale),
        otherwise: MoveDistribution(uniformOver: position.legalMoves))
    }
  }

  /// The strong moves. If `strength` is negative, the moves that lose value; if no move loses value, all moves.
  private func wish(in position: Position) -> SquareSet {
    if strength >= 0 { return strongMoves(in: position) }
    let losing = position.legalMoves.subtracting(Solver.shared.valuePreservingMoves(in: position))
    return losing.isEmpty ? position.legalMoves : losing
  }

  func strongMoves(in position: Position) -> SquareSet {
    Solver.shared.luringMoves(in: position, errorRate: errorRate)
  }

  /// The chance that the opponent errs in a position, estimated from the counted replies with Laplace smoothing.
  private func errorRate(in position: Position) -> Double {
    guard position.outcome == nil else { return 0 }
    let keeping = Solver.shared.valuePreservingMoves(in: position)
    let (canonical, symmetry) = position.canonical
    var (seen, errors) = (0, 0)
    for square in position.legalMoves {
      let count = 1 + Int(habits[canonical.ternaryKey * 9 + symmetry(square).index])
      seen += count
      if !keeping.contains(square) { errors += count }
    }
    return Double(errors) / Double(seen)
  }

  package mutating func learn(from moves: [Square], start: Position, as side: Player, outcome: Outcome?) {
    gamesLearned += 1
    var position = start
    for square in moves {
      if position.turn != side {
        let (canonical, symmetry) = position.canonical
        let index = canonical.ternaryKey * 9 + symmetry(square).index
        if habits[index] < .max { habits[index] += 1 }
      }
      position = position.playing(square)
    }
    guard let outcome else { return }
    let score = outcome == .draw ? 0 : outcome == .win(side) ? 1 : -1
    strength = max(-Adaptive.scale, min(Adaptive.scale, strength - score * Adaptive.gain / 2))
  }
}
