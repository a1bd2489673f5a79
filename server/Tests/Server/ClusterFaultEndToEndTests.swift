import Foundation
import MatchClient
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore

/// Among the whole programs, one at a time: beside the library suites, which keep both cores, nobody would play.
@Suite(.serialized) struct ClusterFaultEndToEndTests {
  @Test func `nodes and database are killed and stopped under load; nothing told is lost, and every match goes on`()
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
    `nodes are cut off from the database under load; nothing told is lost, and every match goes on`()
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
    `nodes pause, sessions of the database end and its clock is set under load; nothing told is lost, and every match goes on`()
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
    `links to the database are slow, stand still and break under load; nothing told is lost, and every match goes on`()
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
