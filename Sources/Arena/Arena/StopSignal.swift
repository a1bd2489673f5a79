import Synchronization

/// A flag that stops a run. A signal handler may set it. A thread that waits for an engine looks at it every
/// `ReadTick.period`.
package final class StopSignal: Sendable {
  private let flag = Atomic<Bool>(false)
  private let parent: StopSignal?

  /// Makes a signal that is not set. Where a parent is set the signal counts as set too.
  package init(under parent: StopSignal? = nil) { self.parent = parent }

  /// Whether it or its parent was set.
  package var isSet: Bool { flag.load(ordering: .relaxed) || parent?.isSet == true }

  /// Sets the flag. Returns whether it was set before.
  @discardableResult
  package func set() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
