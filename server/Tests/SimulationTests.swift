import Foundation
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// What some seeds led to.
private struct Results: Sendable {
  var faults: [String] = []
  var tally: [String: Int] = [:]
  var longest = 0
}

private func simulate(_ seeds: [UInt64]) throws -> Results {
  var results = Results()
  for seed in seeds {
    var options = Simulation.Options()
    options.clients = 2 + Int(seed % 5)
    options.crashes = seed % 3 != 0
    var world = Simulation(seed: seed, options)
    results.faults += try world.run()
    results.tally.merge(world.tally, uniquingKeysWith: +)
  }
  return results
}

@Suite struct SimulationTests {
  /// The seeds of this run: as many as the variable NAME + "S" says or the run is for; the variable NAME repeats one.
  private func seeds(_ name: String, quick: Int, all: Int) -> ClosedRange<UInt64> {
    let one = UInt64(amount(name, quick: 0, all: 0))
    return one > 0 ? one...one : 1...UInt64(amount(name + "S", quick: quick, all: all))
  }

  @Test func `no seed of the simulated world breaks a promise`() async throws {
    let seeds = seeds("SIM_SEED", quick: 50, all: 2000)
    let workers = UInt64(min(2, seeds.count))
    let results = try await withThrowingTaskGroup(of: Results.self, returning: [Results].self) { group in
      for worker in 0..<workers {
        group.addTask { try simulate(seeds.filter { $0 % workers == worker }) }
      }
      var all: [Results] = []
      for try await one in group { all.append(one) }
      return all
    }
    let faults: [String] = results.flatMap(\.faults)
    var tally: [String: Int] = [:]
    for result in results { tally.merge(result.tally, uniquingKeysWith: +) }
    let first = faults.prefix(5).joined(separator: "\n")
    #expect(faults.isEmpty, "\(faults.count) faults; SIM_SEED=… repeats one: \(first)")
    let counts: [String] = tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    print("simulated \(seeds.count) seeds: \(counts.joined(separator: ", "))")
    if seeds.count >= 50 {
      for kind in [
        "crash", "cut", "duplicate", "ok", "saw move", "saw gone", "saw back", "saw end", "saw draw", "saw rematch",
      ] {
        #expect(tally[kind, default: 0] > 0, "no seed had \(kind)")
      }
    }
  }

  @Test func `the checks notice a server that tells before it has stored`() throws {
    var noticed = 0
    for seed in 1...5 as ClosedRange<UInt64> {
      var options = Simulation.Options()
      options.ungated = true
      var world = Simulation(seed: seed, options)
      let faults: [String] = try world.run()
      if faults.joined().range(of: "was revealed when") != nil { noticed += 1 }
    }
    #expect(noticed == 5)
  }

  @Test(arguments: [0, 3]) func `a hostile client costs the others nothing that was promised`(nodes: Int) throws {
    var (faults, tally) = ([String](), [String: Int]())
    for seed in seeds("SIM_HOSTILE_SEED", quick: 6, all: 300) {
      var options = nodes == 0 ? Simulation.Options() : SimulationTests.cluster(seed)
      options.hasHostile = true
      var world = Simulation(seed: seed, options)
      faults += try world.run()
      tally.merge(world.tally, uniquingKeysWith: +)
    }
    #expect(faults.isEmpty, "\(faults.count) faults; SIM_HOSTILE_SEED=… repeats one: \(faults.prefix(5))")
    for kind in ["attack", "flood", "shut out", "ok", "saw end"] {
      #expect(tally[kind, default: 0] > 0, "no seed had \(kind)")
    }
  }

  /// A node that went on early found a line that came later before what it was told while it stood still.
  @Test func `what a stopped node finds when it goes on has kept its order`() throws {
    var options = SimulationTests.cluster(268)
    options.hasHostile = true
    var world = Simulation(seed: 268, options)
    #expect(try world.run() == [])
  }

  @Test func `the same seed gives the same world`() throws {
    var one = Simulation(seed: 11)
    var other = Simulation(seed: 11)
    #expect(try one.run() == other.run())
    #expect(one.tally == other.tally)
    #expect(one.checker.seen == other.checker.seen)
  }

  // MARK: several nodes

  private static func cluster(_ seed: UInt64) -> Simulation.Options {
    var options = Simulation.Options()
    options.nodes = 3
    options.clients = 3 + Int(seed % 4)
    options.crashes = seed % 8 != 0
    return options
  }

  @Test func `no seed of three nodes that crash, stop and lose one another breaks a promise`() async throws {
    let seeds = seeds("SIM_CLUSTER_SEED", quick: 50, all: 300)
    let workers = UInt64(min(2, seeds.count))
    let results = try await withThrowingTaskGroup(of: Results.self, returning: [Results].self) { group in
      for worker in 0..<workers {
        group.addTask {
          var results = Results()
          for seed in seeds where seed % workers == worker {
            var world = Simulation(seed: seed, SimulationTests.cluster(seed))
            results.faults += try world.run()
            results.tally.merge(world.tally) { $0 + $1 }
            results.longest = max(results.longest, world.tally["longest move"] ?? 0)
          }
          return results
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let faults: [String] = results.flatMap(\.faults)
    var tally: [String: Int] = [:]
    for result in results { tally.merge(result.tally, uniquingKeysWith: +) }
    tally["longest move"] = results.map(\.longest).max()
    let first = faults.prefix(5).joined(separator: "\n")
    #expect(faults.isEmpty, "\(faults.count) faults; SIM_CLUSTER_SEED=… repeats one: \(first)")
    let counts: [String] = tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    print("simulated \(seeds.count) seeds of three nodes: \(counts.joined(separator: ", "))")
    if seeds.count >= 50 {
      for kind in [
        "crash", "stop", "pause", "cut from the store", "cut from the nodes", "drain", "fenced", "moved", "relayed",
        "raised",
        "too old", "taken and not read",
        "ok", "saw move", "saw gone", "saw back", "saw end", "saw rematch",
      ] {
        #expect(tally[kind, default: 0] > 0, "no seed had \(kind)")
      }
    }
  }

  /// Both sides reach the database, so that no lease ends: the players have to go to their matches.
  @Test func `while a node is cut off from the others for long, nobody is sent about for nothing, and the games go on`()
    throws
  {
    var tally: [String: Int] = [:]
    let seeds = seeds("SIM_CUT_SEED", quick: 6, all: 40)
    for seed in seeds {
      var options = Simulation.Options()
      options.nodes = 3
      (options.crashes, options.cuts) = (false, false)
      var world = Simulation(seed: seed, options)
      world.nodes[Int(seed % 3)].isCutFromNodes = true
      let broken = try world.run()
      #expect(broken.isEmpty, "seed \(seed): \(broken.first ?? "")")
      tally.merge(world.tally, uniquingKeysWith: +)
    }
    let (connects, sent, ends) = (
      tally["connect", default: 0], tally["sent to a node", default: 0], tally["saw end", default: 0]
    )
    print(
      "a node cut off for 90 s, \(seeds.count) seeds: \(connects) connections, \(sent) times sent to a node, \(ends) ends seen"
    )
    #expect(sent > 0 && ends > 0)
  }

  @Test(arguments: [\Simulation.Options.isFenced, \.appendsAtOnce, \.knowsWhatItTook])
  func `the checks notice a precaution that is taken out`(
    precaution: WritableKeyPath<Simulation.Options, Bool> & Sendable
  )
    throws
  {
    let noticed = try (1...40 as ClosedRange<UInt64>).first { seed in
      var options = SimulationTests.cluster(seed)
      options[keyPath: precaution] = false
      options.crashes = true
      var world = Simulation(seed: seed, options)
      return try !world.run().isEmpty
    }
    #expect(noticed != nil)
  }

  @Test func `the same seed gives the same cluster`() throws {
    var one = Simulation(seed: 11, SimulationTests.cluster(11))
    var other = Simulation(seed: 11, SimulationTests.cluster(11))
    #expect(try one.run() == other.run())
    #expect(one.tally == other.tally)
    #expect(one.checker.seen == other.checker.seen)
  }
}
