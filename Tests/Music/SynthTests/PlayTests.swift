import GameScore
import Glibc
import Oracle
import SampledPiano
import ScoreIO
import ScoreMeasures
import ScoreModel
import TestSupport
import Testing
import Tintinnabuli

@testable import Synth

/// No clicks, no clipping, and the safety limiter inactive. `SYNTH_HOURS=1` plays hours instead of minutes.
@Suite("Composed games over a long time")
struct PlayTests {
  private static let isLong = getenv("SYNTH_HOURS") != nil

  private struct Findings {
    var click = -200.0
    var at = 0.0
    var peak: Float = 0
    var seconds = 0.0
  }

  /// Changes a random control now and then, and measures clicks at each event and change.
  private func listen(games: Int, seed: UInt64, rules: String, grand: SampledPiano? = nil) -> (Findings, Engine) {
    let rules = shipped(rules)
    let play = SimulatedPlay(games: games, seed: seed, rules: rules)
    let engine = Engine(patch: Patch(rules))
    if let grand {
      engine.attach(grand.instrument)
      engine.setPiano(.grand)
    }
    var renderer = OfflineRenderer(play.events, engine: engine)
    var random = Seeded(seed)
    var findings = Findings()
    // The last tenth of a second of each minute is kept for clicks at the begin of the next minute.
    let kept = 9_600
    var samples: [Float] = []
    var begun = 0
    var moments = Set(play.events.flatMap { [$0.frame.rawValue, $0.frame.rawValue + Int64($0.duration)] }).sorted()[...]
    var changes: [Int] = []
    var isMuted = false
    while engine.framesBegun < play.end {
      let minute = 2 * 48_000 * 60
      var looked: [Int] = []
      while samples.count < minute {
        let change = random.next(1_500)
        let now = begun + samples.count / 2
        if change < 12 {
          switch change {
          case 0...3:
            isMuted = !isMuted
            engine.setMuted(isMuted)
          case 4: engine.setVolume(decibels: -Double(random.next(12)))
          case 5: engine.setVolume(decibels: 0)
          case 6, 7:
            var patch = Patch(rules)
            patch.levels.reverbSend -= Double(random.next(6))
            patch.levels.bell -= Double(random.next(6))
            engine.load(patch)
          case 8: engine.setTuning(a4: 436 + Double(random.next(9)))
          case 9: engine.setDroneLevel(decibels: random.next(3) == 0 ? nil : -Double(random.next(6)))
          case 10: engine.setPiano(random.next(2) == 0 || grand == nil ? .modal : .grand)
          default:
            isMuted = false
            engine.setMuted(false)
          }
          changes.append(now)
        }
        samples += renderer.render(frames: 1_024)
        while let moment = moments.first, moment < engine.framesBegun.rawValue {
          moments.removeFirst()
          looked.append(Int(moment))
        }
      }
      looked += changes + changes.map { $0 + 1_920 }
      changes = []
      for moment in looked {
        let at = moment - begun
        guard at > 2_500, at < samples.count / 2 - 2_500 else { continue }
        let click = Signal.click(samples, at: at, channels: 2)
        if click > findings.click { (findings.click, findings.at) = (click, Double(moment) / 48_000) }
      }
      findings.peak = max(findings.peak, samples.reduce(0) { max($0, abs($1)) })
      let done = samples.count / 2 - kept
      begun += done
      findings.seconds = Double(begun) / 48_000
      samples.removeFirst(2 * done)
    }
    return (findings, engine)
  }

  @Test(
    "play does not click at any event, mute, reload, tuning or change of piano",
    arguments: runsAll ? ["score", "morning", "night"] : ["score"])
  func clicks(rules: String) throws {
    let (found, engine) = listen(games: Self.isLong ? 16 : 1, seed: 11, rules: rules)
    print(
      "\(rules), modal: \(Int(found.seconds)) s, worst click \(found.click) dB at \(found.at) s, peak \(found.peak), limited \(engine.counters.limited)"
    )
    #expect(found.click < 6, "\(found.click) dB at \(found.at) s")
    #expect(found.peak < 0.708 && engine.counters.limited == 0, "peak \(found.peak)")
  }

  @Test("play does not click on the grand", .long, .needsGrand)
  func grandClicks() throws {
    let grand = try SampledPiano()
    let (found, engine) = listen(games: Self.isLong ? 12 : 2, seed: 12, rules: "score", grand: grand)
    print(
      "score, grand: \(Int(found.seconds)) s, worst click \(found.click) dB at \(found.at) s, peak \(found.peak), limited \(engine.counters.limited)"
    )
    #expect(found.click < 6, "\(found.click) dB at \(found.at) s")
    #expect(found.peak < 0.708 && engine.counters.limited == 0, "peak \(found.peak)")
    withExtendedLifetime(grand) {}
  }

  @Test("play never clips or clicks in games with moves in quick succession")
  func haste() {
    let rules = shipped("score")
    var random = Seeded(5)
    var (peak, worst, where_) = (Float(0), -200.0, "")
    for index in 0..<(Self.isLong ? 1_000 : amount("HASTY_GAMES", quick: 5, all: 20)) {
      var conductor = GameConductor(seed: UInt64(index), rules: rules)
      var events = conductor.handle(.opened(resuming: false), at: .zero)
      events += conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
      var now = Tick.seconds(0.3)
      var moments: [Int] = []
      for move in ReferenceGames.game(seed: 77, index: index).game.variantMoves {
        events += conductor.handle(.moved(move), at: now)
        moments.append(Int(now.rawValue))
        // Nine moves take about two seconds.
        now = now + .milliseconds(60 + random.next(330))
      }
      events += conductor.music.advance(to: now + .seconds(3))
      let game = Engine(patch: Patch(rules))
      var renderer = OfflineRenderer(events, engine: game)
      let out = renderer.render(frames: Int(now.rawValue) + 3 * 48_000)
      peak = max(peak, out.reduce(0) { max($0, abs($1)) })
      for moment in moments {
        let click = Signal.click(out, at: moment, channels: 2)
        if click > worst { (worst, where_) = (click, "game \(index), frame \(moment)") }
      }
    }
    print("haste: peak \(peak), worst click \(worst) dB in \(where_)")
    #expect(peak < 0.892)
    #expect(worst < 6, "\(worst) dB in \(where_)")
  }
}
