import Base

extension Position {
  /// The longest position text read: three rows of three letters with separators, generously.
  package static let notationLimit = 64

  /// The FEN-like form: rows from the top, digits for runs of empty cells, then the side to move: `X1O/1X1/3 o`.
  package var notation: String {
    var text = ""
    for row in 0..<3 {
      var run = 0
      for column in 0..<3 {
        let mark = self[Square(row * 3 + column)]
        if let mark {
          if run > 0 { text += "\(run)" }
          run = 0
          text.append(mark.letter)
        } else {
          run += 1
        }
      }
      if run > 0 { text += "\(run)" }
      if row < 2 { text += "/" }
    }
    return text + (turn == .x ? " x" : " o")
  }

  /// Reads the FEN-like form; letters of either case, the side to move may be left out. Only positions that legal play
  /// can reach are read.
  package init(notation: String) throws(NotationError) {
    var cursor = ByteCursor(Array(notation.utf8.prefix(Position.notationLimit + 1)))
    guard cursor.bytes.count <= Position.notationLimit else {
      throw cursor.error(at: 0, "a position has at most \(Position.notationLimit) characters")
    }
    var position = Position.start
    for row in 0..<3 {
      try position.readRow(row, from: &cursor)
      guard row < 2 else { break }
      guard cursor.peek == UInt8(ascii: "/") else { throw cursor.error("'/' must follow row \(row + 1) of 3") }
      cursor.offset += 1
    }
    guard (0...1).contains(position.x.count - position.o.count) else {
      throw cursor.error(
        at: 0, "\(position.x.count) X against \(position.o.count) O: X moves first and sides alternate")
    }
    let side = cursor.offset
    cursor.skipSpace()
    let turn = cursor.peek
    let sideToMove = position.x.count == position.o.count ? Player.x : .o
    if let turn {
      guard side < cursor.offset else { throw cursor.error("a row has three cells and three rows make a board") }
      switch turn | 0x20 {
      case UInt8(ascii: "x") where sideToMove == .x, UInt8(ascii: "o") where sideToMove == .o: break
      case UInt8(ascii: "x"), UInt8(ascii: "o"):
        throw cursor.error("the marks say that \(sideToMove.letter) is to move")
      default: throw cursor.error("the side to move is x or o")
      }
      cursor.offset += 1
      cursor.skipSpace()
      guard cursor.peek == nil else { throw cursor.error("nothing may follow the side to move") }
    }
    guard position.isReachable else {
      throw cursor.error(at: 0, "no legal play reaches this position: the game would have ended before")
    }
    self = position
  }

  private mutating func readRow(_ row: Int, from cursor: inout ByteCursor) throws(NotationError) {
    var column = 0
    while column < 3 {
      guard let byte = cursor.peek else { throw cursor.error("row \(row + 1) ends after \(column) of 3 cells") }
      switch byte {
      case UInt8(ascii: "X"), UInt8(ascii: "x"):
        x.insert(Square(row * 3 + column))
        column += 1
      case UInt8(ascii: "O"), UInt8(ascii: "o"):
        o.insert(Square(row * 3 + column))
        column += 1
      case UInt8(ascii: "1")...UInt8(ascii: "3"):
        column += Int(byte - UInt8(ascii: "0"))
        guard column <= 3 else { throw cursor.error("row \(row + 1) has more than 3 cells") }
      default:
        throw cursor.error("a row is written with X, O and 1–3 for empty cells")
      }
      cursor.offset += 1
    }
  }
}
