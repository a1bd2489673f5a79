import Foundation
import Histogram
import MatchProtocol
import NIOCore
import NIOPosix
import TLS

struct Row {
  var name: String
  var value: String
  var ratio = ""
  var goal = ""
}

/// Processor seconds that the servers and the database use in each second.
typealias Used = (servers: Double, database: Double)

/// The server under test and this load generator share the machine, with one event loop each.
struct Measure {
  let options: Options
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  var rows: [Row] = []
  var faults: [String] = []
  /// Lines per second, received and sent together, of the program that only echoes lines.
  var echo = 0.0
  var memory = 0.0
  private static let limits = ["--rate", "1000000", "--burst", "1000000", "--log-level", "error"]
  private static let open = ["--listen", "127.0.0.1:0", "--no-page", "--no-admin"] + limits

  init(_ options: Options) { self.options = options }

  private func server(_ arguments: [String]) -> Child { Child(options.server, Measure.open + arguments) }

  private func cluster(_ nodes: Int) -> Child? {
    options.cluster.map { Child(cluster: $0, server: options.server, nodes: nodes, Measure.limits) }
  }

  mutating func run() throws {
    if options.wants("echo") { try echoLines() }
    if options.wants("redis") { redis() }
    if options.wants("memory") {
      try play("moves, SQLite in memory", server(["--memory"]), goal: "lines ≥ 70 % of echo")
    }
    let folder = try Measure.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if options.wants("durable") {
      try play("moves, SQLite with group commit", server(["--data", folder]), goal: "moves ≥ 60 % of in-memory")
    }
    if options.wants("cluster") {
      for nodes in 1...3 {
        guard let child = cluster(nodes) else { continue }
        try play("moves, PostgreSQL, \(nodes) node\(nodes == 1 ? "" : "s")", child, goal: "")
      }
    }
    if options.wants("pairing") {
      try pair("matches begun, SQLite in memory", server(["--memory"]))
      try pair("matches begun, SQLite", server(["--data", folder + "/pairing"]))
      for nodes in 1...3 {
        guard let child = cluster(nodes) else { continue }
        try pair("matches begun, PostgreSQL, \(nodes) node\(nodes == 1 ? "" : "s")", child)
      }
    }
    if options.wants("event") {
      try event("SQLite") { [self] in server(["--data", folder + "/event-\($0)"]) }
      try event("PostgreSQL, 3 nodes") { [self] _ in cluster(3) }
    }
    if options.wants("latency") { try latency() }
    if options.wants("across"), let child = cluster(2) { try across(child) }
    if options.wants("flood") { try flood() }
    if options.wants("idle") { try idle("idle connections, plain", tls: false, goal: "≤ 10 KiB") }
    if options.wants("idle-tls") { try idle("idle connections, TLS", tls: true, goal: "≤ 50 KiB") }
  }

  private static func folder() throws -> String {
    let path = NSTemporaryDirectory() + "match-bench-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  private mutating func add(_ row: Row) {
    rows.append(row)
    complain("\(row.name): \(row.value) \(row.ratio)")
  }

  /// As many connections as in the other measurements, with one unanswered line on each.
  private mutating func echoLines() throws {
    let child = Child(CommandLine.arguments[0], ["echo"])
    defer { child.stop() }
    let loop = group.next()
    let line = Array(String(repeating: "x", count: 74).utf8) + [0x0A]
    let links = try Link.open(options.matches * 2, ports: child.ports, on: loop) { _, link in
      link.onLine = { _ in link.send(line) }
    }
    try loop.submit { for link in links { link.send(line) } }.wait()
    let (each, cpu) = try rates(child) { [links.reduce(0) { $0 + $1.lines }] }
    let lines = each[0]
    echo = lines
    try loop.submit { for link in links { link.close() } }.wait()
    add(
      Row(
        name: "bare NIO line echo", value: "\(thousands(lines)) lines/s in + out",
        ratio: "1.00 (\(micro(cpu.servers, lines)) CPU a line)"))
  }

  /// The rates of the counters `counts` after two seconds of warm-up, and the processor seconds used in each second.
  private func rates(
    _ child: Child, for duration: Int? = nil, _ counts: @escaping @Sendable () -> [Int]
  ) throws -> (each: [Double], cpu: Used) {
    let loop = group.next()
    Thread.sleep(forTimeInterval: 2)
    let before = try loop.submit { counts() }.wait()
    let cpu = child.processorSeconds
    let began = steadyNanoseconds()
    Thread.sleep(forTimeInterval: Double(duration ?? options.seconds))
    let after = try loop.submit { counts() }.wait()
    let seconds = Double(steadyNanoseconds() - began) / 1e9
    let used = child.processorSeconds
    return (
      zip(after, before).map { Double($0 - $1) / seconds },
      ((used.servers - cpu.servers) / seconds, (used.database - cpu.database) / seconds)
    )
  }

  private mutating func play(_ name: String, _ child: Child, goal: String) throws {
    defer { child.stop() }
    let loop = group.next()
    let players = Players(loop)
    try players.join(options.matches, ports: child.ports)
    let (each, used) = try rates(child) { [players.moves, players.lines] }
    let (moves, lines) = (each[0], each[1])
    try loop.submit { players.stop() }.wait()
    Thread.sleep(forTimeInterval: 1)
    try verify(players, name)
    if memory == 0 { memory = moves }
    let ratio =
      echo > 0
      ? "lines \(ratio(lines / echo)), moves \(ratio(moves / (echo / 2))) of echo; moves \(ratio(moves / memory)) of in-memory"
      : ""
    add(
      Row(
        name: name,
        value: "\(thousands(moves)) moves/s, \(thousands(lines)) lines/s (\(cost(used, moves)) a move)",
        ratio: ratio, goal: goal))
  }

  private mutating func pair(_ name: String, _ child: Child) throws {
    defer { child.stop() }
    let loop = group.next()
    let pairs = Pairs(loop)
    try pairs.join(options.matches * 2, ports: child.ports)
    let (each, used) = try rates(child) { [pairs.begun] }
    try loop.submit { pairs.stop() }.wait()
    faults += try loop.submit { pairs.refusals }.wait().map { "\(name): refused \($0)" }
    add(Row(name: name, value: "\(thousands(each[0])) a second (\(cost(used, each[0])) a match)"))
  }

  private mutating func verify(_ players: Players, _ name: String) throws {
    let wrong = try players.check()
    let (games, answers, refusals) = try group.next().submit {
      (players.games.count, players.answers.count, players.refusals)
    }.wait()
    faults += wrong.map { "\(name): \($0)" } + refusals.map { "\(name): refused \($0)" }
    add(
      Row(
        name: "  history of that run",
        value: "\(games) logs folded, \(answers) acknowledged moves found, \(wrong.count) faults"))
  }

  /// Adds the percentiles 50, 99 and 99.9 of `histogram`, and percentile 99 of how late this program itself sent moves.
  private mutating func time(
    _ name: String, _ players: Players, _ child: Child, matches: Int, seconds: Int,
    _ histogram: KeyPath<Players, Histogram<UInt32>>, goal: String
  ) throws {
    let loop = players.loop
    try players.join(matches, ports: child.ports)
    Thread.sleep(forTimeInterval: 4)
    try loop.submit { players.clearLatency() }.wait()
    Thread.sleep(forTimeInterval: Double(seconds))
    nonisolated(unsafe) let histogram = histogram
    let (count, at, late) = try loop.submit {
      let times = players[keyPath: histogram]
      return (
        times.totalCount, [50.0, 99, 99.9].map { Double(times.valueAtPercentile($0)) / 1e6 },
        Double(players.lateness.valueAtPercentile(99)) / 1e6
      )
    }.wait()
    try loop.submit { players.stop() }.wait()
    Thread.sleep(forTimeInterval: 2)
    add(
      Row(
        name: name,
        value: "p50 \(fixed(at[0])) ms, p99 \(fixed(at[1])) ms, p99.9 \(fixed(at[2])) ms (\(count) moves)",
        ratio: "the load itself was late by \(fixed(late)) ms (p99)", goal: goal))
  }

  /// How late a move reaches the opponent, in two thousand matches with one move a second each.
  private mutating func latency() throws {
    let child = server(["--memory"])
    defer { child.stop() }
    let players = Players(group.next(), pace: 1_000_000_000)
    try time(
      "move to opponent, 2,000 matches at 1 move/s", players, child, matches: 2000, seconds: max(options.seconds, 20),
      \.latency, goal: "p99 ≤ 10 ms")
    try verify(players, "latency")
  }

  /// 512 players of Classic with 20 s for a game and 1 s more a move, who move every 1.5 s: without a tournament, then in one.
  private mutating func event(_ store: String, _ start: (_ withTournament: Bool) -> Child?) throws {
    var alone: Double?
    for isTournament in [false, true] {
      guard let child = start(isTournament) else { return }
      defer { child.stop() }
      let loop = group.next()
      let players = Players(
        loop, pace: 1_500_000_000, tournament: isTournament ? try tournament(on: child) : "")
      try players.join(256, ports: child.ports)
      Thread.sleep(forTimeInterval: 10)
      try loop.submit { players.clearLatency() }.wait()
      let (each, used) = try rates(child, for: max(options.seconds, 30)) { [players.moves, players.bytes] }
      let (p99, late) = try loop.submit {
        (Double(players.latency.valueAtPercentile(99)) / 1e6, Double(players.lateness.valueAtPercentile(99)) / 1e6)
      }.wait()
      try loop.submit { players.stop() }.wait()
      Thread.sleep(forTimeInterval: 1)
      let name = "512 players \(isTournament ? "in" : "without") a tournament, \(store)"
      faults += try loop.submit { players.refusals }.wait().prefix(3).map { "\(name): refused \($0)" }
      add(
        Row(
          name: name,
          value: "\(fixed(each[0])) moves/s, p99 \(fixed(p99)) ms, \(fixed(each[1] / 512)) B/s each, "
            + "node \(fixed(used.servers * 100)) % of a core"
            + (used.database > 0 ? ", database \(fixed(used.database * 100)) %" : ""),
          ratio: (alone.map { "p99 \(ratio(p99 / $0)) of without; " } ?? "")
            + "the load itself was late by \(fixed(late)) ms (p99)",
          goal: isTournament ? "p99 ≤ 1.3, ≤ 2,048 B/s" : ""))
      alone = p99
    }
  }

  private func tournament(on child: Child) throws -> String {
    let loop = group.next()
    let code = loop.makePromise(of: String.self)
    _ = try Link.open(1, ports: child.ports, on: loop) { _, link in
      link.onLine = { line in
        if line.has(#"{"t":"hello""#) {
          link.send(#"{"t":"hello","v":[1],"client":"match-bench","caps":["event"]}"# + "\n")
        } else if line.has(#"{"t":"welcome""#) {
          link.send(#"{"t":"host","name":"Load","minutes":120,"secret":"load"}"# + "\n")
        } else if line.has(#"{"t":"ping""#) {
          link.send("{\"t\":\"pong\",\"ts\":\(line.number(at: 17))}\n")
        } else if line.has(#"{"t":"tournament""#), let at = line.after(#""code":""#, from: 0) {
          let found = line.word(at: at)
          if line.after(#""phase":"running""#, from: at) != nil { return code.succeed(found) }
          link.send(#"{"t":"tournament","op":"start","code":"\#(found)","secret":"load"}"# + "\n")
        }
      }
    }
    return try code.futureResult.wait()
  }

  /// How long after the mover's answer a move reaches the opponent at another node, in a hundred matches with five moves a second each.
  private mutating func across(_ child: Child) throws {
    defer { child.stop() }
    let players = Players(group.next(), pace: 200_000_000, keepsNeighbours: true)
    try time(
      "move to an opponent at another node, after the mover's answer", players, child, matches: 100,
      seconds: options.seconds, \.passage, goal: "≤ 1 ms")
    try verify(players, "across")
  }

  /// A hundred matches with five moves a second each: alone, then beside fifty connections that send ten times the allowed lines.
  private mutating func flood() throws {
    let child = Child(
      options.server, ["--listen", "127.0.0.1:0", "--no-page", "--no-admin", "--memory", "--log-level", "error"])
    defer { child.stop() }
    let (loop, other) = (group.next(), MultiThreadedEventLoopGroup.singleton.next())
    let players = Players(loop, pace: 200_000_000)
    try players.join(100, ports: child.ports)
    let seconds = Double(options.seconds)
    func slowest(_ meanwhile: () throws -> Void) throws -> (all: Double, own: Double) {
      try loop.submit { players.clearLatency() }.wait()
      try meanwhile()
      return try loop.submit {
        let of99 = [players.latency, players.lateness].map { Double($0.valueAtPercentile(99)) / 1e6 }
        return (of99[0], of99[1])
      }.wait()
    }
    Thread.sleep(forTimeInterval: 2)
    let alone = try slowest { Thread.sleep(forTimeInterval: seconds) }
    let missing = NIOLoopBoundBox<Int>.makeBoxSendingValue(50, eventLoop: other)
    let links = NIOLoopBoundBox<[Link]>.makeBoxSendingValue([], eventLoop: other)
    let line = Array("{\"t\":\"me\"}\n".utf8)
    let saying = other.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(5)) { _ in
      for link in links.value { link.send(line) }
    }
    var shutOut = -50
    let flooded = try slowest {
      let end = steadyNanoseconds() + UInt64(seconds * 1e9)
      while steadyNanoseconds() < end {
        let count = try other.submit { () -> Int in
          defer { missing.value = 0 }
          return missing.value
        }.wait()
        shutOut += count
        let opened = try Link.open(count, ports: child.ports, on: other) { _, link in
          link.onEnd = {
            missing.value += 1
            links.value.removeAll { $0 === link }
          }
          link.onLine = { line in
            if line.has(#"{"t":"hello""#) { link.send("{\"t\":\"hello\",\"v\":[1],\"client\":\"flood\"}\n") }
          }
        }
        try other.submit { links.value += opened }.wait()
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
    saying.cancel()
    try loop.submit { players.stop() }.wait()
    faults += try loop.submit { players.refusals }.wait().map { "flood: refused \($0)" }
    add(
      Row(
        name: "move to opponent, 200 players beside 50 who flood",
        value: "p99 \(fixed(flooded.all)) ms, alone \(fixed(alone.all)) ms (\(shutOut) times shut out)",
        ratio:
          "\(ratio(flooded.all / alone.all)) of alone; the load itself was late by \(fixed(flooded.own)) and \(fixed(alone.own)) ms (p99)",
        goal: "≤ 1.5"))
  }

  /// The server's memory for each idle connection, after `hello` and two heartbeats.
  private mutating func idle(_ name: String, tls: Bool, goal: String) throws {
    let folder = try Measure.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let child = server(
      ["--memory", "--max-connections", "19900", "--data", folder] + (tls ? ["--tls-self-signed"] : []))
    defer { child.stop() }
    let context = tls ? try TLSContext() : nil
    let loop = group.next()
    let welcomed = NIOLoopBoundBox<Int>.makeBoxSendingValue(0, eventLoop: loop)
    let pings = NIOLoopBoundBox<Int>.makeBoxSendingValue(0, eventLoop: loop)
    let lost = NIOLoopBoundBox<Int>.makeBoxSendingValue(0, eventLoop: loop)
    let before = child.resident
    let links = try Link.open(options.idle, ports: child.ports, tls: context, on: loop) { _, link in
      link.onEnd = { lost.value += 1 }
      link.onLine = { line in
        if line.has(#"{"t":"hello""#) {
          link.send("{\"t\":\"hello\",\"v\":[1],\"client\":\"match-bench\"}\n")
        } else if line.has(#"{"t":"welcome""#) {
          welcomed.value += 1
        } else if line.has(#"{"t":"ping""#) {
          pings.value += 1
          link.send("{\"t\":\"pong\",\"ts\":\(line.number(at: 17))}\n")
        }
      }
    }
    let count = options.idle
    for _ in 0..<900 {
      if try loop.submit({ pings.value >= 2 * count }).wait() { break }
      Thread.sleep(forTimeInterval: 0.1)
    }
    let after = child.resident
    let (there, gone) = try loop.submit { (welcomed.value, lost.value) }.wait()
    try loop.submit { for link in links { link.close() } }.wait()
    if there != count || gone != 0 { faults.append("\(name): \(there) of \(count) welcomed, \(gone) lost") }
    add(
      Row(
        name: name, value: "\(there): \(fixed(Double(after - before) / Double(count))) KiB each", goal: goal))
  }

  /// Only if installed: a well-known server's figure on this machine, for comparison.
  private mutating func redis() {
    guard let port = Measure.freePort(), Measure.shell("command -v redis-server && command -v redis-benchmark") != nil
    else {
      return add(Row(name: "redis PING", value: "skipped: redis-server or redis-benchmark is not installed"))
    }
    let server = Process()
    server.executableURL = URL(filePath: "/usr/bin/env")
    server.arguments = ["redis-server", "--bind", "127.0.0.1", "--port", "\(port)", "--save", "", "--daemonize", "no"]
    server.standardOutput = FileHandle.nullDevice
    guard (try? server.run()) != nil else { return }
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    Thread.sleep(forTimeInterval: 0.5)
    let text =
      Measure.shell(
        "redis-benchmark -h 127.0.0.1 -p \(port) -t ping_mbulk -c \(options.matches * 2) -n 600000 --csv") ?? ""
    let fields = text.split(separator: "\n").last?.split(separator: ",").map { $0.trimmingCharacters(in: ["\""]) } ?? []
    guard fields.count > 1, let each = Double(fields[1]) else {
      return add(Row(name: "redis PING", value: "skipped: redis-benchmark said \(text)"))
    }
    add(
      Row(
        name: "redis-server PING, by redis-benchmark", value: "\(thousands(each * 2)) lines/s in + out",
        ratio: echo > 0 ? "\(ratio(each * 2 / echo)) of echo" : ""))
  }

  private static func freePort() -> Int? {
    let channel = try? ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0)
      .wait()
    defer { try? channel?.close().wait() }
    return channel?.localAddress?.port
  }

  private static func shell(_ command: String) -> String? {
    let process = Process()
    let out = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardOutput = out
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = out.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
  }

  // MARK: Formatting of the table

  private func fixed(_ value: Double) -> String { String(format: "%.1f", value) }
  private func ratio(_ value: Double) -> String { String(format: "%.2f", value) }
  private func thousands(_ value: Double) -> String { String(format: "%.1fk", value / 1000) }
  private func cost(_ used: Used, _ each: Double) -> String {
    micro(used.servers, each) + (used.database > 0 ? " + database \(micro(used.database, each))" : "") + " CPU"
  }
  private func micro(_ cpu: Double, _ each: Double) -> String { String(format: "%.1f µs", cpu * 1e6 / max(each, 1)) }
}
