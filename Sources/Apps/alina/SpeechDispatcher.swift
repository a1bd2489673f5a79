import Glibc
import Locks

/// libspeechd is loaded at run time, so that Alina also runs without speech-dispatcher.
final class SpeechDispatcher: Sendable {
  private typealias Open =
    @convention(c) (
      UnsafePointer<CChar>, UnsafePointer<CChar>?, UnsafePointer<CChar>?, CInt
    ) -> OpaquePointer?
  private typealias Say = @convention(c) (OpaquePointer, CInt, UnsafePointer<CChar>) -> CInt
  private typealias SetLanguage = @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> CInt

  private struct Library: Sendable {
    let open: Open
    let say: Say
    let setLanguage: SetLanguage

    init?() {
      guard let library = dlopen(SpeechDispatcher.file, RTLD_LAZY), let open = dlsym(library, "spd_open"),
        let say = dlsym(library, "spd_say"), let setLanguage = dlsym(library, "spd_set_language")
      else { return nil }
      self.open = unsafeBitCast(open, to: Open.self)
      self.say = unsafeBitCast(say, to: Say.self)
      self.setLanguage = unsafeBitCast(setLanguage, to: SetLanguage.self)
    }
  }

  /// Version 2 of libspeechd's interface dates from speech-dispatcher 0.7 of 2010.
  static let file = "libspeechd.so.2"
  private static let library = Library()
  static var isInstalled: Bool { library != nil }

  /// `SPD_TEXT` of libspeechd.h: a new text interrupts the text that is being spoken.
  private static let text: CInt = 3

  /// The most lines that wait for speech-dispatcher, so that it does not speak of moves long past.
  private static let most = 6

  /// `SPD_MODE_SINGLE`: a connection without a second thread for the library's events.
  private static let single: CInt = 0

  private struct Queue {
    var lines: [String] = []
    /// The lines to speak next. While speech-dispatcher starts, later lines join them: an explanation must not replace a move.
    var next: (lines: [String], language: String)?
    var isSpeaking = false
  }

  private let library: Library
  private let queue = Mutex(Queue())
  private let inBackground: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
  /// Used only by the background job, of which at most one runs (`isSpeaking`).
  private nonisolated(unsafe) var connection: OpaquePointer?

  init?(inBackground: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
    guard let library = SpeechDispatcher.library else { return nil }
    (self.library, self.inBackground) = (library, inBackground)
    // Ignore SIGPIPE: libspeechd's write to a closed socket must not end the program.
    signal(SIGPIPE, SIG_IGN)
  }

  func add(_ line: String) { queue.withLock { $0.lines.append(line) } }

  /// Returns at once: starting speech-dispatcher can take a second.
  func speak(in language: String) {
    let isIdle = queue.withLock { queue in
      guard !queue.lines.isEmpty else { return false }
      let waiting = (queue.next?.lines ?? []) + queue.lines
      queue.next = (waiting.suffix(SpeechDispatcher.most), language)
      queue.lines = []
      defer { queue.isSpeaking = true }
      return !queue.isSpeaking
    }
    if isIdle { inBackground { self.speakAll() } }
  }

  private func speakAll() {
    while let (lines, language) = takeNext() {
      if connection == nil { connection = library.open("alina", "board", nil, SpeechDispatcher.single) }
      guard let connection else { continue }
      _ = library.setLanguage(connection, language)
      // speech-dispatcher may have been restarted: the next text opens a new connection.
      if library.say(connection, SpeechDispatcher.text, lines.joined(separator: ". ")) < 0 { self.connection = nil }
    }
  }

  private func takeNext() -> (lines: [String], language: String)? {
    queue.withLock { queue in
      defer { queue.next = nil }
      queue.isSpeaking = queue.next != nil
      return queue.next
    }
  }
}
