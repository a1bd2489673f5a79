import TicTacToe

/// The numbers of nodes and finished games in the tree of all move sequences from a position, down to a depth in plies.
package struct Perft: Sendable, Hashable {
  /// At index n, the nodes n plies after the start position.
  package private(set) var nodes: [Int]
  /// At index n, the games that X has won n plies after the start position.
  package private(set) var xWins: [Int]
  package private(set) var oWins: [Int]
  package private(set) var draws: [Int]

  package var totalNodes: Int { nodes.reduce(0, +) }
  package var totalGames: Int { (xWins + oWins + draws).reduce(0, +) }

  /// Exponential in `depth`: 549,946 nodes from the empty board.
  package init(of start: Position = .start, depth: Int = 9) {
    let depth = max(0, min(depth, 9 - start.ply))
    var counts = [Int](repeating: 0, count: 40)
    counts[0] = 1
    switch start.outcome {
    case .win(.x): counts[10] = 1
    case .win(.o): counts[20] = 1
    case .draw: counts[30] = 1
    case nil:
      let isX = start.turn == .x
      counts.withUnsafeMutableBufferPointer { buffer in
        guard depth > 0, let base = buffer.baseAddress else { return }
        let (me, other) = isX ? (start.x, start.o) : (start.o, start.x)
        completing.withUnsafeBufferPointer { table in
          guard let table = table.baseAddress else { return }
          perft(
            UInt(me.rawValue), UInt(other.rawValue), side: isX ? 10 : 20, empty: 9 - start.ply, depth: depth, base + 1,
            table)
        }
      }
    }
    nodes = Array(counts[0...depth])
    xWins = Array(counts[10...10 + depth])
    oWins = Array(counts[20...20 + depth])
    draws = Array(counts[30...30 + depth])
  }
}

/// By mask of a side's cells, the further cells that would complete a line of this side.
private let completing: [UInt16] = (0..<512).map { cells in
  (0..<9).reduce(0) { $0 | (Line.hasLine(SquareSet(rawValue: UInt16(cells | 1 << $1))) ? 1 << UInt16($1) : 0) }
}

/// Counts the descendants of a live position with `empty` empty cells, up to `depth` plies deep; `me` is to move.
///
/// `counts` points to the next ply in four rows of ten plies: nodes, X's wins, O's wins, draws. `side` is the offset of the mover's row of
/// wins, 10 or 20. Winning moves, and the moves on the last two cells, are counted without being made.
private func perft(
  _ me: UInt, _ other: UInt, side: Int, empty: Int, depth: Int, _ counts: UnsafeMutablePointer<Int>,
  _ completing: UnsafePointer<UInt16>
) {
  let rest = ~(me | other) & 0x1FF
  let won = UInt(completing[Int(bitPattern: me)]) & rest
  var on = rest ^ won
  if empty == 2 {
    let many = oneOrTwo(on)
    counts[0] &+= 2
    counts[side] &+= 2 &- many
    guard depth > 1 else { return }
    // Each of the `many` moves that do not win leaves one cell. In `lost` of these cases the other side wins with this cell.
    let lost = oneOrTwo(UInt(completing[Int(bitPattern: other)]) & (many == 1 ? rest ^ on : on))
    counts[1] &+= many
    counts[31 &- side] &+= lost
    counts[31] &+= many &- lost
    return
  }
  counts[0] &+= empty
  counts[side] &+= won.nonzeroBitCount
  if empty == 1 { counts[30] &+= on == 0 ? 0 : 1 }
  guard depth > 1 else { return }
  while on != 0 {
    let bit = on & (0 &- on)
    on ^= bit
    perft(other, me | bit, side: 30 &- side, empty: empty &- 1, depth: depth &- 1, counts + 1, completing)
  }
}

/// The number of cells in a mask of at most two cells.
@inline(__always)
private func oneOrTwo(_ mask: UInt) -> Int { (mask != 0 ? 1 : 0) &+ (mask & (mask &- 1) != 0 ? 1 : 0) }
