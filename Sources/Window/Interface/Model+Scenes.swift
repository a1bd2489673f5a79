import Oracle
import ScoreModel
import TicTacToe

/// A musical sign that the help page explains and plays.
package enum MusicSign: String, Sendable, Hashable, CaseIterable {
  case cells, opening, calm, threat, bothThreaten, fork, block, mistake, onlyMove, awakening
  case win, loss, draw, echo, undo, refused
  // Signs of Infinite and Ultimate only.
  case again, board, fullBoard, forced

  /// Parses the name that a musical sign has in rule files, such as `both-threaten`.
  package init?(ruleName: String) {
    var (name, rises) = ("", false)
    for letter in ruleName {
      if letter != "-" { name += rises ? letter.uppercased() : String(letter) }
      rises = letter == "-"
    }
    self.init(rawValue: name)
  }

  /// The sign's name and explanation; `nil` if the window has no text for the sign.
  package var phrases: (title: Phrase, meaning: Phrase)? {
    let name = rawValue.prefix(1).uppercased() + rawValue.dropFirst()
    guard let title = Phrase(rawValue: "sign" + name), let meaning = Phrase(rawValue: "what" + name) else { return nil }
    return (title, meaning)
  }
}

/// A level, as the new-game page describes it.
package struct LevelCard: Sendable, Hashable {
  package var number: Int
  package var character: String
  /// The level's exact chances in Classic against a random player, averaged over both sides.
  package var againstRandom: Odds
  /// The level's exact chances in Classic against a perfect player, averaged over both sides.
  package var againstPerfect: Odds

  package init(number: Int, character: String, againstRandom: Odds, againstPerfect: Odds) {
    (self.number, self.character, self.againstRandom, self.againstPerfect) =
      (number, character, againstRandom, againstPerfect)
  }
}

/// A saved game in the list.
package struct GameEntry: Sendable, Hashable {
  package var path: String
  /// Empty if the player has not named the game.
  package var name: String
  /// Both players in one line.
  package var players: String
  package var date: String
  package var result: String
  /// The final board, for a small picture.
  package var board: BoardFacts

  package init(
    path: String, name: String = "", players: String, date: String, result: String, board: BoardFacts
  ) {
    (self.path, self.name, self.players, self.date) = (path, name, players, date)
    (self.result, self.board) = (result, board)
  }
}

package struct Tally: Sendable, Hashable {
  package var wins: Int
  package var draws: Int
  package var losses: Int

  package init(wins: Int = 0, draws: Int = 0, losses: Int = 0) {
    (self.wins, self.draws, self.losses) = (wins, draws, losses)
  }

  package var games: Int { wins + draws + losses }
}

package struct StatisticsModel: Sendable, Hashable {
  /// A tally for each opponent, weakest first.
  package var opponents: [Opponent]
  package var asX: Tally
  package var asO: Tally
  /// Nine tallies of the games that the player began: one for each first cell in reading order, or in Ultimate for each first board.
  package var openings: [Tally]
  /// Newest last: +1 for a win, 0 for a draw, −1 for a loss.
  package var results: [Int]
  package var streak: (now: Int, best: Int) {
    var now = 0
    var best = 0
    for result in results {
      now = result > 0 ? now + 1 : 0
      best = max(best, now)
    }
    return (now, best)
  }

  package struct Opponent: Sendable, Hashable {
    package var name: String
    package var tally: Tally

    package init(name: String, tally: Tally) {
      (self.name, self.tally) = (name, tally)
    }
  }

  package init(
    opponents: [Opponent] = [], asX: Tally = Tally(), asO: Tally = Tally(),
    openings: [Tally] = Array(repeating: Tally(), count: 9), results: [Int] = []
  ) {
    precondition(openings.count == 9, "openings: \(openings.count) cells instead of 9")
    (self.opponents, self.asX, self.asO, self.openings, self.results) = (opponents, asX, asO, openings, results)
  }
}

package struct ReplayModel: Sendable, Hashable {
  package var game: Game
  /// The game's name (if any), players and date.
  package var title: String
  package var bars: [Bar]
  package var scale: Scale
  /// The current time of the music on the time axis of `bars`; `nil` while no music plays.
  package var soundNow: Tick?
  /// In Ultimate, the estimates of the start position and of the position after each move, as far as the search has come.
  package var evaluations: [Evaluation] = []

  package struct Evaluation: Sendable, Hashable {
    /// The expected score, 0–1, of the side to move.
    package var share: Double
    /// The move that the search prefers here; `nil` if the game is over.
    package var best: Cell?

    package init(share: Double, best: Cell?) { (self.share, self.best) = (share, best) }

    /// The expected score that the move to `next` costs. In `next` the opponent is to move, so the mover expects `1 - next.share`.
    package func loss(to next: Evaluation) -> Double { share + next.share - 1 }
  }

  package init(
    game: Game, title: String, bars: [Bar] = [], scale: Scale = Tonality.standard.scale, soundNow: Tick? = nil
  ) {
    (self.game, self.title, self.bars, self.scale, self.soundNow) = (game, title, bars, scale, soundNow)
  }
}

/// The content of all pages except the board.
package struct PagesModel: Sendable, Hashable {
  package var levels: [LevelCard] = []
  /// The available opponents, in the order of the new-game page.
  package var opponents: [Seat] = [.human] + (1...6).map { .level($0) }
  /// The choices that are selected when the new-game page opens.
  package var offered = GameSetup(x: .human, o: .level(3))
  package var scoreRules: [String] = []
  /// The listed saved games, newest first.
  package var games: [GameEntry] = []
  package var hasOlderGames = false
  /// The games played by links, the last changed game first. An entry's `path` is the number of its game.
  package var letters: [GameEntry] = []
  package var statistics: [Variant: StatisticsModel] = [:]
  package var network = NetworkModel()
  /// The tournament that this player follows.
  package var tournament: TournamentModel?
  /// The code in an opened link to a tournament, until the server has sent the tournament.
  package var linkedTournament = ""
  package var ownMusic = OwnMusicModel()
  package var talk = TalkModel()
  /// The game under review; if `nil`, the page reviews the game on the board.
  package var replay: ReplayModel?
  package var mayFilm = false
  /// In per cent; `nil` while no film is being made.
  package var filmPercent: Int?

  package init() {}
}
