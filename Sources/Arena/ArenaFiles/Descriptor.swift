import CProcess
import Foundation

/// Creates descriptors that no child process inherits, even if another thread starts the process at the same time.
package enum Descriptor {
  /// −1 with `errno` on failure.
  package static func open(_ path: String, _ flags: Int32) -> Int32 { Glibc.open(path, flags | O_CLOEXEC, 0o644) }

  /// `nil` with `errno` on failure.
  static func pipe() -> (read: Int32, write: Int32)? { pair { alina_pipe($0) } }

  static func socketPair() -> (Int32, Int32)? {
    pair { socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, $0) }
  }

  private static func pair(_ make: (UnsafeMutablePointer<Int32>) -> Int32) -> (Int32, Int32)? {
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2) { ends in
      ends.initialize(repeating: -1)
      guard let base = ends.baseAddress, make(base) == 0 else { return nil }
      return (ends[0], ends[1])
    }
  }
}

/// A file that no other run can lock until `close`.
package final class LockedFile {
  /// The descriptor; −1 after closing.
  package private(set) var descriptor: Int32

  /// Throws if another run has locked the file.
  package init(_ descriptor: Int32, _ path: String) throws(ArenaError) {
    self.descriptor = descriptor
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw ArenaError("\(path) is being written by another run") }
  }

  deinit { close() }

  package func close() {
    guard descriptor >= 0 else { return }
    // Unlock before closing: a child that another thread has just forked has the descriptor until exec and would keep the lock.
    flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
    descriptor = -1
  }
}
