import Base
import GameScore
import Records
import ScoreModel
import Testing
import TicTacToe
import Tintinnabuli

@testable import Session

@Suite("Free play in a session")
struct FreePlayTests {
  @Test func `a touch sounds within a millisecond of the frame at which a move would sound`() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    bench.now = Tick(rawValue: 123_457)
    #expect(session.play(Cell(4)))
    let move = try #require(session.times.last?.frame) - bench.now.rawValue
    session.beginFreePlay()
    bench.now = Tick(rawValue: 323_459)
    bench.posted = []
    session.touch(Square(4), as: .x)
    let note = try #require(bench.posted.joined().first { $0.kind == .note && $0.voice == .m })
    #expect(note.frame.rawValue - bench.now.rawValue - move < 48)
    // A second finger at the same moment does not silence the first.
    session.touch(Square(0), as: .o)
    #expect(session.freePlay?.touches.map(\.square.index) == [4, 0])
    #expect(session.bars.filter { $0.kind == .move }.allSatisfy { !$0.sounding.isEmpty })
  }

  @Test func `what a person plays is rendered from its record and from its link as it was heard`() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    bench.pass(session, seconds: 3)
    session.pace = 0.9
    session.beginFreePlay()
    var generator = SplitMix64(seed: 4)
    for _ in 0..<60 {
      session.touch(Square(generator.below(9)), as: generator.below(4) == 0 ? .o : .x)
      if generator.below(5) == 0 { session.touch(Square(generator.below(9)), as: .o) }
      bench.pass(session, seconds: [0.16, 0.3, 0.6, 2, 9, 14][generator.below(6)])
    }
    let heard = session.bars
    let record = session.record
    let kept = try Record(text: record.text, variants: Variant.allCases)
    let link = Record(try FreePlay(link: #require(record.freePlay).link))
    for record in [kept, link] {
      let bars = Rendition(of: record, rules: bench.rules).bars
      let begin = try #require(heard.first).start - bars[0].start
      #expect(bars.count >= heard.count)
      for (bar, other) in zip(heard, bars) where bar.index < heard[heard.count - 2].index {
        #expect(
          bar.start - begin == other.start && bar.pairs == other.pairs && bar.cut == other.cut && bar.kind == other.kind
        )
      }
    }
  }

  @Test func `more touches than can be kept begin another piece, on another tonic`() {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    session.beginFreePlay()
    let scale = session.rulesInForce.scale
    for _ in 0..<FreePlay.Limit.touches {
      #expect(!session.isFreePlayOver)
      session.touch(Square(4), as: .x)
      bench.now = bench.now + .milliseconds(20)
    }
    #expect(session.isFreePlayOver)
    session.beginFreePlay()
    #expect(session.rulesInForce.scale != scale && session.freePlay?.touches.isEmpty == true)
    // A touch has no effect once a game has begun.
    session.newGame(Participants(x: person, o: person))
    session.touch(Square(4), as: .x)
    #expect(session.freePlay == nil && session.game.cells.isEmpty)
  }
}
