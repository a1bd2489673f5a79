import TicTacToe

extension Position {
  /// 3⁹: each of nine cells is empty, X or O.
  package static let keyCount = 19_683

  /// The board as a base-3 number with cell 0 as the lowest digit: 0 empty, 1 X, 2 O. Adding a mark raises the number.
  package var ternaryKey: Int { TernaryKey.weight(x) + 2 * TernaryKey.weight(o) }

  /// The board with the given key in `0..<keyCount`, reachable or not.
  package init(ternaryKey key: Int) {
    precondition((0..<Position.keyCount).contains(key), "board key \(key) is outside 0..<\(Position.keyCount)")
    self.init(x: [], o: [])
    var rest = key
    for square in Square.all {
      if rest % 3 == 1 { x.insert(square) } else if rest % 3 == 2 { o.insert(square) }
      rest /= 3
    }
  }
}

package enum TernaryKey {
  /// 3ⁱ, the weight of an X in a cell; an O weighs twice as much.
  @inline(__always)
  package static func power(_ cell: Int) -> Int {
    // A static table of the nine powers would need lazy initialisation.
    let low = [1, 3, 9] as InlineArray<3, Int>
    let high = [1, 27, 729] as InlineArray<3, Int>
    return low[cell % 3] * high[cell / 3]
  }

  /// The sum of 3ⁱ over the cells of a mask.
  static func weight(_ squares: SquareSet) -> Int {
    let m = Int(squares.rawValue)
    // A row's three bits b₂b₁b₀ weigh b₀ + 3b₁ + 9b₂; rows weigh 1, 27 and 729.
    @inline(__always) func row(_ bits: Int) -> Int { (bits & 1) + 3 * (bits >> 1 & 1) + 9 * (bits >> 2 & 1) }
    return row(m) + 27 * row(m >> 3) + 729 * row(m >> 6)
  }
}
