import Foundation
import Testing

@testable import Synth

@Suite("The mix")
struct MixTests {
  private func left(_ x: [Float]) -> [Float] { stride(from: 0, to: x.count, by: 2).map { x[$0] } }
  private func right(_ x: [Float]) -> [Float] { stride(from: 1, to: x.count, by: 2).map { x[$0] } }

  /// In dBFS, on the louder side.
  private func level(_ x: [Float], _ f: Double, from second: Double) -> Double {
    let range = Int(second * 48_000)..<Int((second + 1) * 48_000)
    return [left(x), right(x)].map { Signal.decibels(Signal.probe($0[range], f).amplitude) }.max() ?? -200
  }

  @Test("a bell adds exactly hum, tierce, quint and nominal to the struck note")
  func bell() {
    let f = 440 * pow(2, 14.0 / 12)  // B5
    let note = Scores.note(83, at: 4_800, hold: 96_000)
    let plain = Scores.render([note], frames: 3 * 48_000) { 480 }
    let rung = Scores.render([note, Scores.event(.bell, at: 4_800, pitch: 83, velocity: 40)], frames: 3 * 48_000) {
      480
    }
    for ratio in [0.5, 1.2, 1.5, 2] {
      let gain = level(rung, ratio * f, from: 0.5)
      #expect(
        gain > -60 && gain > level(plain, ratio * f, from: 0.5) + (ratio == 2 ? 0.2 : 15),
        "partial \(ratio): \(gain) dBFS")
    }
    // The difference of the two renders is the bell alone, which has energy at its four partials only.
    let alone = zip(rung, plain).map { $0 - $1 }
    for ratio in [0.35, 0.8, 1.0, 1.35, 1.75, 2.5] {
      #expect(
        level(alone, ratio * f, from: 0.5) < level(alone, 0.5 * f, from: 0.5) - 40, "beside the partials, at \(ratio)")
    }
  }

  @Test("The bed's third tone is as far above its second as the event says, and a fifth if it says nothing")
  func thirdTone() {
    for (interval, heard) in [(0, 7), (4, 4), (12, 12)] {
      var bed = Scores.event(.drone, at: 0, pitch: 47, duration: 48_000)
      bed.velocity = UInt8(interval)
      let x = Scores.render([bed], frames: 5 * 48_000, engine: Engine(patch: .standard)) { 1_024 }
      let tones = [4, 7, 12].map { level(x, 246.942 * pow(2, Double($0) / 12), from: 3) }
      let loudest = zip([4, 7, 12], tones).max { $0.1 < $1.1 }?.0
      #expect(loudest == heard, "\(interval): \(tones)")
    }
  }

  @Test("the drone's bed is below −36 LUFS, sounds without the piano, and swells when the piano plays")
  func drone() {
    let patch = Patch.standard
    let bed = Scores.event(.drone, at: 0, pitch: 47, duration: 48_000)
    // High pairs, whose pitches are far from the bed's.
    let pair = (0..<4).flatMap { k in
      [88, 86].map { Scores.note($0, at: 240_000 + Int64(k) * 48_000, velocity: 45, hold: 48_000) }
    }
    let engine = Engine(patch: patch)
    let x = Scores.render([bed] + pair, frames: 11 * 48_000, engine: engine) { 1_024 }
    let rest = level(x, 123.471, from: 3.5)
    let swollen = level(x, 123.471, from: 6.5)
    #expect(rest > -60, "the bed rests at \(rest) dBFS")
    // A small loudspeaker plays the bed only by its second and third partials, between 150 and 500 Hz.
    let small = [246.942, 369.994].map { level(x, $0, from: 3.5) }
    #expect(small.allSatisfy { $0 > rest - 10 }, "the bed's partials are at \(small) dBFS")
    #expect(swollen > rest + 2, "from \(rest) to \(swollen) dBFS")
    let loudest = Scores.render([bed] + pair, frames: 11 * 48_000, engine: Engine(patch: patch)) { 1_024 }
    let without = Scores.render(pair, frames: 11 * 48_000, engine: Engine(patch: patch)) { 1_024 }
    let alone = zip(loudest, without).map { $0 - $1 }
    let loudness = Loudness.integrated(alone)
    #expect(loudness < -36, "the bed has \(loudness) LUFS")
  }

  @Test("the knock has the level the rules give it")
  func knock() {
    func peak(_ decibels: Double) -> Double {
      var patch = Patch.standard
      patch.levels.knock = decibels
      let out = Scores.render([Scores.event(.knock, at: 100)], frames: 24_000, engine: Engine(patch: patch)) { 480 }
      return Double(out.reduce(0) { max($0, abs($1)) })
    }
    #expect(abs(Signal.decibels(peak(-6) / peak(0)) + 6) < 0.1)
  }

  /// The golden file has 1,024 frames of every second.
  private static let windows = stride(from: 4_000, to: 580_000, by: 48_000).map { $0..<$0 + 1_024 }

  /// After a deliberate change of the sound: `UPDATE_GOLDENS=1 ./test SynthTests/MixTests`.
  @Test("the mix is the same on every machine, within 60 dB")
  func golden() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Goldens/mix.f32")
    let out = Scores.render(Scores.everything(seconds: 13), frames: 13 * 48_000) { 1_024 }
    let kept = Self.windows.flatMap { Array(out[2 * $0.lowerBound..<2 * $0.upperBound]) }
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      try kept.withUnsafeBytes { try Data($0).write(to: file) }
      return
    }
    let bytes = try Data(contentsOf: file)
    let golden = bytes.withUnsafeBytes { raw in
      (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
    }
    #expect(golden.count == kept.count)
    let error = Signal.rms(zip(golden, kept).map { $0 - $1 }[...])
    let ratio = Signal.decibels(Signal.rms(golden[...]) / max(error, 1e-12))
    #expect(ratio >= 60, "\(ratio) dB")
  }
}
