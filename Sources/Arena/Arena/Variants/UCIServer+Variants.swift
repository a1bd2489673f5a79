import Base
import Opponents
import TicTacToe

extension UCIServer {
  /// The variants that the player plays.
  var variants: [Variant] {
    guard let spec = try? PlayerSpec(player.name) else { return [.classic] }
    return Variant.allCases.filter { spec.plays($0) }
  }

  /// Answers `position`. Where the line cannot be read the position stays.
  mutating func setVariantPosition(_ words: [String], _ variant: Variant) -> [String] {
    do throws(ArenaError) {
      let movesAt = words.firstIndex(of: "moves") ?? words.endIndex
      var game = Game(from: VariantState(startOf: variant))
      switch words.first {
      case "startpos": break
      case "fen":
        do {
          game = Game(from: try VariantState(variant, notation: words[1..<max(1, movesAt)].joined(separator: " ")))
        } catch { throw ArenaError("the position cannot be read: \(error.message)") }
      default: throw ArenaError("position needs startpos or fen")
      }
      try game.play(Array(words.dropFirst(movesAt + 1)))
      variantPosition = game.state
      return []
    } catch { return ["info string \(error)"] }
  }

  /// Answers `go`; `movetime`, a clock and `nodes` are kept.
  mutating func goInVariant(_ words: [String]) -> [String] {
    switch variantPosition {
    case .infinite(let state): choose(state, Infinite.self, words)
    case .ultimate(let state): choose(state, Ultimate.self, words)
    case .classic, nil: []
    }
  }

  private mutating func choose<R: ArenaRules>(_ state: R.State, _ rules: R.Type, _ words: [String]) -> [String] {
    guard R.outcome(of: state) == nil, let spec = try? PlayerSpec(player.name) else { return ["bestmove (none)"] }
    if R.variant == .ultimate, tree?.hasValue != spec.needsUltimateValue {
      do throws(ArenaError) {
        let needsValue = spec.needsUltimateValue
        tree = UltimateSearch(value: needsValue ? try UltimateValueFile.load() : nil)
      } catch { return ["info string \(error)", "bestmove (none)"] }
    }
    tree?.forget()
    let memory = PlayerMemory(tree: { [tree] _ in tree ?? UltimateSearch() })
    guard case .own(let choose, _)? = R.player(of: spec, with: memory) else { return ["bestmove (none)"] }
    let time = UCIServer.limit("movetime", words) ?? UCIServer.share(of: R.turn(in: state), words) ?? .infinity
    let deadline = monotonicMilliseconds() + time
    let cell = choose(state, nil, &generator) { monotonicMilliseconds() > deadline }
    return ["bestmove \(R.variant.name(of: cell))"]
  }
}
