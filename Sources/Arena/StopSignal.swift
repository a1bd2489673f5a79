import Synchronization

/// Tells everyone in a run to stop; may be set from the handler of a signal. Who waits for an engine looks at it every `ReadTick.period`.
public final class StopSignal: Sendable {
  private let flag = Atomic<Bool>(false)

  /// Makes a signal that is not set.
  public init() {}

  /// Whether it was set.
  public var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Sets it; answers whether it was set before.
  @discardableResult
  public func set() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
