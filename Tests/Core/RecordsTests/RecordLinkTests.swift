import Base
import Foundation
import Testing
import TicTacToe

@testable import Records

@Suite("Links of games") struct RecordLinkTests {
  @Test func `a full record is read back from its link, which needs no escaping in a URL`() throws {
    let record = try RecordTests.full()
    let link = try #require(record.link)
    #expect(link.utf8.allSatisfy { Record.isNameByte($0) || $0 == UInt8(ascii: "-") })
    #expect(try Record(link: link) == record)
    #expect(link.utf8.count < 500, "\(link.utf8.count)")
  }

  @Test func `empty and short games are read back from their links of about two hundred characters`() throws {
    var random = SplitMix64(seed: 18)
    var longest = 0
    for _ in 0..<40 {
      var game = Game()
      var times: [Record.MoveTimes] = []
      while game.end == nil {
        let moves = Array(game.position.legalMoves)
        try game.play(moves[random.below(moves.count)])
        times.append(.init(elapsed: Int64(random.below(20_000))))
        if random.below(8) == 0 { break }
      }
      var record = Record(game: game)
      record.times = times
      record[player: .x] = "human"
      record[player: .o] = "levels:\(random.below(6))"
      record.seed = random.next()
      let link = try #require(record.link)
      #expect(try Record(link: link) == record)
      longest = max(longest, link.utf8.count)
    }
    #expect(longest < 260, "\(longest)")
    #expect(try Record(link: #require(Record().link)) == Record())
  }

  @Test(arguments: [
    "ARVJ0f7tiE1nGk732RycbXd4i9wva9xz2QeMDJv4ZVSOmJgxpZ0VXl8Fy2RX7NAXK41Y0HulPT6K5FB-7SMq", RecordLinkTests.second,
  ])
  func `links of earlier versions keep their meaning`(link: String) throws {
    var record = Record()
    try record.game.play(Square(name: "b2")!)
    record.times = [.init(elapsed: 1500)]
    record[player: .x] = "Ann"
    #expect(record.link == RecordLinkTests.second)
    #expect(try Record(link: link) == record)
  }

  /// The link in version 2 of the game of the test `links of earlier versions keep their meaning`.
  static let second = "AnDn-_8Bef8NJwHY3aerZtw7gIrvvFS5Io_6Dxt9uT-RHxATsIP0JW_A9nnwH2T-NxWh1HBDHOVf4veffVWL"

  @Test func `a cut, changed, extended or foreign link is refused in one line`() throws {
    let link = try #require(RecordTests.full().link)
    var wrong = [
      "", "A", "AQ", "AQAAAA", "-", "é", link + "A", link + "AAAA", "\(link) ", String(repeating: "A", count: 1 << 17),
    ]
    wrong += stride(from: 0, to: link.count, by: 5).map { String(link.prefix($0)) }
    for (i, place) in link.indices.enumerated() where i % 5 == 0 {
      wrong.append(link.replacingCharacters(in: place...place, with: link[place] == "x" ? "y" : "x"))
    }
    wrong.append("Aw" + link.dropFirst(2))
    for word in wrong {
      let error = #expect(throws: NotationError.self) { try Record(link: word) }
      #expect(error?.description.contains("\n") == false)
    }
    let newer = #expect(throws: NotationError.self) { try Record(link: wrong[wrong.count - 1]) }
    #expect(newer?.message == "this link was made by another version of Alina")
    var random = SplitMix64(seed: 5)
    let alphabet = Array("ABCXYZabcxyz0189-_")
    for _ in 0..<20 {
      let noise = String((0..<random.below(400)).map { _ in alphabet[random.below(alphabet.count)] })
      for version in ["AQ", "Ag"] {
        #expect(throws: NotationError.self) { try Record(link: version + noise) }
      }
    }
  }

  @Test func `links are recognised among games, positions and words`() throws {
    let link = try #require(RecordTests.full().link)
    for text in [link, "http://127.0.0.1:4680/#/g/\(link)", " https://a.example/b/#/g/\(link)\n", "/g/\(link)"] {
      #expect(Record.link(in: text) == link, "\(text)")
    }
    let full = try RecordTests.full()
    for text in ["", "1-0", "1/2-1/2", "*", "XO1/1X1/3 o", "XO1/1X1/3", "hello-everybody", full.text, full.jsonLine] {
      #expect(Record.link(in: text) == nil, "\(text)")
    }
  }

  @Test func `a game with very long comments has no link`() throws {
    var record = Record()
    for _ in 0..<20 { try record.addComment(String(repeating: "so ", count: 1000), ply: 0) }
    #expect(record.link == nil)
  }
}
