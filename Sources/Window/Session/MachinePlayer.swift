import Base
import Opponents
import Oracle
import TicTacToe

/// A computer opponent for one of the games.
package struct MachinePlayer: Sendable {
  /// The player's own name.
  package let name: String
  private let choose: @Sendable (Game, inout SplitMix64) -> Cell
  private var count: @Sendable (Game) -> MoveDistribution? = { _ in nil }

  /// An opponent for Classic.
  package init(_ opponent: some Opponent) {
    name = opponent.name
    choose = { game, generator in
      let square = opponent.move(in: game.position, lastMove: game.moves.last, using: &generator)
      return Cell(rawValue: square.rawValue)
    }
    count = { opponent.beads(in: $0.position) }
  }

  /// An opponent for misère.
  package init(_ opponent: MisereOpponent) {
    self.init(opponent.name, Misere.self) { Cell(opponent.move(in: $0, lastMove: nil, using: &$1).index) }
  }

  /// A player of Infinite.
  package init(_ opponent: InfiniteOpponent) {
    self.init(opponent.name, Infinite.self) { opponent.move(in: $0, using: &$1) }
  }

  /// A level of Ultimate; `value` is the value function for levels that need one.
  package init(_ level: UltimateLevel, value: UltimateValue?) {
    self.init(level.name, Ultimate.self) { state, generator in
      let search = UltimateSearch(value: level.needsValue ? value : nil, capacity: MachinePlayer.treeSize)
      return level.move(in: state, with: search, using: &generator)
    }
  }

  /// A random player for any game.
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
    (self.name, self.choose) = (name, choose)
  }

  /// Nodes of a level's search tree, more than its simulations can fill.
  private static let treeSize = 1 << 17

  /// Chooses a move in a running game.
  func move(in game: Game, using generator: inout SplitMix64) -> Cell { choose(game, &generator) }

  /// The beads from which the player would draw; `nil` for players without beads.
  package func beads(in game: Game) -> MoveDistribution? { count(game) }
}
