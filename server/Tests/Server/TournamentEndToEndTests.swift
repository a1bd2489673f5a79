import Foundation
import MatchClient
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@Suite(.serialized) struct TournamentEndToEndTests {
  private func arena() throws -> String {
    URL(filePath: try #require(ServerChild.binary)).deletingLastPathComponent().appending(path: "alina-arena").path
  }

  /// Starts bots that connect to the first of the nodes that answers.
  private func bots(_ player: String, _ count: Int, _ view: TournamentView, at nodes: [String]) throws -> Child {
    try Child(
      [
        arena(), "bot", "--connect", nodes.joined(separator: ","), "--player", player, "--event", view.code, "--rules",
        view.notice.terms.rules.rawValue, "--concurrency", "\(count)", "--name", player.replacing(":", with: "-"),
      ], output: .pipe, errors: .ours)
  }

  private func watcher(_ name: String, at node: ServerAddress.Node) async throws -> Watcher {
    let client = MatchClient(.init(.init(node), identity: .init(client: "test", guest: name)))
    client.connect()
    let watcher = Watcher(client)
    _ = try await watcher.online()
    return watcher
  }

  private func view(
    _ what: String, of watcher: Watcher, _ holds: (TournamentView) -> Bool
  ) async throws -> TournamentView {
    try await watcher.wait(what, seconds: 90) {
      if case .tournament(let view) = $0, holds(view) { view } else { nil }
    }
  }

  /// In the form of Tests/Tournament/table.py.
  private func rows(_ view: TournamentView) -> Set<String> {
    Set(
      view.table.filter { $0.games > 0 }.map { "\($0.name) \($0.points) \($0.streak) \($0.games) \($0.opposition)" })
  }

  private func rows(exported file: String, _ code: String) throws -> Set<String> {
    let program = repository.appending(path: "Tests/Tournament/table.py").path
    return Set(try Child.run(["python3", program, file, code]).out.split(separator: "\n").map(String.init))
  }

  @Test(arguments: Variant.allCases)
  func `the table of a tournament is the one that a script makes from the exported logs, also if the server is killed`(
    rules: Variant
  ) async throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let nodes = ["127.0.0.1:\(server.port)"]
    let organiser = try await watcher("teacher", at: .init(host: "127.0.0.1", port: server.port))
    defer { organiser.client.disconnect() }
    let terms = TournamentTerms(
      name: "Class 4", rules: rules, clock: TimeControl(seconds: 10, increment: 0), minutes: 5, bots: true)
    organiser.client.perform(.host(terms))
    let made = try await view("the tournament", of: organiser) { $0.notice.isOrganiser }
    let players = try [("levels:1", 3), ("levels:4", 2), ("levels:6", 2)].map { player, count in
      try bots(player, count, made, at: nodes)
    }
    _ = try await view("seven players", of: organiser) { $0.table.count == 7 }
    organiser.client.perform(.tournament(.init(.start, made.code)))
    func played(_ games: Int) async throws {
      _ = try await view("\(games) games", of: organiser) { $0.table.reduce(0) { $0 + $1.games } >= 2 * games }
    }
    try await played(6)
    server.kill9()
    server.wait()
    try server.start()
    try await played(14)
    organiser.client.perform(.tournament(.init(.end, made.code)))
    let last = try await view("the end", of: organiser) { $0.notice.phase == .over }
    for child in players { #expect(try child.wait() == 0) }
    #expect(last.notice.winners.map(\.name) == last.table.prefix(3).map(\.name))
    for (code, said) in [(made.code, "the tournament is over"), ("AAAAAA", "no tournament has this code")] {
      let late = try Child.run([arena(), "bot", "--connect", nodes[0], "--event", code])
      #expect(late.status == 2 && late.errors.contains(said) && late.errors.split(separator: "\n").count == 1)
    }
    server.stop()
    let file = folder.path + "/export"
    #expect(try ServerChild.run(["export", "--data", folder.path, file]).code == 0)
    #expect(try rows(exported: file, made.code) == rows(last))
    #expect(rows(last).count == 7)
  }

  @Test(.long)
  func `if one of three nodes is killed in a tournament, each node then has the table of the exported logs`()
    async throws
  {
    let cluster = try ClusterScript()
    let organiser = try await watcher("teacher", at: cluster.addresses[0])
    defer { organiser.client.disconnect() }
    let terms = TournamentTerms(
      name: "Club", clock: TimeControl(seconds: 10, increment: 0), minutes: 5, bots: true)
    organiser.client.perform(.host(terms))
    let made = try await view("the tournament", of: organiser) { $0.notice.isOrganiser }
    let players = try ["levels:1", "levels:4", "levels:6"].enumerated().map { i, player in
      try bots(player, 4, made, at: Array(cluster.nodes[i...] + cluster.nodes[..<i]))
    }
    _ = try await view("twelve players", of: organiser) { $0.table.count == 12 }
    organiser.client.perform(.tournament(.init(.start, made.code)))
    func played(_ more: Int) async throws {
      var before: Int?
      _ = try await view("\(more) more games", of: organiser) {
        let games = $0.table.reduce(0) { $0 + $1.games }
        before = before ?? games
        return games >= (before ?? 0) + 2 * more
      }
    }
    try await played(20)
    try cluster.order("kill n3")
    try await played(60)
    try cluster.order("start n3")
    try await played(20)
    organiser.client.perform(.tournament(.init(.end, made.code)))
    let last = try await view("the end", of: organiser) { $0.notice.phase == .over }
    for child in players { #expect(try child.wait() == 0) }
    let folder = TemporaryFolder()
    let file = folder.path + "/export"
    #expect(try ServerChild.run(["export", "--store", cluster.url, file]).code == 0)
    let fromLogs = try rows(exported: file, made.code)
    #expect(fromLogs == rows(last), "\(fromLogs.symmetricDifference(rows(last)).sorted())")
    #expect(fromLogs.count == 12)
    for (i, node) in try cluster.addresses.enumerated() {
      let visitor = try await watcher("visitor-\(i)", at: node)
      visitor.client.perform(.tournament(.init(.follow, made.code)))
      let shown = try await view("the table of n\(i + 1)", of: visitor) {
        // Another node learns of the end when it next reads the tournament.
        $0.table.count == 12 && $0.notice.phase == .over
      }
      #expect(rows(shown) == fromLogs, "n\(i + 1)")
      visitor.client.disconnect()
    }
  }
}
