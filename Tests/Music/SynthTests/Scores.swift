import Foundation
import GameScore
import ScoreIO
import ScoreModel
import TestSupport
import Tintinnabuli

@testable import Synth

let assets = repository.appending(path: "Assets").path

func shipped(_ name: String) -> ScoreRules { (try? RuleLibrary.load("\(assets)/\(name).yaml"))!.rules }

extension Patch {
  /// The strings sound the triad, and the chains 1…4 are *glint*, *echo*, *melt* and *shimmer*.
  static let standard = Patch(shipped("score"))
}

extension Engine {
  convenience init() { self.init(patch: .standard) }
}

/// Scores in the style of the music, without the composer.
enum Scores {
  static let b1 = 35
  static let b2 = 47

  static func note(
    _ midi: Int, at frame: Int64, _ generation: UInt32 = 1, velocity: UInt8 = 45, pan: Int8 = 0, hold: Int32 = 48_000,
    chain: UInt8 = 0
  ) -> ScoreEvent {
    ScoreEvent(
      frame: Tick(rawValue: frame), generation: generation, kind: .note, voice: .m, pitch: Pitch(midi),
      velocity: velocity, pan: pan, chain: chain, duration: hold)
  }

  static func event(
    _ kind: ScoreEvent.Kind, at frame: Int64, _ generation: UInt32 = 1, pitch: Int = 47, amount: UInt8 = 127,
    velocity: UInt8? = nil, duration: Int32 = 2_400
  ) -> ScoreEvent {
    ScoreEvent(
      frame: Tick(rawValue: frame), generation: generation, kind: kind, voice: .ui, pitch: Pitch(pitch),
      velocity: velocity ?? (kind == .drone ? 0 : 60), amount: amount, duration: duration)
  }

  /// Every kind of score event, in bars of pairs over a low B.
  static func everything(seconds: Int = 20, seed: UInt64 = 1) -> [ScoreEvent] {
    var random = Seeded(seed)
    var events: [ScoreEvent] = [
      event(.pedal, at: 0), note(b1, at: 0, hold: 480_000), note(b2, at: 137, hold: 480_000),
      event(.drone, at: 1_000, duration: 96_000),
    ]
    let m = [74, 76, 78, 79, 81, 83, 85, 86, 88, 90]
    let t = [71, 74, 78, 83]
    var at: Int64 = 48_000
    while at < Int64(seconds) * 48_000 - 50_400 {
      let pan: Int8 = random.next(2) == 0 ? 20 : -20
      let velocity = UInt8(30 + random.next(28))
      let chain = UInt8(random.next(8) == 0 ? 1 + random.next(4) : 0)
      events.append(note(m[random.next(m.count)], at: at, velocity: velocity, pan: pan, chain: chain))
      events.append(note(t[random.next(t.count)], at: at + Int64(random.next(2) * 2_880), velocity: velocity, pan: pan))
      switch random.next(8) {
      case 0: events.append(event(.bell, at: at + 31, pitch: 83))
      case 1: events.append(event(.knock, at: at + 7_777))
      case 2: events.append(event(.preview, at: at + 10_001, pitch: 81))
      case 3: events.append(event(.preview, at: at + 20_001, amount: 0))
      case 4:
        events.append(event(.pedal, at: at + 11, amount: 0, duration: 14_400))
        events.append(event(.pedal, at: at + 20_000, amount: 127, duration: 4_800))
      case 5: events.append(event(.drone, at: at + 9, amount: UInt8(random.next(128)), duration: 24_000))
      default: break
      }
      at += 50_400
    }
    return events
  }

  /// Soft pairs a second apart, each voice in its own octave and on its own side, and an occasional low B.
  static func music(seconds: Int, seed: UInt64 = 1) -> [ScoreEvent] {
    var random = Seeded(seed)
    var events: [ScoreEvent] = [event(.pedal, at: 0, duration: 0)]
    let scale = [74, 76, 78, 79, 81, 83, 85, 86, 88, 90]
    var step = 5
    var at: Int64 = 4_800
    var pairs = 0
    while at < Int64(seconds) * 48_000 {
      if pairs % 16 == 0 { events += [b1, b2].map { note($0, at: at, velocity: 36, hold: 576_000) } }
      let low = pairs / 5 % 2 == 0 ? 0 : 12
      step = min(max(step + random.next(5) - 2, 0), scale.count - 1)
      let m = scale[step] - low
      let t = [83, 78, 74, 71, 66, 62, 59, 54].first { $0 < m } ?? 54
      let pan: Int8 = low == 0 ? 20 : -20
      events.append(note(m, at: at, velocity: UInt8(42 + random.next(9)), pan: pan, hold: 50_400))
      events.append(
        note(t, at: at - (low == 0 ? 0 : 2_880), velocity: UInt8(36 + random.next(9)), pan: pan, hold: 50_400))
      pairs += 1
      at += pairs % 5 == 0 ? 201_600 : 50_400
    }
    return events
  }

  static func render(_ events: [ScoreEvent], frames: Int, engine: Engine = Engine(), block: () -> Int) -> [Float] {
    // The queue holds 8,192 events, more than a test score has.
    engine.post(events.sorted { $0.frame < $1.frame })
    var out = [Float](repeating: 0, count: frames * 2)
    var done = 0
    out.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      while done < frames {
        let n = min(max(1, block()), frames - done)
        engine.render(into: base + 2 * done, frames: n)
        done += n
      }
    }
    return out
  }
}

struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
  mutating func next(_ n: Int) -> Int { Int(next() >> 33) % n }
}
