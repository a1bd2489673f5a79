import Base
import MatchClient
import MatchProtocol
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// A whole world from a seed: real lobbies and real client models, networks that delay, cut and leave connections half
/// open, stores that commit late, servers that crash, stop and lose sight of one another, and a clock of its own.
///
/// Without `nodes` it is one server on a store of its own; with them a cluster on a store they share.
struct Simulation {
  struct Options {
    var clients = 5
    /// Virtual milliseconds with faults, then as many as it takes without.
    var duration: Int64 = 90_000
    var crashes = true
    var cuts = true
    /// Whether one client in four speaks version 0 of the protocol, which has no kind of event: it is told states alone.
    var oldClients = true
    var ungated = false
    /// Whether the first client also says what nobody should.
    var hasHostile = false
    /// Nodes of a cluster; 0 for a server on its own.
    var nodes = 0
    // What only a test takes out.
    /// Whether the shared store checks who owns a match.
    var isFenced = true
    /// Whether an append is one statement; if not, the second is done by itself when the session of the first has ended.
    var appendsAtOnce = true
    /// Whether a node starts over that does not know which matches it has taken.
    var knowsWhatItTook = true
  }

  indirect enum Action {
    case think(Int)
    case dial(Int)
    case toServer(ConnectionID, ClientLine)
    case toClient(Int, ConnectionID, [UInt8])
    case hangUp(Int, ConnectionID)
    case serverHears(ConnectionID)
    case tick
    // What happens at a server is undone if that is another life of it by then.
    case commit(Int, life: Int)
    case load(Int, MatchID, life: Int)
    case history(Int, ConnectionID, String?, Int64, Int64, life: Int)
    case ask(Int, UInt64, ClusterQuestion, life: Int)
    case answer(Int, UInt64, ClusterAnswer?, life: Int)
    /// The second half of a takeover.
    case read(Int, UInt64, [MatchID], life: Int)
    /// The second half of an append that is two statements.
    case insert(Int, [StoreTransaction], since: Int64, life: Int)
    case frame(Link, [UInt8], forth: Bool)
    case linkBreaks(Link, forth: Bool)
    case restart(Int, life: Int)
    /// A stopped process goes on.
    case goOn(Int)
    case fault
  }

  /// A link from one incarnation, which opened it, to another.
  struct Link: Hashable {
    var from: Int
    var fromLife: Int
    var to: Int
    var toLife: Int
    /// Which one between the two it is; 0 stands for all of them.
    var number = 0
  }

  struct Client {
    var model: ClientModel
    var connection: ConnectionID?
    var upAt: Int64 = 0
    var downAt: Int64 = 0
    var mids: [String: (MatchID, String)] = [:]
    var roomCode: String?
    /// The node it tries first, and how often it has tried.
    var home = 0
    var tries = 0
  }

  struct Node {
    var lobby: Lobby?
    /// Counts starts, so that what was on its way for an earlier one is dropped.
    var life = 0
    var waiting: [StoreTransaction] = []
    var isCommitting = false
    /// In a cluster: its view, its incarnation, and what is wrong with it.
    var view: MemoryClusterView?
    var epoch: Int64 = 0
    var stoppedUntil: Int64 = 0
    /// What has come while it was stopped, in order.
    var backlog: [Action] = []
    var stopsAtCommit = false
    var isCutFromStore = false
    var isCutFromNodes = false
    var wellSince: Int64 = 0
    /// The version of the log's language that its program reads.
    var reads = 1
  }

  let seed: UInt64
  let options: Options
  var random: SplitMix64
  var now: Int64 = 1_000_000
  var wallOffset: Int64 = 1_700_000_000_000
  var queue = TimerQueue<Action>()
  let clock = SimulatedClock()
  let shared: MemoryCluster
  let store: any MatchStore
  var nodes: [Node] = []
  var clients: [Client] = []
  var owner: [ConnectionID: Int] = [:]
  var homes: [ConnectionID: Int] = [:]
  var alive: Set<ConnectionID> = []
  /// What stands between the hostile client's bytes and the lobby, of each of its connections.
  var gates: [ConnectionID: ServerSession] = [:]
  var nextConnection: ConnectionID = 1
  var codes: [String] = []
  var isCalm = false
  var links = SimulatedLinks()
  /// Since when a live match has been in nobody's memory, and who should have it there.
  var orphans: [MatchID: (since: Int64, holder: Int?)] = [:]
  /// Since when a ticket has been where it should not be, or not where it should; and when something was wrong with nodes or links last.
  var astray: [String: Int64] = [:]
  var troubleAt: Int64 = 0
  var checker = HistoryChecker()
  /// What happened how often, to see that a run is worth its time.
  var tally: [String: Int] = [:]

  init(seed: UInt64, _ options: Options = .init()) {
    self.seed = seed
    self.options = options
    random = SplitMix64(seed: seed)
    let clock = clock
    shared = MemoryCluster(isFenced: options.isFenced) { clock.wall }
    store = options.nodes == 0 ? MemoryStore() : shared.view()
    nodes = Array(repeating: Node(), count: max(1, options.nodes))
    clock.wall = wallOffset + now
    for i in 0..<options.clients {
      var client = Client(model: ClientModel(.init(client: "sim", guest: "p\(i)"), seed: seed &* 1000 &+ UInt64(i)))
      client.home = i % nodes.count
      clients.append(client)
      queue.set(.dial(i), at: now + Int64(random.below(500)))
    }
    for i in nodes.indices { startServer(i) }
    if options.crashes {
      var at = now
      while at < now + options.duration {
        at += 5000 + Int64(random.below(options.nodes == 0 ? 40_000 : 15_000))
        queue.set(.fault, at: at)
      }
    }
    queue.set(.tick, at: now + 20)
  }

  var moment: Moment { Moment(steady: now, wall: wallOffset + now) }

  mutating func count(_ what: String) { tally[what, default: 0] += 1 }

  // MARK: running

  /// Runs to the end and returns what is wrong.
  mutating func run() throws -> [String] {
    let end = now + options.duration
    while let due = queue.next, due <= end, checker.faults.isEmpty { step() }
    isCalm = true
    heal()
    // Every match must come to its end by itself: the longest is an untimed one left by both.
    let patience = now + 1_500_000
    // A world that is never at rest has not come to its end either; a whole one takes some ten thousand steps.
    var steps = 0
    while let due = queue.next, due < patience, steps < 500_000, checker.faults.isEmpty {
      steps += 1
      step()
      if isFinished { break }
    }
    if checker.faults.isEmpty, !isFinished { checker.faults.append("not everything came to its end: \(unfinished)") }
    for i in nodes.indices { while !nodes[i].waiting.isEmpty { settle(i) } }
    try checker.check(store)
    return checker.faults.map { "seed \(seed): \($0)" }
  }

  private var isFinished: Bool {
    let isSettled = nodes.indices.allSatisfy { i in
      nodes[i].lobby?.isSettled == true && nodes[i].waiting.isEmpty
        && nodes[i].lobby?.matches.values.contains { !$0.isOver } == false
    }
    guard isSettled, clients.allSatisfy({ !$0.model.hasOutstanding }) else { return false }
    return options.nodes == 0 || (try? store.recover().matches.isEmpty) == true
  }

  private var unfinished: String {
    let live = (try? store.recover().matches) ?? []
    let lobbies = nodes.map { node in
      node.lobby.map { "settled \($0.isSettled) live \($0.matches.values.filter { !$0.isOver }.map(\.id))" } ?? "down"
    }
    return "\(live.map(\.record.id)) outstanding \(clients.map(\.model.hasOutstanding)) \(lobbies)"
  }

  private mutating func step() {
    guard let due = queue.next, let action = queue.take(dueAt: due) else { return }
    now = max(now, due)
    clock.wall = wallOffset + now
    // A stopped process finds everything that came meanwhile when it goes on, and nothing overtakes it.
    if let i = place(of: action) {
      // It may stand still for a moment before anything that it does.
      if options.nodes > 0, options.crashes, !isCalm, !isStopped(i), random.below(2000) == 0 {
        count("pause")
        stop(i, for: 20 + Int64(random.below(2500)))
      }
      if isStopped(i) || !nodes[i].backlog.isEmpty { return nodes[i].backlog.append(action) }
    }
    perform(action)
  }

  private mutating func perform(_ action: Action) {
    switch action {
    case .goOn(let i):
      while !isStopped(i), !nodes[i].backlog.isEmpty { perform(nodes[i].backlog.removeFirst()) }
    case .tick:
      for i in nodes.indices where nodes[i].lobby != nil && !isStopped(i) { reduce(i, .tick) }
      if options.nodes > 0, now % 100 < 20 {
        checkOrphans()
        checkLanguage()
        checkQueue()
      }
      queue.set(.tick, at: now + (isCalm ? 200 : 20))
    case .think(let i): think(i)
    case .dial(let i): dial(i)
    case .toServer(let id, let line):
      guard let i = homes[id], nodes[i].lobby != nil, alive.contains(id) else { return }
      reduce(i, .line(id, spoken(line, by: owner[id]), at: now, roundTrip: random.below(80)))
    case .toClient(let i, let id, let line):
      guard clients[i].connection == id else { return }
      receive(i, line)
    case .hangUp(let i, let id): if clients[i].connection == id { lose(i) }
    case .serverHears(let id):
      guard let i = homes[id], nodes[i].lobby != nil, alive.remove(id) != nil else { return }
      reduce(i, .disconnected(id, clean: false))
    case .commit(let i, let life): if life == nodes[i].life { settle(i) }
    case .load(let i, let m, let life):
      guard life == nodes[i].life else { return }
      reduce(i, .loaded(m, try? store.match(m)))
    case .history(let i, let id, let re, let account, let before, let life):
      guard life == nodes[i].life else { return }
      reduce(i, .history(id, re: re, (try? store.history(of: account, before: before, limit: 20)) ?? [], more: nil))
    case .ask(let i, let number, let question, let life): ask(i, number, question, life)
    case .answer(let i, let number, let answer, let life):
      guard life == nodes[i].life else { return }
      reduce(i, .cluster(.answer(number, answer)))
    case .read(let i, let number, let taken, let life): read(i, number, taken, life)
    case .insert(let i, let batch, let since, let life): insert(i, batch, since: since, life)
    case .frame(let link, let line, let forth): deliver(line, over: link, forth: forth)
    case .linkBreaks(let link, let forth): linkBreaks(link, forth: forth)
    case .restart(let i, let life): if life == nodes[i].life { startServer(i) }
    case .fault: fault()
    }
  }

  private func place(of action: Action) -> Int? {
    switch action {
    case .toServer(let id, _), .serverHears(let id): homes[id]
    case .commit(let i, _), .load(let i, _, _), .history(let i, _, _, _, _, _), .ask(let i, _, _, _),
      .answer(let i, _, _, _), .restart(let i, _), .read(let i, _, _, _), .insert(let i, _, _, _):
      i
    case .frame(let link, _, let forth), .linkBreaks(let link, let forth): forth ? link.to : link.from
    case .think, .dial, .toClient, .hangUp, .tick, .goOn, .fault: nil
    }
  }

  // MARK: the servers

  mutating func reduce(_ i: Int, _ input: LobbyInput) {
    let moment = moment
    guard let effects = nodes[i].lobby?.reduce(input, now: moment) else { return }
    for effect in effects { carryOut(effect, at: i) }
  }

  private mutating func carryOut(_ effect: LobbyEffect, at i: Int) {
    let life = nodes[i].life
    switch effect {
    case .send(let id, let line, let kind): send(line, kind, to: id, from: i)
    case .close(let id, let code, let text, let retry, let node):
      if close(id, code, text, retry, from: i) { return }
      close(id, code, text, retry: retry, node: node)
    case .commit(let transaction):
      nodes[i].waiting.append(transaction)
      if !nodes[i].isCommitting {
        nodes[i].isCommitting = true
        queue.set(.commit(i, life: life), at: now + Int64(random.below(random.below(50) == 0 ? 500 : 9)))
        if nodes[i].stopsAtCommit { stopForLong(i) }
      }
    case .load(let m): queue.set(.load(i, m, life: life), at: now + 1 + Int64(random.below(5)))
    case .history(let id, let re, let account, let before):
      queue.set(.history(i, id, re, account, before, life: life), at: now + 1)
    case .publish, .note: break
    case .cluster(let effect): carryOut(effect, at: i)
    }
  }

  /// Sends a line to a client whose connection is here.
  mutating func sendToClient(_ id: ConnectionID, _ line: [UInt8], _ kind: LineKind) {
    guard alive.contains(id), let i = owner[id] else { return }
    revealed(line)
    if kind == .droppable, random.below(10) == 0 { return }
    clients[i].downAt = max(clients[i].downAt, now + 1 + Int64(random.below(random.below(20) == 0 ? 800 : 40)))
    queue.set(.toClient(i, id, line), at: clients[i].downAt)
  }

  mutating func close(_ id: ConnectionID, _ code: ByeCode, _ text: String, retry: Int?, node: String? = nil) {
    guard let i = owner[id] else { return }
    if node != nil { count("sent to a node") }
    clients[i].downAt = max(clients[i].downAt, now + 1)
    queue.set(.toClient(i, id, ServerMessage.bye(code, text, retry: retry, node: node).bytes()), at: clients[i].downAt)
    queue.set(.hangUp(i, id), at: clients[i].downAt + 1)
    queue.set(.serverHears(id), at: now + 5)
  }

  /// Nothing that reveals an event may leave before the store has it.
  private mutating func revealed(_ line: [UInt8]) {
    guard let parsed = try? line.dropLast().withUnsafeBytes({ raw in try ServerLine(raw) }) else {
      checker.faults.append("the server said what cannot be read: \(String(decoding: line, as: UTF8.self))")
      return
    }
    var shown: [(MatchID, Int, String?)] = []
    switch parsed.message {
    case .event(let m, let seq, let hash, _): shown.append((m, seq, hash))
    case .state(let state, _, _): shown.append((state.id, state.seq, state.hash.short))
    case .ok(let m?, let seq?): shown.append((m, seq, nil))
    default: break
    }
    if case .state(let state, _, _)? = parsed.state { shown.append((state.id, state.seq, state.hash.short)) }
    for (m, seq, hash) in shown {
      let stored = (try? store.match(m))??.events.count ?? 0
      if stored < seq { checker.faults.append("match \(m) seq \(seq) was revealed when \(stored) events were durable") }
      if let hash { checker.saw(m, seq: seq, hash: hash) }
    }
  }

  mutating func settle(_ i: Int) {
    let batch = nodes[i].waiting
    nodes[i].waiting = []
    nodes[i].isCommitting = false
    guard let last = batch.last else { return }
    if nodes[i].isCutFromStore || options.nodes > 0 && isInterrupted {
      // What was on its way may have arrived.
      if random.below(2) == 0 { try? nodes[i].view?.commit(batch) }
      return startOver(i)
    }
    if !options.appendsAtOnce { return lengthen(i, batch) }
    do throws(StoreError) { try (nodes[i].view ?? store).commit(batch) } catch {
      if options.nodes > 0, case .conflict = error {
        count("fenced")
        return startOver(i)
      }
      checker.faults.append("the store refuses: \(error)")
      return
    }
    reduce(i, .durable(last.number))
  }

  /// Whether the database fails at this moment: before it does something, or before it can tell.
  var isInterrupted: Bool {
    mutating get { !isCalm && options.crashes && random.below(400) == 0 }
  }
}
