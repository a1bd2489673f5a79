import Base
import Foundation
import GameScore
import Oracle
import ScoreIO
import ScoreModel
import TestSupport
import Testing
import TicTacToe
import Tintinnabuli

/// The rules used by the tests.
let rules = (try? RuleLibrary.load(assets + "/score.yaml"))!.rules

/// The folder of the shipped rule files.
let assets = repository.appending(path: "Assets").path

/// The game with moves on `squares`, whose names are separated by spaces.
func game(_ squares: String) throws -> Game {
  var game = Game()
  for name in squares.split(separator: " ") { try game.play(#require(Square(name: name))) }
  return game
}

/// Plays every game up to symmetry; calls `visit` after every move, with the game so far and its conductor.
func forEveryGame(_ conductor: GameConductor, _ visit: (Game, GameConductor) -> Void) {
  func walk(_ game: Game, _ conductor: GameConductor, _ now: Tick) {
    visit(game, conductor)
    guard !game.isOver else { return }
    for square in game.position.distinctMoves {
      var next = game
      guard let move = try? next.playValued(Cell(square.index)) else { continue }
      var conductor = conductor
      _ = conductor.handle(.moved(move), at: now)
      walk(next, conductor, conductor.music.bars.last?.end ?? now)
    }
  }
  var start = conductor
  _ = start.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
  walk(Game(), start, .seconds(1))
}

/// The shortest game whose last move satisfies a condition.
func firstGame(where condition: (Game, VariantMove) -> Bool) -> Game? {
  var row = [Game()]
  while !row.isEmpty {
    var next: [Game] = []
    for game in row where !game.isOver {
      for cell in game.state.moves {
        var longer = game
        guard let move = try? longer.playValued(cell) else { continue }
        if condition(longer, move) { return longer }
        next.append(longer)
      }
    }
    row = next
  }
  return nil
}

/// Plays a whole game, with each move at the end of the bar before. Returns the conductor, and its events for the last move.
func conducted(_ game: Game, rules: ScoreRules = rules, seed: UInt64 = 3, human: Player? = nil) -> (
  conductor: GameConductor, last: [ScoreEvent]
) {
  var conductor = GameConductor(seed: seed, rules: rules)
  _ = conductor.handle(.gameStarted(game.startState, human: human), at: .zero)
  var now = Tick.seconds(1)
  var last: [ScoreEvent] = []
  for move in game.variantMoves {
    last = conductor.handle(.moved(move), at: now)
    now = conductor.music.bars.last?.end ?? now
  }
  return (conductor, last)
}

/// Advances time in steps and collects the events.
func carryOn(_ conductor: inout GameConductor, from: Tick, to: Tick, step: Tick = .milliseconds(50)) -> [ScoreEvent] {
  var events: [ScoreEvent] = []
  var now = from
  while now < to {
    events += conductor.music.advance(to: now)
    now = now + step
  }
  return events
}

/// A random thinking time in seconds: 4·e^z, log-normal with median 4 s. The sum of twelve uniform numbers approximates the normal z.
func thinkingTime(_ generator: inout SplitMix64) -> Double {
  var sum = 0.0
  for _ in 0..<12 { sum += Double(generator.below(1_000_000)) / 1_000_000 }
  let z = 0.6 * (sum - 6)
  // e^z by its series, which gives the same result on every machine.
  var term = 1.0
  var power = 1.0
  for n in 1..<30 {
    term *= z / Double(n)
    power += term
  }
  return 4 * power
}

extension Bar {
  var melody: [Pitch] { pairs.compactMap { $0.m?.pitch } }
  var tones: [Pitch] { pairs.compactMap { $0.t?.pitch } }
}
