import Foundation
import Synchronization

/// Every 20 ms, interrupts a thread that is waiting in read(2).
///
/// The thread then notices a deadline or Ctrl-C. A `poll` before each read would do so too, but makes games of instantly answering
/// engines a tenth slower. A tick just before the read has no effect; the next tick then interrupts the read.
final class ReadTick: Sendable {
  /// Milliseconds between two ticks.
  static let period = 20.0

  /// The thread that waits in `read`, if any. `SIGURG` is sent under this lock, so that it never reaches a thread that has ended.
  private let waiting = Mutex<pthread_t?>(nil)
  /// The thread for which `read` last unblocked `SIGURG`, the signal of the ticks: `read` need not unblock it for this thread again.
  private let prepared = Atomic<pthread_t>(0)

  private static let all = Mutex<(ticks: [ObjectIdentifier: ReadTick], isRunning: Bool)>(([:], false))

  /// Registers this object, and starts the thread that ticks for all registered objects, unless that thread already runs.
  func begin() {
    let isFirst = ReadTick.all.withLock { all in
      all.ticks[ObjectIdentifier(self)] = self
      defer { all.isRunning = true }
      return !all.isRunning
    }
    guard isFirst else { return }
    // Without SA_RESTART the handler makes a waiting read return EINTR.
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigaction(SIGURG, &action, nil)
    Thread.detachNewThread {
      while ReadTick.tick() { usleep(UInt32(1000 * ReadTick.period)) }
    }
  }

  /// Unregisters this object: no tick interrupts its `read` after this call.
  func end() { ReadTick.all.withLock { $0.ticks[ObjectIdentifier(self)] = nil } }

  /// Interrupts the threads that wait in `read` of a registered object; `false` if no object is registered any more.
  private static func tick() -> Bool {
    all.withLock { all in
      for tick in all.ticks.values {
        tick.waiting.withLock { thread in if let thread { _ = pthread_kill(thread, SIGURG) } }
      }
      all.isRunning = !all.ticks.isEmpty
      return all.isRunning
    }
  }

  /// read(2) of a blocking descriptor. Returns the number of bytes, 0 at the end, or -1 with `errno`; `EINTR` means that a tick has
  /// interrupted the read.
  func read(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    let thread = pthread_self()
    if prepared.load(ordering: .relaxed) != thread {
      // Threads of libdispatch start with all signals blocked: unblock the signal of the tick.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGURG)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      prepared.store(thread, ordering: .relaxed)
    }
    waiting.withLock { $0 = thread }
    defer { waiting.withLock { $0 = nil } }
    return Glibc.read(descriptor, bytes, count)
  }
}
