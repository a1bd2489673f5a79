import Interface
import Records
import ScoreIO
import ScoreModel
import Screen
import Testing
import TicTacToe

@testable import Play

@Suite("Touching the board without a game")
struct FreePlayTests {
  /// `cells` are the middles of the nine cells.
  private func begun(_ bench: Bench) throws -> (app: App, cells: [(x: Double, y: Double)]) {
    let app = try bench.app()
    bench.pass(app)
    let buffer = PixelBuffer(width: 800, height: 600)
    _ = app.draw(into: buffer.bitmap, isNew: true, at: bench.now)
    app.want(.touchBoard)
    bench.pass(app)
    _ = app.draw(into: buffer.bitmap, isNew: true, at: bench.now)
    let cells = app.screen.accessible().filter { $0.role == "gridcell" }
    #expect(cells.count == 9)
    return (app, cells.map { (Double($0.place.x + $0.place.width / 2), Double($0.place.y + $0.place.height / 2)) })
  }

  @Test func `mouse, two fingers and keys sound, and no cell is ever marked`() throws {
    let bench = Bench()
    let (app, cells) = try begun(bench)
    func touches() -> [String] {
      app.session.freePlay?.touches.map { "\($0.square.index)\($0.side.letter)" } ?? []
    }
    app.update(input: [.pointerDown(x: cells[0].x, y: cells[0].y, isTouch: false)], at: bench.now)
    app.update(input: [.pointerUp(x: cells[0].x, y: cells[0].y, isTouch: false)], at: bench.now)
    bench.pass(app, 1)
    app.update(
      input: [
        .pointerDown(x: cells[0].x, y: cells[0].y, isTouch: true), .alsoDown(x: cells[8].x, y: cells[8].y),
        .pointerUp(x: cells[0].x, y: cells[0].y, isTouch: true), .pointerLeft,
      ], at: bench.now)
    bench.pass(app, 1)
    app.update(input: [.key(.character("5"), [], isRepeat: false), .key(.enter, [], isRepeat: false)], at: bench.now)
    bench.pass(app, 1)
    #expect(touches() == ["0X", "0X", "8O", "4X", "4X"])
    #expect(app.session.game.cells.isEmpty && app.screen.model.isFree && app.screen.model.acceptsMove)
    let names = app.screen.accessible().filter { $0.role == "button" }.map(\.name)
    #expect(names.contains(app.screen.text(.stopListening)) && names.contains(app.screen.text(.share)))
    #expect(!names.contains(app.screen.text(.hint)) && !names.contains(app.screen.text(.undo)))
    app.want(.stopListening)
    bench.pass(app)
    #expect(!app.screen.model.isFree && app.session.freePlay == nil)
    // In a game the press of a second finger has no effect.
    app.update(input: [.alsoDown(x: cells[8].x, y: cells[8].y)], at: bench.now)
    #expect(app.session.game.cells.isEmpty)
  }

  @Test func `a film of free play shows each touch on its cell`() throws {
    var play = FreePlay(seed: 1, place: 0)
    play.touches = [FreePlay.Touch(milliseconds: 2_000, square: Square(0), side: .x)]
    let record = Record(play)
    var stage = FilmStage(
      record, FilmStage.music(of: record, rules: try RuleLibrary.load().rules, human: nil), names: ("", ""))
    let buffer = PixelBuffer(width: 640, height: 640)
    _ = stage.draw(into: buffer.bitmap, isNew: true, at: 0)
    let places = stage.screen.accessible(hidden: true).filter { $0.role == "gridcell" }.map(\.place)
    /// The pixels of a cell in the film's picture at `now` seconds.
    func pixels(_ cell: Int, at now: Double) -> [UInt32] {
      _ = stage.draw(into: buffer.bitmap, isNew: false, at: now)
      let (place, bitmap) = (places[cell], buffer.bitmap)
      return (place.y..<place.y + place.height).flatMap { y in
        Array(UnsafeBufferPointer(start: bitmap.pixels + y * bitmap.stride + place.x, count: place.width))
      }
    }
    let (touched, other) = (pixels(0, at: 1.9), pixels(8, at: 1.9))
    #expect(pixels(0, at: 2.3) != touched && pixels(8, at: 2.3) == other)
    #expect(pixels(0, at: 4.5) == touched, "the ring has faded")
  }

  @Test func `free play is saved, listed by its name, shared as a link, and opened from that link`() throws {
    let bench = Bench()
    let (app, _) = try begun(bench)
    app.want(.keepPiece)
    #expect(bench.pieces.isEmpty && app.screen.notice == "\(.nothingToKeep)")
    for cell in [4, 0, 8] {
      app.want(.play(Cell(cell)))
      bench.pass(app, 0.5)
    }
    #expect(!bench.files.keys.contains { $0.hasSuffix(".pgn") })
    let play = try #require(app.session.freePlay)
    app.want(.shareGame)
    #expect(bench.shared == ["f/\(play.link)"])
    app.want(.keepPiece)
    #expect(bench.pieces.count == 1)
    app.want(.stopListening)
    bench.pass(app)
    let path = try #require(bench.files.keys.first { $0.hasSuffix(".pgn") })
    let record = try Record(
      text: String(decoding: #require(bench.files[path]), as: UTF8.self), variants: Variant.allCases)
    #expect(record.freePlay == play)
    app.screen.show(.games)
    bench.pass(app)
    #expect(app.screen.pages.games.first?.players == app.screen.text(.touchBoard))
    // A damaged link changes nothing, and a notice says why.
    app.screen.show(.board)
    bench.pass(app)
    app.files.open(words: "f/\(play.link.dropLast())")
    #expect(app.screen.currentScene == .board)
    #expect(app.screen.notice?.text(in: .english).contains("this link is damaged") == true)
    app.files.open(words: "f/\(play.link)")
    bench.pass(app)
    #expect(app.screen.currentScene == .review && app.screen.pages.replay?.game.cells.isEmpty == true)
    #expect(app.screen.pages.replay?.bars.count { $0.kind == .move } == 3)
    bench.posted = []
    app.screen.perform(.playAll)
    bench.pass(app, 20)
    #expect(bench.posted.contains { $0.kind == .note })
    app.screen.show(.board)
    bench.clipboard = "http://localhost/#/f/\(play.link)"
    app.want(.pasteGame)
    #expect(app.screen.currentScene == .review)
  }
}
