import Interface
import Oracle
import TicTacToe

/// The puzzle on the board. After the player's move the window plays the solution or, in a three-minute run, requests the next puzzle.
struct PuzzleRun: Sendable, Hashable {
  let puzzle: Puzzle
  /// Whether the player's move was the right one; `nil` before the move.
  fileprivate(set) var isSolved: Bool?
  /// The number of the solution's moves that are on the board.
  fileprivate var shown = 0
  /// When the solution's next move is played or the next puzzle is requested, in seconds of the platform's clock.
  fileprivate var nextAt = 0.0
  fileprivate var sprint: Sprint?

  /// A run of as many puzzles as possible in three minutes; the third mistake ends the run.
  struct Sprint: Sendable, Hashable {
    let end: Double
    var solved = 0
    var mistakes = 0

    static let (seconds, mostMistakes) = (180.0, 3)
  }

  init(_ puzzle: Puzzle, _ sprint: Sprint?) { (self.puzzle, self.sprint) = (puzzle, sprint) }

  /// Seconds between two moves of the solution.
  fileprivate static let interval = 1.2

  fileprivate mutating func answer(_ cell: Cell, at now: Double) {
    let isRight = cell == puzzle.answer.first
    (isSolved, shown, nextAt) = (isRight, isRight ? 1 : 0, now + PuzzleRun.interval)
    if isRight { sprint?.solved += 1 } else { sprint?.mistakes += 1 }
  }
}

/// A request to the store of the player's results on puzzles.
package enum PuzzleRequest: Sendable, Hashable {
  /// Choose a puzzle in one of these variants; the store answers with the event `puzzle`.
  case next(Set<Variant>)
  case rate(Puzzle, isSolved: Bool)
  /// Store the result of a three-minute run, and show it with the player's best result as a message.
  case finish(solved: Int)
}

extension WindowState {
  var puzzleRun: PuzzleRun? { mode == .local ? local.puzzle : nil }

  package func puzzle(at now: Double) -> PuzzleModel? {
    guard let run = puzzleRun else { return nil }
    var model = PuzzleModel(isSolved: run.isSolved)
    if case .win(let moves) = run.puzzle.goal { model.moves = moves }
    model.sprint = run.sprint.map {
      .init(seconds: max(0, Int(($0.end - now).rounded(.up))), solved: $0.solved, mistakes: $0.mistakes)
    }
    return model
  }

  /// Handles an intent that has another meaning while a puzzle is on the board; `nil` for other intents.
  mutating func answerPuzzle(_ intent: Intent, _ board: Board) -> [Effect]? {
    guard var run = puzzleRun else { return nil }
    switch intent {
    case .undo: return .refused(.nothingToUndo)
    case .redo: return .refused(.nothingToRedo)
    case .resign, .offerDraw: return .refused(.playsOn)
    case .rematch: return answerPuzzle(.another, board)
    case .another where run.sprint != nil: return .refused(.gameRuns)
    case .another: return [.puzzle(.next(Set(Variant.allCases)))]
    case .play(let cell):
      if run.isSolved != nil { return .refused(.answerPlays) }
      if let reason = reasonNotToPlay(cell, board) { return .refused(reason) }
      run.answer(cell, at: now)
      local.puzzle = run
      let effects: [Effect] = [.play(cell), .puzzle(.rate(run.puzzle, isSolved: run.isSolved == true))]
      return run.sprint?.mistakes == PuzzleRun.Sprint.mostMistakes ? effects + endSprint() : effects
    default: return nil
    }
  }

  /// Requests the first puzzle of a three-minute run, which has only variants whose rules the player has been shown.
  mutating func beginSprint() -> [Effect] {
    pendingSprint = PuzzleRun.Sprint(end: now + PuzzleRun.Sprint.seconds)
    return [.puzzle(.next(preferences.shownRules))]
  }

  /// Shows a puzzle. If a three-minute run was just requested or is in progress, the puzzle is part of this run.
  mutating func begin(_ puzzle: Puzzle) -> [Effect] {
    let run = PuzzleRun(puzzle, pendingSprint ?? puzzleRun?.sprint)
    pendingSprint = nil
    let variant = puzzle.state.variant
    // A game of two people, so that the window can play the solution's moves for both sides.
    let setup = GameSetup(x: .human, o: .human, variant: variant)
    return leaveMatch(for: true) + begin(setup, from: puzzle.state, puzzle: run) + [.show(.board)] + teach(variant)
  }

  private mutating func endSprint() -> [Effect] {
    guard let sprint = puzzleRun?.sprint else { return [] }
    local.puzzle?.sprint = nil
    return [.puzzle(.finish(solved: sprint.solved))]
  }

  /// Plays the next move of the solution or, in a three-minute run, requests the next puzzle.
  mutating func showAnswer(_ board: Board) -> [Effect] {
    guard let run = puzzleRun else { return [] }
    if let sprint = run.sprint, now >= sprint.end {
      // The three minutes are over: if the player has not answered the last puzzle, its solution is played.
      if run.isSolved == nil { local.puzzle?.isSolved = false }
      return endSprint()
    }
    guard run.isSolved != nil, now >= run.nextAt else { return [] }
    if run.sprint != nil {
      local.puzzle?.nextAt = .infinity
      return [.puzzle(.next(preferences.shownRules))]
    }
    local.puzzle?.nextAt = now + PuzzleRun.interval
    // Take back the player's wrong move before the solution is played.
    if board.game.cells.count > run.shown { return [.undo] }
    guard run.shown < run.puzzle.answer.count else { return [] }
    local.puzzle?.shown += 1
    return [.play(run.puzzle.answer[run.shown])]
  }
}
