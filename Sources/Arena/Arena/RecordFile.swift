import Base
import Records
import TicTacToe

/// Reads PGN, JSON Lines and the arena's own files, of any size and of all variants.
package enum RecordFile {
  /// The path `-` is standard input.
  package static func forEach(
    of path: String, _ body: (Record) throws(ArenaError) -> Void
  ) throws(ArenaError) {
    let lines = try LineReader(path)
    if try lines.begins(with: "{\"alina\":\"arena\"") {
      let reader = try GameFileReader(lines: lines)
      while let record = try reader.nextRecord() { try body(record) }
      return
    }
    var records = RecordLines()
    func read(_ take: () throws(NotationError) -> [Record]) throws(ArenaError) {
      let games: [Record]
      do { games = try take() } catch { throw ArenaError("\(lines.path): \(error)") }
      for game in games { try body(game) }
    }
    while let line = try lines.next() { try read { () throws(NotationError) in try records.take(line) } }
    try read { () throws(NotationError) in try records.take(lines.rest) + records.finish() }
  }
}
