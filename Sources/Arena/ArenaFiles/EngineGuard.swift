import CProcess
import Foundation

/// The handler of `SIGCHLD` writes to this pipe, so that `poll` notices the end of a child.
nonisolated(unsafe) private var childrenEnds: [Int32] = [-1, -1]

/// The process between arena and engine (`alina-arena guard -C FOLDER -- COMMAND…`). If the arena is killed, the guard kills the engine and
/// all its descendants.
///
/// The guard adopts orphaned descendants (`PR_SET_CHILD_SUBREAPER`), even if they have left the session and the process group.
package enum EngineGuard {
  /// Milliseconds that the guard waits for the killed processes. A process that takes longer hangs in a call of the kernel, and dies when
  /// it leaves this call.
  package static let quitTimeout = 3000.0

  /// By these words the arena recognises a report that the system refused resources.
  package static let resourceExhausted = "could not be started for now"

  /// Reports the end of the command to the arena on descriptor 3. Kills all descendants when the command has ended or the arena has closed
  /// descriptor 3.
  package static func run(_ words: [String]) -> Never {
    // The guard must outlive the engine, but `pkill alina-arena` signals the guard too.
    for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT] { signal(number, SIG_IGN) }
    watchChildren()
    let engine = start(Array(words.dropFirst(3)), in: words[1])
    // The arena notices that the engine has closed a pipe only if no copy of the pipe's end is open.
    close(0)
    close(1)
    // The arena sends the number of a processor for the engine, as digits and a newline. Without digits the engine may use the same
    // processors as the arena.
    var (byte, core) = (UInt8(0), nil as Int?)
    var items = [childrenEnds[0], 3].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
      guard poll(&items, 2, -1) > 0 else { continue }
      if items[0].revents != 0 {
        _ = read(childrenEnds[0], &byte, 1)
        collectChildren(engine)
      }
      guard items[1].revents != 0 else { continue }
      let count = read(3, &byte, 1)
      if count == 0 || (count < 0 && errno != EINTR) { killAll() }
      if count == 1, (0x30...0x39).contains(byte), core ?? 0 < 1024 {
        core = (core ?? 0) * 10 + Int(byte - 0x30)
      } else if count == 1 {
        if let core { _ = alina_stay_on(engine, Int32(core)) } else { release(engine) }
        core = nil
      }
    }
  }

  /// Adopts orphaned descendants, and lets `childrenEnds` tell the end of a child.
  private static func watchChildren() {
    guard alina_adopt_orphans() == 0 else {
      report("cannot be guarded: \(systemReason)")
      exit(127)
    }
    _ = fcntl(3, F_SETFD, FD_CLOEXEC)
    guard let pipe = Descriptor.pipe() else {
      report("\(resourceExhausted): \(systemReason)")
      exit(127)
    }
    childrenEnds = [pipe.read, pipe.write]
    _ = fcntl(childrenEnds[1], F_SETFL, O_NONBLOCK)
    signal(SIGCHLD) { _ in
      var byte: UInt8 = 0
      _ = write(childrenEnds[1], &byte, 1)
    }
  }

  private static func start(_ command: [String], in folder: String) -> pid_t {
    guard chdir(folder) == 0 else {
      report("cannot be started in \(folder): \(systemReason)")
      exit(127)
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
    arguments.append(nil)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    var engine: pid_t = 0
    let code = posix_spawnp(&engine, command[0], nil, &attributes, arguments, environ)
    guard code == 0 else {
      let isLack = [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(code)
      report("\(isLack ? resourceExhausted : "cannot be started"): \(String(cString: strerror(code)))")
      exit(127)
    }
    return engine
  }

  /// If the engine has ended, reports this, kills the other children and exits.
  private static func collectChildren(_ engine: pid_t) {
    // `waitpid(-1, …)` also collects adopted orphans; report only the end of the engine.
    var (status, ended) = (Int32(0), pid_t(1))
    while ended > 0, ended != engine { ended = waitpid(-1, &status, WNOHANG) }
    guard ended == engine else { return }
    let signal = status & 0x7F
    report(signal == 0 ? "exited with code \(status >> 8 & 0xFF)" : "crashed with signal \(signal)")
    killAll()
  }

  /// Lets all threads of the engine run on all processors that the arena's main thread may use.
  private static func release(_ engine: pid_t) {
    for thread in numbers(in: "/proc/\(engine)/task") { _ = alina_run_as(thread, getppid()) }
  }

  private static func report(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(3, bytes, bytes.count)
  }

  /// Kills all descendants until the guard has no children or `quitTimeout` is over; then exits.
  private static func killAll() -> Never {
    let deadline = monotonicMilliseconds() + quitTimeout
    while monotonicMilliseconds() < deadline {
      var found: [pid_t] = []
      stop(childrenOf: getpid(), &found)
      for pid in found { kill(pid, SIGKILL) }
      var ended: pid_t = 0
      repeat {
        var status: Int32 = 0
        ended = waitpid(-1, &status, WNOHANG)
      } while ended > 0
      if ended < 0, errno == ECHILD { break }
      usleep(200)
    }
    _exit(1)
  }

  /// Stops all descendants (SIGSTOP), so that they cannot start other processes before they are killed.
  private static func stop(childrenOf parent: pid_t, _ found: inout [pid_t]) {
    for child in children(of: parent) where !found.contains(child) {
      kill(child, SIGSTOP)
      found.append(child)
      stop(childrenOf: child, &found)
    }
  }

  /// From the kernel's list, or by searching all processes if the kernel keeps no such list.
  private static func children(of parent: pid_t) -> [pid_t] {
    var result: [pid_t] = []
    var isListed = false
    for thread in numbers(in: "/proc/\(parent)/task") {
      guard let text = contents("/proc/\(parent)/task/\(thread)/children") else { continue }
      isListed = true
      result += text.split(separator: " ").compactMap { pid_t($0) }
    }
    if isListed { return result }
    return numbers(in: "/proc").filter { pid in
      // The file has the form `PID (NAME) STATE PARENT …`; NAME may contain brackets.
      guard let text = contents("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return false }
      return text[end...].split(separator: " ").dropFirst(2).first == "\(parent)"
    }
  }

  private static func numbers(in folder: String) -> [pid_t] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { pid_t($0) }
  }

  /// `nil` if the file of /proc does not exist any more.
  private static func contents(_ path: String) -> String? {
    let descriptor = Descriptor.open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    // The kernel returns long lists in pieces, and Foundation would stop after the first short piece.
    while true {
      let count = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { space in
        let count = read(descriptor, space.baseAddress, 4096)
        if count > 0 { bytes.append(contentsOf: space[..<count]) }
        return count
      }
      guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
    }
  }
}
