import Foundation
import MatchClient
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore

/// PostgreSQL and nodes as processes, by `scripts/cluster`, which ends them when this goes.
final class ClusterChild {
  private let script: Child
  /// Where each node listens for clients, n1 first.
  private(set) var nodes: [MatchClient.Configuration.Endpoint] = []
  private(set) var url = ""
  /// The temporary folder, with the nodes' logs.
  private(set) var folder = ""

  /// Whether this machine lets each node have a network namespace of its own.
  static let hasNamespaces: Bool = {
    (try? Child.run([path(of: "namespaces")]))?.status == 0
  }()

  private static func path(of script: String) -> String { repository.appending(path: "scripts/\(script)").path }

  /// Starts them; `learned` is called when the database's URL is known and before the nodes start, then with each node's.
  init(
    nodes count: Int = 3, namespaces: Bool = false, flags: [String] = [], environment: [String: String] = [:],
    learned: (ClusterChild) -> Void = { _ in }
  ) throws {
    let binary = try #require(ServerChild.binary, "build alina-server first, or set ALINA_BIN")
    // Beyond this machine's own address players are counted by theirs.
    let arguments = ["--", "--rate", "1000", "--burst", "1000", "--logins-per-minute", "100000"] + flags
    script = try Child(
      [Self.path(of: "cluster"), "--nodes", "\(count)"] + (namespaces ? ["--namespaces"] : []) + arguments,
      environment: environment.merging(["ALINA_SERVER": binary]) { given, _ in given }, input: .pipe, output: .pipe,
      errors: .ours)
    while let line = script.line(), !line.hasPrefix("connect ") {
      let words = line.split(separator: " ")
      switch words.first {
      case "folder":
        folder = String(words[1])
        continue
      case "url": url = String(words[1])
      case "node" where words.count == 5: nodes.append(try #require(MatchClient.Configuration.Endpoint(words[2])))
      default: continue
      }
      learned(self)
    }
    try #require(nodes.count == count, "scripts/cluster did not start")
  }

  deinit {
    try? script.input.close()
    _ = try? script.wait()
  }

  /// Gives an order, waits until it is carried out, and gives what is printed meanwhile.
  @discardableResult func order(_ order: String) throws -> [String] {
    try script.input.write(contentsOf: Data((order + "\n").utf8))
    var printed: [String] = []
    while let line = script.line() {
      if line == "done" { return printed }
      if line.hasPrefix("failed") { throw StoreError.unusable("scripts/cluster \(order): \(line)") }
      printed.append(line)
    }
    throw StoreError.unusable("scripts/cluster ended at \(order)")
  }

  /// Runs one statement in the database.
  @discardableResult func sql(_ text: String) throws -> [[PGValue]] {
    let connection = try PGConnection(try PGAddress(url))
    return try connection.run([PGStatement(once: text)()], within: 5000).first?.rows ?? []
  }

  /// Of each node whether it is ready, and how many nodes live as it knows; or why it does not say.
  func states() throws -> [String] {
    try nodes.indices.map { i in
      let said = try order("status n\(i + 1)")
      let shown = said.filter { $0.hasPrefix("ready:") || $0.hasPrefix("nodes alive:") }
      return (shown.isEmpty ? said : shown).joined(separator: ", ")
    }
  }

  /// How many sessions the nodes have in the database.
  func countSessions() throws -> Int64 {
    let others = "application_name = 'alina-server' AND pid <> pg_backend_pid()"
    return try sql("SELECT count(*) FROM pg_stat_activity WHERE \(others)").first?.first?.int ?? 0
  }

  /// Gives sessions from now on a clock that can be set, by the table `clock`: nobody sets that of the machine.
  func makeClock() throws {
    for text in [
      "CREATE TABLE clock AS SELECT INTERVAL '0' AS ahead",
      """
      CREATE FUNCTION clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE plpgsql
      AS 'BEGIN RETURN pg_catalog.clock_timestamp() + (SELECT ahead FROM public.clock); END'
      """,
      "ALTER DATABASE postgres SET search_path = public, pg_catalog",
    ] { try sql(text) }
  }
}
