import Glibc
import SampledPiano
import ScoreModel
import TestSupport
import Testing

@testable import Synth

@Suite("The modal piano")
struct PianoTests {
  private static let bees = [35, 47, 59, 71, 83, 95]

  private static var dry: Patch {
    var patch = Patch.standard
    patch.levels.reverbSend = -90
    patch.levels.master = 0
    patch.levels.piano = 0
    patch.levels.grand = 0
    patch.levels.stringSend = -90
    return patch
  }

  /// The key is held for `seconds` seconds. The result begins at the first sample that is louder than 40 dB below the note's peak.
  private static func note(_ midi: Int, _ velocity: UInt8, on grand: SampledPiano?, seconds: Int = 7) -> [Float] {
    let engine = Engine(patch: dry)
    if let grand {
      engine.attach(grand.instrument)
      engine.setPiano(.grand)
    }
    let score = [Scores.note(midi, at: 100, velocity: velocity, hold: Int32(seconds) * 48_000)]
    let out = Scores.render(score, frames: seconds * 48_000, engine: engine) { 1_024 }
    let peak = out.reduce(Float(0)) { max($0, abs($1)) }
    let start = (out.firstIndex { abs($0) > 0.01 * peak } ?? 0) / 2 * 2
    return Array(out[start...])
  }

  @Test(
    "the modal piano is within 4 dB of the grand from B1 to B4, 6 dB at B5 and B6 (mel distance)",
    .long, .needsGrand)
  func closeness() throws {
    let grand = try SampledPiano()
    for midi in Self.bees {
      for velocity: UInt8 in [30, 50, 80] {
        let oracle = Mel.spectrogram(Self.note(midi, velocity, on: grand))
        grand.silence()
        let model = Mel.spectrogram(Self.note(midi, velocity, on: nil))
        let d = Mel.distance(model, oracle)
        #expect(d < (midi <= 71 ? 4 : 6), "B\(midi / 12 - 1) at velocity \(velocity): \(d) dB")
        // The measure must tell notes apart: the modal piano a fifth higher must be more than 1 dB farther from the grand.
        if velocity == 50, midi < 90 {
          #expect(Mel.distance(Mel.spectrogram(Self.note(midi + 7, velocity, on: nil)), oracle) > d + 1)
        }
      }
    }
  }

  @Test("the modal piano is brighter at higher velocities: B3's centroid rises like the grand's", .needsGrand)
  func brightness() throws {
    let grand = try SampledPiano()
    var last = 0.0
    for velocity: UInt8 in [30, 50, 80] {
      let model = Mel.centroid(Self.note(59, velocity, on: nil))
      let oracle = Mel.centroid(Self.note(59, velocity, on: grand))
      grand.silence()
      #expect(model > last * 1.15, "velocity \(velocity)")
      #expect(abs(model / oracle - 1) < 0.2, "velocity \(velocity): \(model) Hz, the grand \(oracle) Hz")
      last = model
    }
  }

  @Test("the modal piano is even: neighbouring semitones differ little in level and decay", .long)
  func evenness() {
    for velocity: UInt8 in [30, 45, 58] {
      var last: (level: Double, decay: Double)?
      for midi in 50...95 {
        let x = Self.note(midi, velocity, on: nil, seconds: 2)
        func level(_ from: Double, _ to: Double) -> Double {
          Signal.decibels(Signal.rms(x[2 * Int(from * 48_000)..<2 * Int(to * 48_000)]))
        }
        let now = (level: level(0, 0.2), decay: (level(0.1, 0.2) - level(0.9, 1)) / 0.8)
        #expect(now.decay < 36, "MIDI \(midi) at velocity \(velocity) falls by \(now.decay) dB/s")
        if let last {
          #expect(
            abs(now.level - last.level) < 2.5,
            "MIDI \(midi) at velocity \(velocity): \(now.level) after \(last.level) dB"
          )
          #expect(
            abs(now.decay - last.decay) < 8,
            "MIDI \(midi) at velocity \(velocity): \(now.decay) after \(last.decay) dB/s")
        }
        last = now
      }
    }
  }

  @Test("the modal piano is wide and keeps its energy in mono: side is 25 dB below middle to 3 dB above it")
  func width() {
    for midi in Self.bees {
      let x = Self.note(midi, 50, on: nil)
      var (side, middle) = (0.0, 0.0)
      for i in stride(from: 0, to: x.count, by: 2) {
        side += Double((x[i] - x[i + 1]) * (x[i] - x[i + 1]))
        middle += Double((x[i] + x[i + 1]) * (x[i] + x[i + 1]))
      }
      let db = 10 * log10(side / middle)
      #expect(db < 3 && db > -25, "B\(midi / 12 - 1): side over middle \(db) dB")
    }
  }

  @Test("the modal piano rings with the pedal down, stops within 150 ms with it up, and not at all above F♯6")
  func pedal() {
    func level(_ midi: Int, pedal: UInt8) -> (Double, Double) {
      let engine = Engine(patch: Self.dry)
      let score = [
        Scores.event(.pedal, at: 0, amount: pedal, duration: 0), Scores.note(midi, at: 4_800, hold: 24_000),
      ]
      let out = Scores.render(score, frames: 60_000, engine: engine) { 480 }
      // Levels just before the release of the key at frame 28,800, and 150 ms after the release.
      return (Signal.rms(out[2 * 26_400..<2 * 28_700]), Signal.rms(out[2 * 36_000..<2 * 38_400]))
    }
    for midi in [60, 71, 83, 90] {
      let up = level(midi, pedal: 0)
      let down = level(midi, pedal: 127)
      let half = level(midi, pedal: 64)
      #expect(Signal.decibels(up.1 / up.0) < -40, "MIDI \(midi), pedal up: \(Signal.decibels(up.1 / up.0)) dB")
      #expect(Signal.decibels(down.1 / down.0) > -12, "MIDI \(midi), pedal down")
      #expect(half.1 < down.1 && half.1 > up.1, "MIDI \(midi), half a pedal")
    }
    #expect(Signal.decibels(level(93, pedal: 0).1 / level(93, pedal: 127).1) > -0.1)
  }

  @Test("the modal piano is tuned: every note's first partial lies within 20 cents of its pitch, and follows A4")
  func tuning() {
    for a4 in [440.0, 420] {
      for midi in 30...100 {
        let note = PianoModel(a4: a4).note(midi: midi)
        let want = a4 * pow(2, Double(midi - 69) / 12)
        let nearest = note.modes.filter { $0.decay < 120 }.map { abs(1_200 * log2($0.frequency / want)) }.min() ?? 999
        #expect(nearest < 20, "MIDI \(midi): \(nearest) cents")
      }
    }
  }

  @Test("the sampled grand is tuned to A4 as well", .needsGrand)
  func grandTuning() throws {
    let grand = try SampledPiano()
    let engine = Engine(patch: Self.dry)
    engine.attach(grand.instrument)
    engine.setPiano(.grand)
    engine.setTuning(a4: 420)
    let out = Scores.render([Scores.note(69, at: 0)], frames: 96_000, engine: engine) { 1_024 }
    let left = stride(from: 0, to: out.count, by: 2).map { out[$0] }
    let cents = Signal.cents(left, from: 420, first: 9_600..<33_600, second: 14_400..<38_400)
    #expect(abs(cents) < 8, "\(cents) cents from 420 Hz")
    withExtendedLifetime(grand) {}
  }

  @Test("both pianos are equally loud, within 1 LU", .long, .needsGrand)
  func balance() throws {
    let grand = try SampledPiano()
    let score = Scores.music(seconds: 60)
    let engines = [Engine(), Engine()]
    engines[1].attach(grand.instrument)
    engines[1].setPiano(.grand)
    let loudness = engines.map { Loudness.integrated(Scores.render(score, frames: 60 * 48_000, engine: $0) { 1_024 }) }
    #expect(abs(loudness[0] - loudness[1]) < 1, "modal \(loudness[0]) LUFS, grand \(loudness[1]) LUFS")
    withExtendedLifetime(grand) {}
  }
}

extension Trait where Self == ConditionTrait {
  static var needsGrand: Self { .enabled(if: SampledPiano.isAvailable, "the grand's sound font is not installed") }
}
