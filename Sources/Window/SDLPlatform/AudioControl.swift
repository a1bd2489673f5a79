import Synchronization

/// The state that the audio callback shares with other threads without locks.
final class AudioControl: Sendable {
  /// The callback waits before it renders beyond this frame; `.max` (no limit) unless `AudioDevice.Options.isGated`.
  let allowedFrames = Atomic<Int64>(.max)
  /// Frames requested by the device so far.
  let framesAsked = Atomic<Int64>(0)
  /// Nanoseconds spent in all callbacks.
  let nanoseconds = Atomic<UInt64>(0)
  let worstNanoseconds = Atomic<UInt64>(0)
  let calls = Atomic<UInt64>(0)
  /// Whether the window is hidden and its sound is off, so that the engine need not compute samples.
  let isUnheard = Atomic<Bool>(false)

  /// The start time (monotonic nanoseconds) and the first frame of each of the last callbacks. Only the callback writes the log; read the
  /// log only after the device is closed.
  nonisolated(unsafe) let log: UnsafeMutablePointer<Int64>?
  /// The maximum number of logged callbacks, enough for 23 minutes with blocks of 1,024 frames.
  static let logCapacity = 1 << 16

  init(isLogging: Bool) {
    log = isLogging ? .allocate(capacity: AudioControl.logCapacity * 2) : nil
    log?.initialize(repeating: 0, count: AudioControl.logCapacity * 2)
  }

  deinit { log?.deallocate() }
}
