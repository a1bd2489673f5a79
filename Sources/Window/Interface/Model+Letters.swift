import TicTacToe

/// An action in games that are played by links.
package enum LetterIntent: Sendable, Hashable {
  /// Begin the game of the board anew, as X.
  case begin
  /// Open a letter by its link, or a known game by its number.
  case open(String), show(UInt64)
  /// Finish the answer on the board and show its link.
  case send
  /// Write the line of the last own letter; set the own name in it.
  case write(String), sign(String)
  /// Copy or share the link of the last own letter.
  case copy, share
  /// List the known games; forget one.
  case list, delete(UInt64)
}

/// The game in letters on the board.
package struct LetterModel: Sendable, Hashable {
  /// The next step of the game.
  package enum Step: Sendable, Hashable {
    /// The other player's letter is to be answered.
    case answer
    /// The answer is on the board, but was not sent.
    case send
    /// The own letter was sent.
    case wait
    /// The game is over and nothing is to be sent.
    case none
  }

  package var step: Step
  /// The name of the other player; empty if unknown.
  package var opponent: String
  /// The own name, and the line of the last own letter.
  package var name = ""
  package var words = ""
  /// The line of the letter to be answered.
  package var theirWords = ""
  /// Whether a draw is offered in the answer, and whether the other player offers one.
  package var isOffering = false
  package var isOffered = false
  /// The path of the last own letter's link, empty without one, and its address.
  package var path = ""
  package var address = ""
  /// The game of a letter that was not taken because it contradicts the one here.
  package var other: BoardFacts?

  package init(step: Step, opponent: String) { (self.step, self.opponent) = (step, opponent) }
}
