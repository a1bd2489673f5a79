import Glibc
import Synchronization

/// Catches SIGINT, SIGTERM and SIGHUP for commands that must finish something before they end.
enum EndSignal {
  /// The number of the first signal received; 0 for none.
  private static let received = Atomic<Int32>(0)

  /// Installs handlers that only record the signal. A second signal of the same kind ends the program; an ignored signal (`nohup`)
  /// stays ignored.
  static func watch() {
    // Initialise the atomic before a signal comes: a signal handler must not wait for the lazy initialisation of a global.
    received.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number) { number in
        EndSignal.received.store(number, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
    }
  }

  /// Whether one of the signals was received since `watch`.
  static var hasCome: Bool { received.load(ordering: .relaxed) != 0 }

  /// If a signal was received, raises it again with its default action, which ends the program.
  static func obey() {
    let number = received.load(ordering: .relaxed)
    guard number != 0 else { return }
    signal(number, SIG_DFL)
    raise(number)
  }
}
