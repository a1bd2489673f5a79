/// A decaying partial of a struck note in the model.
struct Mode: Sendable {
  /// The partial's frequency in Hz.
  var frequency: Double
  /// Level in dBFS at velocities 30, 50 and 80.
  var level: SIMD3<Double>
  /// Decay in dB/s without the damper.
  var decay: Double
  /// Level of the left channel over the right, in dB.
  var side: Double = 0
  /// Phase of the right channel against the left, in turns.
  var phase: Double = 0
  /// Phase at the strike, in turns.
  var start: Double = 0
}

/// A note of the model: its partials, hammer and damper.
struct ModalNote: Sendable {
  var modes: [Mode] = []
  /// The time in milliseconds in which the note rises to its full amplitude.
  var attack = 2.0
  /// T60 under the damper in seconds; `nil` without a damper.
  var damping: Double?
}

/// The partials of all notes in groups of eight: built once, read by the audio thread.
struct ModalTables: ~Copyable {
  typealias Lane = SIMD8<Float>

  struct Entry: BitwiseCopyable {
    var first: Int32 = 0
    var groups: Int32 = 0
    var attackFrames: Int32 = 1
    /// The amplitude factor per frame with the damper fully on.
    var damper: Float = 1
  }

  /// The maximum number of groups of eight partials in a note.
  static let maxGroups = 16
  /// The index in `entries` of the knock, a sound without pitch; the 128 MIDI notes come before it.
  static let knock = 128

  struct Group: BitwiseCopyable {
    var rotationRe = Lane.zero
    var rotationIm = Lane.zero
    var leftGain = Lane.zero
    var rightGain = Lane.zero
    var rightQuadrature = Lane.zero
    /// The real and the imaginary part of each partial's phase at the strike.
    var startRe = Lane.zero
    var startIm = Lane.zero
    /// The base-2 logarithm of each partial's amplitude at the velocities 30, 50 and 80.
    var soft = Lane(repeating: -126)
    var middle = Lane(repeating: -126)
    var loud = Lane(repeating: -126)
  }

  let entries: SampleBuffer<Entry>
  let groups: SampleBuffer<Group>

  init(_ draft: Draft) {
    entries = SampleBuffer(draft.entries.count, repeating: Entry())
    groups = SampleBuffer(draft.groups.count, repeating: Group())
    for index in draft.entries.indices { entries[index] = draft.entries[index] }
    for index in draft.groups.indices { groups[index] = draft.groups[index] }
  }

  /// Tables under construction, one note at a time: in a browser the audio thread cannot compute all notes between two blocks.
  struct Draft {
    private let sampleRate: Double
    private let model: PianoModel
    fileprivate private(set) var entries: [Entry] = []
    fileprivate private(set) var groups: [Group] = []

    init(sampleRate: Double, model: PianoModel) {
      self.sampleRate = sampleRate
      self.model = model
      entries.reserveCapacity(knock + 1)
      groups.reserveCapacity((knock + 1) * maxGroups)
    }

    /// Adds the next note (0…127, then the knock); `false` if the tables are complete already.
    mutating func addNote() -> Bool {
      guard entries.count <= knock else { return false }
      let note = entries.count == knock ? model.knock() : model.note(midi: entries.count)
      let modes = audible(note, sampleRate: sampleRate)
      let first = groups.count
      for (i, mode) in modes.enumerated() {
        if i % 8 == 0 { groups.append(Group()) }
        fill(&groups[first + i / 8], i % 8, mode, sampleRate: sampleRate)
      }
      entries.append(
        Entry(
          first: Int32(first), groups: Int32(groups.count - first),
          attackFrames: Int32(max(8, note.attack * 0.001 * sampleRate)),
          damper: Float(note.damping.map { Arithmetic.decay(t60: $0, sampleRate: sampleRate) } ?? 1)))
      return true
    }
  }

  /// The audible partials, at most 128, in the order in which they die away, the last first: a voice drops silent partials from the end.
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

  /// The point at an angle in turns on a circle of radius `r`.
  private static func point(_ turns: Double, _ r: Double) -> (Float, Float) {
    let turns = turns - turns.rounded(.down)
    return (
      Float(r * Arithmetic.sine(turns: (turns + 0.25).truncatingRemainder(dividingBy: 1))),
      Float(r * Arithmetic.sine(turns: turns))
    )
  }
}
