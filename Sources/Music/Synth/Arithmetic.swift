import Glibc

/// Arithmetic for the audio thread without calls out of the module, so that results are equal on every machine.
enum Arithmetic {
  /// sin(2πt) for t in 0..<1, error below 1e-11 (Taylor to x^15 on a quarter turn). Real-time safe: yes.
  @inline(__always)
  static func sine(turns t: Double) -> Double {
    var x = t
    if x > 0.5 { x -= 1 }
    if x > 0.25 { x = 0.5 - x } else if x < -0.25 { x = -0.5 - x }
    x *= 2 * Double.pi
    let y = x * x
    var p = -1.0 / 1_307_674_368_000
    p = p * y + 1.0 / 6_227_020_800
    p = p * y - 1.0 / 39_916_800
    p = p * y + 1.0 / 362_880
    p = p * y - 1.0 / 5_040
    p = p * y + 1.0 / 120
    p = p * y - 1.0 / 6
    return x + x * y * p
  }

  @inline(__always)
  static func sine(turns t: SIMD2<Double>) -> Stereo { Stereo(Float(sine(turns: t.x)), Float(sine(turns: t.y))) }

  /// Subtracts 1 from each phase that has reached 1. Phases are measured in turns.
  @inline(__always)
  static func wrapped(_ t: SIMD2<Double>) -> SIMD2<Double> { t.replacing(with: t - 1, where: t .>= 1) }

  /// 2^x with x clamped to −126…126; relative error below 3e-7. Real-time safe: yes.
  @inline(__always)
  static func exp2(_ x: Float) -> Float {
    let c = min(max(x, -126), 126)
    var i = Int32(c)
    if Float(i) > c { i -= 1 }
    let f = (c - Float(i)) * 0.693_147_18
    // e^f for f in 0…ln 2, by its series up to f^7: exact to the precision of `Float`.
    var p: Float = 1.0 / 5_040
    p = p * f + 1.0 / 720
    p = p * f + 1.0 / 120
    p = p * f + 1.0 / 24
    p = p * f + 1.0 / 6
    p = p * f + 0.5
    p = p * f + 1
    p = p * f + 1
    return p * Float(bitPattern: UInt32(bitPattern: (i + 127) << 23))
  }

  /// The amplitude of a level in dB. Real-time safe: yes.
  @inline(__always)
  static func amplitude(decibels: Float) -> Float { exp2(decibels * 0.166_096_404_7) }

  /// The share of the way to its target that a one-pole filter covers in a step: time constant `seconds`, `rate` steps a second.
  static func follow(_ seconds: Float, rate: Float) -> Float { 1 - exp2(-1.442_695 / (seconds * rate)) }

  /// The factor for each frame that lowers an amplitude by 60 dB within `t60` seconds. Not for the audio thread.
  static func decay(t60: Double, sampleRate: Double) -> Double { pow(10, -3 / (t60 * sampleRate)) }

  /// Whether a sample is valid: its magnitude is below 1e6 (full scale is 1). NaN and infinity are not valid.
  @inline(__always)
  static func isSound(_ x: Float) -> Bool { abs(x) < 1e6 }

  /// The sample, or 0 if the sample is not valid (`isSound`) or is at most −500 dB (1e-25).
  @inline(__always)
  static func flushed(_ x: Float) -> Float { abs(x) < 1e6 && abs(x) > 1e-25 ? x : 0 }

  @inline(__always)
  static func flushed(_ x: Stereo) -> Stereo { Stereo(flushed(x.x), flushed(x.y)) }

  /// A frame in which 0 replaces each sample that is not valid (`isSound`).
  @inline(__always)
  static func heard(_ x: Stereo) -> Stereo { Stereo(isSound(x.x) ? x.x : 0, isSound(x.y) ? x.y : 0) }
}
