import Foundation
import MatchClient
import MatchProtocol
import Testing
import TicTacToe

@testable import MatchServer

/// PostgreSQL and nodes as processes, by `scripts/cluster`, which ends them when this goes.
final class ClusterChild {
  private let process = Process()
  private let orders = Pipe()
  private let answers = Pipe()
  /// The port for clients of each node, n1 first.
  private(set) var ports: [Int] = []
  private(set) var url = ""
  /// The temporary folder, with the nodes' logs and certificates.
  private(set) var folder = ""

  init(nodes: Int = 3, environment: [String: String] = [:]) throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/cluster")
    process.executableURL = script.standardized
    process.arguments = ["--nodes", "\(nodes)", "--", "--rate", "1000", "--burst", "1000"]
    let binary = try #require(ServerChild.binary, "build alina-server first, or set ALINA_BIN")
    process.environment = ProcessInfo.processInfo.environment.merging(["ALINA_SERVER": binary]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = orders
    process.standardOutput = answers
    try process.run()
    while let line = nextLine(), !line.hasPrefix("connect ") {
      if line.hasPrefix("folder ") { folder = String(line.dropFirst(7)) }
      if line.hasPrefix("url ") { url = String(line.dropFirst(4)) }
      if line.hasPrefix("node "), let port = line.split(separator: " ")[2].split(separator: ":").last {
        ports.append(Int(port) ?? 0)
      }
    }
    try #require(ports.count == nodes, "scripts/cluster did not start")
  }

  deinit {
    try? orders.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Gives an order and waits until it is carried out.
  func order(_ order: String) throws {
    try orders.fileHandleForWriting.write(contentsOf: Data((order + "\n").utf8))
    while let line = nextLine() {
      if line == "done" { return }
      if line.hasPrefix("failed") { throw StoreError.unusable("scripts/cluster \(order): \(line)") }
    }
    throw StoreError.unusable("scripts/cluster ended at \(order)")
  }

  private func nextLine() -> String? {
    var text: [UInt8] = []
    while let byte = try? answers.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == 10 { return String(decoding: text, as: UTF8.self) }
      text.append(byte)
    }
    return nil
  }
}

/// Among the whole programs, one at a time: beside the library suites, which keep both cores, nobody would play.
@Suite(.serialized) struct ClusterFaultEndToEndTests {
  /// Rounds of each fault: CLUSTER_ROUNDS, else a few; CLUSTER_SEED repeats a run.
  private var rounds: Int { ProcessInfo.processInfo.environment["CLUSTER_ROUNDS"].flatMap { Int($0) } ?? 2 }
  private var seed: UInt64 { ProcessInfo.processInfo.environment["CLUSTER_SEED"].flatMap { UInt64($0) } ?? 1 }

  private enum Fault: String, CaseIterable {
    case kill = "kill -9 of a node"
    case stop = "SIGSTOP of a node past its lease"
    case database = "kill -9 of PostgreSQL"
    case drain = "SIGTERM of a node"
  }

  @Test func `nodes and database are killed and stopped under load; nothing told is lost, and every match goes on`()
    async throws
  {
    let cluster = try ClusterChild()
    let crowd = Crowd()
    crowd.join(16, ports: cluster.ports)
    var random = SplitMix64(seed: seed)
    try await crowd.play(milliseconds: 120_000) { crowd.games >= 8 }
    try #require(crowd.games >= 8, "nobody plays")
    for fault in Fault.allCases {
      var times: [Int64] = []
      var matches = 0
      for _ in 0..<rounds {
        try await crowd.play(milliseconds: 500 + random.below(1000))
        let node = "n\(1 + random.below(cluster.ports.count))"
        var began = MatchClient.now
        switch fault {
        case .kill: try cluster.order("kill \(node)")
        case .stop: try cluster.order("stop \(node)")
        case .drain: try cluster.order("term \(node)")
        case .database:
          try cluster.order("kill db")
          try await crowd.play(milliseconds: 500)
          try cluster.order("start db")
          began = MatchClient.now
        }
        // What was on its way at that moment has arrived by now; only what comes later shows that a match goes on.
        try await Task.sleep(for: .milliseconds(50))
        let before = crowd.live
        try await crowd.play(milliseconds: 60_000) { crowd.haveMoved(since: before) }
        #expect(crowd.haveMoved(since: before), "\(fault.rawValue): a match does not go on")
        times += before.keys.compactMap { m in crowd.news[m].map { max(0, $0 - began) } }
        matches += before.count
        switch fault {
        case .kill, .drain: try cluster.order("start \(node)")
        case .stop: try cluster.order("cont \(node)")
        case .database: break
        }
      }
      times.sort()
      let (middle, last) = (times.isEmpty ? 0 : times[times.count / 2], times.last ?? 0)
      print("\(fault.rawValue): \(rounds) times, \(matches) matches went on after p50 \(middle) ms, max \(last) ms")
    }
    let games = crowd.games
    try await crowd.play(milliseconds: 120_000) { crowd.games >= games + 8 }
    #expect(crowd.games >= games + 8, "the games go on")
    crowd.leave()
    for i in cluster.ports.indices { try cluster.order("term n\(i + 1)") }
    let store = try PostgresCluster(try PGAddress(cluster.url))
    try crowd.checker.check(store)
    try crowd.checker.checkRatings(store)
    #expect(crowd.checker.faults == [])
    print("\(crowd.moves) moves seen, \(crowd.games) ends seen")
  }
}
