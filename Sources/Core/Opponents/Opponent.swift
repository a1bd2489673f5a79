import Base
import Oracle
import TicTacToe

/// A player that chooses a move from the position, the last move and a seeded generator. Its own state does not change during a game.
package protocol Opponent: Sendable {
  /// The stable name of the player, as arguments and records spell it (`random`, `perfect`, `levels:3`).
  var name: String { get }

  /// Chooses a legal move of a live position.
  func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square

  /// The beads in the box from which `Menace` draws in a live position, as chances of the moves; `nil` for players without beads.
  func beads(in position: Position) -> MoveDistribution?
}

extension Opponent {
  /// `nil`: only Menace has beads.
  package func beads(in position: Position) -> MoveDistribution? { nil }
}

/// An opponent whose chances of every move are known exactly.
package protocol MemorylessOpponent: Opponent {
  /// The exact chances of every legal move of a live position.
  func distribution(in position: Position, lastMove: Square?) -> MoveDistribution
}

extension MemorylessOpponent {
  /// Draws a move by its exact chances; uses one number of the generator.
  package func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square {
    distribution(in: position, lastMove: lastMove).draw(using: &generator)
  }
}
