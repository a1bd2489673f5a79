import Foundation
import MatchProtocol
import ServerTestSupport
import Synchronization
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore
@testable import PostgresStore

@Suite(.serialized) struct PostgresFaultTests {
  @Test func `of several nodes that store the same move exactly one succeeds, without deadlocks`() throws {
    let bed = PostgresTestBed()
    let address = try PGAddress(bed.url)
    let stores = try (0..<3).map { _ in try PostgresStore(address) }
    let players = (1...6).map { someAccount($0, "player \($0)") }
    try stores[0].add(players)
    let matches = (0..<20).map { someID(UInt64($0)) }
    #expect(stores[0].appliesAll(matches.map { beginning($0) }))
    let works = stores.enumerated().map { index, store in
      Work { () -> [String: Int] in
        var counts: [String: Int] = [:]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<60 {
          let units = matches.shuffled(using: &random).prefix(12).compactMap { m -> StoreUnit? in
            guard let length = try? store.length(m) else { return nil }
            return move(m, after: length, "\(index)")
          }
          var scored = units
          // Half of the batches also change the accounts, each in another random order.
          if Bool.random(), !scored.isEmpty {
            scored[0].scores = players.shuffled(using: &random).map {
              var score = AccountScore(account: $0.id)
              score.won = 1
              return score
            }
          }
          for (unit, verdict) in zip(scored, store.apply(scored)) {
            switch verdict {
            case .applied:
              counts["\(unit.logs[0].m)", default: 0] += 1
              if !unit.scores.isEmpty { counts["won", default: 0] += 1 }
            case .conflict(.log(unit.logs[0].m)): counts["conflict", default: 0] += 1
            default: counts["\(verdict)", default: 0] += 1
            }
          }
        }
        return counts
      }
    }
    var sum: [String: Int] = [:]
    for work in works { sum.merge(try work.value(), uniquingKeysWith: +) }
    for m in matches {
      let stored = try #require(try stores[0].match(m))
      #expect(stored.bodies.count == stored.length, "the log has no gaps")
      #expect(stored.length == 1 + (sum.removeValue(forKey: "\(m)") ?? 0))
    }
    let won = sum.removeValue(forKey: "won") ?? 0
    #expect(try stores[1].accounts().map(\.won) == players.map { _ in won } && won > 0)
    #expect(sum["conflict"] ?? 0 > 0, "some units have met a conflict")
    sum["conflict"] = nil
    #expect(sum.isEmpty, "\(sum)")
    for store in stores { store.close() }
    // A process of PostgreSQL reports its counters when it ends.
    #expect(
      try eventually {
        try bed.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = 'alina-server'").count == 1
      })
    #expect(try bed.sql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [[.int(0)]])
  }

  @Test func `batches at the time of a database kill are stored whole or not at all, and no acknowledged one is lost`()
    throws
  {
    let bed = PostgresTestBed()
    let store = try PostgresStore(PGAddress(bed.url))
    defer { store.close() }
    let (m, n) = (someID(1), someID(2))
    #expect(store.apply([beginning(m), beginning(n)]) == [.applied([:]), .applied([:])])
    var unknown = 0
    let kills = amount("KILLS", quick: 1, all: 3)
    var seq = 1
    for round in 0..<kills {
      let told = Mutex(seq)
      let writer = Work { [seq] () -> [Verdict] in
        for at in seq... {
          // For two moves in one unit the store makes two round trips to the database, for two units one.
          let (one, other) = (move(m, after: at), move(n, after: at))
          let verdicts =
            at % 2 == 0 ? store.apply([StoreUnit(logs: one.logs + other.logs)]) : store.apply([one, other])
          guard verdicts.allSatisfy(\.isApplied) else { return verdicts }
          told.withLock { $0 = at + 1 }
        }
        return []
      }
      try #require(eventually { told.withLock { $0 } >= seq + 40 })
      try bed.order("kill")
      let last = try writer.value()
      #expect(last.allSatisfy { $0.isUnknown || $0.isFailed } && !last.isEmpty, "\(last)")
      #expect(store.apply(move(m, after: 0)).isFailed, "a unit fails while the database is down")
      #expect(throws: StoreError.self) { try store.ping() }
      try bed.order("start")
      let count = try #require(try store.length(m))
      #expect(try store.length(n) == count, "round \(round): only one of the two logs was stored")
      #expect([told.withLock { $0 }, told.withLock { $0 } + 1].contains(count), "round \(round)")
      if count > told.withLock({ $0 }) {
        unknown += 1
        #expect(last.filter(\.isUnknown) == last)
      }
      seq = count
    }
    print("kill -9 of PostgreSQL: \(kills) times, \(seq) events, \(unknown) commits done but not told")
  }

  @Test func `the connection to the database is encrypted and its certificate verified, as the URL asks`() throws {
    let bed = PostgresTestBed(tls: true)
    let store = try PostgresStore(PGAddress(bed.url))
    try store.add([someAccount(1, "Ann")])
    let encrypted = try bed.sql(
      "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
        + "WHERE application_name = 'alina-server'")
    #expect(encrypted == [[.bool(true)]])
    store.close()
    let other = PostgresTestBed(tls: true)
    let root = try #require(other.url.split(separator: "sslrootcert=").last)
    let wrong = try #require(bed.url.split(separator: "sslrootcert=").first) + "sslrootcert=" + root
    #expect { _ = try PostgresStore(PGAddress(String(wrong))) } throws: {
      "\($0)".contains("certificate verify failed")
    }
  }

  @Test func `a hanging database makes the outcome unknown in time, and the store works again afterwards`() throws {
    let bed = PostgresTestBed()
    let store = try PostgresStore(PGAddress(bed.url), deadline: 1000)
    defer { store.close() }
    let words = Mutex(0)
    store.listen(as: "a") { if $0 == nil { words.withLock { $0 += 1 } } }
    let m = someID(1)
    #expect(store.apply(beginning(m)) == .applied([:]))
    #expect(eventually { words.withLock { $0 } == 1 })
    try bed.order("stop")
    #expect(throws: StoreError.self) { try store.ping() }
    #expect(store.apply(move(m, after: 1)).isUnknown)
    try bed.order("cont")
    let count = try #require(try store.length(m))
    #expect(count <= 2)
    // The first move's outcome is final now: PostgreSQL has ended the process of its connection.
    #expect(try eventually { try store.apply(move(m, after: store.length(m) ?? 0)).isApplied })
    #expect(eventually { words.withLock { $0 } > 1 }, "the listener reports a gap after seconds of silence")
  }

  @Test func `an import is refused while a server runs on the database`() throws {
    let store = try PostgresStore(PGAddress(try PostgresTestBed.shared.freshURL()))
    defer { store.close() }
    try store.requireNoNode()
    _ = try store.answer(.heartbeat("a", address: "h:1"))
    #expect { try store.requireNoNode() } throws: { "\($0)".contains("a server is running on it, at h:1") }
    _ = try store.answer(.leave("a"))
    try store.requireNoNode()
  }

  @Test(.needs("pgbouncer"), arguments: [1, 20])
  func `a pooler by transaction is refused with the reason, and a pooler by session is accepted`(
    sessions: Int
  ) throws {
    let bed = PostgresTestBed()
    let folder = TemporaryFolder()
    func freePort() throws -> Int {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
      (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), inet_addr("127.0.0.1"))
      return try withUnsafeMutablePointer(to: &address) {
        try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          try #require(bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0)
        }
        return Int(UInt16(bigEndian: $0.pointee.sin_port))
      }
    }
    func pooler(_ mode: String, port: Int) throws -> Child {
      let database = "host=127.0.0.1 port=\(bed.port) user=postgres password=\(TestPassword.postgres)"
      try """
      [databases]
      postgres = \(database)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(port)
      unix_socket_dir =
      auth_type = any
      pool_mode = \(mode)
      default_pool_size = \(sessions)
      ignore_startup_parameters = extra_float_digits
      """.write(toFile: folder.path + "/\(mode).ini", atomically: true, encoding: .utf8)
      // pgbouncer refuses to run as root; the user `postgres` must be able to read the configuration file.
      for path in [folder.path, folder.path + "/\(mode).ini"] { chmod(path, 0o755) }
      let user = getuid() == 0 ? ["-u", "postgres"] : []
      return try Child([try #require(program("pgbouncer"))] + user + [folder.path + "/\(mode).ini"])
    }
    func said(_ port: Int) throws -> String {
      let url = bed.url.replacing(":\(bed.port)/", with: ":\(port)/")
      do throws(StoreError) { try PostgresStore(PGAddress(url)).close() } catch { return "\(error)" }
      return ""
    }
    for (mode, isRefused) in [("transaction", true), ("session", false)] where isRefused || sessions > 10 {
      let port = try freePort()
      let child = try pooler(mode, port: port)
      defer {
        child.signal(SIGTERM)
        _ = try? child.wait()
      }
      #expect(try eventually { try !said(port).contains("refused") })
      let text = try said(port)
      #expect(text.contains("pool_mode = transaction") == isRefused && text.isEmpty != isRefused, "\(text)")
    }
  }

  @Test func `sessions are shared if one connection's name is seen by another connection, or lost by the first`()
    throws
  {
    #expect(try PostgresStore.sharesSessions("a", other: "a") { nil })
    #expect(try PostgresStore.sharesSessions("a", other: nil) { nil })
    #expect(try PostgresStore.sharesSessions("a", other: "b") { "b" })
    #expect(try !PostgresStore.sharesSessions("a", other: nil) { "a" })
    #expect(try !PostgresStore.sharesSessions("a", other: "b") { "a" })
  }

  @Test func `a database with unsafe settings is refused with the reason`() throws {
    let bed = PostgresTestBed()
    func refusal(_ url: String, lossy: Bool = false) throws -> String {
      var address = try PGAddress(url)
      address.allowsLossyFailover = lossy
      do throws(StoreError) { try PostgresStore(address).close() } catch { return "\(error)" }
      return ""
    }
    #expect(try refusal(bed.url) == "")
    for name in ["fsync", "full_page_writes"] {
      try bed.sql("ALTER SYSTEM SET \(name) = off")
      try bed.sql("SELECT pg_reload_conf()")
      #expect(try eventually { try refusal(bed.url).contains("\(name) is off there") })
      try bed.sql("ALTER SYSTEM RESET \(name)")
      try bed.sql("SELECT pg_reload_conf()")
      #expect(try eventually { try refusal(bed.url) == "" })
    }
    try bed.sql("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")
    #expect(try refusal(bed.url.dropLast("postgres".count) + "ascii").contains("server_encoding is SQL_ASCII there"))
    let two = bed.url.replacing(":\(bed.port)", with: ":\(bed.port),127.0.0.1:\(bed.port)")
    #expect(try refusal(two).contains("--allow-lossy-failover"))
    #expect(try refusal(two, lossy: true) == "")
  }
}
