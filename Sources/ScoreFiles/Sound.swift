import CSndfile
import Composer
import Foundation
import ScoreModel
import Synth

/// A stereo sound in memory, for the effect tools.
public struct Sound: Sendable {
  /// Samples of the left channel, −1…1.
  public var left: [Float]
  /// Samples of the right channel.
  public var right: [Float]
  /// Frames a second.
  public var sampleRate: Int

  /// Frames a file may have: half an hour at 48 kHz.
  public static let limit = 48_000 * 1_800

  /// Makes a sound.
  public init(left: [Float], right: [Float], sampleRate: Int = 48_000) {
    (self.left, self.right, self.sampleRate) = (left, right, sampleRate)
  }

  /// Reads a sound file of any kind libsndfile knows; mono is taken to both sides, channels past two are dropped.
  public init(path: String) throws(ScoreFileError) {
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else {
      throw ScoreFileError("\(path): no sound file that can be read (\(String(cString: sf_strerror(nil))))")
    }
    defer { sf_close(file) }
    guard info.frames > 0, info.frames <= Self.limit, (1...8).contains(info.channels),
      (8_000...192_000).contains(info.samplerate)
    else { throw ScoreFileError("\(path): must have 1–8 channels, 8–192 kHz and at most half an hour") }
    let channels = Int(info.channels)
    var samples = [Float](repeating: 0, count: Int(info.frames) * channels)
    let read = Int(sf_readf_float(file, &samples, info.frames))
    left = (0..<read).map { samples[$0 * channels] }
    right = channels == 1 ? left : (0..<read).map { samples[$0 * channels + 1] }
    sampleRate = Int(info.samplerate)
  }

  /// Writes the sound as WAV or, if the name ends so, FLAC.
  public func write(to path: String) throws(ScoreFileError) {
    let file = try AudioFile(path: path, format: path.hasSuffix(".flac") ? .flac : .wav, sampleRate: sampleRate)
    var samples = [Float](repeating: 0, count: 2 * left.count)
    for index in left.indices {
      samples[2 * index] = left[index]
      samples[2 * index + 1] = right[index]
    }
    try samples.withUnsafeBufferPointer { buffer throws(ScoreFileError) in try file.write(buffer) }
  }

  /// Sends the sound through a chain; `seconds` of silence are added for what rings on.
  public mutating func pass(through chain: ScoreRules.Chain, ringing seconds: Double) {
    let dry = self
    let tail = [Float](repeating: 0, count: Int(seconds * Double(sampleRate)))
    left += tail
    right += tail
    for unit in chain.units { pass(through: Patch.Node(unit), after: dry) }
    let gain = Self.amplitude(chain.level)
    if gain != 1 { scale(gain) }
  }

  private mutating func pass(through node: Patch.Node, after dry: Sound) {
    let rate = Double(sampleRate)
    switch node {
    case .comb(let parameters, let melt):
      var comb = FeedbackComb(sampleRate: rate)
      comb.set(parameters)
      comb.reset()
      if melt > 0 {
        var melted = parameters
        melted.delay = melt
        comb.set(melted)
      }
      render { comb.render($0) }
    case .ringModulator(let parameters):
      pass(through: StereoRingModulator(sampleRate: rate), parameters)
    case .reverb(let parameters): pass(through: Reverb(sampleRate: rate), parameters)
    case .matcher(let parameters): match(to: dry, parameters)
    case .gain(let decibels): scale(Self.amplitude(Double(decibels)))
    }
  }

  private mutating func pass<N: AudioNode & ~Copyable>(through node: consuming N, _ parameters: N.Parameters) {
    node.set(parameters)
    node.reset()
    render { node.render($0) }
  }

  /// Gives the sound the envelope of another.
  public mutating func match(to other: Sound, _ parameters: EnvelopeMatcher.Parameters) {
    var matcher = EnvelopeMatcher(sampleRate: Double(sampleRate))
    matcher.set(parameters)
    matcher.reset()
    var model = other
    let missing = left.count - model.left.count
    if missing > 0 {
      model.left += [Float](repeating: 0, count: missing)
      model.right += [Float](repeating: 0, count: missing)
    }
    model.left.withUnsafeMutableBufferPointer { modelLeft in
      model.right.withUnsafeMutableBufferPointer { modelRight in
        guard let l = modelLeft.baseAddress, let r = modelRight.baseAddress else { return }
        render { matcher.render($0, after: StereoBlock(left: l, right: r, frames: $0.frames)) }
      }
    }
  }

  /// The level of each window's end, as an amplitude on both sides.
  public func envelope(_ parameters: EnvelopeExtractor.Parameters) -> Sound {
    var extractor = EnvelopeExtractor(sampleRate: Double(sampleRate))
    extractor.set(parameters)
    let levels = left.indices.map { extractor.next(left[$0], right[$0]) }
    return Sound(left: levels, right: levels, sampleRate: sampleRate)
  }

  /// A sine with its fades: `seconds` from its start to the beginning of its end.
  public static func tone(midi: Double, seconds: Double, _ parameters: ToneGenerator.Parameters) -> Sound {
    var generator = ToneGenerator(sampleRate: 48_000)
    generator.set(parameters)
    generator.reset()
    let held = Int(seconds * 48_000)
    let all = held + Int(Double(parameters.fadeOut) * 48) + 64
    var sound = Sound(left: [Float](repeating: 0, count: all), right: [Float](repeating: 0, count: all))
    generator.start(midi: midi)
    sound.render(0..<held) { generator.render($0) }
    generator.stop()
    sound.render(held..<all) { generator.render($0) }
    return sound
  }

  private mutating func scale(_ gain: Float) {
    for index in left.indices {
      left[index] *= gain
      right[index] *= gain
    }
  }

  private mutating func render(_ range: Range<Int>? = nil, _ body: (StereoBlock) -> Void) {
    let range = range ?? 0..<left.count
    left.withUnsafeMutableBufferPointer { left in
      right.withUnsafeMutableBufferPointer { right in
        guard let l = left.baseAddress, let r = right.baseAddress else { return }
        body(StereoBlock(left: l + range.lowerBound, right: r + range.lowerBound, frames: range.count))
      }
    }
  }

  private static func amplitude(_ decibels: Double) -> Float { decibels == 0 ? 1 : Float(pow(10, decibels / 20)) }
}
