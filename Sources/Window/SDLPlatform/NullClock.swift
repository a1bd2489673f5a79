import Glibc
import Synchronization

/// Pulls blocks in real time where no device does, so that the score goes on unheard and the game keeps its tempo.
final class NullClock {
  fileprivate final class Shared: Sendable {
    let stops = Atomic<Bool>(false)
    let pull: @Sendable () -> Void
    let nanoseconds: UInt64

    init(nanoseconds: UInt64, pull: @escaping @Sendable () -> Void) {
      self.nanoseconds = nanoseconds
      self.pull = pull
    }
  }

  private let shared: Shared
  private var thread = pthread_t()
  private var isRunning = false

  /// Starts a thread that calls `pull` every `frames` frames of 48 kHz.
  init(frames: Int, pull: @escaping @Sendable () -> Void) {
    shared = Shared(nanoseconds: UInt64(frames) * 1_000_000_000 / 48_000, pull: pull)
    let argument = Unmanaged.passRetained(shared)
    isRunning = pthread_create(&thread, nil, nullClockBody, argument.toOpaque()) == 0
    if !isRunning { argument.release() }
  }

  /// Ends the thread and waits for its last block.
  func stop() {
    guard isRunning else { return }
    isRunning = false
    shared.stops.store(true, ordering: .releasing)
    pthread_join(thread, nil)
  }

  deinit { stop() }
}

/// The thread's body: a file-scope function, as every callback of this module.
nonisolated private func nullClockBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  let shared = Unmanaged<NullClock.Shared>.fromOpaque(argument).takeRetainedValue()
  var next = MonotonicClock.nanoseconds
  while !shared.stops.load(ordering: .acquiring) {
    shared.pull()
    next += shared.nanoseconds
    // After a suspended laptop wakes, go on from now instead of rushing through the hours missed.
    let now = MonotonicClock.nanoseconds
    if now > next + 1_000_000_000 { next = now }
    var time = timespec(tv_sec: Int(next / 1_000_000_000), tv_nsec: Int(next % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
  }
  return nil
}
