import Base
import Testing
import TicTacToe

@testable import Records

@Suite("Games by letters (links)") struct LetterTests {
  /// Random moves: `plies` of them, or fewer if the game ends earlier.
  private static func game(_ variant: Variant, plies: Int, seed: UInt64) throws -> Letter {
    var random = SplitMix64(seed: seed)
    var letter = Letter(id: random.next(), variant: variant)
    while !letter.game.isOver, letter.game.cells.count < plies {
      let moves = Array(letter.game.state.moves)
      try letter.play(moves[random.below(moves.count)])
    }
    return letter
  }

  /// Other scripts, combining marks, quotes, syntax of records, reversed direction.
  private static let texts = [
    "", "Your turn!", "\"\\] [%emt 1] {} #/l/", "šťastnou cestu", "日本語で書いています", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "e\u{301}\u{301}", "?", "*",
    "\u{202E}desrever", "two\nlines\u{2028}and\ttabs", String(repeating: "x", count: 500),
    "a" + String(repeating: "\u{301}", count: 3_000),
  ]

  @Test(arguments: Variant.allCases) func `a letter is read back from its link, whatever its text`(variant: Variant)
    throws
  {
    for (index, text) in LetterTests.texts.enumerated() {
      var letter = try LetterTests.game(variant, plies: index, seed: UInt64(index))
      letter.write(text)
      letter[.x] = text
      letter[.o] = "Ida"
      if index % 3 == 1 { letter.setOffer(true) }
      if index % 3 == 2 { letter.end(.resignation) }
      #expect(letter.words.count <= Letter.Limit.words)
      #expect(letter.words.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202E && $0.value != 0x2028 })
      #expect(try Letter(link: letter.link) == letter, "\(text)")
      for url in ["https://a.example/b/#/l/\(letter.link)", "http://127.0.0.1:4680/l/\(letter.link)\n"] {
        #expect(Letter.link(in: url) == letter.link)
        #expect(Record.link(in: url) == nil)
      }
    }
  }

  @Test func `the link of the longest Ultimate game with text has less than 1,400 characters`() throws {
    var longest = 0
    for seed in 0..<6 {
      var letter = try LetterTests.game(.ultimate, plies: 81, seed: UInt64(seed))
      #expect(letter.game.isOver)
      // The longest link has as many bytes of text as are allowed, in random ideographs.
      var random = SplitMix64(seed: UInt64(seed))
      letter.write(
        String(String.UnicodeScalarView((0..<500).compactMap { _ in Unicode.Scalar(0x20000 + random.below(40_000)) })))
      (letter[.x], letter[.o]) = ("guest-Alexandria", "guest-Maximiliane")
      longest = max(longest, letter.link.utf8.count)
    }
    #expect(longest < 1_400, "\(longest)")
  }

  @Test(arguments: Variant.allCases) func `the letter with the longest texts is read back`(variant: Variant) throws {
    var letter = try LetterTests.game(variant, plies: Record.Limit.plies, seed: 9)
    // Each cluster has the eight bytes that are allowed, and needs a backslash.
    let text = String(repeating: "\"\u{301}\u{302}\u{20D0}", count: Letter.Limit.words + 1)
    letter.write(text)
    (letter[.x], letter[.o]) = (text, text)
    #expect(letter.words.utf8.count == Letter.Limit.words * Letter.Limit.bytesPerCluster)
    #expect(try Letter(link: letter.link) == letter)
  }

  @Test func `a link with more than the longest letter is not decoded to its end`() throws {
    let letter = try LetterTests.game(.ultimate, plies: 40, seed: 2)
    var records = [Record](repeating: try Record(link: letter.link), count: 3)
    for tag in ["A", "B"] { records[0][tag: tag] = String(repeating: "x", count: 1_000) }
    try records[1].addComment(String(repeating: "x", count: 3_000), ply: 0)
    records[2].bars = [[Int]](repeating: [Int](repeating: 1_000, count: Record.Limit.bars), count: 20)
    for record in records {
      let link = try #require(record.link)
      #expect(link.utf8.count < Letter.Limit.link)
      #expect(try Record(link: link) == record)
      let error = #expect(throws: NotationError.self) { try Letter(link: link) }
      #expect(error?.message == NotationError.damagedLink.message, "a link decoded to its end is not a letter")
    }
  }

  /// The game of the new letter departs from that of `letter` in one of the last three moves.
  private static func contradiction(of letter: Letter, using random: inout SplitMix64) -> Letter {
    var other = Letter(id: letter.id, variant: letter.game.variant)
    for cell in letter.game.cells.dropLast(1 + random.below(3)) { try? other.play(cell) }
    let place = other.game.cells.count
    let cell = letter.game.cells.indices.contains(place) ? letter.game.cells[place] : nil
    let others = other.game.state.moves.filter { $0 != cell }
    if !others.isEmpty { try? other.play(others[random.below(others.count)]) }
    return other
  }

  private static func damaged(_ link: String, using random: inout SplitMix64) -> String {
    let alphabet = Array("ABCXYZabcxyz0189-_/#%é")
    let place = link.index(link.startIndex, offsetBy: random.below(link.count))
    let letter = [alphabet[random.below(alphabet.count)]]
    let range = random.below(3) == 0 ? place..<place : place..<link.index(after: place)
    let new = link.replacingCharacters(in: range, with: random.below(3) == 0 ? "" : String(letter))
    return new == link ? link + "A" : new
  }

  @Test(arguments: Variant.allCases)
  func `letters that are lost, doubled, reordered or changed never remove or replace a move of the game`(
    variant: Variant
  ) throws {
    var finished = 0
    for seed in 0..<(variant.isOneBoard ? 60 : 20) {
      var random = SplitMix64(seed: UInt64(seed), index: 51)
      let first = Letter(id: random.next(), variant: variant)
      var boxes = [LetterBox(), LetterBox()]
      var post: [Letter] = []
      /// The games in both players' boxes before the current step. An empty box counts as a game without moves.
      var past = [first.game, first.game]
      var changes = 0
      boxes[0].keep(.init(first, you: .x, since: "1"))
      for step in 0..<400 {
        let at = random.below(2)
        let side: Player = at == 0 ? .x : .o
        if let known = boxes[at].entries[first.id], known.isYourTurn {
          var answer = known.letter
          let moves = Array(answer.game.state.moves)
          switch random.below(40) {
          case 0: answer.end(.resignation)
          case 1 where answer.game.drawOffer != nil: answer.end(.agreement)
          default:
            try answer.play(moves[random.below(moves.count)])
            answer.setOffer(random.below(4) == 0)
          }
          answer.write("letter \(step)")
          let relation = boxes[at].keep(.init(answer, you: side, since: "\(step)"))
          #expect(relation == .newer(known: known.letter.game.cells.count))
          post.append(answer)
        } else if !post.isEmpty {
          let letter = post[random.below(4) == 0 ? random.below(post.count) : post.count - 1]
          switch random.below(8) {
          case 0 where changes < 3:
            changes += 1
            #expect(throws: NotationError.self) {
              try Letter(link: LetterTests.damaged(letter.link, using: &random))
            }
          case 1:
            guard let known = boxes[at].entries[first.id]?.letter else { continue }
            let other = LetterTests.contradiction(of: known, using: &random)
            let before = boxes[at]
            #expect([.fork, .old, .same].contains(boxes[at].take(other, at: "?")))
            #expect(boxes[at] == before)
          default:
            // A box concludes from its first letter's sender which side its owner plays. So a player's own letter is not delivered to an
            // empty box.
            if boxes[at].entries[first.id] == nil, letter.sender == side { continue }
            boxes[at].take(letter, at: "\(step)")
          }
        }
        for (index, box) in boxes.enumerated() {
          guard let entry = box.entries[first.id] else { continue }
          #expect(entry.letter.game.cells.starts(with: past[index].cells), "a move was lost or replaced")
          #expect(past[index].end == nil || past[index].end == entry.letter.game.end, "an end was lost or replaced")
          #expect(entry.you == (index == 0 ? .x : .o))
          past[index] = entry.letter.game
        }
        #expect(past[0].cells.starts(with: past[1].cells) || past[1].cells.starts(with: past[0].cells))
      }
      if past.allSatisfy({ $0.isOver }) { finished += 1 }
      for entry in boxes.compactMap({ $0.entries[first.id] }) {
        #expect(LetterBox.Entry(text: entry.text) == entry)
      }
    }
    #expect(finished > 5, "\(finished) games were finished")
  }

  @Test func `every changed character of a link is noticed`() throws {
    var letter = try LetterTests.game(.classic, plies: 3, seed: 7)
    letter.write("Hello")
    let link = letter.link
    for place in link.indices.enumerated().filter({ $0.offset % 7 == 0 }).map({ $0.element }) {
      for other in "Az-" where other != link[place] {
        #expect(throws: NotationError.self) {
          try Letter(link: link.replacingCharacters(in: place...place, with: String(other)))
        }
      }
    }
  }

  @Test func `a forged end, offer or continuation after the end is reported as a contradiction`() throws {
    var letter = try LetterTests.game(.classic, plies: 2, seed: 3)
    var box = LetterBox()
    box.keep(.init(letter, you: .x, since: "1"))
    var agreed = letter
    agreed.setOffer(true)
    agreed.end(.agreement)
    #expect(box.take(agreed, at: "2") == .fork, "a draw that was not offered")
    var continued = letter
    try continued.play(#require(Array(letter.game.state.moves).first))
    letter.end(.resignation)
    #expect(box.keep(.init(letter, you: .x, since: "3")) == .newer(known: 2))
    #expect(box.take(continued, at: "4") == .fork, "a move after the resignation")
    #expect(box.entries[letter.id]?.letter == letter)
  }

  @Test func `both players' rematches are the same game with swapped sides`() throws {
    var letter = try LetterTests.game(.misere, plies: 9, seed: 1)
    (letter[.x], letter[.o]) = ("Vera", "Ida")
    let next = letter.rematch
    #expect((next[.x], next[.o]) == ("Ida", "Vera"))
    #expect(next == letter.rematch && next.id != letter.id)
    #expect(next.sender == .o)
    var box = LetterBox()
    #expect(box.take(next, at: "1") == .first)
    #expect(box.entries[next.id]?.you == .x)
  }

  @Test func `a record that is not a letter is refused`() throws {
    var record = Record(game: try LetterTests.game(.classic, plies: 2, seed: 1).game)
    #expect(throws: NotationError.self) { try Letter(link: #require(record.link)) }
    record[tag: "Letter"] = "0123456789abcdef"
    #expect(try Letter(link: #require(record.link)).id == 0x0123_4567_89ab_cdef)
    record.times = [.init(elapsed: 1)]
    #expect(throws: NotationError.self) { try Letter(link: #require(record.link)) }
  }
}
