import Base

/// The rules of one variant, for code that is specialised to it: search, random games and tables.
///
/// Records, wire and window are not generic: they ask `Variant`.
package protocol Rules: Sendable {
  /// A position with all that the rules need to go on from it, the side to move included.
  associatedtype State: Hashable, Sendable

  static var variant: Variant { get }
  /// The state before the first move.
  static var start: State { get }
  static func turn(in state: State) -> Player
  /// The cells that may be marked; none once the game is over.
  static func moves(_ state: State) -> MoveSet
  /// The cells that a side holds.
  static func cells(of player: Player, in state: State) -> MoveSet
  /// A side's cells from the oldest to the newest where the rules take marks away, else none.
  static func aging(of player: Player, in state: State) -> [Cell]
  /// Marks a cell that `moves` allows and returns the result if that ends the game. Any other cell is a programming error.
  static func play(_ cell: Cell, _ state: inout State) -> Outcome?
  /// The result of a finished game, else `nil`.
  static func outcome(of state: State) -> Outcome?

  /// - Throws: What is wrong with a text that is no state, and in which column.
  static func state(notation: String) throws(NotationError) -> State
}

extension Rules {
  package static func aging(of player: Player, in state: State) -> [Cell] { [] }
}

/// A cell of any variant's board: a byte, below `Variant.cellCount`.
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

  /// The cell with `rank` lower ones in the set; `rank` is below `count`.
  package func cell(rank: Int) -> Cell {
    var rest = rawValue
    for _ in 0..<rank { rest &= rest &- 1 }
    return Cell(rest.trailingZeroBitCount)
  }

  /// A cell drawn with equal chances from a set that is not empty.
  package func randomCell(using generator: inout SplitMix64) -> Cell { cell(rank: generator.below(count)) }

  /// The cells from the lowest up.
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
