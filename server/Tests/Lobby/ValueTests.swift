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
    var work = StoreWork()
    let unit = StoreWork.Unit(draft: Draft(StoreUnit.Log(m, after: 0, []), []), origin: .itself)
    #expect(work.capacity(configuration, 0) == 2)
    let first = work.add(unit, 0)
    let second = work.add(unit, 1500)
    #expect(work.capacity(configuration, 1500) == 0, "too many")
    work.finish(first)
    #expect(work.capacity(configuration, 3500) == 1)
    #expect(work.capacity(configuration, 3501) == 0, "the second waits for more than 2 s")
    work.finish(second)
    #expect(work.capacity(configuration, 9000) == 2 && work.isSettled && work.faults == [])
  }

  @Test func `a matched ticket can be found by its match until its connection seeks again`() throws {
    var desk = SeekDesk()
    desk[7] = OpenSeek(ticket: try ticket("t"), isStored: true)
    #expect(desk.seeker("t") == 7 && desk.stored == ["t"])
    desk.takeBack(7)
    #expect(desk.hasTakenBack(7))
    let matched = desk.markMatched(7, to: m)?.id
    #expect(matched == "t" && desk.isEmpty && desk.seeker("t") == nil)
    #expect(desk.seeker("t", ledTo: m) == 7 && desk.match(ledBy: "t", of: 7) == m && !desk.hasTakenBack(7))
    desk.forgetLast(7)
    #expect(desk.seeker("t", ledTo: m) == nil && desk.last(7, ledTo: m) == nil)
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
}
