import Dispatch
import Foundation
import Processes
import Synchronization

/// Writes lines to a descriptor on its own thread: a full pipe or a stuck journal must not block the caller.
package final class LineWriter: Sendable {
  private struct Waiting {
    var lines: [UInt8] = []
    var dropped = 0
    var isWriting = false
  }

  /// The most bytes that wait to be written; further lines are dropped.
  static let mostWaiting = 1 << 20

  package static let output = LineWriter(STDOUT_FILENO)
  package static let errors = LineWriter(STDERR_FILENO)

  private let descriptor: Int32
  private let queue = DispatchQueue(label: "alina.lines", qos: .utility)
  private let waiting = Mutex(Waiting())

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Drops the text if `mostWaiting` bytes wait already. Returns the number of texts dropped since the last text that was queued.
  @discardableResult package func write(_ text: String) -> Int {
    let (dropped, begins) = waiting.withLock { waiting in
      guard waiting.lines.count < LineWriter.mostWaiting else {
        waiting.dropped += 1
        return (0, false)
      }
      waiting.lines += text.utf8
      defer { (waiting.dropped, waiting.isWriting) = (0, true) }
      return (waiting.dropped, !waiting.isWriting)
    }
    if begins { queue.async { self.writeAll() } }
    return dropped
  }

  private func writeAll() {
    while true {
      let bytes = waiting.withLock { waiting in
        defer { (waiting.lines, waiting.isWriting) = ([], !waiting.lines.isEmpty) }
        return waiting.lines
      }
      if bytes.isEmpty { return }
      LineWriter.write(bytes, to: descriptor)
    }
  }

  /// Waits at most a second until everything is written, at the end of the process.
  package func flush() {
    // A group waits by the monotonic clock; a semaphore's limit is a time of the system's clock, which may be set back.
    let writing = DispatchGroup()
    queue.async(group: writing) {}
    _ = writing.wait(timeout: .now() + 1)
  }

  /// Blocks. Ignores errors: a full disk or a closed pipe must not end the server.
  package static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) {
    _ = Array(bytes).withUnsafeBytes { writeWhole($0, to: descriptor) }
  }
}
