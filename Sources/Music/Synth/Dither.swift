/// Converts samples to 16 bits for a device or file, with triangular dither of ±1 step of the 16-bit scale.
public struct Dither: Sendable {
  private var random = Noise(seed: 0x5EED)

  /// Makes a dither with a fixed noise sequence.
  public init() {}

  /// Rounds `count` samples (of both channels together) to 16 bits with triangular dither; clips beyond ±1. Real-time safe: yes.
  #if !DEBUG
    @_noLocks @_noAllocation
  #endif
  public mutating func convert(
    _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Int16>, count: Int
  ) {
    for i in 0..<count {
      // The difference of two 16-bit random numbers has a triangular distribution of −1…1 steps.
      let draw = random.next()
      let noise =
        (Float(UInt16(truncatingIfNeeded: draw >> 48)) - Float(UInt16(truncatingIfNeeded: draw >> 32))) / 65_536
      let x = source[i]
      let scaled = (x == x ? x : 0) * 32_767 + noise
      let clipped = min(max(scaled, -32_767), 32_767)
      // Rounds half away from zero. Adding ±0.5 cannot overflow, because `clipped` is within the 16-bit range.
      target[i] = Int16(truncatingIfNeeded: Int32(clipped < 0 ? clipped - 0.5 : clipped + 0.5))
    }
  }
}

/// A seeded 64-bit generator (xorshift64*).
struct Noise: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed | 1 }

  @inline(__always)
  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
