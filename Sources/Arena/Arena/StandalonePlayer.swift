import Base
import Opponents
import TicTacToe

/// Plays games outside of a run, as on a match server. Used by one thread at a time.
package final class StandalonePlayer: @unchecked Sendable {
  /// The type `BoardPlayer` differs from game to game; the types of these functions do not.
  private struct Seat {
    typealias Move = (VariantState, [Cell], inout SplitMix64, _ otherClock: Double?, _ deadline: Double) -> Cell?

    let client: EngineClient?
    let move: Move
    let learn: ([Cell], Player, Outcome?) -> Void

    init<R: ArenaRules>(_ rules: R.Type, _ spec: PlayerSpec, _ memory: PlayerMemory) throws(ArenaError) {
      let player = try R.player(of: spec, with: memory)
      client = player.client
      learn = { player.learn(from: $0, .none, as: $1, $2) }
      move = { position, cells, generator, otherClock, deadline in
        guard let state = R.state(of: position) else { preconditionFailure("a game of \(position.variant)") }
        switch player {
        case .own(let choose, _): return choose(state, cells.last, &generator) { monotonicMilliseconds() > deadline }
        case .engine(let client): return try? client.move(R.self, nil, cells, state, otherClock: otherClock).get().0
        }
      }
    }
  }

  private let seat: Seat
  private var generator: SplitMix64

  /// An engine is started by the program `guardExecutable` (`alina-arena`). Throws if the engine's handshake fails.
  package init(
    _ spec: PlayerSpec, variant: Variant = .classic, seed: UInt64, guardExecutable: String,
    time: TimeLimit = TimeLimit()
  ) throws(ArenaError) {
    generator = SplitMix64(seed: seed)
    let value = spec.needsValue(in: variant) ? try UltimateValueFile.load() : nil
    var memory = PlayerMemory(tree: { UltimateSearch(value: $0 ? value : nil) })
    memory.table = try spec.memoryless(in: variant).map { DistributionTable($0) }
    if case .engine(let command) = spec {
      var recipe = EngineClient.Recipe(command: command, guardExecutable: guardExecutable, time: time, seed: seed)
      recipe.variant = variant
      memory.engine = { [recipe] () throws(ArenaError) in
        let client = EngineClient(recipe, StopSignal())
        try client.start()
        return client
      }
    }
    seat = try Seat(variant.arenaRules, spec, memory)
  }

  deinit { seat.client?.stop() }

  package func beginGame() { try? seat.client?.beginGame() }

  /// `clocks`: the remaining milliseconds of both sides. `nil` if an engine crashed, made an illegal move or was late, and so loses the
  /// game.
  package func move(in state: VariantState, after cells: [Cell], clocks: (own: Int, other: Int)? = nil) -> Cell? {
    if let clocks { seat.client?.setClock(clocks.own) }
    let deadline = monotonicMilliseconds() + (clocks.map { TimeLimit.share(of: Double($0.own)) } ?? .infinity)
    return seat.move(state, cells, &generator, clocks.map { Double($0.other) }, deadline)
  }

  package func endGame(_ cells: [Cell], as side: Player, outcome: Outcome?) {
    seat.client?.endGame()
    seat.learn(cells, side, outcome)
  }
}
