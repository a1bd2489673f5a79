/// The three games, for code that is not specialised to one of them.
package enum Variant: String, Sendable, Hashable, CaseIterable {
  /// Three in a line on the 3×3 board.
  case classic
  /// Classic with three marks per side: the fourth removes the oldest.
  case infinite
  /// Nine small boards: a move's place on its board selects the board of the next move.
  case ultimate

  /// The names, for messages.
  package static let names = allCases.map { $0.rawValue }.joined(separator: ", ")

  /// The value of PGN's tag `Variant`.
  package var title: String {
    switch self {
    case .classic: "Classic"
    case .infinite: "Infinite"
    case .ultimate: "Ultimate"
    }
  }

  /// Cells along one edge of the board.
  package var side: Int { self == .ultimate ? 9 : 3 }

  package var cellCount: Int { side * side }

  /// The row of a cell, 0 at the top.
  package func row(of cell: Cell) -> Int {
    self == .ultimate ? cell.index / 27 * 3 + cell.index % 9 / 3 : cell.index / 3
  }

  /// The column of a cell, 0 at the left.
  package func column(of cell: Cell) -> Int {
    self == .ultimate ? cell.index / 9 % 3 * 3 + cell.index % 3 : cell.index % 3
  }

  /// The cell in a row from the top and a column from the left.
  package func cell(row: Int, column: Int) -> Cell {
    precondition((0..<side).contains(row) && (0..<side).contains(column), "no cell in row \(row), column \(column)")
    guard self == .ultimate else { return Cell(row * 3 + column) }
    return Cell((row / 3 * 3 + column / 3) * 9 + row % 3 * 3 + column % 3)
  }

  /// The chess-like name of a cell on the whole board; `a1` is bottom left.
  package func name(of cell: Cell) -> String {
    let letters: [UInt8] = [
      UInt8(ascii: "a") + UInt8(column(of: cell)), UInt8(ascii: "0") + UInt8(side - row(of: cell)),
    ]
    return String(decoding: letters, as: UTF8.self)
  }

  /// The cell with a chess-like name, or on the 3×3 board with a digit in reading order; `nil` for other texts.
  package func cell(named name: some StringProtocol) -> Cell? {
    guard self == .ultimate else { return Square(name: name).map { Cell(rawValue: $0.rawValue) } }
    var bytes = name.utf8.makeIterator()
    guard let column = bytes.next(), let row = bytes.next(), bytes.next() == nil,
      (UInt8(ascii: "a")...UInt8(ascii: "i")).contains(column), (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(row)
    else { return nil }
    return cell(row: Int(UInt8(ascii: "9") - row), column: Int(column - UInt8(ascii: "a")))
  }

  /// The range of names, for messages.
  package var cellRange: String { self == .ultimate ? "a1–i9" : "a1–c3" }
}
