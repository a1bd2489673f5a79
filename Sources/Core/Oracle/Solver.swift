import TicTacToe

@frozen
package struct Evaluation: Sendable, Hashable {
  /// For the side to move; in a finished game, for the side whose turn it would be.
  package let value: Value
  /// Plies to the end if the winner hurries, the loser delays and a draw is played out; 0 after the end.
  package let distance: Int

  package init(value: Value, distance: Int) {
    (self.value, self.distance) = (value, distance)
  }
}

/// Perfect play of the classic game or of misère: a table of 19,683 bytes, from retrograde analysis.
package struct Solver: Sendable {
  /// The classic game, built on first use in microseconds.
  package static let shared = Solver()

  package static let misere = Solver(lineLoses: true)

  /// Whether a completed line loses, as in misère; otherwise it wins.
  package let lineLoses: Bool

  /// By base-3 key, for the side to move: 0 a draw, 32 − n a win in n plies, n − 32 a loss in n plies; or `unreachable`.
  private let table: [Int8]

  private static let unreachable = Int8.min

  /// For benchmarks; other code uses the shared tables.
  package init(lineLoses: Bool = false) {
    self.lineLoses = lineLoses
    table = [Int8](unsafeUninitializedCapacity: Position.keyCount) { buffer, count in
      Solver.fill(buffer, lineLoses)
      count = Position.keyCount
    }
  }

  private static func fill(_ table: UnsafeMutableBufferPointer<Int8>, _ lineLoses: Bool) {
    table.initialize(repeating: unreachable)
    var work = SolverWork(lineLoses: lineLoses)
    withUnsafeMutablePointer(to: &work) { work in
      // A superset of a mask is a larger number, so in descending order every successor is solved first.
      for occupied in stride(from: 0x1FF, through: 0, by: -1) { work.pointee.solve(occupied, table) }
    }
  }

  /// A hash of the whole table, for comparing solvers.
  package var signature: String {
    "\(table.reduce(UInt64(0)) { $0 &* 31 &+ UInt64(UInt8(bitPattern: $1)) })"
  }

  package func outcome(of position: Position) -> Outcome? {
    lineLoses ? Misere.outcome(of: position) : position.outcome
  }

  package func evaluation(of position: Position) -> Evaluation {
    let score = table[position.ternaryKey]
    precondition(score != Solver.unreachable, "unreachable position \(position.x.rawValue)/\(position.o.rawValue)")
    if score == 0 { return Evaluation(value: .draw, distance: 9 - position.ply) }
    return Evaluation(value: score > 0 ? .win : .loss, distance: 32 - Int(abs(score)))
  }

  /// The value and distance after a legal move, for the mover.
  package func evaluation(of square: Square, in position: Position) -> Evaluation {
    let after = evaluation(of: position.playing(square))
    return Evaluation(value: after.value.negated, distance: after.distance + 1)
  }

  /// Every legal move, with the evaluation after it as the other side sees it.
  package func moveEvaluations(in position: Position) -> [(cell: Cell, after: Evaluation)] {
    position.legalMoves.map { (Cell($0.index), evaluation(of: position.playing($0))) }
  }

  /// The 5,478 reachable positions, by number of marks and then by base-3 key.
  package static let positions: [Position] = {
    let reachable = (0..<Position.keyCount).map { Position(ternaryKey: $0) }.filter { $0.isReachable }
    return (0...9).flatMap { ply in reachable.filter { $0.ply == ply } }
  }()

  package func valuePreservingMoves(in position: Position) -> SquareSet {
    let value = evaluation(of: position).value
    return moves(in: position) { $0.value == value }
  }

  /// The value-preserving moves that also win soonest, lose latest or draw latest.
  package func distanceOptimalMoves(in position: Position) -> SquareSet {
    let best = evaluation(of: position)
    return moves(in: position) { $0 == best }
  }

  private func moves(in position: Position, where isIncluded: (Evaluation) -> Bool) -> SquareSet {
    var result: SquareSet = []
    for square in position.legalMoves where isIncluded(evaluation(of: square, in: position)) {
      result.insert(square)
    }
    return result
  }
}

/// The solver's working memory, all on the stack.
private struct SolverWork {
  private var line = InlineArray<512, Bool>(repeating: false)
  /// At offset n · 126: the ways to divide n marks between X and O, each as a bit mask of X's marks, which are half of n, rounded up.
  private var combinations = InlineArray<1260, Int16>(repeating: 0)
  private var counts = InlineArray<10, Int>(repeating: 0)
  /// Tables of the subsets of the mask `occupied`. Bit n of an index selects the n-th occupied cell; `masks` has the selected cells,
  /// `weights` the sum of their powers of 3.
  private var masks = InlineArray<512, UInt16>(repeating: 0)
  private var weights = InlineArray<512, Int32>(repeating: 0)
  private let powers = InlineArray<9, Int> { TernaryKey.power($0) }
  /// Replaces the best successor's score if a line is complete: 33 makes the position's score −32 (lost in 0 plies), −33 makes it 32 (won).
  private let lineValue: Int8

  init(lineLoses: Bool) {
    lineValue = lineLoses ? -33 : 33
    for mask in 0..<512 { line[unchecked: mask] = Line.hasLine(SquareSet(rawValue: UInt16(mask))) }
    for places in 0...9 {
      for set in 0..<(1 << places) where set.nonzeroBitCount == (places + 1) / 2 {
        combinations[places * 126 + counts[places]] = Int16(set)
        counts[places] += 1
      }
    }
  }

  /// Solves every position whose occupied cells are exactly those of the mask `occupied`.
  @inline(__always)
  mutating func solve(_ occupied: Int, _ table: UnsafeMutableBufferPointer<Int8>) {
    let isO = occupied.nonzeroBitCount & 1
    var steps = InlineArray<9, Int>(repeating: 0)
    var (marks, empty, allO) = (0, 0, 0)
    masks[unchecked: 0] = 0
    weights[unchecked: 0] = 0
    for cell in 0..<9 {
      let power = powers[unchecked: cell]
      if occupied &>> cell & 1 == 0 {
        steps[unchecked: empty] = power &<< isO
        empty &+= 1
      } else {
        let bit = 1 &<< marks
        for set in 0..<bit {
          masks[unchecked: set | bit] = masks[unchecked: set] | 1 &<< UInt16(truncatingIfNeeded: cell)
          weights[unchecked: set | bit] = weights[unchecked: set] &+ Int32(truncatingIfNeeded: power)
        }
        marks &+= 1
        allO &+= 2 &* power
      }
    }
    for number in 0..<counts[unchecked: marks] {
      let set = Int(combinations[unchecked: marks &* 126 &+ number])
      let x = Int(masks[unchecked: set])
      let o = occupied ^ x
      // Skips positions on which the side to move has a line: the game would have ended before.
      if line[unchecked: isO == 1 ? o : x] { continue }
      let key = allO &- Int(weights[unchecked: set])
      var least: Int8 = 0
      if line[unchecked: isO == 1 ? x : o] {
        least = lineValue
      } else if empty > 0 {
        least = .max
        for slot in 0..<empty { least = min(least, table[key &+ steps[unchecked: slot]]) }
      }
      // The best move has the least score for the other side; the end is one ply further away.
      table[key] = least == 0 ? 0 : least < 0 ? -least - 1 : 1 - least
    }
  }
}
