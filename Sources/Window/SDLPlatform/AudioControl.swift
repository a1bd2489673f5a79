import Synchronization

/// The state that the audio callback shares with other threads, in atomics only.
final class AudioControl: Sendable {
  /// The frame up to which the callback renders without waiting for `AudioDevice.allow`: `.max` (no limit), unless the device is gated
  /// (`Options.isGated`).
  let allowedFrames = Atomic<Int64>(.max)
  /// Frames requested by the device so far.
  let framesAsked = Atomic<Int64>(0)
  /// Nanoseconds spent in all callbacks.
  let nanoseconds = Atomic<UInt64>(0)
  /// Nanoseconds spent in the slowest callback.
  let worstNanoseconds = Atomic<UInt64>(0)
  let calls = Atomic<UInt64>(0)
  /// Whether the player cannot hear the output: the window is hidden, and all sound or the sound of hidden windows is off.
  let isUnheard = Atomic<Bool>(false)

  /// The start time (monotonic nanoseconds) and the first frame of each of the last callbacks; callback `i` is at `2 * (i % logCapacity)`.
  /// `nil` if callbacks are not logged. Only the callback writes the log, and the log is read only after the device is closed.
  nonisolated(unsafe) let log: UnsafeMutablePointer<Int64>?
  /// The maximum number of logged callbacks, enough for 23 minutes with blocks of 1,024 frames.
  static let logCapacity = 1 << 16

  init(isLogging: Bool) {
    log = isLogging ? .allocate(capacity: AudioControl.logCapacity * 2) : nil
    log?.initialize(repeating: 0, count: AudioControl.logCapacity * 2)
  }

  deinit { log?.deallocate() }
}
