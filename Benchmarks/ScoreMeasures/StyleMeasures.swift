import Glibc
import ScoreModel
import TicTacToe

package struct StyleMeasures: Sendable, Hashable {
  package private(set) var bars = 0
  /// T notes in pairs with an M note. If a pair has two T notes, both count.
  package private(set) var pairs = 0
  /// Those of `pairs` that are the first or second triad tone above or below M, modulo octaves.
  package private(set) var conforming = 0
  /// Those of `pairs` that do not conform because they sound an awakening (a win can no longer be prevented).
  package private(set) var awakenings = 0
  package private(set) var rhythms: [Bar.Rhythm: Int] = [:]
  /// Bars in an even rhythm whose last note is at least 1.5 times as long as each note before it.
  package private(set) var lawful = 0
  package private(set) var pitchClasses = [Int](repeating: 0, count: 12)
  /// M notes that belong to the triad on the root of their bar.
  package private(set) var triadNotes = 0
  /// Intervals between consecutive M notes of a bar that have the same pan, so belong to the same player.
  package private(set) var moves = 0
  /// The `moves` of one or two semitones.
  package private(set) var steps = 0
  /// T notes one or two semitones from M, modulo octaves.
  package private(set) var seconds = 0

  package init() {}

  /// Adds a bar as composed, even if it was cut short.
  package mutating func add(_ bar: Bar, scale: Scale) {
    var scale = scale
    scale.root = bar.root
    bars += 1
    let lengths = Self.lengths(of: bar)
    rhythms[bar.rhythm, default: 0] += 1
    if bar.rhythm == .even, let long = lengths.last, lengths.dropLast().allSatisfy({ 0 < $0 && 1.5 * $0 <= long }) {
      lawful += 1
    }
    var last: Note?
    for pair in bar.pairs {
      guard let note = pair.m else { continue }
      let m = note.pitch.midi
      pitchClasses[m % 12] += 1
      if scale.isTriad(m) { triadNotes += 1 }
      // A pending sign sounds with the opponent's pan. An interval between notes of different players is not a melodic move.
      if let last, last.pan == note.pan {
        moves += 1
        if [1, 2].contains(abs(m - last.pitch.midi)) { steps += 1 }
      }
      last = note
      for t in [pair.t, pair.answer].compactMap({ $0?.pitch.midi }) {
        pairs += 1
        if Self.conforms(t, to: m, scale) { conforming += 1 } else if pair.isAwakening { awakenings += 1 }
        if [1, 2].contains(abs(m - t) % 12) { seconds += 1 }
      }
    }
  }

  /// The length of each pair in seconds: from the end of the sounding pair before, to the pair's own end; 0 for a silent pair.
  package static func lengths(of bar: Bar) -> [Double] {
    var end = Tick.zero
    return bar.pairs.map { pair in
      guard let note = pair.m ?? pair.t else { return 0 }
      defer { end = note.onset + note.duration }
      return (note.onset + note.duration - end).seconds
    }
  }

  package static func conforms(_ t: Int, to m: Int, _ scale: Scale) -> Bool {
    [-2, -1, 1, 2].contains { (scale.triadTone($0, of: m) - t) % 12 == 0 }
  }

  package var entropy: Double {
    let all = Double(pitchClasses.reduce(0, +))
    return pitchClasses.filter { $0 > 0 }.reduce(0) { sum, n in
      let p = Double(n) / all
      return sum - p * log2(p)
    }
  }

  package var stepShare: Double { share(steps, moves) }
  package var triadShare: Double { share(triadNotes, pitchClasses.reduce(0, +)) }
  package var secondShare: Double { share(seconds, pairs) }

  private func share(_ part: Int, _ all: Int) -> Double { all == 0 ? 0 : Double(part) / Double(all) }
}
