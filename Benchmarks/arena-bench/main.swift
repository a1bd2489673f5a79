// Measures the arena beside C: scripts/bench-arena. Prints a table, or JSON with --json.
import Arena
import Foundation

signal(SIGPIPE, SIG_IGN)
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "guard": EngineGuard.run(Array(words.dropFirst()))
case nil, "--json", "--check":
  // A check is short: its figures mean nothing, and what C computes must be what we compute.
  let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let bench = ArenaBench(guardExecutable: program, scale: words.first == "--check" ? 0.01 : 1)
  print(words.first == "--json" ? bench.json : bench.text, terminator: words.first == "--json" ? "\n" : "")
  guard bench.isSound else {
    FileHandle.standardError.write(Data("arena-bench: a row is missing, or C computed something else\n".utf8))
    exit(1)
  }
default:
  FileHandle.standardError.write(Data("arena-bench: wrong argument '\(words[0])'; allowed: --json, --check\n".utf8))
  exit(2)
}
