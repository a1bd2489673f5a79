import Arena
import Base
import Opponents
import TicTacToe

extension ArenaBench {
  mutating func addUltimate(_ scale: Double) {
    let program = CBaseline("ultimate", PackageResources.ultimate_c)
    let games = max(100, Int(2_000_000 * scale))
    addBest("Ultimate, random games", "M games/s/core", goal: 3, 1, program?.measure("random", games)) {
      ArenaBench.ultimateEnds(games)
    } signature: {
      $0
    } figure: {
      Double(games) / $0 * 1e3
    }
    let simulations = max(1, Int(100 * scale)) * 10_000
    addBest("Ultimate, tree search", "M simulations/s/core", goal: 1.5, 1, program?.measure("search", simulations)) {
      ArenaBench.ultimateVisits(simulations)
    } signature: {
      $0
    } figure: {
      Double(simulations) / $0 * 1e3
    }
    guard let value = try? UltimateValueFile.load() else { return }
    addBest("… with the learnt value", "M simulations/s/core", goal: 1, 1, nil) {
      ArenaBench.ultimateVisits(simulations, value)
    } signature: {
      $0
    } figure: {
      Double(simulations) / $0 * 1e3
    }
  }

  private static func ultimateEnds(_ games: Int) -> String {
    let playouts = UltimatePlayouts(seed: 1)
    var (plies, ends) = (0, [0, 0, 0])
    for _ in 0..<games { ends[playouts.play(from: Ultimate.start, plies: &plies) + 1] += 1 }
    return "\(ends[2])/\(ends[1])/\(ends[0])"
  }

  /// Runs searches of ten thousand simulations, as for one move. Returns a checksum of the visits to the first moves.
  private static func ultimateVisits(_ simulations: Int, _ value: UltimateValue? = nil) -> String {
    let search = UltimateSearch(value: value)
    var signature: UInt64 = 0
    for index in 0..<simulations / 10_000 {
      search.forget()
      search.search(Ultimate.start, seed: UInt64(index + 1), simulations: 10_000)
      signature = mixed(signature &+ search.rootMoves.reduce(0) { mixed($0 &+ UInt64($1.visits)) })
    }
    return "\(signature)"
  }

  /// Mixes a number's bits as `SplitMix64` mixes its state.
  static func mixed(_ number: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: number &- 0x9E37_79B9_7F4A_7C15)
    return generator.next()
  }

  /// Plays search with the value function against playouts; a move has `milliseconds` of processor time. Two games in succession start
  /// with the same random moves, sides swapped.
  static func playTop(milliseconds: Double, games: Int) throws -> String {
    let value = try UltimateValueFile.load()
    // Enough nodes for a second of search and for the part of the tree that is kept from the move before.
    let searches = [value, nil].map { UltimateSearch(value: $0, capacity: 1 << 24) }
    var score = (wins: 0, draws: 0, losses: 0)
    for game in 0..<games {
      var generator = SplitMix64(seed: 1, index: UInt64(game / 2))
      var state = Ultimate.start
      for _ in 0..<4 { _ = state.mark(Ultimate.moves(state).randomCell(using: &generator)) }
      for search in searches { search.forget() }
      let side: Player = game % 2 == 0 ? .x : .o
      var outcome: Outcome?
      while outcome == nil {
        let begun = processorTime()
        let cell = searches[state.turn == side ? 0 : 1].bestMove(
          in: state, simulations: .max, using: &generator
        ) { processorTime() - begun > milliseconds * 1e6 }
        outcome = state.mark(cell)
      }
      switch outcome {
      case .draw: score.draws += 1
      case .win(side): score.wins += 1
      default: score.losses += 1
      }
    }
    let share = (Double(score.wins) + Double(score.draws) / 2) / Double(games)
    return "value against playouts, \(milliseconds) ms a move: \(score.wins) won, \(score.draws) drawn, "
      + "\(score.losses) lost; score \((share * 1000).rounded() / 10) %"
  }
}
