import Foundation
import TestSupport
import Testing

@Suite("The arena's bot on a match server") struct BotTests {
  @Test(arguments: [("seek", []), ("join", ["--room", "ABC234"])])
  func `a bot retries after a temporary refusal, and ends with one line after a permanent one`(
    asked: String, room: [String]
  ) throws {
    let script = Support.folder.appending(path: "Fixtures/refuse.py").path
    let result = try Support.run(["python3", script, Support.arena, "bot"] + room, program: "/usr/bin/env")
    #expect(result.out == String(repeating: asked + "\n", count: 3), "\(result)")
    #expect(result.code == 2 && result.err.contains("not paired: no such game"), "\(result)")
  }
}
