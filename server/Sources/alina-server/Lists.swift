import ArgumentParser
import MatchStore

extension PlayerList: ExpressibleByArgument {}

struct Players: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List players of the running server, a hundred at a time; also those who are banned or muted.",
    discussion: "A line each, with tabs between its fields. The last line says how to ask for the next hundred.")
  @Option(help: "Whom to list.") var list = PlayerList.named
  @Option(help: ArgumentHelp("List those whose number is greater.", valueName: "id")) var after: Int64 = 0
  @OptionGroup var port: AdminPort

  func run() throws {
    try port.show("/players?list=\(list.rawValue)&after=\(after)", by: "players --list \(list.rawValue) --after")
  }
}

struct Reports: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List what players have reported, the latest first, a hundred at a time; kept for 90 days.",
    discussion: "A line each, with tabs between its fields. The last line says how to ask for the next hundred.")
  @Option(help: ArgumentHelp("List those whose number is less (default: the latest).", valueName: "id"))
  var before: Int64?
  @OptionGroup var port: AdminPort

  func run() throws {
    try port.show("/reports" + (before.map { "?before=\($0)" } ?? ""), by: "reports --before")
  }
}
