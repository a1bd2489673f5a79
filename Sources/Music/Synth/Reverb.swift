/// A reverb: sixteen delay lines with feedback through a Hadamard matrix, after four diffusing allpasses on each side (left and right).
/// Real-time safe: yes, except `init`.
public struct Reverb: ~Copyable, AudioNode {
  /// The settings of a reverb.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// T60 below the treble, in seconds, 0.1…20.
    public var decay: Float
    /// T60 at 8 kHz relative to `decay`, 0…1.
    public var treble: Float
    /// The pre-delay in milliseconds, 0…150.
    public var predelay: Float
    /// Level of the input in the output, 0…1.
    public var dry: Float
    /// Level of the reverb in the output, 0…1.
    public var wet: Float

    /// Makes settings, clamped to their ranges.
    public init(decay: Float = 3.4, treble: Float = 0.35, predelay: Float = 18, dry: Float = 0, wet: Float = 1) {
      self.decay = min(max(decay, 0.1), 20)
      self.treble = min(max(treble, 0), 1)
      self.predelay = min(max(predelay, 0), 150)
      self.dry = min(max(dry, 0), 1)
      self.wet = min(max(wet, 0), 1)
    }

    /// *church*: an empty stone room, not large.
    public static let church = Parameters()
    /// *room*: a room with wood and books.
    public static let room = Parameters(decay: 1.2, treble: 0.25, predelay: 6)
  }

  private typealias Lines = SIMD16<Float>
  /// The delays in frames at 48 kHz, 29–83 ms: primes, so that the lines have no common period, which would be heard as a pitch.
  private static let lengths: [Int] = [
    1_399, 1_531, 1_667, 1_811, 1_949, 2_089, 2_237, 2_383, 2_539, 2_693, 2_851, 3_011, 3_181, 3_373, 3_617, 3_967,
  ]
  private static let diffusers: [Int] = [113, 229, 347, 523, 127, 251, 367, 547]

  private let sampleRate: Double
  /// The frames stored for each line, for each allpass and for the pre-delay: powers of two, so that a mask wraps the index.
  private let size: Int
  private let diffuserSize: Int
  private let predelaySize: Int
  private let lines: SampleBuffer<Float>
  private let allpasses: SampleBuffer<Float>
  private let before: SampleBuffer<Stereo>
  private let length = SampleBuffer<Int>(16, repeating: 0)
  private let diffuser = SampleBuffer<Int>(8, repeating: 0)
  private var low = Lines.zero
  private var gain = Lines.zero
  private var smooth = Lines.zero
  private var at = 0
  private var predelay = 0
  /// The ramps of dry and wet level.
  private var levels: Ramp<SIMD2<Float>>
  private var place = GridPlace()
  private var silence: SilenceWatch

  package init(sampleRate: Double) {
    self.sampleRate = sampleRate
    let p = Parameters()
    levels = Ramp(SIMD2(p.dry, p.wet))
    let scale = sampleRate / 48_000
    var times = 1
    while Double(times) < scale { times *= 2 }
    (size, diffuserSize, predelaySize) = (4_096 * times, 1_024 * times, 8_192 * times)
    lines = SampleBuffer(16 * size, repeating: 0)
    allpasses = SampleBuffer(8 * diffuserSize, repeating: 0)
    before = SampleBuffer(predelaySize, repeating: .zero)
    silence = SilenceWatch(memory: 2 * predelaySize, floor: 1e-10)
    for i in 0..<16 { length[i] = Int(Double(Self.lengths[i]) * scale) }
    for i in 0..<8 { diffuser[i] = Int(Double(Self.diffusers[i]) * scale) }
    set(p)
    reset()
  }

  /// Applies new settings: dry and wet level ramp within 20 ms; the decay changes at once, which is inaudible.
  package mutating func set(_ parameters: Parameters) {
    levels.aim(SIMD2(parameters.dry, parameters.wet), frames: 960)
    predelay = min(Int(Double(parameters.predelay) * 0.001 * sampleRate), predelaySize - 1)
    let c = Float(Arithmetic.sine(turns: 0.25 + min(8_000 / sampleRate, 0.5)))
    for i in 0..<16 {
      // The gain in dB of one round through a delay line of D frames, at the sample rate fs and the decay time T60: −60·D/(fs·T60).
      let base = -60 * Float(length[i]) / (Float(sampleRate) * parameters.decay)
      let high = base / parameters.treble
      gain[i] = Arithmetic.amplitude(decibels: base)
      // The coefficient k of the one-pole low-pass in the loop, whose gain at 8 kHz is (1 − k)/√(1 − 2kc + k²) with the cosine c of 8 kHz.
      let want = Arithmetic.amplitude(decibels: max(high - base, -30))
      let a = 1 - want * want
      let b = 1 - want * want * c
      let root = max(b * b - a * a, 0).squareRoot()
      smooth[i] = a < 1e-6 ? 0 : min(max((b - root) / a, 0), 0.97)
    }
  }

  package mutating func reset() {
    clear()
    place = GridPlace()
    levels.jump(levels.target)
  }

  private mutating func clear() {
    lines.fill(0)
    allpasses.fill(0)
    before.fill(.zero)
    low = .zero
    silence.rest()
  }

  package mutating func render(_ block: StereoBlock) {
    var rest = block
    while let (part, starts) = place.next(&rest) {
      if starts { tick() }
      if silence.isResting, part.isSilent {
        levels.skip(part.count)
        at += part.count
      } else {
        sound(part)
      }
    }
  }

  private mutating func tick() {
    for i in 0..<16 { low[i] = Arithmetic.flushed(low[i]) }
    levels.tick()
    if silence.tick() { clear() }
  }

  private mutating func sound(_ part: StereoBlock) {
    for i in part.indices {
      let x = Arithmetic.heard(part[i])
      before[at & (predelaySize - 1)] = x
      var input = before[(at - predelay) & (predelaySize - 1)]
      for d in 0..<4 { input = Stereo(diffuse(input.x, d), diffuse(input.y, d + 4)) }
      let room = circulate(input)
      let level = levels.next()
      silence.note(max(x.peak, room.peak))
      part[i] = Arithmetic.flushed(x * level.x + room * level.y)
      at += 1
    }
  }

  /// An allpass with coefficient 0.6.
  @inline(__always)
  private func diffuse(_ x: Float, _ which: Int) -> Float {
    let base = which * diffuserSize
    let old = allpasses[base + ((at - diffuser[which]) & (diffuserSize - 1))]
    let fed = x - 0.6 * old
    allpasses[base + (at & (diffuserSize - 1))] = fed
    return old + 0.6 * fed
  }

  @inline(__always)
  private mutating func circulate(_ input: Stereo) -> Stereo {
    var x = Lines.zero
    for i in 0..<16 { x[i] = lines[i * size + ((at - length[i]) & (size - 1))] }
    low = x + (low - x) * smooth
    let y = low * gain
    let mixed = hadamard(y)
    for i in 0..<16 {
      lines[i * size + (at & (size - 1))] = mixed[i] + (i & 1 == 0 ? input.x : input.y) * 0.25
    }
    // Alternating signs make the sound wide; a little of each side goes to the other for compatibility with mono.
    let (even, odd) = (y.evenHalf, y.oddHalf)
    let out = Stereo((even.evenHalf - even.oddHalf).sum(), (odd.evenHalf - odd.oddHalf).sum())
    return out * 0.5 + out.swapped * 0.075
  }

  /// The 16-point Walsh–Hadamard transform divided by 4: preserves energy and mixes all lines.
  @inline(__always)
  private func hadamard(_ x: Lines) -> Lines {
    var x = x
    for _ in 0..<4 {
      let (sum, difference) = (x.lowHalf + x.highHalf, x.lowHalf - x.highHalf)
      x.evenHalf = sum
      x.oddHalf = difference
    }
    return x * 0.25
  }
}
