/// Multiplies each channel by its own sine, which gives bell-like sum and difference tones.
public struct StereoRingModulator: ~Copyable, AudioNode {
  /// The settings of a ring modulator.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// The carrier of the left channel in Hz, 0.1…20,000.
    public var left: Float
    /// The carrier of the right channel in Hz, 0.1…20,000.
    public var right: Float
    /// Level of the input in the output, 0…1.
    public var dry: Float
    /// Level of the product (input times carrier) in the output, 0…1.
    public var wet: Float

    /// Makes settings, clamped to their ranges.
    public init(left: Float = 440, right: Float = 440, dry: Float = 0, wet: Float = 1) {
      self.left = min(max(left, 0.1), 20_000)
      self.right = min(max(right, 0.1), 20_000)
      self.dry = min(max(dry, 0), 1)
      self.wet = min(max(wet, 0), 1)
    }

    /// *bell* with a prime of f = `frequency` Hz. From an input at 0.35 f on the left it makes hum (½ f) and tierce (6/5 f); from an
    /// input at 0.25 f on the right, quint (3/2 f) and nominal (2 f).
    public static func bell(frequency: Float) -> Parameters {
      Parameters(left: 0.85 * frequency, right: 1.75 * frequency)
    }
    /// *bell* with a prime of B4, the preset of rule files.
    public static let bell = Parameters.bell(frequency: 493.883)
    /// *shimmer*: two slow, slightly different carriers, a tremolo between the channels.
    public static let shimmer = Parameters(left: 3.1, right: 4.3, dry: 0.6, wet: 0.4)
  }

  private let sampleRate: Double
  private var phase = SIMD2<Double>.zero
  private var place = GridPlace()
  /// The ramps of the carriers' frequencies in Hz, and of dry and wet level.
  private var settings: Ramp<SIMD4<Float>>

  package init(sampleRate: Double) {
    self.sampleRate = sampleRate
    settings = Ramp(Self.vector(Parameters()))
  }

  private static func vector(_ p: Parameters) -> SIMD4<Float> { SIMD4(p.left, p.right, p.dry, p.wet) }

  /// Applies new settings; levels and carriers ramp within 20 ms.
  package mutating func set(_ parameters: Parameters) { settings.aim(Self.vector(parameters), frames: 960) }

  package mutating func reset() {
    phase = .zero
    place = GridPlace()
    settings.jump(settings.target)
  }

  package mutating func render(_ block: StereoBlock) {
    var rest = block
    while let (part, starts) = place.next(&rest) {
      if starts { settings.tick() }
      for i in part.indices {
        let p = settings.next()
        let carrier = Arithmetic.sine(turns: phase)
        part[i] = Arithmetic.flushed(part[i] * (carrier * p.w + p.z))
        phase = Arithmetic.wrapped(phase + SIMD2(Double(p.x), Double(p.y)) / sampleRate)
      }
    }
  }
}
