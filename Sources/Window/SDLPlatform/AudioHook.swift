import Glibc
import ScoreModel
import Synth
import Synchronization

enum SampleFormat {
  case float32
  case signed16
}

/// The memory of the audio callback, allocated before the device starts, because the callback may not allocate, and freed after the device
/// is closed.
struct HookState {
  let engine: Unmanaged<Engine>
  let control: Unmanaged<AudioControl>
  let format: SampleFormat
  /// Memory for `scratchFrames` frames of stereo, in which the samples for a 16-bit device are rendered first.
  let scratch: UnsafeMutablePointer<Float>
  static let scratchFrames = 1_024
  var dither = Dither()
  /// Whether `NullClock` pulls the output and discards it.
  var isDeaf = false
  /// Frames since the output was last heard, at most `restAfter`.
  var unheard = 0
  /// Unheard frames after which the engine computes no more samples: 15 s, by which the longest note has died away. After an earlier
  /// stop a note would go on when the output is heard again.
  static let restAfter = 15 * 48_000
}

/// SDL2_mixer's music hook: a file-scope function, because a closure formed on the main actor would trap on the audio thread.
/// Real-time safe, except that a gated device waits (`AudioDevice.Options.isGated`).
nonisolated func alinaAudioHook(user: UnsafeMutableRawPointer?, stream: UnsafeMutablePointer<UInt8>?, length: Int32) {
  guard let user, let stream, length > 0 else { return }
  let state = user.assumingMemoryBound(to: HookState.self)
  let begun = MonotonicClock.nanoseconds
  switch state.pointee.format {
  case .float32:
    let frames = Int(length) / 8
    stream.withMemoryRebound(to: Float.self, capacity: frames * 2) { fill(state, $0, frames) }
  case .signed16:
    let frames = Int(length) / 4
    stream.withMemoryRebound(to: Int16.self, capacity: frames * 2) { fill(state, $0, frames) }
  }
  state.pointee.control._withUnsafeGuaranteedRef { control in
    let spent = MonotonicClock.nanoseconds - begun
    control.nanoseconds.wrappingAdd(spent, ordering: .relaxed)
    control.calls.wrappingAdd(1, ordering: .relaxed)
    if spent > control.worstNanoseconds.load(ordering: .relaxed) {
      control.worstNanoseconds.store(spent, ordering: .relaxed)
    }
  }
}

private func fill(_ state: UnsafeMutablePointer<HookState>, _ out: UnsafeMutablePointer<Int16>, _ frames: Int) {
  var done = 0
  while done < frames {
    let count = min(HookState.scratchFrames, frames - done)
    let scratch = state.pointee.scratch
    fill(state, scratch, count)
    state.pointee.dither.convert(scratch, to: out + done * 2, count: count * 2)
    done += count
  }
}

private func fill(_ state: UnsafeMutablePointer<HookState>, _ out: UnsafeMutablePointer<Float>, _ frames: Int) {
  state.pointee.control._withUnsafeGuaranteedRef { control in
    let asked = control.framesAsked.wrappingAdd(Int64(frames), ordering: .acquiringAndReleasing).newValue
    while asked > control.allowedFrames.load(ordering: .acquiring) { usleep(50) }
    let isUnheard = state.pointee.isDeaf || control.isUnheard.load(ordering: .relaxed)
    state.pointee.unheard = isUnheard ? min(HookState.restAfter, state.pointee.unheard + frames) : 0
    state.pointee.engine._withUnsafeGuaranteedRef { engine in
      note(callbackOf: engine, in: control)
      guard state.pointee.unheard == HookState.restAfter else { return engine.render(into: out, frames: frames) }
      engine.pass(frames: frames)
      out.update(repeating: 0, count: 2 * frames)
    }
  }
}

private func note(callbackOf engine: Engine, in control: AudioControl) {
  guard let log = control.log else { return }
  let entry = Int(control.calls.load(ordering: .relaxed)) % AudioControl.logCapacity
  log[entry * 2] = Int64(MonotonicClock.nanoseconds)
  log[entry * 2 + 1] = engine.framesBegun.rawValue
}
