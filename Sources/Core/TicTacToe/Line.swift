package enum Line {
  /// The eight lines: rows from the top, columns from the left, then the falling and the rising diagonal.
  package static let all: [SquareSet] = [
    0b000_000_111, 0b000_111_000, 0b111_000_000,
    0b001_001_001, 0b010_010_010, 0b100_100_100,
    0b100_010_001, 0b001_010_100,
  ].map { SquareSet(rawValue: $0) }

  /// Uses arithmetic, as a static table would need lazy initialisation.
  package static func hasLine(_ marks: SquareSet) -> Bool {
    let m = marks.rawValue
    let rows = m & m &>> 1 & m &>> 2 & 0b001_001_001
    let columns = m & m &>> 3 & m &>> 6 & 0b111
    let falling = m & m &>> 4 & m &>> 8 & 1
    let rising = m &>> 2 & m &>> 4 & m &>> 6 & 1
    return rows | columns | falling | rising != 0
  }

  /// The cells, marked or empty, on a line whose two other cells are marked.
  package static func completions(of marks: SquareSet) -> SquareSet {
    let m = marks.rawValue
    // Rotates the marks within each line by one and by two places. Where both rotations have a bit, the line's two other cells are marked.
    let rows =
      ((m &<< 1 & 0o666) | (m &>> 2 & 0o111)) & ((m &<< 2 & 0o444) | (m &>> 1 & 0o333))
    let columns = ((m &<< 3) | (m &>> 6)) & ((m &<< 6) | (m &>> 3)) & 0x1FF
    let f = m & 0b100_010_001
    let falling = ((f &<< 4) | (f &>> 8)) & ((f &<< 8) | (f &>> 4)) & 0b100_010_001
    let r = m & 0b001_010_100
    let rising = ((r &<< 2) | (r &>> 4)) & ((r &<< 4) | (r &>> 2)) & 0b001_010_100
    return SquareSet(rawValue: rows | columns | falling | rising)
  }
}
