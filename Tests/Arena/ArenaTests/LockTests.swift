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

  @Test func `a run or export that is refused because another writes the same PGN leaves the other's file`() throws {
    try Support.withFolder { folder in
      let (pgn, games) = (folder + "/p", folder + "/p.jsonl.part")
      let first = try GameFileWriter(games, header: try Support.match("random", "perfect", games: 2).headerLine)
      let before = FileManager.default.contents(atPath: games)
      let arguments = ["run", "--x", "random", "--o", "perfect", "--games", "2", "--pgn", pgn]
      let refused = try Support.run(arguments)
      #expect(refused.code == 2 && refused.err.contains("is being written by another run"), "\(refused)")
      #expect(before != nil && FileManager.default.contents(atPath: games) == before)
      first.close()
      // The lock of `p.part` shows that another run is about to finish `p`.
      let part = pgn + ".part"
      try Data("[Event".utf8).write(to: URL(filePath: part))
      let other = try #require(FileHandle(forReadingAtPath: part))
      #expect(flock(other.fileDescriptor, LOCK_EX) == 0)
      #expect(try Support.run(arguments).code == 2)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["p.part"])
      #expect(FileManager.default.contents(atPath: part) == Data("[Event".utf8))
      #expect(flock(other.fileDescriptor, LOCK_UN) == 0)
      #expect(try Support.run(arguments).code == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["p"])
    }
  }
}
