import Foundation
import TestSupport
import Testing

@Suite(.tidy, .needs("prlimit")) struct FullDiskTests {
  private static let score = [
    ["render", "game.pgn", "--to", "2", "--wav", "a.wav"], ["render", "game.pgn", "--to", "2", "--flac", "a.flac"],
    ["render", "game.pgn", "--midi", "a.mid"], ["render", "game.pgn", "--musicxml", "a.musicxml"],
    ["render", "game.pgn", "--svg", "a.svg"], ["render", "game.pgn", "--png", "a.png"], ["tone", "A4", "tone.wav"],
    [
      "live", "events.jsonl", "--wav", "a.wav", "--midi", "a.mid", "--musicxml", "a.musicxml", "--png", "a.png",
    ],
  ]
  // Short music, because rendering sound takes most of these tests' time.
  private static let game = "[Result \"*\"]\n\n1. b2 {[%emt 0:00:00.200]} a1 {[%emt 0:00:00.200]} *\n"
  private static let events = #"{"at": 0.1, "voice": "first", "degree": 4}"#
  private static let arena = [
    ["run", "--x", "random", "--o", "random", "--games", "200", "--pgn", "a.pgn"],
    ["run", "--x", "random", "--o", "random", "--games", "200", "--out", "a.jsonl"],
    ["run", "--x", "menace", "--o", "random", "--games", "200", "--save-menace", "a.menace"],
    ["menace", "train", "--games", "200", "--save", "a.menace", "--svg", "a.svg"],
  ]
  private static let window = [["--size", "640x480", "--screenshot", "a.png"], ["--icon", "a.png"]]

  @Test(
    "each writer ends with one line and a status of failure, and leaves whole files or none",
    arguments: [
      ("alina-score", score), ("alina-arena", arena), ("alina", window),
    ])
  func writers(program: String, commands: [[String]]) throws {
    try check(program, commands)
  }

  @Test(.needs("ffmpeg"))
  func `making a film on a full disk ends with one line and a status of failure, and leaves no file`() throws {
    try check("alina-score", [["film", "game.pgn", "--out", "a.mp4", "--size", "320x320"]])
  }

  private func check(_ program: String, _ commands: [[String]]) throws {
    for arguments in commands {
      func run(_ limit: Int?) throws -> (told: Child.Output, files: [String: Data]) {
        let folder = try WindowProgram.newFolder()
        for (name, text) in [("game.pgn", FullDiskTests.game), ("events.jsonl", FullDiskTests.events)] {
          try text.write(to: folder.appending(path: name), atomically: false, encoding: .utf8)
        }
        // At the size limit SIGXFSZ would end the program. With SIGXFSZ ignored, `write` fails as on a full disk.
        let limited = limit.map { ["sh", "-c", "trap '' XFSZ; exec prlimit --fsize=$0 \"$@\"", "\($0)"] } ?? []
        let program = WindowProgram.program.deletingLastPathComponent().appending(path: program).path
        let told = try Child.run(
          limited + [program] + arguments,
          environment: ["XDG_DATA_HOME": folder.path, "XDG_CONFIG_HOME": folder.path], folder: folder.path, seconds: 120
        )
        var files: [String: Data] = [:]
        for path in FileManager.default.subpaths(atPath: folder.path) ?? []
        where !["game.pgn", "events.jsonl"].contains(path) {
          files[path] = try? Data(contentsOf: folder.appending(path: path))
        }
        return (told, files)
      }
      let whole = try run(nil)
      let largest = whole.files.values.map(\.count).max() ?? 0
      try #require(whole.told.status == 0 && largest > 1, "\(arguments): \(whole.told)")
      for limit in [1, largest - 1] {
        let (told, files) = try run(limit)
        let context = Comment(rawValue: "\(program) \(arguments), \(limit) bytes: \(told), \(files.keys)")
        #expect(told.status > 0, context)
        #expect(told.errors.hasPrefix("\(program): ") && told.errors.count { $0 == "\n" } == 1, context)
        // The arena appends each game to `a.jsonl`, and `resume` plays the rest. So only this file may be incomplete.
        for (name, bytes) in files where name != "a.jsonl" {
          #expect(bytes.count == whole.files[name]?.count, context)
        }
      }
    }
  }
}
