import Foundation
import Processes

package var systemReason: String { String(cString: strerror(errno)) }

/// Replaces the file `path` by the finished file `part`.
package func putInPlace(_ part: String, _ path: String) throws(ArenaError) {
  do throws(AtomicFile.Refusal) { try AtomicFile.put(part, at: path) } catch {
    throw ArenaError("\(path) cannot be written: \(error)")
  }
}

package func openFile(_ path: String) throws(ArenaError) -> FileHandle {
  var status = stat()
  guard stat(path, &status) == 0, let handle = FileHandle(forReadingAtPath: path) else {
    throw ArenaError("\(path): \(systemReason)")
  }
  guard status.st_mode & S_IFMT != S_IFDIR else { throw ArenaError("\(path): is a folder") }
  return handle
}

/// Throws if the file is longer than `limit` bytes.
package func readFile(_ path: String, limit: Int) throws(ArenaError) -> [UInt8] {
  let handle = try openFile(path)
  defer { try? handle.close() }
  let data: Data
  do { data = try handle.read(upToCount: limit + 1) ?? Data() } catch {
    throw ArenaError("\(path) cannot be read: \(reason(of: error))")
  }
  guard data.count <= limit else { throw ArenaError("\(path) is longer than \(limit) bytes") }
  return Array(data)
}

/// If the write fails, the file keeps its old content.
package func writeFile(_ bytes: some Sequence<UInt8>, to path: String) throws(ArenaError) {
  do throws(AtomicFile.Refusal) { try AtomicFile.write(Array(bytes), to: path) } catch {
    let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.number)
    throw ArenaError("\(path) cannot be written: \(error)", kind: isFull ? .resourceExhausted : .badInput)
  }
}

/// Returns the system's message on failure.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> String? {
  writeWhole(bytes, to: descriptor).map { String(cString: strerror($0)) }
}

package func reason(of error: any Error) -> String {
  let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
  return cause.domain == NSPOSIXErrorDomain ? String(cString: strerror(Int32(cause.code))) : cause.localizedDescription
}

package func writeOut(_ text: String) throws(ArenaError) {
  do throws(OutputError) { try writeStandardOutput(text.utf8) } catch {
    throw ArenaError(error.description, kind: .resourceExhausted)
  }
}

/// Ignores failures.
package func writeError(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { writeAll($0, to: 2) } }

/// Throws if a path cannot become an output file of the run, for example because another option names the same file. Existing files need
/// `force`.
package func checkPlaces(
  _ places: KeyValuePairs<String, String?>, besides games: String? = nil, force: Bool
) throws(ArenaError) {
  func place(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }
  var taken = games.map { [place($0): "the games"] } ?? [:]
  for (option, path) in places {
    guard let path else { continue }
    try checkPlace(path, option: option, force: force)
    if let other = taken.updateValue(option, forKey: place(path)) {
      throw ArenaError("\(other) and \(option) cannot both be \(path)")
    }
  }
}

private func checkPlace(_ path: String, option: String, force: Bool) throws(ArenaError) {
  var status = stat()
  if lstat(path, &status) == 0 {
    guard status.st_mode & S_IFMT != S_IFDIR else { throw ArenaError("\(option) \(path): is a folder") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw ArenaError("\(option) \(path): is not a regular file") }
    guard force else {
      let hint = option == "--out" ? "'resume \(path)' to continue it or " : ""
      throw ArenaError("\(path) exists; use \(hint)--force to replace it")
    }
  }
  guard access(URL(filePath: path).deletingLastPathComponent().path, W_OK | X_OK) == 0 else {
    throw ArenaError("\(option) \(path) cannot be written: \(systemReason)")
  }
}

package final class LineReader {
  package let path: String
  /// The number of the line read last, from 1.
  package private(set) var line = 0
  /// The number of bytes of the lines read so far, with their line ends.
  package private(set) var wholeBytes = 0
  private let handle: FileHandle
  /// Bytes read and not yet consumed are in `head`..<`tail`.
  private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
  private var (head, tail) = (0, 0)
  private var last = 0..<0

  /// `-` is standard input.
  package init(_ path: String) throws(ArenaError) {
    self.path = path
    handle = try path == "-" ? .standardInput : openFile(path)
  }

  deinit {
    buffer.deallocate()
    if path != "-" { try? handle.close() }
  }

  /// Makes an error that names the line read last.
  package func refusal(_ what: String) -> ArenaError { ArenaError("\(path), line \(line): \(what)") }

  /// The bytes read after the last complete line.
  package var rest: [UInt8] { Array(buffer[head..<tail]) }

  /// Valid until the next line is read.
  package var lineWithEnd: UnsafeRawBufferPointer { bytes(last.lowerBound..<last.upperBound + 1) }

  private func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: buffer[range])
  }

  /// Without its line end, and valid until the next call; `nil` at the end of the file.
  package func next() throws(ArenaError) -> UnsafeRawBufferPointer? {
    var searched = head
    while true {
      if let base = buffer.baseAddress, let place = memchr(base + searched, 0x0A, tail - searched) {
        let found = place - base
        last = head..<found
        line += 1
        wholeBytes += found + 1 - head
        head = found + 1
        return bytes(last)
      }
      guard tail - head < 1 << 24 else { throw ArenaError("\(path), line \(line + 1): longer than 16 MiB") }
      searched = tail - head
      guard try fill() else { return nil }
    }
  }

  /// `false` at the end of the file.
  private func fill() throws(ArenaError) -> Bool {
    do {
      guard let data = try handle.read(upToCount: 1 << 20), !data.isEmpty else { return false }
      let unread = UnsafeRawBufferPointer(rebasing: buffer[head..<tail])
      if unread.count + data.count > buffer.count {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * (unread.count + data.count), alignment: 1)
        larger.copyMemory(from: unread)
        buffer.deallocate()
        buffer = larger
      } else {
        buffer.copyMemory(from: unread)
      }
      (head, tail) = (0, unread.count + data.count)
      data.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[unread.count..<tail]))
      return true
    } catch { throw ArenaError("\(path), line \(line + 1) cannot be read: \(reason(of: error))") }
  }

  /// Must be called before a line is read.
  package func begins(with text: String) throws(ArenaError) -> Bool {
    if tail == 0 { _ = try fill() }
    return buffer[head..<tail].starts(with: text.utf8)
  }
}
