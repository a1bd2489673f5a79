import CProcess
import Glibc

package enum ChildStream {
  /// Reading gives end of file, writing is discarded.
  case nothing
  /// A descriptor, which stays open in this process.
  case descriptor(Int32)
  /// A file, created if missing; output is appended.
  case file(String)
}

package struct SpawnError: Error, CustomStringConvertible {
  /// The program, or the resource that was missing (a pipe).
  package let subject: String
  /// The system's error number.
  package let code: Int32

  package var description: String { "\(subject): \(String(cString: strerror(code)))" }
}

/// Starts a program, searched in PATH unless its name contains a slash. Returns the process id, for `reap`.
///
/// The child gets the three streams and no other descriptor of this process, so that it cannot keep locks, ports or pipes open. In the
/// child all signals have their default action and none is blocked.
///
/// - Parameters:
///   - environment: Lines `NAME=value`; `nil` for this process's environment.
///   - folder: The working directory; `nil` for this process's.
package func spawn(
  _ command: [String], environment: [String]? = nil, folder: String? = nil, input: ChildStream = .nothing,
  output: ChildStream = .nothing, errors: ChildStream = .nothing
) throws(SpawnError) -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  // The child opens the files before it changes to `folder`: paths are relative to this process's working directory.
  for (number, stream) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
    let mode = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_APPEND
    switch stream {
    case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
    case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    case .file(let path): posix_spawn_file_actions_addopen(&actions, number, path, mode, 0o644)
    }
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
  if let folder { posix_spawn_file_actions_addchdir_np(&actions, folder) }
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  sigfillset(&signals)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  sigemptyset(&signals)
  posix_spawnattr_setsigmask(&attributes, &signals)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
  var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
  var variables: [UnsafeMutablePointer<CChar>?] = (environment ?? []).map { strdup($0) } + [nil]
  defer { for word in words + variables { free(word) } }
  var child: pid_t = 0
  let code =
    environment == nil
    ? posix_spawnp(&child, command[0], &actions, &attributes, &words, environ)
    : posix_spawnp(&child, command[0], &actions, &attributes, &words, &variables)
  guard code == 0 else { throw SpawnError(subject: command[0], code: code) }
  return child
}

/// A child inherits an end only if it is one of the child's three streams.
package func makePipe() throws(SpawnError) -> (reading: Int32, writing: Int32) {
  var ends: [Int32] = [0, 0]
  guard alina_pipe(&ends) == 0 else { throw SpawnError(subject: "a pipe", code: errno) }
  // If this process has closed a standard stream, an end of the pipe can get the stream's number (0, 1 or 2). In the child, a stream would
  // replace this end: move the end to a number above 2.
  for (i, end) in ends.enumerated() where end <= STDERR_FILENO {
    ends[i] = fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    close(end)
  }
  return (ends[0], ends[1])
}

/// Returns the exit status, or the negated number of the signal that ended the child.
package func reap(_ child: pid_t) -> Int32 {
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0 && errno == EINTR {}
  return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
}
