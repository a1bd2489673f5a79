import Glibc

/// Converts 48,000 frames per second to another rate, with a windowed sinc of 32 taps.
struct Resampler {
  private static let taps = 32
  /// The positions between two frames for which `table` has the sinc's values.
  private static let phases = 256

  /// The engine's frames for each frame of the device.
  private let step: Double
  private let table: [Float]
  /// The engine's frames that are still needed, interleaved. The next output frame is `place` frames after the first of them.
  private var source: [Float]
  private var place = 0.0

  init(to rate: Double) {
    step = 48_000 / rate
    // 6 % below the lower Nyquist frequency of engine and device, as a share of the engine's.
    let cutoff = min(1, rate / 48_000) * (rate == 48_000 ? 1 : 0.94)
    let half = Double(Self.taps / 2)
    var table: [Float] = []
    for phase in 0...Self.phases {
      for tap in 0..<Self.taps {
        let x = Double(tap) - (half - 1) - Double(phase) / Double(Self.phases)
        let sinc = x == 0 ? cutoff : sin(Double.pi * cutoff * x) / (Double.pi * x)
        let window = abs(x) >= half ? 0 : 0.42 + 0.5 * cos(Double.pi * x / half) + 0.08 * cos(2 * Double.pi * x / half)
        table.append(Float(sinc * window))
      }
    }
    self.table = table
    source = [Float](repeating: 0, count: 2 * (Self.taps - 1))
  }

  mutating func fill(
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ frames: Int,
    render: (UnsafeMutablePointer<Float>, Int) -> Void
  ) {
    let kept = step == 1 ? 0 : source.count / 2
    let last = place + step * Double(frames - 1)
    let wanted = step == 1 ? frames : Int(last) + Self.taps
    let new = max(0, wanted - kept)
    if step == 1 { source = [] }
    source += [Float](repeating: 0, count: 2 * new)
    source.withUnsafeMutableBufferPointer { source in
      guard let base = source.baseAddress else { return }
      if new > 0 { render(base + 2 * kept, new) }
      for frame in 0..<frames {
        if step == 1 {
          (left[frame], right[frame]) = (base[2 * frame], base[2 * frame + 1])
          continue
        }
        let first = Int(place)
        let phase = (place - Double(first)) * Double(Self.phases)
        let (row, blend) = (Int(phase), Float(phase - Double(Int(phase))))
        var (l, r): (Float, Float) = (0, 0)
        for tap in 0..<Self.taps {
          let a = table[row * Self.taps + tap]
          let weight = a + blend * (table[(row + 1) * Self.taps + tap] - a)
          l += weight * base[2 * (first + tap)]
          r += weight * base[2 * (first + tap) + 1]
        }
        (left[frame], right[frame]) = (l, r)
        place += step
      }
    }
    guard step != 1 else { return }
    source.removeFirst(2 * Int(place))
    place -= Double(Int(place))
  }
}
