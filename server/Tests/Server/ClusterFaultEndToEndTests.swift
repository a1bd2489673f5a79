import Foundation
import MatchClient
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore

/// `./test` runs this suite apart from the suites of libraries, which use both cores: beside them no game would progress.
@Suite(.serialized) struct ClusterFaultEndToEndTests {
  @Test
  func
    `nodes and database are killed and stopped under load; no acknowledged event is lost, and every match continues`()
    async throws
  {
    let run = try await ClusterFaultRun(try ClusterScript())
    for fault in runsAll ? ClusterFault.processes : [.kill] {
      try await run.strike(fault, rounds: amount("CLUSTER_ROUNDS", quick: 1, all: 2))
    }
    try await run.finish()
  }

  @Test(
    .long,
    .enabled(if: ClusterScript.hasNamespaces, "needs root, ip and iptables: scripts/namespaces says what is missing"))
  func
    `nodes lose the database under load; no acknowledged event is lost, and every match continues`()
    async throws
  {
    let run = try await ClusterFaultRun(try ClusterScript(namespaces: true))
    for fault in ClusterFault.partitions {
      try await run.strike(fault, rounds: amount("CLUSTER_ROUNDS", quick: 1, all: 1))
    }
    try await run.finish()
  }

  @Test(.long)
  func
    `nodes pause, database sessions end and its clock is set under load; no acknowledged event is lost`()
    async throws
  {
    let cluster = try ClusterScript { child in
      if child.nodes.isEmpty { #expect(throws: Never.self) { try child.makeClock() } }
    }
    let run = try await ClusterFaultRun(cluster)
    for fault in ClusterFault.database {
      try await run.strike(fault, rounds: amount("CLUSTER_ROUNDS", quick: 1, all: 1))
    }
    try await run.finish()
  }

  @Test(.long)
  func
    `links to the database slow down, stall and break under load; no acknowledged event is lost`()
    async throws
  {
    var databases: [FlakyProxy] = []
    var environment: [String: String] = [:]
    for i in 0..<3 {
      databases.append(try await FlakyProxy(seed: ClusterFaultRun.seed + UInt64(10 + i), .clear))
      environment["ALINA_DB_PORT_n\(i + 1)"] = "\(databases[i].port)"
    }
    let cluster = try ClusterScript(environment: environment) { child in
      guard child.nodes.isEmpty, let port = URL(string: child.url)?.port else { return }
      for proxy in databases { proxy.lead(to: port) }
    }
    let run = try await ClusterFaultRun(cluster, databases: databases)
    for fault in ClusterFault.weather {
      try await run.strike(fault, rounds: amount("CLUSTER_ROUNDS", quick: 1, all: 1))
    }
    try await run.finish()
  }
}
