import TicTacToe

/// A finished game of the arena in eight bytes; why a forfeit was one is kept beside it.
public struct PackedGame: Sendable, Hashable {
  /// Four bits a move from bit 0, count at bit 36, result at bit 40, termination at bit 42.
  public private(set) var bits: UInt64

  /// What ended the game.
  public enum Ending: UInt64, Sendable {
    /// A line or a full board.
    case normal
    /// An engine crashed, cheated or spoke nonsense.
    case forfeit
    /// An engine did not answer in time.
    case time
  }

  /// Packs a game.
  public init(moves: some Sequence<Square>, outcome: Outcome, ending: Ending = .normal) {
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

  /// The number of moves.
  public var count: Int { Int(bits >> 36 & 15) }
  /// The moves in order.
  public var moves: [Square] { (0..<count).map { Square(cell($0)) } }
  /// The cell of a move, 0–8.
  @inline(__always)
  func cell(_ ply: Int) -> Int { Int(bits >> (4 * UInt64(ply)) & 15) }
  /// The result.
  public var outcome: Outcome { bits >> 40 & 3 == 2 ? .draw : .win(bits >> 40 & 3 == 0 ? .x : .o) }
  /// What ended it.
  public var ending: Ending { Ending(rawValue: bits >> 42 & 3) ?? .normal }
}
