import Glibc
import Synchronization

/// Lets commands clean up (remove unfinished files, silence a MIDI port) before SIGINT, SIGTERM or SIGHUP ends them.
enum EndSignal {
  private static let received = Atomic<Int32>(0)

  /// A second signal of the same kind ends the program. A signal that is already ignored, as SIGHUP under `nohup`, stays ignored.
  static func watch() {
    // Initialise the atomic here: a signal handler must not wait for the lazy initialisation of a global.
    received.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number) { number in
        EndSignal.received.store(number, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
    }
  }

  static var hasCome: Bool { received.load(ordering: .relaxed) != 0 }

  /// If a signal was received, ends the program by this signal.
  static func obey() {
    let number = received.load(ordering: .relaxed)
    guard number != 0 else { return }
    signal(number, SIG_DFL)
    raise(number)
  }
}
