import Base
import Oracle
import TicTacToe

/// Monte Carlo tree search of the classic game (UCT) with uniformly random playouts. A search allocates nothing. Its move
/// depends only on the position, the number of simulations and the generator.
///
/// Source: L. Kocsis, C. Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006. All orders of moves that lead to a position share one
/// node. Not `Sendable`: each thread needs an instance of its own.
package final class MonteCarloSearch {
  /// The statistics of a live position, by cell: the move's mean score for the side to move, 1/√visits and visits.
  private struct Node {
    var mean = InlineArray<9, Float>(repeating: 0)
    var inverseRoots = InlineArray<9, Float>(repeating: 0)
    var visits = InlineArray<9, UInt32>(repeating: 0)
    var total: UInt32 = 0
    var unvisited: UInt16 = 0
    /// The number of the search that last cleared the node. A node of an earlier search counts as empty.
    var epoch: UInt32 = 0
  }

  /// The nodes, by the position's base-3 key.
  private let nodes = UnsafeMutablePointer<Node>.allocate(capacity: Position.keyCount)
  private var epoch: UInt32 = 0
  /// By cell, the number that a mark adds to the base-3 key: nine numbers for X, then nine for O.
  private let weights = UnsafeMutablePointer<Int>.allocate(capacity: 18)
  /// By mask of empty cells: the indices of these cells in ascending order, four bits each.
  private let cells = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
  private let confidence = Confidence(k: 2)

  /// Allocates about 2.5 MB, paged in as needed.
  package init() {
    nodes.initialize(repeating: Node(), count: Position.keyCount)
    for cell in 0..<9 {
      weights[cell] = TernaryKey.power(cell)
      weights[9 + cell] = 2 * TernaryKey.power(cell)
    }
    for mask in 0..<512 {
      var (digits, shift) = (UInt64(0), UInt64(0))
      for cell in 0..<9 where mask >> cell & 1 == 1 {
        digits |= UInt64(cell) << shift
        shift += 4
      }
      cells[mask] = digits
    }
  }

  deinit {
    nodes.deallocate()
    weights.deallocate()
    cells.deallocate()
    confidence.deallocate()
  }

  private static let simulationsBetweenClockReads = 1024

  /// Returns the most visited move; ties are broken at random. `isStopped` can end the search early.
  package func bestMove(
    in position: Position, simulations: Int, using generator: inout SplitMix64, isStopped: () -> Bool = { false }
  ) -> Square {
    search(position, simulations: simulations, using: &generator, isStopped: isStopped)
    let root = nodes[position.ternaryKey]
    let best = position.legalMoves.greatest { root.visits[$0.index] }
    return MoveDistribution(uniformOver: best).draw(using: &generator)
  }

  /// How often the last search visited each move.
  package func visits(in position: Position) -> [(Square, Int)] {
    position.legalMoves.map { ($0, Int(nodes[position.ternaryKey].visits[$0.index])) }
  }

  /// A move's mean score in the last search, −1…1 for the side to move.
  package func mean(of square: Square, in position: Position) -> Float {
    nodes[position.ternaryKey].mean[square.index]
  }

  /// Each simulation takes about 70 ns.
  package func search(
    _ position: Position, simulations: Int, using generator: inout SplitMix64, isStopped: () -> Bool = { false }
  ) {
    precondition(position.outcome == nil, "no search in the finished position \(position.notation)")
    epoch &+= 1
    let key = position.ternaryKey
    prepare(key, empty: position.empty.rawValue)
    let isX = position.turn == .x
    let (me, other) = isX ? (position.x.rawValue, position.o.rawValue) : (position.o.rawValue, position.x.rawValue)
    var left = simulations
    repeat {
      for _ in 0..<min(left, MonteCarloSearch.simulationsBetweenClockReads) {
        simulate(key, me: me, other: other, isX: isX, using: &generator)
      }
      left -= MonteCarloSearch.simulationsBetweenClockReads
    } while left > 0 && !isStopped()
  }

  @inline(__always)
  private func prepare(_ key: Int, empty: UInt16) {
    nodes[key].epoch = epoch
    nodes[key].total = 0
    nodes[key].unvisited = empty
    nodes[key].visits = .init(repeating: 0)
    nodes[key].inverseRoots = .init(repeating: 0)
    // The mean of an illegal move is so low that it is never chosen.
    for cell in 0..<9 { nodes[key].mean[cell] = empty >> UInt16(cell) & 1 == 1 ? 0 : -1e9 }
  }

  private func simulate(
    _ rootKey: Int, me: UInt16, other: UInt16, isX: Bool, using generator: inout SplitMix64
  ) {
    var (me, other, key) = (me, other, rootKey)
    var random = generator.next()
    var offset = isX ? 0 : 9
    // Per move from the root: 16 times the base-3 key of the position before the move, plus the move's cell.
    var path = InlineArray<9, Int32>(repeating: 0)
    var depth = 0
    // The score for the side that made the last move of the path.
    var score: Float
    while true {
      let isNew = nodes[key].unvisited != 0
      let cell = isNew ? pick(nodes[key].unvisited, &random) : best(key)
      path[depth] = Int32(truncatingIfNeeded: key &* 16 &+ cell)
      depth &+= 1
      me |= 1 &<< UInt16(truncatingIfNeeded: cell)
      key &+= weights[offset &+ cell]
      if Line.hasLine(SquareSet(rawValue: me)) {
        score = 1
        break
      }
      let empty = ~(me | other) & 0x1FF
      if empty == 0 {
        score = 0
        break
      }
      (me, other) = (other, me)
      offset = 9 &- offset
      if isNew {
        if nodes[key].epoch != epoch { prepare(key, empty: empty) }
        score = -playout(me, other, empty, &random)
        break
      }
      // The first try of a move has prepared the node of the position after the move, so the loop can go on at that node.
    }
    while depth > 0 {
      depth &-= 1
      let step = Int(path[depth])
      let node = nodes + (step &>> 4)
      let cell = step & 15
      let visits = node.pointee.visits[unchecked: cell] &+ 1
      node.pointee.visits[unchecked: cell] = visits
      node.pointee.total &+= 1
      node.pointee.unvisited &= ~(1 &<< UInt16(truncatingIfNeeded: cell))
      let root = confidence.inverseRoot(visits)
      node.pointee.inverseRoots[unchecked: cell] = root
      // `root` is 1/√visits, so the new mean is the mean of all scores.
      node.pointee.mean[unchecked: cell] += (score - node.pointee.mean[unchecked: cell]) * root * root
      score = -score
    }
  }

  /// The cell whose mean score has the highest upper confidence bound.
  @inline(__always)
  private func best(_ key: Int) -> Int {
    let node = nodes + key
    let factor = confidence.exploration(node.pointee.total)
    var best = 0
    var bound = -Float.greatestFiniteMagnitude
    for cell in 0..<9 {
      let value = node.pointee.mean[unchecked: cell] + factor * node.pointee.inverseRoots[unchecked: cell]
      if value > bound { (best, bound) = (cell, value) }
    }
    return best
  }

  /// Picks a random cell of a mask. Leaves in `random` the random bits that this choice has not used.
  @inline(__always)
  private func pick(_ mask: UInt16, _ random: inout UInt64) -> Int {
    let (high, low) = random.multipliedFullWidth(by: UInt64(truncatingIfNeeded: mask.nonzeroBitCount))
    random = low
    return Int(truncatingIfNeeded: cells[Int(mask)] &>> (4 &* high) & 15)
  }

  /// Plays random moves to the end. Returns 1, 0 or −1 for the side to move, whose marks are `first`.
  @inline(__always)
  private func playout(_ first: UInt16, _ second: UInt16, _ free: UInt16, _ random: inout UInt64) -> Float {
    var (me, other, empty, sign) = (first, second, free, Float(1))
    while true {
      let bit: UInt16 = 1 &<< UInt16(truncatingIfNeeded: pick(empty, &random))
      me |= bit
      if Line.hasLine(SquareSet(rawValue: me)) { return sign }
      empty &= ~bit
      if empty == 0 { return 0 }
      (me, other) = (other, me)
      sign = -sign
    }
  }
}
