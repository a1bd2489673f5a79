import Glibc
import TestSupport

@testable import Synth

/// Debug builds cannot keep a noncopyable node in a local variable, so the node is on the heap.
final class Bench<Node: AudioNode & ~Copyable> {
  let node: UnsafeMutablePointer<Node>

  init(_ sampleRate: Double = 48_000) {
    node = .allocate(capacity: 1)
    node.initialize(to: Node(sampleRate: sampleRate))
  }

  deinit {
    node.deinitialize(count: 1)
    node.deallocate()
  }

  /// Applies settings without a transition.
  func set(_ p: Node.Parameters) {
    node.pointee.set(p)
    node.pointee.reset()
  }

  func render(_ left: [Float], _ right: [Float]? = nil, block: () -> Int = { 480 }) -> ([Float], [Float]) {
    var frames = Signal.frames(left, right ?? left)
    frames.withUnsafeMutableBufferPointer { all in
      var rest = all
      while !rest.isEmpty {
        let n = min(max(1, block()), rest.count)
        node.pointee.render(StereoBlock(rebasing: rest[..<n]))
        rest = StereoBlock(rebasing: rest[n...])
      }
    }
    return (frames.map(\.x), frames.map(\.y))
  }
}

extension Limiter: AudioNode {
  /// Empty.
  public struct Parameters: Sendable, Hashable {}

  /// Has no effect.
  public mutating func set(_ parameters: Parameters) {}

  /// Resets the limiter to its initial state, at 48 kHz.
  public mutating func reset() { self = Limiter(sampleRate: 48_000) }
}

/// Measurements, implemented independently of the code they measure.
enum Signal {
  static func frames(_ left: [Float], _ right: [Float]) -> [Stereo] { zip(left, right).map { Stereo($0, $1) } }

  static func silence(_ n: Int) -> [Float] { [Float](repeating: 0, count: n) }

  static func impulse(_ n: Int) -> [Float] {
    var x = silence(n)
    x[0] = 1
    return x
  }

  static func sine(_ f: Double, _ n: Int, amplitude: Double = 0.5) -> [Float] {
    (0..<n).map { Float(amplitude * sin(2 * .pi * f * Double($0) / 48_000)) }
  }

  static func noise(_ n: Int, seed: UInt64 = 1, amplitude: Float = 0.5) -> [Float] {
    var random = Seeded(seed)
    return (0..<n).map { _ in (Float(random.next() >> 40) / 8_388_608 - 1) * amplitude }
  }

  static func decibels(_ x: Double) -> Double { 20 * log10(max(x, 1e-30)) }

  static func rms(_ x: ArraySlice<Float>) -> Double {
    (x.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(x.count, 1))).squareRoot()
  }

  /// Through a Hann window. `turns` is the phase.
  static func probe(_ x: ArraySlice<Float>, _ f: Double) -> (amplitude: Double, turns: Double) {
    var re = 0.0
    var im = 0.0
    var weight = 0.0
    let n = Double(x.count)
    for (k, s) in x.enumerated() {
      let w = 0.5 - 0.5 * cos(2 * .pi * (Double(k) + 0.5) / n)
      let p = 2 * .pi * f * Double(k + x.startIndex) / 48_000
      re += w * Double(s) * cos(p)
      im -= w * Double(s) * sin(p)
      weight += w
    }
    return (2 * (re * re + im * im).squareRoot() / weight, atan2(im, re) / (2 * .pi))
  }

  /// The level of the segment without its best-fitting sine of `f` Hz, in dB relative to the segment.
  static func residual(_ x: ArraySlice<Float>, _ f: Double) -> Double {
    var (cc, cs, ss, xc, xs, xx) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for (k, value) in x.enumerated() {
      let t = 2 * .pi * f * Double(k) / 48_000
      let (c, s, v) = (cos(t), sin(t), Double(value))
      cc += c * c
      cs += c * s
      ss += s * s
      xc += v * c
      xs += v * s
      xx += v * v
    }
    let det = cc * ss - cs * cs
    let a = (xc * ss - xs * cs) / det
    let b = (xs * cc - xc * cs) / det
    return 10 * log10(max(xx - a * xc - b * xs, 1e-30) / xx)
  }

  /// The difference of a tone from `f`, by the phases of the tone in two segments.
  static func cents(_ x: [Float], from f: Double, first: Range<Int>, second: Range<Int>) -> Double {
    let a = probe(x[first], f).turns
    let b = probe(x[second], f).turns
    var d = b - a
    d -= d.rounded()
    let seconds = Double(second.lowerBound - first.lowerBound) / 48_000
    return 1_200 * log2((f + d / seconds) / f)
  }

  /// Blackman–Harris window. The length is a power of two; bin k is k·48,000/n Hz.
  static func spectrum(_ x: [Float], windowed: Bool = true) -> [Double] {
    let n = x.count
    precondition(n & (n - 1) == 0, "spectrum: \(n) is no power of two")
    var re = [Double](repeating: 0, count: n)
    var im = [Double](repeating: 0, count: n)
    for k in 0..<n {
      let t = 2 * .pi * Double(k) / Double(n)
      let w = windowed ? 0.35875 - 0.48829 * cos(t) + 0.14128 * cos(2 * t) - 0.01168 * cos(3 * t) : 1
      re[k] = Double(x[k]) * w
    }
    fft(&re, &im)
    return (0...(n / 2)).map { re[$0] * re[$0] + im[$0] * im[$0] }
  }

  /// 1 at lag 0. The transform of the power spectrum (Wiener and Khinchin).
  static func autocorrelation(_ x: [Float], lags: Range<Int>) -> [Double] {
    // Pads with zeros, as the transform is cyclic.
    let size = 1 << (Int.bitWidth - (x.count + lags.upperBound).leadingZeroBitCount)
    var re = x.map(Double.init) + [Double](repeating: 0, count: size - x.count)
    var im = [Double](repeating: 0, count: re.count)
    fft(&re, &im)
    for k in re.indices { (re[k], im[k]) = (re[k] * re[k] + im[k] * im[k], 0) }
    fft(&re, &im)
    return lags.map { re[$0] / re[0] }
  }

  static func fft(_ re: inout [Double], _ im: inout [Double]) {
    let n = re.count
    var j = 0
    for i in 1..<n {
      var bit = n >> 1
      while j & bit != 0 {
        j ^= bit
        bit >>= 1
      }
      j |= bit
      if i < j {
        re.swapAt(i, j)
        im.swapAt(i, j)
      }
    }
    var length = 2
    while length <= n {
      let half = length / 2
      let step = -2 * Double.pi / Double(length)
      var table = [(Double, Double)]()
      table.reserveCapacity(half)
      for k in 0..<half { table.append((cos(step * Double(k)), sin(step * Double(k)))) }
      for start in stride(from: 0, to: n, by: length) {
        for k in 0..<half {
          let (c, s) = table[k]
          let r = re[start + k + half] * c - im[start + k + half] * s
          let i = re[start + k + half] * s + im[start + k + half] * c
          re[start + k + half] = re[start + k] - r
          im[start + k + half] = im[start + k] - i
          re[start + k] += r
          im[start + k] += i
        }
      }
      length *= 2
    }
  }

  /// Interpolated between bins by a parabola through the logarithms.
  static func peak(_ power: [Double], near bin: Int, within: Int) -> Double {
    let range = max(1, bin - within)...min(power.count - 2, bin + within)
    let at = range.max { power[$0] < power[$1] } ?? bin
    let (l, m, r) = (log(power[at - 1] + 1e-300), log(power[at] + 1e-300), log(power[at + 1] + 1e-300))
    return Double(at) + 0.5 * (l - r) / (l - 2 * m + r)
  }

  /// The click measure (`clickLevel`) of the worst channel.
  static func click(_ x: [Float], at frame: Int, channels: Int = 1) -> Double {
    (0..<channels).compactMap { clickLevel(x, channel: $0, of: channels, at: frame) }.max() ?? -200
  }
}
