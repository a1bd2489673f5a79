import Foundation
import TestSupport
import Testing

@Suite(.tidy) struct CommandLineTests {
  private func run(_ arguments: [String], environment: [String: String] = [:]) throws -> (Int32, String, String) {
    let folder = try WindowProgram.newFolder()
    let variables: [String: String?] = [
      "XDG_DATA_HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
      "SDL_VIDEODRIVER": nil,
    ]
    let result = try Child.run(
      [WindowProgram.program.path] + arguments, environment: variables.merging(environment) { $1 }, seconds: 60)
    return (result.status, result.out, result.errors)
  }

  @Test(
    "An invalid argument is reported in one line that names it, with status 2",
    arguments: [
      ["--foo"], ["--level", "9"], ["--side", "z"], ["--buffer", "abc"], ["--buffer", "1"], ["--size", "1x1"],
      ["--size", "640x400"],
      ["--pace", "9"], ["--text-scale", "3"], ["--reply", "never"], ["--script", "/no/such/file"], ["--seed", "-1"],
      ["--leve", "5"], ["--device", "no such device"], ["/no/such/game.pgn", "--screenshot", "/dev/null"],
    ])
  func badArgument(_ arguments: [String]) throws {
    let (status, out, err) = try run(arguments)
    #expect(status == 2)
    #expect(out == "")
    #expect(err.hasPrefix("alina: "))
    #expect(err.contains(arguments[0]))
    #expect(err.filter { $0 == "\n" }.count == 1 && err.hasSuffix("\n"))
  }

  @Test("Help and version go to standard output with status 0", arguments: ["--help", "--version"])
  func help(_ flag: String) throws {
    let (status, out, err) = try run([flag])
    #expect(status == 0)
    #expect(!out.isEmpty)
    #expect(err == "")
  }

  @Test("Without a display the program reports it in one line and exits with status 1")
  func noDisplay() throws {
    let (status, out, err) = try run([])
    #expect(status == 1)
    #expect(out == "")
    #expect(err.hasPrefix("alina: no display") && err.filter { $0 == "\n" }.count == 1)
  }

  @Test("An error in a script is reported with file and line")
  func badScript() throws {
    let file = try WindowProgram.newFolder().appendingPathComponent("script")
    try Data("1s key enter\n2s jump 3\n".utf8).write(to: file)
    let (status, _, err) = try run(["--script", file.path, "--screenshot", "/dev/null"])
    #expect(status == 2)
    #expect(err.contains("line 2: unknown command 'jump'"))
  }

  @Test("A screenshot needs no display and is always the same picture")
  func screenshot() throws {
    let folder = try WindowProgram.newFolder()
    let script = folder.appendingPathComponent("script")
    try Data("1s play b2\n4s play a1\n".utf8).write(to: script)
    var pictures: [Data] = []
    for name in ["a.png", "b.png", "large.png"] {
      let picture = folder.appendingPathComponent(name)
      let (status, _, err) = try run([
        "--seed", "5", "--level", "2", "--script", script.path, "--size", "480x800", "--screenshot", picture.path,
        "--text-scale", name == "large.png" ? "1.5" : "1",
      ])
      #expect(status == 0)
      #expect(err == "")
      pictures.append(try Data(contentsOf: picture))
    }
    #expect(pictures[0].starts(with: [0x89, 0x50, 0x4E, 0x47]))
    #expect(pictures[0] == pictures[1] && pictures[0] != pictures[2])
    #expect(
      try WindowProgram.shell("identify", "-format", "%wx%h", folder.appendingPathComponent("a.png").path) == "480x800")
  }

  @Test("A picture that cannot be written is reported in one line with a failure status")
  func unwritable() throws {
    let (status, _, err) = try run(["--screenshot", "/proc/no/picture.png"])
    #expect(status == 1)
    #expect(err.contains("/proc/no/picture.png"))
  }
}
