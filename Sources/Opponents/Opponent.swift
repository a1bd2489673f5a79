import Base
import TicTacToe

/// A player that chooses a move from the position, the last move and a seeded generator, and keeps no other state.
public protocol Opponent: Sendable {
  /// The stable name of the player, as arguments and records spell it (`random`, `perfect`, `levels:3`).
  var name: String { get }

  /// Chooses a legal move of a live position.
  func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square
}

/// An opponent whose chances of every move are known exactly.
public protocol MemorylessOpponent: Opponent {
  /// The exact chances of every legal move of a live position.
  func distribution(in position: Position, lastMove: Square?) -> MoveDistribution
}

extension MemorylessOpponent {
  /// Draws a move by its exact chances, with one number of the generator.
  public func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square {
    distribution(in: position, lastMove: lastMove).draw(using: &generator)
  }
}
