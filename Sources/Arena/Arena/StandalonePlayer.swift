import Base
import Opponents
import TicTacToe

/// Any arena player for games outside of the arena, on a server or in a window. Used by one thread at a time.
package final class StandalonePlayer: @unchecked Sendable {
  private enum Seat {
    case classic(BoardPlayer<Classic>)
    case infinite(BoardPlayer<Infinite>)
    case misere(BoardPlayer<Misere>)
    case ultimate(BoardPlayer<Ultimate>)
  }

  private let seat: Seat
  private let client: EngineClient?
  private var generator: SplitMix64

  /// Makes a player. An engine is started by the program `guardExecutable` (`alina-arena`) with the given time limit.
  /// Throws if its handshake fails.
  package init(
    _ spec: PlayerSpec, variant: Variant = .classic, seed: UInt64, guardExecutable: String,
    time: TimeLimit = TimeLimit()
  ) throws(ArenaError) {
    generator = SplitMix64(seed: seed)
    guard spec.plays(variant) else {
      throw ArenaError(
        "player '\(spec.text)' does not play \(variant.rawValue), which has \(PlayerSpec.allowed(in: variant))")
    }
    var engine: EngineClient?
    if case .engine(let command) = spec {
      var recipe = EngineClient.Recipe(command: command, guardExecutable: guardExecutable, time: time, seed: seed)
      recipe.variant = variant
      engine = EngineClient(recipe, StopSignal())
      try engine?.start()
    }
    client = engine
    switch variant {
    case .classic: seat = .classic(try StandalonePlayer.player(spec, engine))
    case .infinite: seat = .infinite(try StandalonePlayer.player(spec, engine))
    case .misere: seat = .misere(try StandalonePlayer.player(spec, engine))
    case .ultimate: seat = .ultimate(try StandalonePlayer.player(spec, engine))
    }
  }

  private static func player<R: ArenaRules>(
    _ spec: PlayerSpec, _ engine: EngineClient?
  ) throws(ArenaError) -> BoardPlayer<R> {
    if let engine { return .engine(engine) }
    let value = spec.needsValue(in: R.variant) ? try UltimateValueFile.load() : nil
    var memory = PlayerMemory(tree: { UltimateSearch(value: $0 ? value : nil) })
    memory.learner = try spec.learner().map { Learner($0) }
    memory.table = try spec.memoryless(in: R.variant).map { DistributionTable($0) }
    guard let player = R.player(of: spec, with: memory) else {
      throw ArenaError("player '\(spec.text)' cannot play outside the arena")
    }
    return player
  }

  deinit { client?.stop() }

  /// Starts a new game.
  package func beginGame() { try? client?.beginGame() }

  /// Chooses a move in a live game with these moves so far. `clocks` are the remaining milliseconds of both sides.
  /// `nil` if an engine crashed, made an illegal move or was late, which loses the game.
  package func move(in state: VariantState, after cells: [Cell], clocks: (own: Int, other: Int)? = nil) -> Cell? {
    if let clocks { client?.setClock(clocks.own) }
    let other = clocks.map { Double($0.other) }
    let deadline = monotonicMilliseconds() + (clocks.map { TimeLimit.share(of: Double($0.own)) } ?? .infinity)
    switch seat {
    case .classic(let player): return move(player, state, cells, other, deadline)
    case .infinite(let player): return move(player, state, cells, other, deadline)
    case .misere(let player): return move(player, state, cells, other, deadline)
    case .ultimate(let player): return move(player, state, cells, other, deadline)
    }
  }

  private func move<R: ArenaRules>(
    _ player: BoardPlayer<R>, _ position: VariantState, _ cells: [Cell], _ other: Double?, _ deadline: Double
  ) -> Cell? {
    guard let state = R.state(of: position) else { preconditionFailure("a game of \(position.variant)") }
    switch player {
    case .own(let choose, _): return choose(state, cells.last, &generator) { monotonicMilliseconds() > deadline }
    case .engine(let client): return try? client.move(R.self, nil, cells, state, otherClock: other).get().0
    }
  }

  /// Ends a game. A learning player learns from it.
  package func endGame(_ cells: [Cell], as side: Player, outcome: Outcome?) {
    client?.endGame()
    if case .classic(let player) = seat { player.learn(from: cells, VariantOpening(), as: side, outcome) }
  }
}
