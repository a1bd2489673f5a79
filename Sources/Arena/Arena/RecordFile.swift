import Base
import Records
import TicTacToe

/// Files of records of any size and of all three games, read game by game: PGN, JSON Lines, and the arena's own files.
package enum RecordFile {
  /// Gives every game of a file (`-` is the standard input) to `body`.
  package static func forEach(
    of path: String, _ body: (Record) throws(ArenaError) -> Void
  ) throws(ArenaError) {
    let lines = try LineReader(path)
    if try lines.begins(with: "{\"alina\":\"arena\"") {
      let reader = try GameFileReader(lines: lines)
      while let record = try reader.nextRecord() { try body(record) }
    } else if try lines.begins(with: "{\"") {
      while let line = try lines.next() { try body(readLine(Array(line), lines)) }
      if !lines.rest.isEmpty { try body(readLine(Array(lines.rest), lines)) }
    } else {
      try forEachPGN(lines, body)
    }
  }

  private static func readLine(_ line: [UInt8], _ lines: LineReader) throws(ArenaError) -> Record {
    do {
      return try Record(
        jsonLine: String(decoding: line, as: UTF8.self), line: max(1, lines.line), variants: Variant.allCases)
    } catch {
      throw ArenaError("\(lines.path): \(error)")
    }
  }

  /// A game begins with a line of tags that follows other lines, outside braces.
  private static func forEachPGN(_ lines: LineReader, _ body: (Record) throws(ArenaError) -> Void) throws(ArenaError) {
    var text: [UInt8] = []
    var (first, hasMoves, isComment) = (0, false, false)
    func flush() throws(ArenaError) {
      var reader = RecordReader(bytes: text, variants: Variant.allCases)
      var records: [Record] = []
      do { while let record = try reader.next() { records.append(record) } } catch {
        let place = NotationError(line: error.line + first, column: error.column, message: error.message)
        throw ArenaError("\(lines.path): \(place)")
      }
      for record in records { try body(record) }
      (first, hasMoves) = (lines.line - 1, false)
      text.removeAll(keepingCapacity: true)
    }
    while let line = try lines.next() {
      if hasMoves, !isComment, line.first == UInt8(ascii: "[") { try flush() }
      text.append(contentsOf: line)
      text.append(0x0A)
      for byte in line where byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") {
        isComment = byte == UInt8(ascii: "{")
      }
      hasMoves = hasMoves || line.first.map { $0 > 0x20 && $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "%") } ?? false
    }
    text.append(contentsOf: lines.rest)
    try flush()
  }
}
