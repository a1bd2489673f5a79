import TicTacToe

/// A finished game of the arena in eight bytes.
package struct PackedGame: Sendable, Hashable {
  /// In Classic, four bits for each move from bit 0 on, and the number of moves at bit 36. In other variants, the number of moves at bit 0,
  /// and 1 at bit 63. In all variants, the result at bit 40 and the ending at bit 42.
  package private(set) var bits: UInt64

  /// Makes a game from its bits; 0 stands for a game that was not played.
  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  package enum Ending: UInt64, Sendable {
    case normal
    /// An engine crashed, made an illegal move or violated the protocol.
    case forfeit
    case time
    case adjudication
  }

  package init(moves: some Sequence<Square>, outcome: Outcome, ending: Ending = .normal) {
    var (nibbles, count) = (UInt64(0), UInt64(0))
    for square in moves {
      nibbles |= UInt64(square.rawValue) << (4 * count)
      count += 1
    }
    self.init(nibbles: nibbles, count: Int(count), outcome: outcome, ending: ending)
  }

  @inline(__always)
  init(nibbles: UInt64, count: Int, outcome: Outcome, ending: Ending = .normal) {
    let result: UInt64 = outcome == .draw ? 2 : outcome == .win(.x) ? 0 : 1
    bits = nibbles | UInt64(count) << 36 | result << 40 | ending.rawValue << 42
  }

  /// A game of a variant other than Classic; `GameMoves` has its moves.
  init(variantMoves count: Int, outcome: Outcome, ending: Ending) {
    self.init(nibbles: UInt64(count), count: 0, outcome: outcome, ending: ending)
    bits |= PackedGame.variantFlag
  }

  private static var variantFlag: UInt64 { 1 << 63 }

  /// The number of moves, in any variant.
  var plies: Int { bits & PackedGame.variantFlag == 0 ? count : Int(bits & 0xFF) }

  /// The result: 0 X won, 1 O won, 2 drawn.
  @inline(__always)
  var result: Int { Int(truncatingIfNeeded: bits &>> 40 & 3) }
  /// The number of moves in `bits`; 0 in variants other than Classic.
  package var count: Int { Int(bits >> 36 & 15) }
  package var moves: [Square] { (0..<count).map { Square(cell($0)) } }
  @inline(__always)
  func cell(_ ply: Int) -> Int { Int(bits >> (4 * UInt64(ply)) & 15) }
  package var outcome: Outcome { bits >> 40 & 3 == 2 ? .draw : .win(bits >> 40 & 3 == 0 ? .x : .o) }
  package var ending: Ending { Ending(rawValue: bits >> 42 & 3) ?? .normal }
}
