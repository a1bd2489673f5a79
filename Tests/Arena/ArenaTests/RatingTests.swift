import Foundation
import Testing

@testable import Arena
@testable import ArenaTexts

@Suite("Ratings of players") struct RatingTests {
  private func report(of configuration: RunConfiguration) throws -> RunReport {
    var run = try Run(configuration, threads: 2, guardExecutable: "")
    return try run.play()
  }

  @Test func `the error margins of ratings match their spread between seeds`() throws {
    let players = ["levels:5", "levels:4", "trap", "win_block"]
    let seeds = 60
    var ratings: [[Rating]] = []
    for seed in 1...seeds {
      let configuration = try Support.tournament(players, .roundRobin, games: 1000, seed: UInt64(seed))
      ratings.append(try report(of: configuration).ratings)
    }
    var held = 0
    for player in players.indices {
      let elos = ratings.map { $0[player].elo }
      let mean = elos.reduce(0, +) / Double(seeds)
      let deviation = (elos.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(seeds - 1)).squareRoot()
      let claimed = ratings.reduce(0) { $0 + $1[player].error } / Double(seeds)
      // The deviation is estimated from 60 ratings, one for each seed, so its standard error is 9 %. Allows about three standard errors.
      #expect(
        (0.75...1.35).contains(claimed / (1.959_963_985 * deviation)), "\(players[player]): \(claimed), \(deviation)")
      held += ratings.count { abs($0[player].elo - mean) <= $0[player].error }
    }
    #expect((0.91...0.99).contains(Double(held) / Double(seeds * players.count)), "\(held)")
  }

  @Test func `ratings of very uneven players follow from their results`() {
    // No third player connects players 1 and 2, so each difference of two ratings follows from these two players' results alone. Half a
    // point is added to each player's points.
    let n = 20_000
    var results = [RunReport.Result(a: 0, b: 1), RunReport.Result(a: 0, b: 2)]
    results[0].statistics.asX = Tally(wins: 1, draws: 0, losses: n - 1)
    results[1].statistics.asX = Tally(wins: n, draws: 0, losses: 0)
    let ratings = Rating.joint(results, players: 3)
    for (other, points) in [(1, 1.5), (2, Double(n) + 0.5)] {
      let difference = 400 * log10(points / (Double(n) + 1 - points))
      #expect(abs(ratings[0].elo - ratings[other].elo - difference) < 0.01)
    }
  }

  @Test func `players that never met are not compared`() throws {
    var report: [RunReport.Result] = [.init(a: 0, b: 1), .init(a: 2, b: 3)]
    for index in report.indices {
      report[index].statistics.asX = Tally(wins: 6, draws: 2, losses: 2)
      report[index].statistics.pentanomial = [0, 1, 1, 2, 1]
    }
    #expect(Rating.joint(report, players: 4).allSatisfy { $0.error == .infinity })
    report.append(.init(a: 1, b: 2, statistics: report[0].statistics))
    #expect(Rating.joint(report, players: 4).allSatisfy { $0.error.isFinite && $0.error > 0 })
  }

  @Test func `a match with equal scores has the Elo difference 0, without a sign`() throws {
    var report = RunReport(configuration: try Support.match("random", "perfect", games: 2))
    var statistics = PairingStatistics()
    statistics.asX = Tally(wins: 1, draws: 3, losses: 1)
    statistics.pentanomial = [0, 0, 5, 0, 0]
    report.results = [.init(a: 0, b: 1, statistics: statistics)]
    #expect(RunText.json(report).contains("\"elo\":0.0,") && !RunText.json(report).contains("-0.0"))
  }

  @Test func `the report says that a learning player starts anew in each pairing`() throws {
    let several = try Support.tournament(["menace", "random", "perfect"], .roundRobin, games: 4)
    #expect(RunText.text(try report(of: several)).contains("menace began anew in each pairing"))
    var frozen = several
    frozen.isFrozen = true
    #expect(!RunText.text(try report(of: frozen)).contains("anew"))
    let match = try Support.match("menace", "random", games: 4)
    #expect(!RunText.text(try report(of: match)).contains("anew"))
  }

  @Test func `lines of any length are read whole from a file`() throws {
    try Support.withFolder { folder in
      let lines = [3, 0, 700_000, 1 << 20, 5, 3 << 20, 40].map { String(repeating: "x", count: $0) }
      try Data((lines.joined(separator: "\n") + "\nrest").utf8).write(to: URL(filePath: folder + "/lines"))
      let reader = try LineReader(folder + "/lines")
      #expect(try reader.begins(with: "xxx\n"))
      for line in lines {
        let read = try #require(try reader.next())
        #expect(read.count == line.utf8.count && read.allSatisfy { $0 == 0x78 })
        #expect(reader.lineWithEnd.count == read.count + 1)
      }
      #expect(try reader.next() == nil)
      #expect(reader.rest == Array("rest".utf8) && reader.line == lines.count)
    }
  }
}
