import Base
import Opponents
import Oracle
import TicTacToe

/// A memoryless player as a table. With the same random numbers, table and player choose the same moves: the table draws exactly as
/// `MoveDistribution.draw` does.
package final class DistributionTable: Sendable {
  /// If all moves have equal chances, as for many players, a move is drawn without a scan of weights.
  private struct Row {
    var total: UInt64
    /// Four bits a cell, in reading order; the first cell is in the lowest bits.
    var cells: UInt64
    /// The index of the first move's weight in the table's `weights`; −1 if all moves have weight 1.
    var weights: Int32
  }

  /// Whether the player chooses all legal moves equally often; games of two such players can use `RandomGames`, which is faster.
  let isRandom: Bool
  private let rows: [Row]
  private let weights: [UInt64]
  /// The index of a state's row in `rows`, −1 for states that cannot occur or are over. The place of a state is 10 · `ternaryKey` of its
  /// board + the cell of the last move (9 for none).
  private let index: [Int32]

  package init(_ player: any MemorylessOpponent) {
    var rows: [Row] = []
    var weights: [UInt64] = []
    var index = [Int32](repeating: -1, count: Position.keyCount * 10)
    var isRandom = true
    for position in Solver.positions where position.outcome == nil {
      var known: [(MoveDistribution, Int32)] = []
      let lasts = [nil] + position[position.turn.opponent].map { Optional($0) }
      for last in lasts {
        let distribution = player.distribution(in: position, lastMove: last)
        let slot = position.ternaryKey * 10 + (last?.index ?? 9)
        if let row = known.first(where: { $0.0 == distribution })?.1 {
          index[slot] = row
          continue
        }
        var (cells, shift, plain) = (UInt64(0), UInt64(0), true)
        isRandom = isRandom && distribution == MoveDistribution(uniformOver: position.legalMoves)
        for square in distribution.support {
          cells |= UInt64(square.rawValue) << shift
          shift += 4
          plain = plain && distribution[square] == 1
        }
        index[slot] = Int32(rows.count)
        known.append((distribution, index[slot]))
        rows.append(Row(total: distribution.total, cells: cells, weights: plain ? -1 : Int32(weights.count)))
        if !plain { weights += distribution.support.map { distribution[$0] } }
      }
    }
    (self.isRandom, self.rows, self.weights, self.index) = (isRandom, rows, weights, index)
  }

  /// Draws a move in a state that is not over. `key` is the `ternaryKey` of the board, `last` the cell of the last move, or 9 for none.
  @inline(__always)
  package func move(key: Int, last: Int, using generator: inout SplitMix64) -> Int {
    let row = rows[Int(index[key &* 10 &+ last])]
    var rest = generator.next().multipliedFullWidth(by: row.total).high
    if row.weights < 0 { return Int(truncatingIfNeeded: row.cells &>> (4 &* rest) & 15) }
    var slot = 0
    while rest >= weights[Int(row.weights) &+ slot] {
      rest -= weights[Int(row.weights) &+ slot]
      slot &+= 1
    }
    return Int(truncatingIfNeeded: row.cells &>> UInt64(4 &* slot) & 15)
  }
}
