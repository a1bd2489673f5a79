import Base
import GameScore
import Oracle
import ScoreModel
import TicTacToe
import Tintinnabuli

/// Sessions for measuring loudness and clicks. One in five games has a rematch; after the others the closing music plays to its end.
package struct SimulatedPlay: Sendable {
  package private(set) var events: [ScoreEvent] = []
  /// The end of the last game's closing music and of the idle time after it.
  package private(set) var end = Tick.zero
  /// The changes of the tonic, each with the rules transposed to the new tonic.
  package private(set) var turns: [(at: Tick, rules: ScoreRules)] = []

  /// `median` is the players' median thinking time, `idle` the time after the last game, both in seconds.
  package init(
    games: Int, of variant: Variant = .classic, seed: UInt64, rules: ScoreRules, median: Double = 4, idle: Double = 0
  ) {
    var conductor = GameConductor(seed: seed, rules: rules)
    conductor.music.autoReplyVoices = []
    var generator = SplitMix64(seed: seed, index: 0x5143)
    var now = Tick.zero
    events += conductor.handle(.opened(resuming: false), at: now)
    for index in 0..<games {
      let scale = conductor.music.rules.scale
      events += conductor.handle(.gameStarted(VariantState(startOf: variant), human: nil), at: now)
      if conductor.music.rules.scale != scale { turns.append((now, conductor.music.rules)) }
      for move in ReferenceGames.game(variant, seed: seed, index: index).game.variantMoves {
        let next = now + .seconds(min(median * Self.thinkingTime(&generator), 30))
        events += conductor.music.advance(to: next - Conductor.lookahead)
        now = next
        events += conductor.handle(.moved(move), at: now)
      }
      var rest = Tick.seconds(0.8)
      if generator.below(5) > 0 || index == games - 1 {
        events += conductor.music.renderToEnd()
        rest = (conductor.music.bars.last?.end ?? now) - now + .seconds(3)
      }
      now = now + rest
    }
    end = now + .seconds(idle)
    events += conductor.music.advance(to: end - Conductor.lookahead) + conductor.music.fade(at: end)
  }

  /// A thinking time as a multiple of the median.
  private static func thinkingTime(_ generator: inout SplitMix64) -> Double {
    // The sum of twelve uniform numbers is nearly normal. Without libm (a series computes e^x) the times are equal on every machine.
    let normal = (0..<12).reduce(-6.0) { sum, _ in sum + Double(generator.below(1_000_000)) / 1_000_000 }
    var term = 1.0
    var power = 1.0
    for n in 1..<30 {
      term *= 0.7 * normal / Double(n)
      power += term
    }
    return power
  }
}
