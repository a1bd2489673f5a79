import Base
import TicTacToe

/// The pairings of a tournament that were not played yet, as a graph of at most 64 players. A round, a perfect matching of the graph, gives
/// each player one opponent.
struct MeetingGraph: Sendable, Hashable {
  /// Bit n of a player's number is set if the player has not met player n.
  private(set) var neighbours: [UInt64]

  /// For each player, the number of its opponent.
  typealias Round = [Int]

  init(complete count: Int) {
    precondition(count % 2 == 0 && (2...64).contains(count), "\(count) players")
    let all: UInt64 = count == 64 ? .max : (1 << UInt64(count)) - 1
    neighbours = (0..<count).map { all & ~(1 << UInt64($0)) }
  }

  /// By the circle method: one player keeps its place, the others rotate.
  static func allRounds(_ count: Int) -> [Round] {
    let circle = count - 1
    return (0..<circle).map { turn in
      var round = Round(repeating: 0, count: count)
      (round[circle], round[turn]) = (turn, circle)
      for step in 1..<max(1, count / 2) {
        let (a, b) = ((turn + step) % circle, (turn + circle - step) % circle)
        (round[a], round[b]) = (b, a)
      }
      return round
    }
  }

  mutating func remove(_ round: Round) {
    for (player, other) in round.enumerated() { neighbours[player] &= ~(1 << UInt64(other)) }
  }

  func without(_ round: Round) -> MeetingGraph {
    var copy = self
    copy.remove(round)
    return copy
  }

  /// Gives each player in the given order the next possible opponent, and backtracks. `nil` if there is no complete round, or once `limit`
  /// sets of players were found that cannot be paired.
  func firstRound(in order: [Int], limit: Int = 20_000) -> Round? {
    var round = Round(repeating: 0, count: neighbours.count)
    var unpairable: Set<UInt64> = []
    /// `left` is the set of players without an opponent, all at `place` in the order or after it.
    func pair(_ left: UInt64, from place: Int) -> Bool {
      guard let place = order[place...].firstIndex(where: { left >> UInt64($0) & 1 == 1 }) else { return true }
      let player = order[place]
      let open = left & neighbours[player]
      for other in order[(place + 1)...] where open >> UInt64(other) & 1 == 1 && unpairable.count < limit {
        let rest = left & ~(1 << UInt64(player) | 1 << UInt64(other))
        if !unpairable.contains(rest), pair(rest, from: place + 1) {
          (round[player], round[other]) = (other, player)
          return true
        }
      }
      unpairable.insert(left)
      return false
    }
    return pair(order.reduce(0) { $0 | 1 << UInt64($1) }, from: 0) ? round : nil
  }

  /// Searches for `count` rounds without repeated pairings; `nil` if `budget` attempts to build a round do not suffice. Deterministic.
  func rounds(_ count: Int, budget: Int = 400) -> [Round]? {
    var left = budget
    var generator = SplitMix64(seed: UInt64(count))
    return rounds(count, &left, &generator)
  }

  private func rounds(_ count: Int, _ budget: inout Int, _ generator: inout SplitMix64) -> [Round]? {
    if count == 0 { return [] }
    for _ in 0..<(count > 5 ? 1 : 6) where budget > 0 {
      budget -= 1
      var order = Array(neighbours.indices)
      for place in order.indices.dropLast() {
        order.swapAt(place, place + generator.below(order.count - place))
      }
      guard let round = firstRound(in: order, limit: 200) else { continue }
      if let rest = without(round).rounds(count - 1, &budget, &generator) { return [round] + rest }
    }
    return nil
  }
}
