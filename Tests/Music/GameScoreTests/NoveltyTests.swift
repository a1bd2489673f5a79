import Base
import Oracle
import ScoreModel
import TestSupport
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

@Test func `In half an hour of random games no bar of four notes or more is repeated`() {
  var bars = 0
  let seeds = amount("NOVELTY_SEEDS", quick: 20, all: 100)
  for seed in 0..<seeds {
    var conductor = GameConductor(seed: UInt64(seed), rules: rules)
    var generator = SplitMix64(seed: UInt64(seed) &+ 1_000)
    _ = conductor.handle(.opened(resuming: false), at: .zero)
    var now = Tick.seconds(3)
    var index = seed * 1_000
    while now < .seconds(1_800) {
      _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: now)
      for move in randomGame(index).game.variantMoves {
        now = now + .seconds(thinkingTime(&generator))
        _ = conductor.music.advance(to: now - Conductor.lookahead)
        _ = conductor.handle(.moved(move), at: now)
      }
      index += 1
      // One rematch in five starts half a second after the last move, the others after the arch.
      now = now + .seconds(generator.below(5) == 0 ? 0.5 : 75)
      _ = conductor.music.advance(to: now - Conductor.lookahead)
    }
    var heard: Set<[Pitch]> = []
    for bar in conductor.music.bars where bar.kind == .move || bar.kind == .closing || bar.kind == .opening {
      guard bar.melody.count >= 4 else { continue }
      bars += 1
      #expect(heard.insert(bar.melody).inserted, "seed \(seed), bar \(bar.index)")
    }
  }
  #expect(bars > 100 * seeds)
}
