import ScoreModel
import TicTacToe

/// A sign of the music that the help page explains and can sound.
package enum MusicSign: String, Sendable, Hashable, CaseIterable {
  case cells, opening, calm, threat, bothThreaten, fork, block, mistake, onlyMove, awakening
  case win, loss, draw, echo, undo, refused
  // Of the longer games.
  case again, board, fullBoard, forced

  /// Reads a name as rule files have it: `both-threaten`.
  package init?(ruleName: String) {
    var (name, rises) = ("", false)
    for letter in ruleName {
      if letter != "-" { name += rises ? letter.uppercased() : String(letter) }
      rises = letter == "-"
    }
    self.init(rawValue: name)
  }

  /// What it is called, and what it means.
  package var phrases: (title: Phrase, meaning: Phrase)? {
    let name = rawValue.prefix(1).uppercased() + rawValue.dropFirst()
    guard let title = Phrase(rawValue: "sign" + name), let meaning = Phrase(rawValue: "what" + name) else { return nil }
    return (title, meaning)
  }
}

/// A level as the new-game page introduces it.
package struct LevelCard: Sendable, Hashable {
  /// The number, from 1.
  package var number: Int
  package var character: String
  /// What kind of player this is, in a line.
  package var manner: String
  /// The exact odds in words, one line each.
  package var odds: [String]

  package init(number: Int, character: String, manner: String, odds: [String]) {
    (self.number, self.character, self.manner, self.odds) = (number, character, manner, odds)
  }
}

/// A saved game in the list.
package struct GameEntry: Sendable, Hashable {
  package var path: String
  /// What the player calls it; empty where it has no name.
  package var name: String
  /// Who played, as one line.
  package var players: String
  /// When, as one line.
  package var date: String
  /// How it ended or stands, as one line.
  package var result: String
  /// The board at the end, for the small picture.
  package var board: BoardFacts

  package init(
    path: String, name: String = "", players: String, date: String, result: String, board: BoardFacts
  ) {
    (self.path, self.name, self.players, self.date) = (path, name, players, date)
    (self.result, self.board) = (result, board)
  }
}

/// Wins, draws and losses of the player.
package struct Tally: Sendable, Hashable {
  package var wins: Int
  package var draws: Int
  package var losses: Int

  package init(wins: Int = 0, draws: Int = 0, losses: Int = 0) {
    (self.wins, self.draws, self.losses) = (wins, draws, losses)
  }

  package var games: Int { wins + draws + losses }
}

/// What the statistics page shows.
package struct StatisticsModel: Sendable, Hashable {
  /// One tally for each named opponent, weakest first.
  package var opponents: [Opponent]
  package var asX: Tally
  package var asO: Tally
  /// Results of games the player began, by the first cell (of Ultimate, by its board), in reading order; nine of them.
  package var openings: [Tally]
  /// The results in order of time, the newest last; +1 win, 0 draw, −1 loss.
  package var results: [Int]
  /// Games won in a row, now and at best.
  package var streak: (now: Int, best: Int) {
    var now = 0
    var best = 0
    for result in results {
      now = result > 0 ? now + 1 : 0
      best = max(best, now)
    }
    return (now, best)
  }

  /// A tally against one opponent.
  package struct Opponent: Sendable, Hashable {
    package var name: String
    package var tally: Tally

    package init(name: String, tally: Tally) {
      (self.name, self.tally) = (name, tally)
    }
  }

  /// Makes statistics; `openings` must have nine entries.
  package init(
    opponents: [Opponent] = [], asX: Tally = Tally(), asO: Tally = Tally(),
    openings: [Tally] = Array(repeating: Tally(), count: 9), results: [Int] = []
  ) {
    precondition(openings.count == 9, "openings: \(openings.count) cells instead of 9")
    (self.opponents, self.asX, self.asO, self.openings, self.results) = (opponents, asX, asO, openings, results)
  }
}

/// A game opened for replay.
package struct ReplayModel: Sendable, Hashable {
  package var game: Game
  /// Who played when, as one line.
  package var title: String
  package var bars: [Bar]
  package var scale: Scale
  /// Where its music sounds now, in the time of its bars; `nil` while it rests.
  package var soundNow: Tick?
  /// What a search believes of the positions of an Ultimate game, from the first on, as far as it has come.
  package var outlook: [Outlook] = []

  /// What a search believes of a position.
  package struct Outlook: Sendable, Hashable {
    /// The share of the points, 0–1, of who is to move.
    package var share: Double
    /// The move it prefers; `nil` where the game is over.
    package var best: Cell?

    package init(share: Double, best: Cell?) { (self.share, self.best) = (share, best) }

    /// The share of the points that the move to another position gave away.
    package func loss(to next: Outlook) -> Double { share + next.share - 1 }
  }

  package init(
    game: Game, title: String, bars: [Bar] = [], scale: Scale = Tonality.standard.scale, soundNow: Tick? = nil
  ) {
    (self.game, self.title, self.bars, self.scale, self.soundNow) = (game, title, bars, scale, soundNow)
  }
}

/// What the pages show beside the board.
package struct PagesModel: Sendable, Hashable {
  /// The levels as the new-game page introduces them.
  package var levels: [LevelCard] = []
  /// Who can be played against, in the order of the new-game page; two people and the six levels unless told otherwise.
  package var opponents: [Seat] = [.human] + (1...6).map { .level($0) }
  /// Who was last chosen to play against, for a new game after one without the player.
  package var chosenOpponent = Seat.level(3)
  /// The score rules that can be chosen, by name.
  package var scoreRules: [String] = []
  /// The saved games of the list, newest first, and whether there are older ones.
  package var games: [GameEntry] = []
  package var hasOlderGames = false
  /// Results of each game, once any was played.
  package var statistics: [Variant: StatisticsModel] = [:]
  package var network = NetworkModel()
  /// What is said beside the match over the network.
  package var talk = TalkModel()
  /// The game of the review page; `nil` reviews the game on the board.
  package var replay: ReplayModel?
  /// Whether films can be made, and the percents that are done of the one that is being made.
  package var mayFilm = false
  package var filmPercent: Int?

  package init() {}
}
