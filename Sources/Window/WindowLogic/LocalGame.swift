import Interface
import Oracle
import TicTacToe

/// The games without a network: those of the player, the puzzles, and the endless ones to listen to.
struct LocalGame: Sendable {
  /// The players of the current game.
  private(set) var setup: GameSetup
  /// The players chosen last, to return to after a match.
  private(set) var home: GameSetup
  /// Whether two computer opponents play endlessly.
  private(set) var isListening = false
  private var daily: DailyBoard?
  /// A puzzle other than the daily one.
  var puzzle: PuzzleRun?
  private var gamesHeard = 0
  private var silentSince: Double?

  /// Seconds of silence between two games of the listening mode.
  private static let pause = 12.0

  init(_ setup: GameSetup) { (self.setup, home) = (setup, setup) }

  /// The daily puzzle while it is played.
  var today: DailyBoard? { isListening ? nil : daily }

  /// Whether a game of these players continues the series of games.
  func isContinued(by next: GameSetup) -> Bool { next == setup && !isListening && today == nil && puzzle == nil }

  /// Begins a game from its start or from a position. With `isHome` it is the one to return to after a match.
  mutating func begin(
    _ next: GameSetup, from start: VariantState? = nil, daily: DailyBoard? = nil, puzzle: PuzzleRun? = nil,
    isHome: Bool = false
  ) -> Effect {
    if isHome { home = next }
    (setup, self.daily, self.puzzle, isListening) = (next, daily, puzzle, false)
    return .begin(next, from: start ?? VariantState(startOf: next.variant))
  }

  /// Begins the next game of the same players with sides swapped.
  mutating func rematch() -> Effect {
    (setup.x, setup.o) = (setup.o, setup.x)
    return .begin(setup, from: VariantState(startOf: setup.variant))
  }

  // MARK: - Listening

  mutating func listen() -> Effect {
    (isListening, gamesHeard, silentSince) = (true, 0, nil)
    return beginToListen(x: 5, o: 6)
  }

  private mutating func beginToListen(x: Int, o: Int) -> Effect {
    setup = GameSetup(x: .level(x), o: .level(o))
    return .begin(setup, from: .classic(.start))
  }

  /// Begins the next game after the last one has closed and a pause.
  mutating func listenOn(_ board: WindowState.Board, at now: Double) -> [Effect] {
    guard isListening, board.game.isOver, !board.isClosing else {
      silentSince = nil
      return []
    }
    let since = silentSince ?? now
    guard now - since > LocalGame.pause else {
      silentSince = since
      return []
    }
    silentSince = nil
    gamesHeard += 1
    // The opponents change; one is always strong, for long games and blocked threats.
    let levels = [3, 4, 5, 6]
    return [beginToListen(x: levels[gamesHeard % 4], o: levels[(gamesHeard / 4 + 3) % 4])]
  }
}

extension GameSetup {
  /// The player of the daily puzzle against the best available defence.
  init(for board: DailyBoard) {
    let (isX, variant) = (board.state.turn == .x, board.state.variant)
    let other = variant.isLong ? Seat.level(6) : .perfect
    self.init(x: isX ? .human : other, o: isX ? other : .human, variant: variant)
  }
}
