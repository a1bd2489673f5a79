import Foundation
import GameScore
import Records
import ScoreIO
import ScoreModel
import Synth
import TestSupport
import TicTacToe
import Tintinnabuli

struct Recording {
  var samples: [Float]
  var frames: Int { samples.count / 2 }

  init(_ samples: [Float]) { self.samples = samples }

  init(rawFloat file: URL) throws {
    let data = try Data(contentsOf: file)
    samples = data.withUnsafeBytes { bytes in
      (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
    }
  }

  init(raw16 file: URL) throws {
    let data = try Data(contentsOf: file)
    samples = data.withUnsafeBytes { bytes in
      (0..<bytes.count / 2).map { Float(bytes.loadUnaligned(fromByteOffset: $0 * 2, as: Int16.self)) / 32_768 }
    }
  }

  init(rendering record: Record, human: Player? = nil, rules: String? = nil, frames: Int) throws {
    let rules = try RuleLibrary.load(rules).rules
    let rendition = Rendition(of: record, rules: rules, human: human)
    let engine = Engine(patch: Patch(rules))
    // Evens out the loudness, as a window does unless its setting for this is off.
    engine.setEven(true)
    var renderer = OfflineRenderer(rendition.events, engine: engine)
    samples = renderer.render(frames: frames)
  }

  var peak: Float { samples.map(abs).max() ?? 0 }

  /// Root mean square, dB relative to full scale.
  var level: Double {
    let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    return 10 * log10(max(sum / Double(max(samples.count, 1)), 1e-20))
  }

  /// `nil` if one recording is a prefix of the other.
  func firstDifference(from other: Recording) -> Int? {
    let count = min(samples.count, other.samples.count)
    return (0..<count).first { samples[$0] != other.samples[$0] }.map { $0 / 2 }
  }

  /// Leaves out up to three blocks of silence, which a device may play first, if the rest then equals `other`.
  func aligned(to other: Recording, block: Int = 1_024) -> Recording {
    for start in stride(from: 0, through: 3 * 2 * block, by: 2 * block) {
      guard start < samples.count, samples[..<start].allSatisfy({ $0 == 0 }) else { break }
      let rest = Recording(Array(samples[start...]))
      if rest.firstDifference(from: other) == nil { return rest }
    }
    return self
  }

  /// The click measure of the left channel.
  func click(at frame: Int) -> Double { clickLevel(samples, of: 2, at: frame) ?? 0 }

  /// Root mean square of windows of 20 ms.
  func envelope(from first: Int = 0) -> [Double] {
    stride(from: first, to: frames - 960, by: 960).map { start in
      let sum = (start * 2..<(start + 960) * 2).reduce(0.0) { $0 + Double(samples[$1]) * Double(samples[$1]) }
      return (sum / 1_920).squareRoot()
    }
  }

  /// The lag, in windows of 20 ms, by which `b` is behind `a` where they correlate best.
  static func match(_ a: [Double], _ b: [Double], lags: ClosedRange<Int>) -> (correlation: Double, lag: Int) {
    var best = (correlation: -1.0, lag: 0)
    for lag in lags {
      let pairs = a.indices.compactMap { i in b.indices.contains(i + lag) ? (a[i], b[i + lag]) : nil }
      guard pairs.count > 100 else { continue }
      let correlation = Recording.correlation(pairs)
      if correlation > best.correlation { best = (correlation, lag) }
    }
    return best
  }

  private static func correlation(_ pairs: [(Double, Double)]) -> Double {
    let n = Double(pairs.count)
    var (sumA, sumB, squareA, squareB, product) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for (a, b) in pairs {
      sumA += a
      sumB += b
      squareA += a * a
      squareB += b * b
      product += a * b
    }
    let covariance = product - sumA * sumB / n
    let variances = (squareA - sumA * sumA / n) * (squareB - sumB * sumB / n)
    return covariance / max(variances.squareRoot(), 1e-15)
  }
}
