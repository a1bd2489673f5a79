#if canImport(Glibc)
  import Glibc
#endif

/// A pipe by which any thread ends another's `poll`.
final class PGBell: Sendable {
  /// Readable once rung.
  let descriptor: Int32
  private let end: Int32

  /// Opens the pipe; with no descriptors left it never rings, and jobs are seen at the next answer or deadline.
  init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (descriptor, end) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(end)
  }

  /// Makes the descriptor readable; a full pipe is readable already.
  func ring() {
    var byte: UInt8 = 1
    _ = write(end, &byte, 1)
  }

  /// Takes the rings that came.
  func silence() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
  }
}
