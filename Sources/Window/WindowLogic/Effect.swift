import Interface
import ClientModel
import MatchProtocol
import TicTacToe

/// What `WindowState` wants done.
package enum Effect: Sendable, Hashable {
  /// A local person marks a cell.
  case play(Cell)
  /// What was wanted cannot be: heard, not shown.
  case refuse
  /// A cell's tone, while a hand rests on it.
  case preview(Cell?)
  case undo, redo
  /// The game has ended otherwise than by a mark.
  case end(GameEnd)
  case begin(GameSetup, from: VariantState)
  /// A match comes to the board as it stands.
  case join(JoinedMatch)
  /// The marks of the match and when its log says they were made: missing ones are made, those shown too early taken back.
  case follow([Cell], times: [Int64])
  /// The other side, or the server, is away or back.
  case away(Bool)
  case connect(ServerAddress)
  case hangUp
  /// Serve on this machine for whoever is near, and connect to it.
  case host
  /// Give away the page's address with so much behind it.
  case share(String)
  /// Give away what came of today's board.
  case shareToday(DayCard)
  case command(ClientModel.Command)
  /// Turn to a page, or do on the page what the screen does by itself.
  case show(SceneName), screen(Intent)
  /// Words for the player, for a while; `nil` takes them away.
  case notice(String?)
  /// Ask for attention where the window is hidden.
  case attention
  /// Keep this for the next start.
  case remember(Memory)
  /// Have a search look at the moves of the board.
  case judge
  /// The game on the board is wanted for review.
  case review
  /// Files, the clipboard and what is made of them.
  case file(Intent)
  /// Music beside the running game's.
  case music(Intent)
  case mute(Bool)
  case screenshot, quit
}

/// What the next start should know.
package enum Memory: Sendable, Hashable {
  /// Who was played against, on which side.
  case opponent(GameSetup)
  /// This game is looked for on the network.
  case game(Variant)
  /// How this game is played has been shown.
  case shownRules(Variant)
  /// The server last looked for.
  case server(String)
  /// The registered name of the player, in the place of the token that was written to log in.
  case name(String)
  /// The server of the match that runs; empty where none does.
  case matchServer(String)
  /// Today's board has been solved.
  case solved(day: Int)
}

/// Where to go once the server has said who we are.
package enum Destination: Sendable, Hashable {
  case room(code: String)
  case watch(id: String, code: String?)
  /// A room of one's own.
  case open
  /// Whoever comes next.
  case queue
  /// The match that was cut short.
  case resume
}

/// A match as it comes to the board.
package struct JoinedMatch: Sendable, Hashable {
  package var match: MatchID
  /// The side played here, `nil` for a spectator.
  package var you: Player?
  package var rules: Variant
  package var names: Sides<String>
  /// Where its music stands on the way through the tonics.
  package var station: Int
  /// The marks made so far.
  package var moves: [Cell]
  /// When they were made, by the server's clock, in milliseconds.
  package var times: [Int64] = []
}
