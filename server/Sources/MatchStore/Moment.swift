import Glibc

/// An instant on both clocks, in milliseconds: the steady one decides, the wall clock is written down.
package struct Moment: Sendable, Hashable {
  /// A clock that never jumps; any origin.
  package var steady: Int64
  /// Since 1970; may jump, so that only expiry dates and time stamps come from it.
  package var wall: Int64

  package init(steady: Int64, wall: Int64) {
    (self.steady, self.wall) = (steady, wall)
  }
}

extension Moment {
  /// Now, by the clock that counts on while the machine sleeps, and by the wall clock.
  package static var current: Moment {
    Moment(steady: milliseconds(CLOCK_BOOTTIME), wall: milliseconds(CLOCK_REALTIME))
  }

  /// Now, by the steady clock alone.
  package static var currentSteady: Int64 { milliseconds(CLOCK_BOOTTIME) }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
