import Synchronization

/// What the other threads ask of the audio callback, and what it tells them: atomics only.
final class AudioControl: Sendable {
  /// Frames that may be rendered; the callback waits for it. `.max` but for scripts on a device without a clock.
  let allowedFrames = Atomic<Int64>(.max)
  /// Frames asked for by the device so far.
  let framesAsked = Atomic<Int64>(0)
  /// Nanoseconds spent in the callback in all, and in its worst call.
  let nanoseconds = Atomic<UInt64>(0)
  let worstNanoseconds = Atomic<UInt64>(0)
  let calls = Atomic<UInt64>(0)
  /// Whether nobody hears what is played, for now.
  let isUnheard = Atomic<Bool>(false)

  /// When each of the last callbacks began and with which frame: entry `i` at `2 * (i % capacity)`; nil unless logged.
  /// Written by the callback alone, read after the device is closed.
  nonisolated(unsafe) let log: UnsafeMutablePointer<Int64>?
  static let logCapacity = 1 << 16

  init(isLogging: Bool) {
    log = isLogging ? .allocate(capacity: AudioControl.logCapacity * 2) : nil
    log?.initialize(repeating: 0, count: AudioControl.logCapacity * 2)
  }

  deinit { log?.deallocate() }
}
