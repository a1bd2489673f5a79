import ArgumentParser
import MatchStore

extension PlayerList: ExpressibleByArgument {}

struct Players: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List players of the running server, a hundred at a time; also those who are banned or muted.",
    discussion: "One line each, fields separated by tabs. The last line has the command for the next hundred.")
  @Option(help: "The list to show.") var list = PlayerList.named
  @Option(help: ArgumentHelp("List players with a greater number.", valueName: "id")) var after: Int64 = 0
  @OptionGroup var port: AdminPort

  func run() throws {
    try port.show("/players?list=\(list.rawValue)&after=\(after)", by: "players --list \(list.rawValue) --after")
  }
}

struct Reports: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List what players have reported, the latest first, a hundred at a time; kept for 90 days.",
    discussion: "One line each, fields separated by tabs. The last line has the command for the next hundred.")
  @Option(help: ArgumentHelp("List reports with a smaller number (default: the latest).", valueName: "id"))
  var before: Int64?
  @OptionGroup var port: AdminPort

  func run() throws {
    try port.show("/reports" + (before.map { "?before=\($0)" } ?? ""), by: "reports --before")
  }
}
