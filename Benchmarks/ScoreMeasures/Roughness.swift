import Foundation
import ScoreModel

/// The roughness of two tones: Sethares, "Local consonance and the relationship between timbre and scale", JASA 94 (1993).
package enum Roughness {
  static let d = 0.24
  static let s1 = 0.0207
  static let s2 = 18.96
  static let a1 = -3.51
  static let a2 = -5.75
  /// The partials of the model tone; each has `decay` times the amplitude of the previous one.
  static let partials = 6
  static let decay = 0.88

  /// The roughness of two simultaneous notes of equal velocity.
  package static func of(_ a: Pitch, _ b: Pitch) -> Double {
    let spectrum = [a, b].flatMap { pitch in
      let f0 = Pitch.frequency(midi: Double(pitch.midi))
      return (0..<partials).map { (f: f0 * Double($0 + 1), a: pow(decay, Double($0))) }
    }
    var sum = 0.0
    for i in spectrum.indices {
      for j in spectrum.indices where j > i {
        let low = min(spectrum[i].f, spectrum[j].f)
        let distance = abs(spectrum[i].f - spectrum[j].f)
        let s = d / (s1 * low + s2)
        sum += min(spectrum[i].a, spectrum[j].a) * (exp(a1 * s * distance) - exp(a2 * s * distance))
      }
    }
    return sum
  }

  /// The mean roughness of M–T pairs in bars, weighted by duration; `nil` without pairs.
  package static func of(_ bars: some Sequence<Bar>) -> Double? {
    var sum = 0.0
    var time = 0.0
    for bar in bars {
      for pair in bar.pairs {
        guard let m = pair.m, let t = pair.t else { continue }
        sum += of(m.pitch, t.pitch) * m.duration.seconds
        time += m.duration.seconds
      }
    }
    return time > 0 ? sum / time : nil
  }
}
