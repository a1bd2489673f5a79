import MatchProtocol
import Testing
import TicTacToe

@Suite struct MatchStateTests {
  @Test func `a match folded from stored bytes equals the match played`() throws {
    let (played, bodies) = try playedMatch()
    var folded = MatchState(id: someMatch)
    for body in bodies { try folded.append(body: body) }
    #expect(folded == played)
    #expect(folded.board == "o...x....")
    #expect(folded.offer?.seq == 6)
    #expect(folded.side(of: "bOB") == .o)
  }

  @Test func `a change of any byte of the log changes the hash`() throws {
    let (played, bodies) = try playedMatch()
    for i in bodies.indices {
      for at in bodies[i].indices {
        var hash = LogHash(start: someMatch)
        for (j, body) in bodies.enumerated() {
          var body = body
          if i == j { body[at] ^= 1 }
          hash = hash.adding(body)
        }
        #expect(hash != played.hash)
      }
    }
  }

  @Test func `an event that cannot follow a match's log is refused and changes nothing`() throws {
    let (played, _) = try playedMatch()
    let wrong: [MatchEvent] = [
      MatchEvent(at: 0, side: .x, .move(ply: 3, cell: CellName(Cell(1), in: .classic), spent: 0)),
      MatchEvent(at: 0, side: .o, .move(ply: 2, cell: CellName(Cell(1), in: .classic), spent: 0)),
      MatchEvent(at: 0, side: .x, .move(ply: 2, cell: CellName(Cell(4), in: .classic), spent: 0)),
      MatchEvent(at: 0, side: .x, .draw(.accept, offer: 6)), MatchEvent(at: 0, side: .o, .draw(.accept, offer: 5)),
      MatchEvent(at: 0, side: .o, .draw(.offer, offer: nil)), MatchEvent(at: 0, side: .x, .abort),
      MatchEvent(at: 0, side: .x, .confirm), MatchEvent(at: 0, side: .x, .rematch(next: nil)),
      MatchEvent(at: 0, .end(.win(.x), .normal, ratings: nil)), MatchEvent(at: 0, .end(nil, .resign, ratings: nil)),
      MatchEvent(at: 0, .open(by: "Ann", MatchTerms())), MatchEvent(at: 0, .resign), MatchEvent(at: 0, .gone),
    ]
    for event in wrong {
      var state = played
      #expect(throws: ProtocolError.self, "\(event)") { try state.append(event, body: event.body) }
      #expect(state == played)
    }
  }

  @Test func `every event is read back from its bytes`() throws {
    let ann = PlayerInfo(name: "Ann", rating: 1500, guest: true)
    let kinds: [MatchEvent.Kind] = [
      .open(by: "Ann", MatchTerms(clock: nil)),
      .start(Sides(x: ann, o: ann), MatchTerms(rated: true), confirm: true, previous: someMatch, keys: ["a", "b"]),
      .start(
        Sides(x: ann, o: ann), MatchTerms(), confirm: false, previous: someMatch, station: 5_039, keys: []),
      .confirm, .move(ply: 8, cell: CellName(Cell(8), in: .classic), spent: 12), .flag, .draw(.offer, offer: nil),
      .draw(.accept, offer: 3),
      .draw(.decline, offer: 3), .resign, .abort, .claim, .gone, .back, .recovered, .end(nil, .aborted, ratings: nil),
      .end(.draw, .agreement, ratings: nil), .rematch(next: nil), .rematch(next: someMatch), .aside(why: "so"),
      .end(.win(.o), .time, ratings: Sides(x: .init(before: 1500, after: 1490), o: .init(before: 1500, after: 1511))),
    ]
    for kind in kinds {
      for clocks in [nil, Sides(x: 1, o: -2)] {
        let event = MatchEvent(at: 1_700_000_000_000, side: .o, mid: "m-1", clocks: clocks, kind)
        #expect(try MatchEvent(body: event.body) == event)
      }
    }
  }

  @Test func `the state folded from a whole game's events has its end and its rematch`() throws {
    let ann = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    var state = MatchState(id: someMatch)
    func add(_ event: MatchEvent) throws { try state.append(event, body: event.body) }
    try add(MatchEvent(at: 0, .open(by: "Ann", MatchTerms(clock: nil))))
    #expect(state.phase == .open)
    try add(
      MatchEvent(at: 0, .start(Sides(x: ann, o: ann), MatchTerms(clock: nil), confirm: false, previous: nil, keys: [])))
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7, 8].enumerated() {
      try add(
        MatchEvent(
          at: 0, side: ply % 2 == 0 ? .x : .o, .move(ply: ply, cell: CellName(Cell(cell), in: .classic), spent: 0)))
    }
    #expect(state.position.outcome == .draw)
    try add(MatchEvent(at: 0, .end(.draw, .normal, ratings: nil)))
    #expect(state.phase == .over)
    try add(MatchEvent(at: 0, side: .x, .rematch(next: nil)))
    try add(MatchEvent(at: 0, side: .o, .rematch(next: someMatch)))
    #expect(state.next == someMatch)
  }

  @Test func `a rematch's tonic is the next of the cycle, also for late spectators`() throws {
    let ann = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    func match(_ station: Int?) throws -> MatchState {
      var state = MatchState(id: someMatch)
      let start = MatchEvent.Kind.start(
        Sides(x: ann, o: ann), MatchTerms(), confirm: false, previous: nil, station: station, keys: [])
      let event = MatchEvent(at: 0, start)
      try state.append(event, body: event.body)
      let line = try parseServer(ServerMessage.state(state, left: nil, you: nil).bytes())
      guard case .state(let told, _, _) = line.message else { throw ProtocolError.inconsistent("no state") }
      #expect(told.station == state.station && told.nextStation == state.nextStation)
      return state
    }
    let first = try match(nil)
    #expect(try match(first.nextStation).station == (first.station + 1) % MatchState.stations)
    #expect(try match(5_039).nextStation == 0)
    #expect(throws: ProtocolError.self) { _ = try match(5_040) }
  }
}
