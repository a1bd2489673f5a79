/// An error in a text that the program read.
package struct NotationError: Error, Sendable, Hashable, CustomStringConvertible {
  package let line: Int
  /// In Unicode scalars, from 1.
  package let column: Int
  package let message: String

  package init(line: Int = 1, column: Int, message: String) {
    (self.line, self.column, self.message) = (line, column, message)
  }

  package var description: String { "line \(line), column \(column): \(message)" }
}

/// Reads bytes one at a time. Computes line and column only for an error.
package struct ByteCursor {
  package let bytes: [UInt8]
  package var offset = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  package mutating func skip(while isIncluded: (UInt8) -> Bool) {
    while offset < bytes.count, isIncluded(bytes[offset]) { offset += 1 }
  }

  package mutating func skipSpace() { skip { $0 == 0x20 || (0x09...0x0D).contains($0) } }

  package func text(from start: Int) -> String { String(decoding: bytes[start..<offset], as: UTF8.self) }

  /// An error with the line and column of the byte offset `place`.
  package func error(at place: Int, _ message: String) -> NotationError {
    var (line, column) = (1, 1)
    for byte in bytes[..<min(place, bytes.count)] {
      if byte == 0x0A {
        (line, column) = (line + 1, 1)
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return NotationError(line: line, column: column, message: message)
  }

  package func error(_ message: String) -> NotationError { error(at: offset, message) }
}

extension Unicode.Scalar {
  /// Whether a terminal or a line of text may obey this character instead of showing it.
  package var isControl: Bool {
    value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x2028 || value == 0x2029
  }

  /// Whether this character changes the direction of the text around it.
  package var changesDirection: Bool { (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value) }
}

extension String {
  /// The text without its control characters (`Unicode.Scalar.isControl`).
  package var withoutControls: String {
    guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.filter { !$0.isControl }))
  }
}

/// Quotes untrusted text for a message: cuts it to `limit` characters and replaces those that control a terminal or the direction by `?`.
package func quoted(_ text: String, limit: Int = 24) -> String {
  let cut = text.unicodeScalars.prefix(limit).map { $0.isControl || $0.changesDirection ? "?" : String($0) }.joined()
  return "'\(cut)\(text.unicodeScalars.count > limit ? "…" : "")'"
}

/// For texts and double-quoted attributes of XML and HTML.
package func escapedMarkup(_ text: String) -> String {
  text.unicodeScalars.map { scalar in
    switch scalar {
    case "&": "&amp;"
    case "<": "&lt;"
    case ">": "&gt;"
    case "\"": "&quot;"
    default: String(scalar)
    }
  }.joined()
}

/// The hash as sixteen hexadecimal digits.
package func fnv1aText(_ bytes: some Sequence<UInt8>) -> String {
  let digits = String(fnv1a(bytes), radix: 16)
  return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}

/// The hash FNV-1a. Swift's own hash differs from run to run; FNV-1a can be stored, and compared between machines.
package func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
  bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
