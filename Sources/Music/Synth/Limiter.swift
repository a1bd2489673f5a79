/// A safety limiter without look-ahead, inactive in normal play. The gain follows the peak within about 2 ms; until then a smooth curve
/// bends samples, at most 1.7 dB above the ceiling. Both channels share a gain, which keeps the stereo image.
struct Limiter: ~Copyable {
  /// −3 dBFS: leaves 1.7 dB for the onset of a peak and 1.3 dB for peaks between samples.
  private let ceiling = Arithmetic.amplitude(decibels: -3)
  /// Milliseconds in which the gain recovers by 60 dB.
  private static let release: Float = 1_500
  /// The gain's time constant in seconds: shorter than an audible attack, longer than a treble period.
  private static let attack: Float = 0.000_8
  /// The most a sample may exceed the ceiling, as a ratio: 1.7 dB.
  private static let headroom: Float = 1.216_186

  private let keep: Float
  private let follow: Float
  private var envelope: Float = 0
  private var gain: Float = 1
  private(set) var framesLimited = 0

  init(sampleRate: Double) {
    keep = Arithmetic.exp2(-9.965_784 / (Self.release * 0.001 * Float(sampleRate)))
    follow = Arithmetic.follow(Self.attack, rate: Float(sampleRate))
  }

  mutating func render(_ block: StereoBlock) {
    for i in block.indices {
      let x = Arithmetic.flushed(block[i])
      envelope = max(x.peak, envelope * keep)
      if envelope > ceiling || gain < 1 {
        let wanted = envelope > ceiling ? ceiling / envelope : 1
        gain += (wanted - gain) * follow
        if wanted == 1 && gain > 0.999_999 { gain = 1 }
        block[i] = Stereo(bent(x.x * gain), bent(x.y * gain))
        framesLimited += 1
      } else {
        block[i] = x
        if envelope < 1e-20 { envelope = 0 }
      }
    }
  }

  /// Beyond the ceiling, turns an excess of u times the headroom into u/√(1 + u²) times the headroom. Slope and curvature are continuous.
  @inline(__always)
  private func bent(_ x: Float) -> Float {
    let over = abs(x) - ceiling
    guard over > 0 else { return x }
    let room = ceiling * (Self.headroom - 1)
    let u = over / room
    let y = ceiling + room * (u / OpaqueCalls.squareRoot(1 + u * u))
    return x < 0 ? -y : y
  }
}
