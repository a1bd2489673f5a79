import Foundation

/// A file that is there whole or not at all.
package enum NewFile {
  /// Has a file written beside `path` and moves it there; throws if there is one already, and leaves nothing of what failed.
  package static func make<T>(_ path: String, write: (String) throws -> T) throws -> T {
    let exists = "\(path) exists; name a file that does not"
    guard !FileManager.default.fileExists(atPath: path) else { throw StoreError.unusable(exists) }
    let partial = "\(path).\(getpid()).partial"
    do {
      let result = try write(partial)
      guard !FileManager.default.fileExists(atPath: path) else { throw StoreError.unusable(exists) }
      guard rename(partial, path) == 0 else {
        throw StoreError.unusable("cannot make \(path): \(String(cString: strerror(errno)))")
      }
      return result
    } catch {
      unlink(partial)
      throw error
    }
  }
}
