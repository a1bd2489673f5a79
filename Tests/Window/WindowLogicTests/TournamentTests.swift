import Interface
import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

@Suite struct TournamentTests {
  static let code = "ABC234"

  /// Vera, this player, has row 1.
  static func view(
    _ phase: TournamentNotice.Phase, you: Int? = 1, status: TournamentRow.Status = .playing, isOrganiser: Bool = false,
    top: MatchID? = nil
  ) -> TournamentView {
    var notice = TournamentNotice()
    (notice.code, notice.terms.name, notice.phase, notice.you) = (code, "Class", phase, you)
    (notice.isOrganiser, notice.remaining, notice.top) = (isOrganiser, phase == .running ? 60_000 : nil, top)
    var (vera, ida) = (TournamentRow(), TournamentRow())
    (vera.number, vera.name, vera.points, vera.status, vera.streak) = (1, "Vera", 4, status, 2)
    (ida.number, ida.name, ida.points) = (2, "Ida", 6)
    var view = TournamentView(code: code)
    view.take(notice, 0)
    view.take([vera, ida], isWhole: true)
    return view
  }

  /// X has won the game.
  private static func game(_ id: String, at time: Int64 = 1_000) throws -> MatchView {
    let m = try #require(MatchID(rawValue: id))
    var state = MatchState(id: m)
    var terms = MatchTerms(clock: TimeControl("20+1"))
    terms.tournament = code
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: false), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    var kinds: [(MatchEvent.Kind, Player?)] = [(.start(players, terms, confirm: false, previous: nil, keys: []), nil)]
    for (ply, cell) in [0, 3, 1, 4, 2].enumerated() {
      let name = CellName(Cell(cell), in: .classic)
      kinds.append((.move(ply: ply, cell: name, spent: 500), ply % 2 == 0 ? .x : .o))
    }
    kinds.append((.end(.win(.x), .normal, ratings: nil), nil))
    for (kind, side) in kinds {
      let event = MatchEvent(at: time, side: side, mid: nil, kind)
      try state.append(event, body: event.body)
    }
    return MatchView(state: state, you: nil)
  }

  static func order(_ operation: TournamentOrder.Operation, name: String? = nil) -> Effect {
    .command(.tournament(TournamentOrder(operation, code, name: name)))
  }

  /// The last game is over and still on the board, and the player waits for the next one.
  static func waitingAfterGame() -> TestWindow {
    var window = running()
    window.log(start)
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    window.now += 2
    window.step(.tick)
    window.step(.network(.queued(waited: 0, bots: 0), nil))
    return window
  }

  /// The player has no game at the moment.
  static func running() -> TestWindow {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.step(.network(.tournament(view(.running)), nil))
    return window
  }

  static func count(_ effects: [Effect]) -> Int { effects.count { $0 == .command(.nextGame) } }

  @Test func `a tournament is made on the server used last, or on this machine, and its maker starts it`() {
    let terms = TournamentTerms(name: "Class", clock: TimeControl("60+1"), minutes: 15)
    let make = Intent.tournament(.make(name: "Class", clock: "60+1", minutes: 15))
    var window = TestWindow()
    #expect(window.want(make) == [.host(.request(.host(terms)))])
    window.state.preferences.server = "127.0.0.1:4664"
    #expect(window.want(make).contains { if case .connect = $0 { true } else { false } })
    window.turn(to: .tournament)
    window.online()
    #expect(window.effects.filter { $0 == .command(.host(terms)) }.count == 1)
    #expect(!window.effects.contains(.show(.network)))
    window.step(.network(.tournament(Self.view(.waiting, you: nil, isOrganiser: true)), nil))
    #expect(window.state.tournament(client: 0)?.isOrganiser == true && window.state.standing == nil)
    #expect(window.want(.tournament(.start)) == [Self.order(.start)])
    #expect(window.want(.tournament(.remove(name: "Ida"))) == [Self.order(.remove, name: "Ida")])
    // Only a second press ends the tournament.
    #expect(!window.want(.tournament(.end)).contains(Self.order(.end)))
    #expect(window.want(.tournament(.end)).contains(Self.order(.end)))
  }

  @Test func `a tournament's link opens its page, which connects at once for a named player, else on joining`() {
    let connects = { (effects: [Effect]) in effects.contains { if case .connect = $0 { true } else { false } } }
    var window = TestWindow()
    window.state.preferences.server = "127.0.0.1:4664"
    var named = window
    let opened = window.want(.tournament(.open(path: "abc234")))
    #expect(
      opened == [.show(.tournament)] && window.state.linkedTournament == Self.code && window.state.place == "t/ABC234")
    #expect(connects(window.want(.tournament(.enter(code: "")))))
    window.online()
    #expect(window.effects.contains(Self.order(.enter)))
    named.state.preferences.name = "Vera"
    #expect(connects(named.want(.tournament(.open(path: "abc234")))))
    named.online()
    #expect(named.effects.contains(Self.order(.follow)) && !named.effects.contains(Self.order(.enter)))
    // The organiser's link also has the tournament's secret.
    var organiser = TestWindow()
    organiser.state.preferences.server = "127.0.0.1:4664"
    organiser.want(.tournament(.open(path: "abc234/secret")))
    organiser.online()
    let follow = TournamentOrder(.follow, Self.code, secret: "secret")
    #expect(organiser.effects.contains(.command(.tournament(follow))))
    #expect(TestWindow.words(organiser.want(.tournament(.open(path: "?")))) == ["\(.errCode)"])
  }

  @Test func `the next game is requested once: at once after entering, and two seconds after each game`() {
    var window = Self.running()
    window.effects = []
    for _ in 0..<3 { window.step(.tick) }
    #expect(Self.count(window.effects) == 1)
    window.start()
    window.move(4)
    window.step(.tick)
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    let ended = window.now
    window.effects = []
    window.now = ended + 1.9
    window.step(.tick)
    #expect(Self.count(window.effects) == 0 && window.state.standing?.isWaiting == true)
    window.now = ended + 2
    for _ in 0..<3 { window.step(.tick) }
    #expect(Self.count(window.effects) == 1)
    // A request for the next game opens no page.
    #expect(!window.effects.contains { if case .show = $0 { true } else { false } })
  }

  @Test func `a refused request for the next game is repeated after two seconds`() {
    var window = Self.running()
    window.step(.tick)
    var terms = MatchTerms(clock: TimeControl("20+1"))
    terms.tournament = Self.code
    window.effects = []
    window.step(.network(.refused(.busy, "busy", .seek(.init(terms, key: nil))), nil))
    #expect(window.effects.isEmpty)
    window.now += 1.9
    window.step(.tick)
    #expect(Self.count(window.effects) == 0)
    window.now += 0.2
    window.step(.tick)
    #expect(Self.count(window.effects) == 1)
    // The tournament's time is over, so the refused request is not repeated.
    let late = window.step(.network(.refused(.over, "over", .seek(.init(terms, key: nil))), nil))
    window.now += 3
    window.step(.tick)
    #expect(TestWindow.words(late) == ["\(.tournamentOver)"] && Self.count(window.effects) == 1)
  }

  @Test func `a player who stops waiting for the next game is paused in the tournament, and plays on from there`() {
    var window = Self.running()
    window.step(.tick)
    window.step(.network(.queued(waited: 0, bots: 0), nil))
    window.turn(to: .network)
    let effects = window.want(.leave)
    #expect(effects.contains(.command(.unseek)) && effects.contains(Self.order(.pause)))
    #expect(window.state.network.phase == .lobby)
    window.effects = []
    window.step(.tick)
    window.step(.network(.tournament(Self.view(.running, status: .paused)), nil))
    window.now += 3
    window.step(.tick)
    #expect(Self.count(window.effects) == 0 && TestWindow.words(window.effects) == ["\(.tournamentPaused)"])
    window.step(.network(.tournament(Self.view(.running)), nil))
    window.step(.tick)
    #expect(Self.count(window.effects) == 1)

    // The last game is still on the board: the board offers to leave it, the network page to stop waiting.
    var played = Self.waitingAfterGame()
    var left = played
    #expect(!left.want(.leave).contains(Self.order(.pause)) && left.state.match == nil)
    #expect(left.state.network.phase == .queued(bots: 0))
    played.turn(to: .network)
    #expect(played.want(.leave).contains(Self.order(.pause)) && played.state.match == TestWindow.m)
  }

  @Test func `while the player seeks a quick match no game of the tournament is requested, and then at once`() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.want(.quickMatch)
    window.step(.network(.tournament(Self.view(.running)), nil))
    window.want(.watch(id: TestWindow.m.rawValue))
    window.start(you: nil)
    window.step(.tick)
    #expect(Self.count(window.effects) == 0)
    window.want(.leave)
    #expect(window.state.match == nil && window.state.network.phase == .queued(bots: 0))
    window.want(.leave)
    window.step(.tick)
    #expect(Self.count(window.effects) == 1 && !window.effects.contains(Self.order(.pause)))
  }

  @Test func `a player who is in another match is told so once, and the next game is requested until there is one`() {
    var window = Self.running()
    var terms = MatchTerms(clock: TimeControl("20+1"))
    terms.tournament = Self.code
    for round in 0..<3 {
      window.now += 2.1
      window.effects = []
      window.step(.tick)
      #expect(Self.count(window.effects) == 1)
      window.step(.network(.refused(.occupied, "you are in a match", .seek(.init(terms, key: nil))), nil))
      #expect(TestWindow.words(window.effects).count == (round == 0 ? 1 : 0))
    }
  }

  @Test func `a paused player is told so in one line and gets no game until the player asks to play`() {
    var window = Self.running()
    window.step(.tick)
    let effects = window.step(.network(.tournament(Self.view(.running, status: .paused)), nil))
    #expect(TestWindow.words(effects) == ["\(.tournamentPaused)"])
    window.effects = []
    window.step(.tick)
    #expect(Self.count(window.effects) == 0 && window.state.standing?.isWaiting == false)
    #expect(window.want(.tournament(.play)) == [Self.order(.play)])
    window.step(.network(.tournament(Self.view(.running)), nil))
    window.step(.tick)
    #expect(Self.count(window.effects) == 1)
    #expect(window.want(.tournament(.pause)) == [Self.order(.pause)])
  }

  @Test func `a lost connection keeps the table, and the request for the next game is not repeated`() {
    var window = Self.running()
    window.step(.tick)
    window.step(.network(.status(.waiting(milliseconds: 900, reason: .lost)), nil))
    window.effects = []
    window.step(.tick)
    #expect(window.state.tournament(client: 0)?.rows.count == 2)
    window.online()
    window.step(.network(.tournament(Self.view(.running)), nil))
    window.step(.tick)
    #expect(Self.count(window.effects) == 0)
    // A connection that has failed for good removes the tournament's table.
    window.step(.network(.status(.failed(.banned)), nil))
    #expect(window.state.tournament(client: 0) == nil && window.state.standing == nil)
  }

  @Test func `the table is ranked, and shows the player's row and the remaining time`() throws {
    let window = Self.running()
    let model = try #require(window.state.tournament(client: 10_001))
    #expect(model.rows.map(\.name) == ["Ida", "Vera"] && model.remaining == 50)
    #expect(model.mine?.place == 2 && model.mine?.isOnFire == true && model.rows[0].isOnFire == false)
    #expect(model.csv == "place,name,points,games\n1,Ida,6,0\n2,Vera,4,0\n")
    #expect(window.state.standing?.row == model.mine)
  }

  @Test
  func
    `after the end the page asks for the last wins of the first three once, and plays their mottos, the first place last`()
    throws
  {
    var window = Self.running()
    let games = try ["0000000000aa", "0000000000bb", "0000000000cc"].map { try Self.game($0) }
    var view = Self.view(.over)
    var notice = view.notice
    notice.winners = games.enumerated().map { index, game in
      var winner = TournamentNotice.Winner()
      (winner.number, winner.name, winner.won) = (index + 1, "Player-\(index)", game.state.id)
      return winner
    }
    view.take(notice, 0)
    window.step(.network(.tournament(view), nil))
    window.effects = []
    for _ in 0..<2 { window.step(.tick) }
    #expect(window.effects.isEmpty, "the board is not interrupted")
    window.turn(to: .tournament)
    for _ in 0..<3 { window.step(.tick) }
    #expect(window.effects.count == 3)
    #expect(window.effects.allSatisfy { if case .command(.watch) = $0 { true } else { false } })
    window.effects = []
    // The mottos are the first notes of the games' winners. A game that the server no longer has gives none.
    window.step(.network(.refused(.notFound, "gone", .watch(games[1].state.id, code: nil)), nil))
    for game in [games[0], games[2]] { window.step(.network(.state(game.state.id), game)) }
    let played = window.effects.compactMap { if case .mottos(let mottos) = $0 { mottos } else { nil } }
    #expect(played == [[Motto(place: 3, state: games[2].state), Motto(place: 1, state: games[0].state)]])
    #expect(window.effects.contains(.command(.forget(games[0].state.id))) && TestWindow.words(window.effects).isEmpty)
  }

  @Test func `all games are requested by player, a refused request is repeated, and the games are saved in order`()
    throws
  {
    var window = Self.running()
    var view = Self.view(.over, isOrganiser: true)
    var (vera, ida) = (TournamentRow(), TournamentRow())
    (vera.number, vera.games, ida.number, ida.games) = (1, 2, 2, 2)
    view.take([vera, ida], isWhole: false)
    window.step(.network(.tournament(view), nil))
    #expect(TestWindow.words(window.want(.tournament(.saveGames))).count == 1)
    window.effects = []
    window.step(.tick)
    func asks(_ number: Int, before: Int64? = nil) -> Effect {
      .command(.tournament(TournamentOrder(.games, Self.code, number: number, before: before)))
    }
    #expect(Set(window.effects) == [asks(1), asks(2)])
    let (late, early) = (try Self.game("0000000000aa", at: 9_000), try Self.game("0000000000bb", at: 5_000))
    window.effects = []
    window.step(.network(.state(late.state.id), late))
    window.step(.network(.page("games", rows: [["n": .int(1)]], more: 7_000), nil))
    window.step(.network(.refused(.busy, "busy", .tournament(.init(.games, Self.code, number: 2))), nil))
    window.now += 2
    for _ in 0..<2 { window.step(.tick) }
    #expect(window.effects.filter { $0 == asks(1, before: 7_000) || $0 == asks(2) }.count == 2)
    window.step(.network(.state(early.state.id), early))
    window.step(.network(.page("games", rows: [["n": .int(1)]], more: nil), nil))
    window.effects = []
    window.step(.network(.page("games", rows: [["n": .int(2)]], more: nil), nil))
    for _ in 0..<2 { window.step(.tick) }
    #expect(window.effects == [.saveGames([early.state, late.state], code: Self.code, name: "Class")])
    // A final refusal of the request for all games is shown and ends the request.
    window.want(.tournament(.saveGames))
    window.now += 1
    window.step(.tick)
    let refused = window.step(
      .network(.refused(.forbidden, "no", .tournament(.init(.games, Self.code, number: 1))), nil))
    #expect(TestWindow.words(refused).count == 1)
    // The player asks again before the refused collection's other answer has come: the new collection waits for both of its own.
    window.want(.tournament(.saveGames))
    window.effects = []
    window.step(.network(.page("games", rows: [["n": .int(2)]], more: nil), nil))
    window.now += 1
    window.step(.tick)
    #expect(Set(window.effects) == [asks(1), asks(2)])
    window.step(.network(.state(late.state.id), late))
    window.step(.network(.page("games", rows: [["n": .int(1)]], more: nil), nil))
    window.effects = []
    window.step(.tick)
    #expect(window.effects == [])
    window.step(.network(.page("games", rows: [["n": .int(2)]], more: nil), nil))
    window.step(.tick)
    #expect(window.effects == [.saveGames([late.state], code: Self.code, name: "Class")])
  }

  @Test func `a tournament with a set start is started once, and only by its maker's window`() {
    var window = TestWindow()
    window.state.preferences.server = "127.0.0.1:4664"
    window.want(.tournament(.make(name: "Class", startsIn: 15)))
    window.online()
    let starts = Effect.command(.tournament(TournamentOrder(.start, Self.code, delay: 900_000)))
    window.effects = []
    for _ in 0..<2 { window.step(.network(.tournament(Self.view(.waiting, you: nil, isOrganiser: true)), nil)) }
    #expect(window.effects.filter { $0 == starts }.count == 1)
    // After a refused tournament the window does not start another waiting tournament by itself.
    var other = TestWindow()
    other.state.preferences.server = "127.0.0.1:4664"
    other.want(.tournament(.make(name: "Class", startsIn: 15)))
    other.online()
    other.step(.network(.refused(.occupied, "no", .host(TournamentTerms(), secret: nil)), nil))
    other.effects = []
    other.step(.network(.tournament(Self.view(.waiting, you: nil, isOrganiser: true)), nil))
    #expect(!other.effects.contains(starts))
  }

  @Test func `the organiser sees who was taken out, and lets them in again`() {
    var window = Self.running()
    var view = Self.view(.running, isOrganiser: true)
    var ida = TournamentRow()
    (ida.number, ida.name, ida.status) = (2, "Ida", .removed)
    view.take([ida], isWhole: false)
    window.step(.network(.tournament(view), nil))
    let model = window.state.tournament(client: 0)
    #expect(model?.rows.map(\.name) == ["Vera"] && model?.removed.map(\.name) == ["Ida"])
    #expect(window.want(.tournament(.admit(name: "Ida"))) == [Self.order(.admit, name: "Ida")])
  }

  @Test func `the end of a tournament is reported once, and leaving its page makes room for another`() {
    var window = Self.running()
    let over = ClientEvent.tournament(Self.view(.over))
    #expect(window.step(.network(over, nil)) == [.say("\(.tournamentOver)")])
    #expect(window.step(.network(over, nil)) == [])
    #expect(window.state.place == "t/ABC234")
    #expect(window.want(.tournament(.leave)) == [Self.order(.unfollow)])
    #expect(window.state.tournament(client: 0) == nil && window.state.place == "")
    var left = Self.running()
    #expect(left.want(.tournament(.leave)) == [Self.order(.leave)])
  }

  @Test(arguments: ErrorCode.allCases)
  func `a refusal is reported in one line and opens no other page`(code: ErrorCode) {
    var window = Self.running()
    window.turn(to: .tournament)
    for asked in [ClientMessage.tournament(TournamentOrder(.enter, Self.code)), .host(TournamentTerms(), secret: nil)] {
      let effects = window.step(.network(.refused(code, "no", asked), nil))
      #expect(effects.count == 2 && effects[0] == .refuse && TestWindow.words(effects).count == 1)
      for language in Language.allCases {
        #expect(TestWindow.words(effects).first?.text(in: language).contains("\n") == false)
      }
    }
  }

  @Test func `entering a tournament that is over, full or unknown, by code or link, shows one line and no tournament`()
  {
    let refusals: [(ErrorCode, String, String)] = [
      (.over, "the tournament is over", "Das Turnier ist vorbei."),
      (.occupied, "at most 512 players in a tournament", "Der Server lässt nicht mehr Teilnehmer oder Turniere zu."),
      (.code, "no tournament has this code", Phrase.errCode.text(in: .german)),
    ]
    for intent in [TournamentIntent.enter(code: Self.code), .open(path: Self.code)] {
      for (code, said, german) in refusals {
        var window = TestWindow()
        window.state.preferences.server = "127.0.0.1:4664"
        window.state.preferences.name = "Vera"
        window.want(.tournament(intent))
        window.online()
        let operation: TournamentOrder.Operation = intent == .enter(code: Self.code) ? .enter : .follow
        #expect(window.effects.contains(Self.order(operation)))
        let words = TestWindow.words(
          window.step(.network(.refused(code, said, .tournament(TournamentOrder(operation, Self.code))), nil)))
        #expect(words.map { $0.text(in: .english) } == [said] && words.map { $0.text(in: .german) } == [german])
        #expect(window.state.tournament(client: 0) == nil)
      }
    }
  }

  static var start: MatchEvent.Kind {
    var terms = MatchTerms(clock: TimeControl("20+1"))
    terms.tournament = code
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: false), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    return .start(players, terms, confirm: false, previous: nil, keys: [])
  }

  @Test func `two seconds after a watched game of the tournament has ended, the next top game is watched`() throws {
    let next = try #require(MatchID(rawValue: "0123456789ac"))
    var window = Self.running()
    window.step(.network(.tournament(Self.view(.running, you: nil, top: next)), nil))
    window.want(.watch(id: TestWindow.m.rawValue))
    window.log(Self.start, you: nil)
    #expect(window.state.mode == .watching(TestWindow.m))
    /// Opens a page. Returns those of the seconds 1…4 in which the window requested to watch the next game.
    func requests(on page: SceneName) -> [Int] {
      window.board.page = page
      return (1...4).filter { _ in
        window.now += 1
        return window.step(.tick).contains(.command(.watch(next, code: nil)))
      }
    }
    #expect(requests(on: .board) == [])
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    #expect(requests(on: .tournament) == [])
    #expect(requests(on: .board) == [1, 3])
  }

  @Test func `one press of Resign before the next game begins does not count in that game`() throws {
    var window = Self.running()
    window.log(Self.start)
    window.want(.resign)
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    window.now += 3
    let next = try #require(MatchID(rawValue: "0123456789ac"))
    var view = MatchView(state: MatchState(id: next), you: .x)
    let event = MatchEvent(at: 0, side: nil, mid: nil, Self.start)
    try view.state.append(event, body: event.body)
    window.step(.network(.paired(next, .x), view))
    #expect(window.state.mode == .online(next))
    #expect(TestWindow.words(window.want(.resign)) == ["\(.reallyResign)"])
    #expect(window.want(.resign) == [.say(nil), .command(.resign(next))])
  }

  @Test func `a match of a tournament can be resigned, but not aborted, and offers no rematch`() {
    var window = Self.running()
    window.log(Self.start)
    #expect(window.state.online(at: window.now, client: 0)?.mayAbort == false)
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    #expect(window.state.online(at: window.now, client: 0)?.mayRematch == false)
    #expect(TestWindow.words(window.want(.rematch)) == ["\(.rematchTooLate)"])
  }
}
