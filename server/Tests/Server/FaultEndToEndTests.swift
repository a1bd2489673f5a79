import Base
import Foundation
import MatchClient
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore

/// The server as a process, restarted on the same port and data.
final class ServerChild {
  private var process: Child?
  let folder: TemporaryFolder
  private(set) var port = 0

  static var binary: String? {
    let environment = ProcessInfo.processInfo.environment
    let folders = [
      environment["ALINA_BIN"], Bundle.main.bundlePath,
      (CommandLine.arguments[0] as NSString).deletingLastPathComponent,
    ]
    for folder in folders.compactMap({ $0 }) {
      var url = URL(filePath: folder)
      for _ in 0..<4 {
        let path = url.appending(path: "alina-server").path
        if FileManager.default.isExecutableFile(atPath: path), !path.contains("/Sources/") { return path }
        url.deleteLastPathComponent()
      }
    }
    return nil
  }

  /// The line that the server wrote to standard output when it was ready.
  private(set) var said = ""

  init(_ folder: TemporaryFolder) { self.folder = folder }

  static func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (code: Int32, out: String, errors: String) {
    let result = try Child.run([try whole()] + arguments, environment: environment)
    return (result.status, result.out, result.errors)
  }

  private static func whole() throws -> String { try #require(binary, "build alina-server first, or set ALINA_BIN") }

  /// `bare` leaves out the flags for port, data and rates. `shell` is a shell command that runs the server as `"$0" "$@"`.
  func start(
    _ arguments: [String] = [], environment: [String: String] = [:], pages: Bool = false, bare: Bool = false,
    shell: String? = nil
  ) throws {
    let usual =
      ["--listen", "127.0.0.1:\(port)", "--data", folder.path, "--rate", "1000", "--burst", "1000"]
      + (pages ? ["--page", "127.0.0.1:0", "--admin", "127.0.0.1:0"] : ["--no-page", "--no-admin"])
    let command = [try Self.whole()] + (bare ? ["--no-page", "--no-admin"] : usual) + arguments
    let process = try Child(
      (shell.map { ["/bin/sh", "-c", $0] } ?? []) + command, environment: environment, output: .pipe,
      errors: .file(folder.path + "/log"))
    self.process = process
    let text = process.line() ?? ""
    guard let found = text.split(separator: ":").last.flatMap({ Int($0) }) else {
      // The server has ended during its start, perhaps by a simulated power cut. The caller decides whether this is a fault.
      try process.wait()
      return
    }
    port = found
    said = text
  }

  func port(of name: String) -> Int? {
    firstValue(within: 5) {
      guard
        let line = logText.split(separator: "\n").first(where: { $0.contains(" \(name) ") && $0.contains("http://") }),
        let start = line.range(of: "http://")
      else { return nil }
      return line[start.upperBound...].split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }
  }

  /// 0 before the first start.
  var pid: pid_t { process?.pid ?? 0 }
  var isRunning: Bool { process?.isRunning == true }

  func line() -> String? { process?.line() }

  func signal(_ number: Int32) { process?.signal(number) }

  var processorSeconds: Double {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    let fields = (text.split(separator: ")").last ?? "").split(separator: " ").compactMap { Double($0) }
    return fields.count > 12 ? (fields[10] + fields[11]) / Double(sysconf(Int32(_SC_CLK_TCK))) : 0
  }

  /// Waits, because the server writes the log on a thread of its own.
  func logs(_ text: String) -> Bool { eventually(within: 10) { logText.contains(text) } }

  var logText: String { (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? "" }

  func kill9() { process?.kill() }

  /// Returns the server's status, or the negative number of the signal that ended it.
  @discardableResult func wait() -> Int32? { try? process?.wait() }

  @discardableResult func stop() -> Int32? {
    signal(SIGTERM)
    return wait()
  }
}

/// Clients that play at random as fast as allowed and record every event they see.
final class Crowd {
  private(set) var clients: [MatchClient] = []
  var checker = HistoryChecker()
  private(set) var moves = 0
  private(set) var games = 0
  private var random = SplitMix64(seed: 7)
  private var seeking: Set<Int> = []
  private var named: Set<Int> = []
  private var known: [MatchID: Int] = [:]
  /// When each match's last move or end was seen, in milliseconds of the clock `MatchClient.now`.
  private(set) var news: [MatchID: Int64] = [:]

  func join(_ count: Int, port: Int) { join(count, nodes: [.init(host: "127.0.0.1", port: port)]) }

  /// In a cluster of several nodes half of the players register and play rated matches.
  func join(_ count: Int, nodes: [ServerAddress.Node]) {
    for i in 0..<count {
      let others = nodes.indices.dropFirst().map { nodes[(i + $0) % nodes.count] }
      let server = ServerAddress(nodes[i % nodes.count], others: others)
      let client = MatchClient(.init(server, security: .plain, identity: .init(client: "crowd", guest: "c\(i)")))
      client.connect()
      if nodes.count > 1, i % 4 < 2 { client.perform(.register("Crowd\(i)")) }
      clients.append(client)
    }
  }

  var live: [MatchID: Int] {
    var result: [MatchID: Int] = [:]
    for view in clients.flatMap(\.matches.values) where view.you != nil && view.state.phase == .live {
      result[view.state.id] = max(result[view.state.id] ?? 0, Crowd.progress(view.state))
    }
    return result
  }

  /// The number of moves, and 100 more once the match is over. Absences and returns do not count.
  private static func progress(_ state: MatchState) -> Int { state.moves.count + (state.phase == .over ? 100 : 0) }

  /// The matches that are known to be over are left out.
  func unfinished(of matches: [MatchID: Int]) -> [MatchID: Int] {
    Dictionary(uniqueKeysWithValues: matches.keys.map { ($0, known[$0] ?? 0) }).filter { $0.value < 100 }
  }

  func haveMoved(since before: [MatchID: Int]) -> Bool { before.allSatisfy { (known[$0.key] ?? 0) > $0.value } }

  private func saw(_ m: MatchID, _ state: MatchState) {
    checker.saw(m, seq: state.seq, hash: state.hash.short)
    let progress = Crowd.progress(state)
    guard progress > known[m] ?? 0 else { return }
    known[m] = progress
    news[m] = MatchClient.now
  }

  /// Half of the players connect to their next node: otherwise most players would gather on one node in time.
  func scatter() { for client in clients where random.below(2) == 0 { client.drop() } }

  func leave() {
    for client in clients { client.disconnect() }
    clients = []
  }

  /// The timeout is long by default, because a busy computer is slow.
  func play(milliseconds: Int = 120_000, until done: () -> Bool = { false }) async throws {
    let end = MatchClient.now + Int64(milliseconds)
    while MatchClient.now < end, !done() {
      for i in clients.indices { step(i) }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  func playOn(
    _ more: Int, _ what: Comment = "the games go on", location: SourceLocation = #_sourceLocation
  ) async throws {
    let enough = games + more
    try await play { games >= enough }
    #expect(games >= enough, what, sourceLocation: location)
  }

  private func step(_ i: Int) {
    let client = clients[i]
    for (event, view) in client.poll() {
      switch event {
      case .event(let m, let seq, let event):
        if let view {
          saw(m, view.state)
          // An event with the `mid` of the player's own command acknowledges that command.
          if let side = event.side, side == view.you, let mid = event.mid {
            checker.acknowledged.insert(.init(m: m, side: side, mid: mid, seq: seq))
          }
        }
        if case .move = event.kind { moves += 1 }
        switch event.kind {
        case .end, .aside: games += 1
        default: break
        }
      case .state(let m):
        if let state = client.match(m)?.state, state.seq > 0 { saw(m, state) }
      case .paired, .refused(.busy, _, .seek?): seeking.remove(i)  // after a refusal it seeks again
      case .status(.online): seeking.remove(i)
      case .registered: named.insert(i)
      default: break
      }
    }
    guard case .online = client.status else { return }
    let live = client.matches.values.filter { $0.you != nil && $0.state.phase != .over }
    if let view = live.first(where: { $0.canMove }) {
      let cells = Array(view.position.moves)
      client.perform(.move(view.state.id, cells[random.below(cells.count)]))
    } else if live.isEmpty, seeking.insert(i).inserted {
      for m in client.matches.keys { client.perform(.forget(m)) }
      client.perform(.seek(MatchTerms(clock: TimeControl("600+0"), rated: named.contains(i))))
    }
  }
}

@Suite(.serialized) struct FaultEndToEndTests {
  private func check(_ crowd: Crowd, _ path: String) throws -> [String] {
    let store = try SQLiteStore(path: path)
    try crowd.checker.check(store)
    store.close()
    return crowd.checker.faults
  }

  @Test func `a server killed repeatedly under load loses no acknowledged event`() async throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let crowd = Crowd()
    crowd.join(8, port: server.port)
    var random = SplitMix64(seed: 3)
    let kills = amount("KILLS", quick: 3, all: 50)
    for _ in 0..<kills {
      let enough = crowd.moves + 5 + random.below(40)
      try await crowd.play { crowd.moves >= enough }
      #expect(crowd.moves >= enough, "the games do not continue")
      server.kill9()
      try server.start()
    }
    try await crowd.playOn(8)
    crowd.leave()
    #expect(server.stop() == 0, "SIGTERM ends it in order")
    #expect(try check(crowd, folder.path + "/matches.sqlite") == [])
    print("kill -9: \(kills) times, \(crowd.moves) moves seen, \(crowd.games) ends seen")
  }

  private func shim(_ folder: TemporaryFolder) throws -> String {
    let source = repository.appending(path: "server/Tests/Faults/powercut.c").path
    let library = folder.path + "/powercut.so"
    let compiled = try Child.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"])
    try #require(compiled.status == 0, "the shim does not compile: \(compiled.errors)")
    return library
  }

  private func cutPower(_ seed: Int, _ library: String, _ arguments: [String]) async throws -> (
    faults: [String], moves: Int
  ) {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(
      arguments,
      environment: [
        "LD_PRELOAD": library, "POWERCUT_DIR": folder.path, "POWERCUT_SEED": "\(seed)",
        "POWERCUT_AFTER": "\(120 + seed * 37 % 400)",
      ])
    let crowd = Crowd()
    crowd.join(6, port: server.port)
    try await crowd.play { !server.isRunning }
    crowd.leave()
    if server.isRunning { server.kill9() }
    guard FileManager.default.fileExists(atPath: folder.path + "/cut/matches.sqlite") else { return (["no cut"], 0) }
    do { return (try check(crowd, folder.path + "/cut/matches.sqlite"), crowd.moves) } catch {
      return (["\(error)"], crowd.moves)
    }
  }

  @Test(.needs("prlimit")) func `a backup or an export to a full disk ends with one line, and leaves no file`() throws {
    let folder = TemporaryFolder()
    // The backup and the archive exceed the limit of 200,000 bytes below. The files that the command writes to open the database do not.
    try SQLiteStore.make(folder.path + "/data/matches.sqlite") { store in
      try store.add((1...4000).map { someAccount($0, "p\($0)") })
    }
    let binary = try #require(ServerChild.binary, "build alina-server first, or set ALINA_BIN")
    for command in ["backup", "export"] {
      func run(_ limit: String) throws -> Child.Output {
        // `trap` makes the program ignore the signal of a file that exceeds the limit: `write` fails, as on a full disk.
        try Child.run(
          ["sh", "-c", "trap '' XFSZ; exec prlimit --fsize=$0 \"$@\"", limit, binary, command]
            + ["--data", folder.path + "/data", folder.path + "/made"])
      }
      let told = try run("unlimited")
      try #require(told.status == 0, "\(told)")
      let made = folder.path + "/made"
      let size = try #require(try FileManager.default.attributesOfItem(atPath: made)[.size] as? Int)
      try FileManager.default.removeItem(atPath: made)
      for limit in [200_000, size - 1] {
        let told = try run("\(limit)")
        #expect(told.status > 0 && told.errors.hasPrefix("alina-server: cannot "), "\(command), \(limit): \(told)")
        #expect(told.errors.contains(made) && told.errors.count { $0 == "\n" } == 1, "\(command), \(limit): \(told)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["data"])
      }
    }
  }

  @Test(.needs("strace")) func `a command syncs the file that it makes, and the file's name, before it ends`() throws {
    let folder = TemporaryFolder()
    func place(_ name: String) -> String { folder.path + "/" + name }
    try SQLiteStore.make(place("data/matches.sqlite")) { try $0.add([someAccount(1, "Ann")]) }
    let binary = try #require(ServerChild.binary, "build alina-server first, or set ALINA_BIN")
    for (arguments, target) in [
      (["export", "--data", place("data"), place("archive")], "archive"),
      (["backup", "--data", place("data"), place("copy")], "copy"),
      (["restore", "--data", place("restored"), place("copy")], "restored/matches.sqlite"),
      (["import", "--data", place("imported"), place("archive")], "imported/matches.sqlite"),
    ] {
      let log = place("calls")
      let trace = ["strace", "-f", "-y", "-o", log, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2"]
      let result = try Child.run(trace + [binary] + arguments)
      #expect(result.status == 0, "\(result)")
      let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      let at = try #require(
        calls.lastIndex { $0.contains("rename") && $0.contains("\"\(place(target))\"") }, "\(calls)")
      let source = try #require(calls[at].split(separator: "\"").dropFirst().first)
      #expect(calls[..<at].contains { $0.contains("sync(") && $0.contains("<\(source)>") }, "\(target): \(calls)")
      let parent = (place(target) as NSString).deletingLastPathComponent
      #expect(calls[at...].contains { $0.contains("fsync(") && $0.contains("<\(parent)>") }, "\(target): \(calls)")
    }
  }

  @Test(.long, .needs("cc")) func `a power cut loses no acknowledged event, and the test detects weaker syncing`()
    async throws
  {
    let folder = TemporaryFolder()
    let library = try shim(folder)
    let cuts = amount("POWER_CUTS", quick: 2, all: 6)
    var moves = 0
    for seed in 1...cuts {
      let result = try await cutPower(seed, library, [])
      #expect(result.faults == [], "seed \(seed)")
      moves += result.moves
    }
    var noticed = 0
    for seed in 1...cuts where try await !cutPower(seed, library, ["--weak-sync"]).faults.isEmpty { noticed += 1 }
    #expect(noticed > 0, "synchronous=NORMAL must be caught losing acknowledged events")
    print(
      "power cuts: \(cuts) with \(moves) moves seen, none lost; with synchronous=NORMAL \(noticed) of \(cuts) lost some"
    )
  }

  /// The -wal file fails once, at sync or write number `at`. Returns the faults found.
  private func failDisk(_ fault: String, at: Int, seed: Int, _ library: String) async throws -> (
    faults: [String], moves: Int
  ) {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(
      environment: ["LD_PRELOAD": library, "POWERCUT_DIR": folder.path, "POWERCUT_SEED": "\(seed)", fault: "\(at)"])
    let crowd = Crowd()
    crowd.join(6, port: server.port)
    let complaints = [
      "the store refused a write", "the outcome of a commit is unknown", "the store did not answer",
    ]
    func isNoticed() -> Bool { complaints.contains { server.logText.contains($0) } }
    try await crowd.play { isNoticed() }
    var faults: [String] = []
    if !isNoticed() { faults.append("the fault was not noticed") }
    let before = crowd.games
    try await crowd.play { crowd.games >= before + 6 }
    if crowd.games < before + 6 { faults.append("the games do not go on") }
    crowd.leave()
    server.stop()
    return (faults + (try check(crowd, folder.path + "/matches.sqlite")), crowd.moves)
  }

  /// A game makes about 12 commits of about 20 writes, so these ranges reach from the first moves to the second games. Earlier failures hit
  /// the creation of the tables, and the server does not start.
  @Test(.long, .needs("cc"), arguments: [("POWERCUT_EIO", 20..<150), ("POWERCUT_ENOSPC", 200..<1200)])
  func `the server survives a failing or full disk without lost or duplicate events`(
    fault: String, instants: Range<Int>
  ) async throws {
    let folder = TemporaryFolder()
    let library = try shim(folder)
    var random = SplitMix64(seed: 11)
    var moves = 0
    let runs = amount("DISK_FAULTS", quick: 1, all: 5)
    for seed in 1...runs {
      let at = instants.lowerBound + random.below(instants.count)
      let result = try await failDisk(fault, at: at, seed: seed, library)
      #expect(result.faults == [], "\(fault)=\(at), seed \(seed)")
      moves += result.moves
    }
    print("\(fault): at \(runs) instants, \(moves) moves seen, none lost or doubled")
  }

  @Test(.long, .needs("cc")) func `writes to a full disk are retried, and no acknowledged event is lost`()
    async throws
  {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(
      environment: ["LD_PRELOAD": try shim(folder), "POWERCUT_DIR": folder.path, "POWERCUT_SEED": "1"], pages: true)
    let port = try #require(server.port(of: "admin"))
    let crowd = Crowd()
    crowd.join(6, port: server.port)
    try await crowd.play { crowd.games >= 6 }
    try Data().write(to: URL(filePath: folder.path + "/full"))
    func attempts() throws -> Int {
      let counts = try RawPeer(port).http("metrics").body.split(separator: "\n").filter {
        $0.hasPrefix("alina_commit_failures_total ") || $0.hasPrefix("alina_unknown_verdicts_total ")
      }
      return counts.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }
    for _ in 0..<300 where try attempts() < 4 { try await crowd.play(milliseconds: 100) }
    #expect(try attempts() >= 4 && server.isRunning, "the server tries the write again")
    func isReady() throws -> Bool { try RawPeer(port).http("readyz").status == 200 }
    for _ in 0..<100 where try isReady() { try await crowd.play(milliseconds: 100) }
    #expect(try !isReady(), "the server is not ready, so the clocks are stopped")
    #expect(server.logs("disk is full"))
    try FileManager.default.removeItem(atPath: folder.path + "/full")
    for _ in 0..<100 where try !isReady() { try await crowd.play(milliseconds: 100) }
    #expect(try isReady())
    try await crowd.playOn(6)
    crowd.leave()
    server.stop()
    #expect(try check(crowd, folder.path + "/matches.sqlite") == [])
  }
}
