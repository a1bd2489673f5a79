import Base
import GameScore
import Interface
import MatchProtocol
import Records
import Screen
import Session
import Testing
import TicTacToe

@testable import Play

@Suite("Saved games, and the pieces and films made of them")
struct FilesTests {
  @Test("one film is made at a time; its button shows the progress, stops the film, and makes the next one")
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

  @Test("an exported piece, a film and a copied game name the player instead of saying “you”", arguments: ["", "Ann"])
  func playerOfPieces(name: String) throws {
    let bench = Bench()
    let app = try bench.begunGame(name: name)
    app.want(.keepPiece)
    app.want(.makeFilm)
    let wanted = name.isEmpty ? "Player" : name
    #expect(bench.given.map { $0.record[player: .x] } == [wanted, wanted])
    #expect(bench.given.map { $0.names.x } == [wanted, wanted] && bench.given.allSatisfy { $0.names.o == "Bram" })
    app.want(.copyGame)
    #expect(try Record(text: bench.clipboard)[player: .x] == wanted)
    #expect(bench.given.allSatisfy { $0.human == .x && $0.record[player: .o] == "levels:3" })
  }

  @Test("the games of a tournament are saved as one file, each with its players, times and music")
  func tournamentGames() throws {
    let bench = Bench()
    let app = try bench.app()
    let won = try FinishedMatch.state("0123456789ab", [4, 0, 2, 6, 3, 5, 1, 7], .resign)
    let drawn = try FinishedMatch.state("ab0123456789", [0, 1, 2, 4, 3, 5, 7, 6, 8], .normal)
    app.files.saveGames([won, drawn], code: "K7Q2XD", name: "Class 4")
    let file = try #require(bench.files["data/tournament-K7Q2XD-\(bench.stamp).pgn"])
    let records = try RecordLines.all(in: file)
    #expect(records.map(\.game.cells) == [won.moves, drawn.moves])
    #expect(records.map { $0.game.end?.outcome } == [.win(.x), .draw])
    #expect(records[0].game.end?.termination == .resignation)
    #expect(records.allSatisfy { $0[tag: "Event"] == "Class 4" && $0[player: .x] == "Vera" && $0[player: .o] == "Ida" })
    #expect(records.map(\.seed) == [won.id.seed, drawn.id.seed])
    #expect(records[0].times(ofMove: 2).elapsed == 1_500 && records[0].timeControl == "20+1")
    #expect(records[0].logSlots == [0, 6, 12, 18, 24, 30, 36, 42])
  }

  @Test("a saved match can be read back, whatever times its server gave it")
  func farTimes() throws {
    let pause = Int(Limits.times.upperBound) / 4
    let state = try FinishedMatch.state("0123456789ab", [4, 0, 2], .resign, pause: pause)
    let record = Record(of: state, tonics: 7)
    #expect(record.times.dropFirst().map(\.elapsed) == [Record.Limit.milliseconds, Record.Limit.milliseconds])
    #expect(try Record(text: record.text).times == record.times)
  }

  @Test("a saved game is named, resumed and shared from the list, and keeps its name")
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
    #expect(bench.notices.last == "The game could not be saved. The disk is full.")
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

  @Test("a failed write is reported once and repeated when possible")
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

  @Test("settings that cannot be written are reported once with the reason, and so is a missing home folder")
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

  @Test("the next move does not write a deleted running game again; the next game is written")
  func deleted() throws {
    let bench = Bench()
    let (app, path) = try bench.savedGame()
    for _ in 1...2 { app.want(.deleteGame(path: path)) }
    app.want(.play(Cell(0)))
    bench.pass(app, 5)
    #expect(!bench.files.keys.contains { $0.hasPrefix("data/games") }, "\(bench.files.keys)")
    app.want(.newGame(GameSetup(x: .human, o: .human)))
    app.want(.play(Cell(8)))
    bench.pass(app, 5)
    #expect(bench.files.keys.contains { $0.hasSuffix(".pgn") })
  }

  @Test("a game open in another window is neither renamed nor deleted")
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

  @Test("games started in the same second, or after the clock was set back, get separate files")
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

  @Test("all games can be listed, and all except copies from a review count in the statistics")
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

  @Test(
    "games with a long name or emoji in it are listed, and so is a file with an invalid Event tag",
    arguments: [
      String(repeating: "👨‍👩‍👧‍👦", count: 60), String(repeating: "\"\\", count: 400),
      "e" + String(repeating: "\u{301}", count: 199),
    ])
  func longNames(title: String) throws {
    let bench = Bench()
    let (app, path) = try bench.savedGame()
    app.want(.renameGame(path: path, name: title))
    let foreign = "data/games/2026-01-01-100000-1.pgn"
    bench.files[foreign] = Array("[Event \"\(String(repeating: "x", count: 5_000))\"]\n\n1. b2 *\n".utf8)
    app.want(.listGames)
    #expect(app.screen.pages.games.map { $0.path } == [path, foreign])
    let kept = app.screen.pages.games[0].name.unicodeScalars
    #expect(!kept.isEmpty && title.unicodeScalars.starts(with: kept), "cut at 1,024 bytes, in a letter too")
  }

  @Test("repeated requests make a piece of music once; a request after its end or failure makes it again")
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
    // Another program's message is English, so only players who use Alina in English see the message.
    for (language, text) in [(Language.english, ": no such codec"), (.german, "")] {
      app.screen.settings.language = language
      app.want(.keepPiece)
      bench.pieces.last?(.failed(.other(path: "p", "no such codec")))
      bench.pass(app)
      #expect(bench.notices.last == (language == .english ? "Could not save:" : "Nicht gespeichert:") + " p" + text)
    }
    app.screen.settings.language = .english
    app.want(.keepPiece)
    bench.pieces[3](.kept("p"))
    bench.pass(app)
    #expect(bench.pieces.count == 4 && bench.notices.last == "Exported to p")
  }
}
