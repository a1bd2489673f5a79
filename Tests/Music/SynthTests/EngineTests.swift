import ScoreModel
import TestSupport
import Testing

@testable import Synth

@Suite("The engine")
struct EngineTests {
  @Test("the engine gives the same samples, bit for bit, for every block size")
  func blockSizes() {
    let score = Scores.everything(seconds: 14)
    let frames = 14 * 48_000
    let golden = Scores.render(score, frames: frames) { 1_024 }
    #expect(golden.contains { abs($0) > 0.01 })
    #expect(golden.allSatisfy { $0.isFinite && (abs($0) > 1e-30 || $0 == 0) })
    for size in runsAll ? [1, 2, 3, 63, 64, 65, 127, 480, 8_192] : [1, 63, 65, 8_192] {
      let other = Scores.render(score, frames: frames) { size }
      #expect(other == golden, "block size \(size)")
    }
    for seed in 1...amount("BLOCK_SEEDS", quick: 1, all: 3) {
      var random = Seeded(UInt64(seed))
      let other = Scores.render(score, frames: frames) { 1 + random.next(3_000) }
      #expect(other == golden, "random blocks, seed \(seed)")
    }
  }

  @Test("the engine sounds a note on exactly its scheduled frame")
  func onset() {
    for frame in [0, 1, 63, 64, 1_000, 12_345] {
      let out = Scores.render([Scores.note(83, at: Int64(frame))], frames: 14_000) { 480 }
      // The first sample of a rise from zero is 0, so sound begins with the next one.
      let first = out.firstIndex { $0 != 0 }.map { $0 / 2 }
      #expect(first == frame || first == frame + 1, "scheduled for \(frame), heard at \(String(describing: first))")
    }
  }

  @Test("the engine shifts a late batch as a whole and reports by how much")
  func lateness() {
    let engine = Engine()
    var buffer = [Float](repeating: 0, count: 2_048)
    engine.render(into: &buffer, frames: 1_000)
    #expect(engine.framesBegun.rawValue == 1_000)
    engine.post([Scores.note(83, at: 900, 7), Scores.note(81, at: 1_500, 7)])
    engine.render(into: &buffer, frames: 24)
    #expect(engine.takeLate() == [LateBatch(generation: 7, frame: Tick(rawValue: 1_000), lateness: 100)])
    let rest = Scores.render([], frames: 1_000, engine: engine) { 64 }
    // The second note is late by the same 100 frames as the first: it sounds at frame 1,600.
    #expect(engine.counters.voices == 2)
    #expect(rest.count == 2_000)
    engine.post([Scores.note(79, at: 2_024, 8)])
    engine.render(into: &buffer, frames: 10)
    #expect(engine.takeLate().isEmpty)
    #expect(engine.counters.voices == 3)
  }

  @Test("the engine shifts a late batch as a whole even if only half of it fits at first")
  func halves() {
    let ring = Ring(32_768, filler: Posted())
    let late = Ring(16, filler: LateBatch(generation: 0, frame: .zero, lateness: 0))
    var scheduler = Scheduler()
    let full = Scheduler.capacity - 2
    ring.post(full) { Posted(event: Scores.note(60, at: Int64(5_000 + $0), 1), begins: $0 == 0) }
    ring.post(4) { Posted(event: Scores.note(70 + $0, at: 900, 2), begins: $0 == 0) }
    scheduler.drain(ring, now: 1_000, late: late)
    // The scheduler has room for two of the four notes. Popping these makes room for the other two.
    #expect((0..<2).map { _ in scheduler.pop(due: 1_000)?.pitch.midi } == [70, 71])
    scheduler.drain(ring, now: 1_400, late: late)
    let rest = (0..<2).compactMap { _ in scheduler.pop(due: 1_400) }
    #expect(rest.map(\.pitch.midi) == [72, 73] && rest.allSatisfy { $0.frame.rawValue == 1_000 })
    #expect(late.pending().count == 1)
  }

  @Test("the engine drops older events from a cut's frame on, except drone and preview")
  func cuts() {
    let engine = Engine()
    engine.post([
      Scores.note(83, at: 100, 1), Scores.note(81, at: 5_000, 1), Scores.note(79, at: 9_000, 1),
      Scores.event(.knock, at: 9_500, 1), Scores.event(.bell, at: 9_600, 1), Scores.note(60, at: 4_999, 1),
      Scores.note(62, at: 7_000, 3),
    ])
    engine.post([Scores.event(.cut, at: 5_000, 2), Scores.note(78, at: 6_000, 2)])
    _ = Scores.render([], frames: 12_000, engine: engine) { 256 }
    // 83 and 60 come before the cut, 78 belongs to the cut's own bar, and 62 to a later bar.
    #expect(engine.counters.voices == 4)
  }

  @Test("the engine tunes new notes and the strings while the pedal holds earlier notes")
  func tuning() {
    /// The amplitudes of the last note at B3 for A4 = 440 Hz (`old`) and 466 Hz (`new`), from half a second after the note begins.
    func levels(_ tunings: [Double], strings: Bool) -> (old: Double, new: Double) {
      var patch = Patch()
      if strings {
        patch.strings = [.string(frequency: 246.94, t60: 5)]
        patch.levels.stringSend = 0
      }
      let engine = Engine(patch: patch)
      // Retunes every half second while the pedal is down, and then strikes the note that is measured.
      engine.post([Scores.event(.pedal, at: 0)] + (0..<5).map { Scores.note(59, at: Int64($0) * 24_000, hold: 2_000) })
      for a4 in tunings {
        _ = Scores.render([], frames: 24_000, engine: engine) { 480 }
        engine.setTuning(a4: a4)
      }
      _ = Scores.render([], frames: 96_000, engine: engine) { 480 }
      engine.post([Scores.note(59, at: engine.framesBegun.rawValue, 3, velocity: 60, hold: 90_000)])
      let out = Scores.render([], frames: 96_000, engine: engine) { 480 }
      let left = stride(from: 48_000, to: out.count, by: 2).map { out[$0] }
      func level(_ f: Double) -> Double { Signal.probe(left[...], f).amplitude }
      return (level(246.94), level(246.94 * 466 / 440))
    }
    let bare = levels([441, 466], strings: false)
    #expect(bare.new > 3 * bare.old, "the piano: \(bare)")
    let strung = levels([441, 466], strings: true)
    #expect(strung.new > 3 * strung.old, "the strings: \(strung)")
  }

  @Test("a tuning made in more than a hundred steps equals one made at once, from its last step on")
  func tuningInPieces() {
    let score = [Scores.note(69, at: 960, hold: 9_600)]
    let engines = [Engine(), Engine(), Engine()]
    engines[0].setTuning(a4: 432)
    engines[1].beginTuning(a4: 432)
    var pieces = 1
    while engines[1].continueTuning() { pieces += 1 }
    engines[2].beginTuning(a4: 432)
    engines[2].continueTuning()
    let sounds = engines.map { Scores.render(score, frames: 24_000, engine: $0) { 128 } }
    #expect(pieces > 100 && sounds[0] == sounds[1])
    #expect(sounds[2] == Scores.render(score, frames: 24_000) { 128 }, "a tuning under way is heard")
  }

  @Test("the engine applies a second change of the effects at once, not after the first has faded")
  func reload() {
    let engine = Engine()
    var mute = Patch.standard
    mute.levels.master = -60
    mute.levels.reverbSend = -90
    engine.load(mute)
    _ = Scores.render([], frames: 9_600, engine: engine) { 480 }
    engine.load(.standard)
    _ = Scores.render([], frames: 24_000, engine: engine) { 480 }
    engine.post([Scores.note(83, at: engine.framesBegun.rawValue, 5)])
    let out = Scores.render([], frames: 24_000, engine: engine) { 480 }
    #expect(out.contains { abs($0) > 0.01 })
  }

  @Test("the engine releases every key of the grand on its own channel, even if the other voice strikes the same pitch")
  func grandKeys() {
    final class Keys {
      var down: [Int32: Int] = [:]
    }
    let keys = Keys()
    let instrument = Instrument(
      context: Unmanaged.passUnretained(keys).toOpaque(),
      strike: { keys, pitch, velocity, pan, _ in
        let (keys, key) = (Unmanaged<Keys>.fromOpaque(keys).takeUnretainedValue(), pan < 0 ? -pitch : pitch)
        keys.down[key] = velocity == 0 ? 0 : keys.down[key, default: 0] + 1
      },
      pedal: { _, _ in }, render: { _, _, _, _ in }, tune: { _, _ in })
    let engine = Engine()
    engine.attach(instrument)
    engine.setPiano(.grand)
    engine.post([
      Scores.note(71, at: 4_800, pan: 20, hold: 48_000), Scores.note(71, at: 24_000, pan: -20, hold: 48_000),
    ])
    _ = Scores.render([], frames: 40_000, engine: engine) { 480 }
    #expect(keys.down == [71: 1, -71: 1])
    _ = Scores.render([], frames: 60_000, engine: engine) { 480 }
    #expect(keys.down == [71: 0, -71: 0])
  }
}
