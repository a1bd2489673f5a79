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
  package static func write(_ path: String, _ body: (_ part: String) throws -> Void) throws {
    let part = path + ".part"
    var status = stat()
    // A device that was replaced is gone for everyone.
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw ScoreFileError("\(path): is no regular file")
    }
    do {
      try body(part)
    } catch {
      unlink(part)
      guard let told = error as? ScoreFileError else { throw error }
      throw ScoreFileError(told.description.replacingOccurrences(of: part, with: path))
    }
    guard rename(part, path) == 0 else {
      unlink(part)
      throw ScoreFileError("\(path): cannot be written")
    }
  }
}
