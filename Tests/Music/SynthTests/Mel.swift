import Glibc

/// The distance of two sounds in dB: the root mean square difference of 48 mel bands, 30 Hz to 16 kHz, averaged over six seconds.
/// `tools/fit-piano/mel.py` takes the mean absolute difference instead.
enum Mel {
  static let bands = 48
  static let size = 4_096
  static let hop = 1_024

  /// The power in each mel band for each frame of the first six seconds, averaged over the two channels of `x`.
  static func spectrogram(_ x: [Float]) -> [[Double]] {
    let bank = Self.bank
    var result: [[Double]] = []
    for start in stride(from: 0, to: 6 * 48_000, by: hop) {
      var power = [Double](repeating: 0, count: size / 2 + 1)
      for channel in 0..<2 {
        var re = [Double](repeating: 0, count: size)
        var im = re
        for k in 0..<size where 2 * (start + k) + channel < x.count {
          re[k] = Double(x[2 * (start + k) + channel]) * (0.5 - 0.5 * cos(2 * .pi * Double(k) / Double(size)))
        }
        Signal.fft(&re, &im)
        for k in 0...size / 2 { power[k] += 0.5 * (re[k] * re[k] + im[k] * im[k]) }
      }
      var row: [Double] = []
      for band in bank {
        var sum = 0.0
        for (k, weight) in band { sum += weight * power[k] }
        row.append(sum)
      }
      result.append(row)
    }
    return result
  }

  static func distance(_ a: [[Double]], _ b: [[Double]]) -> Double {
    let top = max(a.joined().max() ?? 0, b.joined().max() ?? 0)
    var sum = 0.0
    for (p, q) in zip(a, b) {
      var square = 0.0
      for (x, y) in zip(p, q) {
        let d = max(10 * log10(x / top + 1e-30), -60) - max(10 * log10(y / top + 1e-30), -60)
        square += d * d
      }
      sum += (square / Double(bands)).squareRoot()
    }
    return sum / Double(a.count)
  }

  /// The spectral centroid of the first second in Hz, weighted by amplitude.
  static func centroid(_ x: [Float]) -> Double {
    let n = 1 << 15
    var mono = [Float](repeating: 0, count: n)
    for i in 0..<n { mono[i] = 0.5 * (x[2 * i] + x[2 * i + 1]) }
    let power = Signal.spectrum(mono)
    var (sum, weight) = (0.0, 0.0)
    for (k, p) in power.enumerated() {
      sum += p.squareRoot() * Double(k) * 48_000 / Double(n)
      weight += p.squareRoot()
    }
    return sum / weight
  }

  /// The filters are triangles, whose sides are each at least one bin wide.
  private static var bank: [[(Int, Double)]] {
    func mel(_ f: Double) -> Double { 2_595 * log10(1 + f / 700) }
    let (bottom, top) = (mel(30), mel(16_000))
    let edges: [Double] = (0...bands + 1).map { k in
      let at = bottom + (top - bottom) * Double(k) / Double(bands + 1)
      return 700 * (pow(10, at / 2_595) - 1)
    }
    let bin = 48_000.0 / Double(size)
    var rows: [[(Int, Double)]] = []
    for b in 0..<bands {
      let middle: Double = edges[b + 1]
      let low: Double = min(edges[b], middle - bin)
      let high: Double = max(edges[b + 2], middle + bin)
      var row: [(Int, Double)] = []
      for k in 0...size / 2 {
        let f: Double = Double(k) * bin
        let w: Double = min((f - low) / (middle - low), (high - f) / (high - middle))
        if w > 0 { row.append((k, w)) }
      }
      rows.append(row)
    }
    return rows
  }
}

/// Loudness after ITU-R BS.1770: K-weighting, blocks of 400 ms every 100 ms, gates at −70 LUFS and 10 LU below the mean.
enum Loudness {
  static func integrated(_ x: [Float]) -> Double {
    var weighted = [Double](repeating: 0, count: x.count / 2)
    for channel in 0..<2 {
      // For 48 kHz: the shelf, then the high-pass.
      var a = Biquad(
        b: (1.53512485958697, -2.69169618940638, 1.19839281085285), a: (-1.69065929318241, 0.73248077421585))
      var b = Biquad(b: (1, -2, 1), a: (-1.99004745483398, 0.99007225036621))
      for i in weighted.indices {
        let y = b.next(a.next(Double(x[2 * i + channel])))
        weighted[i] += y * y
      }
    }
    let blocks = stride(from: 0, to: weighted.count - 19_200, by: 4_800).map { start in
      weighted[start..<start + 19_200].reduce(0, +) / 19_200
    }
    func lufs(_ p: [Double]) -> Double { -0.691 + 10 * log10(max(p.reduce(0, +) / Double(max(p.count, 1)), 1e-30)) }
    let loud = blocks.filter { lufs([$0]) > -70 }
    let gate = lufs(loud) - 10
    return lufs(loud.filter { lufs([$0]) > gate })
  }

  private struct Biquad {
    var b: (Double, Double, Double)
    var a: (Double, Double)
    var x = (0.0, 0.0)
    var y = (0.0, 0.0)

    init(b: (Double, Double, Double), a: (Double, Double)) {
      self.b = b
      self.a = a
    }

    mutating func next(_ v: Double) -> Double {
      let out = b.0 * v + b.1 * x.0 + b.2 * x.1 - a.0 * y.0 - a.1 * y.1
      x = (v, x.0)
      y = (out, y.0)
      return out
    }
  }
}
