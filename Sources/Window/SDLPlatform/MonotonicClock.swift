import Glibc

package enum MonotonicClock {
  /// Nanoseconds since an arbitrary time; needs no system call, because glibc reads them from the kernel's vDSO.
  package static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  package static var seconds: Double { Double(nanoseconds) / 1e9 }
}
