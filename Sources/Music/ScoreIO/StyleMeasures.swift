import Glibc
import ScoreModel
import TicTacToe

/// The style of a set of bars in numbers: the rows of the measures table.
package struct StyleMeasures: Sendable, Hashable {
  /// Bars measured.
  package private(set) var bars = 0
  /// Pairs in which both voices sound.
  package private(set) var pairs = 0
  /// Pairs whose T is a triad tone in one of the four positions of its M, mod octave.
  package private(set) var conforming = 0
  /// Pairs of an awakening, which do not conform.
  package private(set) var awakenings = 0
  /// Bars whose last note lasts half as long again as any other, or longer.
  package private(set) var lawful = 0
  /// M notes by pitch class.
  package private(set) var pitchClasses = [Int](repeating: 0, count: 12)
  /// M notes of the triad.
  package private(set) var triadNotes = 0
  /// Moves of M within bars.
  package private(set) var moves = 0
  /// Moves by step.
  package private(set) var steps = 0
  /// Pairs a second apart, mod octave.
  package private(set) var seconds = 0

  package init() {}

  /// Adds a bar as written.
  package mutating func add(_ bar: Bar, scale: Scale) {
    var scale = scale
    scale.root = bar.root
    bars += 1
    let lengths = Self.lengths(of: bar)
    if let long = lengths.last, lengths.dropLast().allSatisfy({ 0 < $0 && 1.5 * $0 <= long }) { lawful += 1 }
    var last: Note?
    for pair in bar.pairs {
      guard let note = pair.m else { continue }
      let m = note.pitch.midi
      pitchClasses[m % 12] += 1
      if scale.isTriad(m) { triadNotes += 1 }
      // What is owed sounds in the other hand's octave: from hand to hand nothing moves.
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

  /// Seconds of each pair as they follow one another; 0 for a silent one.
  static func lengths(of bar: Bar) -> [Double] {
    var end = Tick.zero
    return bar.pairs.map { pair in
      guard let note = pair.m ?? pair.t else { return 0 }
      defer { end = note.onset + note.duration }
      return (note.onset + note.duration - end).seconds
    }
  }

  /// Whether T is T(±1) or T(±2) of M, mod octave.
  package static func conforms(_ t: Int, to m: Int, _ scale: Scale) -> Bool {
    [-2, -1, 1, 2].contains { (scale.triadTone($0, of: m) - t) % 12 == 0 }
  }

  /// Pitch-class entropy of M in bits.
  package var entropy: Double {
    let all = Double(pitchClasses.reduce(0, +))
    return pitchClasses.filter { $0 > 0 }.reduce(0) { sum, n in
      let p = Double(n) / all
      return sum - p * log2(p)
    }
  }

  /// Moves by step, 0–1.
  package var stepShare: Double { share(steps, moves) }
  /// M notes of the triad, 0–1.
  package var triadShare: Double { share(triadNotes, pitchClasses.reduce(0, +)) }
  /// Pairs a second apart, 0–1.
  package var secondShare: Double { share(seconds, pairs) }

  private func share(_ part: Int, _ all: Int) -> Double { all == 0 ? 0 : Double(part) / Double(all) }
}
