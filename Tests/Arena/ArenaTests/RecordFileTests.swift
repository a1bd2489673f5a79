import Foundation
import Records
import Testing
import TicTacToe

@testable import Arena

@Suite("Files of records") struct RecordFileTests {
  @Test func `PGN is read game by game, with the places of its errors`() throws {
    try Support.withFolder { folder in
      let path = folder + "/games.pgn"
      let games = [
        "[Event \"a\"]\n\n1. b2 {[not a tag\n[nor this]} a1 *\n", "[Event \"b\"]\n[White \"x\"]\n\n1. a1 a2 *\n",
        "1. c3 *\n1. a1 *\n",
        "[Event \"c\"]\n1. b2 *",
      ]
      func read(_ text: String) throws -> [Record] {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        var records: [Record] = []
        try RecordFile.forEach(of: path) { (record) throws(ArenaError) in records.append(record) }
        return records
      }
      let text = games.joined(separator: "\n")
      let (records, whole) = (try read(text), try Record.all(in: text))
      #expect(records == whole && records.count == 5)
      let error = #expect(throws: ArenaError.self) { try read(text + "\n\n[Event \"d\"]\n\n1. b2 b2 *\n") }
      let line = text.split(separator: "\n", omittingEmptySubsequences: false).count + 4
      #expect(error?.description.contains("line \(line), column 7") == true, "\(error?.description ?? "")")
    }
  }
}
