import Glibc
import Testing

@testable import Synth

@Suite("The feedback comb")
struct FeedbackCombTests {
  private static let triad = [388.76, 326.90, 259.46, 194.38]

  @Test("a comb rings at every harmonic of its string, within 2 cents", arguments: triad)
  func harmonics(delay: Double) {
    for damping: Float in [0, 0.22] {
      let bench = Bench<FeedbackComb>()
      bench.set(.string(frequency: 48_000 / delay, t60: 7.5, damping: damping))
      let n = 1 << 19
      let power = Signal.spectrum(bench.render(Signal.impulse(n)).0, windowed: false)
      // Damping is a low-pass filter, which detunes the high harmonics.
      for h in 1...(damping == 0 ? 12 : 5) {
        let f = Double(h) * 48_000 / delay
        let found = Signal.peak(power, near: Int(f * Double(n) / 48_000), within: 30) * 48_000 / Double(n)
        #expect(abs(1_200 * log2(found / f)) < 2, "harmonic \(h), damping \(damping): \(1_200 * log2(found / f)) cents")
      }
    }
  }

  @Test("a comb loses 60 dB in the requested time, within 5 %", arguments: [0.5, 2, 7.5])
  func decay(t60: Double) {
    for delay in Self.triad {
      let bench = Bench<FeedbackComb>()
      bench.set(.string(frequency: 48_000 / delay, t60: t60))
      let n = Int(t60 * 48_000) + 24_000
      let x = bench.render(Signal.impulse(n)).0
      let f = 48_000 / delay
      let far = n * 6 / 10
      let a = Signal.probe(x[2_000..<14_000], f).amplitude
      let b = Signal.probe(x[far..<far + 12_000], f).amplitude
      let measured = 60 * Double(far - 2_000) / 48_000 / Signal.decibels(a / b)
      #expect(abs(measured / t60 - 1) < 0.05, "T60 \(measured) for \(t60)")
    }
  }

  @Test("a comb is stable for every |g| < 1, also while its delay moves")
  func stability() {
    for g: Float in [-0.9999, -0.9, 0.5, 0.99, 0.9999] {
      for delay: Float in [4, 7.5, 97.3, 2_000] {
        let bench = Bench<FeedbackComb>()
        bench.set(.init(delay: delay, feedback: g, dry: 0, wet: 1))
        _ = bench.render(Signal.noise(48_000, amplitude: 0.01))
        bench.node.pointee.set(.init(delay: delay * 1.7, feedback: g, dry: 0, wet: 1, glide: 500))
        let moving = bench.render(Signal.noise(96_000, seed: 2, amplitude: 0.01)).0
        let early = bench.render(Signal.silence(48_000)).0
        let late = bench.render(Signal.silence(480_000)).0.suffix(48_000)
        #expect(moving.allSatisfy { abs($0) < 20 }, "g \(g), delay \(delay)")
        #expect(Signal.rms(late) <= Signal.rms(early[...]) + 1e-6, "g \(g), delay \(delay)")
      }
    }
  }

  @Test("a comb changes its delay without a click, where a jump would be audible")
  func glide() {
    let input = Signal.sine(311, 96_000, amplitude: 0.25)
    let bench = Bench<FeedbackComb>()
    bench.set(.init(delay: 389, feedback: 0.78, damping: 0.3, dry: 0, wet: 1, glide: 400))
    var x = bench.render(Array(input[..<48_000])).0
    bench.node.pointee.set(.init(delay: 412, feedback: 0.78, damping: 0.3, dry: 0, wet: 1, glide: 400))
    x += bench.render(Array(input[48_000...])).0
    let before = Signal.click(x, at: 40_000)
    for frame in stride(from: 47_000, to: 70_000, by: 500) {
      #expect(Signal.click(x, at: frame) < before + 6)
    }
    // A delay that jumps from 389 to 412 frames without interpolation clicks, which the measure must detect.
    var line = [Float](repeating: 0, count: 96_000)
    for i in 0..<96_000 {
      let d = i < 48_000 ? 389 : 412
      line[i] = input[i] + (i >= d ? 0.1 * line[i - d] : 0)
    }
    #expect(Signal.click(line, at: 48_000) > before + 20)
  }

  @Test("a comb glides in the requested time at every sample rate", arguments: [24_000, 48_000, 96_000])
  func glideTime(rate: Int) {
    func echo(after milliseconds: Int) -> Int {
      let bench = Bench<FeedbackComb>(Double(rate))
      bench.set(.init(delay: 400, feedback: 0, dry: 0, wet: 1, glide: 100))
      bench.node.pointee.set(.init(delay: 800, feedback: 0, dry: 0, wet: 1, glide: 100))
      _ = bench.render(Signal.silence(rate * milliseconds / 1000))
      let x = bench.render(Signal.impulse(2_000)).0
      return x.indices.max { abs(x[$0]) < abs(x[$1]) } ?? 0
    }
    #expect((500...780).contains(echo(after: 60)) && echo(after: 130) == 800, "\(echo(after: 60)), \(echo(after: 130))")
  }
}

@Suite("The ring modulator")
struct RingModulatorTests {
  @Test("a ring modulator gives sums and differences within a cent, and nothing else above −60 dB")
  func partials() {
    for f in [246.94, 493.88, 987.77] {
      let bench = Bench<StereoRingModulator>()
      bench.set(.bell(frequency: Float(f)))
      let n = 1 << 17
      let (l, r) = bench.render(Signal.sine(0.35 * f, n), Signal.sine(0.25 * f, n))
      for (side, ratios) in [(l, [0.5, 1.2]), (r, [1.5, 2.0])] {
        var power = Signal.spectrum(side)
        let top = power.max() ?? 1
        for ratio in ratios {
          let bin = Int(ratio * f * Double(n) / 48_000)
          let found = Signal.peak(power, near: bin, within: 20) * 48_000 / Double(n)
          #expect(abs(1_200 * log2(found / (ratio * f))) < 1, "partial \(ratio) of \(f)")
          for k in max(0, bin - 12)...bin + 12 { power[k] = 0 }
        }
        #expect(10 * log10((power.max() ?? 0) / top) < -60)
      }
    }
  }
}

@Suite("The envelope extractor and matcher")
struct EnvelopeTests {
  private func follow(_ x: [Float], _ p: EnvelopeExtractor.Parameters) -> [Float] {
    let node = UnsafeMutablePointer<EnvelopeExtractor>.allocate(capacity: 1)
    node.initialize(to: EnvelopeExtractor(sampleRate: 48_000))
    defer {
      node.deinitialize(count: 1)
      node.deallocate()
    }
    node.pointee.set(p)
    return x.map { node.pointee.next(Stereo($0, $0)) }
  }

  private func match(
    _ x: [Float], after y: [Float], _ p: EnvelopeMatcher.Parameters, block: () -> Int = { 480 }
  ) -> [Float] {
    let node = UnsafeMutablePointer<EnvelopeMatcher>.allocate(capacity: 1)
    node.initialize(to: EnvelopeMatcher(sampleRate: 48_000))
    defer {
      node.deinitialize(count: 1)
      node.deallocate()
    }
    node.pointee.set(p)
    node.pointee.reset()
    var (frames, model) = (Signal.frames(x, x), Signal.frames(y, y))
    frames.withUnsafeMutableBufferPointer { frames in
      model.withUnsafeMutableBufferPointer { model in
        var done = 0
        while done < x.count {
          let end = done + min(max(1, block()), x.count - done)
          node.pointee.render(
            StereoBlock(rebasing: frames[done..<end]), after: StereoBlock(rebasing: model[done..<end]))
          done = end
        }
      }
    }
    return frames.map(\.x)
  }

  /// A 1 kHz tone, whose level alternates between two values every quarter of a second.
  private var steps: [Float] {
    Signal.sine(1_000, 96_000, amplitude: 1).enumerated().map { $1 * (($0 / 12_000) % 2 == 0 ? 0.1 : 0.5) }
  }

  @Test("the extractor follows a known change of level within 0.5 dB after one window")
  func amplitude() {
    for detector in EnvelopeExtractor.Detector.allCases {
      for window: Float in [5, 20, 50, 200] {
        let e = follow(steps, .init(window: window, detector: detector))
        for step in 0..<8 {
          let want = (step % 2 == 0 ? 0.1 : 0.5) * (detector == .peak ? 1 : 0.5.squareRoot())
          for frame in stride(from: step * 12_000 + Int(window * 48) + 2, to: (step + 1) * 12_000, by: 97) {
            #expect(
              abs(Signal.decibels(Double(e[frame]) / want)) < 0.5, "\(detector), \(window) ms, frame \(frame)")
          }
        }
      }
    }
  }

  @Test("the parameter match gives the sound the other sound's envelope at 100, and changes no bit at 0")
  func matching() {
    let carrier = Signal.sine(123.47, 192_000, amplitude: 0.1)
    let model = Signal.sine(660, 192_000, amplitude: 1).enumerated().map {
      $1 * Float(0.11 + 0.1 * sin(2 * .pi * 1.3 * Double($0) / 48_000))
    }
    #expect(match(carrier, after: model, .init(match: 0)) == carrier)
    let out = match(carrier, after: model, .init(window: 25, match: 100))
    let a = follow(out, .init(window: 25))
    let b = follow(model, .init(window: 25))
    #expect(correlation(a.suffix(180_000), b.suffix(180_000)) > 0.98)
    #expect(correlation(follow(carrier, .init(window: 25)).suffix(180_000), b.suffix(180_000)) < 0.5)
  }

  @Test("the matcher gives the same samples for any block size and any window")
  func blocks() {
    let carrier = Signal.noise(30_000)
    let model = Signal.noise(30_000, seed: 2)
    for window: Float in [1, 1.3, 7, 50, 333] {
      let p = EnvelopeMatcher.Parameters(window: window, detector: .peak, match: 60, gain: -3)
      let golden = match(carrier, after: model, p)
      for size in [1, 63, 64, 65, 8_192] {
        #expect(match(carrier, after: model, p) { size } == golden, "window \(window), block \(size)")
      }
    }
  }

  private func correlation(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>) -> Double {
    let n = Double(a.count)
    let ma = a.reduce(0) { $0 + Double($1) } / n
    let mb = b.reduce(0) { $0 + Double($1) } / n
    var (ab, aa, bb) = (0.0, 0.0, 0.0)
    for (x, y) in zip(a, b) {
      ab += (Double(x) - ma) * (Double(y) - mb)
      aa += (Double(x) - ma) * (Double(x) - ma)
      bb += (Double(y) - mb) * (Double(y) - mb)
    }
    return ab / max((aa * bb).squareRoot(), 1e-30)
  }
}

@Suite("The reverb")
struct ReverbTests {
  @Test(
    "the reverb has no pitch at any sample rate: no two of its delay lines share a period",
    arguments: [44_100, 48_000, 96_000, 192_000])
  func periods(rate: Int) {
    let bench = Bench<Reverb>(Double(rate))
    bench.set(.church)
    let alike = Signal.autocorrelation(bench.render(Signal.impulse(rate * 3 / 2)).0, lags: rate / 50..<rate / 10)
    #expect(
      (alike.max() ?? 1) < 0.2, "\(alike.max() ?? 1) at \(rate / 50 + (alike.firstIndex(of: alike.max() ?? 1) ?? 0))")
  }

  private func response(_ p: Reverb.Parameters, seconds: Double = 8) -> ([Float], [Float]) {
    let bench = Bench<Reverb>()
    bench.set(p)
    let n = Int(seconds * 48_000)
    return bench.render(Signal.impulse(n), Signal.silence(n))
  }

  /// The energy from each millisecond to the end, in dB relative to the whole energy.
  private func decayCurve(_ x: [Float]) -> [Double] {
    var sum = 0.0
    var curve: [Double] = []
    for (k, s) in x.enumerated().reversed() {
      sum += Double(s) * Double(s)
      if k % 48 == 0 { curve.append(sum) }
    }
    curve.reverse()
    let whole = curve.first ?? 1
    return curve.map { 10 * log10(max($0 / whole, 1e-30)) }
  }

  @Test(
    "the reverb's level in dB falls linearly within 1 dB over 40 dB, with the requested T60",
    arguments: [2.8, 3.6, 4.0])
  func straight(t60: Float) {
    // `treble: 1` means that all bands decay at the same rate.
    let (l, _) = response(.init(decay: t60, treble: 1))
    let curve = decayCurve(l)
    let from = curve.firstIndex { $0 < -5 } ?? 0
    let to = curve.firstIndex { $0 < -45 } ?? 0
    let slope = (curve[to] - curve[from]) / Double(to - from)
    for k in from...to {
      let line = curve[from] + slope * Double(k - from)
      #expect(abs(curve[k] - line) < 1, "at \(k) ms: \(curve[k] - line) dB off")
    }
    let measured = -60 / slope / 1_000
    #expect(abs(measured / Double(t60) - 1) < 0.05, "T60 \(measured) s")
  }

  @Test("the reverb colours no band: third octaves stand out by less than 6 dB")
  func colour() {
    let (l, r) = response(.church)
    for x in [l, r] {
      let power = Signal.spectrum(Array(x[..<(1 << 18)]), windowed: false)
      var bands: [Double] = []
      var f = 100.0
      while f < 4_000 {
        let lo = Int(f / 1.122 * Double(1 << 18) / 48_000)
        let hi = Int(f * 1.122 * Double(1 << 18) / 48_000)
        bands.append(10 * log10(power[lo..<hi].reduce(0, +) / Double(hi - lo)))
        f *= 1.26
      }
      // The treble falls by design, so each band is compared with the mean of the bands within an octave.
      for b in bands.indices {
        let near = bands[max(0, b - 3)...min(bands.count - 1, b + 3)]
        #expect(bands[b] - near.reduce(0, +) / Double(near.count) < 6)
      }
    }
  }

  @Test("the reverb is wide and keeps its energy in mono: side is 0 to 20 dB below middle")
  func mono() {
    let bench = Bench<Reverb>()
    let x = Signal.noise(96_000)
    let (l, r) = bench.render(x, x)
    let side = Signal.rms(zip(l, r).map { $0 - $1 }[...])
    let middle = Signal.rms(zip(l, r).map { $0 + $1 }[...])
    let db = Signal.decibels(side / middle)
    #expect(db < 0 && db > -20, "side over middle \(db) dB")
  }
}

@Suite("The limiter and the dither")
struct OutputTests {
  @Test("the limiter holds peaks at its ceiling, changes nothing below it, and begins and ends without a click")
  func limiter() {
    let bench = Bench<Limiter>()
    let soft = Signal.noise(9_600, amplitude: 0.7)
    #expect(bench.render(soft).0 == soft)
    #expect(bench.node.pointee.framesLimited == 0)
    for (amplitude, f) in [(1.0, 440.0), (1.5, 62), (3, 440), (3, 1_480)] {
      bench.node.pointee.reset()
      // The soft tone becomes loud within 4 ms, like a struck string, and decays.
      let x = Signal.sine(f, 96_000, amplitude: 1).enumerated().map { i, s in
        let rise = min(max(Double(i - 24_000) / 192, 0), 1)
        let fall = exp(-max(Double(i - 30_000), 0) / 12_000)
        return s * Float(0.3 + (amplitude - 0.3) * rise * rise * (3 - 2 * rise) * fall)
      }
      let (l, _) = bench.render(x)
      #expect(l.allSatisfy { abs($0) <= 0.862 }, "never more than 1.7 dB over the ceiling")
      #expect(l[24_960..<30_000].allSatisfy { abs($0) <= 0.725 }, "at the ceiling after 16 ms")
      #expect(Array(l[..<24_000]) == Array(x[..<24_000]), "untouched before")
      for frame in stride(from: 23_000, to: 90_000, by: 500) {
        #expect(Signal.click(l, at: frame) < 6, "\(amplitude) at \(f) Hz, frame \(frame)")
      }
      #expect(bench.node.pointee.framesLimited > 1_000)
    }
  }

  @Test("dither is triangular, without bias, and leaves no distortion above its own noise")
  func dither() {
    var dither = Dither()
    let n = 1 << 16
    // Without dither a tone of 0.4 quantisation steps would vanish.
    let x = Signal.sine(750, n, amplitude: 0.4 / 32_767)
    var y = [Int16](repeating: 0, count: n)
    dither.convert(x, to: &y, count: n)
    let z = y.map { Float($0) / 32_767 }
    let a = Signal.probe(z[...], 750).amplitude * 32_767
    #expect(abs(a - 0.4) < 0.03, "the tone came out at \(a) steps")
    let third = Signal.probe(z[...], 2_250).amplitude * 32_767
    #expect(third < 0.03, "third harmonic at \(third) steps")
    let noise = zip(z, x).map { ($0 - $1) * 32_767 }
    // The dither is triangular (±1 step, variance 1/6) and rounding adds 1/12: the sum 1/4 is a root mean square of 0.5.
    #expect(abs(Signal.rms(noise[...]) - 0.5) < 0.02)
    #expect(abs(noise.reduce(0, +) / Float(n)) < 0.02)
    var one = [Int16](repeating: 0, count: 4)
    dither.convert([2, -2, .nan, .infinity], to: &one, count: 4)
    #expect(one[0] == 32_767 && one[1] == -32_767 && abs(one[2]) <= 1 && one[3] == 32_767)
  }
}
