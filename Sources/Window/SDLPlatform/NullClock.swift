import Glibc
import Synchronization

/// Pulls blocks in real time where no device does, and throws them away: the score goes on unheard, and the game keeps its
/// tempo.
final class NullClock {
  /// What the thread has.
  fileprivate final class Shared: @unchecked Sendable {
    let stops = Atomic<Bool>(false)
    let nanoseconds: UInt64
    private let hook: UnsafeMutablePointer<HookState>
    private let block: UnsafeMutableBufferPointer<UInt8>

    init(_ hook: UnsafeMutablePointer<HookState>, frames: Int) {
      self.hook = hook
      nanoseconds = UInt64(frames) * 1_000_000_000 / 48_000
      block = .allocate(capacity: frames * 8)
    }

    deinit { block.deallocate() }

    func pull() { alinaAudioHook(user: hook, stream: block.baseAddress, length: Int32(block.count)) }
  }

  private let shared: Shared
  private var thread = pthread_t()
  private var isRunning = false

  /// Starts a thread that pulls `frames` frames of 48 kHz through a hook, again and again.
  init(_ hook: UnsafeMutablePointer<HookState>, frames: Int) {
    shared = Shared(hook, frames: frames)
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
