/// The reason a file could not be written.
package enum WriteFault: Error, Sendable, Hashable {
  /// The disk or the browser's storage is full.
  case noRoom
  /// The user has no permission, or the folder does not exist and cannot be made.
  case notAllowed
  case other
}

/// The functions that read, write and delete files. Each platform provides its own: for a disk, or for a browser's storage.
package struct FileFunctions: Sendable {
  /// A file's bytes; `nil` if it cannot be read.
  package var read: @Sendable (_ path: String) -> [UInt8]? = { _ in nil }
  /// Replaces a file atomically and creates its folder if needed.
  package var write: @Sendable (_ path: String, _ bytes: [UInt8]) throws(WriteFault) -> Void = {
    (_, _) throws(WriteFault) in
  }
  /// The names in a folder, unordered; empty if the folder cannot be read.
  package var list: @Sendable (_ path: String) -> [String] = { _ in [] }
  /// Deletes a file; `false` if that failed.
  package var delete: @Sendable (_ path: String) -> Bool = { _ in false }
  /// Locks on stored games. They have no default, so every platform must provide them.
  package let locks: FileLocks

  /// Makes functions that find no file and write nothing. Each platform replaces these functions by its own.
  package init(locks: FileLocks) { self.locks = locks }
}

/// Locks on files, by path, so that two windows or two browser tabs never write the file of the same game. The system releases a lock when
/// the window that holds the lock closes or crashes.
package struct FileLocks: Sendable {
  /// Takes the lock on a path. Returns true if this window took the lock now or holds it already, false if another window holds it.
  package let take: @Sendable (_ path: String) -> Bool
  package let release: @Sendable (_ path: String) -> Void

  package init(take: @escaping @Sendable (String) -> Bool, release: @escaping @Sendable (String) -> Void) {
    (self.take, self.release) = (take, release)
  }

  /// Grants every lock, for a screen that stores no games, such as the one that draws the pictures of a film.
  package static let none = FileLocks(take: { _ in true }, release: { _ in })
}
