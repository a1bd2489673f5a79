import Glibc
import Synchronization

/// The signals by which a person, a service manager or a closing terminal ends a program, for a command that has something
/// to finish first.
enum EndSignal {
  /// The number of the first that came; 0 for none.
  private static let received = Atomic<Int32>(0)

  /// Keeps the signals from ending the program. A second one of the same kind ends it at once; one that is ignored, as by
  /// `nohup`, stays so.
  static func watch() {
    // The atomic is made here, since a handler may not wait for another thread that makes it.
    received.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number) { number in
        EndSignal.received.store(number, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
    }
  }

  /// Whether one has come since `watch`.
  static var hasCome: Bool { received.load(ordering: .relaxed) != 0 }

  /// Ends the program as the signal that came would have.
  static func obey() {
    let number = received.load(ordering: .relaxed)
    guard number != 0 else { return }
    signal(number, SIG_DFL)
    raise(number)
  }
}
