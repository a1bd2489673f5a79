import Base
import Foundation
import Opponents
import TestSupport
import Testing
import TicTacToe

@testable import Arena

extension MeetingGraph {
  fileprivate func contains(_ a: Int, _ b: Int) -> Bool { neighbours[a] >> UInt64(b) & 1 == 1 }
}

@Suite("Schedules of tournaments") struct ScheduleTests {
  @Test func `in a round robin each pair plays equally often on both sides`() throws {
    try Support.withFolder { folder in
      let names = ["random", "perfect", "win_block", "trap", "levels:1"]
      let report = try Support.play(try Support.tournament(names, .roundRobin, games: 6), to: folder + "/a").report
      #expect(report.results.count == 10)
      for result in report.results {
        #expect(result.statistics.asX.games == 3 && result.statistics.asO.games == 3)
        #expect(result.statistics.pentanomial.reduce(0, +) == 3)
      }
      #expect(report.standings.reduce(0) { $0 + $1.points } == 60)
      let gauntlet = try Support.play(try Support.tournament(names, .gauntlet, games: 4), to: folder + "/g").report
      #expect(gauntlet.results.count == 4 && gauntlet.results.allSatisfy { $0.a == 0 })
    }
  }

  @Test func `in a Swiss tournament no pair meets twice, and each player has at most one bye`() throws {
    for count in 2...9 {
      for rounds in 1...(count % 2 == 0 ? count - 1 : count) {
        var configuration = try Support.tournament(
          (0..<count).map { ["random", "perfect", "levels:3", "win_block"][$0 % 4] }, .swiss, games: 2)
        configuration.rounds = rounds
        var run = try Run(configuration, threads: 1, guardExecutable: Support.arena)
        let report = try run.play()
        #expect(report.games == count / 2 * rounds * 2)
        #expect(report.results.allSatisfy { $0.statistics.total.games == 2 }, "\(count) players, \(rounds) rounds")
        #expect(report.byes.count == (count % 2 == 0 ? 0 : rounds))
        #expect(report.standings.reduce(0) { $0 + $1.points } == Double(rounds * (count / 2 + count % 2)))
      }
    }
  }

  @Test func `no pair meets twice for any results, up to the last possible round and 64 players`() throws {
    for count in Array(2...17) + [24, 31, 32, 63, 64] {
      let most = count % 2 == 0 ? count - 1 : count
      for rounds in Set([1, most / 2, most / 2 + 1, most - 1, most]) where (1...most).contains(rounds) {
        for seed in 0..<(count > 20 ? 3 : 12) {
          var generator = SplitMix64(seed: UInt64(seed * 1000 + count))
          var configuration = try Support.tournament(.init(repeating: "random", count: count), .swiss, games: 2)
          configuration.rounds = rounds
          // The seed decides: the player with the lower number wins each game, the results are random, or all games are drawn.
          func points(_ pairing: Pairing) -> Int {
            seed % 3 == 0 ? pairing.a < pairing.b ? 4 : 0 : seed % 3 == 1 ? generator.below(5) : 2
          }
          var (schedule, twin) = (Schedule(configuration), Schedule(configuration))
          var (met, byes, played) = (Set<Set<Int>>(), Set<Int>(), 0)
          while let stage = schedule.next() {
            played += 1
            #expect(
              stage.pairings.count == count / 2 && Set(stage.pairings.flatMap { [$0.a, $0.b] }).count == count / 2 * 2)
            for pairing in stage.pairings { #expect(met.insert([pairing.a, pairing.b]).inserted) }
            #expect(schedule.byes.count == byes.count + count % 2 && schedule.byes.isSuperset(of: byes))
            byes = schedule.byes
            let doubled = stage.pairings.map(points)
            #expect(twin.next()?.pairings == stage.pairings)
            schedule.finish(stage, doubledPoints: doubled)
            twin.finish(stage, doubledPoints: doubled)
          }
          #expect(played == rounds, "\(count) players, \(rounds) rounds, seed \(seed)")
        }
      }
    }
  }

  @Test func `neighbours in the standings meet at most once, and the lowest player without a bye gets one`() throws {
    var configuration = try Support.tournament(.init(repeating: "random", count: 7), .swiss, games: 2)
    configuration.rounds = 3
    var schedule = Schedule(configuration)
    let opening = schedule.next()
    let first = try #require(opening)
    #expect(first.pairings == [Pairing(a: 0, b: 1), Pairing(a: 2, b: 3), Pairing(a: 4, b: 5)] && schedule.byes == [6])
    // Player 6 has a bye, which counts as much as two wins.
    schedule.finish(first, doubledPoints: [4, 4, 4])
    let following = schedule.next()
    let second = try #require(following)
    #expect(
      second.pairings == [Pairing(a: 0, b: 2), Pairing(a: 4, b: 6), Pairing(a: 1, b: 3)] && schedule.byes == [5, 6])
    // Buchholz: the sum of the points of a player's opponents. A bye adds nothing.
    schedule.finish(second, doubledPoints: [4, 2, 2])
    #expect(schedule.points == [8, 2, 4, 2, 6, 4, 6])
    #expect(schedule.buchholz(0) == 6 && schedule.buchholz(5) == 6 && schedule.buchholz(6) == 6)
  }

  @Test func `the search finds a round whenever one exists, and of several the first in order`() {
    /// By plain recursion: pairs the first player with the earliest other player for which all the rest can be paired.
    func firstRound(_ graph: MeetingGraph, _ order: [Int]) -> [[Int]]? {
      guard let player = order.first else { return [] }
      for other in order.dropFirst() where graph.contains(player, other) {
        if let rest = firstRound(graph, order.filter { $0 != player && $0 != other }) {
          return [[player, other]] + rest
        }
      }
      return nil
    }
    var generator = SplitMix64(seed: 9)
    var found = 0
    for _ in 0..<4000 {
      let count = 2 * (1 + generator.below(5))
      var graph = MeetingGraph(complete: count)
      let rounds = MeetingGraph.allRounds(count)
      // Removes possible pairings at random, so that any graph can occur.
      let keep = 1 + generator.below(9)
      for a in 0..<count {
        for b in a + 1..<count where generator.below(10) >= keep {
          var single = Array(0..<count)
          (single[a], single[b]) = (b, a)
          graph.remove(single)
        }
      }
      let order = (0..<count).map { (generator.next(), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
      let expected = firstRound(graph, order)
      let round = graph.firstRound(in: order)
      #expect((round == nil) == (expected == nil))
      if let round, let expected {
        found += 1
        for pair in expected { #expect(round[pair[0]] == pair[1] && round[pair[1]] == pair[0]) }
      }
      var all = MeetingGraph(complete: count)
      for round in rounds {
        for (player, other) in round.enumerated() { #expect(all.contains(player, other)) }
        all.remove(round)
      }
    }
    #expect((500...3500).contains(found))
  }

  @Test func `points are integers, so that equal points are exactly equal and Buchholz breaks the tie`() throws {
    var configuration = try Support.tournament(.init(repeating: "random", count: 6), .swiss, games: 20)
    configuration.rounds = 2
    var schedule = Schedule(configuration)
    // Players 0 and 2 score 7 + 11½ and 10 + 8½ points: equal sums. As `Double`, the sums of their mean scores (points / 20) would differ.
    for doubled in [[14, 20, 40], [28, 17, 0]] {
      let next = schedule.next()
      schedule.finish(try #require(next), doubledPoints: doubled)
    }
    #expect(schedule.points == [37, 38, 37, 20, 68, 40])
    #expect(schedule.buchholz(0) == 75 && schedule.buchholz(2) == 57)
    #expect(schedule.standings == [4, 5, 1, 0, 2, 3])
  }

  @Test func `a knockout has one winner, ranked first, and extends tied matches`() throws {
    for count in 2...9 {
      let drawn = try Support.tournament(.init(repeating: "perfect", count: count), .knockout, games: 4)
      var run = try Run(drawn, threads: 2, guardExecutable: Support.arena)
      var report = try run.play()
      // Perfect players always draw. After the two planned pairs of games and four more the player with the lower number wins ("by seed").
      #expect(report.knockout.count == count - 1)
      #expect(report.knockout.allSatisfy { $0.pairs == 6 && $0.bySeed && $0.winner == min($0.pairing.a, $0.pairing.b) })
      #expect(report.knockout.last?.winner == 0)
      for seed in 1...amount("KNOCKOUTS", quick: 4, all: 20) {
        let players = [
          "random", "levels:3", "random", "levels:2", "win_block", "levels:4", "perfect", "random", "trap",
        ]
        run = try Run(
          try Support.tournament(Array(players.prefix(count)), .knockout, games: 6, seed: UInt64(seed)), threads: 2,
          guardExecutable: Support.arena)
        report = try run.play()
        #expect(report.knockout.count == count - 1 && report.knockout.allSatisfy { $0.pairs >= 3 })
        let final = try #require(report.knockout.last)
        let order = report.standings.map(\.player)
        #expect(order[0] == final.winner && order[1] == final.pairing.a + final.pairing.b - (final.winner ?? 0))
        let out = order.map { player in
          report.knockout.first { $0.winner != player && [$0.pairing.a, $0.pairing.b].contains(player) }?.round
        }
        #expect(out.compactMap { $0 } == out.compactMap { $0 }.sorted(by: >))
      }
    }
  }

  @Test(arguments: [
    "rand", "levels:0", "levels:7", "levels", "levels:x", "mcts:0", "mcts:999999999", "mcts", "mcts:0ms", "mcts:3601s",
    "search", "search:", "search:1m", "search:-1s", "search:1.5s", "search:s", "search:ms", "search:0s", "menace:",
    "cmd:",
    "cmd:'a",
    "perfect:1", "", "adaptive:2", "cmd:a\\",
  ])
  func `an invalid player is refused`(name: String) {
    #expect(throws: ArenaError.self) { try PlayerSpec(name) }
  }

  @Test func `players' names are read back as written`() throws {
    for name in [
      "random", "levels:4", "mcts:100", "mcts:100ms", "search:800", "search:1s", "search:3600000ms", "menace",
      "menace:/a b", "adaptive", "cmd:./a 'b c' d", "cmd:''",
    ] {
      let spec = try PlayerSpec(name)
      #expect(try PlayerSpec(spec.text) == spec)
    }
    #expect(try PlayerSpec("search:2000ms") == .search(.milliseconds(2000)))
    #expect(try PlayerSpec("search:2000ms").text == "search:2s")
    #expect(try PlayerSpec("cmd:./a \"b c\" d\\ e") == .engine(["./a", "b c", "d e"]))
    #expect(try PlayerSpec(PlayerSpec.engine(["a'b", "\\", "\"", ""]).text) == .engine(["a'b", "\\", "\"", ""]))
  }

  @Test(arguments: [
    ["a4"], ["b2 b2"], ["fen 4/3/3 x"], ["b2 a1 b1 a2 b3"], [], ["# only"], ["fen XXX/OO1/3 o"],
  ])
  func `invalid openings are refused`(lines: [String]) {
    #expect(throws: ArenaError.self) { try Openings(lines: lines, name: "list") }
  }

  @Test(arguments: ["\n", "\r\n", "\r"]) func `openings are read with any line ends`(end: String) throws {
    try Support.withFolder { folder in
      let lines = ["b2 a1", "# remark", "", "fen X1O/3/3 x moves b2", "3/1X1/3[PPPPpppp] b - - 0 1; id \"x\";"]
      try ("\u{FEFF}" + lines.joined(separator: end)).write(toFile: folder + "/book", atomically: true, encoding: .utf8)
      guard case .list(.classic, let list) = try Openings(argument: folder + "/book") else {
        Issue.record("no list")
        return
      }
      #expect(list.map { $0.text(.classic) } == ["b2 a1", "fen X1O/3/3 x moves b2", "fen 3/1X1/3 o"])
      try (["b2 a1", "b2 b2"].joined(separator: end)).write(toFile: folder + "/book", atomically: true, encoding: .utf8)
      let error = #expect(throws: ArenaError.self) { try Openings(argument: folder + "/book") }
      #expect(error?.description.contains("line 2") == true)
    }
  }

  @Test func `the games of a PGN book serve as openings`() throws {
    try Support.withFolder { folder in
      let book = "[Event \"a\"]\n\n1. b2 a1 *\n\n[Event \"b\"]\n[SetUp \"1\"]\n[FEN \"X1O/3/3 x\"]\n\n2. b2 *\n"
      try book.write(toFile: folder + "/book.pgn", atomically: true, encoding: .utf8)
      guard case .list(.classic, let list) = try Openings(argument: folder + "/book.pgn") else {
        Issue.record("no list")
        return
      }
      #expect(list.map { $0.text(.classic) } == ["b2 a1", "fen X1O/3/3 x moves b2"])
      try "[Event \"a\"]\n\n1. a1 a2 2. b1 b2 3. c1 1-0\n".write(
        toFile: folder + "/book.pgn", atomically: true, encoding: .utf8)
      let error = #expect(throws: ArenaError.self) { try Openings(argument: folder + "/book.pgn") }
      #expect(error?.description.contains("game 1: the game is over already") == true)
    }
  }
}
