/// A delay line fed back into itself: strings that ring along, echoes, the glint of a mistake, the wax of a draw.
///
/// y = x + g·h(y delayed), h a gentle low-pass; the output is `dry`·x + `wet`·(y delayed). The delay is read between
/// samples by a third-order Lagrange polynomial, whose gain never exceeds 1, so the loop is stable for every |g| < 1.
public struct FeedbackComb: ~Copyable, AudioNode {
  /// The settings of a comb.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// The delay in frames at 48 kHz, 4…24,000 (half a second).
    public var delay: Float
    /// Feedback −0.9999…0.9999.
    public var feedback: Float
    /// How much each round loses of its treble, 0…0.95.
    public var damping: Float
    /// Level of the input in the output, 0…1.
    public var dry: Float
    /// Level of the delayed sound in the output, 0…1.
    public var wet: Float
    /// Time a change of delay takes, in milliseconds, 1…60,000.
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

    /// A string of `frequency` Hz that rings for `t60` seconds; g = 10^(−3 D/(fs·T60)).
    public static func string(
      frequency: Double, t60: Double, damping: Float = 0, dry: Float = 0, wet: Float = 1, sampleRate: Double = 48_000
    ) -> Parameters {
      let delay = sampleRate / frequency
      let g = Arithmetic.decay(t60: t60, sampleRate: sampleRate / delay)
      return Parameters(delay: Float(delay), feedback: Float(g), damping: damping, dry: dry, wet: wet)
    }

    /// *metallic ring*: a short bright tube; the glint on a mistake.
    public static let metallicRing = Parameters(delay: 97.3, feedback: 0.93, damping: 0.12, dry: 0, wet: 0.35)
    /// *light delay*: a far, single echo and its shadow; long notes.
    public static let lightDelay = Parameters(delay: 18_900, feedback: 0.32, damping: 0.45, dry: 0, wet: 0.4)
    /// *wax comb*: soft and hollow, its pitch slow to move; a draw melts through it.
    public static let waxComb = Parameters(
      delay: 389, feedback: 0.78, damping: 0.6, dry: 0, wet: 0.45, glide: 6_000)
  }

  /// The longest delay, in frames.
  public static let maximumDelay: Float = 24_000
  private static let size = 32_768

  private let leftLine = Slab<Float>(size, repeating: 0)
  private let rightLine = Slab<Float>(size, repeating: 0)
  private var at = 0
  private var place = GridPlace()
  private var delay: Ramp
  private var feedback: Ramp
  private var damping: Ramp
  private var dry: Ramp
  private var wet: Ramp
  private var leftLow: Float = 0
  private var rightLow: Float = 0
  private var silence = SilenceWatch(memory: size, floor: 1e-12)

  /// Makes the node with its default settings, silent; `sampleRate` in Hz.
  public init(sampleRate: Double) {
    let p = Parameters()
    delay = Ramp(p.delay)
    feedback = Ramp(p.feedback)
    damping = Ramp(p.damping)
    dry = Ramp(p.dry)
    wet = Ramp(p.wet)
  }

  /// Takes new settings: levels ramp within 20 ms, the delay glides in its own time.
  public mutating func set(_ parameters: Parameters) {
    let fast = 960
    delay.aim(parameters.delay, frames: Int(parameters.glide * 48))
    feedback.aim(parameters.feedback, frames: fast)
    damping.aim(parameters.damping, frames: fast)
    dry.aim(parameters.dry, frames: fast)
    wet.aim(parameters.wet, frames: fast)
  }

  /// Moves the delay alone, within `frames`.
  mutating func glide(to frames: Float, within: Int) {
    delay.aim(min(max(frames, 4), Self.maximumDelay), frames: within)
  }

  /// Moves the feedback alone, within `frames`.
  mutating func setFeedback(_ g: Float, within frames: Int) {
    feedback.aim(min(max(g, -0.9999), 0.9999), frames: frames)
  }

  /// Forgets all sound; parameters are at their targets.
  public mutating func reset() {
    clear()
    place = GridPlace()
    delay.jump(delay.target)
    feedback.jump(feedback.target)
    damping.jump(damping.target)
    dry.jump(dry.target)
    wet.jump(wet.target)
  }

  private mutating func clear() {
    leftLine.fill(0)
    rightLine.fill(0)
    leftLow = 0
    rightLow = 0
    silence.rest()
  }

  /// Renders in place. Real-time safe: yes.
  public mutating func render(_ block: StereoBlock) {
    var done = 0
    while done < block.frames {
      let (run, starts) = place.next(block.frames - done)
      if starts { tick() }
      let part = block.part(done, run)
      if silence.isResting, part.isSilent { skip(part) } else { sound(part) }
      done += run
    }
  }

  private mutating func tick() {
    delay.tick()
    feedback.tick()
    damping.tick()
    dry.tick()
    wet.tick()
    if silence.tick() { clear() }
  }

  private mutating func skip(_ part: StereoBlock) {
    for _ in 0..<part.frames {
      _ = delay.next()
      _ = feedback.next()
      _ = damping.next()
      _ = dry.next()
      _ = wet.next()
    }
    at = (at + part.frames) & (Self.size - 1)
  }

  private mutating func sound(_ part: StereoBlock) {
    let mask = Self.size - 1
    for i in 0..<part.frames {
      let d = delay.next()
      let g = feedback.next()
      let k = damping.next()
      let dryGain = dry.next()
      let wetGain = wet.next()
      // The low-pass delays by about k/(1 − k) frames at low frequencies: taken off the line, so the pitch stays.
      let line = max(d - k / (1 - k), 2)
      let whole = Int(line)
      let t = line - Float(whole)
      // Lagrange weights at t past the second of four neighbours.
      let w0 = -t * (t - 1) * (t - 2) * (1.0 / 6)
      let w1 = (t + 1) * (t - 1) * (t - 2) * 0.5
      let w2 = -(t + 1) * t * (t - 2) * 0.5
      let w3 = (t + 1) * t * (t - 1) * (1.0 / 6)
      let p = at - whole
      let i0 = (p + 1) & mask
      let i1 = p & mask
      let i2 = (p - 1) & mask
      let i3 = (p - 2) & mask
      let l = leftLine[i0] * w0 + leftLine[i1] * w1 + leftLine[i2] * w2 + leftLine[i3] * w3
      let r = rightLine[i0] * w0 + rightLine[i1] * w1 + rightLine[i2] * w2 + rightLine[i3] * w3
      leftLow = Arithmetic.flushed(l + (leftLow - l) * k)
      rightLow = Arithmetic.flushed(r + (rightLow - r) * k)
      let xl = part.left[i]
      let xr = part.right[i]
      let yl = Arithmetic.flushed(xl + g * leftLow)
      let yr = Arithmetic.flushed(xr + g * rightLow)
      leftLine[at] = yl
      rightLine[at] = yr
      at = (at + 1) & mask
      silence.note(max(abs(yl), abs(yr)))
      let outL = dryGain * xl + wetGain * leftLow
      let outR = dryGain * xr + wetGain * rightLow
      part.left[i] = Arithmetic.flushed(outL)
      part.right[i] = Arithmetic.flushed(outR)
    }
  }
}
