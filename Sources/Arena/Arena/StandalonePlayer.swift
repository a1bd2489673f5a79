import Base
import Opponents
import TicTacToe

/// Any arena player, for games that the arena does not run: on a server or in a window. One thread at a time uses it.
package final class StandalonePlayer: @unchecked Sendable {
  private enum Seat {
    case classic(BoardPlayer)
    case infinite(VariantPlayer<Infinite>)
    case ultimate(VariantPlayer<Ultimate>)
  }

  private let seat: Seat
  private let client: EngineClient?
  private var generator: SplitMix64

  /// Makes the player of a name. An engine is started by the program `guardExecutable` (`alina-arena`) and has the time
  /// of the limit, for a move or on its clock. Throws if the handshake of an engine fails.
  package init(
    _ spec: PlayerSpec, variant: Variant = .classic, seed: UInt64, guardExecutable: String,
    time: TimeLimit = TimeLimit()
  ) throws(ArenaError) {
    generator = SplitMix64(seed: seed)
    guard spec.plays(variant) else {
      throw ArenaError(
        "player '\(spec.text)' does not play \(variant.rawValue), which has \(PlayerSpec.allowed(in: variant))")
    }
    if case .engine(let command) = spec {
      var recipe = EngineClient.Recipe(command: command, guardExecutable: guardExecutable, time: time, seed: seed)
      recipe.variant = variant
      let engine = EngineClient(recipe, StopSignal())
      try engine.start()
      client = engine
      switch variant {
      case .classic: seat = .classic(.engine(engine))
      case .infinite: seat = .infinite(.engine(engine))
      case .ultimate: seat = .ultimate(.engine(engine))
      }
      return
    }
    client = nil
    switch variant {
    case .classic: seat = .classic(try StandalonePlayer.classic(spec))
    case .infinite: seat = .infinite(.own(try StandalonePlayer.choice(spec, Infinite.self)))
    case .ultimate: seat = .ultimate(.own(try StandalonePlayer.choice(spec, Ultimate.self)))
    }
  }

  private static func classic(_ spec: PlayerSpec) throws(ArenaError) -> BoardPlayer {
    if let learner = try spec.learner() { return .learner(Learner(learner)) }
    if case .mcts(let simulations) = spec { return .search(MonteCarloSearch(), simulations: simulations) }
    if let opponent = try spec.memoryless() { return .table(DistributionTable(opponent)) }
    throw ArenaError("player '\(spec.text)' cannot play outside the arena")
  }

  private static func choice<R: ArenaRules>(_ spec: PlayerSpec, _ rules: R.Type) throws(ArenaError) -> R.Choice {
    let isLearnt = spec.needsUltimateValue && R.variant == .ultimate
    let value = isLearnt ? try UltimateValueFile.load(from: UltimateValueFile.folders) : nil
    guard let choice = R.choice(of: spec, search: { UltimateSearch(value: $0 ? value : nil) }) else {
      throw ArenaError("player '\(spec.text)' cannot play outside the arena")
    }
    return choice
  }

  deinit { client?.stop() }

  /// Starts a new game.
  package func beginGame() { try? client?.beginGame() }

  /// Chooses a move of a live game, whose moves so far led from its start to `state`. `clocks` are the milliseconds left
  /// to this side and to the other. `nil` if an engine crashed, cheated or was late, which loses the game.
  package func move(in state: VariantState, after cells: [Cell], clocks: (own: Int, other: Int)? = nil) -> Cell? {
    if let clocks { client?.setClock(clocks.own) }
    let other = clocks.map { Double($0.other) }
    let deadline = monotonicMilliseconds() + (clocks.map { TimeLimit.share(of: $0.own) } ?? .infinity)
    switch (seat, state) {
    case (.classic(let player), .classic(let position)):
      let answer = player.move(
        start: .start, moves: cells.map { Square($0.index) }, position: position, otherClock: other, using: &generator
      ) { monotonicMilliseconds() > deadline }
      return (try? answer.get().0).map { Cell($0.index) }
    case (.infinite(let player), .infinite(let state)): return move(player, state, cells, other, deadline)
    case (.ultimate(let player), .ultimate(let state)): return move(player, state, cells, other, deadline)
    default: return nil
    }
  }

  private func move<R: ArenaRules>(
    _ player: VariantPlayer<R>, _ state: R.State, _ cells: [Cell], _ other: Double?, _ deadline: Double
  ) -> Cell? {
    switch player {
    case .own(let choose): return choose(state, &generator) { monotonicMilliseconds() > deadline }
    case .engine(let client): return try? client.move(R.self, nil, cells, state, otherClock: other).get().0
    }
  }

  /// Ends a game. A learning player learns from it.
  package func endGame(_ cells: [Cell], as side: Player, outcome: Outcome?) {
    client?.endGame()
    guard case .classic(.learner(let learner)) = seat else { return }
    learner.player.learn(from: cells.map { Square($0.index) }, start: .start, as: side, outcome: outcome)
  }
}
