import Base
import TicTacToe

/// A graph of the pairings not yet played, for at most 64 players. A round is a perfect matching.
struct MeetingGraph: Sendable, Hashable {
  /// For each player a bit for every remaining opponent.
  private(set) var neighbours: [UInt64]

  /// A round: for each player, the opponent.
  typealias Round = [Int]

  /// A graph in which no players have met. The number of players is even.
  init(complete count: Int) {
    precondition(count % 2 == 0 && (2...64).contains(count), "\(count) players")
    let all: UInt64 = count == 64 ? .max : (1 << UInt64(count)) - 1
    neighbours = (0..<count).map { all & ~(1 << UInt64($0)) }
  }

  /// A round robin in `count` − 1 rounds by the circle method: one player stays, the others rotate.
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

  /// Whether two players have not met.
  func contains(_ a: Int, _ b: Int) -> Bool { neighbours[a] >> UInt64(b) & 1 == 1 }

  /// Removes the pairs of a round.
  mutating func remove(_ round: Round) {
    for (player, other) in round.enumerated() { neighbours[player] &= ~(1 << UInt64(other)) }
  }

  /// The graph without the pairs of a round.
  func without(_ round: Round) -> MeetingGraph {
    var copy = self
    copy.remove(round)
    return copy
  }

  /// The round in which each player in `order` gets the first possible opponent. Backtracks if a choice prevents a
  /// complete round; `nil` if there is none. O(n⁵) at worst, microseconds in practice.
  func firstRound(in order: [Int]) -> Round? {
    var left: UInt64 = order.reduce(0) { $0 | 1 << UInt64($1) }
    guard var round = perfectMatching(among: left, order: order) else { return nil }
    for (place, player) in order.enumerated() where left >> UInt64(player) & 1 == 1 {
      for other in order[(place + 1)...] where left >> UInt64(other) & 1 == 1 && contains(player, other) {
        let rest = left & ~(1 << UInt64(player) | 1 << UInt64(other))
        if round[player] != other {
          guard let better = perfectMatching(among: rest, order: order) else { continue }
          for member in order where rest >> UInt64(member) & 1 == 1 { round[member] = better[member] }
          (round[player], round[other]) = (other, player)
        }
        left = rest
        break
      }
    }
    return round
  }

  /// A number of rounds without repeated pairings, if found within `budget` matchings. Deterministic.
  func rounds(_ count: Int, budget: Int = 400) -> [Round]? {
    var left = budget
    var generator = SplitMix64(seed: UInt64(count))
    return rounds(count, &left, &generator)
  }

  private func rounds(_ count: Int, _ budget: inout Int, _ generator: inout SplitMix64) -> [Round]? {
    if count == 0 { return [] }
    // Near the end of a full schedule few rounds remain: try alternatives.
    for _ in 0..<(count > 5 ? 1 : 6) where budget > 0 {
      budget -= 1
      var order = Array(neighbours.indices)
      for place in order.indices.dropLast() {
        order.swapAt(place, place + generator.below(order.count - place))
      }
      let everyone = order.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
      guard let round = perfectMatching(among: everyone, order: order) else { return nil }
      if let rest = without(round).rounds(count - 1, &budget, &generator) { return [round] + rest }
    }
    return nil
  }

  // MARK: - Matching

  /// Pairs each of `members` with a player they have not met, or returns `nil`; O(n³).
  ///
  /// Source: J. Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17, 1965. A path between two
  /// unpaired players that alternates between free and paired edges gives one more pair. Odd cycles on the way are
  /// contracted to their base.
  func perfectMatching(among members: UInt64, order: [Int]) -> Round? {
    var search = BlossomSearch(neighbours: neighbours.map { $0 & members })
    for player in order where members >> UInt64(player) & 1 == 1 && search.mate[player] < 0 {
      // A free neighbour makes the search unnecessary.
      let free = order.first { search.mate[$0] < 0 && search.neighbours[player] >> UInt64($0) & 1 == 1 }
      if let free {
        (search.mate[player], search.mate[free]) = (free, player)
      } else if !search.augment(from: player) {
        return nil
      }
    }
    return search.mate
  }
}

/// The state of one search for a perfect matching.
private struct BlossomSearch {
  let neighbours: [UInt64]
  /// For each player its partner, −1 for none.
  var mate: [Int]
  private var parent: [Int] = []
  private var base: [Int] = []
  private var isOuter: [Bool] = []
  private var queue: [Int] = []

  init(neighbours: [UInt64]) {
    self.neighbours = neighbours
    mate = .init(repeating: -1, count: neighbours.count)
  }

  /// Finds an alternating path from an unpaired player to another, and flips it.
  mutating func augment(from root: Int) -> Bool {
    parent = .init(repeating: -1, count: neighbours.count)
    base = Array(neighbours.indices)
    isOuter = .init(repeating: false, count: neighbours.count)
    isOuter[root] = true
    queue = [root]
    var next = 0
    while next < queue.count {
      let player = queue[next]
      next += 1
      var others = neighbours[player]
      while others != 0 {
        let other = others.trailingZeroBitCount
        others &= others - 1
        guard base[player] != base[other], mate[player] != other else { continue }
        if other == root || (mate[other] >= 0 && parent[mate[other]] >= 0) {
          shrink(player, other)
        } else if parent[other] < 0 {
          parent[other] = player
          guard mate[other] >= 0 else {
            turnOver(other)
            return true
          }
          isOuter[mate[other]] = true
          queue.append(mate[other])
        }
      }
    }
    return false
  }

  /// Contracts an odd cycle: all its players get the base at which its two sides meet.
  private mutating func shrink(_ a: Int, _ b: Int) {
    let top = commonBase(a, b)
    var isInside = [Bool](repeating: false, count: neighbours.count)
    mark(a, top, b, &isInside)
    mark(b, top, a, &isInside)
    for player in neighbours.indices where isInside[base[player]] {
      base[player] = top
      if !isOuter[player] {
        isOuter[player] = true
        queue.append(player)
      }
    }
  }

  private func commonBase(_ a: Int, _ b: Int) -> Int {
    var isSeen = [Bool](repeating: false, count: neighbours.count)
    var player = a
    while true {
      player = base[player]
      isSeen[player] = true
      if mate[player] < 0 { break }
      player = parent[mate[player]]
    }
    player = b
    while true {
      player = base[player]
      if isSeen[player] { return player }
      player = parent[mate[player]]
    }
  }

  private mutating func mark(_ from: Int, _ top: Int, _ child: Int, _ isInside: inout [Bool]) {
    var (player, child) = (from, child)
    while base[player] != top {
      isInside[base[player]] = true
      isInside[base[mate[player]]] = true
      parent[player] = child
      child = mate[player]
      player = parent[mate[player]]
    }
  }

  /// Pairs the players along the path that ends at `last`.
  private mutating func turnOver(_ last: Int) {
    var player = last
    while player >= 0 {
      let before = parent[player]
      let next = mate[before]
      (mate[player], mate[before]) = (before, player)
      player = next
    }
  }
}
