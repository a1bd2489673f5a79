import Base
import Oracle
import TicTacToe

/// A player whose state does not change during a game.
package protocol Opponent: Sendable {
  /// A stable name, as arguments and records spell it: `random`, `perfect`, `levels:3`.
  var name: String { get }

  func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square

  /// The beads in `Menace`'s box for a live position, as chances of the moves; `nil` for players without beads.
  func beads(in position: Position) -> MoveDistribution?
}

extension Opponent {
  package func beads(in position: Position) -> MoveDistribution? { nil }
}

/// An opponent whose chances of every move are known exactly.
package protocol MemorylessOpponent: Opponent {
  func distribution(in position: Position, lastMove: Square?) -> MoveDistribution
}

extension MemorylessOpponent {
  /// Uses one number of the generator.
  package func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square {
    distribution(in: position, lastMove: lastMove).draw(using: &generator)
  }
}
