import Foundation
import ScoreFormats
import ScoreIO

#if canImport(CCairo)
  import CCairo
#endif

/// Measures repetition in sound: how similar the harmonies of each pair of seconds are.
package struct SelfSimilarity {
  /// For each second, the energy of the twelve pitch classes as a vector of length 1.
  package private(set) var harmony: [[Float]] = []
  private var sums: [Float] = []

  /// The frames per second; how many frames are added to one analysed value; in how many parts a second is analysed.
  private static let (second, fold, pieces) = (48_000, 8, 4)
  /// The analysed pitches: A2–A6.
  private static let pitches = 45...93

  package init() {}

  /// Adds interleaved stereo samples at 48 kHz.
  package mutating func add(_ samples: [Float]) {
    for at in stride(from: 0, to: samples.count, by: 2 * Self.fold) {
      sums.append(samples[at..<min(at + 2 * Self.fold, samples.count)].reduce(0, +))
      if sums.count == Self.second / Self.fold { closeSecond() }
    }
  }

  /// Adds the energy of each pitch class in the last second, by Goertzel's filter for each pitch and quarter of a second.
  private mutating func closeSecond() {
    var classes = [Float](repeating: 0, count: 12)
    let length = sums.count / Self.pieces
    for pitch in Self.pitches {
      let turn = 2 * Float.pi * Float(440 * pow(2, Double(pitch - 69) / 12)) * Float(Self.fold) / Float(Self.second)
      let factor = 2 * cosf(turn)
      for piece in 0..<Self.pieces {
        var (now, last): (Float, Float) = (0, 0)
        for sample in sums[piece * length..<(piece + 1) * length] { (now, last) = (sample + factor * now - last, now) }
        classes[pitch % 12] += max(now * now + last * last - factor * now * last, 0)
      }
    }
    let all = classes.reduce(1e-9, +)
    harmony.append(classes.map { ($0 / all).squareRoot() })
    sums = []
  }

  /// The similarity (0–1) of the harmonies in the seconds `a` and `b`.
  package func likeness(_ a: Int, _ b: Int) -> Float { zip(harmony[a], harmony[b]).reduce(0) { $0 + $1.0 * $1.1 } }

  /// Of all pairs of seconds at least 30 s apart, the share with a likeness over 0.9.
  package var returns: Double { returns(in: harmony.indices) }

  /// As `returns`, in the middle third: there a long game is past its opening and not yet decided.
  package var middleReturns: Double { returns(in: harmony.count / 3..<2 * harmony.count / 3) }

  private func returns(in seconds: Range<Int>) -> Double {
    let far = seconds.flatMap { a in
      stride(from: a + 30, to: seconds.upperBound, by: 1).map { likeness(a, $0) }
    }
    return far.isEmpty ? 0 : Double(far.count { $0 > 0.9 }) / Double(far.count)
  }

  /// Writes a picture: one pixel a second on both axes, black for alike. A stripe parallel to the diagonal is a repetition.
  package func writePNG(to path: String) throws(ScoreFileError) {
    #if canImport(CCairo)
      let size = harmony.count
      let surface = cairo_image_surface_create(CAIRO_FORMAT_A8, Int32(size), Int32(size))
      defer { cairo_surface_destroy(surface) }
      guard let dots = cairo_image_surface_get_data(surface) else { throw ScoreFileError("\(path): too large") }
      let stride = Int(cairo_image_surface_get_stride(surface))
      cairo_surface_flush(surface)
      for row in 0..<size {
        for column in 0..<size {
          dots[row * stride + column] = UInt8(255 - 255 * min(max(2 * likeness(row, column) - 1, 0), 1))
        }
      }
      cairo_surface_mark_dirty(surface)
      try ScorePage.write(surface, to: path)
    #else
      throw ScoreFileError("\(path): this build has no Cairo (HEADLESS)")
    #endif
  }
}
