import Foundation
import MatchStore

/// An exclusive lock on a file, held as long as the object lives. The kernel frees the lock if the process dies.
final class FileLock: Sendable {
  private let descriptor: Int32

  init(path: String) throws(StoreError) {
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw .unusable("cannot make \(path): \(String(cString: strerror(errno)))") }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      close(opened)
      throw .unusable("another server uses this data (\(path) is locked)")
    }
    descriptor = opened
  }

  deinit { close(descriptor) }
}
