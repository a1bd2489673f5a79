/// One of the nine cells of a 3×3 board.
@frozen
package struct Square: RawRepresentable, Sendable, Hashable, Comparable {
  /// 0–8 in reading order from the top left.
  package let rawValue: UInt8

  package init?(rawValue: UInt8) {
    guard rawValue < 9 else { return nil }
    self.rawValue = rawValue
  }

  package init(_ index: Int) {
    precondition((0..<9).contains(index), "cell index \(index) is outside 0–8")
    rawValue = UInt8(index)
  }

  package var index: Int { Int(rawValue) }

  /// From 0 at the top.
  package var row: Int { Int(rawValue) / 3 }

  /// From 0 at the left.
  package var column: Int { Int(rawValue) % 3 }

  /// The chess-like name; `a1` is bottom left, `c3` top right.
  package var name: String { Square.names[index] }

  private static let names = all.map { String(decoding: [$0.nameBytes.column, $0.nameBytes.row], as: UTF8.self) }

  /// The two ASCII bytes of the cell's name.
  @inline(__always)
  package var nameBytes: (column: UInt8, row: UInt8) { (0x61 + rawValue % 3, 0x33 - rawValue / 3) }

  /// The cell whose name has the ASCII bytes `column` and `row`.
  @inline(__always)
  package init?(column: UInt8, row: UInt8) {
    guard (0x61...0x63).contains(column), (0x31...0x33).contains(row) else { return nil }
    rawValue = (0x33 - row) * 3 + (column - 0x61)
  }

  /// Reads a chess-like name, or a digit in reading order (`1` top left … `9` bottom right).
  package init?(name: some StringProtocol) {
    var bytes = name.utf8.makeIterator()
    switch (bytes.next(), bytes.next(), bytes.next()) {
    case (let digit?, nil, _) where (0x31...0x39).contains(digit):
      self.init(rawValue: digit - 0x31)
    case (let column?, let row?, nil): self.init(column: column, row: row)
    default:
      return nil
    }
  }

  /// In reading order.
  package static let all: [Square] = (0..<9).map { Square($0) }

  package static func < (a: Square, b: Square) -> Bool { a.rawValue < b.rawValue }
}

/// A set of cells as a nine-bit mask; bit `i` is cell `i` in reading order.
@frozen
package struct SquareSet: RawRepresentable, ExpressibleByArrayLiteral, Sequence, Sendable, Hashable {
  /// Only bits 0–8 are used.
  package var rawValue: UInt16

  /// Bits above 8 must be clear.
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package init() { rawValue = 0 }

  package init(_ square: Square) { rawValue = 1 << UInt16(square.rawValue) }

  package init(arrayLiteral squares: Square...) { self = squares.reduce(into: SquareSet()) { $0.insert($1) } }

  package static let full = SquareSet(rawValue: 0x1FF)
  package static let corners = SquareSet(rawValue: 0b101_000_101)
  package static let center = SquareSet(rawValue: 0b000_010_000)

  package func contains(_ square: Square) -> Bool { rawValue >> UInt16(square.rawValue) & 1 == 1 }

  package func union(_ other: SquareSet) -> SquareSet { SquareSet(rawValue: rawValue | other.rawValue) }

  package func intersection(_ other: SquareSet) -> SquareSet { SquareSet(rawValue: rawValue & other.rawValue) }

  package func subtracting(_ other: SquareSet) -> SquareSet { SquareSet(rawValue: rawValue & ~other.rawValue) }

  package func isSubset(of other: SquareSet) -> Bool { subtracting(other).isEmpty }

  package mutating func formUnion(_ other: SquareSet) { rawValue |= other.rawValue }

  package mutating func insert(_ square: Square) { rawValue |= SquareSet(square).rawValue }

  package var isEmpty: Bool { rawValue == 0 }

  package var count: Int { rawValue.nonzeroBitCount }

  /// The first cell in reading order.
  package var first: Square? { isEmpty ? nil : Square(rawValue.trailingZeroBitCount) }

  /// Iterates the cells in reading order.
  @frozen
  package struct Iterator: IteratorProtocol {
    var rest: UInt16
    package mutating func next() -> Square? {
      guard rest != 0 else { return nil }
      defer { rest &= rest &- 1 }
      return Square(rest.trailingZeroBitCount)
    }
  }

  package func makeIterator() -> Iterator { Iterator(rest: rawValue) }
}
