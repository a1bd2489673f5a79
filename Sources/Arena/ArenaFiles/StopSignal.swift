import Synchronization

/// A flag that stops a run; may be set in a signal handler. Threads waiting for an engine check the flag every `ReadTick.period`.
package final class StopSignal: Sendable {
  private let flag = Atomic<Bool>(false)
  private let parent: StopSignal?

  /// The signal counts as set also if `parent` is set.
  package init(under parent: StopSignal? = nil) { self.parent = parent }

  package var isSet: Bool { flag.load(ordering: .relaxed) || parent?.isSet == true }

  /// Returns whether the flag was set before.
  @discardableResult
  package func set() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
