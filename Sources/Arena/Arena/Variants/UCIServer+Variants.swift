import Base
import Opponents
import TicTacToe

/// A position of another variant than classic.
enum VariantPosition {
  case infinite(Infinite.State)
  case ultimate(Ultimate.State)

  /// The start of a variant's rules; `nil` for classic.
  init?(_ variant: Variant) {
    switch variant {
    case .classic: return nil
    case .infinite: self = .infinite(Infinite.start)
    case .ultimate: self = .ultimate(Ultimate.start)
    }
  }

  var variant: Variant {
    switch self {
    case .infinite: .infinite
    case .ultimate: .ultimate
    }
  }
}

extension UCIServer {
  /// The variants that the player plays.
  var variants: [Variant] {
    guard let spec = try? PlayerSpec(player.name) else { return [.classic] }
    return Variant.allCases.filter { spec.plays($0) }
  }

  /// Answers `position`.
  mutating func setVariantPosition(_ words: [String]) -> [String] {
    do throws(ArenaError) {
      switch variantPosition {
      case .infinite: variantPosition = .infinite(try UCIServer.state(words, Infinite.self))
      case .ultimate: variantPosition = .ultimate(try UCIServer.state(words, Ultimate.self))
      case nil: break
      }
      return []
    } catch { return ["info string \(error)"] }
  }

  private static func state<R: ArenaRules>(_ words: [String], _ rules: R.Type) throws(ArenaError) -> R.State {
    let movesAt = words.firstIndex(of: "moves") ?? words.endIndex
    var state = R.start
    switch words.first {
    case "startpos": break
    case "fen":
      do { state = try R.state(notation: words[1..<max(1, movesAt)].joined(separator: " ")) } catch {
        throw ArenaError("the position cannot be read: \(error.message)")
      }
    default: throw ArenaError("position needs startpos or fen")
    }
    for word in words.dropFirst(movesAt + 1) {
      guard let cell = R.variant.cell(named: word), R.moves(state).contains(cell) else {
        throw ArenaError("move '\(word.prefix(16))' is not legal")
      }
      _ = R.play(cell, &state)
    }
    return state
  }

  /// Answers `go`; `movetime`, a clock and `nodes` are kept.
  mutating func goInVariant(_ words: [String]) -> [String] {
    switch variantPosition {
    case .infinite(let state): choose(state, Infinite.self, words)
    case .ultimate(let state): choose(state, Ultimate.self, words)
    case nil: []
    }
  }

  private mutating func choose<R: ArenaRules>(_ state: R.State, _ rules: R.Type, _ words: [String]) -> [String] {
    guard R.outcome(of: state) == nil, let spec = try? PlayerSpec(player.name) else { return ["bestmove (none)"] }
    if R.variant == .ultimate, tree?.hasValue != spec.needsUltimateValue {
      do throws(ArenaError) {
        let needsValue = spec.needsUltimateValue
        tree = UltimateSearch(value: needsValue ? try UltimateValueFile.load(from: UltimateValueFile.folders) : nil)
      } catch { return ["info string \(error)", "bestmove (none)"] }
    }
    guard let choice = R.choice(of: spec, search: { [tree] _ in tree ?? UltimateSearch() }) else {
      return ["bestmove (none)"]
    }
    func number(_ name: String) -> Double? {
      words.firstIndex(of: name).flatMap { $0 + 1 < words.count ? Double(words[$0 + 1]) : nil }
    }
    let left = number(R.turn(in: state) == .x ? "wtime" : "btime").map {
      TimeLimit.share(of: Int(min(max($0, 0), 1e9)))
    }
    let deadline = monotonicMilliseconds() + (number("movetime") ?? left ?? .infinity)
    let cell = choice(state, &generator) { monotonicMilliseconds() > deadline }
    return ["bestmove \(R.variant.name(of: cell))"]
  }
}
