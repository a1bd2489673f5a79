import ArgumentParser
import Base
import Dispatch
import Foundation
import MatchStore
import ServerTransport

@main
struct AlinaServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alina-server", abstract: "The match server of Alina.",
    discussion: """
      Without a subcommand it serves. Flags that take no value are off unless given. Every flag can also stand in a \
      file (--config FILE, default: none, lines of "name = value") or in the environment (ALINA_LISTEN for --listen, \
      ALINA_MAX_CONNECTIONS for --max-connections); a flag on the command line wins over the environment, which wins \
      over the file. The other subcommands take the flags that they have from there too.
      """, version: alinaVersion,
    subcommands: [
      Serve.self, CheckConfig.self, Status.self, Players.self, Reports.self, Backup.self, Restore.self, Export.self,
      Import.self, Forget.self, Token.self,
    ],
    defaultSubcommand: Serve.self)

  private static var wholeHelp: String {
    let serving = Serve.helpMessage()
    let options = serving.range(of: "ADDRESSES:").map { serving[$0.lowerBound...] } ?? ""
    return helpMessage() + "\n\nFlags of serve, the default:\n\n" + options
  }

  /// Swift reads the command line from /proc. Where /proc is not mounted, find it in memory: the kernel puts the count, the arguments and a
  /// null in front of the environment.
  private static var words: [String] {
    guard access("/proc/self/cmdline", R_OK) != 0 else { return CommandLine.arguments }
    let end = environ - 1
    var count = 0
    while Int(bitPattern: (end - 1 - count).pointee) != count { count += 1 }
    return (0..<count).compactMap { (end - count + $0).pointee.map { String(cString: $0) } }
  }

  /// An error is one line; wrong arguments exit with 2.
  static func main() {
    // If a standard descriptor is closed, a file or connection would get its number and receive the output or the log. Opened for reading
    // only, so that writing still fails.
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDONLY)
    }
    let given = words.dropFirst()
    do {
      if given.count == 1, given.allSatisfy({ ["--help", "-h", "help"].contains($0) }) {
        return try writeOut("\(wholeHelp)\n".utf8)
      }
      if given == ["--version"] { return try writeOut("\(alinaVersion)\n".utf8) }
      try ConfigurationSources.refusePasswords(given)
      if given.first == "cluster-cert" {
        throw ConfigurationError(
          text: "cluster-cert was removed: nodes need no certificates, only the same --store; docs/cluster.md")
      }
      let arguments = try ConfigurationSources.arguments(given)
      var command = try parseAsRoot(arguments)
      guard let serving = command as? Serve else { return try command.run() }
      // Dispatch watches its threads in /proc/self/task, and ends the process if it cannot read that folder.
      guard access("/proc/self/task", R_OK) == 0 else {
        throw StoreError.unusable(
          "/proc is not mounted: threads need it; mount it (mount -t proc proc /proc) and try again")
      }
      Task {
        do { try await serving.run() } catch { Failure.exit(error, of: Self.self) }
        LineWriter.errors.flush()
        Foundation.exit(0)
      }
      dispatchMain()
    } catch {
      Failure.exit(error, of: Self.self)
    }
  }
}
