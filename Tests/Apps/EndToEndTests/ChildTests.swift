import Foundation
import TestSupport
import Testing

@Suite struct ChildTests {
  @Test func `a child process inherits its three streams and no other descriptor`()
    throws
  {
    // A library that a test uses may open a descriptor without the close-on-exec flag. A child must not inherit it.
    let (null, high) = (open("/dev/null", O_RDONLY), Int32(200))
    #expect(dup2(null, high) == high && fcntl(high, F_GETFD) & FD_CLOEXEC == 0)
    defer { for descriptor in [null, high] { close(descriptor) } }
    // `ls` itself opens descriptor 3, to read the folder.
    #expect(try Child.run(["ls", "/proc/self/fd"]).out == "0\n1\n2\n3\n")
  }

  @Test func `a child process blocks and ignores no signal, whichever thread starts it`() throws {
    var (signals, before) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    // The tests' own process ignores SIGPIPE, and a child would inherit that.
    for (name, number) in [("TERM", SIGTERM), ("PIPE", SIGPIPE)] {
      #expect(try Child.run(["sh", "-c", "kill -\(name) $$"]).status == -number)
    }
  }

  @Test func `a child's input, outputs and status are separate, and no pipe blocks another`()
    throws
  {
    let text = String(repeating: "a line of many\n", count: 20_000)
    let result = try Child.run(["sh", "-c", "tee /dev/stderr; exit 7"], input: text)
    #expect(result.status == 7 && result.out == text && result.errors == text)
    #expect(try Child.run(["sh", "-c", "kill -9 $$"]).status == -SIGKILL)
    #expect(
      try Child.run(["sh", "-c", "pwd; echo $A$HOME"], environment: ["A": "b", "HOME": nil], folder: "/usr").out
        == "/usr\nb\n")
    #expect(throws: (any Error).self) { try Child.run(["no such program"]) }
    #expect(throws: Child.TookTooLong.self) { try Child(["sleep", "60"]).wait(seconds: 0.01) }
  }
}
