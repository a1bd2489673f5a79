import Base
import Locks
import Opponents
import TicTacToe

/// The search for one move on another thread.
final class MoveSearch: Sendable {
  private let answer = Mutex<Square?>(nil)

  /// Starts thinking on a worker.
  init(
    _ opponent: AnyOpponent, about position: Position, lastMove: Square?, seed: UInt64,
    on inBackground: (@escaping @Sendable () -> Void) -> Void
  ) {
    inBackground { [self] in
      // One generator a move, from the game's seed and the ply: undoing and playing again meets the same opponent.
      var generator = SplitMix64(seed: seed, index: UInt64(position.ply))
      let square = opponent.move(in: position, lastMove: lastMove, using: &generator)
      answer.withLock { $0 = square }
    }
  }

  /// The move, once it is found.
  var result: Square? { answer.withLock { $0 } }
}
