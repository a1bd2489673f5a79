import Base
import Locks
import TicTacToe

/// A search for one move, on another thread or, in a program with one thread, in steps.
final class MoveSearch {
  private final class Answer: Sendable {
    let cell = Mutex<Cell?>(nil)
  }

  private let answer = Answer()
  private var thought: MachinePlayer.Thought?

  /// If `workers` is `nil`, `step` does the search.
  init(_ player: MachinePlayer, about game: Game, seed: UInt64, on workers: GameSession.Workers?) {
    // The game's seed and the ply seed the generator, so that the opponent plays the same move again after an undo.
    let generator = SplitMix64(seed: seed, index: UInt64(game.state.plies))
    guard let workers else {
      thought = player.thought(about: game, generator)
      return
    }
    workers { [answer] in
      let thought = player.thought(about: game, generator)
      while true {
        guard let cell = thought() else { continue }
        return answer.cell.withLock { $0 = cell }
      }
    }
  }

  /// Whether `step` has work left.
  var needsSteps: Bool { thought != nil }

  /// Continues the search for less than 1/60 s, if the search has no thread of its own.
  func step() {
    guard let cell = thought?() else { return }
    answer.cell.withLock { $0 = cell }
    thought = nil
  }

  var result: Cell? { answer.cell.withLock { $0 } }
}
