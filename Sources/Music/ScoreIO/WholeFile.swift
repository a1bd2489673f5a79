import Foundation

/// Files that appear whole or not at all.
package enum WholeFile {
  /// Writes bytes beside the wanted file and puts them in its place.
  package static func write(_ bytes: [UInt8], to path: String) throws {
    try write(path) { part in
      guard FileManager.default.createFile(atPath: part, contents: Data(bytes)) else {
        throw ScoreFileError("\(path): cannot be written")
      }
    }
  }

  /// Lets `body` write a file beside the wanted one and puts it in place when that went well.
  ///
  /// Where the path is a symbolic link, the file it names is replaced and the link stays. A file that is replaced leaves its
  /// mode to the new one.
  package static func write(_ path: String, _ body: (_ part: String) throws -> Void) throws {
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    let target = resolved.map { String(cString: $0) } ?? path
    var status = stat()
    let isThere = stat(target, &status) == 0
    // A device that was replaced is gone for everyone.
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else { throw ScoreFileError("\(path): is no regular file") }
    // Two processes that write the same file have a part each.
    let part = "\(target).\(getpid()).part"
    do {
      try body(part)
      let file = open(part, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      // Data before name: a crash of the machine must not leave an empty file under the old name.
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
