import Base
import Opponents
import TicTacToe

extension UCIServer {
  var variants: [Variant] {
    Variant.allCases.filter { spec.plays($0) }
  }

  /// An invalid line leaves the position unchanged.
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

  /// For variants other than Classic.
  mutating func go<R: ArenaRules>(_ state: R.State, _ rules: R.Type, _ words: [String]) -> Action {
    guard R.outcome(of: state) == nil else { return .reply(["bestmove (none)"]) }
    let choose: BoardPlayer<R>.Choice
    do throws(ArenaError) {
      if case .search(let needsValue)? = R.kind(of: spec), tree?.hasValue != needsValue {
        tree = UltimateSearch(
          value: needsValue ? try UltimateValueFile.load() : nil, capacity: UltimateSearch.capacity(megabytes: hash))
      }
      let memory = PlayerMemory(tree: { [tree] _ in tree ?? UltimateSearch() })
      guard case .own(let found, _) = try R.player(of: spec.untimed, with: memory) else {
        throw spec.refusal(in: R.variant)
      }
      choose = found
    } catch { return .reply(["info string \(error)", "bestmove (none)"]) }
    // With a budget of simulations, begin with an empty tree, so that position and seed determine the move.
    if !spec.isTimed { tree?.forget() }
    tree?.simulationLimit = UCIServer.nodes(words)
    return answer(words, R.turn(in: state), isSearch: spec.isSearch(in: R.variant)) { [tree] generator, isStopped in
      let cell = choose(state, nil, &generator, isStopped)
      let name = R.variant.name(of: cell)
      // `nil` if the player chose the move without a search.
      let move = tree?.rootMoves.first { $0.cell == cell }
      let info = move.map { ["info depth 1 score \(UCIServer.score($0.score)) pv \(name)"] } ?? []
      let reply = tree?.expectedReply(to: cell).map { " ponder \(R.variant.name(of: $0))" } ?? ""
      return info + ["bestmove \(name)\(reply)"]
    }
  }
}
