import Synchronization

/// A flag that stops a run; may be set in a signal handler. Threads waiting for an engine check it every `ReadTick.period`.
package final class StopSignal: Sendable {
  private let flag = Atomic<Bool>(false)
  private let parent: StopSignal?

  /// Makes a signal that is not set. The signal also counts as set if `parent` is set.
  package init(under parent: StopSignal? = nil) { self.parent = parent }

  /// Whether this signal or its parent was set.
  package var isSet: Bool { flag.load(ordering: .relaxed) || parent?.isSet == true }

  /// Sets the flag. Returns whether it was set before.
  @discardableResult
  package func set() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
