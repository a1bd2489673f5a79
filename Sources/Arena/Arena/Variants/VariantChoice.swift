import Base
import Opponents
import Oracle
import TicTacToe

/// The tables and trees of one player, which no other player uses during a game.
struct PlayerMemory {
  /// The table of a memoryless player of Classic.
  var table: DistributionTable?
  var learner: Learner?
  /// The tree for a search in Classic.
  var search: () -> MonteCarloSearch = { MonteCarloSearch() }
  /// The tree for a search in Ultimate, with or without the value function.
  var tree: (_ needsValue: Bool) -> UltimateSearch
}

/// Rules for which the arena has players.
protocol ArenaRules: Rules {
  /// One of Alina's own players; `nil` if it does not play these rules.
  static func player(of spec: PlayerSpec, with memory: PlayerMemory) -> BoardPlayer<Self>?
}

extension Classic: ArenaRules {
  static func player(of spec: PlayerSpec, with memory: PlayerMemory) -> BoardPlayer<Classic>? {
    if let table = memory.table { return .table(table) }
    if let learner = memory.learner { return .learner(learner) }
    guard case .mcts(let budget) = spec else { return nil }
    let search = memory.search()
    return .own { position, _, generator, isStopped in
      let deadline = budget.deadline()
      let square = search.bestMove(in: position, simulations: budget.simulations, using: &generator) {
        isStopped() || monotonicMilliseconds() > deadline
      }
      return Cell(square.index)
    }
  }
}

extension Infinite: ArenaRules {
  static func player(of spec: PlayerSpec, with memory: PlayerMemory) -> BoardPlayer<Infinite>? {
    guard let player = spec.infinite else { return nil }
    return .own { state, _, generator, _ in player.move(in: state, using: &generator) }
  }
}

extension Misere: ArenaRules {
  static func player(of spec: PlayerSpec, with memory: PlayerMemory) -> BoardPlayer<Misere>? {
    if let table = memory.table { return .table(table) }
    guard let player = try? spec.memoryless(in: variant) else { return nil }
    return .own { position, _, generator, _ in
      Cell(player.move(in: position, lastMove: nil, using: &generator).index)
    }
  }
}

extension Ultimate: ArenaRules {
  static func player(of spec: PlayerSpec, with memory: PlayerMemory) -> BoardPlayer<Ultimate>? {
    switch spec {
    case .simple(.random): return .own { state, _, generator, _ in moves(state).randomCell(using: &generator) }
    case .level(let number):
      guard let level = UltimateLevel(number: number) else { return nil }
      let search = memory.tree(level.needsValue)
      return .own { state, _, generator, isStopped in
        level.move(in: state, with: search, using: &generator, isStopped: isStopped)
      }
    case .mcts(let budget), .search(let budget):
      let search = memory.tree(spec.needsUltimateValue)
      return .own { state, _, generator, isStopped in
        let deadline = budget.deadline()
        return search.bestMove(in: state, simulations: budget.simulations, using: &generator) {
          isStopped() || monotonicMilliseconds() > deadline
        }
      }
    default: return nil
    }
  }
}

extension PlayerSpec {
  /// The player of Infinite; `nil` for other specifications.
  package var infinite: InfiniteOpponent? {
    switch self {
    case .simple(let simple): .simple(simple)
    case .level(let number): InfiniteLevel(number: number).map { .level($0) }
    default: nil
    }
  }

  /// The memoryless player of a game whose state is a `Position`, if it is one; `nil` in all other games. With `freezing`,
  /// learning players count in their current state.
  package func memoryless(
    in variant: Variant, freezing: Bool = false
  ) throws(ArenaError) -> (any MemorylessOpponent)? {
    switch (variant, self) {
    case (.infinite, _), (.ultimate, _): return nil
    case (.misere, .simple(let player)): return MisereOpponent.simple(player)
    case (.misere, .level(let number)): return MisereLevel(number: number).map { MisereOpponent.level($0) }
    case (.misere, _): return nil
    case (.classic, .simple(let player)): return player
    case (.classic, .level(let number)): return Level(number: number)
    case (.classic, .menace), (.classic, .adaptive): return freezing ? try learner()?.frozen : nil
    case (.classic, .mcts), (.classic, .search), (.classic, .engine): return nil
    }
  }

  /// Whether the player plays a variant.
  func plays(_ variant: Variant) -> Bool {
    switch (variant, self) {
    case (_, .engine): true
    case (.classic, .search): false
    case (.classic, _): true
    case (.infinite, .simple), (.infinite, .level), (.misere, .simple), (.misere, .level): true
    case (.infinite, _), (.misere, _): false
    case (.ultimate, .simple(let player)): player == .random
    case (.ultimate, .level), (.ultimate, .mcts), (.ultimate, .search): true
    case (.ultimate, .menace), (.ultimate, .adaptive): false
    }
  }

  /// Alina's own memoryless or searching players of a variant, for messages.
  static func unlearning(in variant: Variant) -> String {
    switch variant {
    case .classic: "\(memoryless), mcts:BUDGET"
    case .infinite, .misere: memoryless
    case .ultimate: "random, levels:1–6, mcts:BUDGET, search:BUDGET"
    }
  }

  /// The permitted specifications for a variant, for messages.
  static func allowed(in variant: Variant) -> String {
    variant.isImplied ? allowed : "\(unlearning(in: variant)), cmd:COMMAND"
  }

  /// Whether the player needs the learnt values to play a variant.
  func needsValue(in variant: Variant) -> Bool { variant.hasLearntValue && needsUltimateValue }

  /// Whether the player plays Ultimate with the value function.
  var needsUltimateValue: Bool {
    switch self {
    case .level(let number): UltimateLevel(number: number)?.needsValue == true
    case .search: true
    default: false
    }
  }
}
