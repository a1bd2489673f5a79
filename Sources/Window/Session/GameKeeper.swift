import Base
import Locks
import Records
import TicTacToe

/// Saves games on a worker, one file at a time. A record that could not be written stays pending until `retry` succeeds.
package final class GameKeeper: Sendable {
  package struct Wanted: Sendable {
    package var record: Record
    package var name: String
    /// Whether the next start of the program resumes the game.
    package var isResumable: Bool

    package init(_ record: Record, as name: String, isResumable: Bool) {
      (self.record, self.name, self.isResumable) = (record, name, isResumable)
    }
  }

  private struct State {
    /// At most one record per game, in the order of the first request.
    var wanted: [Wanted] = []
    var isBusy = false
    var failures = 0
    var fault = WriteFault.other
    /// The name of the running game, the only game that the next start resumes.
    var running: String?
    /// The name of the game that is marked as unfinished on the disk.
    var marked: String?
  }

  private let state: Mutex<State>
  /// Held while files are written.
  private let disk = Mutex(())
  private let store: GameStore
  private let inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void

  package init(
    _ store: GameStore, resuming name: String? = nil,
    inBackground: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    (self.store, self.inBackground) = (store, inBackground)
    var state = State()
    (state.running, state.marked) = (name, name)
    self.state = Mutex(state)
  }

  /// Schedules a record for writing, and replaces an older pending record of the same game.
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

  package func retry() {
    let isDue = state.withLock { state in
      guard !state.wanted.isEmpty, !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    if isDue { inBackground { [self] in write() } }
  }

  /// The number of failed writes in a row, and the reason of the last failure.
  package var failures: (count: Int, fault: WriteFault) { state.withLock { ($0.failures, $0.fault) } }

  /// Writes pending records before it returns.
  package func flush() {
    state.withLock { $0.isBusy = true }
    write()
  }

  /// Waits for a worker that writes, and writes the record before it returns.
  package func save(_ record: Record, as name: String) throws(WriteFault) {
    try withDisk { () throws(WriteFault) in try store.save(record, as: name) }
  }

  /// Deletes a game and its pending record; `false` if the file could not be deleted.
  package func delete(_ name: String) -> Bool {
    disk.withLock { _ in
      state.withLock { $0.wanted.removeAll { $0.name == name } }
      return store.delete(name)
    }
  }

  /// Writes pending records, then changes a saved game; `false` if the game cannot be read.
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
