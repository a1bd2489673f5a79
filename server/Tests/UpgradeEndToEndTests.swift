import Base
import Foundation
import MatchClient
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore
@testable import ServerTransport

/// A cluster under load goes on, node by node, from the first version of the log's language, which its nodes were told to
/// speak, to the newest, which has a kind of event more (`aside`, by which a match is set aside).
@Suite(.serialized) struct UpgradeEndToEndTests {
  /// Whole upgrades, and with which to begin.
  private let rounds = amount("CLUSTER_ROUNDS", quick: 1, all: 1)
  private let seed = amount("CLUSTER_SEED", quick: 1, all: 1)

  @Test(.long) func `nodes are replaced one by one by such that know an event more; players notice reconnects at most`()
    async throws
  {
    for round in seed..<(seed + rounds) {
      let began = MatchClient.now
      let upgrade = try Upgrade(seed: round)
      try await upgrade.mix()
      try await upgrade.finish(zombie: round % 2 == 1)
      try await upgrade.shutOut()
      try upgrade.check()
      print("upgrade \(round): \(MatchClient.now - began) ms, \(upgrade.summary)")
    }
  }

  @Test func `a node reads its certificates again on SIGHUP, keeps the old where the new are broken, and serves on`()
    async throws
  {
    let cluster = try ClusterChild(nodes: 1)
    let folder = cluster.folder + "/certificates"
    let key = try Data(contentsOf: URL(filePath: folder + "/n1.key"))
    func log() -> String { (try? String(contentsOfFile: cluster.folder + "/n1.log", encoding: .utf8)) ?? "" }
    func wait(_ text: String) async throws {
      for _ in 0..<1000 where !log().contains(text) { try await Task.sleep(for: .milliseconds(10)) }
      #expect(log().contains(text))
    }
    try Data("no key".utf8).write(to: URL(filePath: folder + "/n1.key"))
    try cluster.order("hup n1")
    try await wait("the certificates cannot be used; the old ones stay")
    try key.write(to: URL(filePath: folder + "/n1.key"))
    try cluster.order("hup n1")
    let fingerprint = try NodeTLS(folder: folder, name: "n1").fingerprint
    try await wait("certificates read again fingerprint=\(fingerprint) to=nodes")
    try RawPeer(cluster.nodes[0].port).hello()
  }
}

/// One upgrade of three nodes with players on them.
private final class Upgrade {
  private let cluster: ClusterChild
  private let crowd = Crowd()
  private let database: PGConnection
  private var random: SplitMix64
  private(set) var summary = ""

  init(seed: Int) throws {
    cluster = try ClusterChild(flags: ["--language", "1"])
    database = try PGConnection(try PGAddress(cluster.url))
    random = SplitMix64(seed: UInt64(seed))
    crowd.join(16, nodes: cluster.nodes)
  }

  private func row(_ query: String) throws -> [PGValue] {
    try database.run([PGStatement(once: query)()], within: 10_000).first?.rows.first ?? []
  }

  private func number(_ query: String) throws -> Int { Int(try row(query).first?.int ?? -1) }

  private static let isAside = "convert_from(body, 'UTF8') LIKE '{\"k\":\"aside\"%'"
  private var inForce: Int { get throws { try number("SELECT version FROM log_language") } }
  private var aside: Int { get throws { try number("SELECT count(*) FROM match_event WHERE \(Self.isAside)") } }

  /// Sets a live match aside by the administrators' page of a node that reads the newer version.
  private func setAside() async throws {
    let query = """
      SELECT n.name, m.id FROM node n JOIN match m ON m.epoch = n.epoch AND m.ended IS NULL AND m.opener IS NULL
      WHERE n.events >= 2 AND n.lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
      ORDER BY m.created DESC, m.id LIMIT 1
      """
    // It may end, or go elsewhere, before the order comes.
    for _ in 0..<100 {
      let found = try row(query)
      if found.count == 2, let node = found[0].text, let m = found[1].text {
        if try RawPeer(cluster.admin(node)).http("matches/\(m)/aside", method: "POST").status == 200 { return }
      }
      try await crowd.play(milliseconds: 100)
    }
    Issue.record("no match could be set aside")
  }

  /// Plays until every match that is live now has gone on.
  private func goOn(_ after: String) async throws {
    // What was on its way has arrived by then; only what comes later shows that a match goes on.
    try await Task.sleep(for: .milliseconds(50))
    let before = crowd.live
    try await crowd.play(milliseconds: 60_000) { crowd.haveMoved(since: before) }
    #expect(crowd.haveMoved(since: before), "a match does not go on after: \(after)")
  }

  private func replace(_ node: String, with language: Int, by order: String = "term") async throws {
    try await crowd.play(milliseconds: 300 + random.below(500))
    try cluster.order("\(order) \(node)")
    try await goOn("\(order) \(node)")
    try cluster.order("start \(node) \(language)")
    try await goOn("start \(node)")
  }

  /// Two of three nodes become new, one of them after it had been old again; what they set aside they abort, in the old
  /// language.
  func mix() async throws {
    try await crowd.play(milliseconds: 120_000) { crowd.games >= 8 }
    try #require(crowd.games >= 8, "nobody plays")
    for language in [2, 1, 2] { try await replace("n1", with: language) }
    try await replace("n2", with: 2, by: "kill")
    // It dies, and is expected back as what it was.
    try await replace("n3", with: 1, by: "kill")
    // Players come to all nodes, also to the old one.
    crowd.join(6, nodes: cluster.nodes)
    try await crowd.play(milliseconds: 300)
    try await setAside()
    #expect(try aside == 0, "an event was written that a node cannot read")
    #expect(try inForce == 1)
  }

  /// The last old node goes: it leaves, or it is stopped past its lease and counts until nobody expects it back.
  func finish(zombie: Bool) async throws {
    if zombie {
      try cluster.order("stop n3")
      try await goOn("stop n3")
      try await crowd.play(milliseconds: 1500)
      #expect(try inForce == 1, "it may come back")
      try await setAside()
      #expect(try aside == 0)
      // A minute later.
      _ = try number("UPDATE node SET lease_until = lease_until - 60000 WHERE name = 'n3' RETURNING 1")
      try await raised()
      try cluster.order("cont n3")
      // It finds its lease over, may not join again, and ends.
      let log = cluster.folder + "/n3.log"
      try await crowd.play(milliseconds: 10_000) {
        (try? String(contentsOfFile: log, encoding: .utf8))?.contains(Self.refusal) == true
      }
      #expect(try String(contentsOfFile: log, encoding: .utf8).contains(Self.refusal))
      // Reaps it.
      try cluster.order("kill n3")
    } else {
      try cluster.order("term n3")
      try await raised()
    }
    try cluster.order("start n3 2")
    // A node learns within a second that the newer language is in force, and aborts until then.
    let end = MatchClient.now + 10_000
    while try aside == 0, MatchClient.now < end {
      try await setAside()
      try await crowd.play(milliseconds: 200)
    }
    #expect(try aside > 0, "nobody says that a match was set aside")
    try await crowd.playOn(8)
  }

  private func raised() async throws {
    let end = MatchClient.now + 10_000
    while try inForce == 1, MatchClient.now < end { try await crowd.play(milliseconds: 50) }
    #expect(try inForce == 2)
    // The other nodes hear of it when they renew their leases next, within a second.
    try await crowd.play(milliseconds: 1500)
  }

  private static let refusal =
    "events of version 2 are in force in its matches, this build reads them up to version 1; run a build that reads version 2"

  /// An old node is refused, while the others play on; old clients are told states, newer ones the event.
  func shutOut() async throws {
    try cluster.order("term n1")
    let (code, _, said) = try ServerChild.run(
      [
        "--store", cluster.url, "--node-name", "n1", "--node-listen", "127.0.0.1:0", "--cluster-dir",
        cluster.folder + "/certificates", "--listen", "127.0.0.1:0", "--no-page", "--no-admin", "--language", "1",
      ])
    #expect(code == 1)
    #expect(said.hasSuffix(": \(Self.refusal)\n") && said.hasPrefix("alina-server: "), "\(said)")
    #expect(said.split(separator: "\n").count == 1)
    try await goOn("an old node")
    try cluster.order("start n1 2")
    try await goOn("start n1")
    try tellByVersion()
  }

  /// A match in which the event stands, asked for by a client of each version.
  private func tellByVersion() throws {
    let found = try row("SELECT match_id, seq FROM match_event WHERE \(Self.isAside)")
    let m = try #require(found.first?.text.flatMap(MatchID.init(rawValue:))), seq = Int(try #require(found[1].int))
    for version in [1, 2] {
      let peer = try RawPeer(cluster.nodes[0].port)
      #expect(try peer.wait(#""t":"hello""#).contains(#""v":[2,1]"#))
      peer.type(#"{"t":"hello","v":\#(version == 1 ? "[1]" : "[2,1]"),"client":"raw"}"#)
      #expect(try peer.wait(#""t":"welcome""#).contains(#""v":\#(version),"#))
      peer.type(#"{"t":"sync","id":"s","m":"\#(m)","seq":\#(seq - 1)}"#)
      let answer = try peer.wait(#""m":"\#(m)""#)
      if version == 1 {
        #expect(answer.contains(#""t":"state""#) && answer.contains(#""re":"s""#))
        #expect(answer.contains(#""reason":"aborted""#), "\(answer)")
      } else {
        #expect(answer.contains(#""k":"aside","at":"#) && answer.contains(#""why":"by an "#), "\(answer)")
      }
      if version == 2 { try peer.wait(#""re":"s""#) }
      // What is exported is the log as it is, whoever asks; its bytes make its hash.
      peer.type(#"{"t":"export","id":"e","m":"\#(m)"}"#)
      var hash = LogHash(start: m)
      var count = 0
      while let line = peer.line(), !line.contains(#""re":"e""#) {
        guard line.contains(#""t":"event""#), let body = line.range(of: #","body":"#) else { continue }
        hash = hash.adding(Array(line[body.upperBound...].utf8.dropLast()))
        count += 1
        #expect(hash.short == RawPeer.field("hash", line))
      }
      #expect(count >= seq)
    }
  }

  /// Everything told is stored, once, and the ratings follow from it.
  func check() throws {
    crowd.leave()
    for i in cluster.nodes.indices { try cluster.order("term n\(i + 1)") }
    let store = try PostgresCluster(try PGAddress(cluster.url), reads: 2)
    try crowd.checker.check(store)
    try crowd.checker.checkRatings(store)
    #expect(crowd.checker.faults == [])
    summary = "\(crowd.moves) moves seen, \(crowd.games) ends seen"
  }
}
