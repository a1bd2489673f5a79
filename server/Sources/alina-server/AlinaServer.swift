import ArgumentParser
import Base
import Dispatch
import Foundation
import MatchStore

/// `alina-server`: serves matches, and looks after what it keeps.
@main
struct AlinaServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alina-server", abstract: "The match server of Alina.",
    discussion: """
      Without a subcommand it serves. Flags that take no value are off unless given. Every flag can also stand in a \
      file (--config FILE, default: none, lines of "name = value") or in the environment (ALINA_LISTEN for --listen, \
      ALINA_MAX_CONNECTIONS for --max-connections); a flag on the command line wins over the environment, which wins \
      over the file.
      """, version: alinaVersion,
    subcommands: [
      Serve.self, CheckConfig.self, Status.self, Backup.self, Restore.self, Export.self, Import.self, Forget.self,
      ClusterCert.self,
    ],
    defaultSubcommand: Serve.self)

  /// The help of the program with that of serving, which needs no subcommand to be named.
  private static var wholeHelp: String {
    let serving = Serve.helpMessage()
    let options = serving.range(of: "ADDRESSES:").map { serving[$0.lowerBound...] } ?? ""
    return helpMessage() + "\n\nFlags of serve, the default:\n\n" + options
  }

  /// Parses arguments after laying those of file and environment under them; errors are one line, exit 2.
  static func main() {
    if CommandLine.arguments.count == 2, ["--help", "-h", "help"].contains(CommandLine.arguments[1]) {
      return print(wholeHelp)
    }
    if CommandLine.arguments.dropFirst() == ["--version"] { return print(alinaVersion) }
    do {
      try Layers.refusePasswords(CommandLine.arguments.dropFirst())
      let arguments = try Layers.arguments(CommandLine.arguments.dropFirst())
      var command = try parseAsRoot(arguments)
      guard let serving = command as? Serve else { return try command.run() }
      // Dispatch watches its threads there, and traps where it cannot.
      guard access("/proc/self/task", R_OK) == 0 else {
        throw StoreError.unusable(
          "/proc is not mounted: threads need it; mount it (mount -t proc proc /proc) and try again")
      }
      Task {
        do { try await serving.run() } catch { Failure.exit(error, of: Self.self) }
        Foundation.exit(0)
      }
      dispatchMain()
    } catch {
      Failure.exit(error, of: Self.self)
    }
  }
}
