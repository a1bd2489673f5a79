/// One decaying partial of a struck note, as the model describes it.
struct Mode: Sendable {
  /// Frequency in Hz.
  var frequency: Double
  /// Level in dBFS at velocities 30, 50 and 80.
  var level: SIMD3<Double>
  /// Decay in dB/s with the damper off.
  var decay: Double
  /// Level of the left channel over the right, in dB.
  var side: Double = 0
  /// Phase of the right channel against the left, in turns.
  var phase: Double = 0
  /// Phase at the stroke, in turns.
  var start: Double = 0
}

/// A note of the model: its partials and how hammer and damper treat it.
struct ModalNote: Sendable {
  var modes: [Mode] = []
  /// Length of the hammer's rise, in milliseconds.
  var attack = 2.0
  /// Time for 60 dB under the damper, in seconds; `nil` where the string has none.
  var damping: Double?
}

/// Every note's partials, ready for eight at a time: built once, read by the audio thread.
struct ModalTables: ~Copyable {
  /// Eight partials.
  typealias Lane = SIMD8<Float>

  /// A note's place in the tables.
  struct Entry: BitwiseCopyable {
    var first: Int32 = 0
    var groups: Int32 = 0
    var attackFrames: Int32 = 1
    /// Factor per frame under the full damper.
    var damper: Float = 1
  }

  /// Partials of one note at most, in groups of eight.
  static let maxGroups = 16
  /// The entry of the pitchless knock, after the 128 notes.
  static let knock = 128

  /// Eight partials of a note.
  struct Group: BitwiseCopyable {
    var rotationRe = Lane.zero
    var rotationIm = Lane.zero
    var leftGain = Lane.zero
    var rightGain = Lane.zero
    var rightQuadrature = Lane.zero
    /// Where the rotation begins.
    var startRe = Lane.zero
    var startIm = Lane.zero
    /// log2 of the amplitude at velocities 30, 50 and 80.
    var soft = Lane(repeating: -126)
    var middle = Lane(repeating: -126)
    var loud = Lane(repeating: -126)
  }

  let entries = Slab<Entry>(129, repeating: Entry())
  let groups: Slab<Group>

  /// Builds the tables of notes 0…127 and the knock.
  init(sampleRate: Double, notes: [ModalNote]) {
    let sorted = notes.map { Self.audible($0, sampleRate: sampleRate) }
    groups = Slab(sorted.reduce(0) { $0 + ($1.count + 7) / 8 }, repeating: Group())
    var group = 0
    for index in notes.indices {
      let count = (sorted[index].count + 7) / 8
      entries[index] = Entry(
        first: Int32(group), groups: Int32(count),
        attackFrames: Int32(max(8, notes[index].attack * 0.001 * sampleRate)),
        damper: Float(notes[index].damping.map { Arithmetic.decay(t60: $0, sampleRate: sampleRate) } ?? 1))
      for (i, mode) in sorted[index].enumerated() {
        Self.fill(&groups.base[group + i / 8], i % 8, mode, sampleRate: sampleRate)
      }
      group += count
    }
  }

  /// The partials below 0.45 of the sample rate, those that last longest first, so that a voice grows cheaper.
  private static func audible(_ note: ModalNote, sampleRate: Double) -> [Mode] {
    let kept = note.modes.filter { $0.frequency > 15 && $0.frequency < 0.45 * sampleRate && $0.level.z > -110 }
    let loudest = kept.sorted { $0.level.z > $1.level.z }.prefix(maxGroups * 8)
    return loudest.sorted { ($0.level.z + 110) / max($0.decay, 0.5) > ($1.level.z + 110) / max($1.decay, 0.5) }
  }

  private static func fill(_ group: inout Group, _ lane: Int, _ mode: Mode, sampleRate: Double) {
    let r = Arithmetic.decay(t60: 60 / max(mode.decay, 0.5), sampleRate: sampleRate)
    (group.rotationRe[lane], group.rotationIm[lane]) = point(mode.frequency / sampleRate, r)
    let left = Double(Arithmetic.amplitude(decibels: Float(mode.side / 2)))
    group.leftGain[lane] = Float(left)
    (group.rightGain[lane], group.rightQuadrature[lane]) = point(mode.phase, 1 / left)
    (group.startRe[lane], group.startIm[lane]) = point(mode.start, 1)
    let log2PerDecibel = 0.166_096_404_744
    group.soft[lane] = Float(mode.level.x * log2PerDecibel)
    group.middle[lane] = Float(mode.level.y * log2PerDecibel)
    group.loud[lane] = Float(mode.level.z * log2PerDecibel)
  }

  /// The point `turns` round a circle of radius `r`.
  private static func point(_ turns: Double, _ r: Double) -> (Float, Float) {
    let turns = turns - turns.rounded(.down)
    return (
      Float(r * Arithmetic.sine(turns: (turns + 0.25).truncatingRemainder(dividingBy: 1))),
      Float(r * Arithmetic.sine(turns: turns))
    )
  }
}
