import Arena
import ArgumentParser
import Base
import Foundation
import Processes
import TicTacToe

@main
struct AlinaArena: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alina-arena",
    abstract: "Plays, counts, solves and explains tic-tac-toe among programs.",
    discussion: """
      Exit codes: 0 done; 1 an engine failed its handshake; 2 wrong arguments or a wrong file; 3 the system refused \
      processes, descriptors or room on a disk (the file can be resumed); 130 interrupted (likewise; a second Ctrl-C ends \
      at once).
      """,
    version: alinaVersion,
    subcommands: [
      RunCommand.self, CompareCommand.self, ResumeCommand.self, MergeCommand.self, SPRTCommand.self, ExactCommand.self,
      PerftCommand.self,
      SolveCommand.self, AnalyseCommand.self, BotCommand.self, EngineCommand.self, MenaceCommand.self,
      TrainUltimateCommand.self, GuardCommand.self,
    ])

  static func main() {
    // Ignore SIGPIPE: a write to a closed pipe then fails with an error instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    // Reserve the descriptors 0, 1 and 2: a file opened in place of a closed standard output would receive the printed text.
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
    do {
      if let fault = Arguments.fault { throw ArenaError(fault) }
      var command = try parseAsRoot(joined(Array(CommandLine.arguments.dropFirst())))
      try command.run()
    } catch let error as ArenaError {
      fail(error.description, error.kind == .handshake ? 1 : error.kind == .resourceExhausted ? 3 : 2)
    } catch let code as ExitCode {
      Foundation.exit(code.rawValue)
    } catch {
      guard exitCode(for: error) == .success else {
        fail(message(for: error).split(separator: "\n").first.map(String.init) ?? "wrong arguments", 2)
      }
      do { try writeOut(fullMessage(for: error) + "\n") } catch { fail(error.description, 3) }
    }
  }

  /// `-sprt elo0=0 elo1=5`, in the form of cutechess-cli, becomes `--sprt=elo0=0,elo1=5`.
  private static func joined(_ arguments: [String]) -> [String] {
    let separators = ["-engine": EngineSettings.separator, "-each": EngineSettings.separator, "-sprt": ","]
    var result: [String] = []
    var open: (flag: String, separator: Character)?
    for word in arguments {
      if let (flag, separator) = open, word.contains("="), !word.hasPrefix("-"), let last = result.popLast() {
        result.append(last + (last == flag ? "" : String(separator)) + word)
      } else {
        let flag = separators[word] == nil ? word : "-\(word)="
        open = separators[word].map { (flag, $0) }
        result.append(flag)
      }
    }
    return result
  }

  private static func fail(_ message: String, _ code: Int32) -> Never {
    tell(message)
    Foundation.exit(code)
  }
}

func tell(_ message: String) { writeError("alina-arena: \(message)\n") }

struct GuardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "guard", abstract: "Runs an engine for the arena, and ends when the arena ends.", shouldDisplay: false)

  @Argument(parsing: .captureForPassthrough) var command: [String] = []

  func run() throws {
    guard command.count > 3, command[0] == "-C", command[2] == "--" else { throw ArenaError("guard needs a command") }
    EngineGuard.run(command)
  }
}

struct EngineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engine", abstract: "Plays as a UCI engine, or many games at once, on standard input and output.")

  @Option(help: "The player: \(PlayerSpec.memoryless), mcts:BUDGET, search:BUDGET, menace:FILE.")
  var player = "trap"
  @Option(help: "The seed of its choices.") var seed: UInt64 = 1
  @Flag(help: "Play many games at once over bytes, as python/ does, not UCI.") var batch = false
  @Option(help: "With --batch, the game: \(Variant.names).") var rules = "classic"

  func run() throws {
    let spec = try PlayerSpec(player)
    let variant = try Variant(option: rules)
    if batch {
      return try BatchServer(variant: variant, player: spec).serve(input: 0, output: 1)
    }
    guard variant.isImplied else {
      throw ArenaError(
        "--rules is for --batch; over UCI the other side says 'setoption name UCI_Variant value \(rules)'")
    }
    var server = try UCIServer(spec, seed: seed)
    server.serve(input: 0, output: 1)
  }
}
