import Glibc

/// Suppresses messages of system libraries on the terminal while a device or display is opened. Alina itself reports failures.
struct SilencedErrors {
  private let saved: Int32

  init() {
    saved = fcntl(2, F_DUPFD_CLOEXEC, 3)
    let null = Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
    if saved >= 0 && null >= 0 { dup2(null, 2) }
    if null >= 0 { Glibc.close(null) }
  }

  func end() {
    guard saved >= 0 else { return }
    dup2(saved, 2)
    Glibc.close(saved)
  }
}
