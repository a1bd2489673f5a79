import ScoreModel

/// The melodies heard in the session within the last half hour, as MIDI notes, so that a melody in another key counts as new. Patterns are
/// compared as composed, without the octaves of the voice, so that a pattern of the other voice does not count as new; whole bars also as
/// sounding.
struct Novelty: Sendable {
  /// The number of notes of a pattern.
  static let length = 5
  static let memory = Tick.seconds(1_800)
  /// From this number of melodies on, `insert` removes those older than `memory`; half an hour of hasty play has fewer.
  private static let most = 4_096
  private var patterns: [UInt64: Tick] = [:]
  private var lines: [[Int]: Tick] = [:]

  /// The number of a melody's five-note patterns that were heard before; a shorter melody is one pattern.
  func shared(_ line: [Int], at moment: Tick) -> Int {
    Self.patterns(of: line).reduce(0) { $0 + (isFresh(patterns[$1], at: moment) ? 1 : 0) }
  }

  /// Whether a melody of two notes or more was heard before. In a long piece (with `root`) two or three notes also need the octave and
  /// root.
  func isRepeat(_ line: [Int], octaves: Int, root: Int? = nil, at moment: Tick) -> Bool {
    line.count >= 2 && Self.keys(line, octaves, root).contains { isFresh(lines[$0], at: moment) }
  }

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
