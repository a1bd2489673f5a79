import Foundation
import MatchClient
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

/// Whole tournaments on real servers, played by the arena's bots.
@Suite(.serialized) struct TournamentEndToEndTests {
  private func bots(_ player: String, _ count: Int, _ view: TournamentView, at port: Int) throws -> Child {
    let arena = URL(filePath: try #require(ServerChild.binary)).deletingLastPathComponent().appending(
      path: "alina-arena"
    ).path
    return try Child(
      [
        arena, "bot", "--connect", "127.0.0.1:\(port)", "--player", player, "--event", view.code,
        "--rules", view.notice.terms.rules.rawValue, "--concurrency",
        "\(count)",
        "--name", player.replacing(":", with: "-"),
      ], output: .pipe, errors: .ours)
  }

  @Test(arguments: [Variant.classic, .infinite])
  func `the table of a tournament is the one that a script makes from the exported logs, also if the server is killed`(
    rules: Variant
  ) async throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let client = MatchClient(
      .init(.init(.init(host: "127.0.0.1", port: server.port)), identity: .init(client: "test", guest: "teacher")))
    client.connect()
    defer { client.disconnect() }
    let organiser = Watcher(client)
    _ = try await organiser.online()
    let terms = TournamentTerms(
      name: "Class 4", rules: rules, clock: TimeControl(seconds: 10, increment: 0), minutes: 5, bots: true)
    client.perform(.host(terms))
    func view(_ what: String, _ holds: @escaping (TournamentView) -> Bool) async throws -> TournamentView {
      try await organiser.wait(what, seconds: 90) {
        if case .tournament(let view) = $0, holds(view) { view } else { nil }
      }
    }
    let made = try await view("the tournament") { $0.notice.isOrganiser }
    let code = made.code
    let players = try [("levels:1", 3), ("levels:4", 2), ("levels:6", 2)].map { player, count in
      try bots(player, count, made, at: server.port)
    }
    _ = try await view("seven players") { $0.table.count == 7 }
    client.perform(.tournament(.init(.start, code)))
    func played(_ games: Int) async throws {
      _ = try await view("\(games) games") { $0.table.reduce(0) { $0 + $1.games } >= 2 * games }
    }
    try await played(6)
    server.kill9()
    server.wait()
    try server.start()
    try await played(14)
    client.perform(.tournament(.init(.end, code)))
    let last = try await view("the end") { $0.notice.phase == .over }
    for child in players { #expect(try child.wait() == 0) }
    #expect(last.notice.winners.map(\.name) == last.table.prefix(3).map(\.name))
    server.stop()
    let file = folder.path + "/export"
    #expect(try ServerChild.run(["export", "--data", folder.path, file]).code == 0)
    let program = repository.appending(path: "Tests/Tournament/table.py").path
    let script = try Child.run(["python3", program, file, code])
    let rows = last.table.filter { $0.games > 0 }.map {
      "\($0.name) \($0.points) \($0.streak) \($0.games) \($0.opposition)"
    }
    #expect(Set(script.out.split(separator: "\n").map(String.init)) == Set(rows))
    #expect(rows.count == 7)
  }
}
