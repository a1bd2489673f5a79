import Glibc
import ScoreModel
import TestSupport
import Testing

@testable import Synth

/// `Signal.click` must stay below +6 dB at every event and change. `SYNTH_HOURS=1` simulates hours of play instead of minutes.
@Suite("Nothing clicks")
struct ClickTests {
  private static let long = getenv("SYNTH_HOURS") != nil

  private func worst(_ x: [Float], _ moments: [Int]) -> (decibels: Double, frame: Int) {
    var result = (decibels: -200.0, frame: 0)
    for frame in moments where frame > 2_400 && frame < x.count / 2 - 2_400 {
      let db = Signal.click(x, at: frame, channels: 2)
      if db > result.decibels { result = (db, frame) }
    }
    return result
  }

  @Test("nothing clicks at any event, key release or fade of simulated play")
  func play() {
    for seed in 1...(Self.long ? 120 : amount("SYNTH_MINUTES", quick: 1, all: 4)) {
      let score = Scores.everything(seconds: 60, seed: UInt64(seed))
      let engine = Engine()
      let out = Scores.render(score, frames: 60 * 48_000, engine: engine) { 1_024 }
      let moments = score.flatMap { [Int($0.frame.rawValue), Int($0.frame.rawValue) + Int($0.duration)] }
      let found = worst(out, moments)
      #expect(found.decibels < 6, "seed \(seed): \(found.decibels) dB at frame \(found.frame)")
    }
  }

  @Test("nothing clicks when voices are stolen, forty at a time")
  func steals() {
    let engine = Engine()
    var score: [ScoreEvent] = []
    for i in 0..<200 { score.append(Scores.note(40 + (i * 7) % 50, at: 24_000 + Int64(i) * 700, velocity: 45)) }
    let out = Scores.render(score, frames: 220_000, engine: engine) { 480 }
    #expect(engine.counters.steals > 50)
    let found = worst(out, score.map { Int($0.frame.rawValue) })
    #expect(found.decibels < 6, "\(found.decibels) dB at frame \(found.frame)")
  }

  @Test("nothing clicks when muted, adjusted, or tuned and reloaded repeatedly")
  func changes() {
    let engine = Engine()
    engine.post(Scores.everything(seconds: 60, seed: 5))
    var out: [Float] = []
    var moments: [Int] = []
    func play(_ frames: Int) { out += Scores.render([], frames: frames, engine: engine) { 1_024 } }
    func change(_ body: () -> Void) {
      moments += [out.count / 2, out.count / 2 + 1_920]
      body()
      play(50_000)
    }
    play(200_000)
    change { engine.setMuted(true) }
    change { engine.setMuted(false) }
    // Unmutes after 500 frames (10 ms), before the fade to silence has ended.
    moments.append(out.count / 2)
    engine.setMuted(true)
    play(500)
    change { engine.setMuted(false) }
    change { engine.setVolume(decibels: -20) }
    change { engine.setVolume(decibels: 0) }
    change { engine.setDroneLevel(decibels: nil) }
    change { engine.setDroneLevel(decibels: 3) }
    change { engine.setPreviewLevel(decibels: nil) }
    var patch = Patch.standard
    patch.levels.reverbSend = -15
    patch.levels.piano = -3
    patch.reverb = .room
    patch.chains.reverse()
    change { engine.load(patch) }
    change { engine.setTuning(a4: 443) }
    change { engine.setTuning(a4: 437) }
    change { engine.load(.standard) }
    let found = worst(out, moments)
    #expect(found.decibels < 6, "\(found.decibels) dB at frame \(found.frame)")
  }

  @Test("nothing clicks when nine moves fall within two seconds, repeatedly")
  func hurry() {
    var random = Seeded(7)
    for round in 0..<(Self.long ? 1_000 : 12) {
      var score: [ScoreEvent] = [
        Scores.event(.pedal, at: 0), Scores.note(35, at: 3_000, velocity: 40), Scores.note(47, at: 3_000, velocity: 40),
      ]
      for move in 0..<9 {
        let at = Int64(3_000 + move * 10_667)
        let m = [74, 76, 78, 79, 81, 83, 85, 86, 88, 90][random.next(10)] - (move % 2 == 0 ? 0 : 12)
        let pan: Int8 = move % 2 == 0 ? 20 : -20
        // Calm moves are the worst case, because the composer makes hurried moves softer.
        score.append(Scores.note(m, at: at, velocity: 50, pan: pan))
        score.append(Scores.note(m - 5, at: at + Int64(move % 2) * 2_880, velocity: 44, pan: pan))
      }
      let engine = Engine()
      let out = Scores.render(score, frames: 3 * 48_000, engine: engine) { 1_024 }
      let peak = out.reduce(Float(0)) { max($0, abs($1)) }
      #expect(peak < 0.892, "round \(round): peak \(peak)")
      let found = worst(out, score.map { Int($0.frame.rawValue) })
      #expect(found.decibels < 6, "round \(round): \(found.decibels) dB at frame \(found.frame)")
    }
  }
}
