import ScoreModel
import ScoreFormats
import Synth
import Tintinnabuli

/// The page's sound: the native engine in a separate module, rendered in blocks by an AudioWorklet, on one thread.
///
/// Events and reports have the memory layout of `ScoreEvent` and `LateBatch`, which both modules compile from the same sources. The page
/// counts frames from its own start, the engine from the start of the device; `base` is the page's number minus the engine's.
struct SoundModule {
  var engine: Engine
  var rules: ScoreRules
  var resampler: Resampler
  var base: Int64 = 0
  /// The last block: all samples of the left channel, then those of the right.
  var block: [Float] = []
}

nonisolated(unsafe) private var sound: SoundModule?
nonisolated(unsafe) private var buffer: [UInt8] = []
nonisolated(unsafe) private var pack: RulePack?

/// Returns the buffer for input and output, which has at least `count` bytes.
@_expose(wasm, "sound_buffer") @_cdecl("sound_buffer")
package func soundBuffer(_ count: Int32) -> UnsafeMutableRawPointer? {
  if buffer.count < count { buffer += [UInt8](repeating: 0, count: Int(count) - buffer.count) }
  return buffer.withUnsafeMutableBytes { $0.baseAddress }
}

/// Starts the sound with the first rule file of the pack in the buffer, for a device at `rate` Hz. Returns 0 on failure.
@_expose(wasm, "sound_start") @_cdecl("sound_start")
package func soundStart(_ count: Int32, _ rate: Double) -> Int32 {
  pack = try? RulePack(Array(buffer.prefix(Int(count))))
  guard let rules = pack?.entries.first?.rules, rate >= 8_000, rate <= 192_000 else { return 0 }
  sound = SoundModule(engine: Engine(patch: Patch(rules)), rules: rules, resampler: Resampler(to: rate))
  return 1
}

/// Loads rules. The buffer's lines: the rules' name, their tonic's letter (0 for C … 6 for B), its alteration in semitones (−1, 0, 1).
@_expose(wasm, "sound_rules") @_cdecl("sound_rules")
package func soundRules(_ count: Int32) {
  let lines = String(decoding: buffer.prefix(Int(count)), as: UTF8.self).split(separator: "\n")
  guard lines.count == 3, let letter = Int(lines[1]), let alteration = Int(lines[2]),
    let named = pack?.rules(String(lines[0]))
  else { return }
  let rules = named.moved(to: Spelling(letter: letter, alteration: alteration, octave: 4))
  sound?.rules = rules
  sound?.engine.load(Patch(rules))
}

/// Sets `base` when the output starts or resumes. `pageFrame` is the page's number of the frame that the engine renders next.
@_expose(wasm, "sound_resume") @_cdecl("sound_resume")
package func soundResume(_ pageFrame: Double) {
  if let engine = sound?.engine { sound?.base = Int64(pageFrame) - engine.framesBegun.rawValue }
}

/// Posts the events in the buffer. `isEarly`: the page kept the events until the device started. Early events whose time has passed are
/// dropped, except pedal and drone, which have an effect at once.
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

/// Renders a piece with a separate engine. The buffer holds the piece's events, and afterwards the file, whose length in bytes is returned.
/// `a4` is in Hz.
@_expose(wasm, "sound_piece") @_cdecl("sound_piece")
package func soundPiece(_ bytes: Int32, _ end: Double, _ a4: Double, _ isEven: Bool) -> Int32 {
  guard let engine = sound.map({ Engine(patch: Patch($0.rules)) }) else { return 0 }
  if a4 != 440 { engine.setTuning(a4: a4) }
  engine.setEven(isEven)
  let events = buffer.withUnsafeBytes { Array($0.prefix(Int(bytes)).bindMemory(to: ScoreEvent.self)) }
  var renderer = OfflineRenderer(events, engine: engine)
  var file = WaveFile(frames: Int(end) + Int(OfflineRenderer.tail.rawValue))
  while file.framesLeft > 0 { file.add(renderer.render(frames: min(4_800, file.framesLeft))) }
  buffer = file.bytes
  return Int32(buffer.count)
}

/// Renders the next block at the device's rate; returns `block`.
@_expose(wasm, "sound_block") @_cdecl("sound_block")
package func soundBlock(_ frames: Int32) -> UnsafeMutablePointer<Float>? {
  guard sound != nil else { return nil }
  let count = Int(frames)
  if sound?.block.count != 2 * count { sound?.block = [Float](repeating: 0, count: 2 * count) }
  // Retuning takes about 10 ms and a block lasts 3 ms, so a few notes are retuned per block.
  for _ in 0..<3 { sound?.engine.continueTuning() }
  sound?.render(count)
  return sound?.block.withUnsafeMutableBufferPointer { $0.baseAddress }
}

/// The first frame that is not rendered yet, as the page numbers frames.
@_expose(wasm, "sound_begun") @_cdecl("sound_begun")
package func soundBegun() -> Double { sound.map { Double($0.engine.framesBegun.rawValue + $0.base) } ?? 0 }

/// Writes to the buffer a `LateBatch` for each batch that came too late since the last call; returns the number of bytes.
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

/// Sets the parameter with the number `knob`: 0 volume in dB, 1 preview and 2 drone in dB (below −90 is off), 3 mute (0 or 1), 4 A4 in Hz,
/// 5 even loudness (0 or 1).
@_expose(wasm, "sound_set") @_cdecl("sound_set")
package func soundSet(_ knob: Int32, _ value: Double) {
  guard let engine = sound?.engine else { return }
  switch knob {
  case 0: engine.setVolume(decibels: value)
  case 1: engine.setPreviewLevel(decibels: value < -90 ? nil : value)
  case 2: engine.setDroneLevel(decibels: value < -90 ? nil : value)
  case 3: engine.setMuted(value != 0)
  case 4: engine.beginTuning(a4: value)
  case 5: engine.setEven(value != 0)
  default: break
  }
}

extension SoundModule {
  mutating func render(_ frames: Int) {
    let engine = engine
    block.withUnsafeMutableBufferPointer { block in
      guard let left = block.baseAddress else { return }
      resampler.fill(left, left + frames, frames) { engine.render(into: $0, frames: $1) }
    }
  }
}
