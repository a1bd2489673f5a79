import Interface
import Oracle
import TicTacToe

/// The local game on the board: a game of the player, a puzzle, or a game of the listening mode.
struct LocalGame: Sendable {
  /// The players of the current game.
  private(set) var setup: GameSetup
  /// The players chosen last; a game of these players begins when a match or the listening mode ends.
  private(set) var home: GameSetup
  /// Whether the listening mode is on: computer opponents play one game after another.
  private(set) var isListening = false
  /// Whether the board is in free play: each touch of a cell sounds, without a game.
  private(set) var isFree = false
  private var daily: DailyBoard?
  /// The puzzle on the board; `nil` if the board shows the daily puzzle or no puzzle.
  var puzzle: PuzzleRun?
  private var gamesHeard = 0
  private var silentSince: Double?

  /// Seconds of silence between two games of the listening mode.
  private static let pause = 12.0

  init(_ setup: GameSetup) { (self.setup, home) = (setup, setup) }

  var today: DailyBoard? { isListening ? nil : daily }

  /// Whether a game of the players `next` continues the series of the current game, so that the counts of wins are kept.
  func isContinued(by next: GameSetup) -> Bool {
    next == setup && !isListening && !isFree && today == nil && puzzle == nil
  }

  /// With `isHome`, a game of these players also begins after a match or the listening mode.
  mutating func begin(
    _ next: GameSetup, from start: VariantState? = nil, daily: DailyBoard? = nil, puzzle: PuzzleRun? = nil,
    isHome: Bool = false
  ) -> Effect {
    if isHome { home = next }
    (setup, self.daily, self.puzzle, isListening, isFree) = (next, daily, puzzle, false, false)
    return .begin(next, from: start ?? VariantState(startOf: next.variant))
  }

  mutating func rematch() -> Effect {
    (setup.x, setup.o) = (setup.o, setup.x)
    return .begin(setup, from: VariantState(startOf: setup.variant))
  }

  mutating func touchBoard() -> Effect {
    (setup, daily, puzzle, isListening, isFree) = (GameSetup(x: .human, o: .human), nil, nil, false, true)
    return .beginFreePlay
  }

  // MARK: - Listening

  mutating func listen() -> Effect {
    (isListening, isFree, gamesHeard, silentSince) = (true, false, 0, nil)
    return beginToListen(x: 5, o: 6)
  }

  private mutating func beginToListen(x: Int, o: Int) -> Effect {
    setup = GameSetup(x: .level(x), o: .level(o))
    return .begin(setup, from: .classic(.start))
  }

  /// Begins the next game of the listening mode 12 seconds after the closing music of the last game.
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
    // X has the levels 3 to 6 in turn; O has the next level after every four games.
    let levels = [3, 4, 5, 6]
    return [beginToListen(x: levels[gamesHeard % 4], o: levels[(gamesHeard / 4 + 3) % 4])]
  }
}

extension GameSetup {
  /// The players of the daily puzzle: a person for the side to move, and the best available opponent.
  init(for board: DailyBoard) {
    let (isX, variant) = (board.state.turn == .x, board.state.variant)
    let other = variant.isLong ? Seat.level(6) : .perfect
    self.init(x: isX ? .human : other, o: isX ? other : .human, variant: variant)
  }
}
