import Foundation

package func monotonicMilliseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
}

/// An engine's process, started by a guard process (`EngineGuard`). When the socket between arena and guard closes, even because the arena
/// was killed, the guard kills all processes that the engine has started.
package final class EngineProcess {
  package struct Launch: Sendable {
    /// The program and its arguments.
    package var command: [String]
    /// The path of the program that runs as the guard.
    package var guardExecutable: String
    package var folder: String?
    /// The file to which the engine's standard error is appended; `nil` discards it.
    package var log: String?
    /// In addition to the inherited variables.
    package var environment: [String: String] = [:]
    /// In this log the number `player` stands for the engine.
    package var trace: EngineTrace?
    package var player = 0

    package init(_ command: [String], guardExecutable: String) {
      (self.command, self.guardExecutable) = (command, guardExecutable)
    }
  }

  package enum Reading {
    case line(String)
    /// The deadline has passed, or the run is stopped.
    case late
    /// The engine closed its output or died.
    case closed
    /// `overlong`: the line is longer than `lineLimit`. `garbage`: the line contains control characters.
    case overlong, garbage
  }

  /// The most bytes of a line from an engine.
  package static let lineLimit = 4096

  private let stopSignal: StopSignal
  private let trace: EngineTrace?
  private let player: Int
  private let pid: pid_t
  private let input: Int32
  private let output: Int32
  private let guardSocket: Int32
  /// Bytes read and not yet consumed are in `head`..<`tail`.
  private let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 2 * EngineProcess.lineLimit)
  private var (head, tail) = (0, 0)
  /// Since the last `resetCount`.
  package private(set) var bytesRead = 0
  private var isOpen = true
  private let tick = ReadTick()

  /// Starts the guard, which starts the engine: `guardExecutable guard -C FOLDER -- command…`.
  package init(_ launch: Launch, _ stop: StopSignal) throws(ArenaError) {
    (stopSignal, trace, player) = (stop, launch.trace, launch.player)
    // Ignore SIGPIPE: a write to an engine that has closed its input then returns an error.
    signal(SIGPIPE, SIG_IGN)
    let (first, second) = (Descriptor.pipe(), Descriptor.pipe())
    guard let toEngine = first, let fromEngine = second, let sockets = Descriptor.socketPair() else {
      let reason = systemReason
      for pipe in [first, second] {
        guard let pipe else { continue }
        close(pipe.read)
        close(pipe.write)
      }
      throw ArenaError.resourceExhausted("pipes for an engine: \(reason)")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, toEngine.0, 0)
    posix_spawn_file_actions_adddup2(&actions, fromEngine.1, 1)
    // The log may be a FIFO. With O_NONBLOCK, a FIFO without a reader is an error; otherwise the open would wait for a reader.
    posix_spawn_file_actions_addopen(
      &actions, 2, launch.log ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0o644)
    posix_spawn_file_actions_adddup2(&actions, sockets.1, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    // 0x80 is POSIX_SPAWN_SETSID: in a session of their own, engines do not get Ctrl-C from the arena's terminal.
    posix_spawnattr_setflags(&attributes, Int16(0x80 | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
      for descriptor in [toEngine.0, fromEngine.1, sockets.1] { close(descriptor) }
    }
    var arguments: [UnsafeMutablePointer<CChar>?] =
      ([launch.guardExecutable, "guard", "-C", launch.folder ?? ".", "--"] + launch.command).map { strdup($0) }
    arguments.append(nil)
    let environment = ProcessInfo.processInfo.environment.merging(launch.environment) { $1 }
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") }
    variables.append(nil)
    defer { for text in arguments + variables { free(text) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, launch.guardExecutable, &actions, &attributes, arguments, variables)
    (pid, input, output, guardSocket) = (child, toEngine.1, fromEngine.0, sockets.0)
    guard code == 0 else {
      isOpen = false
      for descriptor in [toEngine.1, fromEngine.0, sockets.0] { close(descriptor) }
      let reason = String(cString: strerror(code))
      if [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(code) {
        throw ArenaError.resourceExhausted("processes for an engine: \(reason)")
      }
      // `posix_spawn` does not say which file caused the error. If the program may be run, the log caused it.
      let log = launch.log.flatMap { access(launch.guardExecutable, X_OK) == 0 ? $0 : nil }
      throw ArenaError("\(log ?? launch.guardExecutable): \(reason)")
    }
    _ = fcntl(input, F_SETFL, O_NONBLOCK)
    tick.begin()
  }

  deinit {
    stop()
    buffer.deallocate()
  }

  /// Milliseconds for an engine to end by itself after `quit`.
  private static let quitGracePeriod = 300.0

  /// With `quitting`, first sends `quit` and gives the engine `quitGracePeriod` to end by itself. Waits for the end of the guard, at most
  /// half a second longer than `EngineGuard.quitTimeout`.
  package func stop(quitting: Bool = false) {
    guard isOpen else { return }
    let grace = monotonicMilliseconds() + EngineProcess.quitGracePeriod
    if quitting, !stopSignal.isSet, write("quit\n", deadline: grace) { _ = wait(guardSocket, Int16(POLLIN), grace) }
    isOpen = false
    tick.end()
    close(input)
    close(output)
    shutdown(guardSocket, Int32(SHUT_WR))
    // Discard the guard's reports until the guard ends, which closes the socket.
    let deadline = monotonicMilliseconds() + EngineGuard.quitTimeout + 500
    var isGone = false
    while !isGone, wait(guardSocket, Int16(POLLIN), deadline) {
      isGone = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) {
        read(guardSocket, $0.baseAddress, 256) <= 0
      }
    }
    close(guardSocket)
    if !isGone {
      kill(-pid, SIGKILL)
      kill(pid, SIGKILL)
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }

  /// `false` if the engine does not accept the lines in time or has ended.
  package func write(_ text: String, deadline: Double) -> Bool { write(Array(text.utf8), deadline: deadline) }

  package func write(_ bytes: [UInt8], deadline: Double) -> Bool {
    trace?.note(player, ">", String(decoding: bytes, as: UTF8.self))
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress.map { $0 + sent }, bytes.count - sent) }
      if count > 0 {
        sent += count
      } else if count < 0, errno == EAGAIN {
        guard wait(input, Int16(POLLOUT), deadline) else { return false }
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// The next line without its line end. A line that the engine has already written is read even after the deadline.
  package func readLine(deadline: Double) -> Reading {
    while true {
      if let end = lineEnd {
        let isShorter = end > head && buffer[end - 1] == 0x0D
        let line = UnsafeBufferPointer(start: buffer + head, count: end - head - (isShorter ? 1 : 0))
        head = end + 1
        if line.count > EngineProcess.lineLimit { return .overlong }
        // Some engines write names and remarks in older encodings, so invalid UTF-8 is replaced; moves are ASCII.
        let text = String(decoding: line, as: UTF8.self)
        trace?.note(player, "<", text)
        return line.contains { $0 < 0x20 && $0 != 0x09 } ? .garbage : .line(text)
      }
      if tail - head > EngineProcess.lineLimit { return .overlong }
      if let failure = fill(deadline) { return failure }
    }
  }

  package var hasLine: Bool { lineEnd != nil }

  /// The newline that ends the line at `head`; `nil` if the line is not complete.
  private var lineEnd: Int? {
    memchr(buffer + head, 0x0A, tail - head).map { $0 - UnsafeMutableRawPointer(buffer) }
  }

  /// `nil` if bytes came, else `.late` or `.closed`.
  private func fill(_ deadline: Double) -> Reading? {
    memmove(buffer, buffer + head, tail - head)
    (head, tail) = (0, tail - head)
    while true {
      let count = tick.read(output, buffer + tail, 2 * EngineProcess.lineLimit - tail)
      // Accept bytes before checking the deadline: they may have been written in time and read late.
      if count > 0 {
        (tail, bytesRead) = (tail + count, bytesRead + count)
        return nil
      }
      guard count < 0, errno == EINTR else { return .closed }
      if stopSignal.isSet || monotonicMilliseconds() >= deadline { return .late }
    }
  }

  /// `nil` lets all threads of the engine run on all processors of the arena's main thread.
  package func pin(toCore core: Int?) {
    let bytes = Array("\(core.map(String.init) ?? "")\n".utf8)
    _ = Glibc.write(guardSocket, bytes, bytes.count)
  }

  /// Drops the lines that the engine sent before it was asked for a move. Returns the first of them that is a move (`bestmove`).
  package func unaskedMove() -> String? {
    var count: Int32 = 0
    if ioctl(output, UInt(FIONREAD), &count) == 0, count > 0 { _ = fill(.infinity) }
    while lineEnd != nil {
      if case .line(let line) = readLine(deadline: 0), line.hasPrefix("bestmove") { return line }
    }
    return nil
  }

  package func resetCount() { bytesRead = 0 }

  /// Returns `deed` if no report of the guard comes within half a second, for example because the engine still runs.
  package func ending(otherwise deed: String = "closed its output") -> String {
    var text: [UInt8] = []
    let deadline = monotonicMilliseconds() + 500
    while wait(guardSocket, Int16(POLLIN), deadline) {
      var byte: UInt8 = 0
      guard read(guardSocket, &byte, 1) == 1 else { break }
      if byte == 0x0A { return String(decoding: text, as: UTF8.self) }
      text.append(byte)
    }
    return deed
  }

  /// `false` if the deadline passes first or the run is stopped. `stop()` clears `isOpen`, so that its own wait does not end early in a
  /// stopped run.
  private func wait(_ descriptor: Int32, _ events: Int16, _ deadline: Double) -> Bool {
    var item = pollfd(fd: descriptor, events: events, revents: 0)
    while true {
      let left = deadline - monotonicMilliseconds()
      guard left > 0, !(isOpen && stopSignal.isSet) else { return false }
      let ready = poll(&item, 1, Int32(min(left, ReadTick.period).rounded(.up)))
      if ready > 0 { return true }
      if ready < 0, errno != EINTR { return false }
    }
  }
}
