import ArgumentParser
import Foundation
import MatchStore

struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the state of the server on this machine: readiness, players, matches, waiting work.",
    discussion: "Exits with 0 if the server is ready, with 1 if it is not ready or not running.")
  @OptionGroup var port: AdminPort

  private static let shown = [
    ("nodes", "nodes alive"), ("open_connections", "connections"), ("sessions", "sessions"),
    ("accounts", "accounts in memory"),
    ("matches", "matches in memory"), ("live_matches", "live matches"), ("queue", "waiting for an opponent"),
    ("tournaments", "tournaments followed here"), ("tournament_entrants", "players of these tournaments"),
    ("tournament_wait_seconds", "longest wait for the next game of a tournament, in seconds"),
    ("pending_units", "writes waiting"), ("pending_questions", "questions waiting"),
    ("broken_matches", "broken matches"),
  ]

  func run() throws {
    let ready = try port.ask("/readyz")
    try writeOut("ready: \(ready.status == 200 ? "yes" : "no, \(ready.body)")\n".utf8)
    var values: [Substring: Substring] = [:]
    for line in try port.ask("/metrics").body.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      if words.count == 2 { values[words[0]] = words[1] }
    }
    var lines: [String] = []
    for (name, title) in Status.shown {
      if let value = values["alina_\(name)"] { lines.append("\(title): \(value)") }
    }
    if let text = values["alina_certificate_expires_seconds"], let end = Double(text) {
      lines.append("days until the certificate ends: \(Int((end - Date().timeIntervalSince1970) / 86_400))")
    }
    if values["alina_certificate_refused"] == "1" {
      lines.append("the last reload was refused: the certificates cannot be used, and the old ones stay")
    }
    try writeOut(lines.map { $0 + "\n" }.joined(separator: "").utf8)
    if ready.status != 200 { throw ExitCode(1) }
  }
}
