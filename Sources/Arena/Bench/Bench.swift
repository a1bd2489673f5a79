import Foundation
import Opponents
import TicTacToe

/// Our speed beside C's: the same work, compiled and run in the same minute, compared as a ratio.
public struct Bench: Sendable {
  /// One line of the table.
  public struct Row: Sendable {
    /// What was done.
    public let name: String
    /// Our figure, in `unit`.
    public let ours: Double
    /// C's figure, if there is one.
    public let baseline: Double?
    /// What is counted.
    public let unit: String
    /// What the design asks for; larger is better unless `isTime`.
    public let goal: Double
    /// Whether less is better.
    public let isTime: Bool
    /// What was computed, the same on every machine.
    public let signature: String
    /// Whether C computed the same.
    public let agrees: Bool?
  }

  /// The table.
  public private(set) var rows: [Row] = []
  /// What could not be measured, and why.
  public private(set) var notes: [String] = []

  /// Signatures of the standard amounts of work; a changed one means that other games were played.
  static let goldens = ["random games": "11138302894343425637", "perft 9": "549946", "solve": "317358605706845116"]

  /// Measures; `scale` shortens the work (and changes the signature of random games).
  public init(guardExecutable: String, scale: Double = 1) {
    let program = Bench.compile()
    defer { if let program { try? FileManager.default.removeItem(atPath: program.folder) } }
    if program == nil { notes.append("no C compiler (cc, gcc, clang) was found: no ratios") }
    func baseline(_ mode: String, _ amount: Int) -> (nanoseconds: Double, signature: String)? {
      guard let program, let text = Bench.output(program.path, [mode, "\(amount)"]) else { return nil }
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.count == 2, let time = Double(words[0]) else { return nil }
      return (time, String(words[1]))
    }
    #if DEBUG
      notes.append("this is a debug build: the figures mean nothing")
    #endif

    let games = Int(20_000_000 * scale)
    add("random games", "M games/s/core", goal: 90, amount: games, divisor: 1e6, baseline("random", games)) {
      "\(RandomGames.signature(seed: 1, games: 0..<UInt64(games)))"
    }
    let simulations = max(1, Int(200 * scale)) * 10_000
    add("mcts", "M simulations/s/core", goal: 10, amount: simulations, divisor: 1e6, baseline("mcts", simulations)) {
      Bench.treeSignature(simulations)
    }
    let repeats = max(1, Int(100 * scale))
    addBest("perft 9", "G nodes/s", goal: 0.6, repeats, baseline("perft", repeats), isTime: false) {
      Perft()
    } signature: {
      "\($0.totalNodes)"
    } figure: {
      549_946 / $0
    }
    addBest("solve", "µs", goal: 30, repeats * 10, baseline("solve", repeats * 10), isTime: true) {
      Solver()
    } signature: {
      $0.signature
    } figure: {
      $0 / 1000
    }
    addThreads(games, program?.path)
    if let program { addEngines(program.path, guardExecutable, games: max(200, Int(20_000 * scale))) }
  }

  private mutating func add(
    _ name: String, _ unit: String, goal: Double, amount: Int, divisor: Double,
    _ c: (nanoseconds: Double, signature: String)?, _ work: () -> String
  ) {
    let begun = Bench.processorTime()
    let signature = work()
    let ours = Double(amount) / (Bench.processorTime() - begun) * 1e9 / divisor
    rows.append(
      Row(
        name: name, ours: ours, baseline: c.map { Double(amount) / $0.nanoseconds * 1e9 / divisor }, unit: unit,
        goal: goal, isTime: false, signature: signature, agrees: c.map { $0.signature == signature }))
  }

  /// The best of some repeats; what was computed is looked at afterwards.
  private mutating func addBest<Work>(
    _ name: String, _ unit: String, goal: Double, _ repeats: Int, _ c: (nanoseconds: Double, signature: String)?,
    isTime: Bool, _ work: () -> Work, signature: (Work) -> String, figure: (Double) -> Double
  ) {
    var best = Double.infinity
    var last = work()
    for _ in 0..<repeats {
      let begun = Bench.processorTime()
      last = work()
      best = min(best, Bench.processorTime() - begun)
    }
    let computed = signature(last)
    rows.append(
      Row(
        name: name, ours: figure(best), baseline: c.map { figure($0.nanoseconds) }, unit: unit, goal: goal,
        isTime: isTime, signature: computed, agrees: c.map { $0.signature == computed }))
  }

  /// Two threads beside one, in wall time, ours and C's in turn: what is shared shows in ours alone, the machine in both.
  private mutating func addThreads(_ games: Int, _ program: String?) {
    func seconds(_ threads: Int) -> Double {
      let begun = monotonicMilliseconds()
      DispatchQueue.concurrentPerform(iterations: threads) { number in
        let first = UInt64(number * games)
        precondition(RandomGames.signature(seed: 1, games: first..<first + UInt64(games)) != 0)
      }
      return monotonicMilliseconds() - begun
    }
    var (ours, theirs) = ([Double.infinity, .infinity], [Double.infinity, .infinity])
    for _ in 0..<3 {
      ours = [min(ours[0], seconds(1)), min(ours[1], seconds(2))]
      let words = program.flatMap { Bench.output($0, ["threads", "\(games)"]) }?.split(whereSeparator: \.isWhitespace)
      let times = (words ?? []).compactMap { Double($0) }
      if times.count == 2 { theirs = [min(theirs[0], times[0]), min(theirs[1], times[1])] }
    }
    let c = 2 * theirs[0] / theirs[1]
    rows.append(
      Row(
        name: "two threads", ours: 2 * ours[0] / ours[1], baseline: c.isFinite ? c : nil, unit: "× one", goal: 1.9,
        isTime: false, signature: "-", agrees: nil))
  }

  /// Games of the trivial C engine against itself, under guards, clocks and rules, beside the same messages sent by C.
  private mutating func addEngines(_ program: String, _ guardExecutable: String, games: Int) {
    var configuration = RunConfiguration()
    configuration.entrants = [RunConfiguration.Entrant(.engine([program, "engine"]))]
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
        guard let text = Bench.output(program, ["floor", "\(configuration.games)"]),
          let space = text.firstIndex(of: " "), let time = Double(text[..<space]), time > 0
        else { continue }
        let played = text[space...].trimmingCharacters(in: .whitespacesAndNewlines)
        floor = (max(floor?.rate ?? 0, Double(configuration.games) / time * 1e6), played)
      }
      rows.append(
        Row(
          name: "C engines", ours: best, baseline: floor?.rate, unit: "k games/s/pair", goal: 10, isTime: false,
          signature: signature, agrees: floor.map { $0.signature == signature }))
    } catch {
      notes.append("C engines: \(error)")
    }
  }

  private static func treeSignature(_ simulations: Int) -> String {
    let search = MonteCarloSearch()
    var signature: UInt64 = 0
    func mix(_ value: UInt64) -> UInt64 {
      var z = value
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
    for number in 0..<simulations / 10_000 {
      var generator = SplitMix64(seed: UInt64(number) + 1)
      search.search(.start, simulations: 10_000, using: &generator)
      var visits: UInt64 = 0
      for (_, count) in search.visits(in: .start) { visits = mix(visits &+ UInt64(count)) }
      signature = mix(signature &+ visits)
    }
    return "\(signature)"
  }

  /// Nanoseconds of this thread on a processor.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  // MARK: - C

  /// Compiles the baseline into a folder of its own.
  private static func compile() -> (folder: String, path: String)? {
    let folder = NSTemporaryDirectory() + "alina-bench-\(getpid())"
    guard (try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)) != nil,
      (try? Data(PackageResources.baseline_c).write(to: URL(filePath: folder + "/baseline.c"))) != nil
    else { return nil }
    for compiler in ["cc", "gcc", "clang"] {
      // No contraction: the tree's arithmetic is the same in both languages, digit for digit.
      let words = [
        compiler, "-O3", "-ffp-contract=off", "-pthread", "-o", folder + "/baseline", folder + "/baseline.c",
      ]
      if output("/usr/bin/env", words) != nil { return (folder, folder + "/baseline") }
    }
    try? FileManager.default.removeItem(atPath: folder)
    return nil
  }

  /// What a program prints; `nil` where it fails.
  private static func output(_ path: String, _ arguments: [String]) -> String? {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    let out = Pipe()
    process.standardOutput = out
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = out.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
  }

  // MARK: - Text

  /// The table as text.
  public var text: String {
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

  /// The table as one line of JSON.
  public var json: String {
    typealias M = JSON.Member
    return JSON.object([
      M(
        "rows",
        .array(
          rows.map { row in
            .object([
              M("name", .string(row.name)), M("ours", .number(row.ours)),
              M("baseline", row.baseline.map { .number($0) } ?? .null), M("unit", .string(row.unit)),
              M("goal", .number(row.goal)), M("isTime", .bool(row.isTime)), M("signature", .string(row.signature)),
              M("agrees", row.agrees.map { .bool($0) } ?? .null),
            ])
          })), M("notes", .array(notes.map { .string($0) })),
    ]).text
  }
}
