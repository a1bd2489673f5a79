import Foundation
import Processes

/// Creates files atomically: other programs see either the old file or the whole new file.
package enum OutputFile {
  package static func write(_ bytes: [UInt8], to path: String) throws {
    do throws(AtomicFile.Refusal) { try AtomicFile.write(bytes, to: path) } catch {
      throw ScoreFileError(unwritable: path, error.number)
    }
  }

  /// Replaces a file by the temporary file that `body` writes in the same folder.
  package static func write(_ path: String, _ body: (_ part: String) throws -> Void) throws {
    var written = path
    do {
      try AtomicFile.write(path) { part in
        written = part
        try body(part)
      }
    } catch let error as AtomicFile.Refusal {
      throw ScoreFileError(unwritable: path, error.number)
    } catch let error as ScoreFileError {
      throw ScoreFileError(error.description.replacingOccurrences(of: written, with: path), number: error.number)
    }
  }
}
