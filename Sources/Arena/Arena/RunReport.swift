import Base
import Foundation
import TicTacToe

package struct RunReport: Sendable {
  package enum Ending: String, Sendable {
    case complete
    case sprt
    case interrupted
  }

  package struct Result: Sendable {
    /// The indices of the two players among the entrants.
    package var a: Int
    package var b: Int
    /// The first player's results.
    package var statistics = PairingStatistics()
  }

  /// With the names that the engines gave in their handshakes.
  package var configuration: RunConfiguration
  /// In the order in which the pairings were first played.
  package internal(set) var results: [Result] = []
  /// Includes the games of a resumed file.
  package internal(set) var games = 0
  package internal(set) var resumedGames = 0
  package internal(set) var ending = Ending.complete
  /// For each number of moves, the number of games of this length.
  package internal(set) var lengths = [Int](repeating: 0, count: Variant.longestGame + 1)
  /// From X's point of view: a loss is a win of O.
  package internal(set) var bySeat = Tally()
  /// The games that engines lost by faults, by player and kind of fault. `reason` is the reason of the first such game.
  package internal(set) var forfeits: [(player: Int, kind: FaultKind, reason: String, count: Int)] = []
  /// By player, the moves over the time limit but within the margin; `most` is the greatest excess in milliseconds.
  package internal(set) var lateMoves: [(player: Int, count: Int, most: Int)] = []
  /// Players by rank, in formats with more than two. `buchholz` is the sum of the points of a player's opponents.
  package internal(set) var standings: [(player: Int, points: Double, buchholz: Double)] = []
  /// By player, in round robin, gauntlet and Swiss, whose results make all players comparable.
  package internal(set) var ratings: [Rating] = []
  /// The players that had a bye, a round without an opponent.
  package internal(set) var byes: [Int] = []
  package internal(set) var knockout: [Schedule.Match] = []
  package var highlights: [Highlight] = []
  /// Without the time of an earlier, interrupted run.
  package internal(set) var seconds = 0.0

  package var match: PairingStatistics { results.first?.statistics ?? PairingStatistics() }

  package var meanPlies: Double? {
    games > 0 ? Double(lengths.enumerated().reduce(0) { $0 + $1.offset * $1.element }) / Double(games) : nil
  }

  mutating func index(of pairing: Pairing) -> Int {
    if let index = results.firstIndex(where: { $0.a == pairing.a && $0.b == pairing.b }) { return index }
    results.append(Result(a: pairing.a, b: pairing.b))
    return results.count - 1
  }
}

package struct RunProgress: Sendable {
  /// Includes the games of a resumed file.
  package var games = 0
  /// Without the games of a resumed file.
  package var played = 0
  /// `nil` if results decide the number of games.
  package var total: Int?
  /// `nil` in formats other than a match.
  package var match: PairingStatistics?
  /// The log-likelihood ratio of the SPRT, and the bounds at which the test ends.
  package var llr: (ratio: Double, lower: Double, upper: Double)?
}

/// `take` must be called with the batches in order.
final class RunState: @unchecked Sendable {
  private(set) var report: RunReport
  private(set) var highlights: Highlights?
  private(set) var isDecided = false
  /// For each pairing of the stage, twice the points of its first player.
  private(set) var doubledPoints: [Int] = []
  private var stage: Stage?
  private var pairingIndex: [Int] = []
  private let total: Int?
  private let lock = NSLock()
  private var last = RunProgress()

  init(_ configuration: RunConfiguration, picksHighlights: Bool) {
    report = RunReport(configuration: configuration)
    total = configuration.indices?.count ?? Schedule.totalGames(configuration)
    if picksHighlights { highlights = Highlights() }
  }

  /// May be called from any thread.
  var progress: RunProgress { lock.withLock { last } }

  func begin(_ stage: Stage) {
    self.stage = stage
    doubledPoints = .init(repeating: 0, count: stage.pairings.count)
    pairingIndex = stage.pairings.map { report.index(of: $0) }
  }

  /// If the SPRT decides within the batch, cuts the batch after the deciding pair.
  func take(_ batch: GameBatch, _ summary: GameBatch.Summary, isRecorded: Bool = false) {
    guard let stage else { return }
    if let sprt = report.configuration.sprt {
      for index in stride(from: batch.indices.lowerBound, to: batch.indices.upperBound - 1, by: 2) {
        let (one, two) = (batch[index], batch[index + 1])
        count(one.result, two.result, 1, at: 0)
        report.lengths[one.plies] += 1
        report.lengths[two.plies] += 1
        guard sprt.verdict(report.results[0].statistics) != .inconclusive else { continue }
        isDecided = true
        report.ending = .sprt
        batch.cut(to: index + 2)
        break
      }
    } else {
      for (length, count) in summary.lengths.enumerated() { report.lengths[length] += count }
      let first = stage.game(batch.indices.lowerBound).pairing
      for slot in 0..<summary.pairs.count / 9 {
        let number = (first + slot) % stage.pairings.count
        for pair in 0..<9 where summary.pairs[9 * slot + pair] > 0 {
          count(pair / 3, pair % 3, summary.pairs[9 * slot + pair], at: number)
        }
      }
    }
    report.games += batch.indices.count
    if isRecorded { report.resumedGames += batch.indices.count }
    if let found = summary.highlights {
      highlights?.merge(isDecided ? Highlights(batch, stage, report.configuration) : found)
    }
    for index in batch.notes.keys.sorted() where batch.indices.contains(index) {
      let game = stage.game(index)
      noteLateMoves(batch.played(index), game)
      guard [.forfeit, .time].contains(batch[index].ending) else { continue }
      report.results[pairingIndex[game.pairing]].statistics.forfeits += 1
      let reason = batch.notes[index]?.reason ?? ""
      noteForfeit(batch[index].result == 0 ? game.o : game.x, FaultKind(batch[index].ending, reason: reason), reason)
    }
    let match = report.configuration.format == .match ? report.match : nil
    lock.withLock {
      last = RunProgress(
        games: report.games, played: report.games - report.resumedGames, total: total, match: match)
      if let sprt = report.configuration.sprt, let match {
        last.llr = (sprt.llr(match), sprt.bounds.lower, sprt.bounds.upper)
      }
    }
  }

  /// Adds `times` pairs of games with these two results (0 X won, 1 O won, 2 drawn) to the stage's pairing `number`.
  private func count(_ one: Int, _ two: Int, _ times: Int, at number: Int) {
    // Twice the first player's points. The first player has X in the first game of a pair and O in the second.
    let points = [one == 0 ? 2 : one == 2 ? 1 : 0, two == 1 ? 2 : two == 2 ? 1 : 0]
    doubledPoints[number] += (points[0] + points[1]) * times
    func add(_ points: Int, to tally: inout Tally) {
      if points == 2 { tally.wins += times } else if points == 1 { tally.draws += times } else { tally.losses += times }
    }
    let index = pairingIndex[number]
    add(points[0], to: &report.results[index].statistics.asX)
    add(points[1], to: &report.results[index].statistics.asO)
    add(points[0], to: &report.bySeat)
    add(2 - points[1], to: &report.bySeat)
    report.results[index].statistics.pentanomial[points[0] + points[1]] += times
  }

  private func noteLateMoves(_ played: PlayedGame, _ game: ScheduledGame) {
    let configuration = report.configuration
    var mover = configuration.openings.start(pair: game.opening)?.turn ?? .x
    var clocks: [Int: Int] = [:]
    for moved in played.notes?.reports ?? [] {
      let player = mover == .x ? game.x : game.o
      mover = mover.opponent
      guard let moved else { continue }
      let time = configuration.entrants[player].engine.time ?? configuration.time
      let left = clocks[player] ?? time.clock
      clocks[player] = left + time.increment - moved.milliseconds
      let excess = moved.milliseconds - (time.clock > 0 ? left : time.moveTime)
      guard excess > 0 else { continue }
      let place = report.lateMoves.firstIndex { $0.player == player } ?? report.lateMoves.endIndex
      if place == report.lateMoves.endIndex { report.lateMoves.append((player, 0, 0)) }
      report.lateMoves[place].count += 1
      report.lateMoves[place].most = max(report.lateMoves[place].most, excess)
    }
  }

  private func noteForfeit(_ player: Int, _ kind: FaultKind, _ reason: String) {
    if let index = report.forfeits.firstIndex(where: { $0.player == player && $0.kind == kind }) {
      report.forfeits[index].count += 1
    } else {
      report.forfeits.append((player, kind, reason, 1))
    }
  }

  func interrupt() { report.ending = .interrupted }

  func close(_ schedule: Schedule) {
    let configuration = report.configuration
    report.byes = schedule.byes.sorted()
    report.knockout = schedule.matches
    // In a Swiss tournament the games of a pairing are worth one point together.
    let unit = configuration.format == .swiss ? Double(2 * configuration.games) : 2
    report.standings = schedule.standings.map {
      ($0, Double(schedule.points[$0]) / unit, Double(schedule.buchholz($0)) / unit)
    }
    if configuration.entrants.count > 2, configuration.format != .knockout {
      report.ratings = Rating.joint(report.results, players: configuration.entrants.count)
    }
  }

  /// The footer without its hash.
  var footer: JSONObject {
    var members: JSONObject = [
      "end": .bool(true), "games": .int(report.games), "xWins": .int(report.bySeat.wins),
      "draws": .int(report.bySeat.draws), "oWins": .int(report.bySeat.losses),
      "forfeits": .int(report.results.reduce(0) { $0 + $1.statistics.forfeits }),
    ]
    members.add("sprt", report.configuration.sprt.map { .string($0.verdict(report.match).rawValue) })
    members.add("byes", report.byes.isEmpty ? nil : .array(report.byes.map { .int($0) }))
    let matches = report.knockout.map { $0.json(undecided: .int(-1)) }
    members.add("knockout", matches.isEmpty ? nil : .array(matches))
    return members
  }
}

extension Schedule.Match {
  package func json(undecided: JSON) -> JSON {
    [
      "round": .int(round), "a": .int(pairing.a), "b": .int(pairing.b), "pairs": .int(pairs),
      "winner": winner.map { .int($0) } ?? undecided, "bySeed": .bool(bySeed),
    ]
  }
}
