import Glibc
import Synchronization

/// Replaces a missing device: a thread pulls blocks of samples in real time and discards them, so that time advances for the score.
final class NullClock {
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

  init(_ hook: UnsafeMutablePointer<HookState>, frames: Int) {
    shared = Shared(hook, frames: frames)
    let argument = Unmanaged.passRetained(shared)
    isRunning = pthread_create(&thread, nil, nullClockBody, argument.toOpaque()) == 0
    if !isRunning { argument.release() }
  }

  func stop() {
    guard isRunning else { return }
    isRunning = false
    shared.stops.store(true, ordering: .releasing)
    pthread_join(thread, nil)
  }

  deinit { stop() }
}

/// A file-scope function, because a closure formed on the main actor would trap on this thread.
nonisolated private func nullClockBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  let shared = Unmanaged<NullClock.Shared>.fromOpaque(argument).takeRetainedValue()
  var next = MonotonicClock.nanoseconds
  while !shared.stops.load(ordering: .acquiring) {
    shared.pull()
    next += shared.nanoseconds
    // After the machine slept, continue from now instead of pulling all missed blocks.
    let now = MonotonicClock.nanoseconds
    if now > next + 1_000_000_000 { next = now }
    var time = timespec(tv_sec: Int(next / 1_000_000_000), tv_nsec: Int(next % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
  }
  return nil
}
