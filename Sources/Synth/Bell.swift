/// A bell about a struck note: two decaying sines, ring-modulated one a side, give hum, tierce, quint and nominal.
///
/// The piano is the prime. Real-time safe: yes.
struct Bell: ~Copyable {
  private let sampleRate: Double
  private var modulator: StereoRingModulator
  private var place = GridPlace()
  private var leftPhase = 0.0
  private var rightPhase = 0.0
  private var leftTurn = 0.0
  private var rightTurn = 0.0
  private var level: Float = 0
  private var keep: Float = 0
  private var rise: Float = 0
  private let scratch = Slab<Float>(2 * Grid.frames, repeating: 0)

  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    modulator = StereoRingModulator(sampleRate: sampleRate)
  }

  /// How loud the bell is now, as an amplitude.
  var loudness: Float { level * rise }

  /// Strikes the bell; `t60` in seconds.
  mutating func strike(frequency: Double, amplitude: Float, t60: Float) {
    modulator.set(.bell(frequency: Float(frequency)))
    modulator.reset()
    leftPhase = 0
    rightPhase = 0
    leftTurn = 0.35 * frequency / sampleRate
    rightTurn = 0.25 * frequency / sampleRate
    level = amplitude
    keep = Arithmetic.exp2(-9.965_784 / (t60 * Float(sampleRate)))
    rise = 0
    // Counted from the strike, on the modulator's own grid: a bell may be struck inside a cell.
    place = GridPlace()
  }

  mutating func reset() { level = 0 }

  /// Adds the bell to the block, at most 64 frames.
  mutating func render(_ block: StereoBlock) {
    guard level > 1e-6 else {
      level = 0
      return
    }
    let work = StereoBlock(left: scratch.base, right: scratch.base + Grid.frames, frames: block.frames)
    for i in 0..<block.frames {
      // Metal answers within 6 ms; a raised corner keeps it from clicking.
      rise = min(1, rise + 1 / 288)
      let a = level * rise * rise * (3 - 2 * rise)
      work.left[i] = Float(Arithmetic.sine(turns: leftPhase)) * a
      work.right[i] = Float(Arithmetic.sine(turns: rightPhase)) * a
      leftPhase += leftTurn
      if leftPhase >= 1 { leftPhase -= 1 }
      rightPhase += rightTurn
      if rightPhase >= 1 { rightPhase -= 1 }
      level *= keep
    }
    modulator.render(work)
    for i in 0..<block.frames {
      // Close together: a bell is one thing in one place.
      block.left[i] += work.left[i] * 0.65 + work.right[i] * 0.35
      block.right[i] += work.right[i] * 0.65 + work.left[i] * 0.35
    }
  }
}
