import ScoreModel
import Testing

@testable import Synth

@Suite("Evened loudness")
struct LevelerTests {
  private func render(_ events: [ScoreEvent], even: Bool, frames: Int, block: @escaping () -> Int = { 1_024 })
    -> [Float]
  {
    let engine = Engine(patch: .standard)
    engine.setEven(even)
    return Scores.render(events, frames: frames, engine: engine, block: block)
  }

  @Test("evened loudness gives the same samples, bit for bit, for every block size")
  func blockSizes() {
    let score = Scores.everything(seconds: 6)
    let golden = render(score, even: true, frames: 6 * 48_000)
    for size in [1, 63, 8_192] {
      #expect(render(score, even: true, frames: 6 * 48_000) { size } == golden, "block size \(size)")
    }
  }

  @Test(
    "evened loudness leaves a quarter of the level difference between soft and loud chords, and keeps silence silent")
  func range() {
    func chords(_ velocity: UInt8) -> [ScoreEvent] {
      (0..<16).flatMap { k in
        [71, 74, 78].map { Scores.note($0, at: Int64(k) * 12_000, velocity: velocity, hold: 12_000) }
      }
    }
    func level(_ velocity: UInt8, even: Bool) -> Double {
      let out = render(chords(velocity), even: even, frames: 4 * 48_000)
      return Signal.decibels(Signal.rms(out[(2 * 2 * 48_000)...]))
    }
    let played = level(60, even: false) - level(20, even: false)
    let evened = level(60, even: true) - level(20, even: true)
    #expect(played > 8 && abs(evened - played / 4) < 1, "\(played) dB played, \(evened) dB evened")
    #expect(render([], even: true, frames: 48_000).allSatisfy { $0 == 0 })
  }

  @Test("evened loudness is switched without a click")
  func switching() {
    let engine = Engine(patch: .standard)
    var isOn = false
    let note = Scores.note(71, at: 0, velocity: 50, hold: 4 * 48_000)
    let out = Scores.render([note], frames: 4 * 48_000, engine: engine) {
      if engine.framesBegun.rawValue >= 96_000, !isOn {
        isOn = true
        engine.setEven(true)
      }
      return 480
    }
    #expect(isOn && Signal.click(out, at: 96_480, channels: 2) < 6)
  }
}
