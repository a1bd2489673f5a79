import Interface
import Records
import Screen
import Testing
import TicTacToe

@testable import Play

@Suite("Games by links between two windows")
struct LettersTests {
  private static func send(_ cell: Int, _ app: App, _ bench: Bench) -> String {
    app.want(.play(Cell(cell)))
    app.want(.letter(.send))
    bench.pass(app)
    app.want(.letter(.copy))
    app.want(.show(.board))
    return bench.clipboard
  }

  /// Pastes a link, and waits while its moves are played.
  private static func open(_ link: String, _ app: App, _ bench: Bench) {
    bench.clipboard = link
    app.want(.pasteGame)
    bench.pass(app, 8)
  }

  @Test func `two windows play a game by links over restarts, and only the newest letter changes it`() throws {
    let (vera, ida) = (Bench(), Bench())
    var (verasApp, idasApp) = (try vera.app(), try ida.app())
    for (bench, app, name) in [(vera, verasApp, "Vera"), (ida, idasApp, "Ida")] {
      app.screen.settings.name = name
      bench.pass(app)
    }
    verasApp.want(.letter(.begin))
    vera.pass(verasApp)
    var links: [String] = []
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7, 8].enumerated() {
      if ply % 2 == 0 {
        links.append(LettersTests.send(cell, verasApp, vera))
        LettersTests.open(links[ply].hasPrefix("#") ? "https://a.example/b/\(links[ply])" : links[ply], idasApp, ida)
      } else {
        links.append(LettersTests.send(cell, idasApp, ida))
        #expect(links[ply].hasPrefix("https://a.example/b/#/l/"), "the answer leads to the same page")
        // Closes the window and opens a new one, which has the saved game.
        verasApp.finish()
        verasApp = try vera.app()
        vera.pass(verasApp)
        LettersTests.open(links[ply], verasApp, vera)
      }
    }
    for (app, bench) in [(verasApp, vera), (idasApp, ida)] {
      bench.pass(app, 3)
      #expect(app.screen.model.game.cells.map { $0.index } == [4, 0, 2, 6, 3, 5, 1, 7, 8])
      #expect(app.screen.model.game.isOver)
      #expect(bench.files.keys.filter { $0.hasPrefix("data/letters/") }.count == 1)
      #expect(!bench.files.keys.contains { $0.hasSuffix(".pgn") }, "it is kept among the letters only")
    }
    // An old letter is reported as old, and changes nothing.
    LettersTests.open(links[1], verasApp, vera)
    #expect(vera.notices.last == verasApp.screen.text(.letterOld))
    #expect(verasApp.screen.model.game.cells.count == 9)
    verasApp.want(.review)
    #expect(verasApp.screen.pages.replay?.title.hasPrefix("Vera – Ida") == true)
    verasApp.want(.back)
    idasApp.want(.show(.letters))
    ida.pass(idasApp)
    let entry = try #require(idasApp.screen.pages.letters.first)
    #expect(entry.players.hasPrefix("Vera") && entry.result == idasApp.screen.text(.draw))
    idasApp = try ida.app()
    ida.pass(idasApp)
    idasApp.want(.letter(.show(try #require(UInt64(entry.path)))))
    ida.pass(idasApp, 3)
    #expect(idasApp.screen.model.game.cells.count == 9 && idasApp.screen.model.setup.loneHuman == .o)
  }

  @Test func `a damaged link, a foreign text and a letter that contradicts the game change nothing`() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.letter(.begin))
    bench.pass(app)
    let link = LettersTests.send(4, app, bench)
    let files = bench.files
    LettersTests.open(link.dropLast() + "/", app, bench)
    app.want(.letter(.open("hello")))
    bench.pass(app)
    #expect(bench.notices.last == app.screen.text(.letterDamaged))
    var letter = try Letter(link: #require(Letter.link(in: link)))
    var forged = Letter(id: letter.id, variant: .classic)
    try forged.play(Cell(0))
    try letter.play(Cell(0))
    LettersTests.open("#/l/\(forged.link)", app, bench)
    #expect(app.screen.currentScene == .letter && app.screen.model.letter?.other != nil)
    #expect(app.screen.model.game.cells == [Cell(4)])
    #expect(
      bench.files.filter { $0.key.hasPrefix("data/letters") } == files.filter { $0.key.hasPrefix("data/letters") })
    bench.takenElsewhere = ["data/letters/\(letter.name).letter"]
    LettersTests.open("#/l/\(letter.link)", app, bench)
    #expect(bench.notices.last == app.screen.text(.otherWindow) && app.screen.model.game.cells == [Cell(4)])
  }
}
