/// One of the nine cells, numbered 0–8 in reading order from the top left.
@frozen
package struct Square: RawRepresentable, Sendable, Hashable, Comparable {
  /// The index 0–8 in reading order.
  package let rawValue: UInt8

  /// Makes the cell with the given index in reading order; `nil` outside 0–8.
  package init?(rawValue: UInt8) {
    guard rawValue < 9 else { return nil }
    self.rawValue = rawValue
  }

  /// Makes the cell with the given index, which must be in 0–8.
  package init(_ index: Int) {
    precondition((0..<9).contains(index), "cell index \(index) is outside 0–8")
    rawValue = UInt8(index)
  }

  /// The index 0–8 as an `Int`, for subscripts.
  package var index: Int { Int(rawValue) }

  /// The row, 0 at the top.
  package var row: Int { Int(rawValue) / 3 }

  /// The column, 0 at the left.
  package var column: Int { Int(rawValue) % 3 }

  /// The chess-like name `a1`…`c3`, `a1` bottom left.
  package var name: String { Square.names[index] }

  private static let names = all.map { String(decoding: [$0.nameBytes.column, $0.nameBytes.row], as: UTF8.self) }

  /// The two ASCII bytes of the cell's name.
  @inline(__always)
  package var nameBytes: (column: UInt8, row: UInt8) { (0x61 + rawValue % 3, 0x33 - rawValue / 3) }

  /// The cell whose name has the ASCII bytes `column` (`a`…`c`) and `row` (`1`…`3`); `nil` for other bytes.
  @inline(__always)
  package init?(column: UInt8, row: UInt8) {
    guard (0x61...0x63).contains(column), (0x31...0x33).contains(row) else { return nil }
    rawValue = (0x33 - row) * 3 + (column - 0x61)
  }

  /// Makes the cell from a chess-like name or a digit in reading order (`1` top left … `9` bottom right).
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

  /// Every cell in reading order.
  package static let all: [Square] = (0..<9).map { Square($0) }

  /// Whether `a` comes before `b` in reading order.
  package static func < (a: Square, b: Square) -> Bool { a.rawValue < b.rawValue }
}

/// A set of cells as a nine-bit mask; bit `i` is cell `i` in reading order.
@frozen
package struct SquareSet: RawRepresentable, ExpressibleByArrayLiteral, Sequence, Sendable, Hashable {
  /// The mask; only bits 0–8 are used.
  package var rawValue: UInt16

  /// Makes the set with the given mask; bits above 8 must be clear.
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package init() { rawValue = 0 }

  /// The set that holds one cell.
  package init(_ square: Square) { rawValue = 1 << UInt16(square.rawValue) }

  package init(arrayLiteral squares: Square...) { self = squares.reduce(into: SquareSet()) { $0.insert($1) } }

  /// All nine cells.
  package static let full = SquareSet(rawValue: 0x1FF)
  package static let corners = SquareSet(rawValue: 0b101_000_101)
  /// The centre alone.
  package static let center = SquareSet(rawValue: 0b000_010_000)

  package func contains(_ square: Square) -> Bool { rawValue >> UInt16(square.rawValue) & 1 == 1 }

  /// The cells that are in at least one of the two sets.
  package func union(_ other: SquareSet) -> SquareSet { SquareSet(rawValue: rawValue | other.rawValue) }

  /// The cells that are in both sets.
  package func intersection(_ other: SquareSet) -> SquareSet { SquareSet(rawValue: rawValue & other.rawValue) }

  /// The cells of this set that are not in the set `other`.
  package func subtracting(_ other: SquareSet) -> SquareSet { SquareSet(rawValue: rawValue & ~other.rawValue) }

  /// Whether all cells of this set are in the set `other`.
  package func isSubset(of other: SquareSet) -> Bool { subtracting(other).isEmpty }

  /// Adds the cells of the set `other`.
  package mutating func formUnion(_ other: SquareSet) { rawValue |= other.rawValue }

  package mutating func insert(_ square: Square) { rawValue |= SquareSet(square).rawValue }

  package var isEmpty: Bool { rawValue == 0 }

  /// The number of cells, 0–9.
  package var count: Int { rawValue.nonzeroBitCount }

  /// The first cell in reading order; `nil` for the empty set.
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
