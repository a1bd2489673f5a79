import Base
import TicTacToe

/// A player that changes by the games it has played; the same games in the same order make the same player.
public protocol LearningOpponent: Sendable {
  /// The stable name of the player.
  var name: String { get }

  /// Chooses a legal move of a live position; nothing is learned before the game is over.
  func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square

  /// Learns from a finished game that was played as `side`; `outcome` is `nil` where nobody won or drew.
  mutating func learn(from moves: [Square], start: Position, as side: Player, outcome: Outcome?)

  /// The player as it stands now, learning no more.
  var frozen: any MemorylessOpponent { get }
}
