/// What the session's melodies have said so far, so that nothing is said twice.
///
/// Lines are MIDI notes, so that another key is new. Patterns are compared as X plays them, so that O saying the same an octave lower is not new; a whole bar is a
/// repeat if it is written or sounds like an earlier one.
struct Novelty: Sendable {
  /// The length of the patterns that are compared.
  static let length = 5
  private var patterns: Set<UInt64> = []
  private var lines: Set<[Int]> = []

  /// The number of the line's five-note patterns (of the whole line, if it is shorter) heard before.
  func shared(_ line: [Int]) -> Int {
    Self.patterns(of: line).reduce(0) { $0 + (patterns.contains($1) ? 1 : 0) }
  }

  /// Whether a line of four notes or more has been heard before, note for note.
  func isRepeat(_ line: [Int], octaves: Int) -> Bool {
    line.count >= 4 && (lines.contains(line) || lines.contains(line.map { $0 + 12 * octaves }))
  }

  /// Remembers a line, as written and as it sounds.
  mutating func insert(_ line: [Int], octaves: Int) {
    patterns.formUnion(Self.patterns(of: line))
    guard line.count >= 4 else { return }
    lines.insert(line)
    lines.insert(line.map { $0 + 12 * octaves })
  }

  private static func patterns(of line: [Int]) -> [UInt64] {
    let width = min(length, line.count)
    guard width >= 2 else { return [] }
    return (0...(line.count - width)).map { start in
      line[start..<(start + width)].reduce(UInt64(width)) { $0 << 8 | UInt64(truncatingIfNeeded: $1 & 0xFF) }
    }
  }
}
