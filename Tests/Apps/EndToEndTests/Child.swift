import Foundation
import Glibc

/// A program started by a test: its outputs go to files, its end is asked for and never waited for without a limit.
///
/// Foundation's `Process` waits on a run loop, which the threads of swift-testing do not have: it hangs there.
final class Child {
  let processIdentifier: pid_t
  private var status: Int32?

  /// Starts a program found on the PATH; `nil` outputs are thrown away.
  init(_ command: [String], environment: [String: String], output: URL? = nil, errors: URL? = nil) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (descriptor, file) in [(Int32(1), output), (2, errors)] {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, file?.path ?? "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    }
    var arguments = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for string in arguments + variables { free(string) } }
    var pid: pid_t = 0
    let result = posix_spawnp(&pid, command[0], &actions, nil, &arguments, &variables)
    guard result == 0 else {
      throw Desk.ToolFailed(description: "\(command[0]): \(String(cString: strerror(result)))")
    }
    processIdentifier = pid
  }

  deinit { kill() }

  /// Ends it at once.
  func kill() {
    guard exitStatus == nil else { return }
    Glibc.kill(processIdentifier, SIGKILL)
    var raw: Int32 = 0
    waitpid(processIdentifier, &raw, 0)
    status = -SIGKILL
  }

  /// The exit status, minus the signal that ended it, or `nil` while it runs.
  var exitStatus: Int32? {
    if let status { return status }
    var raw: Int32 = 0
    guard waitpid(processIdentifier, &raw, WNOHANG) == processIdentifier else { return nil }
    status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
    return status
  }

  /// Waits for its end, within reason.
  @discardableResult
  func wait(seconds: Double = 20) throws -> Int32 {
    try waitFor(seconds: seconds, "process \(processIdentifier) to end") { exitStatus }
  }
}
