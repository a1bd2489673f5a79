import Foundation
import Testing

@testable import Arena

@Suite("Locks of files") struct LockTests {
  @Test
  func `a closed file can be locked again, even while a forked child still has a copy of its descriptor`() throws {
    try Support.withFolder { folder in
      let (path, entered, leave) = (folder + "/games", folder + "/entered", folder + "/leave")
      #expect(mkfifo(entered, 0o600) == 0 && mkfifo(leave, 0o600) == 0)
      let header = try Support.match("random", "random", games: 2).headerLine
      let writer = try GameFileWriter(path, header: header)
      // The first FIFO tells the test that the child is between fork and exec, the second blocks the child there.
      let ended = DispatchSemaphore(value: 0)
      let spawning = Thread {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 8, entered, O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 9, leave, O_RDONLY, 0)
        var (child, status): (pid_t, Int32) = (0, 0)
        let name = strdup("/bin/true")
        #expect(posix_spawn(&child, "/bin/true", &actions, nil, [name, nil], environ) == 0)
        waitpid(child, &status, 0)
        free(name)
        posix_spawn_file_actions_destroy(&actions)
        ended.signal()
      }
      spawning.start()
      let there = open(entered, O_RDONLY | O_CLOEXEC)
      defer {
        close(open(leave, O_WRONLY | O_CLOEXEC))
        ended.wait()
        close(there)
      }
      #expect(throws: ArenaError.self) { try GameFileWriter(continuing: path) }
      writer.close()
      #expect(throws: Never.self) { try GameFileWriter(continuing: path).close() }
    }
  }
}
