/// The room: sixteen delay lines fed back through a Hadamard matrix, after four allpasses a side that blur the onset.
///
/// Each line loses 60 dB in `decay` seconds whatever its length, and treble sooner. Real-time safe: yes, but for `init`.
public struct Reverb: ~Copyable, AudioNode {
  /// The settings of the room.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// T60 below the treble, in seconds, 0.3…12.
    public var decay: Float
    /// T60 at 8 kHz as a share of `decay`, 0.1…1.
    public var treble: Float
    /// Delay before the room answers, in milliseconds, 0…100.
    public var predelay: Float
    /// Level of the input in the output, 0…1.
    public var dry: Float
    /// Level of the room in the output, 0…1.
    public var wet: Float

    /// Makes settings, clamped to their ranges.
    public init(decay: Float = 3.4, treble: Float = 0.35, predelay: Float = 18, dry: Float = 0, wet: Float = 1) {
      self.decay = min(max(decay, 0.3), 12)
      self.treble = min(max(treble, 0.1), 1)
      self.predelay = min(max(predelay, 0), 100)
      self.dry = min(max(dry, 0), 1)
      self.wet = min(max(wet, 0), 1)
    }

    /// *church*: stone, empty, not large.
    public static let church = Parameters()
    /// *room*: wood and books.
    public static let room = Parameters(decay: 1.2, treble: 0.25, predelay: 6)
  }

  private typealias Lines = SIMD16<Float>
  /// Primes between 29 and 83 ms: no two share a period, so no pitch stands out.
  private static let lengths: [Int] = [
    1_399, 1_531, 1_667, 1_811, 1_949, 2_089, 2_237, 2_383, 2_539, 2_693, 2_851, 3_011, 3_181, 3_373, 3_617, 3_967,
  ]
  private static let diffusers: [Int] = [113, 229, 347, 523, 127, 251, 367, 547]
  private static let size = 4_096
  private static let diffuserSize = 1_024
  private static let predelaySize = 8_192

  private let sampleRate: Double
  private let lines = Slab<Float>(16 * size, repeating: 0)
  private let allpasses = Slab<Float>(8 * diffuserSize, repeating: 0)
  private let before = Slab<Float>(2 * predelaySize, repeating: 0)
  private let length = Slab<Int>(16, repeating: 0)
  private let diffuser = Slab<Int>(8, repeating: 0)
  private var low = SIMD16<Float>(repeating: 0)
  private var gain = SIMD16<Float>(repeating: 0)
  private var smooth = SIMD16<Float>(repeating: 0)
  private var at = 0
  private var predelay = 0
  private var dry: Ramp
  private var wet: Ramp
  private var place = GridPlace()
  private var silence = SilenceWatch(memory: 2 * predelaySize, floor: 1e-10)

  /// Makes the node with its default settings, silent; `sampleRate` in Hz.
  public init(sampleRate: Double) {
    self.sampleRate = sampleRate
    let p = Parameters()
    dry = Ramp(p.dry)
    wet = Ramp(p.wet)
    for i in 0..<16 { length[i] = min(Int(Double(Self.lengths[i]) * sampleRate / 48_000), Self.size - 1) }
    for i in 0..<8 { diffuser[i] = min(Int(Double(Self.diffusers[i]) * sampleRate / 48_000), Self.diffuserSize - 1) }
    set(p)
    reset()
  }

  /// Takes new settings; levels ramp, the decay changes at once, which a running tail does not show.
  public mutating func set(_ parameters: Parameters) {
    dry.aim(parameters.dry, frames: 960)
    wet.aim(parameters.wet, frames: 960)
    predelay = min(Int(Double(parameters.predelay) * 0.001 * sampleRate), Self.predelaySize - 1)
    for i in 0..<16 {
      // dB a round: −60·D/(fs·T60).
      let base = -60 * Float(length[i]) / (Float(sampleRate) * parameters.decay)
      let high = base / parameters.treble
      gain[i] = Arithmetic.amplitude(decibels: base)
      // One pole whose gain at 8 kHz is the difference: (1 − k)/√(1 − 2k cos w + k²), solved for k.
      let want = Arithmetic.amplitude(decibels: max(high - base, -30))
      let c: Float = 0.5  // cos(2π·8,000/48,000)
      let a = 1 - want * want
      let b = 1 - want * want * c
      let root = max(b * b - a * a, 0).squareRoot()
      smooth[i] = a < 1e-6 ? 0 : min(max((b - root) / a, 0), 0.97)
    }
  }

  /// Forgets all sound; parameters are at their targets.
  public mutating func reset() {
    clear()
    place = GridPlace()
    dry.jump(dry.target)
    wet.jump(wet.target)
  }

  private mutating func clear() {
    lines.fill(0)
    allpasses.fill(0)
    before.fill(0)
    low = .zero
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
    for i in 0..<16 { low[i] = Arithmetic.flushed(low[i]) }
    dry.tick()
    wet.tick()
    if silence.tick() { clear() }
  }

  private mutating func skip(_ part: StereoBlock) {
    for _ in 0..<part.frames {
      _ = dry.next()
      _ = wet.next()
    }
    at += part.frames
  }

  private mutating func sound(_ part: StereoBlock) {
    for i in 0..<part.frames {
      let xl = Arithmetic.isSound(part.left[i]) ? part.left[i] : 0
      let xr = Arithmetic.isSound(part.right[i]) ? part.right[i] : 0
      before[at & (Self.predelaySize - 1)] = xl
      before[Self.predelaySize + (at & (Self.predelaySize - 1))] = xr
      var l = before[(at - predelay) & (Self.predelaySize - 1)]
      var r = before[Self.predelaySize + ((at - predelay) & (Self.predelaySize - 1))]
      for d in 0..<4 {
        l = diffuse(l, d)
        r = diffuse(r, d + 4)
      }
      let (outL, outR) = circulate(l, r)
      let d = dry.next()
      let w = wet.next()
      silence.note(max(max(abs(xl), abs(xr)), max(abs(outL), abs(outR))))
      part.left[i] = Arithmetic.flushed(d * xl + w * outL)
      part.right[i] = Arithmetic.flushed(d * xr + w * outR)
      at += 1
    }
  }

  /// One allpass, coefficient 0.6.
  @inline(__always)
  private func diffuse(_ x: Float, _ which: Int) -> Float {
    let base = which * Self.diffuserSize
    let old = allpasses[base + ((at - diffuser[which]) & (Self.diffuserSize - 1))]
    let fed = x - 0.6 * old
    allpasses[base + (at & (Self.diffuserSize - 1))] = fed
    return old + 0.6 * fed
  }

  @inline(__always)
  private mutating func circulate(_ l: Float, _ r: Float) -> (Float, Float) {
    var x = Lines.zero
    for i in 0..<16 { x[i] = lines[i * Self.size + ((at - length[i]) & (Self.size - 1))] }
    low = x + (low - x) * smooth
    let y = low * gain
    // Sides hear different lines with alternating signs: wide; a little of
    // the other side keeps it whole in mono.
    let even = y.evenHalf
    let odd = y.oddHalf
    let outL = (even.evenHalf - even.oddHalf).sum()
    let outR = (odd.evenHalf - odd.oddHalf).sum()
    let mixed = hadamard(y)
    for i in 0..<16 {
      let fed = mixed[i] + (i & 1 == 0 ? l : r) * 0.25
      lines[i * Self.size + (at & (Self.size - 1))] = fed
    }
    return (outL * 0.5 + outR * 0.075, outR * 0.5 + outL * 0.075)
  }

  /// The 16-point Walsh–Hadamard transform over 4: it keeps energy and feeds every line to every line.
  @inline(__always)
  private func hadamard(_ x: Lines) -> Lines {
    var lo = x.lowHalf
    var hi = x.highHalf
    let a = lo + hi
    let b = lo - hi
    lo = quarter(a)
    hi = quarter(b)
    return Lines(lowHalf: lo, highHalf: hi) * 0.25
  }

  @inline(__always)
  private func quarter(_ x: SIMD8<Float>) -> SIMD8<Float> {
    let s = x.lowHalf + x.highHalf
    let d = x.lowHalf - x.highHalf
    return SIMD8(lowHalf: four(s), highHalf: four(d))
  }

  @inline(__always)
  private func four(_ x: SIMD4<Float>) -> SIMD4<Float> {
    let a = x.lowHalf + x.highHalf
    let b = x.lowHalf - x.highHalf
    return SIMD4(a.x + a.y, a.x - a.y, b.x + b.y, b.x - b.y)
  }
}
