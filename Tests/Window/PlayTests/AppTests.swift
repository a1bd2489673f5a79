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

/// A machine of functions: a folder in memory, a sound nobody hears, a server that says what the test says.
private final class Bench: @unchecked Sendable {
  var now = 0.0
  var files: [String: [UInt8]] = [:]
  var isDiskFull = false
  var posted: [ScoreEvent] = []
  var commands: [ClientModel.Command] = []
  var events: [ClientEvent] = []
  var view: MatchView?
  var notices: [String] = []
  var attention = 0
  var shared: [String] = []
  var clipboard = ""
  /// What is told of the picture of today's board, and its size.
  var cardIsWritten: Bool? = nil
  var cards: [(card: DayCard, png: [UInt8])] = []

  var services: PlatformServices {
    var services = PlatformServices()
    services.now = { self.now }
    services.dataFolder = { "data" }
    services.configFolder = { "config" }
    services.requestAttention = { self.attention += 1 }
    services.share = {
      self.shared.append($0)
      return true
    }
    services.setClipboard = { self.clipboard = $0 }
    services.timeStamp = { "2026-11-22-190000" }
    services.readFile = { self.files[$0] }
    services.writeFile = { path, bytes in
      guard !self.isDiskFull || !path.hasPrefix("data") else { return false }
      self.files[path] = bytes
      return true
    }
    services.listFolder = { folder in
      self.files.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
    }
    return services
  }

  /// The films that were begun, each with what tells of it; and how many were stopped.
  var films: [(shape: FilmShape, told: @Sendable (FilmNews) -> Void)] = []
  var stoppedFilms = 0

  func app() throws -> App {
    let loaded = try RuleLibrary.load()
    let port = SoundPort(
      now: { Tick(rawValue: Int64(self.now * 48_000)) }, post: { self.posted += $0 }, takeLate: { [] },
      lead: .milliseconds(50))
    let rules: RuleShelf.Loaded = (loaded.rules, loaded.reference)
    let connection = Connection(
      poll: {
        defer { self.events = [] }
        return self.events
      }, match: { _ in self.view }, perform: { self.commands.append($0) }, disconnect: {})
    var machine = Machine(
      services: services, sound: SoundOutput(port),
      rules: RuleShelf { _ throws(RuleShelf.Refusal) in rules },
      connect: { _, _ in connection }, milliseconds: { Int64(self.now * 1_000) }, keep: { _, _ in })
    machine.film = { _, shape, told in
      self.films.append((shape, told))
      return { self.stoppedFilms += 1 }
    }
    machine.giveCard = { card, draw in
      let buffer = PixelBuffer(width: 90, height: 90)
      draw(buffer.bitmap)
      self.cards.append((card, buffer.png()))
      return self.cardIsWritten.map { ("pictures/card.png", $0) }
    }
    var opening = Opening(seed: 1, rulesName: "score", rules: rules)
    opening.opponent = .human
    return App(machine, opening)
  }

  /// Joins a match of Vera, who is X here, and Ida.
  func join(_ app: App, _ rules: Variant = .classic) throws {
    pass(app)
    app.connect(to: try #require(ServerAddress("127.0.0.1:4664")), destination: nil)
    let you = PlayerInfo(name: "Vera", rating: 1_500, guest: false)
    let other = PlayerInfo(name: "Ida", rating: 1_518, guest: false)
    events = [
      .status(
        .online(
          .init(session: "s", resume: "r", you: you, deviation: 350, token: nil, rate: [10, 20], matches: [], now: 0)))
    ]
    try log(
      .start(
        Sides(x: you, o: other), MatchTerms(rules: rules, clock: .standard), confirm: false, previous: nil, keys: []))
    pass(app, 8)
  }

  /// Lets the window turn for some seconds.
  func pass(_ app: App, _ seconds: Double = 0.1) {
    let end = now + seconds
    while now < end {
      app.update(input: [], at: now)
      if let notice = app.screen.model.notice, notices.last != notice { notices.append(notice) }
      now += 0.1
    }
  }

  /// What the server logs of the match, in which we are X.
  func log(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws {
    let m = try #require(MatchID(rawValue: "0123456789ab"))
    var next = view ?? MatchView(state: MatchState(id: m), you: .x)
    let event = MatchEvent(at: 0, side: side, mid: nil, kind)
    try next.state.append(event, body: event.body)
    view = next
    events.append(.event(m, seq: next.state.seq, event))
  }
}

@Suite("The window's wiring, with nothing at its ends")
struct AppTests {
  @Test("a mark in a match is heard, shown and told at once; the game is kept, and counts in the statistics")
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

  @Test(
    "a match of another game is shown, heard, told and kept as one of its own",
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
    // A page that is loaded again finds the match as it stands.
    let again = try bench.app()
    bench.events = [.state(try #require(bench.view?.state.id))]
    again.connect(to: try #require(ServerAddress("127.0.0.1:4664")), destination: .resume)
    bench.pass(again, 1)
    #expect(again.screen.model.game.variant == rules && again.screen.model.game.cells.count == cells.count)
    try bench.log(.resign, .o)
    try bench.log(.end(.win(.x), .resign, ratings: nil))
    bench.pass(again, 1)
    let kept = try #require(bench.files.first { $0.key.hasPrefix("data/games/") && $0.key.hasSuffix(".pgn") })
    let record = try Record(text: String(decoding: kept.value, as: UTF8.self), variants: Variant.allCases)
    #expect(record.game.variant == rules && record.game.cells.map { $0.index } == cells)
    #expect(record.game.end == GameEnd(outcome: .win(.x), termination: .resignation))
  }

  @Test(
    "a hidden window asks for attention and says in its title that it is the player's move, whoever made the last one")
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

  @Test("today's board is given away as words and as a picture, and it is told where that lies")
  func card() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.today)
    for (isWritten, told) in [
      (nil, "Copied."), (true, "Picture saved as pictures/card.png"),
      (false, "Could not save the picture: pictures/card.png"),
    ] {
      bench.cardIsWritten = isWritten
      app.want(.shareToday)
      bench.pass(app)
      #expect(app.screen.model.notice == told)
    }
    #expect(bench.cards.count == 3 && bench.cards.allSatisfy { $0.card.date == "2026-11-22" && !$0.png.isEmpty })
    #expect(bench.clipboard.hasPrefix("Alina, Daily puzzle, 2026-11-22: "))
  }

  @Test("a game's link calls the player by name, and nobody else \"you\"", arguments: ["", "Ann"])
  func link(name: String) throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.screen.settings.name = name
    app.want(.newGame(GameSetup(x: .human, o: .level(3))))
    app.want(.play(Cell(4)))
    app.want(.shareGame)
    let record = try Record(link: String(try #require(bench.shared.first).dropFirst(2)))
    #expect(record[player: .x] == (name.isEmpty ? "Player" : name) && record[player: .o] == "levels:3")
  }

  @Test(
    "a sign of the music is named the first time it sounds, once, and not where nobody wants that",
    arguments: [true, false])
  func explains(isWanted: Bool) throws {
    let bench = Bench()
    let app = try bench.app()
    app.screen.settings.explains = isWanted
    bench.pass(app, 8)
    bench.notices = []
    func named(_ sign: MusicSign) throws -> Int {
      let start = app.screen.text(try #require(sign.phrases).title) + ": "
      return bench.notices.count { $0.hasPrefix(start) }
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
    // Help begins it anew.
    app.screen.show(.help)
    app.want(.explainAgain)
    #expect(app.screen.settings.explains && app.screen.settings.explained.isEmpty)
  }

  @Test("one film is made at a time; its button says how far it is, stops it, and makes the next")
  func film() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.makeFilm)
    #expect(bench.films.isEmpty, "of a game without moves")
    for cell in [4, 0, 2, 6, 1, 7, 3, 5, 8] { app.want(.play(Cell(cell))) }
    app.want(.show(.review))
    bench.pass(app)
    let picture = PixelBuffer(width: 960, height: 600)
    func button() -> [String] {
      _ = app.draw(into: picture.bitmap, isNew: true, at: bench.now)
      return app.screen.accessible(hidden: true).map(\.name).filter { $0.contains("video") }
    }
    #expect(button() == ["Save as video"])
    app.want(.makeFilm)
    app.want(.makeFilm)
    bench.films[0].told(.percent(40))
    bench.pass(app)
    #expect(bench.films.count == 1 && bench.films[0].shape == .wide && button() == ["Cancel video, 40 %"])
    app.want(.stopFilm)
    #expect(bench.stoppedFilms == 1 && button() == ["Cancel video, 40 %"], "it may end all the same")
    bench.films[0].told(.stopped)
    bench.pass(app)
    #expect(button() == ["Save as video"])
    app.screen.settings.filmShape = .upright
    app.want(.makeFilm)
    bench.films[1].told(.kept("a/film.mp4"))
    bench.pass(app)
    #expect(bench.films[1].shape == .upright && bench.notices.last == "Video saved to a/film.mp4")
    app.want(.makeFilm)
    bench.films[2].told(.failed("a film needs ffmpeg, which is not installed"))
    bench.pass(app)
    #expect(bench.notices.last == "a film needs ffmpeg, which is not installed" && button() == ["Save as video"])
  }

  @Test("every sign that the rule files name has its words")
  func signs() throws {
    for sign in try RuleLibrary.load().rules.signs {
      #expect(MusicSign(ruleName: sign.name)?.phrases != nil, "\(sign.name)")
    }
  }

  @Test("a saved game is named, played and shared from the list, and keeps its name when it goes on")
  func gallery() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.play(Cell(4)))
    bench.pass(app, 5)
    let path = "data/games/2026-11-22-190000-1.pgn"
    func event() throws -> String? {
      try Record(text: String(decoding: #require(bench.files[path]), as: UTF8.self))[tag: "Event"]
    }
    app.want(.renameGame(path: path, name: "  A cold  start "))
    #expect(try event() == "A cold start" && app.screen.pages.games.map { $0.name } == ["A cold start"])
    app.want(.play(Cell(0)))
    bench.pass(app, 5)
    #expect(try event() == "A cold start")
    app.want(.copyGame)
    #expect(try Record(text: bench.clipboard)[tag: "Event"] == "A cold start")
    app.want(.review)
    #expect(app.screen.pages.replay?.title.hasPrefix("A cold start: ") == true)
    app.want(.back)
    app.want(.shareSaved(path: path))
    let link = try #require(bench.shared.last?.dropFirst(2))
    #expect(try Record(link: String(link)).game.cells == [Cell(4), Cell(0)])
    app.want(.playGame(path: path))
    bench.pass(app)
    #expect(app.screen.currentScene == .review && app.screen.pages.replay?.soundNow != nil)
    app.want(.back)

    bench.isDiskFull = true
    app.want(.renameGame(path: path, name: ""))
    bench.pass(app)
    #expect(bench.notices.last == app.screen.text(.saveFailed))
    #expect(try event() == "A cold start")
    bench.isDiskFull = false
    app.want(.play(Cell(8)))
    bench.pass(app, 5)
    #expect(try event() == "A cold start", "a name that could not be taken away stays")
    let again = try bench.app()
    bench.pass(again)
    again.want(.copyGame)
    #expect(try Record(text: bench.clipboard)[tag: "Event"] == "A cold start")
    again.want(.renameGame(path: path, name: ""))
    again.want(.play(Cell(7)))
    bench.pass(again, 5)
    #expect(try event() == nil, "the game goes on without its name")
    again.want(.renameGame(path: path, name: "A cold start"))
    app.want(.renameGame(path: path, name: ""))
    #expect(try event() == nil)
    bench.files[path] = nil
    for intent in [Intent.playGame(path: path), .shareSaved(path: path), .renameGame(path: path, name: "x")] {
      app.want(intent)
      bench.pass(app)
      #expect(bench.notices.last?.hasPrefix(path) == true && bench.files[path] == nil, "\(intent)")
    }
  }

  @Test("what a disk refuses is told once, and written when it can be")
  func fullDisk() throws {
    let bench = Bench()
    bench.isDiskFull = true
    let app = try bench.app()
    bench.pass(app)
    app.want(.play(Cell(4)))
    bench.pass(app, 20)
    #expect(bench.notices.filter { $0 == app.screen.text(.saveFailed) }.count == 1)
    #expect(!bench.files.keys.contains { $0.hasPrefix("data") })
    bench.isDiskFull = false
    bench.pass(app, 5)
    let kept = bench.files["data/games/2026-11-22-190000-1.pgn"]
    #expect(kept.map { String(decoding: $0, as: UTF8.self).contains("1. b2") } == true, "\(bench.files.keys)")
  }

  @Test("left alone the window is looked at a few times a second, a clock that runs low at every tenth")
  func waking() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    /// How often the window turns in some seconds, if nothing but itself asks for it.
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
