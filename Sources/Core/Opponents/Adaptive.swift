import Base
import Oracle
import TicTacToe

/// Adapts to its opponent so that over many games each side scores half.
///
/// This player counts its opponent's replies in each position (up to symmetry). A strong move keeps the value of the position, and of such
/// moves it is the one after which the opponent has erred most often. A win lowers the share of strong moves by 1/50, a loss raises it
/// by 1/50. The share begins at ½. Until it reaches −1 or 1 (see `strength`), wins and losses differ by at most 75, so the mean score of n
/// games is within 38/n of ½.
package struct Adaptive: LearningOpponent {
  /// The share of strong moves among the player's moves, in units of 1/65,536. If negative, −`strength` is the share of moves that give
  /// value away.
  package private(set) var strength: Int
  /// How often the opponent marked each cell of each position, at [base-3 key][cell]. Positions that a symmetry maps to each other share
  /// the counts: position and cell are those of `Position.canonical`.
  private var habits: [UInt16]
  /// The number of games learned from.
  package private(set) var gamesLearned = 0

  private static let scale = 65_536
  /// A game lowers `strength` by this number times the game's score (1, ½ or 0) minus ½.
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

  /// The strong moves. If `strength` is negative, the moves that lose value, or all moves if none does.
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
