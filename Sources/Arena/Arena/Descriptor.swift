import CProcess
import Foundation

/// Where the arena's descriptors are made: a program that is started, on whichever thread, inherits none of them.
enum Descriptor {
  /// Opens a file; −1 with `errno` where that fails.
  static func open(_ path: String, _ flags: Int32) -> Int32 { Glibc.open(path, flags | O_CLOEXEC, 0o644) }

  /// A pipe; `nil` with `errno`.
  static func pipe() -> (read: Int32, write: Int32)? { pair { alina_pipe($0) } }

  /// Two sockets that are joined; `nil` with `errno`.
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

/// A file that this run alone may write, for as long as the value is open.
final class LockedFile {
  /// The file; −1 once it is closed.
  private(set) var descriptor: Int32

  /// Takes over a descriptor of `path`; throws where another run has the file.
  init(_ descriptor: Int32, _ path: String) throws(ArenaError) {
    self.descriptor = descriptor
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw ArenaError("\(path) is being written by another run") }
  }

  deinit { close() }

  /// Lets others write the file.
  func close() {
    guard descriptor >= 0 else { return }
    // Close-on-exec comes into force at exec: until then, a child that another thread starts has a copy of the descriptor,
    // and the lock would stay with it.
    flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
    descriptor = -1
  }
}
