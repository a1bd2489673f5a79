import Base
import TicTacToe

/// Proves the value of positions of Ultimate by depth-first proof-number search (df-pn), late in a game or where a win is forced.
///
/// A search answers one question: does one side, the attacker, win? Many leaves are below more than one move, so a disproof number is not
/// the sum over the moves but their largest number, plus one for each other open move. Sources: A. Nagai, "Df-pn algorithm for searching
/// AND/OR trees", 2002; T. Ueda and others, "Weak proof-number search", CG 2008. Not `Sendable`: each thread needs an instance of its own.
package final class UltimateSolver {
  /// The stored numbers of a visited position. The key leaves out the marks on closed boards, which have no further effect.
  private struct Entry {
    var key: UInt64 = 0
    var numbers = Numbers()
    /// The number of positions searched to get `numbers`. In a full bucket, the entry with the smallest `nodes` is replaced.
    var nodes: UInt32 = 0
  }

  /// Estimates of how many more leaves must be decided to prove that the side to move succeeds (`proof`) or fails (`disproof`): 0 if this
  /// is proved, `never` if the opposite is proved. The attacker succeeds by winning, the defender by not losing.
  private struct Numbers {
    var proof: UInt32 = 1
    var disproof: UInt32 = 1

    static var never: UInt32 { .max / 4 }
    static var success: Numbers { Numbers(proof: 0, disproof: never) }
    static var failure: Numbers { Numbers(proof: never, disproof: 0) }

    var isProved: Bool { proof == 0 || disproof == 0 }
  }

  /// A move of a node on the path from the root, with the proof and disproof numbers of the position after the move.
  private struct Child {
    var state: Ultimate.State
    var key: UInt64
    var numbers: Numbers
  }

  /// The number of positions searched since the solver was made.
  package private(set) var nodes = 0
  private var limit = 0
  private var attacker = Player.x
  private let buckets: Int
  private let table: UnsafeMutablePointer<Entry>
  /// The moves of all nodes on the path from the root; a game has at most 81 plies.
  private let children: UnsafeMutablePointer<Child>
  /// The number of entries of a bucket. A position's key selects the bucket. The number was not tuned by measurement.
  private static let bucketSize = 4

  /// The table stores `entries` positions of 24 bytes each.
  package init(entries: Int = 1 << 20) {
    buckets = max(1, entries / UltimateSolver.bucketSize)
    table = .allocate(capacity: buckets * UltimateSolver.bucketSize)
    table.initialize(repeating: Entry(), count: buckets * UltimateSolver.bucketSize)
    children = .allocate(capacity: 81 * 81)
  }

  deinit {
    table.deallocate()
    children.deallocate()
  }

  /// The value for the side to move; in a finished game, for the side whose turn it would be.
  ///
  /// `nil` if the value is not proved after `limit` more positions. New solvers with the same sequence of calls return the same values.
  package func value(of state: Ultimate.State, limit: Int) -> Value? {
    if let outcome = Ultimate.outcome(of: state) { return outcome == .draw ? .draw : .loss }
    self.limit = nodes + limit
    guard let wins = isWon(state, by: state.turn) else { return nil }
    if wins { return .win }
    guard let loses = isWon(state, by: state.turn.opponent) else { return nil }
    return loses ? .loss : .draw
  }

  /// Whether a side wins against every defence; `nil` if `nodes` reaches `limit` before either answer is proved.
  private func isWon(_ state: Ultimate.State, by attacker: Player) -> Bool? {
    self.attacker = attacker
    let key = key(of: state)
    var numbers = numbers(of: state, key)
    if !numbers.isProved, nodes < limit {
      numbers = search(state, key, proof: Numbers.never, disproof: Numbers.never, children)
    }
    guard numbers.isProved else { return nil }
    return (numbers.proof == 0) == (state.turn == attacker)
  }

  /// Searches below a live state until its number reaches `proof` or `disproof`, an answer is proved, or `nodes` reaches `limit`.
  /// - Parameter room: Memory for the moves of this node and of the nodes below it.
  private func search(
    _ state: Ultimate.State, _ key: UInt64, proof: UInt32, disproof: UInt32, _ room: UnsafeMutablePointer<Child>
  ) -> Numbers {
    let begun = nodes
    nodes += 1
    var count = 0
    for cell in state.liveMoves {
      var after = state
      let outcome = after.mark(cell)
      let key = self.key(of: after)
      room[count] = Child(
        state: after, key: key, numbers: outcome == nil ? numbers(of: after, key) : ended(outcome == .draw, after.turn))
      count += 1
    }
    while true {
      // The side to move succeeds if the other side fails after one of the moves: its proof number is the moves' least disproof number.
      var (best, least, second) = (0, UInt32.max, UInt32.max)
      var (most, open): (UInt32, UInt32) = (0, 0)
      for index in 0..<count {
        let numbers = room[index].numbers
        if numbers.disproof < least {
          (best, least, second) = (index, numbers.disproof, least)
        } else {
          second = min(second, numbers.disproof)
        }
        if numbers.proof > 0 { open += 1 }
        most = max(most, numbers.proof)
      }
      let numbers =
        least == 0
        ? .success : open == 0 ? .failure : Numbers(proof: least, disproof: min(most &+ open &- 1, Numbers.never - 1))
      if numbers.isProved || numbers.proof >= proof || numbers.disproof >= disproof || nodes >= limit {
        store(key, numbers, nodes - begun)
        return numbers
      }
      // Searches the best move until it is a quarter worse than the second-best. Without this margin, the search would switch between the
      // two moves at every node.
      let enough = min(proof, second < Numbers.never ? second &+ 1 &+ second / 4 : Numbers.never)
      let child = room[best]
      room[best].numbers = search(
        child.state, child.key, proof: disproof - (open - 1), disproof: enough, room + count)
    }
  }

  /// The numbers of a finished game, for the side whose turn it would be.
  private func ended(_ isDraw: Bool, _ turn: Player) -> Numbers {
    // The side to move succeeds only if the game is drawn and this side is the defender.
    isDraw && turn != attacker ? .success : .failure
  }

  /// The numbers of a live state. They are final if the side to move can win at once, or if the attacker can complete no line of boards any
  /// more. Else they are those stored at an earlier visit, or start values.
  private func numbers(of state: Ultimate.State, _ key: UInt64) -> Numbers {
    if state.isGiven { return .success }
    let open = ~state.closed.rawValue & 0x1FF
    let within = SquareSet(rawValue: state.boards(of: attacker).rawValue | open)
    if !Line.hasLine(within) { return state.turn == attacker ? .failure : .success }
    let bucket = table + Int(key % UInt64(buckets)) * UltimateSolver.bucketSize
    for place in 0..<UltimateSolver.bucketSize where bucket[place].key == key { return bucket[place].numbers }
    return Numbers(proof: 1, disproof: UInt32(state.liveMoves.count))
  }

  private func store(_ key: UInt64, _ numbers: Numbers, _ nodes: Int) {
    let bucket = table + Int(key % UInt64(buckets)) * UltimateSolver.bucketSize
    var chosen = 0
    for place in 0..<UltimateSolver.bucketSize {
      if bucket[place].key == key {
        chosen = place
        break
      }
      if bucket[place].nodes < bucket[chosen].nodes { chosen = place }
    }
    bucket[chosen] = Entry(key: key, numbers: numbers, nodes: UInt32(clamping: nodes))
  }

  /// A hash of the open boards, the winners of the closed ones, the side to move and the attacker.
  private func key(of state: Ultimate.State) -> UInt64 {
    var open: UInt128 = 0
    for board in SquareSet(rawValue: ~state.closed.rawValue & 0x1FF) { open |= 0x1FF &<< UInt128(9 &* board.rawValue) }
    var key: UInt64 = state.turn == .x ? 1 : 2
    for word in [state.x & open, state.o & open] {
      key = UltimateSolver.mixed(key ^ UInt64(truncatingIfNeeded: word))
      key = UltimateSolver.mixed(key ^ UInt64(truncatingIfNeeded: word >> 64))
    }
    let boards = UInt64(state.xBoards.rawValue) | UInt64(state.oBoards.rawValue) << 9
    let rest = UInt64(state.closed.rawValue) << 18 | UInt64(state.target) << 27
    // The lowest bit is set because 0 marks an empty entry.
    return UltimateSolver.mixed(key ^ (boards | rest | (attacker == .x ? 1 << 31 : 0))) | 1
  }

  private static func mixed(_ word: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: word)
    return generator.next()
  }
}
