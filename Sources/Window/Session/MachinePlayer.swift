import Base
import Opponents
import Oracle
import TicTacToe

/// A computer opponent for one of the variants.
package struct MachinePlayer: Sendable {
  /// The name of the player in records.
  package let name: String
  /// One step of a search, shorter than 1/60 s; returns the move once the search has found it.
  typealias Thought = () -> Cell?
  private let begin: @Sendable (Game, SplitMix64) -> Thought
  private var count: @Sendable (Game) -> MoveDistribution? = { _ in nil }

  /// An opponent for Classic.
  package init(_ opponent: some Opponent) {
    self.init(name: opponent.name) { game, generator in
      let square = opponent.move(in: game.position, lastMove: game.moves.last, using: &generator)
      return Cell(rawValue: square.rawValue)
    }
    count = { opponent.beads(in: $0.position) }
  }

  package init(_ opponent: MisereOpponent) {
    self.init(opponent.name, Misere.self) { Cell(opponent.move(in: $0, lastMove: nil, using: &$1).index) }
  }

  package init(_ opponent: InfiniteOpponent) {
    self.init(opponent.name, Infinite.self) { opponent.move(in: $0, using: &$1) }
  }

  /// `value` is the value function, for levels that need one.
  package init(_ level: UltimateLevel, value: UltimateValue?) {
    name = level.name
    begin = { game, generator in
      guard case .ultimate(let state) = game.state else { preconditionFailure("a game of \(game.variant.rawValue)") }
      let search = UltimateSearch(value: level.needsValue ? value : nil, capacity: MachinePlayer.treeSize)
      var generator = generator
      guard level == UltimateLevel.all.last else { return { level.move(in: state, with: search, using: &generator) } }
      var left = Ultimate.moves(state).count == 1 ? 0 : MachinePlayer.simulations
      return {
        let cell = search.bestMove(in: state, simulations: MachinePlayer.simulationsOfStep, using: &generator)
        left -= MachinePlayer.simulationsOfStep
        return left <= 0 || search.isDecided ? cell : nil
      }
    }
  }

  package static let random = MachinePlayer(name: SimpleOpponent.random.name) { game, generator in
    game.state.moves.randomCell(using: &generator)
  }

  private init<R: Rules>(
    _ name: String, _ rules: R.Type, choose: @escaping @Sendable (R.State, inout SplitMix64) -> Cell
  ) {
    self.init(name: name) { game, generator in
      guard let state = R.state(of: game.state) else { preconditionFailure("a game of \(game.variant.rawValue)") }
      return choose(state, &generator)
    }
  }

  private init(name: String, choose: @escaping @Sendable (Game, inout SplitMix64) -> Cell) {
    self.name = name
    begin = { game, generator in
      var generator = generator
      return { choose(game, &generator) }
    }
  }

  /// Simulations for a move of Ultimate's highest level: 0.1 s, in a browser most of a second, less than the music takes for a move.
  private static let simulations = 200_000
  /// Simulations in one step of the search, about 8 ms in a browser.
  private static let simulationsOfStep = 4_000
  /// The maximum number of nodes of a search tree, 40 bytes each; with a full tree the search continues.
  private static let treeSize = 1 << 19

  func thought(about game: Game, _ generator: SplitMix64) -> Thought { begin(game, generator) }

  /// MENACE's beads for each cell, from which it would draw its move; `nil` for players without beads.
  package func beads(in game: Game) -> MoveDistribution? { count(game) }
}
