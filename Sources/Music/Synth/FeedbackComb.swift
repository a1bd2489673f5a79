/// A feedback delay line, for example a string or an echo: y = x + g·z, where z is y delayed and low-passed; the output is `dry`·x +
/// `wet`·z. Third-order Lagrange interpolation has a gain of at most 1, so the loop is stable for |g| < 1.
public struct FeedbackComb: ~Copyable, AudioNode {
  /// The settings of a comb.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// The delay in frames at 48 kHz, 4…24,000 (half a second).
    public var delay: Float
    /// Feedback −0.9999…0.9999.
    public var feedback: Float
    /// The coefficient of the low-pass that takes treble from the sound in each round of the loop, 0…0.95.
    public var damping: Float
    /// Level of the input in the output, 0…1.
    public var dry: Float
    /// Level of the delayed and filtered sound in the output, 0…1.
    public var wet: Float
    /// The time within which a new delay is reached, in milliseconds, 1…60,000.
    public var glide: Float

    /// Makes settings, clamped to their ranges.
    public init(
      delay: Float = 240, feedback: Float = 0.5, damping: Float = 0, dry: Float = 1, wet: Float = 0.5,
      glide: Float = 400
    ) {
      self.delay = min(max(delay, 4), FeedbackComb.maximumDelay)
      self.feedback = min(max(feedback, -0.9999), 0.9999)
      self.damping = min(max(damping, 0), 0.95)
      self.dry = min(max(dry, 0), 1)
      self.wet = min(max(wet, 0), 1)
      self.glide = min(max(glide, 1), 60_000)
    }

    /// A string of `frequency` Hz that loses 60 dB in `t60` seconds: a delay of D frames at the rate fs has the feedback 10^(−3D/(fs·T60)).
    public static func string(frequency: Double, t60: Double, damping: Float = 0) -> Parameters {
      let delay = 48_000 / frequency
      let g = Arithmetic.decay(t60: t60, sampleRate: 48_000 / delay)
      return Parameters(delay: Float(delay), feedback: Float(g), damping: damping, dry: 0, wet: 1)
    }

    /// Converts the settings from 48,000 Hz to another sample rate; the delay is at most `maximumDelay` frames.
    package func at(_ sampleRate: Double) -> Parameters {
      var scaled = self
      scaled.delay = Self.delay(delay, at: sampleRate)
      return scaled
    }

    func glideFrames(at sampleRate: Double) -> Int { Int(glide * Float(sampleRate / 1_000)) }

    package static func delay(_ frames: Float, at sampleRate: Double) -> Float {
      min(frames * Float(sampleRate / 48_000), FeedbackComb.maximumDelay)
    }

    /// *metallic ring*: a short bright tube, for mistakes.
    public static let metallicRing = Parameters(delay: 97.3, feedback: 0.93, damping: 0.12, dry: 0, wet: 0.35)
    /// *light delay*: a distant single echo, for long notes.
    public static let lightDelay = Parameters(delay: 18_900, feedback: 0.32, damping: 0.45, dry: 0, wet: 0.4)
    /// *wax comb*: soft and hollow, with a delay that changes slowly, for draws.
    public static let waxComb = Parameters(
      delay: 389, feedback: 0.78, damping: 0.6, dry: 0, wet: 0.45, glide: 6_000)
  }

  /// The longest delay, in frames.
  public static let maximumDelay: Float = 24_000
  /// The length of the delay line in frames: the first power of two above `maximumDelay`, so that a mask wraps the index.
  private static let size = 32_768

  private let sampleRate: Double
  private let line = SampleBuffer<Stereo>(size, repeating: .zero)
  private var at = 0
  private var place = GridPlace()
  private var delay: Ramp<Float>
  /// The ramps of feedback, damping, dry and wet level.
  private var levels: Ramp<SIMD4<Float>>
  private var low = Stereo.zero
  private var silence = SilenceWatch(memory: size, floor: 1e-12)

  package init(sampleRate: Double) {
    self.sampleRate = sampleRate
    let p = Parameters()
    delay = Ramp(p.delay)
    levels = Ramp(SIMD4(p.feedback, p.damping, p.dry, p.wet))
  }

  /// Applies new settings: feedback, damping, dry and wet level ramp within 20 ms, and the delay moves within `glide`.
  package mutating func set(_ p: Parameters) {
    delay.aim(p.delay, frames: p.glideFrames(at: sampleRate))
    levels.aim(SIMD4(p.feedback, p.damping, p.dry, p.wet), frames: 960)
  }

  /// Moves the delay to `frames` within `within` frames, without changing other settings.
  mutating func glide(to frames: Float, within: Int) {
    delay.aim(min(max(frames, 4), Self.maximumDelay), frames: within)
  }

  mutating func setFeedback(_ g: Float, within frames: Int) {
    var target = levels.target
    target.x = min(max(g, -0.9999), 0.9999)
    levels.aim(target, frames: frames)
  }

  package mutating func reset() {
    clear()
    place = GridPlace()
    delay.jump(delay.target)
    levels.jump(levels.target)
  }

  private mutating func clear() {
    line.fill(.zero)
    low = .zero
    silence.rest()
  }

  package mutating func render(_ block: StereoBlock) {
    var rest = block
    while let (part, starts) = place.next(&rest) {
      if starts { tick() }
      if silence.isResting, part.isSilent { skip(part.count) } else { sound(part) }
    }
  }

  private mutating func tick() {
    delay.tick()
    levels.tick()
    if silence.tick() { clear() }
  }

  private mutating func skip(_ frames: Int) {
    delay.skip(frames)
    levels.skip(frames)
    at = (at + frames) & (Self.size - 1)
  }

  private mutating func sound(_ part: StereoBlock) {
    let mask = Self.size - 1
    for i in part.indices {
      let d = delay.next()
      let p = levels.next()
      let (g, k) = (p.x, p.y)
      // The low-pass delays low frequencies by about k/(1 − k) frames. A delay line shorter by this time keeps the pitch.
      let back = max(d - k / (1 - k), 2)
      let whole = Int(back)
      let t = back - Float(whole)
      // The Lagrange weights of four neighbouring frames for a point at t (0…1) between the second and the third.
      let w0 = -t * (t - 1) * (t - 2) * (1.0 / 6)
      let w1 = (t + 1) * (t - 1) * (t - 2) * 0.5
      let w2 = -(t + 1) * t * (t - 2) * 0.5
      let w3 = (t + 1) * t * (t - 1) * (1.0 / 6)
      let from = at - whole
      var delayed: Stereo = line[(from + 1) & mask] * w0 + line[from & mask] * w1
      delayed += line[(from - 1) & mask] * w2
      delayed += line[(from - 2) & mask] * w3
      low = Arithmetic.flushed(delayed + (low - delayed) * k)
      let x = part[i]
      let y = Arithmetic.flushed(x + low * g)
      line[at] = y
      at = (at + 1) & mask
      silence.note(y.peak)
      part[i] = Arithmetic.flushed(x * p.z + low * p.w)
    }
  }
}
