import Synchronization

/// A flag that stops a run. A signal handler may set it. A thread that waits for an engine looks at it every
/// `ReadTick.period`.
package final class StopSignal: Sendable {
  private let flag = Atomic<Bool>(false)

  /// Makes a signal that is not set.
  package init() {}

  /// Whether it was set.
  package var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Sets the flag. Returns whether it was set before.
  @discardableResult
  package func set() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
