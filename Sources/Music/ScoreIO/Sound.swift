import CSndfile
import Foundation
import ScoreModel
import Synth
import Tintinnabuli

/// A stereo sound in memory for the effect tools.
package struct Sound: Sendable {
  /// The frames; samples are −1…1.
  package var frames: [Stereo]
  package var sampleRate: Int

  /// The most frames of a file: half an hour at 48 kHz.
  package static let limit = 48_000 * 1_800

  package init(_ frames: [Stereo], sampleRate: Int = 48_000) { (self.frames, self.sampleRate) = (frames, sampleRate) }

  /// Reads any sound file supported by libsndfile; mono becomes stereo, channels after two are dropped.
  package init(path: String) throws(ScoreFileError) {
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else {
      throw ScoreFileError("\(path): no sound file that can be read (\(String(cString: sf_strerror(nil))))")
    }
    defer { sf_close(file) }
    guard info.frames > 0, info.frames <= Self.limit, (1...8).contains(info.channels),
      (8_000...192_000).contains(info.samplerate)
    else { throw ScoreFileError("\(path): must have 1–8 channels, 8–192 kHz and at most \(Self.limit) frames") }
    let channels = Int(info.channels)
    var samples = [Float](repeating: 0, count: Int(info.frames) * channels)
    let read = Int(sf_readf_float(file, &samples, info.frames))
    frames = stride(from: 0, to: read * channels, by: channels).map {
      Stereo(samples[$0], samples[$0 + min(1, channels - 1)])
    }
    sampleRate = Int(info.samplerate)
  }

  /// Writes the sound atomically as WAV or FLAC, by the file extension.
  package func write(to path: String) throws {
    guard path.hasSuffix(".wav") || path.hasSuffix(".flac") else {
      throw ScoreFileError("\(path): must end in .wav or .flac")
    }
    try OutputFile.write(path) { part in
      let format: AudioFile.Format = path.hasSuffix(".flac") ? .flac : .wav
      let file = try AudioFile(path: part, format: format, frames: frames.count, sampleRate: sampleRate)
      try frames.withUnsafeBufferPointer { try file.write(UnsafeRawBufferPointer($0).bindMemory(to: Float.self)) }
      try file.finish()
    }
  }

  /// Sends the sound, followed by `seconds` of silence in which the effects decay, through a chain.
  package mutating func pass(through chain: ScoreRules.Chain, ringing seconds: Double) {
    let dry = self
    frames += Self.silence(Int(seconds * Double(sampleRate)))
    for unit in chain.units { pass(through: Patch.Node(unit), after: dry) }
    scale(chain.level)
  }

  private mutating func pass(through node: Patch.Node, after dry: Sound) {
    let rate = Double(sampleRate)
    switch node {
    case .comb(let written, let melt):
      var parameters = written.at(rate)
      var comb = FeedbackComb(sampleRate: rate)
      comb.set(parameters)
      comb.reset()
      if melt > 0 { parameters.delay = FeedbackComb.Parameters.delay(melt, at: rate) }
      comb.set(parameters)
      render { comb.render($0) }
    case .ringModulator(let parameters): pass(through: StereoRingModulator(sampleRate: rate), parameters)
    case .reverb(let parameters): pass(through: Reverb(sampleRate: rate), parameters)
    case .matcher(let parameters): match(to: dry, parameters)
    case .gain(let decibels): scale(Double(decibels))
    }
  }

  private mutating func pass<N: AudioNode & ~Copyable>(through node: consuming N, _ parameters: N.Parameters) {
    node.set(parameters)
    node.reset()
    render { node.render($0) }
  }

  /// Gives this sound the envelope (the loudness over time) of another sound.
  package mutating func match(to other: Sound, _ parameters: EnvelopeMatcher.Parameters) {
    var matcher = EnvelopeMatcher(sampleRate: Double(sampleRate))
    matcher.set(parameters)
    matcher.reset()
    var model = other.frames + Self.silence(max(frames.count - other.frames.count, 0))
    model.withUnsafeMutableBufferPointer { model in render { matcher.render($0, after: model) } }
  }

  /// A sound that shows this sound's level: at each frame both channels have the amplitude that an extractor measures there.
  package func envelope(_ parameters: EnvelopeExtractor.Parameters) -> Sound {
    var extractor = EnvelopeExtractor(sampleRate: Double(sampleRate))
    extractor.set(parameters)
    return Sound(frames.map { Stereo(repeating: extractor.next($0)) }, sampleRate: sampleRate)
  }

  /// A sine with a fade-in and a fade-out; the fade-out starts `seconds` after the start.
  package static func tone(midi: Double, seconds: Double, _ parameters: ToneGenerator.Parameters) -> Sound {
    var generator = ToneGenerator(sampleRate: 48_000)
    generator.set(parameters)
    generator.reset()
    let held = Int(seconds * 48_000)
    var sound = Sound(silence(held + Int(Double(parameters.fadeOut) * 48) + 64))
    generator.start(midi: midi)
    sound.render { generator.render(StereoBlock(rebasing: $0[..<held])) }
    generator.stop()
    sound.render { generator.render(StereoBlock(rebasing: $0[held...])) }
    return sound
  }

  private static func silence(_ frames: Int) -> [Stereo] { [Stereo](repeating: .zero, count: frames) }

  private mutating func scale(_ decibels: Double) {
    let gain = Float(pow(10, decibels / 20))
    for index in frames.indices { frames[index] *= gain }
  }

  private mutating func render(_ body: (StereoBlock) -> Void) { frames.withUnsafeMutableBufferPointer { body($0) } }
}
