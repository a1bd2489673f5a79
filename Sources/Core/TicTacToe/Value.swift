/// The value of a position for one side, or of a move for the side that makes it.
@frozen
package enum Value: Int8, Sendable, Hashable, Comparable {
  case loss = -1
  case draw = 0
  case win = 1

  /// The same value as the other side sees it.
  package var negated: Value { self == .win ? .loss : self == .loss ? .win : .draw }

  package static func < (a: Value, b: Value) -> Bool { a.rawValue < b.rawValue }
}

/// The exact values of the positions before and after a move, for the mover.
package struct MoveValues: Sendable, Hashable {
  package let before: Value
  package let after: Value
  /// Whether the mover had two or more moves, of which only this move kept the value.
  package let isOnlyMove: Bool

  package init(before: Value, after: Value, isOnlyMove: Bool) {
    (self.before, self.after, self.isOnlyMove) = (before, after, isOnlyMove)
  }
}
