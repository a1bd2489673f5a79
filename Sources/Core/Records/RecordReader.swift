import Base
import TicTacToe

/// Reads PGN-like records one after another.
package struct RecordReader {
  private var cursor: ByteCursor
  private let isTooLong: Bool
  private let textStart: Int
  private let variants: [Variant]

  /// A game of a variant that is not in `variants` is an error.
  package init(bytes: [UInt8], variants: [Variant] = [.classic]) {
    self.variants = variants
    isTooLong = bytes.count > Record.Limit.bytes
    cursor = ByteCursor(isTooLong ? [] : bytes)
    // A byte-order mark is not part of the text.
    textStart = cursor.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    cursor.offset = textStart
  }

  /// `nil` at the end of the text. After an error the reader is at its end.
  package mutating func next() throws(NotationError) -> Record? {
    do {
      return try read()
    } catch {
      cursor.offset = cursor.bytes.count
      throw error
    }
  }

  private mutating func read() throws(NotationError) -> Record? {
    guard !isTooLong else {
      throw NotationError(column: 1, message: "the text is longer than \(Record.Limit.bytes) bytes")
    }
    skipRemarks()
    guard cursor.peek != nil else { return nil }
    var builder = RecordBuilder(variants: variants)
    while cursor.peek == UInt8(ascii: "[") {
      try readTag(into: &builder)
      let end = cursor.offset
      skipRemarks()
      // Remarks after the last tag belong to the moves: go back to read them with the moves.
      if cursor.peek != UInt8(ascii: "[") { cursor.offset = end }
    }
    skipBlank()
    try builder.start(cursor)
    while try !readElement(into: &builder) { skipBlank() }
    return try builder.finish(cursor)
  }

  /// Skips white space, lines that begin with `%`, and `;` remarks to the end of their lines.
  private mutating func skipRemarks() {
    skipBlank()
    while cursor.peek == UInt8(ascii: ";") {
      cursor.skip { $0 != 0x0A }
      skipBlank()
    }
  }

  /// Skips white space and lines that begin with `%`.
  private mutating func skipBlank() {
    while true {
      cursor.skipSpace()
      let startsLine = cursor.offset == textStart || cursor.bytes[cursor.offset - 1] == 0x0A
      guard cursor.peek == UInt8(ascii: "%") && startsLine else { return }
      cursor.skip { $0 != 0x0A }
    }
  }

  private mutating func readTag(into builder: inout RecordBuilder) throws(NotationError) {
    let place = cursor.offset
    cursor.offset += 1
    cursor.skipSpace()
    let nameStart = cursor.offset
    cursor.skip(while: Record.isNameByte)
    let name = cursor.text(from: nameStart)
    guard Record.isTagName(name) else {
      throw cursor.error(
        at: nameStart, "a tag begins with a name of 1–\(Record.Limit.tagName) letters, digits or '_'")
    }
    cursor.skipSpace()
    guard cursor.peek == UInt8(ascii: "\"") else { throw cursor.error("the value of tag \(name) must be in quotes") }
    cursor.offset += 1
    let valueStart = cursor.offset
    var value: [UInt8] = []
    while true {
      guard let byte = cursor.peek else { throw cursor.error(at: place, "tag \(name) is not closed by '\"]'") }
      if byte == UInt8(ascii: "\"") { break }
      guard byte >= 0x20, byte != 0x7F else {
        throw cursor.error("the value of tag \(name) holds a line end or another control character")
      }
      cursor.offset += 1
      if byte == UInt8(ascii: "\\") {
        guard let escaped = cursor.peek, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
          throw cursor.error("after '\\' only '\"' or '\\' may stand")
        }
        cursor.offset += 1
        value.append(escaped)
      } else {
        value.append(byte)
      }
      guard value.count <= Record.Limit.tagValue else {
        throw cursor.error(
          at: valueStart, "the value of tag \(name) is longer than \(Record.Limit.tagValue) bytes")
      }
    }
    cursor.offset += 1
    cursor.skipSpace()
    guard cursor.peek == UInt8(ascii: "]") else { throw cursor.error("tag \(name) must end with ']'") }
    cursor.offset += 1
    guard let text = String(validating: value, as: UTF8.self) else {
      throw cursor.error(at: valueStart, "the value of tag \(name) is not UTF-8")
    }
    try builder.addTag(name, text, at: place, valueAt: valueStart, cursor)
  }

  /// Reads one element of the move text; `true` for the result.
  private mutating func readElement(into builder: inout RecordBuilder) throws(NotationError) -> Bool {
    let place = cursor.offset
    guard let byte = cursor.peek else {
      throw cursor.error("the game has no result; it ends with 1-0, 0-1, 1/2-1/2 or *")
    }
    switch byte {
    case UInt8(ascii: "{"):
      cursor.offset += 1
      let start = cursor.offset
      cursor.skip { $0 != UInt8(ascii: "}") }
      guard cursor.peek != nil else { throw cursor.error(at: place, "this comment is not closed by '}'") }
      try builder.addComment(start..<cursor.offset, cursor)
      cursor.offset += 1
      return false
    case UInt8(ascii: ";"):
      cursor.offset += 1
      let start = cursor.offset
      cursor.skip { $0 != 0x0A }
      try builder.addComment(start..<cursor.offset, cursor)
      return false
    case UInt8(ascii: "["):
      throw cursor.error("a tag inside the moves: the game before it has no result (1-0, 0-1, 1/2-1/2 or *)")
    case UInt8(ascii: "("), UInt8(ascii: ")"):
      throw cursor.error("variations are not read, only the moves played")
    case UInt8(ascii: "$"):
      throw cursor.error("numeric glyphs ($1) are not read; use a comment")
    default: break
    }
    cursor.skip { $0 > 0x20 && !"{;[()".utf8.contains($0) && $0 != 0x7F }
    if cursor.offset == place { throw cursor.error("this control character means nothing here") }
    return try builder.addToken(place..<cursor.offset, &cursor)
  }
}

extension Record {
  /// Reads a PGN-like text that contains exactly one record.
  package init(text: String, variants: [Variant] = [.classic]) throws(NotationError) {
    var reader = RecordReader(bytes: Array(text.utf8), variants: variants)
    guard let record = try reader.next() else {
      throw NotationError(column: 1, message: "there is no game in this text")
    }
    if try reader.next() != nil {
      throw NotationError(column: 1, message: "there is more than one game in this text")
    }
    self = record
  }

  package static func all(in text: String, variants: [Variant] = [.classic]) throws(NotationError) -> [Record] {
    var reader = RecordReader(bytes: Array(text.utf8), variants: variants)
    var records: [Record] = []
    while let record = try reader.next() { records.append(record) }
    return records
  }
}
