import Foundation
import MatchStore

/// An exclusive lock on a file, held as long as the object lives. The kernel frees the lock if the process dies.
final class FileLock: Sendable {
  /// Written into the file, for the error of the next process that asks for the lock.
  enum Holder: String {
    case server
    case importing, restoring
  }

  private let descriptor: Int32

  init(path: String, for holder: Holder) throws(StoreError) {
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw .unusable("cannot make \(path): \(String(cString: strerror(errno)))") }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      var text = [UInt8](repeating: 0, count: 32)
      let count = read(opened, &text, text.count)
      close(opened)
      switch Holder(rawValue: String(decoding: text.prefix(max(0, count)), as: UTF8.self)) {
      case .importing?: throw .unusable("an import into this data is running (\(path) is locked)")
      case .restoring?: throw .unusable("a restore of this data is running (\(path) is locked)")
      case .server?, nil: throw .unusable("another server uses this data (\(path) is locked)")
      }
    }
    // The word is only for an error message, so a disk without room for it is no reason to fail.
    let word = Array(holder.rawValue.utf8)
    if ftruncate(opened, 0) == 0 { _ = write(opened, word, word.count) }
    descriptor = opened
  }

  deinit { close(descriptor) }
}
