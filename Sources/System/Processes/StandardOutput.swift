import Glibc

package struct OutputError: Error, Hashable, CustomStringConvertible {
  /// The error number of the system.
  package let number: Int32
  package var description: String { "the standard output cannot be written: \(String(cString: strerror(number)))" }
}

/// Unlike `print`, fails if the disk is full or standard output is closed.
package func writeStandardOutput(_ bytes: some Collection<UInt8>) throws(OutputError) {
  if let number = Array(bytes).withUnsafeBytes({ writeWhole($0, to: STDOUT_FILENO) }) {
    throw OutputError(number: number)
  }
}

/// Blocks until all bytes are written. Returns the system's error number on failure, else `nil`.
package func writeWhole(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
  var sent = 0
  while sent < bytes.count {
    let count = write(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
    if count > 0 { sent += count } else if errno != EINTR { return errno }
  }
  return nil
}
