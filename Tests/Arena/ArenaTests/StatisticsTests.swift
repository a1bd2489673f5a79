import Base
import Foundation
import Opponents
import Oracle
import TestSupport
import Testing

@testable import Arena
@testable import ArenaTexts

@Suite("Statistics of matches") struct StatisticsTests {
  nonisolated(unsafe) static let facts: [String: Any] = {
    let file = repository.appending(path: "Tests/Data/facts-3x3.json")
    guard let data = try? Data(contentsOf: file),
      let root = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { fatalError("\(file.path) cannot be read") }
    return root
  }()

  @Test func `the likelihood ratio and the bounds of the trinomial test match the reference values`() throws {
    let golden = StatisticsTests.facts["sprt_golden"] as! [String: Any]
    func value(_ name: String) -> Double { (golden[name] as! NSNumber).doubleValue }
    var statistics = PairingStatistics()
    statistics.asX = Tally(wins: Int(value("W")), draws: Int(value("D")), losses: Int(value("L")))
    let test = try SPRT("elo0=\(value("elo0")),elo1=\(value("elo1")),alpha=0.05,beta=0.05,model=trinomial")
    // The golden value comes from the normal approximation, which is close to the exact value for these 3,502 games.
    #expect(abs(test.llr(statistics) - value("llr")) < 0.01)
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
    // Without draws LOS, the likelihood of superiority, is Φ(z); z is the mean's excess over ½ in standard deviations of the mean.
    for (wins, losses) in [(60, 40), (55, 45), (10, 90), (51, 49)] {
      let n = Double(wins + losses)
      let p = Double(wins) / n
      let z = (p - 0.5) / (p * (1 - p) / n).squareRoot()
      let expected = 0.5 * (1 + erf(z / 2.0.squareRoot()))
      #expect(abs(Estimate(counts: [losses, 0, wins]).los - expected) < 1e-12)
    }
    #expect(Estimate(counts: [0, 50, 0]).los == 0.5)
  }

  @Test func `the pentanomial interval is the closed form with half a count added to each of the five results`() {
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
    // Normalised Elo is how many standard deviations of a game the mean lies above ½, times 800/ln 10. Half of the pairs of `skewed` score
    // ½, half 1: the mean is ½ + 0.25, a pair's variance 0.0625 and a game's twice that.
    #expect(estimate.normalisedElo(gamesPerObservation: 2) == 0)
    let skewed = Estimate(counts: [0, 0, 50, 0, 50])
    let expected = 0.25 / (0.0625 * 2).squareRoot() * 800 / log(10)
    #expect(abs(skewed.normalisedElo(gamesPerObservation: 2) - expected) < 1e-9)
  }

  @Test func `correlated pairs make the pentanomial interval narrower than the trinomial`() {
    // In each pair one game is won and one lost, so the results of the games vary, but not those of the pairs.
    let pairs = Estimate(counts: [0, 0, 500, 0, 0])
    let games = Estimate(counts: [500, 0, 500])
    guard case (.exactly(let low), _) = pairs.interval, case (.exactly(let wide), _) = games.interval else {
      Issue.record("no interval")
      return
    }
    #expect(low > wide)
  }

  @Test func `no result is printed as nan or inf, and one-sided results are printed as bounds`() throws {
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

  @Test func `the likelihood ratio is that of the most likely distributions, found by search`() throws {
    let test = try SPRT("elo0=-20,elo1=35")
    for counts in [[0, 0, 0, 5, 1], [3, 10, 40, 12, 4], [0, 0, 100, 4, 0], [1, 0, 0, 0, 0], [7, 1, 0, 9]] {
      let weights = counts.map { $0 > 0 ? Double($0) : 1e-3 }
      let total = weights.reduce(0, +)
      let scores = counts.indices.map { Double($0) / Double(counts.count - 1) }
      /// The log likelihood of the most likely distribution with the given mean; `low` and `high` enclose its Lagrange multiplier.
      func likeliest(_ mean: Double) -> Double {
        var (low, high) = (-1 / (1 - mean) + 1e-12, 1 / mean - 1e-12)
        func sum(_ t: Double) -> Double {
          zip(weights, scores).reduce(0) { $0 + $1.0 * ($1.1 - mean) / (1 + t * ($1.1 - mean)) }
        }
        for _ in 0..<200 { if sum((low + high) / 2) > 0 { low = (low + high) / 2 } else { high = (low + high) / 2 } }
        let chances = zip(weights, scores).map { $0 / total / (1 + low * ($1 - mean)) }
        #expect(abs(chances.reduce(0, +) - 1) < 1e-6)
        #expect(abs(zip(chances, scores).reduce(0) { $0 + $1.0 * $1.1 } - mean) < 1e-6)
        return zip(weights, chances).reduce(0) { $0 + $1.0 * log($1.1) }
      }
      let expected = likeliest(Elo.score(of: 35)) - likeliest(Elo.score(of: -20))
      #expect(abs(test.llr(counts: counts) - expected) < 1e-6 * max(1, abs(expected)), "\(counts)")
    }
    var few = PairingStatistics()
    few.pentanomial = [0, 0, 0, 5, 1]
    #expect(try SPRT("elo0=0,elo1=10").verdict(few) == .inconclusive)
  }

  @Test func `the normalised likelihood ratio is that of the most likely distributions, found by search`() throws {
    let test = try SPRT("elo0=-10,elo1=40,model=normalised")
    for counts in [[12, 60, 20], [300, 500, 260], [2, 9, 5]] {
      let weights = counts.map(Double.init)
      /// The log likelihood of the most likely distribution of three scores whose (mean − ½)/deviation matches `elo`.
      func likeliest(_ elo: Double) -> Double {
        let aim = elo / (800 / log(10)) * 2.0.squareRoot()
        var best = -Double.infinity
        for step in 1..<40_000 {
          // The chance of score 0 plus the chance of score 1. The difference of these chances is 2 · (mean − ½).
          let decided = Double(step) / 40_000
          let mean = aim * (decided / (4 * (1 + aim * aim))).squareRoot()
          let (low, high) = (decided / 2 - mean, decided / 2 + mean)
          guard low > 0, high > 0 else { continue }
          best = max(best, weights[0] * log(low) + weights[1] * log(1 - decided) + weights[2] * log(high))
        }
        return best
      }
      let expected = likeliest(40) - likeliest(-10)
      #expect(abs(test.llr(counts: counts) - expected) < 1e-3 * max(1, abs(expected)), "\(counts)")
    }
    // 100 pairs with the result 1 : 1 favour neither of two hypotheses that are symmetric about Elo 0.
    #expect(abs(try SPRT("elo0=-5,elo1=5,model=normalised").llr(counts: [0, 0, 100, 0, 0])) < 1e-6)
    // If the true Elo difference is `elo0` or `elo1`, the test decides about 5 of 100 simulated matches wrongly.
    for (elo, wrong) in [(0.0, \SPRTSimulation.Result.h1), (40, \.h0)] {
      let sprt = SPRT(elo0: 0, elo1: 40, model: .normalised)
      for level in [0.3, 0.9] {
        let chances = try #require(SPRTSimulation.chances(level: level, elo: elo, of: sprt))
        #expect(abs(Estimate(counts: chances.map { Int($0 * 1e9) }).normalisedElo(gamesPerObservation: 2) - elo) < 1e-3)
        let result = SPRTSimulation(sprt, pairs: chances).run(100, seed: 1, limit: 100_000)
        // 11 of 100 are 5 % plus three standard deviations of 2.2 %.
        #expect(result.h0 + result.h1 == 100 && result[keyPath: wrong] <= 11, "\(elo) \(level): \(result)")
      }
    }
  }

  @Test(arguments: [(0.0, 300.0), (200, 300), (-1000, -900)])
  func `a normalised test with wide bounds favours the hypothesis nearer to the results`(
    bounds: (Double, Double)
  ) throws {
    let test = SPRT(elo0: bounds.0, elo1: bounds.1, model: .normalised)
    #expect(test.llr(counts: [500, 300, 150, 40, 10]) < 0 || bounds.1 < 0)
    #expect(test.llr(counts: [10, 40, 150, 300, 500]) > 0)
  }

  @Test func `the simulation of a model counts the scores of that model`() throws {
    // The trinomial model counts a pair with the result 1 : 1 as two draws.
    func pairs(_ model: String) throws -> Int {
      let test = try SPRT("elo0=0,elo1=50,model=\(model)")
      return SPRTSimulation(test, pairs: [0, 0.2, 0.4, 0.3, 0.1]).run(20, seed: 3, limit: 100_000).pairs
    }
    #expect(try pairs("trinomial") != pairs("pentanomial"))
    let test = try SPRT("elo0=0,elo1=50,model=trinomial")
    let level = SPRTSimulation(test, pairs: [0, 0, 1, 0, 0]).run(1, seed: 1, limit: 100_000)
    var needed = 1
    while test.llr(counts: [0, 2 * needed, 0]) > test.bounds.lower { needed += 1 }
    #expect(level.h0 == 1 && level.pairs == needed)
  }

  @Test(arguments: [(0.04, 0.0), (0.5, 0.2)])
  func `a sequential test decides wrongly about as often as its error rate says`(
    share: (plus: Double, minus: Double)
  ) throws {
    let truth = Elo.of(score: 0.5 + 0.25 * (share.plus - share.minus))
    for test in [SPRT(elo0: 0, elo1: truth), SPRT(elo0: truth, elo1: truth + 10)] {
      let simulated = SPRTSimulation(test, pairs: [0, share.minus, 1 - share.plus - share.minus, share.plus, 0])
      let result = simulated.run(400, seed: 1, limit: 100_000)
      let wrong = test.elo1 == truth ? result.h0 : result.h1
      // 8.3 % are 5 % plus three standard deviations of 1.1 %.
      #expect(Double(wrong) / 400 < 0.083, "\(test): \(result)")
    }
  }

  @Test func `ratings of two players differ by their match's Elo, sum to zero, and are finite without a loss`() throws {
    var one = RunReport.Result(a: 0, b: 1)
    one.statistics.asX = Tally(wins: 600, draws: 200, losses: 200)
    let two = Rating.joint([one], players: 2)
    #expect(abs(two[0].elo - two[1].elo - Elo.of(score: 700.5 / 1001)) < 1e-6 && abs(two[0].elo + two[1].elo) < 1e-9)
    one.statistics.asX = Tally(wins: 10, draws: 0, losses: 0)
    let never = Rating.joint([one], players: 3)
    #expect(never[0].elo.isFinite && never[0].elo - never[1].elo > 300 && !never[2].error.isFinite)
  }

  @Test func `the 95 % interval of the Elo difference contains the truth in 93–97 of 100 runs`() throws {
    let levels = [4, 3].compactMap { Level(number: $0) }
    let truth = Elo.of(score: ExactMatch(a: levels[0], b: levels[1]).score.double)
    let runs = amount("COVERAGE", quick: 100, all: 500)
    let held = try (1...runs).filter { seed in
      var run = try Run(
        try Support.match("levels:4", "levels:3", games: 1000, seed: UInt64(seed)), threads: 1, guardExecutable: "")
      guard case (.exactly(let low), .exactly(let high)) = try run.play().match.estimate.interval else { return false }
      return low <= truth && truth <= high
    }.count
    #expect((runs * 93 / 100...runs * 97 / 100).contains(held), "\(held) of \(runs)")
  }

  @Test(arguments: [
    "", "elo0=0", "elo0=5,elo1=5", "elo0=9,elo1=5", "elo0=0,elo1=x", "elo0=0,elo1=nan", "elo0=0,elo1=5,alpha=0",
    "elo0=0,elo1=5,alpha=0.5", "elo0=0,elo1=5,model=binomial", "elo0=0,elo1=5,gamma=1", "elo0=0,elo1=2000", "elo0",
  ])
  func `an invalid sequential test is refused`(text: String) {
    #expect(throws: ArenaError.self) { try SPRT(text) }
  }

  @Test func `a sequential test ends a match at the same pair for any number of threads`() throws {
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

@Suite("Big numbers and exact results") struct ExactTests {
  @Test func `big numbers add, subtract, multiply and divide like small ones`() {
    var generator = SplitMix64(seed: 44)
    for _ in 0..<2000 {
      let a = UInt64(UInt32.random(in: 0...(.max), using: &generator))
      let b = UInt64(UInt32.random(in: 1...(.max), using: &generator))
      #expect("\(BigNatural(a) * BigNatural(b))" == "\(a * b)")
      #expect("\(BigNatural(a) + BigNatural(b))" == "\(a + b)")
      #expect("\(BigNatural(max(a, b)) - BigNatural(min(a, b)))" == "\(max(a, b) - min(a, b))")
      #expect("\(Fraction(BigNatural(a * b), BigNatural(b)))" == "\(a)")
    }
    let factorial = (1...30).reduce(BigNatural(1)) { $0 * BigNatural(UInt64($1)) }
    #expect("\(factorial)" == "265252859812191058636308480000000")
    #expect("\(Fraction(factorial, factorial * BigNatural(7)))" == "1/7")
    let huge = (0..<60).reduce(BigNatural(1)) { product, _ in product * BigNatural(.max) }
    #expect(abs(Fraction(huge, huge * BigNatural(3)).double - 1.0 / 3) < 1e-15)
    #expect("\(Fraction(huge * factorial, huge))" == "265252859812191058636308480000000")
    #expect("\(BigNatural.commonDenominator(of: [4, 6, 10, 60]))" == "60")
  }

  @Test func `exact results equal the reference fractions, mean plies included`() throws {
    let standard = StatisticsTests.facts["standard"] as! [String: Any]
    let results = standard["exact_match_results"] as! [String: [String: Any]]
    #expect(results.count == 9)
    for (title, expected) in results {
      let names = title.replacing(" (X) vs ", with: "|").replacing(" (O)", with: "").split(separator: "|")
        .map { $0 == "win_block_random" ? "win_block" : String($0) }
      let x = try #require(try PlayerSpec(names[0]).memoryless(in: .classic))
      let o = try #require(try PlayerSpec(names[1]).memoryless(in: .classic))
      let seating = ExactMatch.Seating(x: x, o: o)
      // Fractions are compared by value, because the reference data do not always reduce them.
      for (ours, key) in [
        (seating.xWin, "x_win"), (seating.draw, "draw"), (seating.oWin, "o_win"), (seating.meanPlies, "mean_plies"),
      ] {
        let parts = (expected[key] as! String).split(separator: "/").compactMap { UInt64($0) }
        let theirs = Fraction(BigNatural(parts[0]), BigNatural(parts.count > 1 ? parts[1] : 1))
        #expect(ours == theirs, "\(title) \(key): \(ours)")
      }
    }
  }

  @Test func `the exact chances of pair scores of random against random match the golden file`() throws {
    let golden = StatisticsTests.facts["pentanomial_exact"] as! [String: [String: Any]]
    let expected = golden["random vs random"]?["pair_score_0_0.5_1_1.5_2"] as! [String]
    let random = try #require(try PlayerSpec("random").memoryless(in: .classic))
    #expect(ExactMatch(a: random, b: random).pentanomial.map(\.description) == expected)
  }

  @Test func `every pair of memoryless players has an exact result that sums to one`() throws {
    let names =
      ["random", "perfect", "perfect_distance", "win_block", "trap", "menace"] + (1...6).map { "levels:\($0)" }
    let one = Fraction(BigNatural(1), BigNatural(1))
    for a in names {
      for b in names where a <= b {
        let players = try [a, b].map { try #require(try PlayerSpec($0).memoryless(in: .classic, freezing: true)) }
        let match = ExactMatch(a: players[0], b: players[1])
        #expect(match.pentanomial.reduce(Fraction(BigNatural(0), BigNatural(1)), +) == one)
        for seating in [match.asX, match.asO] { #expect(seating.xWin + seating.draw + seating.oWin == one) }
      }
    }
  }
}
