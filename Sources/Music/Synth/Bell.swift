/// A bell for a struck note: two decaying sines, ring-modulated to give hum, tierce, quint and nominal. The piano's note is the missing
/// partial, the prime. Real-time safe: yes.
struct Bell: ~Copyable {
  private let sampleRate: Double
  private var modulator: StereoRingModulator
  private var phase = SIMD2<Double>.zero
  private var turn = SIMD2<Double>.zero
  private var level: Float = 0
  private var keep: Float = 0
  private var rise: Float = 0
  private let scratch = SampleBuffer<Stereo>(Grid.frames, repeating: .zero)

  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    modulator = StereoRingModulator(sampleRate: sampleRate)
  }

  var loudness: Float { level * rise }

  /// Strikes the bell; `t60` in seconds.
  mutating func strike(frequency: Double, amplitude: Float, t60: Float) {
    // Restarts the modulator's 64-frame control grid, because the strike may come between two points of the engine's grid.
    modulator.set(.bell(frequency: Float(frequency)))
    modulator.reset()
    phase = .zero
    turn = SIMD2(0.35, 0.25) * frequency / sampleRate
    level = amplitude
    keep = Arithmetic.exp2(-9.965_784 / (t60 * Float(sampleRate)))
    rise = 0
  }

  /// Adds the bell to a block of at most 64 frames.
  mutating func render(_ block: StereoBlock) {
    guard level > 1e-6 else {
      level = 0
      return
    }
    let work = scratch.block(block.count)
    for i in work.indices {
      // A rise of 6 ms with smooth ends, against clicks.
      rise = min(1, rise + 1 / 288)
      work[i] = Arithmetic.sine(turns: phase) * (level * rise * rise * (3 - 2 * rise))
      phase = Arithmetic.wrapped(phase + turn)
      level *= keep
    }
    modulator.render(work)
    // Narrow stereo, as from a small source: each side gets 65 % of its own sound and 35 % of the other side's.
    for i in work.indices { block[i] += work[i] * 0.65 + work[i].swapped * 0.35 }
  }
}
