import Foundation
import Testing

@testable import Arena

@Suite("Statistics") struct StatisticsTests {
  nonisolated(unsafe) static let facts: [String: Any] = {
    let file = Support.root.appending(path: "Tests/Data/facts-3x3.json")
    guard let data = try? Data(contentsOf: file),
      let root = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { fatalError("\(file.path) cannot be read") }
    return root
  }()

  @Test func `the trinomial golden comes out`() throws {
    let golden = StatisticsTests.facts["sprt_golden"] as! [String: Any]
    func value(_ name: String) -> Double { (golden[name] as! NSNumber).doubleValue }
    var statistics = PairingStatistics()
    statistics.asX = Tally(wins: Int(value("W")), draws: Int(value("D")), losses: Int(value("L")))
    let test = try SPRT("elo0=\(value("elo0")),elo1=\(value("elo1")),alpha=0.05,beta=0.05,model=trinomial")
    #expect(abs(test.llr(statistics) - value("llr")) < 1e-9)
    let bounds = golden["bounds"] as! [Double]
    #expect(abs(test.bounds.lower - bounds[0]) < 1e-12 && abs(test.bounds.upper - bounds[1]) < 1e-12)
    guard case .exactly(let elo) = statistics.estimate.elo else {
      Issue.record("no Elo")
      return
    }
    #expect(abs(elo - value("elo")) < 1e-9)
    #expect(test.verdict(statistics) == .h1)
  }

  @Test func `Elo and score are inverse and agree with closed forms`() {
    #expect(Elo.of(score: 0.5) == 0)
    #expect(abs(Elo.of(score: 10.0 / 11) - 400) < 1e-9)
    #expect(abs(Elo.of(score: 0.75) - 400 * log10(3)) < 1e-9)
    for elo in stride(from: -800.0, through: 800, by: 37) {
      #expect(abs(Elo.of(score: Elo.score(of: elo)) - elo) < 1e-6)
    }
  }

  @Test func `LOS is the closed form of the normal approximation`() {
    // Without draws: Φ((w − l) / √n · …) with the plain variance of the score.
    for (wins, losses) in [(60, 40), (55, 45), (10, 90), (51, 49)] {
      let n = Double(wins + losses)
      let p = Double(wins) / n
      let z = (p - 0.5) / (p * (1 - p) / n).squareRoot()
      let expected = 0.5 * (1 + erf(z / 2.0.squareRoot()))
      #expect(abs(Estimate(counts: [losses, 0, wins]).los - expected) < 1e-12)
    }
    #expect(Estimate(counts: [0, 50, 0]).los == 0.5)
  }

  @Test func `the pentanomial interval is the closed form with half a count in each cell`() {
    let estimate = Estimate(counts: [10, 20, 40, 20, 10])
    let weights = [10.5, 20.5, 40.5, 20.5, 10.5]
    let n = weights.reduce(0, +)
    let variance = zip(weights, [-0.5, -0.25, 0, 0.25, 0.5]).reduce(0) { $0 + $1.0 * $1.1 * $1.1 } / n
    let half = 1.959_963_985 * (variance / n).squareRoot()
    guard case (.exactly(let low), .exactly(let high)) = estimate.interval else {
      Issue.record("no interval")
      return
    }
    #expect(abs(low - Elo.of(score: 0.5 - half)) < 1e-9)
    #expect(abs(high - Elo.of(score: 0.5 + half)) < 1e-9)
    // σ² of a pair is 1/16·(…); normalised Elo of a zero score is zero, of one σ per game 800/ln 10.
    #expect(estimate.normalisedElo(gamesPerObservation: 2) == 0)
    let skewed = Estimate(counts: [0, 0, 50, 0, 50])
    let expected = 0.25 / (0.0625 * 2).squareRoot() * 800 / log(10)
    #expect(abs(skewed.normalisedElo(gamesPerObservation: 2) - expected) < 1e-9)
  }

  @Test func `correlated pairs make the pentanomial interval narrower than the trinomial`() {
    // Each pair is a win and a loss: games vary, pairs do not.
    let pairs = Estimate(counts: [0, 0, 500, 0, 0])
    let games = Estimate(counts: [500, 0, 500])
    guard case (.exactly(let low), _) = pairs.interval, case (.exactly(let wide), _) = games.interval else {
      Issue.record("no interval")
      return
    }
    #expect(low > wide)
  }

  @Test func `no tally prints nan or inf, and one-sided ones print bounds`() throws {
    let test = try SPRT("elo0=0,elo1=20")
    for wins in [0, 1, 2, 1000] {
      for draws in [0, 1, 1000] {
        for losses in [0, 1, 2, 1000] {
          var statistics = PairingStatistics()
          statistics.asX = Tally(wins: wins, draws: draws, losses: losses)
          for pairs in [[0, 0, 0, 0, 0], [losses, 0, draws, 0, wins]] {
            statistics.pentanomial = pairs
            var report = RunReport(configuration: try Support.match("random", "perfect", games: 2))
            report.configuration.sprt = test
            report.results = [.init(a: 0, b: 1, statistics: statistics)]
            report.games = statistics.total.games
            report.bySeat = statistics.asX
            for text in [RunText.text(report), RunText.json(report)] {
              #expect(!text.lowercased().contains("nan") && !text.lowercased().contains("inf,"))
              #expect(!text.contains("inf ") && !text.contains("inf\n") && !text.contains(":inf"))
            }
            #expect((try? JSONSerialization.jsonObject(with: Data(RunText.json(report).utf8))) != nil)
            let elo = statistics.estimate.eloText
            if wins + draws == 0, losses > 0 { #expect(elo.hasPrefix("≤ "), "\(elo)") }
            if losses + draws == 0, wins > 0 { #expect(elo.hasPrefix("≥ "), "\(elo)") }
            #expect(test.llr(statistics).isFinite)
          }
        }
      }
    }
    #expect(Estimate(counts: [0, 0, 0]).eloText == "?")
    #expect(Estimate(counts: [0, 0, 100]).eloText.hasPrefix("≥ +"))
  }

  @Test(arguments: [
    "", "elo0=0", "elo0=5,elo1=5", "elo0=9,elo1=5", "elo0=0,elo1=x", "elo0=0,elo1=nan", "elo0=0,elo1=5,alpha=0",
    "elo0=0,elo1=5,alpha=0.5", "elo0=0,elo1=5,model=binomial", "elo0=0,elo1=5,gamma=1", "elo0=0,elo1=2000", "elo0",
  ])
  func `a wrong test is refused`(text: String) {
    #expect(throws: ArenaError.self) { try SPRT(text) }
  }

  @Test func `a test ends a match at the same pair for any number of threads`() throws {
    try Support.withFolder { folder in
      var configuration = try Support.match("levels:4", "levels:3", games: 20_000)
      configuration.sprt = try SPRT("elo0=0,elo1=30")
      let one = try Support.play(configuration, threads: 1, to: folder + "/1")
      let five = try Support.play(configuration, threads: 5, to: folder + "/5")
      #expect(one.bytes == five.bytes)
      #expect(one.report.ending == .sprt)
      #expect(one.report.games < 20_000 && one.report.games % 2 == 0)
      let test = try #require(configuration.sprt)
      #expect(test.verdict(one.report.match) == .h1)
      configuration.games = 10
      let short = try Support.play(configuration, threads: 2, to: folder + "/s")
      #expect(short.report.ending == .complete)
      #expect(RunText.text(short.report).contains("inconclusive"))
    }
  }
}

@Suite("Exact numbers") struct ExactTests {
  @Test func `big numbers add, subtract, multiply and divide as small ones do`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let a = UInt64(UInt32.random(in: 0...(.max), using: &generator))
      let b = UInt64(UInt32.random(in: 1...(.max), using: &generator))
      #expect("\(BigNatural(a) * BigNatural(b))" == "\(a * b)")
      #expect("\(BigNatural(a) + BigNatural(b))" == "\(a + b)")
      #expect("\(BigNatural(max(a, b)) - BigNatural(min(a, b)))" == "\(max(a, b) - min(a, b))")
      #expect("\(Fraction(BigNatural(a * b), BigNatural(b)))" == "\(a)")
    }
    // 30! from its factors, and back.
    let factorial = (1...30).reduce(BigNatural(1)) { $0 * BigNatural(UInt64($1)) }
    #expect("\(factorial)" == "265252859812191058636308480000000")
    #expect("\(Fraction(factorial, factorial * BigNatural(7)))" == "1/7")
    let huge = (0..<60).reduce(BigNatural(1)) { product, _ in product * BigNatural(.max) }
    #expect(abs(Fraction(huge, huge * BigNatural(3)).double - 1.0 / 3) < 1e-15)
    #expect("\(Fraction(huge * factorial, huge))" == "265252859812191058636308480000000")
    #expect("\(BigNatural.commonDenominator(of: [4, 6, 10, 60]))" == "60")
  }

  @Test func `exact results are the fractions of the facts, mean plies included`() throws {
    let standard = StatisticsTests.facts["standard"] as! [String: Any]
    let results = standard["exact_match_results"] as! [String: [String: Any]]
    #expect(results.count == 9)
    for (title, expected) in results {
      let names = title.replacing(" (X) vs ", with: "|").replacing(" (O)", with: "").split(separator: "|")
        .map { $0 == "win_block_random" ? "win_block" : String($0) }
      let x = try #require(try PlayerSpec(names[0]).memoryless())
      let o = try #require(try PlayerSpec(names[1]).memoryless())
      let seating = ExactMatch.Seating(x: x, o: o)
      // The facts keep a common denominator here and there: compare the values as fractions.
      for (ours, key) in [
        (seating.xWin, "x_win"), (seating.draw, "draw"), (seating.oWin, "o_win"), (seating.meanPlies, "mean_plies"),
      ] {
        let parts = (expected[key] as! String).split(separator: "/").compactMap { UInt64($0) }
        let theirs = Fraction(BigNatural(parts[0]), BigNatural(parts.count > 1 ? parts[1] : 1))
        #expect(ours == theirs, "\(title) \(key): \(ours)")
      }
    }
  }

  @Test func `the exact pairs of random against random are the golden ones`() throws {
    let golden = StatisticsTests.facts["pentanomial_exact"] as! [String: [String: Any]]
    let expected = golden["random vs random"]?["pair_score_0_0.5_1_1.5_2"] as! [String]
    let random = try #require(try PlayerSpec("random").memoryless())
    #expect(ExactMatch(a: random, b: random).pentanomial.map(\.description) == expected)
  }

  @Test func `every pair of memoryless players has an exact result that sums to one`() throws {
    let names =
      ["random", "perfect", "perfect_distance", "win_block", "trap", "menace"] + (1...6).map { "levels:\($0)" }
    let one = Fraction(BigNatural(1), BigNatural(1))
    for a in names {
      for b in names where a <= b {
        let players = try [a, b].map { try #require(try PlayerSpec($0).memoryless(freezing: true)) }
        let match = ExactMatch(a: players[0], b: players[1])
        #expect(match.pentanomial.reduce(Fraction(BigNatural(0), BigNatural(1)), +) == one)
        for seating in [match.asX, match.asO] { #expect(seating.xWin + seating.draw + seating.oWin == one) }
      }
    }
  }
}
