import Base
import TicTacToe

/// A player that learns between games, never during a game. The same games in the same order give the same player.
package protocol LearningOpponent: Opponent {
  /// `outcome` is `nil` for an abandoned game.
  mutating func learn(from moves: [Square], start: Position, as side: Player, outcome: Outcome?)

  /// A copy of the player in its current state, which does not learn.
  var frozen: FrozenPlayer { get }
}
