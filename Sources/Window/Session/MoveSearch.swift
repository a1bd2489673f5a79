import Base
import Locks
import TicTacToe

/// A search for one move on another thread.
final class MoveSearch: Sendable {
  private let answer = Mutex<Cell?>(nil)

  /// Starts the search on a worker.
  init(
    _ player: MachinePlayer, about game: Game, seed: UInt64, on inBackground: (@escaping @Sendable () -> Void) -> Void
  ) {
    inBackground { [self] in
      // A generator for each move from the game's seed and the ply: after an undo the opponent plays the same.
      var generator = SplitMix64(seed: seed, index: UInt64(game.state.plies))
      let cell = player.move(in: game, using: &generator)
      answer.withLock { $0 = cell }
    }
  }

  /// The move, once found.
  var result: Cell? { answer.withLock { $0 } }
}
