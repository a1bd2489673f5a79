import Foundation

/// Creates files atomically.
package enum WholeFile {
  /// Writes bytes to a temporary file and renames it.
  package static func write(_ bytes: [UInt8], to path: String) throws {
    try write(path) { part in
      guard FileManager.default.createFile(atPath: part, contents: Data(bytes)) else {
        throw ScoreFileError("\(path): cannot be written")
      }
    }
  }

  /// Calls `body` with a temporary path and renames the file after success.
  ///
  /// If the path is a symbolic link, its target is replaced and the link stays. The new file gets the old one's mode.
  package static func write(_ path: String, _ body: (_ part: String) throws -> Void) throws {
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    let target = resolved.map { String(cString: $0) } ?? path
    var status = stat()
    let isThere = stat(target, &status) == 0
    // Refuse to replace a device file.
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else { throw ScoreFileError("\(path): is no regular file") }
    // The process id distinguishes concurrent writers.
    let part = "\(target).\(getpid()).part"
    do {
      try body(part)
      let file = open(part, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      // Sync the data before renaming: after a crash of the machine the old name must not refer to an empty file.
      guard file >= 0, fsync(file) == 0, !isThere || fchmod(file, status.st_mode & 0o7777) == 0,
        rename(part, target) == 0
      else { throw ScoreFileError("\(path): cannot be written (\(String(cString: strerror(errno))))") }
    } catch {
      unlink(part)
      guard let told = error as? ScoreFileError else { throw error }
      throw ScoreFileError(told.description.replacingOccurrences(of: part, with: path))
    }
  }
}
