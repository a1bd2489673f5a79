import Foundation
import TestSupport
import Testing

@Suite(.tidy) struct InstalledTests {
  private static let homes: [[String: String?]] = [
    ["HOME": nil, "XDG_DATA_HOME": nil, "XDG_CONFIG_HOME": nil],
    ["HOME": "/proc/nobody", "XDG_DATA_HOME": nil, "XDG_CONFIG_HOME": nil],
  ]
  private static let game = "docs/heard/game.pgn"

  /// Programs and data in a temporary folder, laid out as a package installs them. The programs run in the folder `desk`.
  private struct Tree {
    let root: URL
    let desk: URL

    init() throws {
      root = try WindowProgram.newFolder()
      desk = root.appending(path: "desk")
      let (bin, share) = (root.appending(path: "bin"), root.appending(path: "share/alina"))
      for folder in [bin, share.appending(path: "web"), desk] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      }
      for program in ["alina", "alina-score", "alina-arena", "alina-server"] {
        try FileManager.default.copyItem(
          at: WindowProgram.program.deletingLastPathComponent().appending(path: program),
          to: bin.appending(path: program))
      }
      let assets = repository.appending(path: "Assets")
      for name in try FileManager.default.contentsOfDirectory(atPath: assets.path)
      where name.hasSuffix(".yaml") || name == "ultimate.values" {
        try FileManager.default.copyItem(at: assets.appending(path: name), to: share.appending(path: name))
      }
      try Data("<!doctype html>".utf8).write(to: share.appending(path: "web/index.html"))
      try FileManager.default.copyItem(
        at: repository.appending(path: InstalledTests.game), to: desk.appending(path: "game.pgn"))
    }

    func run(_ program: String, _ arguments: [String], _ home: [String: String?]) throws -> Child.Output {
      let display: [String: String?] = ["DISPLAY": nil, "WAYLAND_DISPLAY": nil]
      return try Child.run(
        [root.appending(path: "bin/\(program)").path] + arguments, environment: home.merging(display) { $1 },
        folder: desk.path, seconds: 120)
    }
  }

  @Test("each program finds each of its assets", arguments: homes)
  func assets(home: [String: String?]) throws {
    let tree = try Tree()
    let share = tree.root.appending(path: "share/alina")
    func expect(_ program: String, _ arguments: [String]) throws -> Child.Output {
      let told = try tree.run(program, arguments, home)
      #expect(told.status == 0 && told.errors == "", "\(program) \(arguments): \(told)")
      return told
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: share.path) where file.hasSuffix(".yaml") {
      let rules = String(file.dropLast(5))
      _ = try expect("alina-score", ["render", "game.pgn", "--score-rules", rules, "--midi", "\(rules).mid"])
      _ = try expect(
        "alina", ["game.pgn", "--score-rules", rules, "--size", "640x480", "--screenshot", "\(rules).png"])
    }
    for level in [5, 6] {
      _ = try expect(
        "alina-arena",
        [
          "run", "--rules", "ultimate", "--x", "levels:\(level)", "--o", "random", "--games", "2", "--progress",
          "never",
        ])
    }
    let server = try Child(
      [tree.root.appending(path: "bin/alina-server").path, "serve", "--memory", "--no-admin"]
        + ["--listen", "127.0.0.1:0", "--page", "127.0.0.1:0"],
      environment: home, folder: tree.desk.path, output: .pipe)
    #expect(server.line()?.hasPrefix("listening ") == true)
    #expect(server.line()?.hasPrefix("in a browser: ") == true, "the page is found")
    server.kill()
  }

  @Test("a missing asset is reported in one line with the folders that were searched")
  func missing() throws {
    let tree = try Tree()
    try FileManager.default.removeItem(at: tree.root.appending(path: "share"))
    for (program, arguments) in [
      ("alina", ["--screenshot", "a.png"]), ("alina-score", ["render", "game.pgn", "--midi", "a.mid"]),
      ("alina-arena", ["run", "--rules", "ultimate", "--x", "levels:6", "--o", "random", "--games", "2"]),
    ] {
      let told = try tree.run(program, arguments, InstalledTests.homes[0])
      #expect(told.status != 0 && told.errors.contains("looked in /"), "\(program): \(told)")
      #expect(told.errors.count { $0 == "\n" } == 1)
    }
  }

  @Test("a file name that is not UTF-8 is refused in one line that shows its bytes")
  func latin1() throws {
    let tree = try Tree()
    for (program, command) in [("alina", ""), ("alina-score", "explain"), ("alina-arena", "resume")] {
      let told = try Child.run(
        ["sh", "-c", #"cp game.pgn "$(printf 'caf\351.pgn')"; exec "$0" $1 "$(printf 'caf\351.pgn')""#]
          + [tree.root.appending(path: "bin/\(program)").path, command],
        folder: tree.desk.path, seconds: 60)
      #expect(told.status == 2 && told.out == "", "\(told)")
      #expect(told.errors.hasPrefix("\(program): argument ") && told.errors.contains(#"caf\xe9.pgn"#), "\(told)")
      #expect(told.errors.count { $0 == "\n" } == 1)
    }
  }
}
