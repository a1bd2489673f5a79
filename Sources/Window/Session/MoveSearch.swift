import Base
import Locks
import TicTacToe

/// The search for one move on another thread.
final class MoveSearch: Sendable {
  private let answer = Mutex<Cell?>(nil)

  /// Starts thinking on a worker.
  init(
    _ player: MachinePlayer, about game: Game, seed: UInt64, on inBackground: (@escaping @Sendable () -> Void) -> Void
  ) {
    inBackground { [self] in
      // One generator a move, from the game's seed and the ply: undoing and playing again meets the same opponent.
      var generator = SplitMix64(seed: seed, index: UInt64(game.state.plies))
      let cell = player.move(in: game, using: &generator)
      answer.withLock { $0 = cell }
    }
  }

  /// The move, once it is found.
  var result: Cell? { answer.withLock { $0 } }
}
