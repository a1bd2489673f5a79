import Interface
import Oracle
import Screen
import Testing
import TicTacToe

@testable import Play
@testable import WindowLogic

@Suite struct PuzzleStoreTests {
  private func press(_ bench: Bench, _ app: App, _ key: Key) {
    app.update(input: [.key(key, [], isRepeat: false)], at: bench.now)
    bench.pass(app)
  }

  /// The keypad's digit of a place, 0…8, on a board of nine cells.
  private func digit(_ place: Int) -> Key { .character(Character("\((2 - place / 3) * 3 + place % 3 + 1)")) }

  /// In Ultimate the first digit is that of the board, if any board may be chosen.
  private func mark(_ bench: Bench, _ app: App, _ cell: Cell) {
    if case .ultimate(let state) = app.session.game.state, Int(state.target) == Ultimate.anyBoard {
      press(bench, app, digit(cell.index / 9))
    }
    press(bench, app, digit(cell.index % 9))
  }

  @Test func `ten puzzles in a row are chosen, solved and announced with keys alone, and are kept over a restart`()
    throws
  {
    let bench = Bench()
    let app = try bench.app()
    app.screen.settings.shownRules = "infinite misere ultimate"
    bench.pass(app)
    let buffer = PixelBuffer(width: 1_280, height: 720)
    _ = app.draw(into: buffer.bitmap, isNew: true, at: bench.now)
    press(bench, app, .escape)
    #expect(app.screen.currentScene == .contents)
    for _ in 0..<40 {
      let focus = app.screen.accessible().first { $0.id == app.screen.accessibleFocus }
      if focus?.name == "Another puzzle" { break }
      press(bench, app, .down)
    }
    press(bench, app, .enter)
    for number in 1...10 {
      let puzzle = try #require(app.state.puzzleRun?.puzzle, "puzzle \(number)")
      #expect(app.session.game.startState == puzzle.state && app.screen.currentScene == .board)
      let heard = bench.posted.count
      mark(bench, app, puzzle.answer[0])
      #expect(app.screen.model.puzzle?.isSolved == true, "puzzle \(number) of \(puzzle.state.variant)")
      let stored = PuzzleProgress(text: String(decoding: try #require(bench.files["data/puzzles"]), as: UTF8.self))
      let status = "Solved, your puzzle rating: \(Int(stored.rating.value.rounded()))"
      #expect(app.screen.accessible(hidden: true).contains { $0.name == status })
      bench.pass(app, Double(puzzle.answer.count) * 1.5)
      #expect(app.session.game.cells == puzzle.answer && bench.posted.count > heard)
      press(bench, app, .character("a"))
    }
    let text = String(decoding: try #require(bench.files["data/puzzles"]), as: UTF8.self)
    let progress = PuzzleProgress(text: text)
    #expect(progress.text == text && progress.rating.value > 1_700)
    // A second window continues with the saved rating.
    let other = try bench.app()
    bench.pass(other)
    other.want(.another)
    let next = PuzzleProgress(text: String(decoding: try #require(bench.files["data/puzzles"]), as: UTF8.self))
    #expect(next.rating == progress.rating && next != progress)
  }

  @Test func `the record of three-minute runs is shown and saved; a file that another window has locked is unchanged`()
    throws
  {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.sprint)
    for _ in 0..<3 {
      let puzzle = try #require(app.state.puzzleRun?.puzzle)
      app.want(.play(puzzle.answer[0]))
      bench.pass(app, 2)
    }
    bench.pass(app, 180)
    #expect(bench.notices.contains("Solved: 3. Your best: 3"))
    let kept = bench.files["data/puzzles"]
    bench.takenElsewhere = ["data/puzzles"]
    app.want(.another)
    #expect(app.state.puzzleRun != nil && bench.files["data/puzzles"] == kept)
  }
}
