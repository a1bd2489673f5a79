import Base

/// One of the two sides; X moves first from the empty board.
@frozen
package enum Player: UInt8, Sendable, Hashable, CaseIterable {
  case x, o

  package var opponent: Player { self == .x ? .o : .x }

  package var letter: Character { self == .x ? "X" : "O" }
}

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
