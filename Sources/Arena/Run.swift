import Foundation
import Opponents
import TicTacToe

/// What a run came to.
public struct RunReport: Sendable {
  /// Why a run ended.
  public enum Ending: String, Sendable {
    /// Every game was played.
    case complete
    /// The SPRT decided.
    case sprt
    /// The user interrupted; the file can be resumed.
    case interrupted
  }

  /// Two players and what happened between them.
  public struct Result: Sendable {
    /// The first player's number.
    public var a: Int
    /// The second player's number.
    public var b: Int
    /// The first player's results.
    public var statistics = PairingStatistics()
  }

  /// The configuration, with what engines call themselves.
  public var configuration: RunConfiguration
  /// The results by pairing, in order of first meeting.
  public internal(set) var results: [Result] = []
  /// Games played, those of a resumed file included.
  public internal(set) var games = 0
  /// Games known when the run began.
  public internal(set) var resumedGames = 0
  /// Why it ended.
  public internal(set) var ending = Ending.complete
  /// Games by the number of moves.
  public internal(set) var lengths = [Int](repeating: 0, count: 10)
  /// Results of all games: X wins, draws, O wins.
  public internal(set) var bySeat = Tally()
  /// Reasons of forfeits, with how often each was given and by whom, in order of first appearance.
  public internal(set) var forfeits: [(player: Int, reason: String, count: Int)] = []
  /// Players in order of merit, with their points, for formats of more than two.
  public internal(set) var standings: [(player: Int, points: Double, buchholz: Double)] = []
  /// Players that had a bye.
  public internal(set) var byes: [Int] = []
  /// Matches of a knockout: round, players, pairs played, winner, whether seeds decided.
  public internal(set) var knockout: [(round: Int, a: Int, b: Int, pairs: Int, winner: Int?, bySeed: Bool)] = []
  /// Games worth hearing, if they were asked for.
  public var highlights: [Highlight] = []
  /// Seconds it took, without resumed games.
  public internal(set) var seconds = 0.0

  /// The result of a match.
  public var match: PairingStatistics { results.first?.statistics ?? PairingStatistics() }

  mutating func index(of pairing: Pairing) -> Int {
    if let index = results.firstIndex(where: { $0.a == pairing.a && $0.b == pairing.b }) { return index }
    results.append(Result(a: pairing.a, b: pairing.b))
    return results.count - 1
  }
}

/// A run of games: schedule, threads, statistics and file.
public struct Run {
  /// What is played.
  public private(set) var configuration: RunConfiguration
  /// Threads that play games of our own players.
  public var threads: Int
  /// The file of games, if one is written.
  public var output: String?
  /// Whether games worth hearing are picked on the way.
  public var picksHighlights = false
  /// Called after each chunk with the games played and all games, if that is known.
  public var progress: ((_ done: Int, _ total: Int?) -> Void)?
  /// Asked ten times a second whether to stop.
  public var isInterrupted: () -> Bool = { false }
  /// The program that guards engines.
  public var guardExecutable: String
  private var recorded: GameFile?

  /// Prepares a run: asks engines for their names and takes the hashes of files.
  public init(_ configuration: RunConfiguration, threads: Int, guardExecutable: String) throws(ArenaError) {
    self.configuration = try Run.identified(configuration, guardExecutable)
    self.threads = max(1, threads)
    self.guardExecutable = guardExecutable
    try configuration.validate()
  }

  /// Continues the run of a file; `expecting` changes the configuration that was found as the arguments say, and what
  /// then differs is refused by name. Files of players that are not given again are looked for by name and hash in
  /// `folders`, the current one and the file's own.
  public init(
    resuming path: String, threads: Int, guardExecutable: String, folders: [String] = [],
    expecting change: (inout RunConfiguration) throws(ArenaError) -> Void = { (_) throws(ArenaError) in }
  ) throws(ArenaError) {
    let file = try GameFile(path: path)
    let written: RunConfiguration
    do {
      written = try RunConfiguration(headerLine: file.header)
    } catch {
      throw ArenaError("\(path), line 1: \(error)")
    }
    var wanted = written
    try change(&wanted)
    let places = folders + [".", URL(filePath: path).deletingLastPathComponent().path]
    let named = wanted.entrants
    let located = named.indices.filter { written.entrants.contains(wanted.entrants[$0]) }
    for index in located {
      wanted.entrants[index].spec = try wanted.entrants[index].spec.located(wanted.entrants[index].files, in: places)
    }
    wanted = try Run.identified(wanted, guardExecutable)
    // What was found by name and hash is what the header names, wherever it lies.
    var compared = wanted
    for index in located { compared.entrants[index].spec = named[index].spec }
    let differences = compared.differences(from: written)
    guard differences.isEmpty else {
      throw ArenaError("\(path) cannot be resumed: \(differences.joined(separator: "; "))")
    }
    // The same in all but where files lie.
    configuration = wanted
    self.threads = max(1, threads)
    self.guardExecutable = guardExecutable
    output = path
    recorded = file
  }

  /// Whether the file was finished before.
  public var isFinished: Bool { recorded?.footer != nil }

  /// Bytes of a cut-off last line that resuming drops.
  public var truncatedBytes: Int { recorded?.truncatedBytes ?? 0 }

  private static func identified(
    _ configuration: RunConfiguration, _ guardExecutable: String
  ) throws(ArenaError) -> RunConfiguration {
    var result = configuration
    for index in result.entrants.indices {
      let spec = result.entrants[index].spec
      switch spec {
      case .engine(let command):
        let client = EngineClient(
          EngineClient.Recipe(
            command: command, guardExecutable: guardExecutable, time: configuration.time, seed: configuration.seed))
        defer { client.stop() }
        try client.start()
        result.entrants[index].id = client.id
      case .menace(let file?): _ = try MatchboxFile.load(file)
      default: break
      }
      result.entrants[index].files = try spec.fileHashes()
    }
    return result
  }

  /// The learning player of a match after the run, by its number.
  public private(set) var learners: [Int: any LearningOpponent] = [:]

  /// Plays.
  public mutating func play() throws(ArenaError) -> RunReport {
    let pool = try PlayerPool(configuration, guardExecutable: guardExecutable)
    var state = RunState(configuration, total: Schedule.totalGames(configuration))
    if picksHighlights { state.highlights = Highlights() }
    let begun = monotonicMilliseconds()
    var writer: GameFileWriter?
    if let output {
      if let recorded {
        if recorded.footer == nil, truncate(output, off_t(recorded.wholeBytes)) != 0 {
          throw ArenaError("\(output) cannot be repaired: \(String(cString: strerror(errno)))")
        }
        writer = try recorded.footer == nil ? GameFileWriter(path: output, continuing: recorded.hash) : nil
      } else {
        writer = try GameFileWriter(path: output, header: configuration.headerLine)
      }
    }
    var schedule = Schedule(configuration)
    var goesOn = true
    while goesOn, let wave = schedule.next() {
      state.begin(wave)
      let known = try replay(wave, pool, &state)
      if state.isDecided || recorded?.footer != nil && known < wave.games {
        goesOn = false
        break
      }
      let runner = WaveRunner(wave: wave, players: pool, firstOffset: known)
      var lines: [UInt8] = []
      let isWhole = try runner.run(threads: threads, isInterrupted: isInterrupted) {
        (chunk: WaveRunner.Finished) throws(ArenaError) -> Bool in
        lines.removeAll(keepingCapacity: true)
        for (number, game) in chunk.games.enumerated() {
          let offset = chunk.firstOffset + number
          let scheduled = wave.game(offset)
          state.take(wave, offset, game, chunk.reasons[offset])
          if writer != nil {
            let pairing = wave.pairings[scheduled.pairing]
            GameLine.write(
              index: scheduled.index, x: scheduled.isSwapped ? pairing.b : pairing.a,
              o: scheduled.isSwapped ? pairing.a : pairing.b,
              start: configuration.openings.opening(pair: scheduled.opening, seed: configuration.seed).start,
              game: game, reason: chunk.reasons[offset], to: &lines)
          }
          if state.isDecided { break }
        }
        try writer?.write(lines)
        progress?(state.report.games, state.total)
        return !state.isDecided
      }
      goesOn = isWhole && !state.isDecided
      if !isWhole && !state.isDecided { state.report.ending = .interrupted }
      if isWhole { schedule.finish(wave, doubledPoints: state.doubledPoints) }
    }
    if state.report.ending != .interrupted {
      if let recorded, state.report.games < recorded.games.count {
        throw ArenaError("the file holds \(recorded.games.count) games, its configuration only \(state.report.games)")
      }
      state.close(schedule)
      state.report.highlights = try (state.highlights?.chosen ?? []).map { (chosen) throws(ArenaError) in
        let game = chosen.candidate
        return Highlight(
          choices: chosen.choices.map(\.rawValue), game: game.index,
          drama: Drama.shared.points(of: game.game, start: game.start),
          record: try PGNExport.record(
            game.index, game.game, seats: game.seats, reason: game.reason, start: game.start, configuration))
      }
      try writer?.finish(state.footer)
    }
    if configuration.entrants.count == 2 {
      for player in 0..<2 {
        learners[player] = pool.learner(player, in: Pairing(a: 0, b: 1), seat: player)?.player
      }
    }
    state.report.seconds = (monotonicMilliseconds() - begun) / 1000
    return state.report
  }

  /// Takes in the games of a wave that the file holds already; learning players learn from them again.
  private func replay(_ wave: Wave, _ pool: PlayerPool, _ state: inout RunState) throws(ArenaError) -> Int {
    guard let recorded else { return 0 }
    let count = max(0, min(wave.games, recorded.games.count - wave.firstGame))
    let learns = configuration.entrants.contains { $0.spec.isLearner } && !configuration.isFrozen
    for offset in 0..<count {
      let scheduled = wave.game(offset)
      let pairing = wave.pairings[scheduled.pairing]
      let (x, o) = scheduled.isSwapped ? (pairing.b, pairing.a) : (pairing.a, pairing.b)
      let game = recorded.games[scheduled.index]
      guard recorded.seats[scheduled.index] == UInt16(x * 64 + o) else {
        throw ArenaError("game \(scheduled.index) of the file was played by others than its configuration says")
      }
      if learns {
        let opening = configuration.openings.opening(pair: scheduled.opening, seed: configuration.seed)
        for (player, side) in [(x, Player.x), (o, .o)] {
          let seat = player == pairing.a && (side == .x) != scheduled.isSwapped ? 0 : 1
          if let learner = pool.learner(player, in: pairing, seat: seat) {
            teach(.learner(learner), side, game, opening)
          }
        }
      }
      state.take(wave, offset, game, recorded.reasons[scheduled.index])
      state.report.resumedGames += 1
      if state.isDecided { break }
    }
    return count
  }
}

/// What a run has counted so far.
struct RunState {
  var report: RunReport
  let total: Int?
  var highlights: Highlights?
  private(set) var isDecided = false
  private(set) var doubledPoints: [Int] = []
  private var pairingIndex: [Int] = []
  /// Twice the first player's points in the first game of each pairing's open pair.
  private var openPair: [Int?] = []

  init(_ configuration: RunConfiguration, total: Int?) {
    report = RunReport(configuration: configuration)
    self.total = total
  }

  mutating func begin(_ wave: Wave) {
    doubledPoints = .init(repeating: 0, count: wave.pairings.count)
    openPair = .init(repeating: nil, count: wave.pairings.count)
    pairingIndex = wave.pairings.map { report.index(of: $0) }
  }

  /// Counts a game; games come in order of their index.
  mutating func take(_ wave: Wave, _ offset: Int, _ game: PackedGame, _ reason: String?) {
    let scheduled = wave.game(offset)
    let number = scheduled.pairing
    let doubled: Int
    switch game.outcome {
    case .draw:
      doubled = 1
      report.bySeat.draws += 1
    case .win(let side):
      doubled = (side == .x) != scheduled.isSwapped ? 2 : 0
      if side == .x { report.bySeat.wins += 1 } else { report.bySeat.losses += 1 }
    }
    if highlights != nil {
      let pairing = wave.pairings[number]
      let (x, o) = scheduled.isSwapped ? (pairing.b, pairing.a) : (pairing.a, pairing.b)
      let opening = report.configuration.openings.opening(pair: scheduled.opening, seed: report.configuration.seed)
      highlights?.consider(
        index: scheduled.index, game, seats: UInt16(x * 64 + o), start: opening.start, reason: reason)
    }
    report.games += 1
    report.lengths[game.count] += 1
    doubledPoints[number] += doubled
    let index = pairingIndex[number]
    func add(_ tally: inout Tally) {
      switch doubled {
      case 0: tally.losses += 1
      case 1: tally.draws += 1
      default: tally.wins += 1
      }
    }
    if scheduled.isSwapped {
      add(&report.results[index].statistics.asO)
    } else {
      add(&report.results[index].statistics.asX)
    }
    if game.ending != .normal {
      report.results[index].statistics.forfeits += 1
      let pairing = wave.pairings[number]
      note(doubled == 0 ? pairing.a : pairing.b, reason ?? "")
    }
    if let first = openPair[number] {
      report.results[index].statistics.pentanomial[first + doubled] += 1
      openPair[number] = nil
      if let sprt = report.configuration.sprt, sprt.verdict(report.results[index].statistics) != .inconclusive {
        isDecided = true
        report.ending = .sprt
      }
    } else {
      openPair[number] = doubled
    }
  }

  private mutating func note(_ player: Int, _ reason: String) {
    if let index = report.forfeits.firstIndex(where: { $0.player == player && $0.reason == reason }) {
      report.forfeits[index].count += 1
    } else if report.forfeits.count < 256 {
      report.forfeits.append((player, reason, 1))
    }
  }

  /// Fills in what a finished tournament says.
  mutating func close(_ schedule: Schedule) {
    let configuration = report.configuration
    report.byes = schedule.byes.sorted()
    report.knockout = schedule.matches.map {
      ($0.round, $0.pairing.a, $0.pairing.b, $0.pairs, $0.winner, $0.bySeed)
    }
    if configuration.format == .swiss {
      report.standings = schedule.standings.map { ($0, schedule.points[$0], schedule.buchholz($0)) }
    } else {
      var points = [Double](repeating: 0, count: configuration.entrants.count)
      for result in report.results {
        points[result.a] += result.statistics.total.points
        points[result.b] += Double(result.statistics.total.games) - result.statistics.total.points
      }
      report.standings = points.indices.sorted { points[$0] != points[$1] ? points[$0] > points[$1] : $0 < $1 }
        .map { ($0, points[$0], 0) }
    }
  }

  /// The footer without its hash.
  var footer: [JSON.Member] {
    typealias M = JSON.Member
    var members = [
      M("end", .bool(true)), M("games", .integer(Int64(report.games))),
      M("xWins", .integer(Int64(report.bySeat.wins))), M("draws", .integer(Int64(report.bySeat.draws))),
      M("oWins", .integer(Int64(report.bySeat.losses))),
      M("forfeits", .integer(Int64(report.results.reduce(0) { $0 + $1.statistics.forfeits }))),
    ]
    if let sprt = report.configuration.sprt {
      members.append(M("sprt", .string(sprt.verdict(report.match).rawValue)))
    }
    if !report.byes.isEmpty { members.append(M("byes", .array(report.byes.map { .integer(Int64($0)) }))) }
    if !report.knockout.isEmpty {
      members.append(
        M(
          "knockout",
          .array(
            report.knockout.map {
              .object([
                M("round", .integer(Int64($0.round))), M("a", .integer(Int64($0.a))), M("b", .integer(Int64($0.b))),
                M("pairs", .integer(Int64($0.pairs))), M("winner", .integer(Int64($0.winner ?? -1))),
                M("bySeed", .bool($0.bySeed)),
              ])
            })))
    }
    return members
  }
}
