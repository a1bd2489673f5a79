import Base
import Oracle
import TicTacToe

/// Adapts to its opponent so that over many games each side scores half.
///
/// This player counts its opponent's replies in each position (up to symmetry). Of the moves that keep the value of a position, the strong
/// moves are those after which the opponent has erred most often. The share of strong moves begins at ½. Each win of this player lowers the
/// share by 1/50, each loss raises it by 1/50, down to −1 (see `strength`) or up to 1. Before the share reaches −1 or 1, there are at most
/// 75 more wins than losses and at most 25 more losses than wins. So the mean score of n games differs from ½ by less than 38/n.
package struct Adaptive: LearningOpponent {
  /// The share of strong moves among the player's moves, in units of 1/65,536. If negative, −`strength` is the share of moves that give
  /// value away.
  package private(set) var strength: Int
  /// How often the opponent marked each cell of each position, at [base-3 key][cell]. Positions that are images of each other under a
  /// symmetry share the counts: position and cell are those of `Position.canonical`.
  private var habits: [UInt16]
  /// The number of games learned from.
  package private(set) var gamesLearned = 0

  private static let scale = 65_536
  /// A win lowers `strength` by half this number, a loss raises it by half this number: 1/50 of `scale`.
  private static let gain = scale / 25

  /// Starts with a share of strong moves of ½ and without any counted reply of the opponent.
  package init() {
    strength = Adaptive.scale / 2
    habits = [UInt16](repeating: 0, count: Position.keyCount * 9)
  }

  package var name: String { "adaptive" }

  /// With the chance `strength` draws a strong move, otherwise any legal move. If `strength` is negative, draws a move that gives
  /// value away with the chance −`strength`, otherwise any legal move.
  package func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square {
    let draw = generator.below(Adaptive.scale)
    return MoveDistribution(uniformOver: draw < abs(strength) ? wish(in: position) : position.legalMoves)
      .draw(using: &generator)
  }

  /// A copy of the player with the current share of strong moves and the current counts of replies. The copy does not learn.
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

  /// The value-preserving moves after which the opponent errs most often, by the counted replies.
  func strongMoves(in position: Position) -> SquareSet {
    Solver.shared.luringMoves(in: position, errorRate: errorRate)
  }

  /// The chance that the opponent errs in a position, estimated from the replies counted in this position. Each legal reply counts once
  /// more than it was made (Laplace smoothing).
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

  /// Counts the opponent's replies and adjusts the share of strong moves.
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
