import Base
import Foundation
import Records
import TicTacToe

package final class GameFileReader {
  package private(set) var configuration = RunConfiguration()
  /// The hash of the lines read so far.
  private(set) var hash = GameHash(header: "")
  private(set) var footer: JSON?
  /// Whether the footer or the end of the file was reached.
  private(set) var isAtEnd = false
  let lines: LineReader
  /// The index that the next game must have.
  private var index = 0

  convenience init(_ path: String) throws(ArenaError) { try self.init(lines: LineReader(path)) }

  package init(lines: LineReader) throws(ArenaError) {
    self.lines = lines
    guard let header = try lines.next() else {
      throw ArenaError("\(lines.path) has no header, so there is nothing to resume")
    }
    guard let text = String(validating: header, as: UTF8.self) else { throw lines.refusal("not UTF-8") }
    do { configuration = try RunConfiguration(headerLine: text) } catch { throw lines.refusal("\(error)") }
    index = configuration.indices?.lowerBound ?? 0
    hash = GameHash(header: text)
  }

  package func nextRecord() throws(ArenaError) -> Record? {
    guard let game = try next() else { return nil }
    return try PGNExport.record(game, configuration)
  }

  /// `nil` at the footer or at the end of the file.
  func next() throws(ArenaError) -> GameLine.Content? {
    guard !isAtEnd, let line = try lines.next() else {
      isAtEnd = true
      return nil
    }
    if let content = GameLine.read(line, configuration.variant) {
      guard content.index == index else { throw lines.refusal("game \(content.index) where game \(index) is due") }
      guard max(content.x, content.o) < configuration.entrants.count else {
        throw lines.refusal("there is no such player")
      }
      index += 1
      hash.update(lines.lineWithEnd, upTo: index)
      return content
    }
    guard let json = try? JSON(bytes: Array(line)), json["end"] == .bool(true) else {
      throw lines.refusal("this is not a line of a file of games")
    }
    guard json["sha256"]?.string == hash.hex else { throw lines.refusal("the hash does not fit; the file was changed") }
    (footer, isAtEnd) = (json, true)
    guard try lines.next() == nil, lines.rest.isEmpty else { throw lines.refusal("nothing may follow the footer") }
    return nil
  }
}
