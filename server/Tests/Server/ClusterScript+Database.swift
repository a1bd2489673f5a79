import Foundation
import MatchClient
import ServerTestSupport
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore

extension ClusterScript {
  /// With `namespaces` the nodes see all players at one address other than 127.0.0.1, so the flags allow many logins from one address.
  convenience init(
    namespaces: Bool = false, environment: [String: String] = [:], learned: (ClusterScript) -> Void = { _ in }
  ) throws {
    try self.init(
      server: #require(ServerChild.binary, "build alina-server first, or set ALINA_BIN"), namespaces: namespaces,
      flags: ["--rate", "1000", "--burst", "1000", "--logins-per-minute", "100000"], environment: environment,
      learned: learned)
  }

  var addresses: [ServerAddress.Node] {
    get throws { try nodes.map { try #require(ServerAddress.Node($0)) } }
  }

  @discardableResult func sql(_ text: String) throws -> [[PGValue]] {
    let connection = try PGConnection(try PGAddress(url))
    return try connection.run([PGStatement(once: text)()], within: 5000).first?.rows ?? []
  }

  func countSessions() throws -> Int64 {
    let others = "application_name = 'alina-server' AND pid <> pg_backend_pid()"
    return try sql("SELECT count(*) FROM pg_stat_activity WHERE \(others)").first?.first?.int ?? 0
  }

  /// The table `clock` sets new sessions' clock ahead or back, because the computer's own clock must not change.
  func makeClock() throws {
    for text in PostgresTestBed.settableClock + ["ALTER DATABASE postgres SET search_path = public, pg_catalog"] {
      try sql(text)
    }
  }
}
