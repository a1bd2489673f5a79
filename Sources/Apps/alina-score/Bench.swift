import ArgumentParser
import Foundation
import GameScore
import Oracle
import SampledPiano
import ScoreIO
import ScoreMeasures
import ScoreModel
import Synchronization
import Synth
import Tintinnabuli

struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Measure the processor time of composing, and of the whole mix with each piano compared with FluidSynth alone.",
    discussion: """
      Times are wall-clock milliseconds of one block, as a sound device would feel them; a block's budget is its own
      length. With --load every core is kept busy meanwhile.
      """)

  @Option(help: ArgumentHelp("Seconds of music, 5–600.", valueName: "n")) var seconds = 60
  @Option(help: ArgumentHelp("A rule file by name or path.", valueName: "rules")) var scoreRules: String?
  @Flag(help: "Keep every core busy while measuring.") var load = false

  func validate() throws {
    guard (5...600).contains(seconds) else { throw ValidationError("--seconds \(seconds): 5–600") }
  }

  func run() throws {
    let rules = try RuleLibrary.load(scoreRules).rules
    let play = SimulatedPlay(games: max(2, seconds / 20), seed: 1, rules: rules)
    let burners = load ? Burners(ProcessInfo.processInfo.activeProcessorCount) : nil
    defer { burners?.stop() }
    print("\(seconds) s of play, rules \(rules.name)\(load ? ", every core busy" : "")")
    print(Self.composing(rules))
    /// Returns a function that renders the next block at each call, with the modal piano if `grand` is `nil`.
    func mix(_ grand: Instrument? = nil) -> (UnsafeMutablePointer<Float>, Int) -> Void {
      let engine = Engine(patch: Patch(rules))
      if let grand {
        engine.attach(grand)
        engine.setPiano(.grand)
      }
      var renderer = OfflineRenderer(play.events, engine: engine)
      return { renderer.fill($0, frames: $1) }
    }
    print("what             block  core %  median ms  99 % ms  worst ms  budget ms  over budget")
    for frames in [256, 512, 1_024] {
      measure("modal, whole mix", frames) { mix() }
      guard SampledPiano.isAvailable else { continue }
      let grand = try SampledPiano()
      measure("grand, whole mix", frames) { mix(grand.instrument) }
      grand.silence()
      measure("FluidSynth alone", frames) { Self.alone(grand.instrument, play.events) }
      withExtendedLifetime(grand) {}
    }
  }

  private static func composing(_ rules: ScoreRules) -> String {
    var times: [Double] = []
    for record in ReferenceGames.games(100) {
      var conductor = GameConductor(seed: record.seed ?? 1, rules: rules)
      for move in record.game.variantMoves {
        let begun = clock(CLOCK_THREAD_CPUTIME_ID)
        _ = conductor.handle(.moved(move), at: .seconds(10 * Double(move.ply)))
        times.append(1_000 * (clock(CLOCK_THREAD_CPUTIME_ID) - begun))
      }
    }
    times.sort()
    let shown = [0.5, 0.99, 1].map { String(format: "%.2f", times[Int($0 * Double(times.count - 1))]) }
    return "composing a move's bar, \(times.count) of them: median \(shown[0]) ms, 99 % \(shown[1]), worst \(shown[2])"
  }

  /// Lets FluidSynth render the notes and the pedal of `events`. Only the time is measured, so the sound is dropped.
  private static func alone(_ piano: Instrument, _ events: [ScoreEvent]) -> (UnsafeMutablePointer<Float>, Int) -> Void {
    let kept = ScoreEvent.heard(events).filter { $0.kind == .note || $0.kind == .pedal }
    var actions: [(frame: Int64, isOff: Bool, event: ScoreEvent)] = kept.map { ($0.frame.rawValue, false, $0) }
    for note in kept where note.kind == .note {
      actions.append((note.frame.rawValue + Int64(note.duration), true, note))
    }
    actions.sort { $0.frame < $1.frame }
    var next = 0
    var frame: Int64 = 0
    var left = [Float](repeating: 0, count: 8 * 64)
    var right = left
    return { _, frames in
      let end = frame + Int64(frames)
      while frame < end {
        while next < actions.count, actions[next].frame <= frame {
          let (_, isOff, event) = actions[next]
          let pitch = Int32(event.pitch.midi)
          if event.kind == .pedal {
            piano.pedal(piano.context, Int32(event.amount))
          } else {
            piano.strike(piano.context, pitch, isOff ? 0 : Int32(event.velocity), Int32(event.pan), 0)
          }
          next += 1
        }
        left.withUnsafeMutableBufferPointer { l in
          right.withUnsafeMutableBufferPointer { r in
            guard let l = l.baseAddress, let r = r.baseAddress else { return }
            l.update(repeating: 0, count: 512)
            r.update(repeating: 0, count: 512)
            piano.render(piano.context, l, r, 64)
          }
        }
        frame += 64
      }
    }
  }

  private func measure(_ name: String, _ frames: Int, _ make: () -> (UnsafeMutablePointer<Float>, Int) -> Void) {
    let render = make()
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 2 * frames)
    defer { buffer.deallocate() }
    var times: [Double] = []
    let before = Self.clock(CLOCK_THREAD_CPUTIME_ID)
    for _ in 0..<(seconds * 48_000 / frames) {
      let begun = Self.clock(CLOCK_MONOTONIC)
      render(buffer, frames)
      times.append(1_000 * (Self.clock(CLOCK_MONOTONIC) - begun))
    }
    let spent = Self.clock(CLOCK_THREAD_CPUTIME_ID) - before
    times.sort()
    let budget = Double(frames) / 48
    let late = times.count { $0 > budget }
    let columns = [
      (100 * spent / Double(seconds), 6), (times[times.count / 2], 9), (times[times.count * 99 / 100], 7),
      (times.last ?? 0, 8), (budget, 9),
    ].map { String(format: "%\($1).2f", $0) }
    let start = name.padding(toLength: 16, withPad: " ", startingAt: 0)
    print("\(start) \(String(format: "%5d", frames))  \(columns.joined(separator: "  "))  \(late) of \(times.count)")
  }

  private static func clock(_ id: clockid_t) -> Double {
    var now = timespec()
    clock_gettime(id, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
  }
}

private final class Burners: Sendable {
  private let isOver = Atomic<Bool>(false)

  init(_ count: Int) {
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        var x: UInt64 = 1
        while !isOver.load(ordering: .relaxed) {
          for _ in 0..<100_000 { x = x &* 6_364_136_223_846_793_005 &+ 1 }
          // The condition is never true; without it the compiler would remove the loop.
          if x == 0 { print(x) }
        }
      }
    }
  }

  func stop() { isOver.store(true, ordering: .relaxed) }
}
