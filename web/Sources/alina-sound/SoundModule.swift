import ScoreModel
import ScoreFormats
import Synth
import Tintinnabuli

/// The sound of the page: the native engine in a module of its own, which an AudioWorklet asks for blocks.
///
/// Whoever calls has one thread. Bytes come in through a buffer (`sound_buffer`); events and reports have the layout of
/// `ScoreEvent` and `LateBatch`, the same in the page's other module. Frames of the page count from its first sound,
/// the engine's from when the device began: `base` is what lies between them.
struct SoundModule {
  var engine: Engine
  var rules: ScoreRules
  var resampler: Resampler
  var base: Int64 = 0
  /// Left, then right, of the last block.
  var block: [Float] = []
}

nonisolated(unsafe) private var sound: SoundModule?
nonisolated(unsafe) private var buffer: [UInt8] = []
nonisolated(unsafe) private var pack: RulePack?

/// Room for so many bytes on their way in or out.
@_expose(wasm, "sound_buffer") @_cdecl("sound_buffer")
package func soundBuffer(_ count: Int32) -> UnsafeMutableRawPointer? {
  if buffer.count < count { buffer += [UInt8](repeating: 0, count: Int(count) - buffer.count) }
  return buffer.withUnsafeMutableBytes { $0.baseAddress }
}

/// Begins, as the first of the rule files sounds: the buffer holds their pack, the device plays at `rate`. 0 if it cannot.
@_expose(wasm, "sound_start") @_cdecl("sound_start")
package func soundStart(_ count: Int32, _ rate: Double) -> Int32 {
  pack = try? RulePack(Array(buffer.prefix(Int(count))))
  guard let rules = pack?.entries.first?.rules, rate >= 8_000, rate <= 192_000 else { return 0 }
  sound = SoundModule(engine: Engine(patch: Patch(rules)), rules: rules, resampler: Resampler(to: rate))
  return 1
}

/// Sounds from here on as rules say: the buffer holds their name and the letter and the alteration of their tonic, a line each.
@_expose(wasm, "sound_rules") @_cdecl("sound_rules")
package func soundRules(_ count: Int32) {
  let lines = String(decoding: buffer.prefix(Int(count)), as: UTF8.self).split(separator: "\n")
  guard lines.count == 3, let letter = Int(lines[1]), let alteration = Int(lines[2]),
    let entry = pack?.entries.first(where: { $0.rules.name == lines[0] })
  else { return }
  let rules = entry.rules.moved(to: Spelling(letter: letter, alteration: alteration, octave: 4))
  sound?.rules = rules
  sound?.engine.load(Patch(rules))
}

/// Says which frame of the page the engine's next one is: after a time in which nothing could be heard.
@_expose(wasm, "sound_resume") @_cdecl("sound_resume")
package func soundResume(_ pageFrame: Double) {
  if let engine = sound?.engine { sound?.base = Int64(pageFrame) - engine.framesBegun.rawValue }
}

/// Takes the events in the buffer; of those from before the device played, what still stands: the pedal and the drone.
@_expose(wasm, "sound_post") @_cdecl("sound_post")
package func soundPost(_ bytes: Int32, _ isEarly: Bool) {
  guard let sound else { return }
  let events = buffer.withUnsafeBytes { Array($0.prefix(Int(bytes)).bindMemory(to: ScoreEvent.self)) }
  let now = sound.engine.framesBegun
  sound.engine.post(
    events.compactMap { event in
      var event = event
      event.frame = Tick(rawValue: event.frame.rawValue - sound.base)
      guard event.frame < now, isEarly else { return event }
      guard event.kind == .pedal || event.kind == .drone else { return nil }
      event.frame = now
      return event
    })
}

/// Renders a whole piece, whose events the buffer holds and whose last bar ends at a frame, into the buffer as a sound file, by an
/// engine of its own; how many bytes that is.
@_expose(wasm, "sound_piece") @_cdecl("sound_piece")
package func soundPiece(_ bytes: Int32, _ end: Double, _ a4: Double) -> Int32 {
  guard let engine = sound.map({ Engine(patch: Patch($0.rules)) }) else { return 0 }
  if a4 != 440 { engine.setTuning(a4: a4) }
  let events = buffer.withUnsafeBytes { Array($0.prefix(Int(bytes)).bindMemory(to: ScoreEvent.self)) }
  var renderer = OfflineRenderer(events, engine: engine)
  var file = WaveFile(frames: Int(end) + Int(OfflineRenderer.tail.rawValue))
  while file.framesLeft > 0 { file.add(renderer.render(frames: min(4_800, file.framesLeft))) }
  buffer = file.bytes
  return Int32(buffer.count)
}

/// The next block at the device's rate: left, and after it right.
@_expose(wasm, "sound_block") @_cdecl("sound_block")
package func soundBlock(_ frames: Int32) -> UnsafeMutablePointer<Float>? {
  guard sound != nil else { return nil }
  let count = Int(frames)
  if sound?.block.count != 2 * count { sound?.block = [Float](repeating: 0, count: 2 * count) }
  // A tuning takes some 10 ms, a block lasts 3: a few notes of it each time.
  for _ in 0..<3 { sound?.engine.continueTuning() }
  sound?.render(count)
  return sound?.block.withUnsafeMutableBufferPointer { $0.baseAddress }
}

/// The first frame of the page that is not rendered yet.
@_expose(wasm, "sound_begun") @_cdecl("sound_begun")
package func soundBegun() -> Double { sound.map { Double($0.engine.framesBegun.rawValue + $0.base) } ?? 0 }

/// Puts what was late since the last call into the buffer, in frames of the page; how many bytes that is.
@_expose(wasm, "sound_reports") @_cdecl("sound_reports")
package func soundReports() -> Int32 {
  guard let sound else { return 0 }
  var late = sound.engine.takeLate()
  for index in late.indices { late[index].frame = Tick(rawValue: late[index].frame.rawValue + sound.base) }
  return late.withUnsafeBytes { bytes in
    if let target = soundBuffer(Int32(bytes.count)), let source = bytes.baseAddress {
      target.copyMemory(from: source, byteCount: bytes.count)
    }
    return Int32(bytes.count)
  }
}

/// Turns a knob: 0 volume in dB, 1 preview and 2 drone in dB (below −90 is off), 3 mute, 4 A4 in Hz.
@_expose(wasm, "sound_set") @_cdecl("sound_set")
package func soundSet(_ knob: Int32, _ value: Double) {
  guard let engine = sound?.engine else { return }
  switch knob {
  case 0: engine.setVolume(decibels: value)
  case 1: engine.setPreviewLevel(decibels: value < -90 ? nil : value)
  case 2: engine.setDroneLevel(decibels: value < -90 ? nil : value)
  case 3: engine.setMuted(value != 0)
  case 4: engine.beginTuning(a4: value)
  default: break
  }
}

extension SoundModule {
  /// Renders into `block`, at 48 kHz straight from the engine, otherwise through the resampler.
  mutating func render(_ frames: Int) {
    let engine = engine
    block.withUnsafeMutableBufferPointer { block in
      guard let left = block.baseAddress else { return }
      resampler.fill(left, left + frames, frames) { engine.render(into: $0, frames: $1) }
    }
  }
}
