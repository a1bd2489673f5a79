import ScoreModel
import TicTacToe

/// Who plays a side in the window.
package enum Seat: Sendable, Hashable {
  /// A person at this machine.
  case human
  /// Level 1–6 of the built-in opponents.
  case level(Int)
  case random
  case perfect
  /// The opponent that adapts its level to the games played so far.
  case adaptive
  /// The matchbox machine that learns, with its boxes to be seen.
  case menace
  /// Someone at the other end of a connection.
  case remote(name: String)

  /// Whether who sits here can play a game: nobody plays Ultimate perfectly, and those that learn know classic games.
  package func plays(_ variant: Variant) -> Bool {
    switch self {
    case .human, .level, .random, .remote: true
    case .perfect: variant != .ultimate
    case .adaptive, .menace: variant == .classic
    }
  }

  /// Whether somebody elsewhere sits here.
  package var isRemote: Bool { if case .remote = self { true } else { false } }
}

/// What the player set up on the new-game scene.
package struct GameSetup: Sendable, Hashable {
  package var x: Seat
  package var o: Seat
  package var variant: Variant
  /// Each side's time for the whole game in seconds; `nil` without clocks.
  package var clockSeconds: Int?

  package init(x: Seat, o: Seat, variant: Variant = .classic, clockSeconds: Int? = nil) {
    (self.x, self.o, self.variant, self.clockSeconds) = (x, o, variant, clockSeconds)
  }

  /// Whether a person at this machine plays a side, and whether two play both.
  package var hasHuman: Bool { x == .human || o == .human }
  package var isPair: Bool { x == .human && o == .human }
  /// The side of the one player at this machine.
  package var loneHuman: Player? { hasHuman && !isPair ? (x == .human ? .x : .o) : nil }

  /// The same two at another game; who does not play it gives way to the third level.
  package func playing(_ variant: Variant) -> GameSetup {
    func seat(_ seat: Seat) -> Seat { seat.plays(variant) ? seat : .level(3) }
    return GameSetup(x: seat(x), o: seat(o), variant: variant, clockSeconds: clockSeconds)
  }
}

/// What the score strip must know of the score rules.
package struct Tonality: Sendable, Hashable {
  /// The scale the score is spelled in; it gives the key signature.
  package var scale: Scale
  /// The pitches of the cells in reading order, as X and as O play them; nine each.
  package var cells: [Player: [Pitch]]

  /// Makes a tonality from the scale and both hands' cells, nine each, in reading order.
  package init(scale: Scale, x: [Pitch], o: [Pitch]) {
    precondition(x.count == 9 && o.count == 9, "\(x.count) and \(o.count) cells instead of 9")
    self.scale = scale
    cells = [.x: x, .o: o]
  }

  /// B minor on the cells of the standard score; O plays an octave lower.
  package static let standard: Tonality = {
    let cells = [86, 88, 90, 81, 83, 85, 74, 79, 78]
    return Tonality(
      scale: Scale(tonicLetter: 6, tonicAlteration: 0, steps: [0, 2, 3, 5, 7, 8, 10]), x: cells.map { Pitch($0) },
      o: cells.map { Pitch($0 - 12) })
  }()

  /// The pitch of a cell in a side's hand.
  package func pitch(of square: Square, for player: Player) -> Pitch { cells[player]?[square.index] ?? Pitch(60) }
}

/// What is to be done on today's board, and how it went.
package struct TodayModel: Sendable, Hashable {
  /// In how many moves it is to be won from here, 0 where that has failed; `nil` where it is to be held.
  package var moves: Int?
  package var isSolved: Bool
  /// Days in a row, with this one.
  package var streak: Int

  package init(moves: Int?, isSolved: Bool, streak: Int) {
    (self.moves, self.isSolved, self.streak) = (moves, isSolved, streak)
  }
}

/// Today's board as it is shown to others, in words and as a picture: what was to be done, not how.
package struct DayCard: Sendable, Hashable {
  package let date, title, goal, result: String
  package let state: VariantState

  package init(date: String, title: String, goal: String, result: String, state: VariantState) {
    (self.date, self.title, self.goal, self.result, self.state) = (date, title, goal, result, state)
  }

  /// The card in lines of text, the board among them.
  package var text: String {
    let (variant, facts) = (state.variant, BoardFacts(state))
    let rows = (0..<variant.side).map { row in
      String((0..<variant.side).map { facts[variant.cell(row: row, column: $0)]?.letter ?? "·" })
    }
    return (["\(title): \(goal)."] + rows + [result]).joined(separator: "\n")
  }
}

/// Everything the board scene shows, as a value; the executable fills it from the session.
package struct BoardModel: Sendable, Hashable {
  package var game = Game()
  package var setup = GameSetup(x: .human, o: .level(3))
  /// Whether a mark may be made here now (a local human's turn).
  package var acceptsMove = true
  package var isThinking = false
  /// The bars of the game so far, for the strip.
  package var bars: [Bar] = []
  /// Where the sound is now, in score time.
  package var soundNow: Tick = .zero
  /// The key of the score and the pitches of the cells.
  package var tonality = Tonality.standard
  package var isMuted = false
  /// The time left on each side's clock in milliseconds, where clocks are used.
  package var clocks: Numbers?
  /// Whether the last move may be taken back.
  package var canUndo = true
  /// Whether a move taken back may be played again.
  package var canRedo = false
  /// Whether there is no sound before the first touch.
  package var soundWaits = false
  /// What a search believes of the moves, where it was asked; tables are asked by who draws.
  package var judgement: Judgement?
  /// The beads of menace's matchbox for this position, cell by cell in reading order; `nil` where it is not its turn.
  package var beads: [Int]?
  /// Games won since these two sat down, where any was.
  package var score: Numbers?
  /// How far the search is for a match that was cut short, in words.
  package var resuming: String?
  /// The goal of today's board, if this is it.
  package var today: TodayModel?
  /// The match over the network, if this is one.
  package var online: OnlineModel?
  /// Whether nobody presses anything: a film has no words at its foot.
  package var isFilm = false
  /// One line of notice (no audio device, a refused file), shown once for a while.
  package var notice: String?

  /// A number for either side.
  package struct Numbers: Sendable, Hashable {
    package var x: Int
    package var o: Int

    package init(x: Int = 0, o: Int = 0) {
      (self.x, self.o) = (x, o)
    }
  }

  package init() {}

  /// Whether a mark may be made in a cell now.
  package func isOpen(_ cell: Cell) -> Bool { acceptsMove && !game.isOver && game.state.moves.contains(cell) }

  /// Whether another game may be chosen on the board itself.
  package var mayChooseGame: Bool {
    game.cells.isEmpty && !game.isOver && game.isFromStart && online == nil && resuming == nil && today == nil
      && !isFilm && setup.hasHuman
  }
}
