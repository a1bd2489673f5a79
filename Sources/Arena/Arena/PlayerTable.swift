import Base
import Opponents
import Oracle
import TicTacToe

/// The rules of a game, with the table of the players that can play it.
protocol ArenaRules: Rules {
  /// `nil` if the player does not play this game.
  static func entry(of spec: PlayerSpec) -> PlayerEntry<Self>?

  /// The number of boards that each side has won; `nil` in a game of one board.
  static func wonBoards(_ state: State) -> (x: Int, o: Int)?
}

struct PlayerEntry<R: Rules> {
  let kind: PlayerKind
  let make: (PlayerMemory) throws(ArenaError) -> BoardPlayer<R>
}

/// Players of different kinds need different memory: a table, a learner, a tree or an engine.
enum PlayerKind {
  /// The chances of the player's moves depend only on the state and the last move. The player is `nil` if the game's state is not a
  /// `Position`.
  case memoryless((any MemorylessOpponent)?)
  /// The function makes a player that has not yet learnt from the run.
  case learner(() throws(ArenaError) -> any LearningOpponent)
  /// With `needsValue` the tree uses Ultimate's learnt value function.
  case search(needsValue: Bool)
  case engine
}

/// The tables, trees and engines for one player; no other player uses them during a game.
struct PlayerMemory {
  /// The table of a memoryless player, or of a learner that no longer learns, if the game's state is a `Position`.
  var table: DistributionTable?
  /// Returns the same learner during the whole run; `nil` outside a run and for players that do not learn.
  var learner: () -> Learner? = { nil }
  /// The tree for a search in Classic.
  var search: () -> MonteCarloSearch = { MonteCarloSearch() }
  /// The tree for a search in Ultimate.
  var tree: (_ needsValue: Bool) -> UltimateSearch
  var engine: () throws(ArenaError) -> EngineClient = { () throws(ArenaError) in
    throw ArenaError("an external program cannot play here")
  }
}

extension PlayerEntry {
  static var engine: PlayerEntry {
    PlayerEntry(kind: .engine) { (memory) throws(ArenaError) in .engine(try memory.engine()) }
  }

  static func memoryless(_ choose: @escaping BoardPlayer<R>.Choice) -> PlayerEntry {
    PlayerEntry(kind: .memoryless(nil)) { _ in .own(choose) }
  }

  static func search(
    needsValue: Bool = false, _ make: @escaping (PlayerMemory) -> BoardPlayer<R>.Choice
  ) -> PlayerEntry {
    PlayerEntry(kind: .search(needsValue: needsValue)) { .own(make($0)) }
  }
}

extension PlayerEntry where R: PositionRules {
  static func memoryless(_ player: any MemorylessOpponent) -> PlayerEntry {
    PlayerEntry(kind: .memoryless(player)) { memory in
      if let table = memory.table { return .table(table) }
      return .own { position, last, generator, _ in
        Cell(player.move(in: position, lastMove: last.map { Square($0.index) }, using: &generator).index)
      }
    }
  }
}

extension PlayerEntry<Classic> {
  static func learner(_ create: @escaping () throws(ArenaError) -> any LearningOpponent) -> PlayerEntry {
    PlayerEntry(kind: .learner(create)) { (memory) throws(ArenaError) in
      if let table = memory.table { return .table(table) }
      if let learner = memory.learner() { return .learner(learner) }
      return .learner(Learner(try create()))
    }
  }
}

extension Classic: ArenaRules {
  static func entry(of spec: PlayerSpec) -> PlayerEntry<Classic>? {
    switch spec {
    case .simple(let player): return .memoryless(player)
    case .level(let number): return Level(number: number).map { .memoryless($0) }
    case .mcts(let budget):
      return .search { memory in
        let search = memory.search()
        return { position, _, generator, isStopped in
          let deadline = budget.deadline()
          let square = search.bestMove(in: position, simulations: budget.simulations, using: &generator) {
            isStopped() || monotonicMilliseconds() > deadline
          }
          return Cell(square.index)
        }
      }
    case .search: return nil
    case .menace(let file):
      return .learner { () throws(ArenaError) in
        if let file { return try MatchboxFile.load(file) }
        return Menace()
      }
    case .adaptive: return .learner { Adaptive() }
    case .engine: return .engine
    }
  }
}

extension Infinite: ArenaRules {
  static func entry(of spec: PlayerSpec) -> PlayerEntry<Infinite>? {
    if spec.isEngine { return .engine }
    return spec.infinite.map { player in
      .memoryless { state, _, generator, _ in player.move(in: state, using: &generator) }
    }
  }
}

extension Misere: ArenaRules {
  static func entry(of spec: PlayerSpec) -> PlayerEntry<Misere>? {
    switch spec {
    case .simple(let player): .memoryless(MisereOpponent.simple(player))
    case .level(let number): MisereLevel(number: number).map { .memoryless(MisereOpponent.level($0)) }
    case .mcts, .search, .menace, .adaptive: nil
    case .engine: .engine
    }
  }
}

extension Ultimate: ArenaRules {
  static func entry(of spec: PlayerSpec) -> PlayerEntry<Ultimate>? {
    switch spec {
    case .simple(.random): .memoryless { state, _, generator, _ in moves(state).randomCell(using: &generator) }
    case .simple, .menace, .adaptive: nil
    case .level(let number):
      UltimateLevel(number: number).map { level in
        .search(needsValue: level.needsValue) { memory in
          let search = memory.tree(level.needsValue)
          return { state, _, generator, isStopped in
            level.move(in: state, with: search, using: &generator, isStopped: isStopped)
          }
        }
      }
    case .mcts(let budget): search(budget, needsValue: false)
    case .search(let budget): search(budget, needsValue: true)
    case .engine: .engine
    }
  }

  static func wonBoards(_ state: State) -> (x: Int, o: Int)? {
    (state.boards(of: .x).count, state.boards(of: .o).count)
  }

  private static func search(_ budget: SearchBudget, needsValue: Bool) -> PlayerEntry<Ultimate> {
    .search(needsValue: needsValue) { memory in
      let search = memory.tree(needsValue)
      return { state, _, generator, isStopped in
        let deadline = budget.deadline()
        return search.bestMove(in: state, simulations: budget.simulations, using: &generator) {
          isStopped() || monotonicMilliseconds() > deadline
        }
      }
    }
  }
}

extension ArenaRules {
  static func wonBoards(_ state: State) -> (x: Int, o: Int)? { nil }

  static func kind(of spec: PlayerSpec) -> PlayerKind? { entry(of: spec)?.kind }

  /// Throws if the player does not play this game, or cannot be made with this memory.
  static func player(of spec: PlayerSpec, with memory: PlayerMemory) throws(ArenaError) -> BoardPlayer<Self> {
    guard let entry = entry(of: spec) else { throw spec.refusal(in: variant) }
    return try entry.make(memory)
  }
}

extension Variant {
  /// Generic code that gets the rules from this value is slow, because the compiler cannot specialise it. So loops over games switch over
  /// the variants instead.
  var arenaRules: any ArenaRules.Type {
    switch self {
    case .classic: Classic.self
    case .infinite: Infinite.self
    case .misere: Misere.self
    case .ultimate: Ultimate.self
    }
  }
}

extension PlayerSpec {
  /// `nil` if the player does not play the game.
  func kind(in variant: Variant) -> PlayerKind? { variant.arenaRules.kind(of: self) }

  func plays(_ variant: Variant) -> Bool { kind(in: variant) != nil }

  func isSearch(in variant: Variant) -> Bool { if case .search? = kind(in: variant) { true } else { false } }

  func needsValue(in variant: Variant) -> Bool {
    if case .search(needsValue: true)? = kind(in: variant) { true } else { false }
  }

  package func isLearner(in variant: Variant) -> Bool {
    if case .learner? = kind(in: variant) { true } else { false }
  }

  /// `nil` if the player does not learn or does not play `variant`.
  func learner(in variant: Variant) throws(ArenaError) -> (any LearningOpponent)? {
    if case .learner(let create)? = kind(in: variant) { try create() } else { nil }
  }

  /// `nil` unless the player is memoryless and the game's state is a `Position`. With `freezing`, a learning player counts as memoryless
  /// and no longer learns.
  package func memoryless(
    in variant: Variant, freezing: Bool = false
  ) throws(ArenaError) -> (any MemorylessOpponent)? {
    switch kind(in: variant) {
    case .memoryless(let player)?: player
    case .learner(let create)?: freezing ? try create().frozen : nil
    case .search?, .engine?, nil: nil
    }
  }

  /// The player of Alina's own that plays Infinite for this specification; `nil` if there is none, as for engines, which play it too.
  package var infinite: InfiniteOpponent? {
    switch self {
    case .simple(let simple): .simple(simple)
    case .level(let number): InfiniteLevel(number: number).map { .level($0) }
    case .mcts, .search, .menace, .adaptive, .engine: nil
    }
  }

  /// An example of each form of specification, and the form as messages print it.
  private static let forms: [(example: PlayerSpec, text: String)] =
    SimpleOpponent.allCases.map { (.simple($0), $0.name) } + [
      (.level(1), "levels:1–6"), (.mcts(.simulations(1)), "mcts:BUDGET"), (.search(.simulations(1)), "search:BUDGET"),
      (.menace(file: nil), "menace[:FILE]"), (.adaptive, "adaptive"), (.engine([]), "cmd:COMMAND"),
    ]

  /// Alina's own players of `variant` that do not learn, as messages list them.
  static func unlearning(in variant: Variant) -> String {
    forms.filter { !$0.example.isEngine && $0.example.plays(variant) && !$0.example.isLearner(in: variant) }
      .map(\.text).joined(separator: ", ")
  }

  func refusal(in variant: Variant) -> ArenaError {
    let allowed = PlayerSpec.forms.filter { $0.example.plays(variant) }.map(\.text).joined(separator: ", ")
    return ArenaError("player '\(text)' does not play \(variant.rawValue); allowed: \(allowed)")
  }
}
