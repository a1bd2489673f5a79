import Glibc
import TestSupport
import Testing

@testable import Synth

@Suite("The tone generator")
struct ToneGeneratorTests {
  private func tone(_ p: ToneGenerator.Parameters) -> Bench<ToneGenerator> {
    let bench = Bench<ToneGenerator>()
    bench.set(p)
    return bench
  }

  @Test("the tone generator sounds every MIDI pitch within 0.1 cent, at every tuning of A4")
  func pitch() {
    for a4 in [415.0, 440, 466] {
      // The other tunings only multiply the frequency, so the quick test takes every seventh note of them.
      for midi in stride(from: 0, through: 127, by: runsAll || a4 == 440 ? 1 : 7) {
        let bench = tone(.init(level: 0, fadeIn: 1, fadeOut: 1, a4: Float(a4)))
        bench.node.pointee.start(midi: Double(midi))
        let (x, _) = bench.render(Signal.silence(120_000))
        let f = a4 * pow(2, Double(midi - 69) / 12)
        // The tone's phase in two close segments gives the number of whole turns, in two distant segments the precise frequency.
        let near = Signal.cents(x, from: f, first: 2_400..<50_400, second: 2_600..<50_600)
        let cents = Signal.cents(x, from: f, first: 2_400..<50_400, second: 62_400..<110_400)
        #expect(abs(near) < 1 && abs(cents) < 0.1, "MIDI \(midi) at A4 \(a4): \(cents) cents")
      }
    }
  }

  @Test("the tone generator is pure: everything except the sine is more than 90 dB below it")
  func purity() {
    for midi in [24, 47, 69, 83, 100, 120] {
      let bench = tone(.init(level: 0, fadeIn: 1, fadeOut: 1))
      bench.node.pointee.start(midi: Double(midi))
      let (x, _) = bench.render(Signal.silence(70_000))
      let residual = Signal.residual(x[2_000..<67_000], 440 * pow(2, Double(midi - 69) / 12))
      #expect(residual < -90, "MIDI \(midi): \(residual) dB")
    }
  }

  @Test("the tone generator fades with equal power, within 0.1 dB of the sine of a quarter turn")
  func fades() {
    let bench = tone(.init(level: 0, fadeIn: 100, fadeOut: 200))
    bench.node.pointee.start(midi: 100)
    let (rise, _) = bench.render(Signal.silence(9_600))
    let turn = 440 * pow(2, 31.0 / 12) / 48_000
    for i in 200..<4_800 {
      let carrier = sin(2 * .pi * turn * Double(i))
      guard abs(carrier) > 0.7 else { continue }
      let want = sin(.pi / 2 * Double(i + 1) / 4_800)
      #expect(abs(Signal.decibels(Double(rise[i]) / carrier / want)) < 0.1, "frame \(i)")
    }
    bench.node.pointee.stop()
    let (fall, _) = bench.render(Signal.silence(9_700))
    for i in 0..<9_000 {
      let carrier = sin(2 * .pi * turn * Double(i + 9_600))
      guard abs(carrier) > 0.7 else { continue }
      let want = sin(.pi / 2 * (1 - Double(i + 1) / 9_600))
      #expect(abs(Signal.decibels(Double(fall[i]) / carrier / want)) < 0.1, "frame \(i)")
    }
    #expect(bench.node.pointee.state == .idle)
    #expect(fall.suffix(90).allSatisfy { $0 == 0 })
  }

  @Test("the tone generator ends in silence without a click, for any length of tone")
  func shortTones() {
    for length in [1, 2, 5, 17, 64, 65, 200, 700, 2_000, 2_880, 2_881, 5_000, 12_000] {
      let bench = tone(.init())
      let before = bench.render(Signal.silence(4_000)).0
      bench.node.pointee.start(midi: 83)
      let during = bench.render(Signal.silence(length)).0
      bench.node.pointee.stop()
      let after = bench.render(Signal.silence(16_000)).0
      let x = before + during + after
      #expect(Signal.click(x, at: 4_000) < 6, "start, \(length) frames")
      #expect(Signal.click(x, at: 4_000 + length) < 6, "stop, \(length) frames")
      #expect(after.suffix(4_000).allSatisfy { $0 == 0 })
      #expect(bench.node.pointee.state == .idle)
    }
  }

  @Test("the tone generator changes pitch through silence, not through a jump")
  func retune() {
    let bench = tone(.init())
    bench.node.pointee.start(midi: 74)
    var x = bench.render(Signal.silence(10_000)).0
    bench.node.pointee.start(midi: 81)
    x += bench.render(Signal.silence(30_000)).0
    for frame in stride(from: 10_000, to: 30_000, by: 400) {
      #expect(Signal.click(x, at: frame) < 6)
    }
    #expect(abs(Signal.cents(x, from: 880, first: 25_000..<30_000, second: 30_000..<35_000)) < 1)
  }
}
