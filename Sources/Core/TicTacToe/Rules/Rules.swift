import Base

/// The rules of one variant, for code specialised to it: search, random games and tables. Other code uses `Variant`.
package protocol Rules: Sendable {
  /// A position with all data that the rules need to continue, the side to move included.
  associatedtype State: Hashable, Sendable

  static var variant: Variant { get }
  static var start: State { get }
  /// `nil` if the position is of another game.
  static func state(of position: VariantState) -> State?
  static func turn(in state: State) -> Player
  /// The cells that may be marked; none after the end.
  static func moves(_ state: State) -> MoveSet
  static func cells(of player: Player, in state: State) -> MoveSet
  /// A side's cells from the oldest to the newest if the rules remove marks, else empty.
  static func marksByAge(of player: Player, in state: State) -> [Cell]
  /// Returns the result if the game ends. A cell outside `moves` is a programming error.
  static func play(_ cell: Cell, _ state: inout State) -> Outcome?
  static func outcome(of state: State) -> Outcome?

  /// The state as a text of one line.
  static func notation(of state: State) -> String
  /// Reads the text that `notation(of:)` writes.
  static func state(notation: String) throws(NotationError) -> State
}

extension Rules {
  package static func marksByAge(of player: Player, in state: State) -> [Cell] { [] }
}

/// A cell of any variant's board, below `Variant.cellCount`.
@frozen
package struct Cell: RawRepresentable, Sendable, Hashable, Comparable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package init(_ index: Int) { rawValue = UInt8(index) }

  package var index: Int { Int(rawValue) }

  package static func < (a: Cell, b: Cell) -> Bool { a.rawValue < b.rawValue }
}

/// A set of cells as a bit mask; bit `i` is cell `i`.
@frozen
package struct MoveSet: RawRepresentable, Sequence, Sendable, Hashable {
  package var rawValue: UInt128

  package init(rawValue: UInt128) { self.rawValue = rawValue }

  package init() { rawValue = 0 }

  package init(_ squares: SquareSet) { rawValue = UInt128(truncatingIfNeeded: squares.rawValue) }

  package var isEmpty: Bool { rawValue == 0 }

  package var count: Int { rawValue.nonzeroBitCount }

  package func contains(_ cell: Cell) -> Bool { rawValue &>> UInt128(cell.rawValue) & 1 == 1 }

  package mutating func insert(_ cell: Cell) { rawValue |= 1 &<< UInt128(cell.rawValue) }

  /// The cell at position `rank` in ascending order, from 0; `rank` is below `count`.
  package func cell(rank: Int) -> Cell {
    var rest = rawValue
    for _ in 0..<rank { rest &= rest &- 1 }
    return Cell(rest.trailingZeroBitCount)
  }

  package func randomCell(using generator: inout SplitMix64) -> Cell { cell(rank: generator.below(count)) }

  /// Iterates the cells in ascending order.
  @frozen
  package struct Iterator: IteratorProtocol {
    var rest: UInt128

    package mutating func next() -> Cell? {
      guard rest != 0 else { return nil }
      defer { rest &= rest &- 1 }
      return Cell(rest.trailingZeroBitCount)
    }
  }

  package func makeIterator() -> Iterator { Iterator(rest: rawValue) }
}
