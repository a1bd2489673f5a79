import Base
import Interface
import Oracle
import Testing
import TicTacToe

@testable import WindowLogic

@Suite struct PuzzleRunTests {
  private func window(_ intent: Intent, seed: UInt64 = 1) throws -> (TestWindow, Puzzle) {
    var window = TestWindow()
    let effects = window.want(intent)
    guard case .puzzle(.next(let games))? = effects.last else { throw NotRequested() }
    #expect(games == (intent == .sprint ? [.classic] : Set(Variant.allCases)))
    let puzzle = show(&window, seed)
    return (window, puzzle)
  }
  private struct NotRequested: Error {}

  @discardableResult
  private func show(_ window: inout TestWindow, _ seed: UInt64) -> Puzzle {
    var random = SplitMix64(seed: seed)
    let puzzle = Puzzle.next(for: 1_900, of: [.classic], except: [], using: &random)
    window.step(.puzzle(puzzle))
    return puzzle
  }

  /// Forty seconds pass, with a tick every 0.1 s.
  private func wait(_ window: inout TestWindow) -> [Effect] {
    var effects: [Effect] = []
    for _ in 0..<400 {
      window.now += 0.1
      effects += window.step(.tick)
    }
    return effects
  }

  private func wrong(_ puzzle: Puzzle) throws -> Cell {
    try #require(puzzle.state.moves.first { $0 != puzzle.answer[0] })
  }

  @Test func `after the right move the answer is played to its end`() throws {
    var (window, puzzle) = try window(.another)
    #expect(window.want(.play(puzzle.answer[0])) == [.play(puzzle.answer[0]), .puzzle(.rate(puzzle, isSolved: true))])
    #expect(wait(&window) == puzzle.answer.dropFirst().map { .play($0) })
    #expect(window.board.game.isOver && window.board.game.cells == puzzle.answer)
    #expect(window.state.puzzle(at: window.now)?.isSolved == true)
  }

  @Test func `a wrong move counts at once, is taken back, and the answer is played`() throws {
    var (window, puzzle) = try window(.another)
    let wrong = try wrong(puzzle)
    #expect(window.want(.play(wrong)) == [.play(wrong), .puzzle(.rate(puzzle, isSolved: false))])
    #expect(window.want(.play(puzzle.answer[0])) == .refused(.answerPlays))
    #expect(wait(&window) == [.undo] + puzzle.answer.map { .play($0) })
    #expect(window.state.puzzle(at: window.now)?.isSolved == false)
  }

  @Test func `a puzzle cannot be undone or resigned, and is not saved as a game`() throws {
    var (window, puzzle) = try window(.another)
    window.want(.play(puzzle.answer[0]))
    for intent in [Intent.undo, .redo, .resign, .offerDraw] {
      #expect(window.want(intent).first == .refuse, "\(intent)")
    }
    #expect(!window.state.isBoardKept && window.state.score == .init())
    window.want(.newGame(GameSetup(x: .human, o: .level(3))))
    #expect(window.state.isBoardKept && window.state.puzzle(at: window.now) == nil)
  }

  @Test func `a run of puzzles ends after the third mistake, and shows how many were solved`() throws {
    var (window, puzzle) = try window(.sprint)
    var seed: UInt64 = 1
    for isRight in [true, false, true, false] {
      window.want(.play(isRight ? puzzle.answer[0] : try wrong(puzzle)))
      #expect(wait(&window) == [.puzzle(.next([.classic]))])
      seed += 1
      puzzle = show(&window, seed)
    }
    #expect(window.state.puzzle(at: window.now)?.sprint.map { [$0.solved, $0.mistakes] } == [2, 2])
    #expect(window.want(.another).first == .refuse)
    #expect(window.want(.play(try wrong(puzzle))).last == .puzzle(.finish(solved: 2)))
    #expect(wait(&window).count == puzzle.answer.count + 1)
  }

  @Test func `after three minutes a run of puzzles ends with the answer of the current puzzle, which does not count`()
    throws
  {
    var (window, puzzle) = try window(.sprint)
    window.now += 179
    #expect(window.step(.tick).isEmpty && window.state.puzzle(at: window.now)?.sprint?.seconds == 1)
    window.now += 1
    #expect(window.step(.tick) == [.puzzle(.finish(solved: 0))])
    #expect(wait(&window) == puzzle.answer.map { .play($0) })
  }
}
