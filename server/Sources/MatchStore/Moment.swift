import Glibc

/// An instant on two clocks, in milliseconds: decisions use the monotonic clock, records the wall clock.
package struct Moment: Sendable, Hashable {
  /// A clock that never jumps; its origin is arbitrary.
  package var monotonic: Int64
  /// Milliseconds since 1970. The wall clock may jump, so only expiry dates and time stamps use it.
  package var wall: Int64

  package init(monotonic: Int64, wall: Int64) {
    (self.monotonic, self.wall) = (monotonic, wall)
  }
}

extension Moment {
  /// The monotonic clock is CLOCK_BOOTTIME, which continues while the machine sleeps.
  package static var current: Moment {
    Moment(monotonic: milliseconds(CLOCK_BOOTTIME), wall: milliseconds(CLOCK_REALTIME))
  }

  package static var currentMonotonic: Int64 { milliseconds(CLOCK_BOOTTIME) }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
