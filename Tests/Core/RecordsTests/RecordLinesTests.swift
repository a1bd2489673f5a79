import Base
import Records
import TicTacToe
import Testing

@Suite("Files of games, line by line") struct RecordLinesTests {
  private func read(_ text: String) throws -> [Record] {
    var lines = RecordLines()
    var records: [Record] = []
    for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) { records += try lines.take(line) }
    return try records + lines.finish()
  }

  @Test(arguments: [
    "[Event \"a\"]\n\n1. b2 a1 *\n\n[Event \"b\"]\n\n1. c3 *\n",
    "\u{FEFF}[Event \"a\"]\r\n\r\n1. b2 a1 *\r\n\r\n[Event \"b\"]\r\n\r\n1. c3 *\r\n",
    "; exported\n[Event \"a\"] ; first\n1. b2 a1 *\n; between\n[Event \"b\"]\n1. c3 *\n; the end\n",
    "% escaped [\n[Event \"a\"]\n1. b2 a1 *\n% {\n[Event \"b\"]\n1. c3 *",
    "[Event \"a\"]\n1. b2 a1 *\n[Event \"b\"]\n1. c3 *",
    "[Event \"a\"] 1. b2 a1 *\n[Event \"b\"] 1. c3 *",
    "\n\n  [Event \"a\"]\n1. b2 a1 *\n  [Event \"b\"]\n1. c3 *\n\n",
  ])
  func `PGN is read with remarks, escapes, CRLF, a byte-order mark and without blank lines`(text: String) throws {
    let records = try read(text)
    #expect(records.map { $0[tag: "Event"] } == ["a", "b"])
    #expect(records.map { $0.game.cells.count } == [2, 1])
  }

  @Test func `a brace in a tag or remark does not start a comment`() throws {
    let text = "[Event \"{\"]\n[Site \"a \\\" ] {\"]\n1. b2 ; {\na1 {[Event \"no tag\"]\n[} *\n[Event \"}\"]\n1. c3 *\n"
    let records = try read(text)
    #expect(records.map { $0[tag: "Event"] } == ["{", "}"])
    #expect(
      records[0][tag: "Site"] == "a \" ] {")
    #expect(records[0].comments.contains { $0.text.hasPrefix("[Event \"no tag\"]") })
  }

  @Test(arguments: [
    ("1. b2 { a { b } c } a1 *\n", 1), ("[Event \"a\"]\n1. b2 *\n\n[Event \"b\"]\n1. b2 (1. c3) *\n", 5),
    ("[Event \"a\"]\n1. b2 {never closed\n\n[Event \"b\"]\n1. c3 *\n", 2),
    ("[Event \"a\"]\n1. b2\n[Event \"b\"]\n1. c3 *", 3),
    ("\n\n{\"moves\":\"b2\",\"result\":\"*\"}\n{\"moves\":7}\n", 4),
    ("{\"moves\":\"b2\",\"result\":\"*\"}\n1. b2 *\n", 2),
  ])
  func `an invalid file is refused with the number of its line`(text: String, line: Int) {
    let error = #expect(throws: NotationError.self) { try read(text) }
    #expect(error?.line == line, "\(error?.description ?? "")")
  }

  @Test func `JSON is read with blanks, a byte-order mark, CRLF and the header of an arena's file`() throws {
    let text = "\u{FEFF}\r\n { \"moves\" : \"b2a1\", \"result\": \"*\" }\r\n\r\n{\"moves\":\"c3\",\"result\":\"*\"}\r\n"
    #expect(try read(text).map { $0.game.cells.count } == [2, 1])
    let arena =
      "{\"alina\":\"arena\",\"rules\":\"infinite\"}\n{\"game\":0,\"moves\":\"b2a1\",\"result\":\"*\"}\n{\"end\":true,\"games\":1}\n"
    #expect(try read(arena).map(\.game.variant) == [.infinite])
  }

  @Test func `an endless game is refused before it fills the memory`() throws {
    var lines = RecordLines()
    let line = Array(repeating: UInt8(ascii: "x"), count: 1000)
    _ = try lines.take("1. b2 {".utf8)
    let error = #expect(throws: NotationError.self) {
      for _ in 0...Record.Limit.bytes / 1000 { _ = try lines.take(line) }
    }
    #expect(error?.line == 1 && error?.message.contains("begins here") == true)
  }

  @Test func `a file without a game is read as an empty list`() throws {
    for text in ["", "\n \r\n", "; only a remark\n", "% only an escape\n"] { #expect(try read(text).isEmpty) }
  }
}
