/// One of the two sides; X moves first from the empty board.
@frozen
package enum Player: UInt8, Sendable, Hashable, CaseIterable {
  case x, o

  /// The other side.
  package var opponent: Player { self == .x ? .o : .x }

  /// The upper-case letter of the mark, `X` or `O`.
  package var letter: Character { self == .x ? "X" : "O" }
}
