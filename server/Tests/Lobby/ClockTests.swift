import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby

@Suite("The clocks of a match")
struct ClockTests {
  @Test func `a move decoded before the deadline counts, one decoded after it does not`() throws {
    for late in [false, true] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair(#""clock":"10+0","rated":false"#)
      world.move(x, m, 0, "b2")
      world.move(o, m, 1, "a1")
      let start = world.now
      world.wait(10_010)
      let id = try #require(MatchID(rawValue: m))
      let line = ClientLine(.act(id, .move(ply: 2, cell: CellName(Cell(0), in: .classic)), mid: "z"))
      world.step(.line(UInt64(x), line, at: start + (late ? 10_005 : 9_999), roundTrip: 0))
      #expect(try world.state(m).moves.count == (late ? 2 : 3))
      #expect(try (world.state(m).phase == .over) == late)
      #expect(try world.state(m).clocks?.x == (late ? 0 : 1))
      _ = o
    }
  }

  @Test func `the round trip is added back to the clock, up to half a second`() throws {
    for (roundTrip, left) in [(0, 7_000), (200, 7_200), (3_000, 7_500)] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair(#""clock":"10+0","rated":false"#)
      world.move(x, m, 0, "b2")
      world.move(o, m, 1, "a1")
      world.now += 3_000
      let id = try #require(MatchID(rawValue: m))
      let line = ClientLine(.act(id, .move(ply: 2, cell: CellName(Cell(0), in: .classic)), mid: "z"))
      world.step(.line(UInt64(x), line, at: world.now, roundTrip: roundTrip))
      #expect(try world.state(m).clocks?.x == left)
      _ = o
    }
  }

  @Test(arguments: [(20, 0), (120, 60), (480, 95), (300, -40)])
  func `a move sent as soon as the opponent's move arrives costs 0 to 100 ms`(roundTrip: Int64, jitter: Int64) throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"10+0","rated":false"#)
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    // The opponent's move takes half of the round trip to reach X, and X's answer takes the other half.
    world.now += roundTrip + jitter
    let id = try #require(MatchID(rawValue: m))
    let line = ClientLine(.act(id, .move(ply: 2, cell: CellName(Cell(0), in: .classic)), mid: "z"))
    world.step(.line(UInt64(x), line, at: world.now, roundTrip: Int(roundTrip)))
    let left = try #require(try world.state(m).clocks?.x)
    #expect((9_900...10_000).contains(left), "\(10_000 - left) ms")
    _ = o
  }
}
