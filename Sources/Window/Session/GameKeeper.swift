import Base
import Locks
import Records
import TicTacToe

/// Keeps running games on disk, off the thread of the window: of each the newest record is written, one file at a time, and a
/// move counts as kept once it is. A record that could not be written stays wanted until it can be, also when the next game
/// has begun.
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
    /// At most one record a game, in the order in which the games were first wanted.
    var wanted: [Wanted] = []
    var isBusy = false
    var failures = 0
    var fault = WriteFault.other
    /// The running game, and the one that is marked as unfinished on the disk. Only the running game is taken up again.
    var running: String?
    var marked: String?
  }

  private let state: Mutex<State>
  /// Held while files are written.
  private let disk = Mutex(())
  private let store: GameStore
  private let inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// A keeper of a store, with the platform's workers, that goes on with a saved game, if there is one.
  package init(
    _ store: GameStore, resuming name: String? = nil,
    inBackground: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    (self.store, self.inBackground) = (store, inBackground)
    var state = State()
    (state.running, state.marked) = (name, name)
    self.state = Mutex(state)
  }

  /// Has a record written soon, in place of an older one of the same game.
  package func keep(_ wanted: Wanted) {
    state.withLock { state in
      state.running = wanted.name
      if let at = state.wanted.firstIndex(where: { $0.name == wanted.name }) {
        state.wanted[at] = wanted
      } else {
        state.wanted.append(wanted)
      }
    }
    retry()
  }

  /// Tries again to write the records that wait.
  package func retry() {
    let isDue = state.withLock { state in
      guard !state.wanted.isEmpty, !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    if isDue { inBackground { [self] in write() } }
  }

  /// How often in a row the disk has refused a record, and why; 0 where none waits or the last try went well.
  package var failures: (count: Int, fault: WriteFault) { state.withLock { ($0.failures, $0.fault) } }

  /// Writes the records that wait before it returns; for the end of the program.
  package func flush() {
    state.withLock { $0.isBusy = true }
    write()
  }

  /// Writes a record at once, between two writes of the running game.
  package func save(_ record: Record, as name: String) throws(WriteFault) {
    try withDisk { () throws(WriteFault) in try store.save(record, as: name) }
  }

  /// Deletes a game and the record of it that waits; false where the file could not be deleted.
  package func delete(_ name: String) -> Bool {
    disk.withLock { _ in
      state.withLock { $0.wanted.removeAll { $0.name == name } }
      return store.delete(name)
    }
  }

  /// Changes a saved game between two writes of the running one; false where it cannot be read.
  package func change(_ name: String, _ body: (inout Record) -> Void) throws(WriteFault) -> Bool {
    flush()
    return try withDisk { () throws(WriteFault) in try store.change(name, body) }
  }

  private func withDisk<Value>(_ body: () throws(WriteFault) -> Value) throws(WriteFault) -> Value {
    let result: Result<Value, WriteFault> = disk.withLock { _ in
      do throws(WriteFault) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func write() {
    disk.withLock { _ in
      var refused: Set<String> = []
      while let next = state.withLock({ state in state.wanted.first { !refused.contains($0.name) } }) {
        do throws(WriteFault) {
          try store.save(next.record, as: next.name, isResumable: next.isResumable)
          let left: String? = state.withLock { state in
            state.wanted.removeAll { $0.name == next.name && $0.record == next.record }
            guard state.running == next.name else { return next.name }
            defer { state.marked = next.name }
            return state.marked == next.name ? nil : state.marked
          }
          if let left {
            store.forgetUnfinished(left)
            store.release(left)
          }
        } catch {
          refused.insert(next.name)
          state.withLock { $0.fault = error }
        }
      }
      state.withLock { ($0.failures, $0.isBusy) = (refused.isEmpty ? 0 : $0.failures + 1, false) }
    }
  }
}
