import Glibc
import Synchronization

/// Writes files as a whole or not at all: a crash at any moment leaves the old bytes or the new bytes.
///
/// A symbolic link stays: the file that the link names is replaced. The new file has the mode of the old file.
package enum AtomicFile {
  package struct Refusal: Error, Hashable, CustomStringConvertible {
    /// The error number of the system.
    package let number: Int32
    package var description: String { String(cString: strerror(number)) }
  }

  /// Part of each temporary file's name, because two threads may write the same file at once.
  private static let writes = Atomic<Int>(0)

  /// The file keeps its mode, unless `mode` is given.
  package static func write(_ bytes: [UInt8], to path: String, mode: mode_t? = nil) throws(Refusal) {
    try replace(path, mode: mode) { part throws(Refusal) in
      let file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ?? 0o666)
      guard file >= 0 else { throw Refusal(number: errno) }
      defer { close(file) }
      if let number = bytes.withUnsafeBytes({ writeWhole($0, to: file) }) { throw Refusal(number: number) }
    } failure: {
      $0
    }
  }

  /// Replaces a file by the temporary file that `body` writes at the path `part`, in the same folder.
  package static func write(_ path: String, _ body: (_ part: String) throws -> Void) throws {
    try replace(path, mode: nil, body) { $0 }
  }

  private static func replace<Failure: Error>(
    _ link: String, mode: mode_t?, _ body: (_ part: String) throws(Failure) -> Void, failure: (Refusal) -> Failure
  ) throws(Failure) {
    let path = resolved(link)
    var status = stat()
    let isThere = stat(path, &status) == 0
    // Refuse to replace a device such as /dev/null by a file: other programs could no longer use the device.
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else { throw failure(Refusal(number: EPERM)) }
    let part = "\(path).\(getpid()).\(writes.wrappingAdd(1, ordering: .relaxed).newValue).part"
    do throws(Failure) {
      try body(part)
      let kept = isThere && mode == nil ? status.st_mode & 0o7777 : nil
      do throws(Refusal) { try put(part, at: path, mode: kept) } catch { throw failure(error) }
    } catch {
      unlink(part)
      throw error
    }
  }

  /// Gives the finished file `part` the name `path`, in place of an older file there, and the mode if one is given.
  package static func put(_ part: String, at path: String, mode: mode_t? = nil) throws(Refusal) {
    let file = open(part, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    // Without `fsync` before `rename`, a crash of the machine could leave an empty file.
    guard file >= 0, fsync(file) == 0, mode.map({ fchmod(file, $0) == 0 }) ?? true, rename(part, path) == 0 else {
      throw Refusal(number: errno)
    }
  }

  private static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }
}
