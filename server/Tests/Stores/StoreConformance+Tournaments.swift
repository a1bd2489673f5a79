import MatchProtocol
import ServerTestSupport
import Testing
import TicTacToe

@testable import MatchStore

extension Bench {
  static func tournament(_ code: String, secret: String? = nil) -> TournamentRecord {
    var record = TournamentRecord()
    (record.code, record.terms, record.secret) = (code, TournamentTerms(name: "Class 4"), digest(secret ?? code))
    return record
  }

  func result(_ question: StoreQuestion) throws -> TournamentResult {
    guard case .tournament(let result) = try store.answer(question) else { throw Unanswered() }
    return result
  }

  func change(_ code: String, _ change: TournamentChange) throws -> TournamentResult {
    try result(.changeTournament(code, change))
  }

  func found(_ code: String = "K3X9QF") throws -> Tournament {
    guard case .found(let found) = try result(.tournament(code)) else { throw Unanswered() }
    return found
  }

  func running(_ players: [AccountRecord], _ code: String = "K3X9QF") throws {
    _ = try result(.host(Bench.tournament(code), most: 9))
    for player in players { _ = try change(code, .enter(account: player.id)) }
    _ = try change(code, .begin(delay: 0))
  }

  func play(_ n: UInt64, _ x: Int64, _ o: Int64, _ outcome: Outcome?, pauses: Player? = nil) throws {
    let (m, seats) = (someID(n), Sides(x: x, o: o))
    var unit = beginning(m, x, o)
    unit.games = [TournamentGame("K3X9QF", m, seats, .begins)]
    #expect(apply(unit) == .applied([:]))
    #expect(try found().entrants.filter { $0.game == m }.count == 2)
    var record = try #require(try store.match(m)).record
    record.ended = try now()
    unit = StoreUnit(logs: [.init(m, after: 1, [Bench.event(2)], record: record)])
    unit.games = [TournamentGame("K3X9QF", m, seats, .ends(outcome, pauses: pauses))]
    guard case .applied = apply(unit) else { throw Unanswered() }
  }
}

extension StoreConformance {
  @Test(arguments: StoreKind.allCases)
  func `a tournament is made once for each secret, and only if fewer than the limit are open`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let record = Bench.tournament("K3X9QF", secret: "s")
    guard case .found(let made) = try bench.result(.host(record, most: 2)) else { throw Bench.Unanswered() }
    #expect(made.record.created > 0 && made.record.terms == record.terms && made.entrants.isEmpty)
    #expect(try bench.result(.host(Bench.tournament("OTHER1", secret: "s"), most: 2)) == .found(made))
    #expect(try bench.result(.host(Bench.tournament("K3X9QF", secret: "t"), most: 2)) == .taken)
    guard case .found = try bench.result(.host(Bench.tournament("ABCDEF"), most: 2)) else { throw Bench.Unanswered() }
    #expect(try bench.result(.host(Bench.tournament("ABCDEG"), most: 2)) == .full)
    #expect(try bench.result(.tournament("ABCDEG")) == .unknown)
    _ = try bench.change("ABCDEF", .end)
    guard case .found = try bench.result(.host(Bench.tournament("ABCDEG"), most: 2)) else { throw Bench.Unanswered() }
    try bench.wait(TournamentRecord.kept + 60_000)
    try bench.clean()
    #expect(try bench.result(.tournament("ABCDEF")) == .unknown, "tournaments are kept for a week")
    #expect(try bench.found().record == made.record)
  }

  @Test(arguments: StoreKind.allCases)
  func `players enter, pause, leave and are removed; the phase follows from the times`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    _ = try bench.result(.host(Bench.tournament("K3X9QF"), most: 9))
    for player in [ann, bob, ann] { _ = try bench.change("K3X9QF", .enter(account: player.id)) }
    #expect(try bench.found().entrants.map(\.row.name) == ["Ann", "Bob"])
    #expect(try bench.found().entrants.map(\.row.number) == [1, 2])
    func status(_ change: TournamentChange) throws -> TournamentRow.Status? {
      guard case .found = try bench.change("K3X9QF", change) else { return nil }
      return try bench.found().entrants[0].row.status
    }
    #expect(try status(.status(account: ann.id, .paused)) == .paused)
    #expect(try status(.status(account: ann.id, .playing)) == .playing)
    #expect(try status(.status(account: ann.id, .left)) == .left)
    #expect(try status(.remove(name: "Ann", false)) == .left, "only a removed player is let in again")
    #expect(try status(.enter(account: ann.id)) == .playing)
    #expect(try status(.remove(name: "ANN", true)) == .removed)
    #expect(try bench.change("K3X9QF", .enter(account: ann.id)) == .removed)
    #expect(try status(.remove(name: "Ann", false)) == .playing)
    #expect(try bench.change("K3X9QF", .remove(name: "Eve", true)) == .noEntrant)
    #expect(try bench.change("K3X9QF", .status(account: 99_999, .playing)) == .noEntrant)
    #expect(try bench.change("ABCDEF", .end) == .unknown)
    _ = try bench.change("K3X9QF", .begin(delay: 5000))
    let record = try bench.found().record
    let begins = try #require(record.begins)
    #expect(record.ends == begins + 600_000)
    #expect(record.version == 11, "each change counts, and no refused one")
    #expect(record.phase(at: begins - 1, isFinal: true) == .waiting)
    #expect(record.phase(at: begins, isFinal: true) == .running)
    #expect(record.phase(at: begins + 600_000, isFinal: false) == .ending)
    #expect(record.phase(at: begins + 600_000, isFinal: true) == .over)
    try bench.wait(60_000)
    #expect(try bench.change("K3X9QF", .begin(delay: 0)) == .hasStarted)
    guard case .found = try bench.change("K3X9QF", .end) else { throw Bench.Unanswered() }
    #expect(try bench.change("K3X9QF", .end) == .isOver)
    #expect(try bench.change("K3X9QF", .enter(account: bob.id)) == .isOver)
  }

  @Test(arguments: StoreKind.allCases)
  func `the end of a tournament game changes both players' points with its match, or neither`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let players = try ["Ann", "Bob", "Eve"].map { try bench.player($0) }
    let (ann, bob, eve) = (players[0].id, players[1].id, players[2].id)
    try bench.running(players)
    for n in 1...3 as ClosedRange<UInt64> { try bench.play(n, ann, bob, .win(.x)) }
    try bench.play(4, bob, ann, .draw)
    try bench.play(5, ann, eve, .win(.o))
    try bench.play(6, eve, bob, nil, pauses: .o)
    let rows = try bench.found().entrants
    #expect(rows.map(\.row.points) == [9, 1, 2], "two, two, and four for the third win in a row, one for the draw")
    #expect(rows.map(\.row.streak) == [0, 0, 1])
    #expect(rows.map(\.row.games) == [5, 4, 1])
    #expect(rows.map(\.row.opposition) == [0, 0 + 2 + 4 + 8, 9])
    #expect(rows.map(\.row.status) == [.playing, .paused, .playing])
    #expect(rows.map(\.balance) == [3, -3, 0])
    #expect(rows.map(\.lastOpponent) == [eve, eve, bob])
    #expect(rows.map(\.won) == [someID(3), nil, someID(5)])
    #expect(rows.allSatisfy { $0.game == nil })
    #expect(try bench.found().ranked.map(\.account) == [ann, eve, bob])
    var stale = StoreUnit(logs: [.init(someID(5), after: 1, [Bench.event(2)])])
    stale.games = [TournamentGame("K3X9QF", someID(5), Sides(x: ann, o: eve), .ends(.win(.x), pauses: nil))]
    #expect(bench.apply(stale) == .conflict(.log(someID(5))))
    #expect(try bench.found().entrants == rows)
  }

  @Test(arguments: StoreKind.allCases)
  func `a game begins only while its tournament runs, and a table read after the end has all games`(
    kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    let players = try ["Ann", "Bob"].map { try bench.player($0) }
    let seats = Sides(x: players[0].id, o: players[1].id)
    func begin(_ n: UInt64) -> Verdict {
      var unit = bench.beginning(someID(n), seats.x, seats.o)
      unit.games = [TournamentGame("K3X9QF", someID(n), seats, .begins)]
      return bench.apply(unit)
    }
    let refused = Verdict.conflict(.tournament("K3X9QF"))
    #expect(begin(1) == refused, "there is no such tournament")
    _ = try bench.result(.host(Bench.tournament("K3X9QF"), most: 9))
    for player in players { _ = try bench.change("K3X9QF", .enter(account: player.id)) }
    #expect(begin(2) == refused, "it has not begun")
    _ = try bench.change("K3X9QF", .begin(delay: 60_000))
    #expect(begin(3) == refused, "it begins in a minute")
    try bench.wait(61_000)
    #expect(begin(4) == .applied([:]))
    #expect(try !bench.found().isClosed)
    guard case .found(let ended) = try bench.change("K3X9QF", .end) else { throw Bench.Unanswered() }
    #expect(ended.isClosed && ended.games == [someID(4)])
    #expect(ended.phase(at: try bench.now()) == .ending, "a game goes on")
    #expect(begin(5) == refused, "it has ended")
    #expect(try bench.store.match(someID(5)) == nil)
    try bench.wait(TournamentRecord.settles + 1000)
    #expect(try bench.found().isClosed)
  }

  @Test(arguments: StoreKind.allCases)
  func `of a batch in which several games of a player end, all games count`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let players = try ["Ann", "Bob", "Eve"].map { try bench.player($0) }
    try bench.running(players)
    let seats = [(0, 1), (0, 2), (1, 2)].map { Sides(x: players[$0].id, o: players[$1].id) }
    let units = zip(1..., seats).map { n, seats in
      var unit = bench.beginning(someID(UInt64(n)), seats.x, seats.o)
      unit.games = [
        .init("K3X9QF", someID(UInt64(n)), seats, .begins),
        .init("K3X9QF", someID(UInt64(n)), seats, .ends(.win(.x), pauses: nil)),
      ]
      return unit
    }
    #expect(bench.store.apply(units) == units.map { _ in .applied([:]) })
    #expect(try bench.found().entrants.map(\.row.points) == [4, 2, 0])
    #expect(try bench.found().entrants.map(\.row.games) == [2, 2, 2])
  }
}
