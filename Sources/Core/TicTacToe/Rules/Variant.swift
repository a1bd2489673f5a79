/// The games, for code that is not specialised to one of them.
package enum Variant: String, Sendable, Hashable, CaseIterable {
  /// Three in a line on the 3×3 board.
  case classic
  /// Classic with three marks per side: a side's fourth mark removes this side's oldest mark.
  case infinite
  /// Classic, but the side that completes a line loses.
  case misere
  /// Nine small boards: a move's place on its board selects the board of the next move.
  case ultimate

  package static let names = allCases.map { $0.rawValue }.joined(separator: ", ")

  /// The value of PGN's tag `Variant`.
  package var title: String {
    switch self {
    case .classic: "Classic"
    case .infinite: "Infinite"
    case .misere: "Misere"
    case .ultimate: "Ultimate"
    }
  }

  package var isOneBoard: Bool {
    switch self {
    case .classic, .infinite, .misere: true
    case .ultimate: false
    }
  }

  /// Whether the exact value of every position is known.
  package var isSolved: Bool {
    switch self {
    case .classic, .infinite, .misere: true
    case .ultimate: false
    }
  }

  package static let solvedNames = allCases.filter { $0.isSolved }.map { $0.rawValue }.joined(separator: ", ")

  /// Whether files, network messages and database rows that name no game mean this game: they date from before the other games.
  package var isImplied: Bool {
    switch self {
    case .classic: true
    case .infinite, .misere, .ultimate: false
    }
  }

  /// The classic game's name in the headers of the arena's files; older than the names of the variants.
  package static let standardName = "standard"

  /// The name in the headers of the arena's files.
  package var headerName: String { isImplied ? Variant.standardName : rawValue }

  package init?(headerName: String) {
    guard let variant = Variant.allCases.first(where: { $0.headerName == headerName }) else { return nil }
    self = variant
  }

  package var plyLimit: Int {
    switch self {
    case .classic, .misere: 9
    case .infinite: Infinite.plyLimit
    case .ultimate: 81
    }
  }

  package var isLong: Bool { plyLimit > 9 }

  /// Cells along one edge of the board.
  package var side: Int { isOneBoard ? 3 : 9 }

  package var cellCount: Int { side * side }

  /// From 0 at the top.
  package func row(of cell: Cell) -> Int {
    isOneBoard ? cell.index / 3 : cell.index / 27 * 3 + cell.index % 9 / 3
  }

  /// From 0 at the left.
  package func column(of cell: Cell) -> Int {
    isOneBoard ? cell.index % 3 : cell.index / 9 % 3 * 3 + cell.index % 3
  }

  package func cell(row: Int, column: Int) -> Cell {
    precondition((0..<side).contains(row) && (0..<side).contains(column), "no cell in row \(row), column \(column)")
    if isOneBoard { return Cell(row * 3 + column) }
    return Cell((row / 3 * 3 + column / 3) * 9 + row % 3 * 3 + column % 3)
  }

  /// The chess-like name on the whole board; `a1` is bottom left.
  package func name(of cell: Cell) -> String {
    let letters: [UInt8] = [
      UInt8(ascii: "a") + UInt8(column(of: cell)), UInt8(ascii: "0") + UInt8(side - row(of: cell)),
    ]
    return String(decoding: letters, as: UTF8.self)
  }

  /// Reads a chess-like name, or on the 3×3 board also a digit in reading order.
  package func cell(named name: some StringProtocol) -> Cell? {
    if isOneBoard { return Square(name: name).map { Cell(rawValue: $0.rawValue) } }
    var bytes = name.utf8.makeIterator()
    guard let column = bytes.next(), let row = bytes.next(), bytes.next() == nil,
      (UInt8(ascii: "a")...UInt8(ascii: "i")).contains(column), (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(row)
    else { return nil }
    return cell(row: Int(UInt8(ascii: "9") - row), column: Int(column - UInt8(ascii: "a")))
  }

  package var cellRange: String { isOneBoard ? "a1–c3" : "a1–i9" }

  package static let cellRanges = allCases.map { "\($0.cellRange) (\($0.rawValue))" }.joined(separator: ", ")
}
