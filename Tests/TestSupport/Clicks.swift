import Foundation

/// The click measure of a channel in dB: the largest second difference within ±50 ms of `frame` at 48 kHz, relative to the 99.9th
/// percentile of these differences. A percentile below −90 dBFS counts as −90 dBFS. `nil` if the samples end too near.
package func clickLevel(_ samples: [Float], channel: Int = 0, of channels: Int, at frame: Int) -> Double? {
  let (from, to) = (max(2, frame - 2_400), min(samples.count / channels, frame + 2_400))
  guard to - from > 1_000 else { return nil }
  var differences: [Float] = []
  differences.reserveCapacity(to - from)
  for frame in from..<to {
    let at = frame * channels + channel
    differences.append(abs(samples[at] - 2 * samples[at - channels] + samples[at - 2 * channels]))
  }
  differences.sort()
  let least: Float = 3.16e-5
  let level = max(differences[Int(Double(differences.count) * 0.999)], least)
  return 20 * log10(Double(max(differences[differences.count - 1], least) / level))
}
