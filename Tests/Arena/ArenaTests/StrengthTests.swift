import Base
import Foundation
import TestSupport
import Testing

@Suite("Measures of strength", .serialized) struct StrengthEndToEndTests {
  @Test func `compare tests a new program against the old one; an engine's faults are counted by kind`() throws {
    try Support.withFolder { folder in
      let compared = try Support.run(["compare", "levels:2", "levels:4", "--seed", "3", "--json"])
      let json = try JSON(String(compared.out.dropLast()))
      #expect(json["players"]?.array?.map(\.string) == ["levels:4", "levels:2"] && json["ending"]?.string == "sprt")
      #expect(json["results"]?.array?.first?["sprt"]?["verdict"]?.string == "H1", "\(compared)")
      let engine = folder + "/engine"
      let script = """
        #!/bin/sh
        while read -r word rest; do
          case $word in
            uci) echo uciok ;;
            isready) echo readyok ;;
            go) [ -e \(folder)/once ] && exit 7; : >\(folder)/once; echo bestmove z9 ;;
            quit) exit ;;
          esac
        done
        """
      try script.write(toFile: engine, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: engine)
      let words = ["compare", "random", engine, "--games", "6", "--threads", "1", "--out", folder + "/games"]
      let played = try Support.run(words)
      let lines = ["engine, illegal move, 1×: illegal move 'z9'\n", "engine, crash, 5×: exited with code 7\n"]
      for line in lines { #expect(played.out.contains(line), "\(played)") }
      let file = try String(contentsOfFile: folder + "/games", encoding: .utf8).split(separator: "\n")
      try (file.prefix(4).joined(separator: "\n") + "\n").write(
        toFile: folder + "/games", atomically: true, encoding: .utf8)
      let resumed = try Support.run(["resume", folder + "/games"])
      for line in lines { #expect(resumed.out.contains(line), "\(resumed)") }
      let refused = try Support.run(["compare", "random", "levels:1", "--format", "swiss"])
      #expect(refused.code == 2 && refused.err.contains("compare plays a match"), "\(refused)")
    }
  }

  @Test func `the table of strength has a line for each engine, and a wrong time is refused`() throws {
    func strength(_ words: String...) throws -> Child.Output {
      try Child.run([repository.path + "/scripts/strength"] + words, environment: ["ALINA_ARENA": Support.arena])
    }
    let engines = ["random", "levels:1"].map { "\(Support.arena) engine --player \($0)" }
    let table = try strength("--time", "5ms", "--games", "2", engines[0], engines[1])
    // Games may be lost on time on a slow machine, so the winner is not checked.
    #expect(table.status == 0 && table.out.contains("\ngames 4: "), "\(table)")
    for name in ["random", "levels:1"] { #expect(table.out.contains("Alina – Alina \(name): won "), "\(table)") }
    let refused = try strength("--time", "5", engines[0])
    #expect(refused.status != 0 && refused.errors.contains("--time 5: milliseconds or seconds"), "\(refused)")
  }
}
