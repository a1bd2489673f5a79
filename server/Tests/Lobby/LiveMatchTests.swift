import MatchProtocol
import MatchStore
import Testing
import TicTacToe

@testable import Lobby

@Suite struct LiveMatchTests {
  private let configuration = LobbyConfiguration()
  private var match: LiveMatch

  init() throws {
    let m = try #require(MatchID(rawValue: "livelivelive"))
    match = LiveMatch(MatchRecord(id: m, x: 1, o: 2, created: 0))
    let ann = PlayerInfo(name: "Ann", rating: 1500, guest: true)
    let terms = MatchTerms(clock: .standard)
    try fold(.init(at: 0, .start(Sides(x: ann, o: ann), terms, confirm: false, previous: nil, keys: [])), at: 0)
  }

  private mutating func fold(_ event: MatchEvent, at now: Int64) throws {
    try match.add(event, body: event.body, at: now, configuration)
  }

  private func decide(_ side: Player, _ action: MatchAction, at now: Int64) throws(Refusal) -> LiveMatch.Decision {
    let command = LiveMatch.Command(action: action, side: side, mid: "m", at: now, lag: 0, mayLoseOnTime: true)
    return try match.decide(command, Moment(monotonic: now, wall: now), configuration)
  }

  private func expectRefusal(_ side: Player, _ action: MatchAction, at now: Int64, _ text: String) {
    #expect(throws: Refusal(.rules, text, showing: match.id)) { try decide(side, action, at: now) }
  }

  private func move(_ cell: String) throws -> MatchAction {
    .move(ply: nil, cell: CellName(try #require(Variant.classic.cell(named: cell)), in: .classic))
  }

  /// Plays moves for X and O in turn, one each second, the first at the time 1000 ms.
  private mutating func play(_ cells: [String]) throws {
    for (i, cell) in cells.enumerated() {
      let now = Int64(i + 1) * 1000
      guard case .change(.append(let events)) = try decide(i % 2 == 0 ? .x : .o, try move(cell), at: now) else {
        Issue.record("\(cell) does not continue the match")
        return
      }
      for event in events { try fold(event, at: now) }
    }
  }

  private func due(at now: Int64) -> LiveMatch.Change? {
    match.due(flagDelay: 0, Moment(monotonic: now, wall: now), configuration)
  }

  @Test mutating func `a winning move ends the match; a move out of turn or on a taken cell is refused`() throws {
    try play(["a1", "b1", "a2", "b2"])
    expectRefusal(.o, try move("c3"), at: 5000, "it is not your turn")
    expectRefusal(.x, try move("a1"), at: 5000, "a1 is taken")
    guard case .change(.end(.win(.x), .normal, let events)) = try decide(.x, try move("a3"), at: 5000) else {
      Issue.record("X has three in a row")
      return
    }
    #expect(events.map(\.mid) == ["m"] && events[0].clocks?.x == 60_000 - 1000 + 2000 - 1000 + 2000)
  }

  @Test
  mutating func `a match is aborted after 30 s before both players have moved; later the side to move loses on time`()
    throws
  {
    #expect(match.nextDue(flagDelay: 0, 0, configuration) == 30_000)
    #expect(due(at: 29_999) == nil && due(at: 30_000) == .end(nil, .aborted))
    try play(["a1", "b1"])
    #expect(match.nextDue(flagDelay: 25, 2000, configuration) == 62_025)
    #expect(try decide(.x, move("c3"), at: 62_001) == .isTooLate)
    guard case .end(.win(.o), .time, let events) = due(at: 62_000) else {
      Issue.record("X's time is up")
      return
    }
    #expect(events.map(\.kind) == [.flag])
    expectRefusal(.x, .abort, at: 3000, "a match cannot be aborted once both have moved; resign or offer a draw")
  }

  @Test
  mutating func `a win over an absent side may be claimed after 40 s, 10 s after a bye, or after 60 s of absences`()
    throws
  {
    try play(["a1", "b1"])
    expectRefusal(.x, .claim, at: 2000, "your opponent is connected")
    try fold(MatchEvent(at: 3000, side: .o, .gone), at: 3000)
    expectRefusal(.x, .claim, at: 42_999, "your opponent may still come back")
    guard case .change(.end(.win(.x), .gone, _)) = try decide(.x, .claim, at: 43_000) else {
      Issue.record("40 s are over")
      return
    }
    try fold(MatchEvent(at: 38_000, side: .o, .back), at: 38_000)
    try fold(MatchEvent(at: 39_000, side: .o, .gone), at: 39_000)
    #expect(match.presence.o.claimableAt(configuration) == 64_000, "35 s of 60 s are used")
    match.presence.o.shortenGrace(configuration)
    #expect(match.presence.o.claimableAt(configuration) == 49_000)
  }

  @Test mutating func `an outage of the store is charged to no clock and to no absence`() throws {
    try play(["a1", "b1"])
    try fold(MatchEvent(at: 3000, side: .o, .gone), at: 3000)
    match.postpone(by: 10_000, 20_000)
    #expect(match.deadline == 72_000 && match.presence.o.awaySince == 13_000)
  }
}
