import Base
import Oracle
import TicTacToe

/// Watches one player and plays just so well that, over many games, each scores half.
///
/// Two things are learned. How strongly to play: after each game the share of strong moves is moved by the score's
/// distance from one half, an integral controller, so that the mean of n games is within 1/(gain · n) of the aim as long
/// as the share is not at its bounds. And the player's habits: how often each reply was seen in each position up to
/// symmetry; a strong move is, of those that keep the value, the one after which that player has erred most.
package struct Adaptive: LearningOpponent {
  /// The share of strong moves in 1/65,536; below 0, the share of moves that give value away.
  package private(set) var strength: Int
  /// Replies seen: by base-3 key of the canonical position and canonical cell.
  private var habits: [UInt16]
  /// Games learned from.
  package private(set) var gamesLearned = 0

  private static let scale = 65_536
  /// How far one game moves the share: a twenty-fifth of the distance between the score and one half.
  private static let gain = scale / 25

  /// Begins with every second move strong.
  package init() {
    strength = Adaptive.scale / 2
    habits = [UInt16](repeating: 0, count: Position.keyCount * 9)
  }

  /// `adaptive`.
  package var name: String { "adaptive" }

  /// A strong move, one that gives value away, or any legal move, by the share.
  package func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square {
    let draw = generator.below(Adaptive.scale)
    return MoveDistribution(uniformOver: draw < abs(strength) ? wish(in: position) : position.legalMoves)
      .draw(using: &generator)
  }

  /// The chances with the share and the habits as they are.
  package var frozen: FrozenPlayer {
    FrozenPlayer(name: "adaptive:frozen") { (position, _) in
      MoveDistribution(
        wish(in: position), taken: UInt64(abs(strength)), of: UInt64(Adaptive.scale),
        otherwise: MoveDistribution(uniformOver: position.legalMoves))
    }
  }

  /// Strong moves, or below 0 those that give value away where there are any.
  private func wish(in position: Position) -> SquareSet {
    if strength >= 0 { return strongMoves(in: position) }
    let losing = position.legalMoves.subtracting(Solver.shared.valuePreservingMoves(in: position))
    return losing.isEmpty ? position.legalMoves : losing
  }

  /// Of the moves that keep the value, those after which the player watched errs most often, by habit.
  func strongMoves(in position: Position) -> SquareSet {
    Solver.shared.luringMoves(in: position, errorRate: errorRate)
  }

  /// The chance that the player watched errs here: replies seen, and each legal reply once more (Laplace).
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

  /// Notes the other side's replies and moves the share of strong moves.
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
