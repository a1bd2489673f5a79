import Base
import ClientModel
import Interface
import MatchProtocol
import Records
import ScoreIO
import ScoreModel
import Screen
import Session
import Testing
import TicTacToe
import Tintinnabuli

@testable import ClientModel
@testable import WindowLogic
@testable import Play

@Suite("The window's parts together, on a fake platform")
struct AppTests {
  @Test("a mark in a match is played, shown and spoken at once; the game is saved and counted")
  func match() throws {
    let bench = Bench()
    let app = try bench.app()
    try bench.join(app)
    bench.posted = []
    app.want(.play(Cell(4)))
    bench.pass(app)
    #expect(app.screen.model.game.moves == [Square(4)])
    #expect(bench.commands.last.map { if case .move(_, Cell(4)) = $0 { true } else { false } } == true)
    #expect(bench.posted.contains { $0.kind == .note })
    try bench.log(.move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 100), .x)
    try bench.log(.resign, .o)
    try bench.log(.end(.win(.x), .resign, ratings: nil))
    bench.pass(app, 1)
    #expect(app.screen.model.game.isOver)
    app.want(.statistics)
    #expect(
      app.screen.pages.statistics[.classic]?.asX.wins == 1
        && app.screen.pages.statistics[.classic]?.opponents.map { $0.name } == ["Ida"])
  }

  @Test("a tab that gets its match back from another tab shows the clocks of its new connection")
  func clocksOfMatchThatIsBack() throws {
    let bench = Bench()
    let app = try bench.app()
    try bench.join(app)
    bench.events = [.status(.failed(.replaced))]
    bench.pass(app, 1)
    var view = try #require(bench.view)
    let move = MatchEvent(
      at: 0, side: .x, clocks: Sides(x: 41_000, o: 60_000),
      .move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 100))
    try view.state.append(move, body: move.body)
    bench.view = view
    app.resumeMatch()
    bench.events = [.state(view.state.id)]
    bench.pass(app, 1)
    #expect(app.screen.model.game.moves == [Square(4)])
    let clocks = app.screen.model.clocks
    #expect(clocks?.x == 41_000 && clocks?.o == 60_000)
  }

  @Test("chat that arrives while another page opens is counted as unread, on the chat page as read")
  func openPage() throws {
    let bench = Bench()
    let app = try bench.app()
    try bench.join(app)
    let m = try #require(bench.view?.state.id)
    app.want(.show(.talk))
    bench.events = [.chat(m, from: "Ida", text: "hello", emote: nil)]
    app.update(input: [], at: bench.now)
    #expect(app.screen.pages.talk.unread == 0 && app.screen.notice == nil)
    app.want(.show(.settings))
    bench.events = [.chat(m, from: "Ida", text: "are you there?", emote: nil)]
    app.update(input: [], at: bench.now)
    #expect(app.screen.pages.talk.unread == 1 && app.screen.notice == "Ida: are you there?")
    app.screen.show(.talk)
    app.update(input: [], at: bench.now)
    #expect(app.screen.pages.talk.unread == 0)
  }

  @Test("the board page receives the table of the tournament, its changes, and the time that is left")
  func tableAtTheBoard() throws {
    let bench = Bench()
    let app = try bench.app()
    try bench.join(app)
    var (view, notice, row) = (TournamentView(code: "ABC234"), TournamentNotice(), TournamentRow())
    (notice.code, notice.phase, notice.remaining) = ("ABC234", .running, 600_000)
    (row.number, row.name, row.points) = (1, "Ida", 2)
    view.take(notice, Int64(bench.now * 1_000))
    view.take([row], isWhole: true)
    bench.events = [.tournament(view)]
    bench.pass(app, 1)
    let before = try #require(app.screen.pages.tournament)
    #expect(app.screen.currentScene == .board && before.rows.map(\.points) == [2])
    row.points = 4
    view.take([row], isWhole: false)
    bench.events = [.tournament(view)]
    bench.pass(app, 5)
    let after = try #require(app.screen.pages.tournament)
    #expect(after.rows.map(\.points) == [4] && after.remaining ?? 0 < before.remaining ?? 0)
  }

  @Test("the notice with a question to the player disappears once the question is answered")
  func answered() throws {
    let bench = Bench()
    let app = try bench.app()
    try bench.join(app)
    app.want(.resign)
    bench.pass(app)
    #expect(app.screen.notice == "\(.reallyResign)")
    app.want(.resign)
    bench.pass(app)
    #expect(app.screen.notice == nil)
    #expect(bench.commands.last.map { if case .resign = $0 { true } else { false } } == true)
  }

  @Test(
    "a match of another game is shown, sounded, reloaded and saved as that game",
    arguments: [(Variant.infinite, [4, 0, 2, 6, 3, 5, 8]), (.ultimate, [40, 36, 4, 44])])
  func otherGame(rules: Variant, cells: [Int]) throws {
    let bench = Bench()
    let app = try bench.app()
    try bench.join(app, rules)
    #expect(app.screen.model.game.variant == rules && app.screen.model.setup.variant == rules)
    for (ply, cell) in cells.enumerated() {
      bench.posted = []
      if ply % 2 == 0 {
        app.want(.play(Cell(cell)))
        bench.pass(app)
        #expect(bench.commands.last.map { if case .move(_, Cell(cell)) = $0 { true } else { false } } == true)
      }
      try bench.log(.move(ply: ply, cell: CellName(Cell(cell), in: rules), spent: 100), ply % 2 == 0 ? .x : .o)
      bench.pass(app, 2)
      #expect(app.screen.model.game.cells.map { $0.index } == Array(cells[...ply]))
      #expect(bench.posted.contains { $0.kind == .note })
    }
    // A new window resumes the match, as the page does after a reload.
    let again = try bench.app()
    bench.events = [.state(try #require(bench.view?.state.id))]
    again.connect(to: try #require(ServerAddress("127.0.0.1:4664")), destination: .resume)
    bench.pass(again, 1)
    #expect(again.screen.model.game.variant == rules && again.screen.model.game.cells.count == cells.count)
    try bench.log(.resign, .o)
    try bench.log(.end(.win(.x), .resign, ratings: nil))
    bench.pass(again, 1)
    let kept = try #require(bench.files.filter { $0.key.hasSuffix(".pgn") }.max { $0.key < $1.key })
    let record = try Record(text: String(decoding: kept.value, as: UTF8.self), variants: Variant.allCases)
    #expect(record.game.variant == rules && record.game.cells.map { $0.index } == cells)
    #expect(record.game.end == GameEnd(outcome: .win(.x), termination: .resignation))
  }

  @Test("an interrupted match is resumed at the start, unless a link has already connected to the server")
  func resumesOnce() throws {
    for isLinked in [true, false] {
      let bench = Bench()
      let app = try bench.app()
      bench.pass(app)
      app.screen.settings.matchServer = "127.0.0.1:4664"
      let address = try #require(ServerAddress("127.0.0.1:4664"))
      if isLinked { app.connect(to: address, destination: .room(code: "K7Q2XD")) }
      app.resumeMatch()
      #expect(bench.connections == 1)
    }
  }

  @Test("a hidden window requests attention and its title says when it is the player's move")
  func hidden() throws {
    let bench = Bench()
    let app = try bench.app()
    try bench.join(app)
    app.want(.play(Cell(4)))
    try bench.log(.move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 100), .x)
    app.update(input: [.visible(false)], at: bench.now)
    bench.pass(app)
    let before = bench.attention
    #expect(app.windowTitle == "Alina")
    try bench.log(.move(ply: 1, cell: CellName(Cell(0), in: .classic), spent: 100), .o)
    bench.pass(app)
    #expect(bench.attention == before + 1 && app.windowTitle == "Your move – Alina")
    app.update(input: [.visible(true)], at: bench.now)
    #expect(app.windowTitle == "Alina")
  }

  @Test("today's board is shared as text and as a picture, whose path is shown")
  func card() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.today)
    for (isWritten, told) in [
      (nil, "Copied."), (true, "Picture saved as pictures/card.png"),
      (false, "Could not save: pictures/card.png"),
    ] {
      bench.cardIsWritten = isWritten
      app.want(.shareToday)
      bench.pass(app)
      #expect(app.screen.notice?.text(in: .english) == told)
    }
    #expect(bench.cards.count == 3 && bench.cards.allSatisfy { $0.card.date == "2026-11-22" && !$0.png.isEmpty })
    #expect(bench.clipboard.hasPrefix("Alina, Daily puzzle, 2026-11-22: "))
  }

  @Test("a failed copy of a game, a code or a link is not reported as copied")
  func refusedCopy() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.play(Cell(4)))
    for (refuses, told) in [(true, "Could not copy."), (false, "Copied.")] {
      bench.refusesClipboard = refuses
      for intent in [Intent.copyGame, .copyText("K7Q2XD"), .shareGame] {
        app.screen.say(nil)
        app.want(intent)
        bench.pass(app)
        #expect(app.screen.notice?.text(in: .english) == told, "\(intent)")
      }
    }
  }

  @Test("while the sound is muted the player is not asked to touch the page so that the sound can start")
  func mutedSound() throws {
    let app = try Bench().app()
    app.soundWaits = true
    for isMuted in [false, true, false] {
      app.want(.setMuted(isMuted))
      app.update(input: [], at: 0)
      #expect(app.screen.model.soundWaits == !isMuted)
    }
  }

  @Test("a game's link has the player's name instead of the word “you”", arguments: ["", "Ann"])
  func link(name: String) throws {
    let bench = Bench()
    let app = try bench.begunGame(name: name)
    app.want(.shareGame)
    let record = try Record(link: String(try #require(bench.shared.first).dropFirst(2)))
    #expect(record[player: .x] == (name.isEmpty ? "Player" : name) && record[player: .o] == "levels:3")
  }

  @Test(
    "a sign of the music is named only the first time it sounds, and not if the setting is off",
    arguments: [true, false])
  func explains(isWanted: Bool) throws {
    let bench = Bench()
    let app = try bench.app()
    app.screen.settings.explains = isWanted
    bench.pass(app, 8)
    bench.notices = []
    func named(_ sign: MusicSign) throws -> Int {
      let start = app.screen.text(try #require(sign.phrases).title)
      // Two people play at this window, so the notice names the side that moved.
      return bench.notices.count { $0.hasPrefix(start + " (X): ") || $0.hasPrefix(start + " (O): ") }
    }
    for game in 1...2 {
      app.want(.newGame(GameSetup(x: .human, o: .human)))
      bench.pass(app, 2)
      for cell in [4, 0, 1, 7] {
        app.want(.play(Cell(cell)))
        bench.pass(app, 9)
      }
      #expect(try named(.threat) == (isWanted ? 1 : 0), "game \(game)")
      #expect(try named(.block) == (isWanted ? 1 : 0), "game \(game)")
    }
    // After a press of the help page's control, each sign is explained again when it is first heard.
    app.screen.show(.help)
    app.want(.explainAgain)
    #expect(app.screen.settings.explains && app.screen.settings.explained.isEmpty)
  }

  @Test("every sign in the rule files has its phrase")
  func signs() throws {
    for sign in try RuleLibrary.load().rules.signs {
      #expect(MusicSign(ruleName: sign.name)?.phrases != nil, "\(sign.name)")
    }
  }

  @Test("a streak grows with the next day, ends with a gap, and is unchanged by an earlier day")
  func streak() {
    let files = Bench()
    func settings() -> Settings { Settings(services: files.services) }
    let one = settings()
    func solve(_ day: Int, in settings: Settings) -> [Int] {
      settings.remember(.solved(day: day), files.services)
      settings.store.save()
      return [settings.solvedDay, settings.streak]
    }
    // The number of the day whose puzzle is solved, then the last solved day and the streak that are saved. Two days come twice, as after a
    // flight westward over the date line.
    let days = [
      (100, [100, 1]), (101, [101, 2]), (100, [101, 2]), (101, [101, 2]), (102, [102, 3]), (104, [104, 1]),
    ]
    for (day, result) in days { #expect(solve(day, in: one) == result, "day \(day)") }
    let other = settings()
    #expect(solve(105, in: one) == [105, 2])
    #expect(solve(104, in: other) == [105, 2], "yesterday's board, solved in a second window after today's")
    #expect(solve(106, in: other) == [106, 3])
    // Sydney is 19 hours ahead of Los Angeles, so the flight advances the local date by two days.
    (files.zone, files.stamp) = (-480, "2026-11-22-210000")
    #expect(solve(107, in: other) == [107, 4])
    (files.zone, files.stamp) = (660, "2026-11-24-063000")
    #expect(solve(109, in: other) == [109, 5])
    #expect(
      solve(103, in: other) == [109, 9],
      "the missed day between two streaks, solved late, the later of which has a skipped date")
    #expect(solve(111, in: other) == [111, 1], "at home a day that was left out is a gap")
  }

  @Test("a missed day's puzzle joins two streaks if it was left open over midnight and is solved late")
  func lateBoard() {
    let files = Bench()
    let settings = Settings(services: files.services)
    let days = [
      (100, [100, 1]), (101, [101, 2]), (103, [103, 1]), (104, [104, 2]), (102, [104, 5]), (102, [104, 5]),
      (105, [105, 6]), (108, [108, 1]), (107, [108, 2]),
    ]
    for (day, result) in days {
      settings.remember(.solved(day: day), files.services)
      #expect([settings.solvedDay, settings.streak] == result, "day \(day)")
    }
  }

  @Test("an idle window updates a few times a second, and every tenth of a second when a player's time runs short")
  func waking() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    /// The number of updates that the window requests without input.
    func looks(_ seconds: Double) -> Int {
      let end = bench.now + seconds
      var count = 0
      while bench.now < end, count < 1_000 {
        app.update(input: [], at: bench.now)
        bench.now = app.nextUpdate(after: bench.now)
        count += 1
      }
      return count
    }
    let idle = looks(20)
    #expect(idle < 80, "\(idle) looks in twenty seconds")
    app.want(.newGame(GameSetup(x: .human, o: .human, clockSeconds: 8)))
    app.want(.play(Cell(4)))
    let timed = looks(5)
    #expect((45...120).contains(timed), "\(timed) looks in five seconds")
  }
}
