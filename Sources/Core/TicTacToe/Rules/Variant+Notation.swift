import Base

extension Variant {
  /// The most bytes of a position text that is read; every valid text is shorter.
  var notationLimit: Int { isOneBoard ? 64 : 128 }

  /// Rows from the top, digits for runs of empty cells: `X1O/1X1/3`.
  func rows(x: MoveSet, o: MoveSet) -> String {
    var text = ""
    for row in 0..<side {
      var run = 0
      func endRun() {
        if run > 0 { text += "\(run)" }
        run = 0
      }
      for column in 0..<side {
        let cell = cell(row: row, column: column)
        if let mark: Player = x.contains(cell) ? .x : o.contains(cell) ? .o : nil {
          endRun()
          text.append(mark.letter)
        } else {
          run += 1
        }
      }
      endRun()
      if row < side - 1 { text += "/" }
    }
    return text
  }

  /// Accepts letters of either case.
  func readRows(from cursor: inout ByteCursor) throws(NotationError) -> (x: MoveSet, o: MoveSet) {
    var (x, o) = (MoveSet(), MoveSet())
    for row in 0..<side {
      var column = 0
      while column < side {
        guard let byte = cursor.peek else {
          throw cursor.error("row \(row + 1) ends after \(column) of \(side) cells")
        }
        switch byte {
        case UInt8(ascii: "X"), UInt8(ascii: "x"):
          x.insert(cell(row: row, column: column))
          column += 1
        case UInt8(ascii: "O"), UInt8(ascii: "o"):
          o.insert(cell(row: row, column: column))
          column += 1
        case UInt8(ascii: "1")...UInt8(ascii: "0") + UInt8(side):
          column += Int(byte - UInt8(ascii: "0"))
          guard column <= side else { throw cursor.error("row \(row + 1) has more than \(side) cells") }
        default:
          throw cursor.error("a row is written with X, O and 1–\(side) for empty cells")
        }
        cursor.offset += 1
      }
      guard row < side - 1 else { break }
      guard cursor.peek == UInt8(ascii: "/") else {
        throw cursor.error("'/' must follow row \(row + 1) of \(side)")
      }
      cursor.offset += 1
    }
    return (x, o)
  }
}

extension ByteCursor {
  init(_ notation: String, of variant: Variant) throws(NotationError) {
    let limit = variant.notationLimit
    self.init(Array(notation.utf8.prefix(limit + 1)))
    guard bytes.count <= limit else { throw error(at: 0, "a position has at most \(limit) characters") }
  }

  /// Throws unless X has as many marks as O, or one more.
  func turn(afterX x: Int, o: Int) throws(NotationError) -> Player {
    guard (0...1).contains(x - o) else {
      throw error(at: 0, "\(x) X against \(o) O: X moves first and sides alternate")
    }
    return x == o ? .x : .o
  }

  mutating func readSide() throws(NotationError) -> Player {
    defer { offset += 1 }
    switch peek.map({ $0 | 0x20 }) {
    case UInt8(ascii: "x"): return .x
    case UInt8(ascii: "o"): return .o
    default: throw error("the side to move is x or o")
    }
  }

  /// Parses the side to move. Throws if this side is not `turn`, which follows from the numbers of marks.
  mutating func readSide(_ turn: Player) throws(NotationError) {
    let place = offset
    guard try readSide() == turn else { throw error(at: place, "the marks say that \(turn.letter) is to move") }
  }
}
