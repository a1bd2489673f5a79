import Foundation
import Synchronization

/// Every 20 ms, interrupts a thread that waits in read(2), so that the thread notices a deadline or Ctrl-C. A `poll` before each read would
/// do so too, but makes games of instantly answering engines a tenth slower. A tick just before the read has no effect; the next tick then
/// interrupts the read.
final class ReadTick: Sendable {
  /// In milliseconds.
  static let period = 20.0

  /// `SIGURG` is sent under this lock, so that the signal never reaches a thread that has ended.
  private let waiting = Mutex<pthread_t?>(nil)
  /// The last thread for which `read` unblocked `SIGURG`, the signal of the ticks.
  private let prepared = Atomic<pthread_t>(0)

  private static let all = Mutex<(ticks: [ObjectIdentifier: ReadTick], isRunning: Bool)>(([:], false))

  /// Registers this object; one thread ticks for all registered objects.
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

  /// No tick interrupts this object's `read` after the call.
  func end() { ReadTick.all.withLock { $0.ticks[ObjectIdentifier(self)] = nil } }

  /// `false` if no object is registered any more.
  private static func tick() -> Bool {
    all.withLock { all in
      for tick in all.ticks.values {
        tick.waiting.withLock { thread in if let thread { _ = pthread_kill(thread, SIGURG) } }
      }
      all.isRunning = !all.ticks.isEmpty
      return all.isRunning
    }
  }

  /// Returns the number of bytes, 0 at the end, or -1 with `errno`. `EINTR` means that a tick has interrupted the read.
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
