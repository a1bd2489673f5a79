import Foundation

/// Creates files atomically: a file exists completely or not at all.
package enum NewFile {
  /// Calls `write` with a temporary path, then renames the file at that path to `path`. Throws if `path` exists.
  package static func make<T>(_ path: String, write: (String) throws -> T) throws -> T {
    let exists = "\(path) exists; name a file that does not"
    guard !FileManager.default.fileExists(atPath: path) else { throw StoreError.unusable(exists) }
    let partial = "\(path).\(getpid()).partial"
    do {
      let result = try write(partial)
      guard !FileManager.default.fileExists(atPath: path) else { throw StoreError.unusable(exists) }
      try sync(partial)
      guard rename(partial, path) == 0 else {
        throw StoreError.unusable("cannot make \(path): \(String(cString: strerror(errno)))")
      }
      try sync((path as NSString).deletingLastPathComponent)
      return result
    } catch {
      unlink(partial)
      throw error
    }
  }

  /// Flushes the content of a file or the entries of a folder to the disk.
  package static func sync(_ path: String) throws {
    let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    guard descriptor >= 0, fsync(descriptor) == 0 else {
      throw StoreError.unusable("cannot write \(path) to the disk: \(String(cString: strerror(errno)))")
    }
  }
}
