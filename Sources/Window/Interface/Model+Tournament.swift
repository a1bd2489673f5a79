import TicTacToe

package struct TournamentModel: Sendable, Hashable {
  package enum Phase: Sendable, Hashable {
    /// Players may enter; the first games have not begun.
    case waiting
    case running
    /// The time is up; games that have begun are played to their end.
    case ending
    case over
  }

  package struct Row: Sendable, Hashable {
    package enum Status: Sendable, Hashable { case playing, paused, left, removed }

    /// The player's number in this tournament.
    package var number = 0
    package var place = 1
    package var name = ""
    package var points = 0
    package var games = 0
    /// Whether the next win counts double.
    package var isOnFire = false
    package var isMine = false
    package var status = Status.playing
    /// Whether the row's motto is playing: the notes of the player's first three moves in the last game that the player won.
    package var isSounding = false

    package init() {}
  }

  /// The player's own row, for the board page.
  package struct Standing: Sendable, Hashable {
    package var row: Row
    /// Whether the player's next game begins by itself: the tournament runs, and the player has neither paused nor left.
    package var isWaiting: Bool

    package init(_ row: Row, isWaiting: Bool) { (self.row, self.isWaiting) = (row, isWaiting) }
  }

  package var code = ""
  package var name = ""
  package var rules = Variant.classic
  /// Seconds for each side, `+`, seconds added for each move.
  package var clock = "20+1"
  package var minutes = 10
  package var phase = Phase.waiting
  /// Seconds until the set start or, once the tournament runs, until the end.
  package var remaining: Int?
  package var rows: [Row] = []
  /// The players whom the organiser has removed; empty unless this player is the organiser.
  package var removed: [Row] = []
  package var isOrganiser = false
  /// The id of the match that the server proposes to spectators.
  package var top: String?

  package init() {}

  package var mine: Row? { rows.first { $0.isMine } }

  /// The table as comma-separated values. Names need no quotes: they have letters, digits, `-` and `_` only.
  package var csv: String {
    rows.reduce("place,name,points,games\n") { "\($0)\($1.place),\($1.name),\($1.points),\($1.games)\n" }
  }
}

package enum TournamentIntent: Sendable, Hashable {
  /// Empty values stand for the contents of the page's fields. `startsIn`: minutes until the start, or 0 if the organiser starts.
  case make(name: String, clock: String = "", minutes: Int = 0, hasBots: Bool = false, startsIn: Int = 0)
  /// Follow the tournament of a link; the link's path is `CODE`, or `CODE/SECRET` for the organiser.
  case open(path: String)
  /// Enter a tournament as a player; an empty code stands for the shown tournament.
  case enter(code: String)
  case pause, play, leave
  /// For the organiser only. `remove`: exclude a player. `admit`: readmit a removed player.
  case start, end, remove(name: String), admit(name: String)
  /// Share the link for players.
  case share
  /// `save`: save the table. `saveGames` (organiser only): save all games of the tournament.
  case save, saveGames
}
