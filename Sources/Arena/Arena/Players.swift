import CProcess
import Foundation
import Opponents
import TicTacToe

/// The players of a run. Tables are shared by all threads, learners belong to a pairing, and engines are lent to one thread at a time.
final class Players: @unchecked Sendable {
  let configuration: RunConfiguration
  /// Set when the user interrupts the run, or when the SPRT decides.
  let stop: StopSignal
  private let guardExecutable: String
  private let trace: EngineTrace?
  private let tables: [DistributionTable?]
  /// `nil` if no player needs the value function.
  fileprivate let ultimateValue: UltimateValue?
  /// For each entrant, the learning player at the start of the run, of which each pairing uses a copy; `nil` for other players.
  private let beginners: [(any LearningOpponent)?]
  private let lock = NSLock()
  private var learners: [[Int]: Learner] = [:]
  /// Idle engines; the engine used last is at the end.
  private var idle: [(player: Int, client: EngineClient)] = []
  private var engines = 0
  /// Two engines for each concurrent game.
  private let engineLimit: Int
  private var takenCores: Set<Int> = []

  /// Players with the same specification share a table.
  init(
    _ configuration: RunConfiguration, threads: Int, guardExecutable: String, stop: StopSignal,
    trace: EngineTrace? = nil
  ) throws(ArenaError) {
    (self.configuration, self.guardExecutable, self.trace) = (configuration, guardExecutable, trace)
    self.stop = StopSignal(under: stop)
    // Read the files of matchboxes once, so that all pairings begin with the same matchboxes.
    beginners = try configuration.entrants.map { (entrant) throws(ArenaError) in
      try entrant.spec.learner(in: configuration.variant)
    }
    engineLimit = 2 * threads
    let needsValue = configuration.entrants.contains { $0.spec.needsValue(in: configuration.variant) }
    ultimateValue = needsValue ? try UltimateValueFile.load() : nil
    var known: [PlayerSpec: DistributionTable] = [:]
    var tables: [DistributionTable?] = []
    for entrant in configuration.entrants {
      if known[entrant.spec] == nil,
        let player = try entrant.spec.memoryless(in: configuration.variant, freezing: configuration.isFrozen)
      {
        known[entrant.spec] = DistributionTable(player)
      }
      tables.append(known[entrant.spec])
    }
    self.tables = tables
  }

  func stopEngines() {
    let ending = idle.map(\.client)
    idle = []
    DispatchQueue.concurrentPerform(iterations: ending.count) { ending[$0].stop() }
  }

  /// Returns the same object for all games of a pairing, because a learner learns from game to game. `nil` if the player does not learn.
  func learner(_ player: Int, in pairing: Pairing, isSecond: Bool) -> Learner? {
    lock.withLock {
      let key = [pairing.a, pairing.b, isSecond ? 1 : 0]
      if let learner = learners[key] { return learner }
      guard let fresh = beginners[player] else { return nil }
      learners[key] = Learner(fresh)
      return learners[key]
    }
  }

  /// If `engineLimit` is reached, first stops the engine that has been idle longest.
  fileprivate func lendEngine(_ player: Int) -> EngineClient {
    let (client, ended): (EngineClient, EngineClient?) = lock.withLock {
      if let place = idle.lastIndex(where: { $0.player == player }) { return (idle.remove(at: place).client, nil) }
      var ended: EngineClient?
      if engines >= engineLimit, !idle.isEmpty { ended = idle.removeFirst().client } else { engines += 1 }
      return (EngineClient(configuration.recipe(of: player, guardExecutable, trace: trace), stop), ended)
    }
    ended?.stop()
    return client
  }

  fileprivate func giveBack(_ player: Int, _ client: EngineClient) { lock.withLock { idle.append((player, client)) } }

  /// Reserves the thread's present processor, or the next one not yet reserved; `nil` if all are reserved.
  fileprivate func takeCore() -> Int? {
    lock.withLock {
      let here = Int(alina_current_core())
      guard here >= 0 else { return nil }
      let core = (0..<1024).map { (here + $0) % 1024 }.first {
        !takenCores.contains($0) && alina_may_run_on(0, Int32($0)) == 1
      }
      if let core { takenCores.insert(core) }
      return core
    }
  }

  /// The players of one thread.
  final class Worker {
    private let players: Players
    /// The engines that this thread keeps from its last pairing.
    private var engines: [(player: Int, isSecond: Bool, client: EngineClient)] = []
    /// Lazy, because the tree takes some megabytes and only searching players need it.
    private lazy var search = MonteCarloSearch()
    let random = RandomGames()
    /// The trees of Ultimate: at 0 and 1 those of the first and second player without the value function, at 2 and 3 those with it.
    private var trees = [UltimateSearch?](repeating: nil, count: 4)

    private func tree(_ isSecond: Bool, needsValue: Bool) -> UltimateSearch {
      let place = (needsValue ? 2 : 0) + (isSecond ? 1 : 0)
      let tree = trees[place] ?? UltimateSearch(value: needsValue ? players.ultimateValue : nil)
      trees[place] = tree
      return tree
    }
    private var core: Int?
    private var games = 0
    private var begun = 0.0

    /// `trial`: the number of games over which the engines' speed is measured. `quick`: the most milliseconds of a game of quick engines.
    private static let (trial, quick) = (32, 2.0)

    init(_ players: Players) { self.players = players }

    /// After `trial` games, moves quick engines and this thread to one processor: they take turns and wake each other, which costs less on
    /// one processor.
    func noteGame() {
      guard core == nil, games <= Worker.trial, !engines.isEmpty else { return }
      if games == 0 { begun = monotonicMilliseconds() }
      games += 1
      let time = monotonicMilliseconds() - begun
      guard games > Worker.trial, time < Double(Worker.trial) * Worker.quick, let core = players.takeCore() else {
        return
      }
      self.core = core
      _ = alina_stay_on(0, Int32(core))
      for engine in engines { engine.client.pin(toCore: core) }
    }

    func forget() { for tree in trees { tree?.forget() } }

    /// `nil` if a player has no table, the game is not Classic or a referee may end games early.
    func tables(of pairing: Pairing) -> (a: DistributionTable, b: DistributionTable)? {
      guard players.configuration.variant.isPacked, !players.configuration.adjudication.isActive,
        let a = players.tables[pairing.a],
        let b = players.tables[pairing.b]
      else { return nil }
      return (a, b)
    }

    /// First gives back the engines that this thread used for other players.
    func players<R: ArenaRules>(of pairing: Pairing, _ rules: R.Type) throws(ArenaError) -> (
      a: BoardPlayer<R>, b: BoardPlayer<R>
    ) {
      for engine in engines where engine.player != (engine.isSecond ? pairing.b : pairing.a) {
        players.giveBack(engine.player, engine.client)
      }
      engines.removeAll { $0.player != ($0.isSecond ? pairing.b : pairing.a) }
      return (try player(pairing.a, pairing, false), try player(pairing.b, pairing, true))
    }

    private func player<R: ArenaRules>(_ number: Int, _ pairing: Pairing, _ isSecond: Bool) throws(ArenaError)
      -> BoardPlayer<R>
    {
      let memory = PlayerMemory(
        table: players.tables[number], learner: { self.players.learner(number, in: pairing, isSecond: isSecond) },
        search: { self.search }, tree: { self.tree(isSecond, needsValue: $0) },
        engine: { self.engine(number, isSecond) })
      return try R.player(of: players.configuration.entrants[number].spec, with: memory)
    }

    private func engine(_ number: Int, _ isSecond: Bool) -> EngineClient {
      if let engine = engines.first(where: { $0.isSecond == isSecond }) { return engine.client }
      let client = players.lendEngine(number)
      engines.append((number, isSecond, client))
      // Another thread may have bound this engine to its own processor: bind it to this thread's, or to none.
      client.pin(toCore: core)
      return client
    }

    func end() {
      for engine in engines { players.giveBack(engine.player, engine.client) }
      engines = []
      if let core { players.lock.withLock { _ = players.takenCores.remove(core) } }
    }
  }
}
