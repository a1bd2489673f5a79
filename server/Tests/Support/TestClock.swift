import Synchronization

package final class TestClock: Sendable {
  private let time: Mutex<Int64>

  package init(wall: Int64 = 0) { time = Mutex(wall) }

  /// Milliseconds since 1970.
  package var wall: Int64 {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}
