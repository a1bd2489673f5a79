/// Cuts a stream of bytes into lines. Holds at most one line.
package struct LineFramer: Sendable {
  package enum Piece {
    /// A line without its line end; valid during the call only.
    case line(UnsafeRawBufferPointer)
    /// A line exceeded the limit. The bytes up to the next line end are skipped.
    case tooLong
  }

  private let limit: Int
  private var partial: [UInt8] = []
  private var skipping = false

  package init(limit: Int) { self.limit = limit }

  /// The bytes of the unfinished line: at most `limit` and one more for a carriage return.
  package var held: Int { partial.count }

  /// Calls `each` for every line that ends in the bytes, and once for a line that grew too long, until `each` returns `false`. Empty lines
  /// are left out.
  package mutating func feed(_ bytes: UnsafeRawBufferPointer, _ each: (Piece) -> Bool) {
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let head = UnsafeRawBufferPointer(rebasing: rest[..<end])
      rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
      guard finish(head, each) else { return }
    }
    guard !skipping else { return }
    if partial.count + rest.count > limit + 1 {
      skipping = true
      partial = []
      _ = each(.tooLong)
    } else if !rest.isEmpty {
      partial.append(contentsOf: rest)
    }
  }

  private mutating func finish(_ head: UnsafeRawBufferPointer, _ each: (Piece) -> Bool) -> Bool {
    if skipping {
      skipping = false
      return true
    }
    guard !partial.isEmpty else { return emit(head, each) }
    guard partial.count + head.count <= limit + 1 else {
      partial = []
      return each(.tooLong)
    }
    partial.append(contentsOf: head)
    let line = partial
    partial.removeAll(keepingCapacity: line.count <= 256)  // an idle connection should not keep 4 KiB for one long line
    return line.withUnsafeBytes { emit($0, each) }
  }

  private func emit(_ line: UnsafeRawBufferPointer, _ each: (Piece) -> Bool) -> Bool {
    var line = line
    if line.last == UInt8(ascii: "\r") { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
    if line.isEmpty { return true }
    return each(line.count > limit ? .tooLong : .line(line))
  }
}
