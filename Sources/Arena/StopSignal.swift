import Glibc
import Synchronization

/// Tells everyone in a run to stop, also who waits for an engine; may be set from the handler of a signal.
public final class StopSignal: Sendable {
  private let flag = Atomic<Bool>(false)
  private let ends: (read: Int32, write: Int32)

  /// Makes a signal that is not set.
  public init() {
    var pair = [Int32](repeating: -1, count: 2)
    // Without descriptors the flag still works; waits then end at their deadlines.
    if pipe(&pair) == 0 { for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
    ends = (pair[0], pair[1])
  }

  deinit { for end in [ends.read, ends.write] where end >= 0 { close(end) } }

  /// Whether it was set.
  public var isSet: Bool { flag.load(ordering: .relaxed) }

  /// What becomes readable when it is set, for `poll`.
  var descriptor: Int32 { ends.read }

  /// Sets it; answers whether it was set before.
  @discardableResult
  public func set() -> Bool {
    var byte: UInt8 = 0
    let before = flag.exchange(true, ordering: .relaxed)
    if !before { _ = write(ends.write, &byte, 1) }
    return before
  }
}
