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

/// A machine of functions: a folder in memory, a sound nobody hears, a server that says what the test says.
private final class Bench: @unchecked Sendable {
  var now = 0.0
  var files: [String: [UInt8]] = [:]
  var fault: WriteFault?
  var faultyFolder = "data"
  var dataFolder = "data"
  /// Paths that another window has.
  var takenElsewhere: Set<String> = []
  var stamp = "2026-11-22-190000"
  var locks: FileLocks { FileLocks(take: { !self.takenElsewhere.contains($0) }, release: { _ in }) }
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
    var services = PlatformServices(locks: locks)
    services.now = { self.now }
    services.dataFolder = { self.dataFolder }
    services.configFolder = { "config" }
    services.requestAttention = { self.attention += 1 }
    services.share = {
      self.shared.append($0)
      return true
    }
    services.setClipboard = { self.clipboard = $0 }
    services.timeStamp = { self.stamp }
    services.readFile = { self.files[$0] }
    services.writeFile = { (path, bytes) throws(WriteFault) in
      if let fault = self.fault, path.hasPrefix(self.faultyFolder) { throw fault }
      self.files[path] = bytes
    }
    services.deleteFile = { self.files.removeValue(forKey: $0) != nil }
    services.listFolder = { folder in
      self.files.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
    }
    return services
  }

  /// The films that were begun, each with what tells of it; and how many were stopped.
  var films: [(shape: FilmShape, told: @Sendable (MakingNews) -> Void)] = []
  var pieces: [@Sendable (MakingNews) -> Void] = []
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
      connect: { _, _ in connection }, milliseconds: { Int64(self.now * 1_000) }, keep: { self.pieces.append($1) })
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
    let kept = try #require(bench.files.filter { $0.key.hasSuffix(".pgn") }.max { $0.key < $1.key })
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
      (false, "Could not save: pictures/card.png"),
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
    bench.films[2].told(.failed(.noFFmpeg))
    bench.pass(app)
    #expect(bench.notices.last == app.screen.text(.needsFFmpeg) && button() == ["Save as video"])
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

    bench.fault = .noRoom
    app.want(.renameGame(path: path, name: ""))
    bench.pass(app)
    #expect(bench.notices.last == app.screen.text(.saveFailed, because: .noRoom))
    #expect(try event() == "A cold start")
    bench.fault = nil
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
    bench.fault = .noRoom
    let app = try bench.app()
    bench.pass(app)
    app.want(.play(Cell(4)))
    bench.pass(app, 20)
    #expect(bench.notices.filter { $0 == "The game could not be saved. The disk is full." }.count == 1)
    #expect(!bench.files.keys.contains { $0.hasPrefix("data") })
    bench.fault = nil
    bench.pass(app, 5)
    let kept = bench.files["data/games/2026-11-22-190000-1.pgn"]
    #expect(kept.map { String(decoding: $0, as: UTF8.self).contains("1. b2") } == true, "\(bench.files.keys)")
  }

  @Test(
    "settings that cannot be written are told of once, with the reason; without any folder so is that nothing is kept")
  func unwritable() throws {
    let bench = Bench()
    (bench.fault, bench.faultyFolder) = (.notAllowed, "config")
    let app = try bench.app()
    bench.pass(app)
    for volume in [0.3, 0.4] {
      app.screen.settings.volume = volume
      bench.pass(app, 20)
    }
    #expect(
      bench.notices.filter { $0 == "The settings could not be saved. The folder is not writable." }.count == 1)
    bench.dataFolder = ""
    let homeless = try bench.app()
    homeless.want(.play(Cell(4)))
    bench.pass(homeless)
    #expect(bench.notices.last == homeless.screen.text(.nothingKept) && homeless.screen.model.game.cells.count == 1)
    #expect(!bench.files.keys.contains { $0.hasPrefix("/") })
  }

  @Test("the running game, once deleted, is not written again by its next move; a new game is kept")
  func deleted() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.play(Cell(4)))
    bench.pass(app)
    let path = try #require(bench.files.keys.first { $0.hasSuffix(".pgn") })
    for _ in 1...2 { app.want(.deleteGame(path: path)) }
    app.want(.play(Cell(0)))
    bench.pass(app, 5)
    #expect(!bench.files.keys.contains { $0.hasPrefix("data/games") }, "\(bench.files.keys)")
    app.want(.newGame(GameSetup(x: .human, o: .human)))
    app.want(.play(Cell(8)))
    bench.pass(app, 5)
    #expect(bench.files.keys.contains { $0.hasSuffix(".pgn") })
  }

  @Test("a game that another window plays is neither renamed nor deleted")
  func elsewhere() throws {
    let bench = Bench()
    let path = "data/games/2026-11-20-100000-1.pgn"
    bench.files[path] = Array(Record(game: Game()).text.utf8)
    let app = try bench.app()
    bench.pass(app)
    bench.takenElsewhere = ["data/games/2026-11-20-100000-1"]
    let before = bench.files[path]
    for intent in [Intent.renameGame(path: path, name: "Mine"), .deleteGame(path: path), .deleteGame(path: path)] {
      app.want(intent)
      bench.pass(app)
    }
    #expect(bench.files[path] == before && bench.notices.last == app.screen.text(.otherWindow))
  }

  @Test("two games of one second have two files, and none takes the file of a game from before the clock was set back")
  func names() throws {
    let bench = Bench()
    let old = "data/games/2026-11-22-190000-1.pgn"
    bench.files[old] = Array(Record(game: Game()).text.utf8)
    let before = bench.files[old]
    let app = try bench.app()
    bench.pass(app)
    for _ in 1...3 {
      app.want(.newGame(GameSetup(x: .human, o: .human)))
      app.want(.play(Cell(8)))
      app.update(input: [], at: bench.now)
    }
    bench.pass(app)
    #expect(bench.files[old] == before && bench.files.keys.count { $0.hasSuffix(".pgn") } == 4)
  }

  @Test("more games than the list shows at first count in the statistics; copies from a review do not; all are listed")
  func manyGames() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    var game = Game()
    for square in [4, 0, 1, 2, 7] { try game.play(Square(square)) }
    var record = Record(game: game)
    (record[player: .x], record[player: .o]) = ("you", "levels:3")
    for number in 1_000..<1_600 { bench.files["data/games/2020-01-01-10\(number)-1.pgn"] = Array(record.text.utf8) }
    bench.files["data/games/2021-01-01-100000-1.pgn"] = Array("no game".utf8)
    app.want(.show(.games))
    bench.pass(app)
    #expect(app.screen.pages.games.count == 500 && app.screen.pages.hasOlderGames)
    app.want(.openGame(path: "data/games/2020-01-01-101000-1.pgn"))
    app.want(.saveGame)
    app.want(.saveGame)
    app.want(.listOlder)
    #expect(app.screen.pages.games.count == 603 && !app.screen.pages.hasOlderGames)
    app.want(.statistics)
    #expect(app.screen.pages.statistics[.classic]?.results.count == 600)
    let damaged = try #require(app.screen.pages.games.first { $0.players == "2021-01-01-100000-1" })
    for _ in 1...2 { app.want(.deleteGame(path: damaged.path)) }
    #expect(bench.files[damaged.path] == nil)
  }

  @Test("a piece is made once, however often it is asked for, and may be made again when it is done or has failed")
  func pieces() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.play(Cell(4)))
    bench.pass(app)
    for _ in 1...2 { app.want(.keepPiece) }
    #expect(bench.pieces.count == 1)
    bench.pieces[0](.failed(.write(path: "p/piece.mid", .noRoom)))
    bench.pass(app)
    #expect(bench.notices.last == "Could not save: p/piece.mid The disk is full.")
    app.want(.keepPiece)
    bench.pieces[1](.kept("p"))
    bench.pass(app)
    #expect(bench.pieces.count == 2 && bench.notices.last == "Exported to p")
  }

  @Test("a streak grows by the next day, is lost by a gap, and neither falls nor goes back by an earlier day")
  func streak() {
    let files = Bench()
    func settings() -> Settings { Settings(services: files.services) }
    let one = settings()
    func solve(_ day: Int, in settings: Settings) -> [Int] {
      settings.remember(.solved(day: day))
      settings.store.save()
      return [settings.solvedDay, settings.streak]
    }
    // A flight to the west brings yesterday's board once more.
    let days = [
      (100, [100, 1]), (101, [101, 2]), (100, [101, 2]), (101, [101, 2]), (102, [102, 3]), (104, [104, 1]),
    ]
    for (day, result) in days { #expect(solve(day, in: one) == result, "day \(day)") }
    let other = settings()
    #expect(solve(105, in: one) == [105, 2])
    #expect(solve(104, in: other) == [105, 2], "yesterday's board, solved in a second window after today's")
    #expect(solve(106, in: other) == [106, 3])
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
