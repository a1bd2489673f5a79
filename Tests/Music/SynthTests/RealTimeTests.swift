import CMallocProbe
import SampledPiano
import ScoreModel
import TestSupport
import Testing

@testable import Synth

@Suite("Memory on the audio thread")
struct RealTimeTests {
  @Test("the malloc counter works: it counts C's malloc and a Swift array")
  func probe() {
    malloc_probe_arm()
    malloc_probe_touch(100)
    #expect(malloc_probe_disarm() == 2)
    malloc_probe_arm()
    let array = [Int](repeating: Int.random(in: 0...9), count: 1_000)
    let calls = malloc_probe_disarm()
    #expect(calls >= 1 && array.count == 1_000)
  }

  private func calls(_ engine: Engine, frames: Int, block: Int) -> Int {
    var buffer = [Float](repeating: 0, count: 2 * block)
    var calls = 0
    buffer.withUnsafeMutableBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      var done = 0
      while done < frames {
        malloc_probe_arm()
        engine.render(into: base, frames: block)
        calls += malloc_probe_disarm()
        done += block
      }
    }
    return calls
  }

  @Test("the engine allocates no memory when it plays, steals voices, loads, tunes or mutes")
  func engine() {
    let engine = Engine()
    engine.post(Scores.everything(seconds: 12))
    // In a debug build the first render allocates memory once, to look up types by name.
    _ = calls(engine, frames: 480, block: 480)
    #expect(calls(engine, frames: 5 * 48_000, block: 480) == 0)
    var patch = Patch.standard
    patch.levels.reverbSend = -12
    engine.load(patch)
    engine.setTuning(a4: 432)
    engine.setMuted(true)
    #expect(calls(engine, frames: 48_000, block: 1_024) == 0)
    engine.setMuted(false)
    #expect(calls(engine, frames: 48_000, block: 64) == 0)
    let now = engine.framesBegun.rawValue
    engine.post((0..<80).map { Scores.note(40 + $0 % 45, at: now + Int64($0) * 50, 9) })
    engine.post([Scores.event(.cut, at: now + 1_000, 10)])
    engine.setTuning(a4: 442)
    #expect(calls(engine, frames: 96_000, block: 127) == 0)
    engine.load(.standard)
    #expect(calls(engine, frames: 15 * 48_000, block: 1_024) == 0)
  }

  @Test("conversion to 16 bits allocates no memory")
  func conversion() {
    var dither = Dither()
    let source = [Float](repeating: 0.1, count: 960)
    var target = [Int16](repeating: 0, count: 960)
    var calls = -1
    source.withUnsafeBufferPointer { from in
      target.withUnsafeMutableBufferPointer { to in
        guard let from = from.baseAddress, let to = to.baseAddress else { return }
        malloc_probe_arm()
        dither.convert(from, to: to, count: 960)
        calls = malloc_probe_disarm()
      }
    }
    #expect(calls == 0)
    #expect(target.contains { $0 != target[0] })
  }

  @Test("the sampled grand allocates no memory", .needsGrand)
  func grand() throws {
    let piano = try SampledPiano()
    let engine = Engine()
    engine.attach(piano.instrument)
    engine.setPiano(.grand)
    engine.setTuning(a4: 430)
    engine.post(Scores.everything(seconds: 12))
    #expect(calls(engine, frames: 12 * 48_000, block: 480) == 0)
    let now = engine.framesBegun.rawValue
    engine.post((0..<120).map { Scores.note(30 + $0 % 60, at: now + Int64($0) * 50, 9) })
    engine.setTuning(a4: 442)
    #expect(calls(engine, frames: 2 * 48_000, block: 1_024) == 0)
    withExtendedLifetime(piano) {}
  }

  @Test("the grand gives the same samples for every block size", .long, .needsGrand)
  func grandBlocks() throws {
    var golden: [Float] = []
    for size in [1_024, 1, 63, 64, 65, 480, 8_192] {
      let piano = try SampledPiano()
      let engine = Engine()
      engine.attach(piano.instrument)
      engine.setPiano(.grand)
      let out = Scores.render(Scores.everything(seconds: 5), frames: 5 * 48_000, engine: engine) { size }
      if golden.isEmpty {
        golden = out
        #expect(out.contains { abs($0) > 0.01 })
      }
      #expect(out == golden, "block size \(size)")
      withExtendedLifetime(piano) {}
    }
  }
}
