import Interface
import TicTacToe

/// The wins of the players on the board since they began to play each other.
struct SeriesScore: Sendable {
  /// The wins by the side that each player has now.
  private(set) var wins = BoardModel.Numbers()
  /// The outcome that `wins` counts for the game on the board, if it has ended.
  private var counted: Outcome??

  /// Starts the next game, of other players or of the same, who may have swapped sides.
  mutating func nextGame(samePlayers: Bool, swapped: Bool = false) {
    wins = !samePlayers ? .init() : swapped ? .init(x: wins.o, o: wins.x) : wins
    counted = nil
  }

  /// Counts the end of the game, or its undo; returns whether the game has ended and was not counted before.
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
