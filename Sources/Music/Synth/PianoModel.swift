import Glibc
import ScoreModel

/// The model of the modal piano: the partials of each note, interpolated between the measured notes of a sampled grand (`PianoFit`). The
/// constants below deviate from the measured piano on purpose: this music needs notes that sound for long.
struct PianoModel {
  var a4 = 440.0
  private static let anchors = PianoFit.anchors()

  /// By MIDI note: the factor by which the grand's early decay in dB/s is multiplied, so that the treble sustains longer than the grand's.
  private static let singing: [(Double, Double)] = [(40, 1), (59, 0.72), (71, 0.52), (83, 0.46), (107, 0.5)]
  /// By MIDI note: the dB by which the late stage of the decay is raised, so that the treble sustains longer.
  private static let afterglow: [(Double, Double)] = [(47, 0), (59, 2.5), (71, 5.5), (83, 7), (107, 5)]
  /// By MIDI note: the slowest decay in dB/s. The grand's samples are loops, in which some partials never decay.
  private static let slowest: [(Double, Double)] = [(23, 1.7), (35, 1.8), (59, 2.1), (71, 2.6), (83, 4.5), (107, 6)]
  /// The fastest early decay of the first partial in dB/s, its increase with each further partial, and its maximum. The fit has faster
  /// decays where it took hammer noise for a partial.
  private static let fastest = 36.0
  private static let fastestStep = 8.0
  private static let fastestOfAll = 150.0
  /// By MIDI note: the mean power in dBFS in a note's first 0.2 s at velocity 50. Neighbouring notes of the grand differ by up to 7 dB.
  private static let evenness: [(Double, Double)] = [
    (21, -40.5), (35, -40), (47, -39.5), (53, -38), (59, -36.2), (71, -33.6), (77, -33), (83, -34.2), (90, -36.5),
    (95, -40.5), (102, -46), (108, -50),
  ]
  /// By MIDI note: T60 under the damper in seconds, 150 ms in the middle, less above; no dampers above F♯6 (90).
  private static let dampers: [(Double, Double)] = [(21, 0.42), (47, 0.24), (60, 0.15), (83, 0.09), (90, 0.07)]
  /// By MIDI note: the longest rise of a note in ms, so that soft notes are not late.
  private static let slowestRise: [(Double, Double)] = [(35, 11), (60, 8), (83, 6), (107, 3)]

  /// A number outside of the keyboard (21…108) gets the note of the same name in the nearest octave.
  func note(midi: Int) -> ModalNote {
    var m = midi
    while m < 21 { m += 12 }
    while m > 108 { m -= 12 }
    guard let first = Self.anchors.first, let last = Self.anchors.last else { return ModalNote() }
    let x = Double(min(max(m, first.head[0]), last.head[0]))
    let above = Self.anchors.first { Double($0.head[0]) >= x } ?? last
    let below = Self.anchors.last { Double($0.head[0]) <= x } ?? first
    let span = Double(above.head[0] - below.head[0])
    let t = span > 0 ? (x - Double(below.head[0])) / span : 0
    var note = ModalNote()
    var random = Noise(seed: UInt64(m) &* 0x9E37_79B9_7F4A_7C15)
    let cents = lerp(Double(below.head[3]), Double(above.head[3]), t) / 100
    let f0 = Pitch.frequency(midi: Double(m) + min(max(cents, -12), 12) / 100, a4: a4)
    let b = exp(lerp(log(Double(max(below.head[2], 1))), log(Double(max(above.head[2], 1))), t)) / 1e6
    for n in 1...50 {
      guard let row = partial(n, below, above, t) else { continue }
      append(row, n: Double(n), f0: f0, b: b, midi: Double(m), to: &note, &random)
    }
    appendNoise(t < 0.5 ? below : above, to: &note, &random)
    even(&note, to: Self.interpolate(Double(m), Self.evenness))
    let rise = lerp(Double(below.head[1]), Double(above.head[1]), t) / 100
    note.attack = min(rise, Self.interpolate(Double(m), Self.slowestRise))
    note.damping = m > 90 ? nil : Self.interpolate(Double(m), Self.dampers)
    return note
  }

  /// Interpolates partial `n` between two fitted notes. A partial of only one of the two gets softer with the distance from that note.
  private func partial(_ n: Int, _ below: PianoFit.Anchor, _ above: PianoFit.Anchor, _ t: Double) -> [Double]? {
    let low = below.partials.first { $0[0] == n }
    let high = above.partials.first { $0[0] == n }
    if let low, let high { return zip(low, high).map { lerp(Double($0), Double($1), t) } }
    let distance = low == nil ? 1 - t : t
    guard var row = (low ?? high)?.map(Double.init), distance < 1 else { return nil }
    row[2] -= 200 * distance
    row[4] -= 200 * distance
    return row
  }

  private func append(
    _ row: [Double], n: Double, f0: Double, b: Double, midi: Double, to note: inout ModalNote, _ random: inout Noise
  ) {
    let f = n * f0 * (1 + b * n * n).squareRoot() * exp2(row[1] / 120_000)
    let slowest = Self.interpolate(midi, Self.slowest)
    let fastest = min(Self.fastest + Self.fastestStep * (n - 1), Self.fastestOfAll)
    let early = max(min(row[3] / 10, fastest) * Self.interpolate(midi, Self.singing), slowest)
    let late = max(row[5] / 10, slowest)
    let start = random.uniform()
    let levels = { (level: Double) in SIMD3(level + row[6] / 10, level, level + row[7] / 10) }
    note.modes.append(
      Mode(
        frequency: f, level: levels(row[2] / 10), decay: early, side: row[8] / 10, phase: row[9] / 1_000, start: start))
    // A note's strings are slightly detuned, so the late stage of its decay is slightly higher and beats slowly against the early stage.
    note.modes.append(
      Mode(
        frequency: f + 0.06 + 0.2 * random.uniform(),
        level: levels(row[4] / 10 + Self.interpolate(midi, Self.afterglow)),
        decay: min(late, early), side: row[10] / 10, phase: row[11] / 1_000, start: start))
  }

  /// Adjusts a note's level to a mean power of `level` dBFS in its first 0.2 s.
  private func even(_ note: inout ModalNote, to level: Double) {
    // A partial with amplitude a and decay d dB/s has the power a²/2, which shrinks by the factor 10^(d/10) every second.
    let power = note.modes.reduce(0) { sum, mode in
      let fall = mode.decay * log(10) / 10 * 0.2
      return sum + 0.5 * pow(10, mode.level.y / 10) * (1 - exp(-fall)) / fall
    }
    let change = level - 10 * log10(power)
    for i in note.modes.indices { note.modes[i].level += change }
  }

  private func appendNoise(_ anchor: PianoFit.Anchor, to note: inout ModalNote, _ random: inout Noise) {
    for row in anchor.thuds {
      let level = Double(row[1]) / 10
      // Two partials at different frequencies, so that a thud (a noise of hammer and soundboard) has no pitch.
      for shift in [0.93, 1.08] {
        note.modes.append(
          Mode(
            frequency: Double(row[0]) * (shift + 0.05 * random.uniform()),
            level: SIMD3(level - 11, level - 3, level + 6),
            decay: Double(row[2]), side: 8 * (random.uniform() - 0.5), phase: random.uniform(), start: random.uniform())
        )
      }
    }
  }

  private func lerp(_ a: Double, _ b: Double, _ t: Double) -> Double { a + (b - a) * t }

  /// The knock of a refusal: a sound without pitch, like a tap on wood.
  func knock() -> ModalNote {
    var note = ModalNote(attack: 1.5, damping: nil)
    for (i, f) in [118.0, 163, 207, 261, 342, 433, 571, 760].enumerated() {
      let level = -26 - 2.5 * Double(i)
      note.modes.append(
        Mode(
          frequency: f, level: SIMD3(level - 8, level, level + 8), decay: 700 + 90 * Double(i),
          side: i.isMultiple(of: 2) ? 2 : -2, phase: 0.1 * Double(i), start: 0.3 * Double(i)))
    }
    return note
  }

  /// Interpolates linearly between anchors (MIDI note, value); constant before the first anchor and after the last.
  private static func interpolate(_ x: Double, _ anchors: [(Double, Double)]) -> Double {
    guard let first = anchors.first, let last = anchors.last else { return 0 }
    if x <= first.0 { return first.1 }
    for (a, b) in zip(anchors, anchors.dropFirst()) where x <= b.0 {
      return a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0)
    }
    return last.1
  }
}

extension Noise {
  fileprivate mutating func uniform() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}
