import Base
import TicTacToe

/// Monte Carlo tree search of Ultimate that proves results where it can and keeps its tree from move to move.
///
/// With a value function, a move is chosen by the average of its mean score and the minimax of the values below it. Not `Sendable`: each
/// thread needs an instance of its own. Sources: L. Kocsis, C. Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006; M. Winands and
/// others, "Monte-Carlo tree search solver", CG 2008; M. Lanctot and others, "Monte Carlo tree search with heuristic evaluations using
/// implicit minimax backups", CIG 2014.
package final class UltimateSearch {
  private struct Node {
    /// The mean score for the side that made the move to this node, −1…1, or up to 0.03 beyond by `leafNoise`.
    var mean: Float = 0
    /// The minimax of the values below the node, for the side that made the move to this node. Only used with a value function.
    var minimax: Float = 0
    /// 1/√visits.
    var spread: Float = 0
    var visits: UInt32 = 0
    /// The index of the node's first child; 0 without children.
    var first: UInt32 = 0
    var count: UInt8 = 0
    var cell: UInt8 = 0
    /// The proven result for the side that made the move to this node.
    var proof = Proof.none
  }

  package enum Proof: UInt8, Sendable {
    case none, win, draw, loss

    var score: Float { self == .win ? 1 : self == .loss ? -1 : 0 }
  }

  package struct RootMove: Sendable {
    package let cell: Cell
    package let visits: Int
    /// The mean score for the side to move, −1…1, or up to 0.03 beyond by `leafNoise`.
    package let mean: Float
    package let proof: Proof

    package var score: Float { proof == .none ? min(max(mean, -1), 1) : proof.score }
  }

  /// The most simulations of a search, also if the caller asks for more.
  package var simulationLimit = Int.max

  private let value: UltimateValue?
  private let playouts = UltimatePlayouts(seed: 0)
  private let capacity: Int
  private var nodes: UnsafeMutablePointer<Node>
  /// The tree below a new root is copied to this second buffer.
  private var spare: UnsafeMutablePointer<Node>
  private var used = 0
  /// The state of node 0; `nil` if there is no tree.
  private var root: Ultimate.State?
  private let confidence = Confidence(k: 1)
  private let path: UnsafeMutablePointer<UInt32>
  private let values: UnsafeMutablePointer<Float>

  /// The factor of the exploration term in a move's upper confidence bound. Tuned by matches between searches.
  private let explorationConstant: Float
  /// Multiplies `explorationConstant` for moves that let the other side play on several boards: they are rarely good, and costly to search.
  /// Tuned by matches between searches.
  private let wideExploration: Float
  /// The weight of a node's minimax, 0…1, in the score by which a move is chosen; the mean has the rest. Tuned by matches between searches.
  private let minimaxShare: Float
  /// The number of visits after which a leaf evaluated by playouts is expanded.
  private static let expansionThreshold = 4
  /// The number of simulations between two calls of `isStopped`.
  private static let interval = 256

  /// - Parameters:
  ///   - value: Evaluates leaves; `nil` for random playouts.
  ///   - capacity: The most nodes of the tree. A node takes 24 bytes in each of the two buffers, paged in as needed.
  package init(value: UltimateValue? = nil, capacity: Int = 1 << 22) {
    (self.value, self.capacity) = (value, capacity)
    (explorationConstant, wideExploration, minimaxShare) = value == nil ? (0.9, 1, 0) : (0.35, 0.3, 0.5)
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

  /// Whether the value of the state searched last is proved, so that more simulations change nothing.
  package var isDecided: Bool { used > 0 && nodes[0].proof != .none }

  package var hasValue: Bool { value != nil }

  /// The `capacity` for a search that takes at most `megabytes` MiB in its two buffers.
  package static func capacity(megabytes: Int) -> Int { megabytes << 20 / (2 * MemoryLayout<Node>.stride) }

  /// Drops the tree, for a new game.
  package func forget() {
    root = nil
    used = 0
  }

  /// Returns a move that provably wins, else the most visited move not proved to lose, else the most visited. `isStopped` or a proof can
  /// end the search early.
  package func bestMove(
    in state: Ultimate.State, simulations: Int, using generator: inout SplitMix64, isStopped: () -> Bool = { false }
  ) -> Cell {
    // Each search takes one number of the generator as its seed: its result depends only on this seed, the kept tree, the state and the
    // number of simulations.
    search(state, seed: generator.next(), simulations: simulations, isStopped: isStopped)
    let moves = rootMoves
    if let winning = moves.first(where: { $0.proof == .win }) { return winning.cell }
    let holding = moves.filter { $0.proof != .loss }
    let best = (holding.isEmpty ? moves : holding).max { ($0.visits, $0.mean) < ($1.visits, $1.mean) }
    return (best ?? moves[0]).cell
  }

  package var rootMoves: [RootMove] {
    guard used > 0 else { return [] }
    return (0..<Int(nodes[0].count)).map {
      let node = nodes[Int(nodes[0].first) + $0]
      return RootMove(
        cell: Cell(rawValue: node.cell), visits: Int(node.visits), mean: node.mean, proof: node.proof)
    }
  }

  /// The most visited reply to a root move; `nil` if the tree has no reply.
  package func expectedReply(to cell: Cell) -> Cell? {
    guard used > 0, let node = children(of: 0).first(where: { nodes[$0].cell == cell.rawValue }) else { return nil }
    return children(of: node).max { nodes[$0].visits < nodes[$1].visits }.map { Cell(rawValue: nodes[$0].cell) }
  }

  /// Continues the kept tree if this tree contains the state.
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

  /// Makes the node of `state` the new root if it is at most two moves below the root. Returns whether the node was found.
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

  /// Copies a node and its descendants to the spare buffer, breadth first, and swaps the buffers. Returns true, for `keepTree`.
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
    // Not `swap`: its exclusive access would add run-time checks to every other access to the buffers.
    let kept = spare
    spare = nodes
    nodes = kept
    used = end
    return true
  }

  /// Adds a node's moves, with proofs of immediate wins, and with scores of the value function if there is one.
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
      let worth = values[index] + leafNoise()
      nodes[first + index].mean = worth
      nodes[first + index].minimax = worth
      nodes[first + index].visits = 1
      nodes[first + index].spread = 1
    }
  }

  /// A random number within ±0.03 for each result of the value function: without it, a search would always play the same game.
  @inline(__always)
  private func leafNoise() -> Float { (Float(playouts.draw(1024)) - 511.5) * (0.03 / 512) }

  @inline(__always)
  private static func winningMoves(_ moves: MoveSet, in state: Ultimate.State) -> MoveSet {
    var result = MoveSet()
    let won = state.boards(of: state.turn)
    // One move wins at most one board, so its side must have won two boards before.
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

  private func simulate(from start: Ultimate.State) {
    // A local copy: a mutable property would be loaded at each use.
    let nodes = nodes
    var state = start
    var node = 0
    var depth = 0
    path[0] = 0
    // The score for the side that made the move to the last node of the path.
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
        if nodes[node].visits < UltimateSearch.expansionThreshold || isFull {
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
        // The winning moves are known from the expansion of the node before, so a game that ends here is a draw.
        nodes[node].proof = .draw
      }
      score = nodes[node].proof.score
      break
    }
    backPropagate(score, from: depth, nodes)
  }

  /// Updates the path's nodes from index `end` up to the root. `result` is the score for the side that made the move to the path's last
  /// node.
  @inline(__always)
  private func backPropagate(_ result: Float, from end: Int, _ nodes: UnsafeMutablePointer<Node>) {
    var (score, depth) = (result, end)
    let hasMinimax = minimaxShare > 0
    // The minimax of the path's next node, one move further from the root, before and after this simulation.
    var (before, after): (Float, Float) = (0, 0)
    while true {
      let index = Int(path[depth])
      let visits = nodes[index].visits &+ 1
      nodes[index].visits = visits
      let root = confidence.inverseRoot(visits)
      nodes[index].spread = root
      nodes[index].mean += (score - nodes[index].mean) * root * root
      if hasMinimax {
        let old = nodes[index].minimax
        var new = old
        if nodes[index].proof != .none {
          new = nodes[index].proof.score
        } else if depth == end {
          new = score
        } else if after > -old {
          new = -after
        } else if before == -old {
          // The path's next node was the best child and became worse, so another child may be the best now.
          new = -children(of: index).reduce(-.infinity) { max($0, nodes[$1].minimax) }
        }
        nodes[index].minimax = new
        (before, after) = (old, new)
      }
      score = -score
      if depth == 0 { break }
      depth -= 1
      if nodes[index].proof != .none {
        let parent = Int(path[depth])
        UltimateSearch.setProof(parent, nodes)
        if nodes[parent].proof != .none { score = nodes[parent].proof.score }
      }
    }
  }

  private static func setProof(_ node: Int, _ nodes: UnsafeMutablePointer<Node>) {
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

  /// The score of a random playout, for the side that made the move to the state.
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

  /// The child to search next, by upper confidence bound. Children without a visit come first, proven losses last.
  @inline(__always)
  private func best(of node: Int, _ nodes: UnsafeMutablePointer<Node>) -> Int {
    let factor = explorationConstant * confidence.exploration(nodes[node].visits)
    let wide = factor * wideExploration
    let first = Int(nodes[node].first)
    var best = first
    var bound = -Float.greatestFiniteMagnitude
    var untried: UInt64 = 0
    for child in first..<first &+ Int(nodes[node].count) {
      let worth = nodes[child].mean + minimaxShare * (nodes[child].minimax - nodes[child].mean)
      var this = worth + (nodes[child].count > 9 ? wide : factor) * nodes[child].spread
      if nodes[child].visits == 0 {
        // Chooses among the untried moves with equal chances (reservoir sampling).
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
