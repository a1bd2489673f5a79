import ScoreModel

/// What the session's melodies have said in the last half hour, so that nothing is said twice.
///
/// Lines are MIDI notes, so that another key is new. Patterns are compared as the first voice plays them, so that the second
/// saying the same an octave lower is not new; a whole bar is a repeat if it is written or sounds like an earlier one.
struct Novelty: Sendable {
  /// The length of the patterns that are compared.
  static let length = 5
  /// How long a line is remembered.
  static let memory = Tick.seconds(1_800)
  /// Lines past which those forgotten are cleared away: half an hour of hasty play has fewer.
  private static let most = 4_096
  private var patterns: [UInt64: Tick] = [:]
  private var lines: [[Int]: Tick] = [:]

  /// The number of the line's five-note patterns (of the whole line, if it is shorter) heard before.
  func shared(_ line: [Int], at moment: Tick) -> Int {
    Self.patterns(of: line).reduce(0) { $0 + (isFresh(patterns[$1], at: moment) ? 1 : 0) }
  }

  /// Whether a line of two notes or more has been heard before, note for note. In a long piece (`root` is that of its bar) a
  /// short one was heard only if it was in the same hand and on the same root.
  func isRepeat(_ line: [Int], octaves: Int, root: Int? = nil, at moment: Tick) -> Bool {
    line.count >= 2 && Self.keys(line, octaves, root).contains { isFresh(lines[$0], at: moment) }
  }

  /// Remembers a line, as written and as it sounds.
  mutating func insert(_ line: [Int], octaves: Int, root: Int? = nil, at moment: Tick) {
    if lines.count >= Self.most {
      patterns = patterns.filter { isFresh($0.value, at: moment) }
      lines = lines.filter { isFresh($0.value, at: moment) }
    }
    for pattern in Self.patterns(of: line) { patterns[pattern] = moment }
    guard line.count >= 2 else { return }
    for key in Self.keys(line, octaves, root) { lines[key] = moment }
  }

  private static func keys(_ line: [Int], _ octaves: Int, _ root: Int?) -> [[Int]] {
    let sounding = line.map { $0 + 12 * octaves }
    if let root, line.count < 4 { return [sounding + [-root]] }
    return [line, sounding]
  }

  private func isFresh(_ heard: Tick?, at moment: Tick) -> Bool { heard.map { moment - $0 < Self.memory } ?? false }

  private static func patterns(of line: [Int]) -> [UInt64] {
    let width = min(length, line.count)
    guard width >= 2 else { return [] }
    return (0...(line.count - width)).map { start in
      line[start..<(start + width)].reduce(UInt64(width)) { $0 << 8 | UInt64(truncatingIfNeeded: $1 & 0xFF) }
    }
  }
}
