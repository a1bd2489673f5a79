import Foundation
import TestSupport
import Testing

@Suite struct ScriptTests {
  private func write(_ files: [String: String], in folder: TemporaryFolder) throws {
    for (path, text) in files {
      let file = URL(filePath: folder.path).appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      if path.hasPrefix("bin/") {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      }
    }
  }

  @Test func `an import that Package.swift does not list is reported with file, line, target and the allowed imports`()
    throws
  {
    let folder = TemporaryFolder()
    try write(
      [
        "Package.swift": """
        // swift-tools-version: 6.2
        import PackageDescription
        let package = Package(name: "Small", targets: [
          .target(name: "Rules"), .target(name: "Music", dependencies: ["Rules"]), .target(name: "Game"),
          .testTarget(name: "MusicTests", dependencies: ["Music"]),
        ])
        """,
        "scripts/import-rules": "# a comment\nMusic: Foundation\ntests: Testing\n",
        "Sources/Rules/Rules.swift": "/*\nimport Nothing\n*/\nlet text = \"\"\"\n  import Nothing\n  \"\"\"\n",
        "Sources/Music/Music.swift": "import Foundation\nimport Rules\nimport Game\n",
        "Sources/Game/Game.swift":
          "#if canImport(Glibc)\n  import Glibc\n#endif\n@preconcurrency import struct Rules.Rule\n",
        "Tests/MusicTests/MusicTests.swift": "@testable import Music\nimport Testing\npackage import Foundation\n",
        "Tests/Loose/Loose.swift": "",
      ], in: folder)
    let result = try Child.run([repository.appending(path: "scripts/imports").path, folder.path])
    #expect(result.status == 1 && result.errors.isEmpty, "\(result)")
    #expect(
      result.out == """
        Sources/Game/Game.swift:2: Game may not import Glibc; Package.swift allows it no target, scripts/import-rules nothing
        Sources/Game/Game.swift:4: Game may not import Rules; Package.swift allows it no target, scripts/import-rules nothing
        Sources/Music/Music.swift:3: Music may not import Game; Package.swift allows it Rules, scripts/import-rules Foundation
        Tests/Loose/Loose.swift: no target of Package.swift has this file
        Tests/MusicTests/MusicTests.swift:3: MusicTests may not import Foundation; Package.swift allows it Music, \
        scripts/import-rules Testing

        """)
  }

  @Test func `this package's imports are all listed in Package.swift`() throws {
    let result = try Child.run([repository.appending(path: "scripts/imports").path])
    #expect(result.status == 0, "\(result.out)\(result.errors)")
  }

  /// Installs a missing package with the shell script `apt` in place of apt-get.
  private func install(apt: String) throws -> Child.Output {
    let folder = TemporaryFolder()
    try write(
      [
        "bin/apt-get": "#!/bin/bash\n" + apt, "bin/apt-cache": "#!/bin/bash\n[ $2 = new ]",
        "bin/sudo": "#!/bin/bash\nshift; \"$@\"",
        // A `sleep` that does not wait.
        "bin/sleep": "#!/bin/bash\n",
      ], in: folder)
    let script = """
      . \(repository.appending(path: "scripts/setup.sh").path)
      missing() { [ -e \(folder.path)/installed ] || echo "old|new bin:thing"; }
      need window && echo there
      """
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return try Child.run(
      ["bash", "-c", script], environment: ["PATH": "\(folder.path)/bin:\(path)"], folder: folder.path)
  }

  @Test func `the installer waits for apt's lock and names its holder`() throws {
    let result = try install(
      apt: """
        echo "$*" >>calls
        case $(wc -l <calls) in
          2) echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4242 (unattended-upgr)"; exit 100 ;;
          3) echo "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend)"
             echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 17 (apt-get)"; exit 100 ;;
          4) [[ "$*" = "install "*" new" ]] && touch installed ;;
        esac
        """)
    #expect(result.status == 0 && result.out == "there\n", "\(result)")
    #expect(
      result.errors == """
        asking apt which packages are available
        installing new
        waiting until another program has installed: process 4242 (unattended-upgr) holds apt's lock
        waiting until another program has installed: process 17 (apt-get) holds apt's lock

        """)
  }

  @Test func `packages that apt cannot install are named after apt's own message`() throws {
    let result = try install(apt: "[ $1 = update ] || { echo 'E: no space left'; exit 100; }")
    #expect(result.status == 1 && result.out.isEmpty, "\(result)")
    #expect(
      result.errors
        == "asking apt which packages are available\ninstalling new\nE: no space left\nbash: apt could not install: new\n"
    )
  }

  /// Writes `play` and the scripts that build the page, with nothing to install. In place of the compiler a shell script makes the file
  /// `builds`, then runs `swift`.
  private func writePlay(_ files: [String: String], swift: String, in folder: TemporaryFolder) throws {
    var files = files
    files["bin/swift"] = "#!/bin/bash\ntouch \(folder.path)/builds\n\(swift)\n"
    (files["scripts/packages"], files["Package.swift"]) = ("# nothing\n", "")
    for script in ["setup.sh", "web", "web-files"] {
      files["scripts/\(script)"] = try String(
        contentsOf: repository.appending(path: "scripts/\(script)"), encoding: .utf8)
    }
    files["bin/play"] = try String(contentsOf: repository.appending(path: "play"), encoding: .utf8)
    try write(files, in: folder)
    let rest = "mkdir -p Sources server web Assets .build/release; chmod +x scripts/*; mv bin/play ."
    #expect(try Child.run(["sh", "-c", rest], folder: folder.path).status == 0)
  }

  @Test func `the page replaces only an earlier build, in a folder named from where the command was typed`() throws {
    let folder = TemporaryFolder()
    try writePlay(
      [
        "elsewhere/site/index.html": "ours", "elsewhere/site/sw.js": "const version = '0123456789abcdef'",
        "elsewhere/site/v/0123456789abcdef/alina.js": "ours", "elsewhere/home/cv.txt": "mine",
        "elsewhere/both/index.html": "ours", "elsewhere/both/sw.js": "const version = '0123456789abcdef'",
        "elsewhere/both/cv.txt": "mine", "elsewhere/other/index.html": "mine", "elsewhere/file": "mine",
      ], swift: "exit 1", in: folder)
    let elsewhere = folder.path + "/elsewhere"
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    func run(_ command: [String]) throws -> Child.Output {
      try Child.run(
        ["\(folder.path)/\(command[0])"] + command.dropFirst(), environment: ["PATH": "\(folder.path)/bin:\(path)"],
        folder: elsewhere)
    }
    for name in ["site", "missing"] {
      let result = try run(["scripts/web-files", "--check", name])
      #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    }
    for (name, why) in [
      ("home", "home has cv.txt"), ("both", "both has cv.txt"), ("other", "other has index.html"),
      (".", "elsewhere has both"), ("..", "has .build"), ("file", "file is not a folder"),
    ] {
      for command in [["play", "--web", name], ["scripts/web", "--out", name], ["scripts/web-files", name, ""]] {
        let result = try run(command)
        #expect(result.status == 1 && result.out.isEmpty, "\(result)")
        #expect(result.errors.hasPrefix("web-files: /") && result.errors.contains(why), "\(command): \(result)")
        #expect(result.errors.hasSuffix("missing, empty, or holds only a page of an earlier build\n"), "\(result)")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/builds"), "the folder is refused before the build")
    for file in ["home/cv.txt", "both/cv.txt", "other/index.html", "file", "site/index.html"] {
      #expect(FileManager.default.fileExists(atPath: "\(elsewhere)/\(file)"), "\(file)")
    }
  }

  @Test func `stopping a server also stops the build of its page, without output`() throws {
    let folder = TemporaryFolder()
    try writePlay(
      ["bin/alina-server": "#!/bin/bash\necho listening\nexec sleep 600\n"], swift: "exec sleep 600", in: folder)
    let moving = "mv bin/alina-server .build/release; touch .build/built-alina-server"
    #expect(try Child.run(["sh", "-c", moving], folder: folder.path).status == 0)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let server = try Child(
      [folder.path + "/play", "--serve"], environment: ["PATH": "\(folder.path)/bin:\(path)"], output: .pipe,
      errors: .pipe)
    #expect(server.line() == "listening")
    try waitFor(seconds: 20, "the page's build") {
      FileManager.default.fileExists(atPath: folder.path + "/builds") ? () : nil
    }
    server.signal(SIGINT)
    #expect(try server.wait() == -SIGINT)
    // The page's build has the server's pipe as its standard error, so reading to the pipe's end also waits for the end of the build.
    let said = String(decoding: server.errors.readDataToEndOfFile(), as: UTF8.self)
    #expect(said == "building the game page in the background; the server serves it once it is built\n")
  }
}
