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

let rules = (try? RuleLibrary.load(assets + "/score.yaml"))!.rules

let assets = repository.appending(path: "Assets").path

func game(_ squares: String) throws -> Game {
  var game = Game()
  for name in squares.split(separator: " ") { try game.play(#require(Square(name: name))) }
  return game
}

/// Every game up to symmetry. Calls `visit` after every move.
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

/// Each move comes at the end of the bar before it. `last` has the events for the last move.
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

func carryOn(_ conductor: inout GameConductor, from: Tick, to: Tick, step: Tick = .milliseconds(50)) -> [ScoreEvent] {
  var events: [ScoreEvent] = []
  var now = from
  while now < to {
    events += conductor.music.advance(to: now)
    now = now + step
  }
  return events
}

/// 4·e^z seconds: log-normal with median 4 s. The sum of twelve uniform numbers approximates the normal z.
func thinkingTime(_ generator: inout SplitMix64) -> Double {
  var sum = 0.0
  for _ in 0..<12 { sum += Double(generator.below(1_000_000)) / 1_000_000 }
  let z = 0.6 * (sum - 6)
  // A series gives the same e^z on every machine.
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
