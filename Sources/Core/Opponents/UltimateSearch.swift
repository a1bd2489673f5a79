import Base
import TicTacToe

/// Tree search of Ultimate by upper confidence bounds, with nodes that are solved exactly and a tree that is kept from move
/// to move.
///
/// Without a value a leaf is judged by a random playout; with one, by the best of its moves. What is proven is not searched
/// again: a move that wins decides the node before it, a node whose moves are all decided is decided.
/// Sources: L. Kocsis, C. Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006; M. Winands and others, "Monte-Carlo
/// tree search solver", CG 2008.
///
/// Not `Sendable`: each thread has its own.
package final class UltimateSearch {
  private struct Node {
    /// The mean score for the side that made the move to this node, −1…1.
    var mean: Float = 0
    /// 1/√visits.
    var spread: Float = 0
    var visits: UInt32 = 0
    /// The first of the nodes of its moves; 0 while there are none.
    var first: UInt32 = 0
    var count: UInt8 = 0
    var cell: UInt8 = 0
    /// What is proven for the side that made the move to this node.
    var proof = Proof.none
  }

  package enum Proof: UInt8, Sendable {
    case none, win, draw, loss

    /// The score of what is proven.
    var score: Float { self == .win ? 1 : self == .loss ? -1 : 0 }
  }

  /// A move of the root, as the search sees it.
  package struct RootMove: Sendable {
    package let cell: Cell
    package let visits: Int
    /// The mean score for the side to move, −1…1.
    package let mean: Float
    package let proof: Proof

    /// What is proven, else the mean, which a value may carry beyond the bounds.
    package var score: Float { proof == .none ? min(max(mean, -1), 1) : proof.score }
  }

  /// The most simulations of a search, whatever is asked for.
  package var simulationLimit = Int.max

  private let value: UltimateValue?
  private let playouts = UltimatePlayouts(seed: 0)
  private let capacity: Int
  private var nodes: UnsafeMutablePointer<Node>
  /// Where the part of the tree that is kept is copied to.
  private var spare: UnsafeMutablePointer<Node>
  private var used = 0
  /// The state of node 0, while there is a tree.
  private var root: Ultimate.State?
  private let confidence = Confidence(k: 1)
  private let path: UnsafeMutablePointer<UInt32>
  private let values: UnsafeMutablePointer<Float>

  /// How much more a move that is little known is worth; found by matches between searches.
  private let curiosity: Float
  /// A leaf visited so often gets nodes for its moves, if its value is from playouts.
  private static let patience = 4
  /// Simulations after which it is asked whether to stop.
  private static let interval = 256

  /// - Parameters:
  ///   - value: What is known beyond playouts.
  ///   - capacity: The most nodes. Each takes 2 × 20 bytes, which are touched only as they are needed.
  package init(value: UltimateValue? = nil, capacity: Int = 1 << 22) {
    (self.value, self.capacity) = (value, capacity)
    curiosity = value == nil ? 0.9 : 0.5
    nodes = .allocate(capacity: capacity)
    spare = .allocate(capacity: capacity)
    path = .allocate(capacity: 82)
    values = .allocate(capacity: 81)
  }

  deinit {
    nodes.deallocate()
    spare.deallocate()
    path.deallocate()
    values.deallocate()
    confidence.deallocate()
  }

  package var hasValue: Bool { value != nil }

  /// The number of nodes that fit in `megabytes`, counting the second buffer into which a kept tree is copied.
  package static func capacity(megabytes: Int) -> Int { megabytes << 20 / (2 * MemoryLayout<Node>.stride) }

  /// Drops the tree: what comes next is another game.
  package func forget() {
    root = nil
    used = 0
  }

  /// Runs the simulations, or as many as can be run before `isStopped` or a proof, and returns the move that was visited
  /// most of those that do not lose for certain.
  package func bestMove(
    in state: Ultimate.State, simulations: Int, using generator: inout SplitMix64, isStopped: () -> Bool = { false }
  ) -> Cell {
    // One number of the generator a search, so that a search is a function of its tree, the state and that number.
    search(state, seed: generator.next(), simulations: simulations, isStopped: isStopped)
    let moves = rootMoves
    if let winning = moves.first(where: { $0.proof == .win }) { return winning.cell }
    let holding = moves.filter { $0.proof != .loss }
    let best = (holding.isEmpty ? moves : holding).max { ($0.visits, $0.mean) < ($1.visits, $1.mean) }
    return (best ?? moves[0]).cell
  }

  /// The moves of the state searched last.
  package var rootMoves: [RootMove] {
    guard used > 0 else { return [] }
    return (0..<Int(nodes[0].count)).map {
      let node = nodes[Int(nodes[0].first) + $0]
      return RootMove(
        cell: Cell(rawValue: node.cell), visits: Int(node.visits), mean: node.mean, proof: node.proof)
    }
  }

  /// The reply to a move of the root that was visited most; `nil` where none was.
  package func expectedReply(to cell: Cell) -> Cell? {
    guard used > 0, let node = children(of: 0).first(where: { nodes[$0].cell == cell.rawValue }) else { return nil }
    return children(of: node).max { nodes[$0].visits < nodes[$1].visits }.map { Cell(rawValue: nodes[$0].cell) }
  }

  /// Adds simulations to what is known of a live state.
  package func search(
    _ state: Ultimate.State, seed: UInt64, simulations: Int, isStopped: () -> Bool = { false }
  ) {
    let moves = Ultimate.moves(state)
    precondition(!moves.isEmpty, "no search in the finished state \(Ultimate.notation(of: state))")
    playouts.reseed(seed)
    if !keepTree(to: state) {
      nodes[0] = Node()
      used = 1
    }
    root = state
    if nodes[0].count == 0 {
      if nodes[0].proof == .none { nodes[0].visits = max(nodes[0].visits, 1) }
      addNodes(to: 0, for: moves, in: state)
    }
    var left = min(simulations, simulationLimit)
    while left > 0 && nodes[0].proof == .none {
      for _ in 0..<min(left, UltimateSearch.interval) where nodes[0].proof == .none { simulate(from: state) }
      left -= UltimateSearch.interval
      if isStopped() { break }
    }
  }

  // The tree -------------------------------------------------------------------------------------------------------

  /// Makes the node of a state that is at most two moves further the root; whether there is one.
  private func keepTree(to state: Ultimate.State) -> Bool {
    guard let root, used > 0 else { return false }
    if root == state { return true }
    for first in children(of: 0) {
      var after = root
      guard after.mark(Cell(rawValue: nodes[first].cell)) == nil else { continue }
      if after == state { return keep(first) }
      for second in children(of: first) {
        var later = after
        if later.mark(Cell(rawValue: nodes[second].cell)) == nil, later == state { return keep(second) }
      }
    }
    return false
  }

  private func children(of node: Int) -> Range<Int> {
    let first = Int(nodes[node].first)
    return first..<first + Int(nodes[node].count)
  }

  /// Copies a node and what is below it to the spare memory, breadth first, and goes on there.
  private func keep(_ node: Int) -> Bool {
    spare[0] = nodes[node]
    var (read, end) = (0, 1)
    while read < end {
      let (first, count) = (Int(spare[read].first), Int(spare[read].count))
      if count > 0 {
        spare[read].first = UInt32(end)
        for child in 0..<count { spare[end + child] = nodes[first + child] }
        end += count
      }
      read += 1
    }
    // Not by `swap`, whose exclusive access would have every other one checked as it runs.
    let kept = spare
    spare = nodes
    nodes = kept
    used = end
    return true
  }

  /// Gives a node its moves, with what their wins prove and what the value says of them.
  @inline(__always)
  private func addNodes(to node: Int, for moves: MoveSet, in state: Ultimate.State) {
    let nodes = nodes
    let first = used
    let count = moves.count
    used = first + count
    nodes[node].first = UInt32(truncatingIfNeeded: first)
    nodes[node].count = UInt8(truncatingIfNeeded: count)
    var place = first
    for cell in moves {
      nodes[place] = Node(cell: cell.rawValue)
      place &+= 1
    }
    let winning = UltimateSearch.winningMoves(moves, in: state)
    if !winning.isEmpty {
      for place in first..<first + count where winning.contains(Cell(rawValue: nodes[place].cell)) {
        nodes[place].proof = .win
      }
      nodes[node].proof = .loss
    }
    guard let value else { return }
    value.evaluateMoves(moves, in: state, into: values)
    for index in 0..<count {
      nodes[first + index].mean = values[index] + whim()
      nodes[first + index].visits = 1
      nodes[first + index].spread = 1
    }
  }

  /// What a value is off by, drawn anew each time: else a search that plays nothing at random plays the same game always.
  @inline(__always)
  private func whim() -> Float { (Float(playouts.draw(1024)) - 511.5) * (0.03 / 512) }

  /// The moves that end the game at once, for the mover.
  @inline(__always)
  private static func winningMoves(_ moves: MoveSet, in state: Ultimate.State) -> MoveSet {
    var result = MoveSet()
    let won = state.boards(of: state.turn)
    // A line takes two boards beside the last.
    if won.rawValue & (won.rawValue &- 1) == 0 { return result }
    let boards = Line.completions(of: won).intersection(state.openTargets)
    let mine = state.turn == .x ? state.x : state.o
    for board in boards {
      let completing = Line.completions(of: Ultimate.board(board.index, of: mine))
      result.rawValue |= UInt128(truncatingIfNeeded: completing.rawValue) &<< UInt128(9 &* board.rawValue)
    }
    result.rawValue &= moves.rawValue
    return result
  }

  // A simulation ---------------------------------------------------------------------------------------------------

  private func simulate(from start: Ultimate.State) {
    // A property that may change is looked up at each use.
    let nodes = nodes
    var state = start
    var node = 0
    var depth = 0
    path[0] = 0
    // For the side that made the move to the last node of the path.
    var score: Float = 0
    while true {
      if nodes[node].count == 0 {
        let isFull = used + 81 > capacity
        if value != nil {
          let moves = state.liveMoves
          if isFull {
            score = -bestValue(of: moves, in: state)
          } else {
            addNodes(to: node, for: moves, in: state)
            score = nodes[node].proof == .loss ? -1 : -bestMean(of: node)
          }
          break
        }
        if nodes[node].visits < UltimateSearch.patience || isFull {
          score = playout(state)
          break
        }
        addNodes(to: node, for: state.liveMoves, in: state)
        if nodes[node].proof == .loss {
          score = -1
          break
        }
      }
      node = best(of: node, nodes)
      depth += 1
      path[depth] = UInt32(truncatingIfNeeded: node)
      if nodes[node].proof == .none {
        if state.mark(Cell(rawValue: nodes[node].cell)) == nil { continue }
        // Wins are found with the nodes themselves.
        nodes[node].proof = .draw
      }
      score = nodes[node].proof.score
      break
    }
    while true {
      let index = Int(path[depth])
      let visits = nodes[index].visits &+ 1
      nodes[index].visits = visits
      let root = confidence.inverseRoot(visits)
      nodes[index].spread = root
      nodes[index].mean += (score - nodes[index].mean) * root * root
      score = -score
      if depth == 0 { break }
      depth -= 1
      if nodes[index].proof != .none {
        let parent = Int(path[depth])
        UltimateSearch.settle(parent, nodes)
        if nodes[parent].proof != .none { score = nodes[parent].proof.score }
      }
    }
  }

  /// Decides a node whose moves decide it.
  private static func settle(_ node: Int, _ nodes: UnsafeMutablePointer<Node>) {
    var hasDraw = false
    let first = Int(nodes[node].first)
    for child in first..<first + Int(nodes[node].count) {
      switch nodes[child].proof {
      case .none: return
      case .win:
        nodes[node].proof = .loss
        return
      case .draw: hasDraw = true
      case .loss: break
      }
    }
    nodes[node].proof = hasDraw ? .draw : .win
  }

  /// The score of a random end for the side that made the move to a state.
  @inline(__always)
  private func playout(_ state: Ultimate.State) -> Float {
    var plies = 0
    let score = playouts.play(from: state, plies: &plies)
    return Float(state.turn == .x ? -score : score)
  }

  private func bestMean(of node: Int) -> Float {
    var best: Float = -1
    for child in children(of: node) { best = max(best, nodes[child].mean) }
    return best
  }

  private func bestValue(of moves: MoveSet, in state: Ultimate.State) -> Float {
    if !UltimateSearch.winningMoves(moves, in: state).isEmpty { return 1 }
    value?.evaluateMoves(moves, in: state, into: values)
    var best: Float = -1
    for index in 0..<moves.count { best = max(best, values[index]) }
    return best
  }

  /// The move with the highest upper confidence bound; one that was never tried comes first, one that loses for certain
  /// last.
  @inline(__always)
  private func best(of node: Int, _ nodes: UnsafeMutablePointer<Node>) -> Int {
    let factor = curiosity * confidence.exploration(nodes[node].visits)
    let first = Int(nodes[node].first)
    var best = first
    var bound = -Float.greatestFiniteMagnitude
    var untried: UInt64 = 0
    for child in first..<first &+ Int(nodes[node].count) {
      var this = nodes[child].mean + factor * nodes[child].spread
      if nodes[child].visits == 0 {
        // Drawn among those never tried, by the first draw that is highest.
        untried &+= 1
        if playouts.draw(untried) == 0 { best = child }
        bound = .greatestFiniteMagnitude
        continue
      }
      if nodes[child].proof == .loss { this = -1e9 } else if nodes[child].proof == .draw { this = 0 }
      if this > bound { (best, bound) = (child, this) }
    }
    return best
  }
}
