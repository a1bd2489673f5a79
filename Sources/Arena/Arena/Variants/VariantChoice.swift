import Base
import Opponents
import Oracle
import TicTacToe

/// Rules of which the arena knows players.
protocol ArenaRules: Rules {
  typealias Choice = (_ state: State, _ generator: inout SplitMix64, _ isStopped: () -> Bool) -> Cell

  /// How one of Alina's own players chooses a move of one game; `nil` where it does not play these rules.
  ///
  /// - Parameter search: Memory that nobody else uses during the game, with the learnt value or without.
  static func choice(of spec: PlayerSpec, search: (_ needsValue: Bool) -> UltimateSearch) -> Choice?
}

extension Infinite: ArenaRules {
  static func choice(of spec: PlayerSpec, search: (_ needsValue: Bool) -> UltimateSearch) -> Choice? {
    guard let player = spec.infinite else { return nil }
    return { state, generator, _ in player.move(in: state, using: &generator) }
  }
}

extension Ultimate: ArenaRules {
  static func choice(of spec: PlayerSpec, search: (_ needsValue: Bool) -> UltimateSearch) -> Choice? {
    switch spec {
    case .simple(.random): return { state, generator, _ in moves(state).randomCell(using: &generator) }
    case .level(let number):
      guard let level = UltimateLevel(number: number) else { return nil }
      let search = search(level.needsValue)
      search.forget()
      return { state, generator, isStopped in
        level.move(in: state, with: search, using: &generator, isStopped: isStopped)
      }
    case .mcts(let simulations):
      let search = search(false)
      search.forget()
      return { state, generator, isStopped in
        search.bestMove(in: state, simulations: simulations, using: &generator, isStopped: isStopped)
      }
    default: return nil
    }
  }
}

extension PlayerSpec {
  /// The player of Infinite of this name, if it is one.
  package var infinite: InfiniteOpponent? {
    switch self {
    case .simple(let simple): .simple(simple)
    case .level(let number): InfiniteLevel(number: number).map { .level($0) }
    default: nil
    }
  }

  /// Whether it plays a variant.
  func plays(_ variant: Variant) -> Bool {
    switch (self, variant) {
    case (_, .classic), (.engine, _): true
    case (.simple, .infinite), (.level, .infinite): true
    case (.simple(.random), .ultimate), (.mcts, .ultimate), (.level, .ultimate): true
    default: false
    }
  }

  /// What may be written for a variant, for messages.
  static func allowed(in variant: Variant) -> String {
    switch variant {
    case .classic: allowed
    case .infinite: "\(memoryless), cmd:COMMAND"
    case .ultimate: "random, levels:1–6, mcts:N, cmd:COMMAND"
    }
  }

  /// Whether it plays Ultimate with the learnt value.
  var needsUltimateValue: Bool {
    if case .level(let number) = self { UltimateLevel(number: number)?.needsValue == true } else { false }
  }
}
