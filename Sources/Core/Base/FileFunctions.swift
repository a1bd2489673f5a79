package enum WriteFault: Error, Sendable, Hashable {
  case noRoom
  /// The user has no permission, or the folder does not exist and cannot be made.
  case notAllowed
  case other
}

/// A platform's functions for files: on a disk, or in a browser's storage.
package struct FileFunctions: Sendable {
  package var read: @Sendable (_ path: String) -> [UInt8]? = { _ in nil }
  /// Replaces a file atomically and creates its folder if needed.
  package var write: @Sendable (_ path: String, _ bytes: [UInt8]) throws(WriteFault) -> Void = {
    (_, _) throws(WriteFault) in
  }
  /// Unordered; empty if the folder cannot be read.
  package var list: @Sendable (_ path: String) -> [String] = { _ in [] }
  package var delete: @Sendable (_ path: String) -> Bool = { _ in false }
  /// No default: every platform must provide locks.
  package let locks: FileLocks

  package init(locks: FileLocks) { self.locks = locks }
}

/// Locks on files, by path, so that two windows or browser tabs never write the same game's file. The system releases a lock when the
/// window that holds the lock closes or crashes.
package struct FileLocks: Sendable {
  /// True if this window took the lock or already held it, false if another window holds it.
  package let take: @Sendable (_ path: String) -> Bool
  package let release: @Sendable (_ path: String) -> Void

  package init(take: @escaping @Sendable (String) -> Bool, release: @escaping @Sendable (String) -> Void) {
    (self.take, self.release) = (take, release)
  }

  /// Grants every lock, for a screen that stores no games, such as the one that draws a film.
  package static let none = FileLocks(take: { _ in true }, release: { _ in })
}
