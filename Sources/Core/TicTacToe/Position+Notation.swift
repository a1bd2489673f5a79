import Base

extension Position {
  /// Like FEN: rows from the top, digits for runs of empty cells, then the side to move: `X1O/1X1/3 o`.
  package var notation: String {
    "\(Variant.classic.rows(x: MoveSet(x), o: MoveSet(o))) \(turn.text)"
  }

  /// Parses the notation of a reachable position, with letters of either case and with or without the side to move.
  package init(notation: String) throws(NotationError) {
    var cursor = try ByteCursor(notation, of: .classic)
    let rows = try Variant.classic.readRows(from: &cursor)
    self.init(x: Ultimate.board(0, of: rows.x.rawValue), o: Ultimate.board(0, of: rows.o.rawValue))
    let turn = try cursor.turn(afterX: x.count, o: o.count)
    let end = cursor.offset
    cursor.skipSpace()
    if cursor.peek != nil {
      guard end < cursor.offset else { throw cursor.error("a row has three cells and three rows make a board") }
      try cursor.readSide(turn)
      cursor.skipSpace()
      guard cursor.peek == nil else { throw cursor.error("nothing may follow the side to move") }
    }
    guard isReachable else {
      throw cursor.error(at: 0, "no legal play reaches this position: the game would have ended before")
    }
  }
}
