import Interface
import ClientModel
import MatchProtocol
import Oracle
import TicTacToe

/// An action that `WindowState` requests.
package enum Effect: Sendable, Hashable {
  /// Play a cell for a local person.
  case play(Cell)
  case beginFreePlay
  /// Sound a cell in free play, in the register of a side.
  case touch(Square, Player)
  /// Play the sound of a refused action.
  case refuse
  /// Sound the preview tone of the cell that has the pointer or the focus; `nil` ends the tone.
  case preview(Cell?)
  case undo, redo
  /// End the game without a move, for example by resignation.
  case end(GameEnd)
  case begin(GameSetup, from: VariantState)
  /// Show a match in its current state on the board.
  case join(JoinedMatch)
  /// Update the board to the moves of the match. `times`: when the moves were made, by the match's log, in milliseconds since 1970.
  case syncBoard([Cell], times: [Int64])
  /// Play the sound for an opponent or server that became absent (`true`) or returned.
  case away(Bool)
  /// `newToken`: a token that the player has entered; if it is empty, the saved login is used.
  case connect(ServerAddress, newToken: String)
  case hangUp
  /// Start a server on this machine and connect to it.
  case host(Destination)
  /// Share the web page's URL followed by a path.
  case share(String)
  case shareToday(DailyBoard)
  case command(ClientModel.Command)
  /// Show a page, or let the screen handle an intent.
  case show(SceneName), screen(Intent)
  /// Show a message for some seconds; `nil` removes the shown message.
  case say(Message?)
  case letter(LetterRequest)
  case puzzle(PuzzleRequest)
  /// Request attention if the window is hidden.
  case attention
  case remember(Memory)
  /// Start a search that evaluates the moves in the position on the board.
  case judge
  case review
  /// Handle an intent about files, the clipboard or exports.
  case file(Intent)
  case saveGames([MatchState], code: String, name: String)
  case mottos([Motto])
  /// Handle an intent about other music than the running game's, such as a replay or the example of a musical sign.
  case music(Intent)
  case mute(Bool)
  /// Change the volume by some decibels without changing the setting; 0 restores the volume of the setting.
  case fade(Double)
  case screenshot, quit
}

/// The last game won by a player in the first three places of a tournament, for its motto: the notes of the winner's first three moves.
package struct Motto: Sendable, Hashable {
  package var place: Int
  package var state: MatchState

  package init(place: Int, state: MatchState) { (self.place, self.state) = (place, state) }
}

/// A value that is stored in the settings, for the next start of the program.
package enum Memory: Sendable, Hashable {
  /// The opponent and the side that the player has chosen on the new-game page.
  case opponent(GameSetup)
  /// The variant for network matches.
  case game(Variant)
  /// A variant whose rules the player has been shown.
  case shownRules(Variant)
  /// The address of the server used last.
  case server(String)
  /// The account's registered name, which becomes the player's name in the settings.
  case name(String)
  /// The address of the server of this player's unfinished match; empty if no match is unfinished.
  case matchServer(String)
  /// The daily puzzle was solved.
  case solved(day: Int)
}

/// The next step after logging in.
package enum Destination: Sendable, Hashable {
  case room(code: String)
  case watch(id: String, code: String?)
  /// Open a room.
  case open
  /// Seek an opponent.
  case queue
  /// Resume this player's unfinished match.
  case resume
  /// Make, follow or enter a tournament.
  case request(ClientModel.Command)
}

/// The state of a match when the board begins to show it.
package struct JoinedMatch: Sendable, Hashable {
  package var match: MatchID
  /// `nil` for a spectator.
  package var you: Player?
  package var rules: Variant
  package var names: Sides<String>
  /// The index of the match's tonic in the sequence of tonics.
  package var station: Int
  package var moves: [Cell]
  /// When each move was made, by the match's log, in milliseconds since 1970.
  package var times: [Int64] = []
}
