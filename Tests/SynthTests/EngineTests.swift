import ScoreModel
import Testing

@testable import Synth

@Suite("The engine")
struct EngineTests {
  @Test("gives the same samples, bit for bit, for every block size")
  func blockSizes() {
    let score = Scores.everything(seconds: 14)
    let frames = 14 * 48_000
    let golden = Scores.render(score, frames: frames) { 1_024 }
    #expect(golden.contains { abs($0) > 0.01 })
    #expect(golden.allSatisfy { $0.isFinite && (abs($0) > 1e-30 || $0 == 0) })
    for size in [1, 2, 3, 63, 64, 65, 127, 480, 8_192] {
      let other = Scores.render(score, frames: frames) { size }
      #expect(other == golden, "block size \(size)")
    }
    for seed in 1...3 {
      var random = Seeded(UInt64(seed))
      let other = Scores.render(score, frames: frames) { 1 + random.next(3_000) }
      #expect(other == golden, "random blocks, seed \(seed)")
    }
  }

  @Test("sounds a note on the very frame it is scheduled for")
  func onset() {
    for frame in [0, 1, 63, 64, 1_000, 12_345] {
      let out = Scores.render([Scores.note(83, at: Int64(frame))], frames: 14_000) { 480 }
      // The first sample of a rise from zero is 0 itself: sound begins with the next.
      let first = out.firstIndex { $0 != 0 }.map { $0 / 2 }
      #expect(first == frame || first == frame + 1, "scheduled for \(frame), heard at \(String(describing: first))")
    }
  }

  @Test("moves a late batch as a whole and reports by how much")
  func lateness() {
    let engine = Engine()
    var buffer = [Float](repeating: 0, count: 2_048)
    engine.render(into: &buffer, frames: 1_000)
    #expect(engine.framesBegun.rawValue == 1_000)
    engine.post([Scores.note(83, at: 900, 7), Scores.note(81, at: 1_500, 7)])
    engine.render(into: &buffer, frames: 24)
    #expect(engine.takeReports() == [Engine.Report(generation: 7, frame: Tick(rawValue: 1_000), lateness: 100)])
    let rest = Scores.render([], frames: 1_000, engine: engine) { 64 }
    // The second note moved too: to 1,600.
    #expect(engine.counters.voices == 2)
    #expect(rest.count == 2_000)
    engine.post([Scores.note(79, at: 2_024, 8)])
    engine.render(into: &buffer, frames: 10)
    #expect(engine.takeReports().isEmpty)
    #expect(engine.counters.voices == 3)
  }

  @Test("drops what a cut forbids: older events from its frame on, but for drone and preview")
  func cuts() {
    let engine = Engine()
    engine.post([
      Scores.note(83, at: 100, 1), Scores.note(81, at: 5_000, 1), Scores.note(79, at: 9_000, 1),
      Scores.event(.knock, at: 9_500, 1), Scores.event(.bell, at: 9_600, 1), Scores.note(60, at: 4_999, 1),
      Scores.note(62, at: 7_000, 3),
    ])
    engine.post([Scores.event(.cut, at: 5_000, 2), Scores.note(78, at: 6_000, 2)])
    _ = Scores.render([], frames: 12_000, engine: engine) { 256 }
    // 83 and 60 came before the cut, 78 is the cut's own generation, 62 a later one's.
    #expect(engine.counters.voices == 4)
  }

  @Test("freezes score time while hidden and goes on where it was")
  func hidden() {
    let engine = Engine()
    engine.post(Scores.everything(seconds: 8))
    _ = Scores.render([], frames: 96_000, engine: engine) { 480 }
    engine.setHidden(true)
    let fading = Scores.render([], frames: 30_000, engine: engine) { 480 }
    let frozen = engine.framesBegun.rawValue
    #expect(frozen >= 96_000 + 14_400 && frozen <= 96_000 + 14_400 + 64)
    #expect(fading.suffix(2 * 15_000).allSatisfy { $0 == 0 })
    _ = Scores.render([], frames: 48_000, engine: engine) { 1_024 }
    #expect(engine.framesBegun.rawValue == frozen)
    #expect(engine.framesAsked.rawValue == 96_000 + 30_000 + 48_000)
    engine.setHidden(false)
    let back = Scores.render([], frames: 24_000, engine: engine) { 1_024 }
    #expect(engine.framesBegun.rawValue == frozen + 24_000)
    #expect(back.contains { abs($0) > 0.003 })
  }
}
