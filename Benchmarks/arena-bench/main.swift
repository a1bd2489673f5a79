// Compares the arena with C (scripts/bench-arena). Prints a table, or JSON with `--json`. `--top MILLISECONDS GAMES` plays Ultimate's
// search with the value function against the same search without it, with equal time per move.
import Arena
import Foundation

signal(SIGPIPE, SIG_IGN)
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "guard": EngineGuard.run(Array(words.dropFirst()))
case nil, "--json", "--check":
  // With `--check` the work is too short for valid times; only the equality of the results is checked.
  let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let bench = ArenaBench(guardExecutable: program, scale: words.first == "--check" ? 0.01 : 1)
  print(words.first == "--json" ? bench.json : bench.text, terminator: words.first == "--json" ? "\n" : "")
  guard bench.isSound else {
    FileHandle.standardError.write(Data("arena-bench: a row is missing, or C computed something else\n".utf8))
    exit(1)
  }
case "--top" where words.count == 3:
  guard let time = Double(words[1]), let games = Int(words[2]), time > 0, games > 0 else {
    FileHandle.standardError.write(Data("arena-bench: --top MILLISECONDS GAMES, both above 0\n".utf8))
    exit(2)
  }
  do {
    print(try ArenaBench.playTop(milliseconds: time, games: games))
  } catch {
    FileHandle.standardError.write(Data("arena-bench: \(error)\n".utf8))
    exit(1)
  }
default:
  FileHandle.standardError.write(
    Data("arena-bench: wrong argument '\(words[0])'; allowed: --json, --check, --top MILLISECONDS GAMES\n".utf8))
  exit(2)
}
