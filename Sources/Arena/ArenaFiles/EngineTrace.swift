import Foundation
import Synchronization

/// A log of all lines between arena and engines: milliseconds since the log began, player number, direction, line.
package final class EngineTrace: Sendable {
  private let descriptor: Int32
  private let begun = monotonicMilliseconds()
  private let writing = Mutex(())

  package init(_ path: String) throws(ArenaError) {
    descriptor = Descriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND)
    guard descriptor >= 0 else { throw ArenaError("--trace \(path) cannot be written: \(systemReason)") }
  }

  deinit { close(descriptor) }

  /// `>` to the engine, `<` from the engine. Write errors are ignored.
  func note(_ player: Int, _ direction: Character, _ lines: String) {
    let time = String(format: "%.3f", monotonicMilliseconds() - begun)
    let text = lines.split(separator: "\n").map { "\(time) \(player) \(direction) \($0)\n" }.joined()
    writing.withLock { _ in Array(text.utf8).withUnsafeBytes { _ = writeAll($0, to: descriptor) } }
  }
}
