import ScoreModel
import TicTacToe

/// The kind of player on a side.
package enum Seat: Sendable, Hashable {
  /// A person at this machine.
  case human
  /// Level 1–6 of the built-in opponents.
  case level(Int)
  case random
  case perfect
  /// An opponent that adapts its strength to the results of previous games.
  case adaptive
  /// The learning matchbox machine MENACE.
  case menace
  case remote(name: String)

  /// Only solved variants have a perfect player; the adaptive player and MENACE play only Classic.
  package func plays(_ variant: Variant) -> Bool {
    switch self {
    case .human, .level, .random, .remote: true
    case .perfect: variant.isSolved
    case .adaptive, .menace: variant.isImplied
    }
  }

  package var isRemote: Bool { if case .remote = self { true } else { false } }
}

/// The players' choices on the new-game page.
package struct GameSetup: Sendable, Hashable {
  package var x: Seat
  package var o: Seat
  package var variant: Variant
  /// Each side's time for the whole game in seconds; `nil` without clocks.
  package var clockSeconds: Int?

  package init(x: Seat, o: Seat, variant: Variant = .classic, clockSeconds: Int? = nil) {
    (self.x, self.o, self.variant, self.clockSeconds) = (x, o, variant, clockSeconds)
  }

  package var hasHuman: Bool { x == .human || o == .human }
  package var isPair: Bool { x == .human && o == .human }
  /// `nil` unless exactly one person plays at this machine.
  package var loneHuman: Player? { hasHuman && !isPair ? (x == .human ? .x : .o) : nil }

  /// Level 3 replaces a player that cannot play `variant`.
  package func playing(_ variant: Variant) -> GameSetup {
    func seat(_ seat: Seat) -> Seat { seat.plays(variant) ? seat : .level(3) }
    return GameSetup(x: seat(x), o: seat(o), variant: variant, clockSeconds: clockSeconds)
  }
}

/// The scale of the music and the pitches of the cells, for the view of the score.
package struct Tonality: Sendable, Hashable {
  /// Determines the key signature and the spelling of the notes.
  package var scale: Scale
  /// Nine pitches for each side, in the reading order of the cells.
  package var cells: [Player: [Pitch]]

  package init(scale: Scale, x: [Pitch], o: [Pitch]) {
    precondition(x.count == 9 && o.count == 9, "\(x.count) and \(o.count) cells instead of 9")
    self.scale = scale
    cells = [.x: x, .o: o]
  }

  /// The standard score rules: B minor; O plays an octave lower than X.
  package static let standard: Tonality = {
    let cells = [86, 88, 90, 81, 83, 85, 74, 79, 78]
    return Tonality(
      scale: Scale(tonicLetter: 6, tonicAlteration: 0, steps: [0, 2, 3, 5, 7, 8, 10]), x: cells.map { Pitch($0) },
      o: cells.map { Pitch($0 - 12) })
  }()

  package func pitch(of square: Square, for player: Player) -> Pitch { cells[player]?[square.index] ?? Pitch(60) }
}

package struct TodayModel: Sendable, Hashable {
  /// The moves left to win, 0 if all are used up; `nil` if the goal is to hold a draw.
  package var moves: Int?
  package var isSolved: Bool
  /// The number of consecutive days, ending with the last solved one, whose daily puzzle the player has solved.
  package var streak: Int

  package init(moves: Int?, isSolved: Bool, streak: Int) {
    (self.moves, self.isSolved, self.streak) = (moves, isSolved, streak)
  }
}

/// A puzzle on the board that is not the daily puzzle.
package struct PuzzleModel: Sendable, Hashable {
  /// The moves in which the player must win; `nil` if the goal is to hold a draw.
  package var moves: Int?
  /// Whether the player's move was right; `nil` before the move.
  package var isSolved: Bool?
  /// The three-minute run of puzzles that contains this puzzle, if any.
  package var sprint: Sprint?
  /// The player's rating in solving puzzles.
  package var rating = 0

  package struct Sprint: Sendable, Hashable {
    /// Seconds left of the run's three minutes.
    package let seconds: Int
    package let solved, mistakes: Int

    package init(seconds: Int, solved: Int, mistakes: Int) {
      (self.seconds, self.solved, self.mistakes) = (seconds, solved, mistakes)
    }
  }

  package init(isSolved: Bool?) { self.isSolved = isSolved }
}

/// The result of the daily puzzle, to be shared. It shows the position and the goal, but not the solution.
package struct DayCard: Sendable, Hashable {
  package let date, title, goal, result: String
  package let state: VariantState

  package init(date: String, title: String, goal: String, result: String, state: VariantState) {
    (self.date, self.title, self.goal, self.result, self.state) = (date, title, goal, result, state)
  }

  package var text: String {
    let (variant, facts) = (state.variant, BoardFacts(state))
    let rows = (0..<variant.side).map { row in
      String((0..<variant.side).map { facts[variant.cell(row: row, column: $0)]?.letter ?? "·" })
    }
    return (["\(title): \(goal)."] + rows + [result]).joined(separator: "\n")
  }
}

package struct BoardModel: Sendable, Hashable {
  package var game = Game()
  package var setup = GameSetup(x: .human, o: .level(3))
  /// Whether a local person may move now; `false` while a match is awaited or a puzzle is answered.
  package var acceptsMove = true
  package var isThinking = false
  /// The bars of the game so far, for the score view.
  package var bars: [Bar] = []
  /// The current time of the sound on the score's time axis.
  package var soundNow: Tick = .zero
  package var tonality = Tonality.standard
  package var isMuted = false
  /// Minutes until the listening mode ends; `nil` without a sleep timer.
  package var sleepMinutes: Int?
  /// In milliseconds; `nil` without clocks.
  package var clocks: Numbers?
  package var canUndo = true
  package var canRedo = false
  /// Whether sound waits for the first touch or key, as browsers require.
  package var soundWaits = false
  /// The result of the requested search for the best move; `nil` until the search has ended.
  package var analysis: MoveAnalysis?
  /// MENACE's beads by cell in reading order; `nil` if MENACE is not to move.
  package var beads: [Int]?
  /// Each player's wins against the other player; `nil` before the first win.
  package var score: Numbers?
  /// The state of the connection while the window reconnects to this player's unfinished match, else `nil`.
  package var resuming: Message?
  package var today: TodayModel?
  /// The puzzle on the board, unless it is the daily puzzle.
  package var puzzle: PuzzleModel?
  package var online: OnlineModel?
  /// This player's row in the table, if the player takes part in a tournament.
  package var tournament: TournamentModel.Standing?
  package var letter: LetterModel?
  /// Whether the board is in free play: there is no game, and each touch of a cell sounds.
  package var isFree = false
  /// Whether the board is drawn for a film, which shows no buttons.
  package var isFilm = false

  package struct Numbers: Sendable, Hashable {
    package var x: Int
    package var o: Int

    package init(x: Int = 0, o: Int = 0) {
      (self.x, self.o) = (x, o)
    }
  }

  package init() {}

  package func isOpen(_ cell: Cell) -> Bool { acceptsMove && !game.isOver && game.state.moves.contains(cell) }

  package var mayChooseGame: Bool {
    game.cells.isEmpty && !game.isOver && game.isFromStart && online == nil && letter == nil && resuming == nil
      && today == nil && puzzle == nil
      && !isFilm && !isFree && setup.hasHuman
  }
}
