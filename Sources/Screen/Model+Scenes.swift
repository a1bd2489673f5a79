import ScoreModel
import TicTacToe

/// A sign of the music that the help page explains and can sound.
public enum MusicSign: String, Sendable, Hashable, CaseIterable {
  case cells, opening, calm, threat, bothThreaten, fork, block, mistake, onlyMove, awakening
  case win, loss, draw, echo, undo, refused
}

/// A level as the new-game page introduces it.
public struct LevelCard: Sendable, Hashable {
  /// The number, from 1.
  public var number: Int
  /// The name of the character.
  public var character: String
  /// What kind of player this is, in a line.
  public var manner: String
  /// The exact odds in words, one line each.
  public var odds: [String]

  /// Makes a card.
  public init(number: Int, character: String, manner: String, odds: [String]) {
    (self.number, self.character, self.manner, self.odds) = (number, character, manner, odds)
  }
}

/// A saved game in the list.
public struct GameEntry: Sendable, Hashable {
  /// The file.
  public var path: String
  /// Who played, as one line.
  public var players: String
  /// When, as one line.
  public var date: String
  /// How it ended or stands, as one line.
  public var result: String
  /// The position at the end, for the small board.
  public var position: Position

  /// Makes an entry.
  public init(path: String, players: String, date: String, result: String, position: Position) {
    (self.path, self.players, self.date, self.result, self.position) = (path, players, date, result, position)
  }
}

/// Wins, draws and losses of the player.
public struct Tally: Sendable, Hashable {
  /// Games won.
  public var wins: Int
  /// Games drawn.
  public var draws: Int
  /// Games lost.
  public var losses: Int

  /// Makes a tally.
  public init(wins: Int = 0, draws: Int = 0, losses: Int = 0) {
    (self.wins, self.draws, self.losses) = (wins, draws, losses)
  }

  /// All games.
  public var games: Int { wins + draws + losses }
}

/// What the statistics page shows.
public struct StatisticsModel: Sendable, Hashable {
  /// One tally for each named opponent, weakest first.
  public var opponents: [Opponent]
  /// Games as X.
  public var asX: Tally
  /// Games as O.
  public var asO: Tally
  /// Results of games the player began, by the first cell, in reading order; nine of them.
  public var openings: [Tally]
  /// The results in order of time, the newest last; +1 win, 0 draw, −1 loss.
  public var results: [Int]
  /// Games won in a row, now and at best.
  public var streak: (now: Int, best: Int) {
    var now = 0
    var best = 0
    for result in results {
      now = result > 0 ? now + 1 : 0
      best = max(best, now)
    }
    return (now, best)
  }

  /// A tally against one opponent.
  public struct Opponent: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The results.
    public var tally: Tally

    /// Makes a line of the table.
    public init(name: String, tally: Tally) {
      (self.name, self.tally) = (name, tally)
    }
  }

  /// Makes statistics; `openings` must have nine entries.
  public init(
    opponents: [Opponent] = [], asX: Tally = Tally(), asO: Tally = Tally(),
    openings: [Tally] = Array(repeating: Tally(), count: 9), results: [Int] = []
  ) {
    precondition(openings.count == 9, "openings: \(openings.count) cells instead of 9")
    (self.opponents, self.asX, self.asO, self.openings, self.results) = (opponents, asX, asO, openings, results)
  }
}

/// A game opened for replay.
public struct ReplayModel: Sendable, Hashable {
  /// The game.
  public var game: Game
  /// Who played when, as one line.
  public var title: String
  /// The bars of its music, if known.
  public var bars: [Bar]
  /// The scale they are spelled in.
  public var scale: Scale
  /// Where its music sounds now, in the time of its bars; `nil` while it rests.
  public var soundNow: Tick?

  /// Makes a replay.
  public init(
    game: Game, title: String, bars: [Bar] = [], scale: Scale = Tonality.standard.scale, soundNow: Tick? = nil
  ) {
    (self.game, self.title, self.bars, self.scale, self.soundNow) = (game, title, bars, scale, soundNow)
  }
}
