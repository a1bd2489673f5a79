import Base

/// One of the two sides; X moves first from the empty board.
@frozen
package enum Player: UInt8, Sendable, Hashable, CaseIterable {
  case x, o

  /// The other side.
  package var opponent: Player { self == .x ? .o : .x }

  /// The upper-case letter of the mark, `X` or `O`.
  package var letter: Character { self == .x ? "X" : "O" }
}

/// A side as files and network messages spell it: `x` or `o`.
extension Player: FieldText {
  package init?(text: String) {
    switch text {
    case "x": self = .x
    case "o": self = .o
    default: return nil
    }
  }
  package var text: String { self == .x ? "x" : "o" }
  package static var allowed: String { "x or o" }
}
