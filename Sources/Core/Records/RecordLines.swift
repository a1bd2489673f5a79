import Base
import TicTacToe

/// Reads files of games line by line: PGN, or JSON with one game per line. The files may come from other programs.
///
/// Holds one game in memory. Accepts blank lines, a byte-order mark and CRLF. After an error the reader must not be used.
package struct RecordLines {
  private enum Form { case unknown, pgn, json }
  /// The part of PGN that a byte belongs to. A game can end, and the next game begin, only in `text`.
  private enum Place { case text, tag, quotes, escape, comment, remark }

  private let variants: [Variant]
  private var form = Form.unknown
  /// The game of a JSON line without the member `rules`: Classic, or the game named in the header of an arena's file.
  private var rules = Variant.classic
  private var line = 0
  /// PGN text that is not parsed yet, and the number of lines before this text.
  private var (text, start): ([UInt8], Int) = ([], 0)
  private var place = Place.text
  private var hasMoves = false

  /// A game of a variant that is not in `variants` is an error.
  package init(variants: [Variant] = Variant.allCases) { self.variants = variants }

  /// Takes the next line, without its line feed, and returns the games that this line completes.
  package mutating func take(_ bytes: some Sequence<UInt8>) throws(NotationError) -> [Record] {
    line += 1
    var bytes = Array(bytes)
    if line == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    if form == .unknown {
      let dense = bytes.filter { $0 > 0x20 }
      guard !dense.isEmpty else { return [] }
      form = dense.starts(with: "{\"".utf8) ? .json : .pgn
      start = line - 1
    }
    return form == .json ? try readJSON(bytes) : try readPGN(bytes)
  }

  package static func all(in bytes: [UInt8]) throws(NotationError) -> [Record] {
    var reader = RecordLines()
    var records: [Record] = []
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) { records += try reader.take(line) }
    return records + (try reader.finish())
  }

  /// Returns the games completed by the end of the file.
  package mutating func finish() throws(NotationError) -> [Record] { try readText() }

  private func readJSON(_ json: JSON) throws(NotationError) -> [Record] {
    if json["end"] == .bool(true), json["moves"] == nil { return [] }
    return [try Record(json: json, variants: variants, rules: rules)]
  }

  private mutating func readJSON(_ bytes: [UInt8]) throws(NotationError) -> [Record] {
    guard bytes.contains(where: { $0 > 0x20 }) else { return [] }
    do throws(NotationError) {
      let json = try JSON(bytes: bytes)
      guard json["alina"]?.string == "arena" else { return try readJSON(json) }
      let name = json["rules"]?.string ?? Variant.standardName
      guard let variant = Variant(headerName: name) else {
        throw NotationError(
          line: 1, column: 1, message: "the game \(quoted(name)) is unknown; allowed: \(Variant.names)")
      }
      rules = variant
      return []
    } catch { throw NotationError(line: line + error.line - 1, column: error.column, message: error.message) }
  }

  private mutating func readPGN(_ bytes: [UInt8]) throws(NotationError) -> [Record] {
    var records: [Record] = []
    if place == .text, hasMoves, bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "[") { records = try readText() }
    text += bytes
    text.append(0x0A)
    guard text.count <= Record.Limit.bytes else {
      throw NotationError(
        line: start + 1, column: 1, message: "the game that begins here is longer than \(Record.Limit.bytes) bytes")
    }
    if place == .text, bytes.first == UInt8(ascii: "%") { return records }
    for byte in bytes { pass(byte) }
    if place == .remark { place = .text }
    return records
  }

  private mutating func pass(_ byte: UInt8) {
    switch (place, byte) {
    case (.text, UInt8(ascii: "[")): place = .tag
    case (.text, UInt8(ascii: "{")): place = .comment
    case (.text, UInt8(ascii: ";")): place = .remark
    case (.text, _): hasMoves = hasMoves || byte > 0x20
    case (.tag, UInt8(ascii: "\"")): place = .quotes
    case (.tag, UInt8(ascii: "]")), (.comment, UInt8(ascii: "}")): place = .text
    case (.quotes, UInt8(ascii: "\\")): place = .escape
    case (.quotes, UInt8(ascii: "\"")): place = .tag
    case (.escape, _): place = .quotes
    default: break
    }
  }

  private mutating func readText() throws(NotationError) -> [Record] {
    var reader = RecordReader(bytes: text, variants: variants)
    var records: [Record] = []
    do { while let record = try reader.next() { records.append(record) } } catch {
      throw NotationError(line: start + error.line, column: error.column, message: error.message)
    }
    (text, start, hasMoves, place) = ([], line - 1, false, .text)
    return records
  }
}
