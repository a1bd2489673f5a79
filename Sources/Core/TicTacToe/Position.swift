@frozen
package enum Outcome: Sendable, Hashable {
  case win(Player)
  case draw

  package var swapped: Outcome {
    switch self {
    case .win(let winner): .win(winner.opponent)
    case .draw: .draw
    }
  }
}

/// The marks on the board. The side to move follows from their numbers, as X moves first.
@frozen
package struct Position: Sendable, Hashable {
  package var x: SquareSet
  package var o: SquareSet

  package static let start = Position(x: [], o: [])

  /// The sets must be disjoint and consistent, see `isReachable`.
  package init(x: SquareSet, o: SquareSet) {
    (self.x, self.o) = (x, o)
  }

  package subscript(player: Player) -> SquareSet { player == .x ? x : o }

  package subscript(square: Square) -> Player? {
    x.contains(square) ? .x : o.contains(square) ? .o : nil
  }

  /// The number of marks, 0–9, which is also the index of the next ply.
  package var ply: Int { x.count + o.count }

  /// After the end, the side whose turn it would be.
  package var turn: Player { x.count == o.count ? .x : .o }

  package var empty: SquareSet { SquareSet(rawValue: ~(x.rawValue | o.rawValue) & 0x1FF) }

  /// The side that has completed a line.
  package var winner: Player? {
    Line.hasLine(x) ? .x : Line.hasLine(o) ? .o : nil
  }

  package var outcome: Outcome? {
    if let winner { return .win(winner) }
    return empty.isEmpty ? .draw : nil
  }

  /// Whether legal play can lead to the position; false for masks that overlap or have bits beyond the board.
  package var isReachable: Bool {
    guard (x.rawValue | o.rawValue) & ~SquareSet.full.rawValue == 0, x.rawValue & o.rawValue == 0 else { return false }
    // Only the last mover can have a line. All its lines share the last mark, so there was no line before the last move.
    switch x.count - o.count {
    case 0: return !Line.hasLine(x)
    case 1: return !Line.hasLine(o)
    default: return false
    }
  }

  package var legalMoves: SquareSet { winner == nil ? empty : [] }

  package func playing(_ square: Square) -> Position {
    precondition(legalMoves.contains(square), "\(square.name) is not legal in \(x.rawValue)/\(o.rawValue)")
    var next = self
    if turn == .x { next.x.insert(square) } else { next.o.insert(square) }
    return next
  }
}
