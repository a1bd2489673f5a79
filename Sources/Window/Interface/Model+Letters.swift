import TicTacToe

/// An action in a game played by links.
package enum LetterIntent: Sendable, Hashable {
  /// Begin a game as X in the variant of the game on the board.
  case begin
  /// `open`: open a letter by its link. `show`: open the stored game with this id.
  case open(String), show(UInt64)
  /// Make a letter of the player's new move and show the letter's link.
  case send
  /// `write`: set the text of the player's last letter. `sign`: set the player's name in that letter.
  case write(String), sign(String)
  /// Copy or share the link of the player's last letter.
  case copy, share
  case list, delete(UInt64)
}

/// The game on the board that is played by links. A letter is a link that carries the game so far and a line of text.
package struct LetterModel: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    /// The player answers the opponent's letter.
    case answer
    /// The player sends the new move that is on the board.
    case send
    /// The opponent answers the player's newest letter, unless that letter ended the game.
    case wait
    /// The opponent's letter ended the game.
    case none
  }

  package var step: Step
  /// The opponent's name; empty if unknown.
  package var opponent: String
  package var name = ""
  /// The text of the player's last letter; empty if the last letter is the opponent's.
  package var words = ""
  /// The text of the opponent's letter.
  package var theirWords = ""
  /// Whether the player offers a draw.
  package var isOffering = false
  /// Whether the opponent's letter offers a draw.
  package var isOffered = false
  /// The path in the link of the player's last letter; empty if the last letter is the opponent's.
  package var path = ""
  /// The link of the player's last letter: the address of a page with Alina, then `#/` and `path`.
  package var address = ""
  /// The board in a letter that was refused because the letter contradicts the game on the board.
  package var other: BoardFacts?

  package init(step: Step, opponent: String) { (self.step, self.opponent) = (step, opponent) }
}
