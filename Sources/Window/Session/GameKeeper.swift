import Locks
import Records
import TicTacToe

/// Keeps the running game on disk, off the thread of the window: the newest record is written, one at a time, and a
/// move counts as kept once it is. What could not be written stays wanted until it can.
package final class GameKeeper: Sendable {
  /// A record on its way to the disk.
  package struct Wanted: Sendable {
    package var record: Record
    package var name: String
    /// Whether the next start takes it up.
    package var isResumable: Bool

    package init(_ record: Record, as name: String, isResumable: Bool) {
      (self.record, self.name, self.isResumable) = (record, name, isResumable)
    }
  }

  private struct State {
    var wanted: Wanted?
    var isBusy = false
    var failures = 0
  }

  private let state = Mutex(State())
  /// Held while a file is written.
  private let disk = Mutex(())
  private let store: GameStore
  private let inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// A keeper of a store, with the platform's workers.
  package init(_ store: GameStore, inBackground: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    (self.store, self.inBackground) = (store, inBackground)
  }

  /// Has a record written soon, in place of any that waits.
  package func keep(_ wanted: Wanted) {
    state.withLock { $0.wanted = wanted }
    retry()
  }

  /// Tries again what waits.
  package func retry() {
    let isDue = state.withLock { state in
      guard state.wanted != nil, !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    if isDue { inBackground { [self] in write() } }
  }

  /// How often in a row the disk has refused what waits; 0 where nothing waits or the last try went well.
  package var failures: Int { state.withLock { $0.failures } }

  /// Writes what waits before it returns; for the end of the program.
  package func flush() {
    state.withLock { $0.isBusy = true }
    write()
  }

  private func write() {
    disk.withLock { _ in
      while let next = state.withLock({ state in
        state.isBusy = state.wanted != nil
        return state.wanted
      }) {
        let isWritten = store.save(next.record, as: next.name, isResumable: next.isResumable)
        let goesOn = state.withLock { state in
          state.failures = isWritten ? 0 : state.failures + 1
          let isNewest = state.wanted.map { $0.name == next.name && $0.record == next.record } ?? true
          if isWritten, isNewest { state.wanted = nil }
          return isWritten
        }
        guard goesOn else { return state.withLock { $0.isBusy = false } }
      }
    }
  }
}
