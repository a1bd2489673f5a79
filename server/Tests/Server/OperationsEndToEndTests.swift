import Base
import Foundation
import MatchClient
import MatchProtocol
import NIOCore
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore
@testable import ServerTransport

@Suite(.serialized) struct OperationsEndToEndTests {
  @Test func `SIGTERM during a match: drain, bye, exit 0, and the match continues after a restart`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let (x, o, m, resume) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    server.signal(SIGTERM)
    for peer in [x, o] {
      try peer.wait(#""t":"drain""#)
      try peer.wait(#""t":"bye","code":"restart""#)
    }
    #expect(server.wait() == 0)
    try server.start()
    let (x2, o2) = (try RawPeer(server.port), try RawPeer(server.port))
    try x2.hello(#""resume":"\#(resume[0])""#)
    try o2.hello(#""resume":"\#(resume[1])""#)
    #expect(try o2.wait(#""t":"state""#).contains(#""moves":["b2"]"#))
    o2.move(m, 1, "a1")
    try x2.wait(#""ply":1"#)
    x2.type(#"{"t":"resign","m":"\#(m)","mid":"end"}"#)
    try o2.wait(#""result":"o","reason":"resign""#)
    #expect(server.stop() == 0)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(left) == ["matches.sqlite", "matches.sqlite.lock", "log"], "after a stop all data is in one file")
  }

  @Test(arguments: ["2>/dev/full", "2>&-"]) func `a server keeps running if its log cannot be written`(log: String)
    throws
  {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(shell: #"exec "$0" "$@" "# + log)
    let (x, o, m, _) = try RawPeer.pair(server.port)
    // The server logs each report.
    x.type(#"{"t":"report","id":"r","m":"\#(m)"}"#)
    try x.wait(#""re":"r""#)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    #expect(server.stop() == 0)
  }

  @Test(.needs("openssl"))
  func `a self-signed certificate is valid for the server's names, and only the owner can read its key`() throws {
    let folder = TemporaryFolder()
    _ = try ServerTLS.selfSigned(in: folder.path, names: ["localhost", "127.0.0.1"])
    let (key, certificate) = (folder.path + "/self-signed.key", folder.path + "/self-signed.crt")
    for (file, mode) in [(key, 0o600), (certificate, 0o644)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    let verified = try Child.run(
      [
        "openssl", "verify", "-CAfile", certificate, "-verify_hostname", "localhost", "-verify_ip", "127.0.0.1",
        certificate,
      ])
    #expect(verified.status == 0, "\(verified)")
  }

  @Test func `out of descriptors: connections above the cap are refused before accept fails, and players continue`()
    throws
  {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(shell: #"ulimit -n 100 && exec "$0" "$@""#)
    let (x, o, m, _) = try RawPeer.pair(server.port)
    var others: [RawPeer] = []
    for _ in 0..<120 { others.append(try RawPeer(server.port)) }
    let turnedAway = others.filter { $0.line()?.contains(#""code":"full""#) == true }.count
    #expect(turnedAway >= 120 - 36, "64 below the limit of open files: \(turnedAway) of 120")
    // The cap must leave descriptors free. If none were free, `accept` would fail, and the server would repeat it without a pause.
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.pid)/fd").count
    #expect(open < 100, "\(open) of 100 descriptors are open")
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    others = []
    // The server notices the closed connections one at a time.
    var greeting: String?
    for _ in 0..<100 where greeting == nil {
      let peer = try RawPeer(server.port)
      peer.type(#"{"t":"hello","v":[1],"client":"raw"}"#)
      greeting = peer.rest(pause: 0.2).first { $0.contains(#""t":"welcome""#) }
    }
    #expect(greeting != nil)
    server.kill9()
  }

  @Test func `connections to the page cannot use up the players' descriptors`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(pages: true, shell: #"ulimit -n 200 && exec "$0" "$@""#)
    defer { server.kill9() }
    let page = try #require(server.port(of: "page"))
    let watchers = try (0..<250).map { _ in try RawPeer(page) }
    let (x, o, m, _) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.pid)/fd").count
    #expect(open < 200, "\(open) of 200 descriptors are open")
    withExtendedLifetime(watchers) {}
  }

  @Test func `refused connections are counted`() async throws {
    let server = try await TestServer { $0.maxConnections = 2 }
    let peers = try (0..<5).map { try RawPeer($0 < 4 ? server.port : server.page.port, web: $0 == 4) }
    for peer in peers[2...] { try peer.wait(#""code":"full""#) }
    var out = Exposition()
    server.host.metrics.write(to: &out)
    #expect(out.text.contains("alina_byes_total{code=\"full\"} 3\n"))
    try await server.stop()
  }

  @Test func `a network contains its addresses also in IPv4-mapped form`() throws {
    let network = try #require(AddressRange("10.0.0.0/8"))
    for (text, isIn) in [
      ("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("::ffff:11.1.2.3", false), ("::10.1.2.3", false),
      ("a00::", false),
    ] {
      #expect(network.contains(try SocketAddress(ipAddress: text, port: 1)) == isIn, "\(text)")
    }
  }

  @Test func `PROXY headers from trusted networks set the client's address for the limits; others are refused`()
    async throws
  {
    let server = try await TestServer {
      $0.proxies = [AddressRange("127.0.0.0/8")].compactMap { $0 }
      $0.maxPerAddress = 2
      $0.session.helloWithin = 1000
    }
    let v2: [UInt8] =
      [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x21, 0, 36]
      + [0x20, 0x01, 0x0D, 0xB8, 0, 7] + [UInt8](repeating: 0, count: 10) + [UInt8](repeating: 9, count: 16)
      + [0x12, 0x34, 0x12, 0x38]
    let headers: [[UInt8]] = [
      Array("PROXY TCP4 203.0.113.7 127.0.0.1 4242 4664\r\n".utf8), v2,
      Array("PROXY TCP4 203.0.113.7 127.0.0.1 4243 4664\r\n".utf8), Array("PROXY UNKNOWN\r\n".utf8),
    ]
    var peers: [RawPeer] = []
    for (i, header) in headers.enumerated() {
      let peer = try RawPeer(server.port)
      peer.send(header, pieces: i == 2 ? 1 : .max)
      try peer.hello()
      peers.append(peer)
    }
    let addresses = try await server.host.inspect { $0.people.connections.values.compactMap(\.address) }
    #expect(addresses.sorted() == ["203.0.113.7", "203.0.113.7", "20:1:d:b8:0:7:0:0"].sorted())
    let third = try RawPeer(server.port)
    third.send(headers[0])
    try third.wait(#""code":"full""#)
    peers[0].hangUp()
    _ = peers[0].rest()
    let again = try RawPeer(server.port)
    again.send(headers[0])
    try again.hello()
    for bytes in [Array("{\"t\":\"hello\",\"v\":[1]}\n".utf8), Array("PROXY TCP4 nonsense\r\n".utf8), []] {
      let peer = try RawPeer(server.port)
      peer.send(bytes)
      #expect(peer.rest(pause: 3) == [])
      #expect(peer.isAtEnd, "a connection whose header is missing, invalid or late is closed")
    }
    try await server.stop()
    // Without trusted proxies the server reads the proxy's header as a line of the protocol.
    let plain = try await TestServer()
    let peer = try RawPeer(plain.port)
    peer.send(headers[0])
    try peer.wait("unknown message type")
    try await plain.stop()
  }

  @Test func `a server without privileges works, like the packaged service`() throws {
    let server = ServerChild(TemporaryFolder())
    let drop = geteuid() == 0 ? "setpriv --bounding-set=-all --inh-caps=-all " : ""
    try server.start(["--memory"], pages: true, shell: "exec \(drop)\"$0\" \"$@\"")
    try RawPeer(server.port).hello()
    for name in ["page", "admin"] {
      let port = try #require(server.port(of: name))
      #expect(try RawPeer(port).http("readyz").status == 200)
    }
    server.stop()
  }

  @Test func `metrics, health and orders are served on the administrators' port, and refused to web pages`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(pages: true)
    let port = try #require(server.port(of: "admin"))
    func ask(_ path: String, post: Bool = false, origin: String? = nil) throws -> (Int, String) {
      let headers = origin.map { ["Origin: \($0)"] } ?? []
      let answer = try RawPeer(port).http(path, method: post ? "POST" : "GET", headers: headers)
      return (answer.status, answer.body)
    }
    #expect(try ask("healthz") == (200, "alive\n"))
    #expect(try ask("readyz") == (200, "ready\n"))
    let (x, o, m, _) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    x.move(m, 1, "b2")
    try x.wait(#""code":"rules""#)
    let metrics = try ask("metrics").1
    let least = ["process_resident_memory_bytes": 1_000_000.0, "process_open_fds": 5, "process_max_fds": 64]
    for (name, least) in least {
      let line = metrics.split(separator: "\n").first { $0.hasPrefix(name + " ") }
      #expect(line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0 >= least, "\(name)")
    }
    for line in [
      "alina_moves_total 1", "alina_matches_started_total 1", "alina_matches_ended_total 0", "alina_connections 2",
      "alina_commit_seconds_count",
      "alina_live_matches 1", #"alina_refusals_total{code="rules"} 1"#, #"alina_refusals_total{code="busy"} 0"#,
      #"alina_byes_total{code="bye"} 0"#, "alina_queue_oldest_seconds 0", "alina_decide_seconds_count",
      "alina_page_connections 0", "alina_loop_lag_seconds_count",
      "alina_arrival_seconds_count", "alina_durable_seconds_count", "alina_write_seconds_count",
      "alina_conflicts_total 0", "alina_unknown_verdicts_total 0", "alina_hints_told_total", "alina_repairs_total 0",
      "alina_pending_questions ", "alina_nodes 1", "alina_ready 1",
      "alina_build_info{version=\"\(alinaVersion)\"} 1",
    ] {
      #expect(metrics.contains(line), "\(line)")
    }
    let third = try RawPeer(server.port)
    third.type("bye")
    try third.wait(#""t":"bye""#)
    o.type(#"{"t":"resign","m":"\#(m)","mid":"end"}"#)
    try x.wait(#""k":"end""#)
    let after = try ask("metrics").1
    for line in [#"alina_byes_total{code="bye"} 1"#, "alina_matches_ended_total 1", "alina_live_matches 0"] {
      #expect(after.contains(line), "\(line)")
    }
    let page = try String(contentsOf: repository.appending(path: "docs/server.md"), encoding: .utf8)
    let rules = try #require(page.firstMatch(of: /```yaml\n(groups:[^`]*)```/)).1
    let asked = rules.matches(of: /(?:alina|process)_\w+/).map(\.output)
    #expect(asked.count > 6)
    // This server has no certificates.
    for name in asked where !name.hasPrefix("alina_certificate_") { #expect(metrics.contains("\n\(name)"), "\(name)") }
    if FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool") {
      let file = folder.path + "/rules.yaml"
      try String(rules).write(toFile: file, atomically: false, encoding: .utf8)
      let checked = try Child.run(["/usr/bin/promtool", "check", "rules", file])
      #expect(checked.status == 0, "\(checked)")
    }
    for line in metrics.split(separator: "\n") where line.hasPrefix("# TYPE ") {
      let name = try #require(line.split(separator: " ").dropFirst(2).first)
      #expect(metrics.contains("# HELP \(name) "), "\(name)")
    }
    o.type("me")
    let me = try o.wait(#""of":"me""#).components(separatedBy: #""name":""#)
    let name = try #require(me.last?.prefix { $0 != "\"" })
    #expect(try ask("players/\(name)/ban", post: true, origin: "http://evil.example").0 == 403)
    #expect(try ask("players/\(name)/praise", post: true).0 == 400)
    #expect(try ask("players/nobody-at-all/mute", post: true).0 == 404)
    #expect(try ask("players/\(name)/mute", post: true).0 == 200)
    o.type("say hello")
    try o.wait(#""code":"muted""#)
    #expect(try ask("players/\(name)/ban", post: true).0 == 200)
    try o.wait(#""t":"bye","code":"banned""#)
    server.kill9()
  }

  @Test func `players and reports are listed in pages by the administrators' port and the commands`() throws {
    let folder = TemporaryFolder()
    let old = someID(1)
    do {
      let store = try SQLiteStore(path: folder.path + "/matches.sqlite")
      var accounts = (1...101).map { AccountRecord(id: $0, name: "p\($0)", guest: false, token: nil, tokenExpires: 0) }
      (accounts[6].banned, accounts[7].muted) = (true, true)
      try store.add(accounts)
      let reports = (1...100).map { StoreQuestion.report(ReportRecord(account: 1, m: old, text: "text \($0)")) }
      for answer in store.answer(reports) { #expect(try answer.get() == .done) }
      store.close()
    }
    let server = ServerChild(folder)
    try server.start(pages: true)
    let port = try #require(server.port(of: "admin"))
    func ask(_ path: String) throws -> (Int, String) {
      let answer = try RawPeer(port).http(path)
      return (answer.status, answer.body)
    }
    func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
    let (x, _, m, _) = try RawPeer.pair(server.port)
    x.type(#"{"t":"report","id":"r","m":"\#(m)","text":"rude \"o\" by=me"}"#)
    try x.wait(#"{"t":"ok","re":"r""#)
    #expect(server.logs(#" text="rude \"o\" by=me""#), "a player's text cannot add fields to the log")

    let titles = "id\tname\trating\tmatches\tguest\tmuted\tbanned"
    #expect(try ask("players?list=banned") == (200, "\(titles)\n7\tp7\t1500\t0\tno\tno\tyes\n"))
    #expect(try ask("players?list=muted&after=8") == (200, titles + "\n"))
    let named = lines(try ask("players").1)
    #expect(named.count == 102 && named.last == "next: /players?list=named&after=100")
    #expect(lines(try ask("players?list=named&after=100").1).last == "101\tp101\t1500\t0\tno\tno\tno")
    let reports = lines(try ask("reports").1)
    #expect(reports.count == 102 && reports.last == "next: /reports?before=2")
    #expect(reports[1].hasPrefix("101\t") && reports[1].hasSuffix("\t\(m)\trude \"o\" by=me"))
    #expect(lines(try ask("reports?before=2").1).last?.hasSuffix("\t1\tp1\t\t\(old)\ttext 1") == true)
    for wrong in ["list=all", "after=-1", "after=x", "after=", "before=1", "after=1&after=2", "list"] {
      let (status, text) = try ask("players?" + wrong)
      #expect(status == 400 && text.contains("list=named|banned|muted|guests"), "\(wrong): \(text)")
      #expect(lines(text).count == 1)
    }
    #expect(try ask("reports?before=x") == (400, "/reports takes before=ID, the number of a report\n"))
    #expect(try RawPeer(port).http("players", method: "POST").status == 405)

    let admin = ["--admin", "127.0.0.1:\(port)"]
    func run(_ arguments: [String]) throws -> (code: Int32, out: [String], errors: String) {
      let result = try ServerChild.run(arguments + admin)
      return (result.code, lines(result.out), result.errors)
    }
    let listed = try run(["players"])
    let next = "alina-server players --list named --after 100 --admin 127.0.0.1:\(port)"
    #expect(listed.code == 0 && listed.out == named.dropLast() + ["next: \(next)"])
    #expect(try run(["players", "--list", "guests"]).out.count == 3)
    #expect(try run(["players", "--after", "100"]).out.last == "101\tp101\t1500\t0\tno\tno\tno")
    #expect(try run(["reports"]).out.dropLast() == reports.dropLast())
    #expect(try run(["reports", "--before", "2"]).out.count == 2)
    for (arguments, text) in [
      (["players", "--list", "all"], "'named', 'banned', 'muted' or 'guests'"),
      (["players", "--after", "x"], "--after"), (["players", "--after=-1"], "after=ID"),
      (["reports", "--before", "x"], "--before"),
    ] {
      let result = try run(arguments)
      #expect(result.code != 0 && result.out.isEmpty && result.errors.contains(text), "\(result)")
      #expect(lines(result.errors).count == 1, "\(result.errors)")
    }
    server.stop()
    let gone = try run(["reports"])
    #expect(gone.code == 1 && gone.errors.contains("no server answers at"), "\(gone)")
  }

  @Test func `backup of a serving server, restore, export, import and forget work on a real server's files`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let (x, o, m, _) = try RawPeer.pair(server.port)
    x.type(#"{"t":"register","name":"Ann"}"#)
    try x.wait(#""t":"token""#)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    let data = ["--data", folder.path]
    func mode(_ path: String) throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
    #expect(try ServerChild.run(["backup"] + data + [folder.path + "/copy"]).code == 0)
    #expect(try mode(folder.path + "/copy") == 0o600)
    #expect(try ServerChild.run(["backup"] + data + [folder.path + "/copy"]).errors.contains("exists"))
    o.type(#"{"t":"resign","m":"\#(m)","mid":"end"}"#)
    try x.wait(#""k":"end""#)
    for command in [["restore", folder.path + "/copy"], ["export", folder.path + "/x"], ["forget", "Ann"]] {
      let result = try ServerChild.run([command[0]] + data + [command[1]])
      #expect(result.code == 1 && result.errors.contains("another server"), "\(command): \(result)")
    }
    // A refused command leaves no file that could be mistaken for a result.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0 == "x" || $0.contains("restoring") || $0.contains("partial") }, "\(names)")
    server.stop()
    let elsewhere = ["ALINA_DATA": folder.path, "XDG_DATA_HOME": "/nowhere"]
    #expect(try ServerChild.run(["backup", folder.path + "/copy2"], environment: elsewhere).code == 0)
    #expect(try ServerChild.run(["export", "/no/such"], environment: elsewhere).errors.contains("No such file"))
    let file = folder.path + "/conf"
    try "data = \(folder.path)\nadmin = 127.0.0.1:1\nrate = 7\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try ServerChild.run(["backup", "--config", file, folder.path + "/copy3"]).code == 0)
    #expect(try ServerChild.run(["status", "--config", file]).errors.contains("no server answers at 127.0.0.1:1"))
    let exported = try ServerChild.run(["export"] + data + [folder.path + "/x"])
    #expect(try mode(folder.path + "/x") == 0o600)
    #expect(exported.code == 0 && exported.errors.hasPrefix("exported 1 accounts, 1 matches, "))
    let other = TemporaryFolder()
    #expect(
      try ServerChild.run(["import", "--data", other.path, folder.path + "/x"]).out.hasPrefix(
        "imported 1 accounts, 1 matches, "))
    // An import renews the accounts' tokens, and so changes the archive's hash, which is in the last line.
    func content(_ archive: String) -> [String] {
      archive.replacing(/"token_expires":[0-9]+/, with: "").split(separator: "\n").dropLast().map(String.init)
    }
    #expect(
      try content(ServerChild.run(["export", "--data", other.path, "-"]).out)
        == content(String(contentsOfFile: folder.path + "/x", encoding: .utf8)))
    #expect(try ServerChild.run(["import", "--data", other.path, folder.path + "/x"]).errors.contains("not empty"))
    #expect(try ServerChild.run(["forget"] + data + ["ann"]).out == "forgot ann\n")
    #expect(try ServerChild.run(["forget"] + data + ["ann"]).errors.contains("no player ann"))
    #expect(try ServerChild.run(["restore"] + data + [folder.path + "/copy"]).out.contains("restored"))
    let store = try SQLiteStore(path: folder.path + "/matches.sqlite")
    let id = try #require(MatchID(rawValue: m))
    #expect(try store.match(id)?.record.ended == nil, "the match is as it was when the backup was made")
    #expect(try store.accounts().contains { $0.name == "Ann" })
  }
}
