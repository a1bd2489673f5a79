import Base
import Opponents
import TicTacToe

/// Any arena player, for games that the arena does not run: on a server or in a window. One thread at a time uses it.
package final class StandalonePlayer: @unchecked Sendable {
  private let player: BoardPlayer
  private var generator: SplitMix64

  /// Makes the player of a name. An engine is started by the program `guardExecutable` (`alina-arena`) and has the time
  /// of the limit, for a move or on its clock. Throws if the handshake of an engine fails.
  package init(
    _ spec: PlayerSpec, seed: UInt64, guardExecutable: String, time: TimeLimit = TimeLimit()
  ) throws(ArenaError) {
    generator = SplitMix64(seed: seed)
    if let learner = try spec.learner() {
      player = .learner(Learner(learner))
    } else if case .mcts(let simulations) = spec {
      player = .search(MonteCarloSearch(), simulations: simulations)
    } else if let opponent = try spec.memoryless() {
      player = .table(DistributionTable(opponent))
    } else if case .engine(let command) = spec {
      let recipe = EngineClient.Recipe(command: command, guardExecutable: guardExecutable, time: time, seed: seed)
      let client = EngineClient(recipe, StopSignal())
      try client.start()
      player = .engine(client)
    } else {
      throw ArenaError("player '\(spec.text)' cannot play outside the arena")
    }
  }

  deinit { if case .engine(let client) = player { client.stop() } }

  /// Starts a new game.
  package func beginGame() { if case .engine(let client) = player { try? client.beginGame() } }

  /// Chooses a move of a live game. `clocks` are the milliseconds left to this side and to the other. `nil` if an
  /// engine crashed, cheated or was late, which loses the game.
  package func move(start: Position, moves: [Square], clocks: (own: Int, other: Int)? = nil) -> Square? {
    if case .engine(let client) = player, let clocks { client.setClock(clocks.own) }
    let deadline = monotonicMilliseconds() + (clocks.map { TimeLimit.share(of: $0.own) } ?? .infinity)
    let answer = player.move(
      start: start, moves: moves, position: moves.reduce(start) { $0.playing($1) },
      otherClock: clocks.map { Double($0.other) }, using: &generator
    ) { monotonicMilliseconds() > deadline }
    return try? answer.get().0
  }

  /// Ends a game. A learning player learns from it.
  package func endGame(start: Position, moves: [Square], as side: Player, outcome: Outcome?) {
    if case .engine(let client) = player { client.endGame() }
    guard case .learner(let learner) = player else { return }
    learner.player.learn(from: moves, start: start, as: side, outcome: outcome)
  }
}
