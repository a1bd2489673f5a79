import ClientModel
import Interface
import MatchProtocol
import Oracle
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

@Suite struct ValuesTests {
  @Test func `repeating an intent within six seconds confirms it; later the question is asked again`() {
    var confirmation = Confirmation()
    func isDone(_ intent: Intent, at now: Double) -> Bool {
      confirmation.confirm(intent, .reallyDelete, at: now, [.quit]) == [.say(nil), .quit]
    }
    #expect(!isDone(.deleteGame(path: "a"), at: 0) && !isDone(.deleteGame(path: "b"), at: 1))
    #expect(!isDone(.deleteGame(path: "a"), at: 2) && isDone(.deleteGame(path: "a"), at: 8))
    #expect(!isDone(.deleteGame(path: "a"), at: 9) && !isDone(.deleteGame(path: "a"), at: 15.1))
  }

  @Test
  func `a win counts once, is taken back with the winning move, and stays with the player when sides are swapped`()
    throws
  {
    var series = SeriesScore()
    var game = Game()
    for cell in [4, 1, 0, 8, 6, 2, 3] { try game.play(Cell(cell)) }
    #expect(series.count(game) && !series.count(game) && series.wins == .init(x: 1, o: 0))
    var before = game
    _ = before.undo()
    #expect(!series.count(before) && series.wins == .init() && series.count(game))
    series.nextGame(samePlayers: true, swapped: true)
    #expect(series.wins == .init(x: 0, o: 1) && series.count(game) && series.wins == .init(x: 1, o: 1))
    series.nextGame(samePlayers: false)
    #expect(series.wins == .init())
  }

  @Test func `the listening mode begins the next game twelve seconds after the last game's music has ended`() throws {
    var local = LocalGame(GameSetup(x: .human, o: .level(3)))
    _ = local.listen()
    var board = WindowState.Board(isClosing: true)
    #expect(local.isListening && local.listenOn(board, at: 0).isEmpty)
    try board.game.lose(.x, by: .resignation)
    #expect(local.listenOn(board, at: 1).isEmpty)
    board.isClosing = false
    #expect(local.listenOn(board, at: 2).isEmpty && local.listenOn(board, at: 14).isEmpty)
    #expect(local.listenOn(board, at: 14.1) == [.begin(local.setup, from: .classic(.start))])
    #expect(local.home == GameSetup(x: .human, o: .level(3)) && local.setup != local.home)
  }

  @Test func `after the daily puzzle choosing another game does not bring the puzzle back`() throws {
    let own = GameSetup(x: .human, o: .level(3))
    var local = LocalGame(own)
    let board = try #require(DailyBoard(date: "2026-11-25"))
    #expect(
      local.begin(GameSetup(for: board), from: board.state, daily: board) == .begin(local.setup, from: board.state))
    #expect(local.today == board && local.home == own && !local.isContinued(by: local.setup))
    _ = local.begin(local.home)
    #expect(local.today == nil && local.isContinued(by: own))
  }

  @Test func `a line of chat is unread until the page opens, and unsent lines are dropped when the connection fails`() {
    var talk = Talk()
    talk.begin(with: "Ida")
    #expect(talk.answer(.say("hi"), in: TestWindow.m, isOnline: true) == [.command(.say(TestWindow.m, "hi"))])
    let gg = ClientEvent.chat(TestWindow.m, from: "Ida", text: nil, emote: "gg")
    #expect(talk.hear(gg, me: "Vera", page: .board) == [.say("Ida: \(.emoteGg)")])
    #expect(talk.hear(gg, me: "Vera", page: .talk).isEmpty && talk.model.unread == 1)
    talk.pageOpened()
    talk.connectionFailed()
    #expect(talk.model.unread == 0 && talk.model.unsent.isEmpty && talk.model.lines.count == 2)
    _ = talk.hear(.blocked("Ida", true), me: "Vera", page: .board)
    #expect(talk.model.isBlocked)
    talk.begin(with: "Ann")
    #expect(!talk.model.isBlocked && talk.model.lines.isEmpty)
  }

  @Test func `only the newest room that the player opens is shown, and a search for an opponent may replace it`()
    throws
  {
    var lobby = LobbyModel()
    var preferences = WindowState.Preferences()
    preferences.clock = "none"
    let other = try #require(MatchID(rawValue: "ba9876543210"))
    _ = lobby.openRoom(preferences)
    _ = lobby.openRoom(preferences)
    #expect(lobby.roomOpened(TestWindow.m, "AAAAAA") == [.command(.abort(TestWindow.m))])
    #expect(lobby.roomOpened(other, "BBBBBB").isEmpty && lobby.network.phase == .room(code: "BBBBBB"))
    _ = lobby.reopenRoom(preferences)
    #expect(lobby.code == "BBBBBB")
    #expect(lobby.seek(preferences) == [.command(.seek(MatchTerms(clock: nil)))])
    #expect(lobby.roomOpened(other, "CCCCCC") == [.command(.abort(other))] && lobby.network.phase == .queued(bots: 0))
    lobby.countWait(at: 5)
    #expect(lobby.waited(at: 7.5) == 2)
  }

  @Test func `a match follows its log, keeps the unconfirmed move, and reports once that the opponent is away`()
    throws
  {
    var state = MatchState(id: TestWindow.m)
    func view(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws -> MatchView {
      let event = MatchEvent(at: 0, side: side, mid: nil, kind)
      try state.append(event, body: event.body)
      return MatchView(state: state, you: .x)
    }
    #expect(OnlineMatch(MatchView(state: state, you: .x), at: 0).map { $0.id } == nil)
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: false), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    let start = try view(.start(players, MatchTerms(clock: .standard), confirm: false, previous: nil, keys: []))
    var match = try #require(OnlineMatch(start, at: 0))
    #expect(match.opponent == "Ida" && match.setup == GameSetup(x: .human, o: .remote(name: "Ida (1518)")))
    #expect(match.play(Cell(4), boardAcceptsMove: true) == [.play(Cell(4)), .command(.move(match.id, Cell(4)))])
    #expect(match.play(Cell(3), boardAcceptsMove: true).contains(.refuse))
    var board = Game()
    try board.play(Cell(4))
    #expect(match.syncBoard(board, lostAt: nil, at: 1).isEmpty)
    match.update(try view(.gone, .o))
    #expect(match.tellAway(isOnline: true) == [.away(true)] && match.tellAway(isOnline: true).isEmpty)
    match.dropSentMove()
    #expect(match.syncBoard(board, lostAt: nil, at: 2) == [.syncBoard([], times: [])])
    #expect(match.rematch(isOnline: true, at: 2).contains(.say("\(.gameRuns)")))
    match.forgetServer()
    #expect(!match.isPlaying && match.model(.online, at: 2, client: 0) == nil)
  }
}
