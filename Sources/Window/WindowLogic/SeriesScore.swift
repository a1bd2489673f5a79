import Interface
import TicTacToe

/// The wins of the players on the board since they began to play each other.
struct SeriesScore: Sendable {
  /// The wins of the player who is X now and of the player who is O now.
  private(set) var wins = BoardModel.Numbers()
  /// The outcome that was counted in `wins`: `nil` before the game has ended, `.some(nil)` if it ended without an outcome.
  private var counted: Outcome??

  mutating func nextGame(samePlayers: Bool, swapped: Bool = false) {
    wins = !samePlayers ? .init() : swapped ? .init(x: wins.o, o: wins.x) : wins
    counted = nil
  }

  /// Counts the end of the game, or takes the count back after an undo. Returns whether the end was counted now.
  mutating func count(_ game: Game) -> Bool {
    let outcome = game.end.map { $0.outcome }
    guard outcome != counted else { return false }
    for (end, points) in [(counted, -1), (outcome, 1)] {
      if case .win(.x)?? = end { wins.x += points }
      if case .win(.o)?? = end { wins.o += points }
    }
    counted = outcome
    return outcome != nil
  }
}
