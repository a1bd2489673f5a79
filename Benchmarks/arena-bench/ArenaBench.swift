import Arena
import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

/// Compares the arena's speed with C: both do the same work in alternating runs, and the result is the ratio of their speeds.
struct ArenaBench: Sendable {
  struct Row: Sendable {
    let name: String
    let ours: Double
    /// In `unit`: the C program's figure, or that of the same games played without the arena's `run`; `nil` if there is none.
    var baseline: Double?
    let unit: String
    /// The figure that the arena should reach; larger is better unless `isTime`.
    let goal: Double
    var isTime = false
    /// A text computed from the results, equal on every machine and in C.
    var signature = "-"
    /// `nil` if the results were not compared.
    var agrees: Bool?
  }

  private(set) var rows: [Row] = []
  /// The measurements that failed, with the reason.
  private(set) var notes: [String] = []

  var isSound: Bool { rows.count == 14 && rows.allSatisfy { $0.ours > 0 && $0.ours.isFinite && $0.agrees != false } }

  /// `scale` multiplies the numbers of games, simulations and repetitions. The signatures of games and simulations depend on these numbers,
  /// so compare them only at the same scale.
  init(guardExecutable: String, scale: Double = 1) {
    let program = CBaseline("baseline", PackageResources.baseline_c)
    if program == nil { notes.append("no C compiler (cc, gcc, clang) was found: no ratios") }
    #if DEBUG
      notes.append("this is a debug build: the figures mean nothing")
    #endif

    let games = max(100, Int(20_000_000 * scale) / 4 * 4)
    let folder = NSTemporaryDirectory() + "alina-bench-\(getpid())-games"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/games"
    do {
      let (counted, c) = try ArenaBench.inTurn { () throws(ArenaError) in
        let played = try ArenaBench.play("random", "random", games)
        return (played.processor, played.signature)
      } beside: {
        program?.measure("random", games)
      }
      rows.append(
        Row(
          name: "run, random games", ours: Double(games) / counted.nanoseconds * 1e3,
          baseline: c.map { Double(games) / $0.nanoseconds * 1e3 }, unit: "M games/s/core", goal: 30,
          signature: counted.work, agrees: c.map { $0.signature == counted.work }))
      let written = try ArenaBench.play("random", "random", games / 4, file: file)
      rows.append(
        Row(name: "… into a file", ours: Double(games / 4) / written.processor * 1e3, unit: "M games/s/core", goal: 5))
      // Two threads against one, in wall time; each figure is the best of three alternating runs.
      for (name, count, path) in [("… two threads", games, nil), ("… two, into a file", games / 4, file)] {
        var best = [Double.infinity, .infinity]
        for _ in 0..<3 {
          for threads in [1, 2] {
            best[threads - 1] = min(
              best[threads - 1], try ArenaBench.play("random", "random", count, threads: threads, file: path).wall)
          }
        }
        rows.append(Row(name: name, ours: best[0] / best[1], unit: "× one", goal: 1.9))
      }
      let (levels, alone) = try ArenaBench.inTurn { () throws(ArenaError) in
        (try ArenaBench.play("levels:3", "levels:2", games / 4).processor, ())
      } beside: {
        (ArenaBench.aloneTables(games / 4), "")
      }
      rows.append(
        Row(
          name: "run, levels:3 – levels:2", ours: Double(games / 4) / levels.nanoseconds * 1e3,
          baseline: alone.map { Double(games / 4) / $0.nanoseconds * 1e3 }, unit: "M games/s/core", goal: 5))
      let searches = max(20, games / 10_000 / 2 * 2)
      let (searching, searched) = try ArenaBench.inTurn { () throws(ArenaError) in
        (try ArenaBench.play("perfect", "mcts:1000", searches).processor, ())
      } beside: {
        (ArenaBench.aloneSearch(searches), "")
      }
      rows.append(
        Row(
          name: "run, perfect – mcts:1000", ours: Double(searches) / searching.nanoseconds * 1e6,
          baseline: searched.map { Double(searches) / $0.nanoseconds * 1e6 }, unit: "k games/s/core", goal: 1))
    } catch {
      notes.append("run: \(error)")
    }
    let simulations = max(1, Int(200 * scale)) * 10_000
    addBest("mcts", "M simulations/s/core", goal: 10, 1, program?.measure("mcts", simulations)) {
      ArenaBench.treeSignature(simulations)
    } signature: {
      $0
    } figure: {
      Double(simulations) / $0 * 1e3
    }
    let repeats = max(1, Int(100 * scale))
    addBest("perft 9", "G nodes/s", goal: 0.6, repeats, program?.measure("perft", repeats)) {
      Perft()
    } signature: {
      "\($0.totalNodes)"
    } figure: {
      549_946 / $0
    }
    addBest("solve", "µs", goal: 30, repeats * 10, program?.measure("solve", repeats * 10), isTime: true) {
      Solver()
    } signature: {
      $0.signature
    } figure: {
      $0 / 1000
    }
    addBest("Infinite, its table", "ms", goal: 100, max(1, Int(10 * scale)), nil, isTime: true) {
      InfiniteTable()
    } signature: {
      "\($0.census.boards)"
    } figure: {
      $0 / 1e6
    }
    addUltimate(scale)
    if let program { addEngines(program, guardExecutable, games: max(200, Int(50_000 * scale))) }
  }

  /// Adds a row with the shortest time of 5 × `repeats` runs of the arena and that of five measurements of C, and compares the results.
  mutating func addBest<Work>(
    _ name: String, _ unit: String, goal: Double, _ repeats: Int, _ c: @autoclosure () -> Measured?,
    isTime: Bool = false, _ work: () -> Work, signature: (Work) -> String, figure: (Double) -> Double
  ) {
    let (ours, theirs) = ArenaBench.inTurn {
      var (best, last) = ArenaBench.time(work)
      for _ in 1..<max(1, repeats) {
        let next = ArenaBench.time(work)
        (best, last) = (min(best, next.nanoseconds), next.work)
      }
      return (best, last)
    } beside: {
      c()
    }
    let computed = signature(ours.work)
    rows.append(
      Row(
        name: name, ours: figure(ours.nanoseconds), baseline: theirs.map { figure($0.nanoseconds) }, unit: unit,
        goal: goal, isTime: isTime, signature: computed, agrees: theirs.map { $0.signature == computed }))
  }

  typealias Measured = (nanoseconds: Double, signature: String)

  /// Runs two tasks in turn, five times each, for the shortest times: another program that slows the machine for a second slows both.
  private static func inTurn<Work, Failure: Error>(
    _ ours: () throws(Failure) -> (nanoseconds: Double, work: Work), beside theirs: () -> Measured?
  ) throws(Failure) -> (ours: (nanoseconds: Double, work: Work), theirs: Measured?) {
    var best = (ours: try ours(), theirs: theirs())
    for _ in 1..<5 {
      let next = (ours: try ours(), theirs: theirs())
      if next.ours.nanoseconds < best.ours.nanoseconds { best.ours = next.ours }
      if let time = next.theirs?.nanoseconds, time < best.theirs?.nanoseconds ?? .infinity { best.theirs = next.theirs }
    }
    return best
  }

  private static func time<Work>(_ work: () -> Work) -> (nanoseconds: Double, work: Work) {
    let begun = processorTime()
    let done = work()
    return (processorTime() - begun, done)
  }

  /// Plays games of player `a` against player `b`; times are in nanoseconds.
  private static func play(
    _ a: String, _ b: String, _ games: Int, threads: Int = 1, file: String? = nil
  ) throws(ArenaError) -> (wall: Double, processor: Double, signature: String) {
    var configuration = RunConfiguration()
    for name in [a, b] { configuration.entrants.append(.init(try PlayerSpec(name))) }
    (configuration.games, configuration.seed) = (games, 1)
    var run = try Run(configuration, threads: threads, guardExecutable: "")
    run.output = file
    // Removing the previous file is not measured.
    if let file { unlink(file) }
    let (wall, processor) = (monotonicMilliseconds(), processorTime(CLOCK_PROCESS_CPUTIME_ID))
    let report = try run.play()
    return (
      (monotonicMilliseconds() - wall) * 1e6, processorTime(CLOCK_PROCESS_CPUTIME_ID) - processor,
      "\(report.bySeat.wins)/\(report.bySeat.draws)/\(report.bySeat.losses)"
    )
  }

  /// Nanoseconds of processor time for games between `levels:3` and `levels:2` without the arena's `run`.
  private static func aloneTables(_ games: Int) -> Double {
    let begun = processorTime()
    let tables = [3, 2].compactMap { Level(number: $0) }.map { DistributionTable($0) }
    var sum: UInt64 = 0
    for index in 0..<games {
      var generator = SplitMix64(seed: 1, index: UInt64(index))
      sum &+= playTables(tables[index % 2], tables[1 - index % 2], .none, using: &generator).bits
    }
    precondition(sum != 0)
    return processorTime() - begun
  }

  /// Nanoseconds of processor time for games between `perfect` and `mcts:1000` without the arena's `run`.
  private static func aloneSearch(_ games: Int) -> Double {
    let begun = processorTime()
    let (table, search) = (DistributionTable(SimpleOpponent.perfect), MonteCarloSearch())
    for index in 0..<games {
      var generator = SplitMix64(seed: 1, index: UInt64(index))
      var (position, last): (Position, Square?) = (.start, nil)
      while position.outcome == nil {
        let square =
          (position.turn == .x) == (index % 2 == 0)
          ? Square(table.move(key: position.ternaryKey, last: last?.index ?? 9, using: &generator))
          : search.bestMove(in: position, simulations: 1000, using: &generator)
        (position, last) = (position.playing(square), square)
      }
    }
    return processorTime() - begun
  }

  /// A trivial engine in C plays itself. The arena guards, times and checks the engines; the C baseline only passes their messages.
  private mutating func addEngines(_ program: borrowing CBaseline, _ guardExecutable: String, games: Int) {
    var configuration = RunConfiguration()
    configuration.entrants = [RunConfiguration.Entrant(.engine([program.path, "engine"]))]
    configuration.entrants.append(configuration.entrants[0])
    configuration.games = games / 2 * 2
    do {
      var run = try Run(configuration, threads: 1, guardExecutable: guardExecutable)
      var (best, signature) = (0.0, "")
      var floor: (rate: Double, signature: String)?
      for _ in 0..<3 {
        let report = try run.play()
        guard report.forfeits.isEmpty else {
          notes.append("C engines: \(report.forfeits[0].reason)")
          return
        }
        best = max(best, Double(report.games) / report.seconds / 1000)
        signature = "X \(report.bySeat.wins), O \(report.bySeat.losses)"
        guard let alone = program.measure("floor", configuration.games), alone.nanoseconds > 0 else { continue }
        floor = (max(floor?.rate ?? 0, Double(configuration.games) / alone.nanoseconds * 1e6), alone.signature)
      }
      rows.append(
        Row(
          name: "C engines", ours: best, baseline: floor?.rate, unit: "k games/s/pair", goal: 10, signature: signature,
          agrees: floor.map { $0.signature == signature }))
    } catch {
      notes.append("C engines: \(error)")
    }
  }

  private static func treeSignature(_ simulations: Int) -> String {
    let search = MonteCarloSearch()
    var signature: UInt64 = 0
    for number in 0..<simulations / 10_000 {
      var generator = SplitMix64(seed: UInt64(number) + 1)
      search.search(.start, simulations: 10_000, using: &generator)
      var visits: UInt64 = 0
      for (_, count) in search.visits(in: .start) { visits = mixed(visits &+ UInt64(count)) }
      signature = mixed(signature &+ visits)
    }
    return "\(signature)"
  }

  /// Nanoseconds of processor time, of this thread or, with `CLOCK_PROCESS_CPUTIME_ID`, of the whole process.
  static func processorTime(_ clock: clockid_t = CLOCK_THREAD_CPUTIME_ID) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  // MARK: - The table as text and JSON

  var text: String {
    var lines = [["", "ours", "C", "ratio", "goal", "unit", "signature"]]
    func number(_ value: Double) -> String { String(format: value < 10 ? "%.3f" : "%.1f", value) }
    for row in rows {
      let ratio = row.baseline.map { row.isTime ? $0 / row.ours : row.ours / $0 }
      lines.append([
        row.name, number(row.ours), row.baseline.map(number) ?? "-",
        ratio.map { String(format: "%.2f", $0) } ?? "-", (row.isTime ? "≤ " : "≥ ") + number(row.goal), row.unit,
        row.signature + (row.agrees == false ? " (C differs!)" : ""),
      ])
    }
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    var out = ""
    for line in lines {
      let cells = zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      out +=
        cells.joined(separator: "  ").trimmingCharacters(in: .whitespaces.subtracting(.init(charactersIn: "\n"))) + "\n"
    }
    return out + notes.map { "note: \($0)\n" }.joined()
  }

  var json: String {
    JSON.object([
      "rows": .array(
        rows.map { row in
          .object([
            "name": .string(row.name), "ours": .double(row.ours),
            "baseline": row.baseline.map { .double($0) } ?? .null, "unit": .string(row.unit),
            "goal": .double(row.goal), "isTime": .bool(row.isTime), "signature": .string(row.signature),
            "agrees": row.agrees.map { .bool($0) } ?? .null,
          ])
        }), "notes": .array(notes.map { .string($0) }),
    ]).text
  }
}
