/// Why a file could not be written.
package enum WriteFault: Error, Sendable, Hashable {
  /// The disk, or the browser's store, is full.
  case noRoom
  /// The user may not write there, or there is no such folder.
  case notAllowed
  case other
}

/// Locks on files by their paths, so that two windows, or two tabs of a browser, never write the same game. A lock ends with
/// the window that holds it, however that ends.
package struct FileLocks: Sendable {
  /// Takes a path for this window, or finds that it has it; false where another window has it.
  package let take: @Sendable (_ path: String) -> Bool
  package let release: @Sendable (_ path: String) -> Void

  package init(take: @escaping @Sendable (String) -> Bool, release: @escaping @Sendable (String) -> Void) {
    (self.take, self.release) = (take, release)
  }

  /// For a program that keeps no games, such as one that makes a film.
  package static let none = FileLocks(take: { _ in true }, release: { _ in })
}
