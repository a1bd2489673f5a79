import Base
import Foundation
import MatchProtocol
import MatchStore
import SQLiteStore
import PostgresStore
import Synchronization
import TicTacToe

/// Measures the stores, and compares the waits of moves with those that the capacity model of docs/scale.md simulates.
@main struct StoreBench {
  private let address: PGAddress
  private let folder: String
  private let seconds: Double

  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let seconds = Double(arguments[3]), seconds > 0 else {
      print("store-bench takes the URL of an empty PostgreSQL, an empty folder, and the seconds of each measurement")
      exit(2)
    }
    try StoreBench(address: PGAddress(arguments[1]), folder: arguments[2], seconds: seconds).run()
  }

  @discardableResult private func sql(_ text: String) throws -> [[PGValue]] {
    try PGConnection(address).run([PGStatement(once: text)()], within: 20_000).first?.rows ?? []
  }

  private static func match(_ number: UInt64) -> MatchID {
    var random = SplitMix64(seed: number)
    return MatchID(using: &random)
  }

  /// Matches that get moves in turn, for a store to save. After nine moves a match ends, and a new match takes its place.
  private struct Load {
    private struct Table {
      var m: MatchID
      var ply = 0
    }
    private var tables: [Table]
    private var at = 0
    private var fresh: UInt64
    private let body = Array(
      #"{"k":"move","at":1700000000000,"mid":"c12-4711","side":"x","ply":4,"cell":"b2","spent":812,"left":[58123,60000]}"#
        .utf8)

    init(_ base: UInt64, matches: Int) {
      fresh = base << 40 + UInt64(matches)
      tables = (0..<matches).map { Table(m: StoreBench.match(base << 40 + UInt64($0))) }
    }

    mutating func batch(_ count: Int) -> [StoreUnit] {
      (0..<count).map { _ in
        defer { at = (at + 1) % tables.count }
        if tables[at].ply == 9 {
          tables[at] = Table(m: StoreBench.match(fresh))
          fresh += 1
        }
        tables[at].ply += 1
        let (m, ply) = (tables[at].m, tables[at].ply)
        var record = MatchRecord(id: m, x: 1, o: 2, created: 5)
        if ply == 9 { record.ended = 9 }
        let isEnd = ply == 1 || ply == 9
        return StoreUnit(logs: [
          .init(m, after: ply - 1, [body], record: isEnd ? record : nil, nodes: ply == 1 ? ["bench"] : [])
        ])
      }
    }

    /// Batch n (1…8) makes a move in each match of the first n ninths, so that the ninths then have 8, 7, … 0 moves.
    mutating func moved() -> [[StoreUnit]] {
      (1...8).map { share in
        at = 0
        defer { at = 0 }
        return batch(tables.count * share / 9)
      }
    }
  }

  private func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

  private func ownSeconds() -> Double {
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
  }

  private func apply(_ units: [StoreUnit], to store: any MatchStore) throws {
    for verdict in store.apply(units) {
      guard case .applied = verdict else { throw StoreError.failed("\(verdict)") }
    }
  }

  /// Commits batches of `size` moves in turn. Returns commits per second, and this process' processor time per move in µs.
  private func closed(_ store: any MatchStore, _ base: UInt64, _ size: Int) throws -> (commits: Double, cpu: Double) {
    var load = Load(base, matches: size)
    let (began, cpu) = (now(), ownSeconds())
    var count = 0
    while now() - began < seconds {
      try apply(load.batch(size), to: store)
      count += 1
    }
    return (Double(count) / (now() - began), (ownSeconds() - cpu) / Double(count * size) * 1e6)
  }

  private func text(_ value: Double, _ digits: Int = 0) -> String { String(format: "%.\(digits)f", value) }

  /// The cost of a batch in seconds: `fixed + each · moves`, times one of `factors` (measured time divided by fitted time).
  private struct Cost {
    var fixed: Double
    var each: Double
    var factors: [Double] = [1]

    /// Fits the cost to measured batches, by least squares of the relative error.
    init(_ batches: [(moves: Int, seconds: Double)]) {
      var (n, x, xx, y, xy) = (0.0, 0.0, 0.0, 0.0, 0.0)
      for batch in batches {
        // The weight 1/time² keeps a few large batches from dominating the cost of small ones.
        let (moves, weight) = (Double(batch.moves), 1 / (batch.seconds * batch.seconds))
        n += weight
        x += weight * moves
        xx += weight * moves * moves
        y += weight * batch.seconds
        xy += weight * moves * batch.seconds
      }
      each = (n * xy - x * y) / (n * xx - x * x)
      fixed = (y - each * x) / n
      let model = (fixed, each)
      factors = batches.map { $0.seconds / (model.0 + model.1 * Double($0.moves)) }
      // Slow batches weigh less in the fit, so the fitted time is too short on average; scaling makes the mean factor 1.
      let mean = factors.reduce(0, +) / Double(factors.count)
      factors = factors.map { $0 / mean }
      (fixed, each) = (fixed * mean, each * mean)
    }
  }

  private func run() throws {
    let sizes = [1, 8, 64, 512]
    print("| store | moves a commit | commits/s | moves/s | µs CPU here a move |\n|---|---|---|---|---|")
    func table(_ name: String, _ store: any MatchStore) throws {
      for (i, size) in sizes.enumerated() {
        let found = try closed(store, UInt64(i + 1), size)
        print(
          "| \(name) | \(size) | \(text(found.commits)) | \(text(found.commits * Double(size))) | \(text(found.cpu, 1)) |"
        )
      }
    }
    try table("SQLite", SQLiteStore(path: folder + "/m.sqlite"))
    let postgres = try PostgresStore(address)
    let before = try sql("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")[0][0].int ?? 0
    try table("PostgreSQL", postgres)
    let after = try sql("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")[0][0].int ?? 0
    let sums = try sql(
      "SELECT count(*), pg_total_relation_size('match_event'), pg_total_relation_size('match') FROM match_event")[0]
    let events = Double(sums[0].int ?? 1)
    print(
      "PostgreSQL: \(text(Double(after - before) / events)) bytes of log a move, "
        + "\(text(Double((sums[1].int ?? 0) + (sums[2].int ?? 0)) / events)) bytes of tables and indexes a move")
    try openLoop(postgres)
    try pairs(postgres)
    postgres.close()
    try cluster()
  }

  /// How many rated matches a second PostgreSQL begins, sixteen in a commit, with the removal of the players' tickets (waiting seeks).
  private func pairs(_ store: any MatchStore) throws {
    let size = 16
    let players = (1...Int64(2 * size)).map { i in
      AccountRecord(id: 1000 + i, name: "player \(i)", guest: false, token: nil, tokenExpires: 0)
    }
    try store.add(players)
    let body = Array(#"{"k":"start","at":1700000000000}"#.utf8)
    var (begun, spent) = (0, 0.0)
    while spent < seconds {
      try sql(
        """
        INSERT INTO ticket (id, session, account, node, key, purpose, wish, since)
        SELECT 't' || \(begun) || '-' || i, 's' || i, 1000 + i, 'bench', 'k' || \(begun), 'rated', '', i
        FROM generate_series(1, \(2 * size)) AS i
        """)
      let records = (0..<size).map { i in
        MatchRecord(
          id: StoreBench.match(70 << 40 + UInt64(begun + i)), x: players[2 * i].id, o: players[2 * i + 1].id, created: 5
        )
      }
      let units = records.enumerated().map { i, record in
        var unit = StoreUnit(logs: [
          .init(record.id, after: 0, [body], record: record, nodes: ["bench"])
        ])
        let seats = [players[2 * i], players[2 * i + 1]]
        unit.slots = seats.map { StoreUnit.Slot(account: $0.id, .classic, $0.rating) }
        unit.keys = seats.map { StoreUnit.Key(account: $0.id, "k\(begun)", purpose: "rated") }
        unit.tickets = seats.map { "t\(begun)-\($0.id - 1000)" }
        return unit
      }
      let at = now()
      try apply(units, to: store)
      spent += now() - at
      begun += size
      // Ends the matches, so that their players may begin other rated matches.
      let ends = records.map { record in
        var ended = record
        ended.ended = 9
        return StoreUnit(logs: [.init(record.id, after: 1, [body], record: ended)])
      }
      try apply(ends, to: store)
    }
    print("PostgreSQL, \(size) matches begun a commit: \(text(Double(begun) / spent)) matches/s")
  }

  private func cluster() throws {
    for count in 1...3 {
      try sweep()
      let stores = try (0..<count).map { _ in try PostgresStore(address) }
      let commits = Mutex(0.0)
      let done = DispatchGroup()
      for (i, store) in stores.enumerated() {
        done.enter()
        Thread {
          let found = try? closed(store, UInt64(100 + count * 10 + i), 64)
          commits.withLock { $0 += found?.commits ?? 0 }
          done.leave()
        }.start()
      }
      done.wait()
      print("PostgreSQL, \(count) nodes, 64 moves a commit: \(text(commits.withLock { $0 } * 64)) moves/s")
      for store in stores { store.close() }
    }
  }

  // MARK: the capacity model

  /// Prints the waits, measured and simulated, of moves that arrive at random while one thread commits all waiting moves as one batch.
  private func openLoop(_ store: any MatchStore) throws {
    let cost = try calibrate(store)
    let factors = cost.factors.sorted()
    print(
      "a commit takes \(text(cost.fixed * 1e3, 2)) ms + \(text(cost.each * 1e6, 1)) µs a move, "
        + "times \(text(factors[factors.count / 20], 2))–\(text(factors[factors.count * 19 / 20], 2)) (nine of ten)")
    print(
      "| moves/s that come | moves a commit, measured | simulated | mean wait ms, measured | simulated | p99 ms, measured | simulated |"
    )
    print("|---|---|---|---|---|---|---|")
    for (i, share) in [0.05, 0.2, 0.5, 0.8].enumerated() {
      // The mean rate of arriving moves: `share` of the rate at which batches of 512 moves could be stored.
      let rate = share * 512 / (cost.fixed + 512 * cost.each)
      let real = try measure(store, UInt64(50 + i), rate)
      let model = simulate(cost, rate)
      print(
        "| \(text(rate)) | \(text(real.batch, 1)) | \(text(model.batch, 1)) | \(text(real.mean * 1e3, 2)) | "
          + "\(text(model.mean * 1e3, 2)) | \(text(real.p99 * 1e3, 2)) | \(text(model.p99 * 1e3, 2)) |")
    }
  }

  /// Stores nine thousand live matches and returns them for further moves.
  private func crowd(_ store: any MatchStore, _ base: UInt64) throws -> Load {
    var load = Load(base, matches: 9000)
    for batch in load.moved() { try apply(batch, to: store) }
    try sweep()
    return load
  }

  /// Makes the database do its deferred work, which the next measurement must not include.
  private func sweep() throws {
    for order in ["VACUUM ANALYZE match", "VACUUM ANALYZE match_event", "CHECKPOINT"] { _ = try sql(order) }
  }

  private func calibrate(_ store: any MatchStore) throws -> Cost {
    var load = try crowd(store, 40)
    var found: [(moves: Int, seconds: Double)] = []
    let sizes = [1, 3, 9, 27, 81, 243]
    let began = now()
    while now() - began < 2 * seconds {
      let batch = load.batch(sizes[found.count % sizes.count])
      let at = now()
      try apply(batch, to: store)
      found.append((batch.count, now() - at))
    }
    return Cost(found)
  }

  private typealias Waits = (batch: Double, mean: Double, p99: Double)

  private func waits(_ all: [Double], _ commits: Int) -> Waits {
    let sorted = all.sorted()
    return (
      Double(all.count) / Double(max(commits, 1)), all.reduce(0, +) / Double(max(all.count, 1)),
      sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100]
    )
  }

  private func arrivals(_ rate: Double) -> [Double] {
    var random = SplitMix64(seed: 5)
    var at = 0.0
    var result: [Double] = []
    while at < seconds {
      at -= Foundation.log(Double(random.below(1 << 30) + 1) / Double(1 << 30)) / rate
      result.append(at)
    }
    return result
  }

  private func measure(_ store: any MatchStore, _ base: UInt64, _ rate: Double) throws -> Waits {
    let arrivals = arrivals(rate)
    var load = try crowd(store, base)
    var (next, commits) = (0, 0)
    var all: [Double] = []
    let began = now()
    while next < arrivals.count {
      let at = now() - began
      guard arrivals[next] <= at else {
        // `usleep` ends about 0.1 ms late, so the last 0.2 ms are a busy wait.
        if arrivals[next] - at > 200e-6 { usleep(UInt32((arrivals[next] - at - 200e-6) * 1e6)) }
        continue
      }
      var end = next
      while end < arrivals.count, arrivals[end] <= at { end += 1 }
      try apply(load.batch(end - next), to: store)
      let done = now() - began
      all += arrivals[next..<end].map { done - $0 }
      (next, commits) = (end, commits + 1)
    }
    return waits(all, commits)
  }

  private func simulate(_ cost: Cost, _ rate: Double) -> Waits {
    let arrivals = arrivals(rate)
    var random = SplitMix64(seed: 6)
    var (next, commits, at) = (0, 0, 0.0)
    var all: [Double] = []
    while next < arrivals.count {
      at = max(at, arrivals[next])
      var end = next
      while end < arrivals.count, arrivals[end] <= at { end += 1 }
      at += (cost.fixed + cost.each * Double(end - next)) * cost.factors[random.below(cost.factors.count)]
      all += arrivals[next..<end].map { at - $0 }
      (next, commits) = (end, commits + 1)
    }
    return waits(all, commits)
  }
}
