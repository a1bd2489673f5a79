/// The level of both channels together over a sliding window: peak or root mean square. Real-time safe: yes, except `init`.
public struct EnvelopeExtractor: ~Copyable {
  /// The kind of level that an extractor measures.
  public enum Detector: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    /// The loudest sample of the window.
    case peak
    /// The root mean square of the window, for slow envelopes.
    case average
  }

  /// The settings of an extractor.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// The window in milliseconds, 1…1,000.
    public var window: Float
    /// The kind of level: peak or root mean square.
    public var detector: Detector

    /// Makes settings, clamped to their ranges.
    public init(window: Float = 50, detector: Detector = .average) {
      self.window = min(max(window, 1), 1_000)
      self.detector = detector
    }
  }

  private let sampleRate: Double
  private let values: SampleBuffer<Float>
  /// The levels in the window that no later frame has reached, and in `queueAge` their frames. The first of these levels is the peak.
  private let queueValue: SampleBuffer<Float>
  private let queueAge: SampleBuffer<Int>
  private var queueHead = 0
  private var queueTail = 0
  private var now = 0
  private var sum = 0.0
  private var length: Int
  private var detector = Detector.average

  package init(sampleRate: Double) {
    self.sampleRate = sampleRate
    var size = 1
    while Double(size) < sampleRate + 1 { size *= 2 }
    values = SampleBuffer(size, repeating: 0)
    queueValue = SampleBuffer(size, repeating: 0)
    queueAge = SampleBuffer(size, repeating: 0)
    length = Int(0.05 * sampleRate)
  }

  /// Applies new settings; keeps the history, so that the level does not restart from silence.
  package mutating func set(_ parameters: Parameters) {
    let wanted = min(max(1, Int(Double(parameters.window) * 0.001 * sampleRate)), values.count - 1)
    guard wanted != length || parameters.detector != detector else { return }
    if parameters.detector != detector {
      queueHead = 0
      queueTail = 0
    }
    length = wanted
    detector = parameters.detector
    sum = 0
    for age in 1...length { sum += Double(values[(now - age) & (values.count - 1)]) }
  }

  package mutating func reset() {
    values.fill(0)
    queueHead = 0
    queueTail = 0
    now = 0
    sum = 0
  }

  /// Takes a frame and returns the level of the window that ends with this frame, as an amplitude.
  @inline(__always)
  package mutating func next(_ frame: Stereo) -> Float {
    let x = Arithmetic.heard(frame)
    let mask = values.count - 1
    let result: Float
    let square = (x * x).sum() * 0.5
    sum += Double(square) - Double(values[(now - length) & mask])
    values[now & mask] = square
    switch detector {
    case .average:
      // Double precision leaves almost no error in the sum of added and subtracted squares; a tiny negative sum counts as 0.
      if sum < 1e-14 { sum = max(sum, 0) }
      result = OpaqueCalls.squareRoot(Float(sum / Double(length)))
    case .peak:
      let level = x.peak
      while queueTail > queueHead, queueValue[(queueTail - 1) & mask] <= level { queueTail -= 1 }
      queueValue[queueTail & mask] = level
      queueAge[queueTail & mask] = now
      queueTail += 1
      while queueAge[queueHead & mask] <= now - length { queueHead += 1 }
      result = queueValue[queueHead & mask]
    }
    now += 1
    return result
  }
}

/// Imposes the envelope of one sound on another sound, whose own envelope is flattened.
public struct EnvelopeMatcher: ~Copyable {
  /// The settings of a matcher.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// The window in milliseconds, 1…1,000, and the kind of level (peak or root mean square).
    public var extractor: EnvelopeExtractor.Parameters
    /// The strength in per cent: 0 leaves the sound unchanged, bit for bit; 100 imposes the whole envelope.
    public var match: Float
    /// The gain after matching in dB, −60…24.
    public var gain: Float

    /// Makes settings, clamped to their ranges.
    public init(
      window: Float = 50, detector: EnvelopeExtractor.Detector = .average, match: Float = 100, gain: Float = 0
    ) {
      extractor = EnvelopeExtractor.Parameters(window: window, detector: detector)
      self.match = min(max(match, 0), 100)
      self.gain = min(max(gain, -60), 24)
    }

    /// *breath*: the drone follows the piano's level slowly.
    public static let breath = Parameters(window: 400, detector: .average, match: 45)
    /// *follow*: the sound gets the whole envelope of the other sound.
    public static let follow = Parameters(window: 50, detector: .average, match: 100)
  }

  private var source: EnvelopeExtractor
  private var own: EnvelopeExtractor
  private var place = GridPlace()
  /// The strength of the matching, 0…1, and the gain after it as a factor.
  private var levels: Ramp<SIMD2<Float>>

  package init(sampleRate: Double) {
    source = EnvelopeExtractor(sampleRate: sampleRate)
    own = EnvelopeExtractor(sampleRate: sampleRate)
    levels = Ramp(Self.levels(Parameters()))
  }

  private static func levels(_ p: Parameters) -> SIMD2<Float> {
    SIMD2(p.match / 100, Arithmetic.amplitude(decibels: p.gain))
  }

  /// Applies new settings. The windows keep their history; strength and gain reach their new values by ramps.
  package mutating func set(_ parameters: Parameters) {
    source.set(parameters.extractor)
    own.set(parameters.extractor)
    levels.aim(Self.levels(parameters), frames: 960)
  }

  package mutating func reset() {
    source.reset()
    own.reset()
    place = GridPlace()
    levels.jump(levels.target)
  }

  /// Gives `block` the envelope of `model`, in place; both have the same length.
  package mutating func render(_ block: StereoBlock, after model: StereoBlock) {
    var (rest, done) = (block, 0)
    while let (part, starts) = place.next(&rest) {
      if starts { levels.tick() }
      for i in part.indices {
        let other = source.next(model[done + i])
        let mine = own.next(part[i])
        let level = levels.next()
        if level.x == 0 && level.y == 1 { continue }
        // Raise a frame by at most 24 dB, a factor of 16, so as not to raise noise.
        let ratio = min(other / max(mine, 1e-5), 16)
        part[i] = Arithmetic.flushed(part[i] * (level.y * (1 + level.x * (ratio - 1))))
      }
      done += part.count
    }
  }
}
