import Base
import TicTacToe

/// A player that changes by the games it has played, between games alone; the same games in the same order make the same player.
package protocol LearningOpponent: Opponent {
  /// Learns from a finished game that was played as `side`; `outcome` is `nil` where nobody won or drew.
  mutating func learn(from moves: [Square], start: Position, as side: Player, outcome: Outcome?)

  /// The player as it stands now, learning no more.
  var frozen: FrozenPlayer { get }
}
