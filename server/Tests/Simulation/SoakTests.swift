import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import MatchStore
@testable import SQLiteStore
@testable import PostgresStore

/// Days of play. `SOAK_DAYS` is the number of days, `SOAK_PACE` the most simulated milliseconds in a real one, `SOAK_SEED` the seed of the
/// days, and `SOAK_STORE` the store (`sqlite`, `memory`, `postgres`).
@Suite struct SoakTests {
  enum Kind: String, CaseIterable {
    case sqlite, memory, postgres

    static var wanted: [Kind] {
      let store = ProcessInfo.processInfo.environment["SOAK_STORE"]
      return allCases.filter { store ?? $0.rawValue == $0.rawValue }
    }
  }

  @Test(.long, arguments: Kind.wanted)
  func `players who come back hours and days later can play, and every log folds`(kind: Kind) throws {
    let folder = TemporaryFolder()
    let clock = TestClock()
    let real: RealStore
    switch kind {
    case .sqlite: real = RealStore(store: try SQLiteStore(path: folder.path + "/m.sqlite") { clock.wall }, clock: clock)
    case .memory: real = RealStore(store: MemoryStore(shared: true) { clock.wall }, clock: clock)
    case .postgres:
      let bed = PostgresTestBed.shared
      let url = try bed.freshURL()
      let setClock = try bed.makeClock(at: url)
      real = RealStore(store: try PostgresStore(PGAddress(url)), clock: clock, setClock: setClock)
    }
    defer { real.store.close() }
    var options = Simulation.Options()
    options.nodes = [.sqlite: 1, .memory: 3, .postgres: 2][kind] ?? 1
    options.isShared = real.store.isShared
    options.clients = 24
    options.absences = true
    options.oldClients = false
    options.real = real
    options.duration = Int64(amount("SOAK_DAYS", quick: 1, all: 2)) * 86_400_000
    let pace = amount("SOAK_PACE", quick: 0, all: 0)
    options.pace = pace == 0 ? nil : Double(pace)
    let begun = Moment.currentMonotonic
    options.eachDay = {
      print("soak \(kind): day \($0) after \((Moment.currentMonotonic - begun) / 1000) s")
      fflush(nil)
    }
    let seed = UInt64(amount("SOAK_SEED", quick: 1, all: 1))
    var world = Simulation(seed: seed, options)
    let faults = try world.run()
    let counts = world.tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let matches = try real.store.matchIDs().count
    print(
      "soak \(kind), seed \(seed): \(options.duration / 86_400_000) days in \((Moment.currentMonotonic - begun) / 1000) s, "
        + "\(matches) matches: \(counts.joined(separator: ", "))")
    #expect(faults == [], "seed \(seed)")
    for what in ["came back", "saw end"] { #expect(world.tally[what, default: 0] > 0, "seed \(seed): nobody \(what)") }
  }
}
