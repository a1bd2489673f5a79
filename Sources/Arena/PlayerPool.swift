import CProcess
import Foundation
import Opponents
import TicTacToe

/// The players of a run: tables shared by all threads, learners by pairing, engines and searches by thread.
final class PlayerPool: @unchecked Sendable {
  let configuration: RunConfiguration
  private let guardExecutable: String
  private let tables: [MoveTable?]
  private let lock = NSLock()
  private var learners: [[Int]: Learner] = [:]
  private var takenCores: Set<Int> = []

  /// Fills the tables of the memoryless players, the same name once.
  init(_ configuration: RunConfiguration, guardExecutable: String) throws(ArenaError) {
    self.configuration = configuration
    self.guardExecutable = guardExecutable
    var known: [PlayerSpec: MoveTable] = [:]
    var tables: [MoveTable?] = []
    for entrant in configuration.entrants {
      if let table = known[entrant.spec] {
        tables.append(table)
      } else if let player = try entrant.spec.memoryless(freezing: configuration.isFrozen) {
        let table = MoveTable(player)
        known[entrant.spec] = table
        tables.append(table)
      } else {
        tables.append(nil)
      }
    }
    self.tables = tables
  }

  /// The learner of a player in a pairing: it lives as long as the run.
  func learner(_ player: Int, in pairing: Pairing, seat: Int) -> Learner? {
    lock.lock()
    defer { lock.unlock() }
    let key = [pairing.a, pairing.b, seat]
    if let learner = learners[key] { return learner }
    guard let fresh = try? configuration.entrants[player].spec.learner() else { return nil }
    let learner = Learner(fresh, isFrozen: configuration.isFrozen)
    learners[key] = learner
    return learner
  }

  /// A processor for a thread and its engines: the one the thread is on, or the next that no other thread has taken.
  fileprivate func takeCore() -> Int? {
    lock.lock()
    defer { lock.unlock() }
    let here = Int(alina_current_core())
    guard here >= 0 else { return nil }
    let core = (0..<1024).map { (here + $0) % 1024 }.first {
      !takenCores.contains($0) && alina_may_run_on(0, Int32($0)) == 1
    }
    if let core { takenCores.insert(core) }
    return core
  }

  fileprivate func giveBack(_ core: Int) {
    lock.lock()
    takenCores.remove(core)
    lock.unlock()
  }

  /// The players as one thread seats them.
  func makeTable() -> Table { Table(self) }

  /// One thread's own engines and searches.
  final class Table {
    private let pool: PlayerPool
    private var engines: [[Int]: EngineClient] = [:]
    private let search = MonteCarloSearch()
    private var core: Int?
    private var games = 0
    private var begun = 0.0

    /// Games after which a thread knows how quick its engines are, and milliseconds a game up to which they are.
    private static let (trial, quick) = (32, 2.0)

    fileprivate init(_ pool: PlayerPool) { self.pool = pool }

    /// Counts a game. Engines that answer at once spend most of a game waking one another: once they have shown that they
    /// are that quick, the thread and its engines stay on one processor, where that is a mere switch. Engines that think
    /// go where they like.
    func noteGame() {
      guard core == nil, games <= Table.trial, !engines.isEmpty else { return }
      if games == 0 { begun = monotonicMilliseconds() }
      games += 1
      let time = monotonicMilliseconds() - begun
      guard games > Table.trial, time < Double(Table.trial) * Table.quick, let core = pool.takeCore() else { return }
      self.core = core
      _ = alina_stay_on(0, Int32(core))
      for client in engines.values { client.stay(on: core) }
    }

    /// Both players of a pairing.
    func seats(_ pairing: Pairing) -> (a: Seat, b: Seat) { (seat(pairing.a, pairing, 0), seat(pairing.b, pairing, 1)) }

    private func seat(_ player: Int, _ pairing: Pairing, _ side: Int) -> Seat {
      if let table = pool.tables[player] { return .table(table) }
      if let learner = pool.learner(player, in: pairing, seat: side) { return .learner(learner) }
      switch pool.configuration.entrants[player].spec {
      case .mcts(let simulations): return .search(search, simulations: simulations)
      case .engine(let command):
        // The same engine against itself is two processes.
        let key = [player, side]
        let client =
          engines[key]
          ?? EngineClient(
            EngineClient.Recipe(
              command: command, guardExecutable: pool.guardExecutable, time: pool.configuration.time,
              seed: pool.configuration.seed))
        engines[key] = client
        if let core { client.stay(on: core) }
        return .engine(client)
      default: preconditionFailure("player \(pool.configuration.entrants[player].spec.text) has no seat")
      }
    }

    /// Ends the engines; the thread ends with them.
    func stop() {
      for client in engines.values { client.stop() }
      if let core { pool.giveBack(core) }
    }
  }
}
