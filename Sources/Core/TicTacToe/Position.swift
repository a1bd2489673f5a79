/// How a finished game ended.
@frozen
package enum Outcome: Sendable, Hashable {
  case win(Player)
  case draw
}

/// The marks on the board; the side to move follows from their numbers, X first.
@frozen
package struct Position: Sendable, Hashable {
  /// The cells X has marked.
  package var x: SquareSet
  /// The cells O has marked.
  package var o: SquareSet

  /// The empty board, X to move.
  package static let start = Position(x: [], o: [])

  /// Makes a position from disjoint mark sets that are known to be consistent; see `isReachable`.
  package init(x: SquareSet, o: SquareSet) {
    (self.x, self.o) = (x, o)
  }

  /// The cells a side has marked.
  package subscript(player: Player) -> SquareSet { player == .x ? x : o }

  /// The mark in a cell, or `nil` if it is empty.
  package subscript(square: Square) -> Player? {
    x.contains(square) ? .x : o.contains(square) ? .o : nil
  }

  /// The number of marks, 0–9; the ply that comes next.
  package var ply: Int { x.count + o.count }

  /// The side to move (also defined, by count, when the game is over).
  package var turn: Player { x.count == o.count ? .x : .o }

  /// The empty cells.
  package var empty: SquareSet { SquareSet(rawValue: ~(x.rawValue | o.rawValue) & 0x1FF) }

  /// The winner by a completed line, or `nil`.
  package var winner: Player? {
    Line.hasLine(x) ? .x : Line.hasLine(o) ? .o : nil
  }

  /// The result if the game is over, else `nil`.
  package var outcome: Outcome? {
    if let winner { return .win(winner) }
    return empty.isEmpty ? .draw : nil
  }

  /// Whether the position can arise from the empty board by legal play; masks that overlap or leave the board cannot.
  package var isReachable: Bool {
    guard (x.rawValue | o.rawValue) & ~SquareSet.full.rawValue == 0, x.rawValue & o.rawValue == 0 else { return false }
    // Only the side that moved last can have a line. One mark is in all its lines, so that the position before had none.
    switch x.count - o.count {
    case 0: return !Line.hasLine(x)
    case 1: return !Line.hasLine(o)
    default: return false
    }
  }

  /// The cells that may be marked: the empty ones, none once the game is over.
  package var legalMoves: SquareSet { winner == nil ? empty : [] }

  /// The position after the side to move marks an empty cell of a live game; anything else is a programming error.
  package func playing(_ square: Square) -> Position {
    precondition(legalMoves.contains(square), "\(square.name) is not legal in \(x.rawValue)/\(o.rawValue)")
    var next = self
    if turn == .x { next.x.insert(square) } else { next.o.insert(square) }
    return next
  }
}
