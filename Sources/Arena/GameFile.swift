import Foundation
import TicTacToe

/// Lines of the file of games, written and read back byte for byte.
enum GameLine {
  private static let names = Square.all.map { Array($0.name.utf8) }

  /// Appends a game's line with its end.
  static func write(
    index: Int, x: Int, o: Int, start: Position, game: PackedGame, reason: String?, to out: inout [UInt8]
  ) {
    append("{\"game\":", &out)
    append(index, &out)
    append(",\"x\":", &out)
    append(x, &out)
    append(",\"o\":", &out)
    append(o, &out)
    if start != .start { append(",\"start\":\"\(start.notation)\"", &out) }
    append(",\"moves\":\"", &out)
    for ply in 0..<game.count {
      out.append(contentsOf: names[game.cell(ply)])
    }
    switch game.outcome {
    case .win(.x): append("\",\"result\":\"1-0\"", &out)
    case .win(.o): append("\",\"result\":\"0-1\"", &out)
    case .draw: append("\",\"result\":\"1/2-1/2\"", &out)
    }
    if game.ending != .normal {
      append(",\"termination\":\"\(game.ending == .time ? "time" : "forfeit")\"", &out)
      append(",\"reason\":\(JSON.string(reason ?? "").text)", &out)
    }
    append("}\n", &out)
  }

  private static func append(_ text: StaticString, _ out: inout [UInt8]) {
    text.withUTF8Buffer { out.append(contentsOf: $0) }
  }

  @_disfavoredOverload
  private static func append(_ text: String, _ out: inout [UInt8]) { out.append(contentsOf: text.utf8) }

  private static func append(_ number: Int, _ out: inout [UInt8]) {
    var (digits, count, rest) = (UInt64(0), 0, number)
    // Digits are collected in a word, lowest first; an index has ten at most.
    repeat {
      digits = digits << 4 | UInt64(rest % 10)
      rest /= 10
      count += 1
    } while rest > 0 && count < 16
    for _ in 0..<count {
      out.append(0x30 + UInt8(digits & 15))
      digits >>= 4
    }
  }

  /// What a line says.
  struct Content {
    var index: Int
    var x: Int
    var o: Int
    var game: PackedGame
    var reason: String?
  }

  /// Reads a line without its end; `nil` if it is none of ours.
  static func read(_ line: ArraySlice<UInt8>) -> Content? {
    var cursor = line.startIndex
    func skip(_ text: StaticString) -> Bool {
      let count = text.utf8CodeUnitCount
      guard line.endIndex - cursor >= count,
        memcmpEqual(line, cursor, text.utf8Start, count)
      else { return false }
      cursor += count
      return true
    }
    func number() -> Int? {
      var (value, digits) = (0, 0)
      while cursor < line.endIndex, (0x30...0x39).contains(line[cursor]), digits < 12 {
        value = value * 10 + Int(line[cursor] - 0x30)
        cursor += 1
        digits += 1
      }
      return digits > 0 ? value : nil
    }
    guard skip("{\"game\":"), let index = number(), skip(",\"x\":"), let x = number(), skip(",\"o\":"), let o = number()
    else { return nil }
    if skip(",\"start\":\"") {
      guard let quote = line[cursor...].firstIndex(of: 0x22) else { return nil }
      cursor = quote + 1
    }
    guard skip(",\"moves\":\"") else { return nil }
    var (nibbles, count) = (UInt64(0), 0)
    while cursor + 1 < line.endIndex, line[cursor] != 0x22 {
      let (file, rank) = (line[cursor], line[cursor + 1])
      guard (0x61...0x63).contains(file), (0x31...0x33).contains(rank), count < 9 else { return nil }
      nibbles |= UInt64((0x33 - rank) * 3 + (file - 0x61)) << UInt64(4 * count)
      count += 1
      cursor += 2
    }
    let outcome: Outcome
    if skip("\",\"result\":\"1-0\"") {
      outcome = .win(.x)
    } else if skip("\",\"result\":\"0-1\"") {
      outcome = .win(.o)
    } else if skip("\",\"result\":\"1/2-1/2\"") {
      outcome = .draw
    } else {
      return nil
    }
    var ending = PackedGame.Ending.normal
    var reason: String?
    if line[cursor...].count > 1 {
      // Forfeits are rare: the general reader will do.
      guard let json = try? JSON(bytes: Array(line)) else { return nil }
      ending = json["termination"]?.string == "time" ? .time : .forfeit
      reason = json["reason"]?.string
    } else if !skip("}") {
      return nil
    }
    let game = PackedGame(nibbles: nibbles, count: count, outcome: outcome, ending: ending)
    return Content(index: index, x: x, o: o, game: game, reason: reason)
  }

  private static func memcmpEqual(
    _ line: ArraySlice<UInt8>, _ offset: Int, _ text: UnsafePointer<UInt8>, _ count: Int
  ) -> Bool {
    line.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      return memcmp(base + (offset - line.startIndex), text, count) == 0
    }
  }
}

/// Writes a file of games as they come: header, games, footer.
final class GameFileWriter {
  private let descriptor: Int32
  private let path: String
  private var hash: SHA256

  /// Continues a file of which `hash` has taken in all bytes.
  init(path: String, continuing hash: SHA256) throws(ArenaError) {
    descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw ArenaError("\(path): \(String(cString: strerror(errno)))") }
    (self.path, self.hash) = (path, hash)
  }

  /// Creates a file with its header, at once: no reader ever sees half a header.
  convenience init(path: String, header: String) throws(ArenaError) {
    let bytes = Array((header + "\n").utf8)
    try writeFile(bytes, to: path)
    var hash = SHA256()
    hash.update(bytes)
    try self.init(path: path, continuing: hash)
  }

  deinit { close(descriptor) }

  /// Appends lines.
  func write(_ bytes: [UInt8]) throws(ArenaError) {
    hash.update(bytes)
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent)
      }
      if count > 0 {
        sent += count
      } else if errno != EINTR {
        throw ArenaError("\(path) cannot be written: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Appends the footer: what is given, and the hash of all bytes before it.
  func finish(_ members: [JSON.Member]) throws(ArenaError) {
    let line = JSON.object(members + [JSON.Member("sha256", .string(hash.digest.hex))]).text
    try write(Array((line + "\n").utf8))
  }
}

/// A file of games read back.
struct GameFile {
  /// The header's line.
  var header: String
  /// The games in order.
  var games: [PackedGame] = []
  /// Who had X and O in each, as x · 64 + o.
  var seats: [UInt16] = []
  /// Reasons of forfeits by game.
  var reasons: [Int: String] = [:]
  /// The hash of the header and the games.
  var hash = SHA256()
  /// The footer, if the run was finished.
  var footer: JSON?
  /// Bytes of a last line that was cut off.
  var truncatedBytes = 0
  /// Bytes that are whole lines.
  var wholeBytes = 0

  /// Reads a file line by line; a cut-off last line is left out, anything else that is not ours is refused by line.
  init(path: String) throws(ArenaError) {
    let handle = try openFile(path)
    defer { try? handle.close() }
    var rest: [UInt8] = []
    var number = 0
    header = ""
    while let data = try? handle.read(upToCount: 1 << 20), !data.isEmpty {
      rest.append(contentsOf: data)
      var begin = 0
      while let end = rest[begin...].firstIndex(of: 0x0A) {
        number += 1
        if try take(rest[begin..<end], number: number, path: path) { hash.update(rest[begin...end]) }
        wholeBytes += end + 1 - begin
        begin = end + 1
      }
      rest.removeSubrange(..<begin)
      guard rest.count < 1 << 24 else { throw ArenaError("\(path), line \(number + 1): longer than 16 MiB") }
    }
    guard number > 0 else { throw ArenaError("\(path) holds no header; there is nothing to resume") }
    truncatedBytes = rest.count
  }

  /// Takes in a line without its end; whether it belongs to what the footer's hash is of.
  private mutating func take(_ line: ArraySlice<UInt8>, number: Int, path: String) throws(ArenaError) -> Bool {
    if number == 1 {
      guard let text = String(validating: line, as: UTF8.self) else { throw ArenaError("\(path), line 1: not UTF-8") }
      header = text
    } else if let content = GameLine.read(line), footer == nil {
      guard content.index == games.count else {
        throw ArenaError("\(path), line \(number): game \(content.index) where game \(games.count) is due")
      }
      games.append(content.game)
      seats.append(UInt16(truncatingIfNeeded: content.x * 64 + content.o))
      if let reason = content.reason { reasons[content.index] = reason }
    } else if footer == nil, let json = try? JSON(bytes: Array(line)), json["end"] == .bool(true) {
      footer = json
      guard json["sha256"]?.string == hash.digest.hex else {
        throw ArenaError("\(path), line \(number): the hash does not fit; the file was changed")
      }
      return false
    } else {
      throw ArenaError("\(path), line \(number): this is no line of a file of games")
    }
    return true
  }
}
