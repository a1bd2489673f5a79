import Base
import MatchProtocol
import MatchStore
import Testing
import TicTacToe

@testable import Lobby

@Suite struct ValueTests {
  private let m = MatchID(rawValue: "valuevalueva")!

  private func ticket(_ id: String) throws -> Ticket {
    let player = AccountRecord(id: 1, name: "Ann", guest: false, token: nil, tokenExpires: 0)
    return Ticket(
      id: id, session: "s", node: "n", player: player, seek: .init(MatchTerms(), bots: false, key: nil), isBot: false,
      since: 0)
  }

  @Test func `the store takes no unit while too many wait or the oldest waits too long`() {
    var configuration = LobbyConfiguration()
    configuration.maxPending = 1
    var units = UnitPipeline()
    let draft = Draft(StoreUnit.Log(m, after: 0, []), [])
    #expect(units.capacity(configuration, 0) == 2)
    let first = units.add(draft, .itself, 0)
    let second = units.add(draft, .itself, 1500)
    #expect(units.capacity(configuration, 1500) == 0, "too many")
    _ = units.judge(first, .applied([:]))
    #expect(units.capacity(configuration, 3500) == 1)
    #expect(units.capacity(configuration, 3501) == 0, "the second waits for more than 2 s")
    _ = units.judge(second, .failed("full"))
    #expect(units.capacity(configuration, 9000) == 2 && units.isSettled && units.faults == [])
  }

  @Test func `after a lost answer the log says whether a unit was stored; after a changed rating it is decided again`()
    throws
  {
    var (units, record) = (UnitPipeline(), MatchRecord(id: m, x: 1, o: 2, created: 0))
    let resigned = MatchEvent(at: 1, side: .x, .resign)
    let draft = Draft(StoreUnit.Log(m, after: 1, [resigned.body]), [[resigned]].flatMap(\.self))
    func found(_ bodies: [[UInt8]]) -> FollowedMatch {
      FollowedMatch(
        match: StoredMatch(record: record, bodies: bodies), accounts: [], nodes: ["b"], here: [:], now: 0)
    }
    func judge(_ verdict: Verdict, _ found: FollowedMatch?) -> UnitPipeline.Output? {
      let number = units.add(draft, .ordered(7), 0)
      guard case .readLog(m) = units.judge(number, verdict) else {
        Issue.record("the log is not read")
        return nil
      }
      return units.resolve(number, found)
    }
    let lost = Verdict.unknown("the answer was lost")
    guard case .ended(_, .stored(let nodes)) = judge(lost, found([[], resigned.body])) else {
      Issue.record("the unit was stored")
      return
    }
    #expect(nodes == [m: ["b"]])
    for other in [found([[]]), nil] {
      guard case .ended(_, .decideAgain) = judge(.conflict(.log(m)), other) else {
        Issue.record("the unit was not stored")
        return
      }
    }
    record.ended = 5
    let number = units.add(draft, .ordered(7), 0)
    guard case .readAccount(1) = units.judge(number, .conflict(.rating(1))),
      case .ordered(7)? = units.detachOrigin(number)?.origin, case .itself? = units[number]?.origin,
      case .ended(_, .decideAgain) = units.decideAgain(number)
    else {
      Issue.record("the unit is not decided again")
      return
    }
    #expect(units.isSettled && units.decideAgain(number) == nil)
  }

  @Test func `a matched ticket can be found by its match until its connection seeks again`() throws {
    var desk = SeekDesk()
    _ = desk.seek(try ticket("t"), 7, re: nil)
    #expect(desk.seeker("t") == 7 && desk.stored == [])
    let outputs = desk.queued(try ticket("t"), 7, re: "r", .queued(.waits(since: 5)), at: 10, ahead: 0, others: [7])
    guard case .send(_, 7, "r") = outputs.first, case .waits(let waiting) = outputs.last else {
      Issue.record("the ticket does not wait")
      return
    }
    #expect(desk.stored == ["t"] && waiting.since == 5)
    _ = desk.match(7, to: m)
    #expect(desk.isEmpty && desk.seeker("t") == nil && desk.seeker("t", ledTo: m) == 7)
    var random = Entropy(seed: 1)
    let again = desk.seekAgain(after: m, 7, re: nil, &random)
    guard case .queue(let fresh, 7, nil, hasLostPlace: false) = again.first else {
      Issue.record("the ticket is not queued again")
      return
    }
    #expect(fresh.id != "t" && desk.seeker("t", ledTo: m) == nil && desk.seeker(fresh.id) == 7)
  }

  @Test func `a seek that was withdrawn before the store's answer is deleted there, unless it led to a match`() throws {
    var desk = SeekDesk()
    let seeking = try ticket("t")
    _ = desk.seek(seeking, 7, re: "r")
    _ = desk.withdraw(7)
    #expect(desk.hasTakenBack(7))
    let late = desk.queued(seeking, 7, re: "r", .queued(.waits(since: 0)), at: 0, ahead: 0, others: [])
    guard late.count == 2, case .unqueue("t", later: false) = late[0], case .send(.ok, 7, "r") = late[1] else {
      Issue.record("the ticket stays in the store, or the client waits for ever")
      return
    }
    // The ticket was matched, and the match has ended, before the store's answer.
    _ = desk.seek(seeking, 7, re: "s")
    _ = desk.match(7, to: m)
    desk.forget(m, [7])
    let over = desk.queued(seeking, 7, re: "s", .queued(.waits(since: 0)), at: 0, ahead: 0, others: [])
    guard case .send(.ok, 7, "s") = over.last else {
      Issue.record("the client waits for ever")
      return
    }
    _ = desk.seek(seeking, 7, re: "r")
    _ = desk.match(7, to: m)
    let led = desk.queued(seeking, 7, re: "r", nil, at: 0, ahead: 0, others: [])
    guard case .unqueue("t", later: true) = led.first, case .follow(m, 7, "r") = led.last else {
      Issue.record("the player does not get the match")
      return
    }
    #expect(desk.leave(7).isEmpty && desk.seeker("t", ledTo: m) == nil)
  }

  @Test func `a page of results is read from the store once for all clients that wait, and again after a second`() {
    var pages = SharedPages()
    let page = StoreQuestion.top(.classic, limit: 10)
    let asks = [1, 2].map { pages.awaitRead(of: page, $0, "r\($0)") }
    #expect(asks == [true, false])
    #expect(pages.line(page, of: [.classic], nil) == nil)
    let readers = pages.read(page, .accounts([]), 1000).map(\.id)
    #expect(readers == [1, 2] && pages.isFresh(page, 1999) && !pages.isFresh(page, 2000))
    let line = pages.line(page, of: [.classic], nil).map { String(decoding: $0, as: UTF8.self) }
    #expect(line?.contains(#""of":"top""#) == true)
    let failed = pages.read(page, nil, 3000)
    #expect(failed.isEmpty && pages.line(page, of: [.classic], nil) == nil)
  }

  @Test func `a result is scored for both players, and ratings change only in a rated match`() throws {
    let players = [1, 2].map { AccountRecord(id: $0, name: "p\($0)", guest: false, token: nil, tokenExpires: 0) }
    var accounts = Accounts()
    for player in players { accounts.cache(player) }
    for isRated in [false, true] {
      var match = LiveMatch(MatchRecord(id: m, x: 2, o: 1, created: 0))
      let info = PlayerInfo(name: "p", rating: 1500, guest: false)
      let start = MatchEvent(
        at: 0,
        .start(
          Sides(x: info, o: info), MatchTerms(clock: .standard, rated: isRated), confirm: false, previous: nil, keys: []
        ))
      try match.add(start, body: start.body, at: 0, .init())
      let result = MatchResult(of: match, .win(.x), accounts, at: 5)
      #expect(result.scores.map(\.account) == [1, 2], "sorted, as the store locks accounts in this order")
      #expect(result.scores.map(\.won) == [0, 1] && result.scores.map(\.lost) == [1, 0])
      #expect((result.changes != nil) == isRated)
      if let changes = result.changes { #expect(changes.x.after > 1500 && changes.o.after < 1500) }
      let none = MatchResult(of: match, nil, accounts, at: 5)
      #expect(none.scores.isEmpty && none.changes == nil)
    }
  }

  @Test func `the player with X less often gets X, and the pairing's unit begins the match and uses up both tickets`()
    throws
  {
    var random = Entropy(seed: 1)
    var (a, b) = (try ticket("a"), try ticket("b"))
    (a.player.xBalance, b.player.id, b.player.name, b.node, b.seek.key) = (1, 2, "Ben", "a", "key")
    let pairing = Pairing(a, b, nil, &random)
    #expect(pairing.seats.x.id == "b" && pairing.keys == ["key", ""])
    let draft = Draft(pairing, nil, at: 5)
    #expect(draft.unit.tickets == ["a", "b"] && draft.unit.keys.map(\.account) == [2])
    #expect(draft.unit.logs[0].nodes == ["a", "n"] && draft.unit.scores.map(\.xBalance) == [-1, 1])
    guard case .start(let players, _, _, _, _, _) = draft.events[0].first?.kind else {
      Issue.record("the match does not begin")
      return
    }
    #expect(players.x.name == "Ben" && players.o.name == "Ann")
  }

  @Test func `the store has a unit if its log goes on with the unit's events`() throws {
    var match = LiveMatch(MatchRecord(id: m, x: 1, o: 2, created: 0))
    let info = PlayerInfo(name: "p", rating: 1500, guest: false)
    let start = MatchEvent(
      at: 0, .start(Sides(x: info, o: info), MatchTerms(), confirm: false, previous: nil, keys: []))
    try match.add(start, body: start.body, at: 0, .init())
    let (resigned, gone) = (MatchEvent(at: 1, side: .x, .resign), MatchEvent(at: 1, side: .x, .gone))
    let draft = Draft(appending: [resigned], to: match)
    func found(_ events: [MatchEvent]) -> FollowedMatch {
      FollowedMatch(
        match: StoredMatch(record: match.record, bodies: events.map(\.body)), accounts: [], nodes: [], here: [:],
        now: 0)
    }
    #expect(draft.isStored(in: found([start, resigned, gone])))
    #expect(!draft.isStored(in: found([start, gone])) && !draft.isStored(in: found([start])))
  }

  @Test func `a change of a tournament's table is sent once, and a name only the first time`() {
    var (record, entry) = (TournamentRecord(), TournamentDesk.Entry())
    (record.code, record.begins, record.ends) = ("K3X9QF", 0, 600_000)
    var entrants = [Entrant(account: 1, number: 1), Entrant(account: 2, number: 2)]
    (entrants[0].row.name, entrants[1].row.name) = ("Ann", "Ben")
    let now = Moment(monotonic: 10, wall: 10)
    let unread = entry.takeChanges(now)
    #expect(unread == nil, "the tournament was not read yet")
    entry.take(Tournament(record, entrants), 10)
    let first = entry.takeChanges(now)
    #expect(first?.rows.map(\.name) == ["Ann", "Ben"] && first?.notice?.phase == .running)
    entrants[1].row.points = 2
    entry.take(Tournament(record, entrants), 11)
    let second = entry.takeChanges(now)
    #expect(second?.rows.map(\.name) == [""] && second?.rows.map(\.points) == [2] && second?.notice == nil)
    let third = entry.takeChanges(now)
    #expect(third?.rows.isEmpty == true && third?.notice == nil)
  }

  @Test func `a name that is reserved or malformed is refused, and a guest's wish becomes a name`() {
    #expect(throws: Never.self) { try PlayerName.check("Bea") }
    for name in ["Guest-7", "deleted-3", "ADMIN", "a b"] {
      #expect(throws: Refusal.self) { try PlayerName.check(name) }
    }
    #expect(PlayerName.guest("Ren\u{e9} du Pont!") == "Rene-du-Pont")
  }

  @Test func `a connection's requests wait for the present one, at most 64, and a login's own come first`() {
    var table = ConnectionTable()
    #expect(table.enqueue(.room(m, re: "0"), for: 7) == nil, "there is no connection")
    table.open(7, from: nil)
    #expect(table.enqueue(.room(m, re: "0"), for: 7) == .now)
    table.beginWait(7)
    let turns = (1...65).map { table.enqueue(.room(m, re: "\($0)"), for: 7) }
    #expect(turns.prefix(64).allSatisfy { $0 == .later } && turns.last == .refused)
    table.beginSession("s", on: 7, first: [.room(m, re: "first")])
    #expect(table.takeNext(7) == nil && !table.isSettled)
    table.endWait(7)
    let order = (0..<2).map { _ in table.takeNext(7)?.re }
    #expect(order == ["first", "1"] && table.isSettled && !table.faults.isEmpty, "63 requests are still kept")
    table.close(7)
    #expect(table.takeNext(7) == nil && table.faults.isEmpty)
  }

  @Test func `an event goes to players and spectators once; a refusal shows its match as its player sees it`() throws {
    var match = LiveMatch(MatchRecord(id: m, x: 1, o: 2, created: 0))
    let info = PlayerInfo(name: "p", rating: 1500, guest: false)
    let start = MatchEvent(
      at: 0, .start(Sides(x: info, o: info), MatchTerms(), confirm: false, previous: nil, keys: []))
    try match.add(start, body: start.body, at: 0, .init())
    let sessions = (1...3).map {
      Session(id: "s\($0)", account: Int64($0), connection: ConnectionID($0), generation: 1)
    }
    match.add(sessions[0], to: .x)
    match.add(sessions[1], to: .o)
    for session in sessions[1...] { match.addWatcher(session) }
    let told = match.lines(of: start, start.body, at: 0).compactMap { effect -> (ConnectionID, LineKind)? in
      if case .send(let id, _, let kind) = effect { (id, kind) } else { nil }
    }
    #expect(told.map(\.0) == [1, 2, 3] && told.map(\.1) == [.essential, .essential, .spectator(m)])
    let text = String(decoding: Refusal.busy.line(match, to: sessions[1], re: "r", at: 0), as: UTF8.self)
    #expect(text.contains(#""code":"busy""#) && text.contains(#""you":"o""#) && text.contains(#""re":"r""#))
  }
}
