// Measures the synthesizer's cost, and renders sounds for analysis with other tools.
import CRealtimeProbe
import Glibc
import ScoreIO
import SampledPiano
import ScoreModel
import Synth

let standard = Patch(try RuleLibrary.load().rules)

func note(_ midi: Int, _ at: Int64, _ velocity: UInt8, hold: Int32 = 480_000, pan: Int8 = 0) -> ScoreEvent {
  ScoreEvent(
    frame: Tick(rawValue: at), generation: 1, kind: .note, voice: .m, pitch: Pitch(midi), velocity: velocity, pan: pan,
    duration: hold)
}

/// As raw 32-bit floats, interleaved stereo.
func write(_ samples: [Float], to path: String) {
  guard let file = fopen(path, "wb") else {
    perror("synth-bench: \(path)")
    exit(1)
  }
  _ = samples.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
  fclose(file)
}

func seconds(_ body: () -> Void) -> Double {
  var a = timespec()
  var b = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a)
  body()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b)
  return Double(b.tv_sec - a.tv_sec) + Double(b.tv_nsec - a.tv_nsec) / 1e9
}

/// Notes that keep `voices` voices sounding for ten seconds, struck again every two seconds.
func full(voices: Int) -> [ScoreEvent] {
  var events: [ScoreEvent] = []
  let pitches = [35, 47, 62, 66, 71, 74, 76, 78, 79, 81, 83, 85, 86, 88, 90]
  for second in stride(from: 0, to: 10, by: 2) {
    for v in 0..<voices {
      let pitch = pitches[v % pitches.count] - 12 * (v / pitches.count % 2)
      events.append(note(max(pitch, 24) + (v / 30), Int64(second * 48_000 + v * 480), 50))
    }
  }
  return events
}

/// Every kind of event within ten seconds, with more notes than the piano has voices.
func everything() -> [ScoreEvent] {
  var events = full(voices: 40)
  for (i, kind) in ScoreEvent.Kind.allCases.enumerated() where kind != .note {
    for round in 0..<4 {
      events.append(
        ScoreEvent(
          frame: Tick(rawValue: Int64(20_000 + i * 9_001 + round * 100_000)), generation: UInt32(i + 2), kind: kind,
          pitch: Pitch(71), velocity: 60, amount: UInt8(round * 42), duration: 4_800))
    }
  }
  return events.sorted { $0.frame < $1.frame }
}

/// A loop whose cost depends on the processor alone, for comparison: 480,000 frames of 64 rotating partials in plain Swift.
@inline(never)
func baseline(_ seed: Float) -> Float {
  var re = SIMD8<Float>(repeating: 1 + seed)
  var im = SIMD8<Float>(repeating: 0)
  var sum = SIMD8<Float>.zero
  for group in 0..<8 {
    let c = SIMD8<Float>(repeating: 0.999 - Float(group) * 0.001)
    let s = SIMD8<Float>(repeating: 0.01)
    for _ in 0..<480_000 {
      let r = re * c - im * s
      im = re * s + im * c
      re = r
      sum += im
    }
  }
  return sum.sum()
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "cost":
  print("voices  share of a core  times the baseline (512 partial-seconds)")
  for voices in [0, 1, 8, 16, 32] {
    var ratios: [Double] = []
    var shares: [Double] = []
    for round in 0..<5 {
      var offline = OfflineRenderer(full(voices: voices), engine: Engine(patch: standard))
      var buffer = [Float](repeating: 0, count: 2 * 4_800)
      let t = seconds { for _ in 0..<100 { offline.fill(&buffer, frames: 4_800) } }
      var sum: Float = 0
      let b = seconds { sum = baseline(Float(voices * 8 + round) * 1e-9) }
      precondition(sum.isFinite)
      shares.append(t / 10)
      ratios.append(t / b)
    }
    print(voices, shares.sorted()[2], ratios.sorted()[2])
  }
case "block":
  // The median and the worst processor time of a block in ms, and the duration of a block, which is the budget.
  for size in [256, 512, 1_024] {
    let engine = Engine(patch: standard)
    engine.post(full(voices: 32))
    var buffer = [Float](repeating: 0, count: 2 * size)
    var times: [Double] = []
    for _ in 0..<(480_000 / size) { times.append(seconds { engine.render(into: &buffer, frames: size) }) }
    times.sort()
    let ms = { (x: Double) in (x * 1e6).rounded() / 1e3 }
    print(size, "median", ms(times[times.count / 2]), "worst", ms(times.last ?? 0), "budget", ms(Double(size) / 48_000))
  }
case "notes":
  // Renders the notes B1, B2 … B6 at velocities 30, 50 and 80, nine seconds each, without effects; the pedal is down from the start.
  var patch = standard
  patch.levels.reverbSend = -90
  patch.levels.stringSend = -90
  patch.levels.master = 0
  var out: [Float] = []
  for midi in [35, 47, 59, 71, 83, 95] {
    for velocity: UInt8 in [30, 50, 80] {
      var offline = OfflineRenderer([note(midi, 0, velocity)], engine: Engine(patch: patch))
      out += offline.render(frames: 9 * 48_000)
    }
  }
  write(out, to: arguments.dropFirst().first ?? "notes.f32")
case "stems":
  // Prints the levels of reverb and of sympathetic strings in dB, relative to the dry sound.
  func take(_ change: (inout Patch) -> Void) -> [Float] {
    var patch = standard
    change(&patch)
    var events = [note(35, 0, 45), note(47, 0, 45)]
    for (i, m) in [83, 81, 79, 78, 76, 78, 74, 71].enumerated() {
      events += [note(m, Int64(i) * 50_400 + 48_000, 44), note(m - 5, Int64(i) * 50_400 + 48_000, 40)]
    }
    var offline = OfflineRenderer(events, engine: Engine(patch: patch))
    return offline.render(frames: 480_000)
  }
  let dry = take {
    $0.levels.reverbSend = -90
    $0.levels.stringSend = -90
  }
  let room = take { $0.levels.stringSend = -90 }
  let strings = take { $0.levels.reverbSend = -90 }
  func power(_ x: [Float]) -> Double { x.reduce(0) { $0 + Double($1) * Double($1) } }
  func difference(_ x: [Float]) -> Double { zip(x, dry).reduce(0) { $0 + Double($1.0 - $1.1) * Double($1.0 - $1.1) } }
  print(
    "dry", 10 * log10(power(dry) / 960_000), "dB RMS; room", 10 * log10(difference(room) / power(dry)),
    "strings", 10 * log10(difference(strings) / power(dry)))
case "torture":
  // Renders every kind of event under RealtimeSanitizer. `violate` also allocates memory, to show that the sanitizer reports it.
  let violate = arguments.dropFirst().first == "violate"
  guard realtime_probe_is_live() != 0 else {
    print("torture: not built with RealtimeSanitizer; see scripts/sanitize-audio")
    exit(3)
  }
  let grand = SampledPiano.isAvailable ? try SampledPiano() : nil
  for piano in Engine.Piano.allCases where piano == .modal || grand != nil {
    let engine = Engine(patch: standard)
    if let grand { engine.attach(grand.instrument) }
    engine.setPiano(piano)
    engine.post(everything())
    var buffer = [Float](repeating: 0, count: 2 * 480)
    for block in 0..<1_000 {
      if block == 300 { engine.load(standard) }
      if block == 400 { engine.setTuning(a4: 432) }
      buffer.withUnsafeMutableBufferPointer { samples in
        guard let base = samples.baseAddress else { return }
        realtime_probe_enter()
        if block == 500 { engine.pass(frames: 48_000) }
        engine.render(into: base, frames: 480)
        if violate && block == 10 { realtime_probe_violate() }
        realtime_probe_exit()
      }
    }
    print("torture: \(piano.rawValue) piano, 10 s, no violation")
  }
  withExtendedLifetime(grand) {}
case "scale":
  // Renders every note from B1 to F♯7 at velocity 45, two seconds each, without effects.
  var patch = standard
  patch.levels.reverbSend = -90
  patch.levels.stringSend = -90
  patch.levels.master = 0
  var out: [Float] = []
  for midi in 35...102 {
    var offline = OfflineRenderer([note(midi, 0, 45)], engine: Engine(patch: patch))
    out += offline.render(frames: 2 * 48_000)
  }
  write(out, to: arguments.dropFirst().first ?? "scale.f32")
default:
  print("usage: synth-bench cost | block | stems | notes OUT.f32 | scale OUT.f32 | torture [violate]")
}
