import Base
import Foundation
import MatchProtocol
import ServerTestSupport
import TicTacToe

@testable import ClientModel
@testable import Lobby
@testable import MatchStore

/// A world from a seed: real lobbies and client models in simulated time, with networks, nodes and a store that fail.
struct Simulation {
  struct Options {
    var nodes = 1
    /// Whether other nodes may use the store. If not, statements of an ended process are lost once the server's next process runs.
    var isShared = true
    var clients = 5
    /// Simulated milliseconds with faults; afterwards the world runs without faults until all matches end.
    var duration: Int64 = 90_000
    var crashes = true
    var cuts = true
    /// Whether one client in four speaks version 0 of the protocol: the server sends it whole states instead of events.
    var oldClients = true
    var hasHostile = false
    var bans = false
    /// Whether all notifications are lost.
    var losesNotifications = false
    /// Whether no notification is lost.
    var notificationsArrive = false
    var lobby = LobbyConfiguration()
    /// For a soak test (`SoakTests`), instead of a store in memory.
    var real: RealStore?
    /// Whether players leave for minutes, hours or days, and then start their program again. Faults are rare in this mode.
    var absences = false
    var hasTournament = false
    /// When all clients end their programs within a second and start them again, in milliseconds.
    var reload: Int64?
    /// The most virtual milliseconds that may pass in a real millisecond; `nil` for no limit.
    var pace: Double?
    /// Shows progress at the end of each virtual day, which can take minutes.
    var eachDay: (@Sendable (Int64) -> Void)?
    // The next five properties are parts of the design. A test switches one off, to show that the checks detect its absence.

    /// Whether the store checks the length of a log.
    var checksLength = true
    /// Whether the store registers a node as a follower before it reads the match for it.
    var registersFirst = true
    /// Whether a node is told that a unit's outcome is unknown.
    var isToldOfUnknown = true
    /// Whether a node gets the verdict only after the unit is stored.
    var waitsForVerdict = true
    /// Whether the end of a tournament game changes its players' entries (points and so on).
    var changesEntrants = true
  }

  indirect enum Action {
    case think(Int)
    case dial(Int)
    /// A player ends the client program, and starts it again at once.
    case reload(Int)
    case comeBack(Int)
    case toServer(ConnectionID, ClientLine)
    case toClient(Int, ConnectionID, [UInt8])
    case hangUp(Int, ConnectionID)
    case serverHears(ConnectionID)
    case look
    // An action with `life` is dropped if the node has restarted since.
    case tick(Int, number: Int, life: Int)
    case flush(Int, life: Int)
    case units(Int, [(UInt64, StoreUnit)], life: Int)
    case question(Int, UInt64, StoreQuestion, life: Int)
    /// Executes a statement whose node has given up waiting.
    case lateUnit(StoreUnit)
    case lateQuestion(StoreQuestion)
    case verdicts(Int, [(UInt64, Verdict)], life: Int)
    case answer(Int, UInt64, StoreAnswer?, life: Int)
    case notification(Int, String?, life: Int)
    case restart(Int, life: Int)
    case resume(Int)
    /// Lets a node that shuts down leave once all its units are stored, at the latest at `until`.
    case depart(Int, until: Int64, life: Int)
    case fault
    case heal
    /// Cuts one node off from the store again, soon after the store has become reachable for all nodes.
    case relapse(Int)
  }

  struct Client {
    var model: ClientModel
    var connection: ConnectionID?
    var upAt: Int64 = 0
    var downAt: Int64 = 0
    var mids: [String: (MatchID, String)] = [:]
    var isAbsent = false
    /// Whether the player has played a match to its end since the faults ceased.
    var hasPlayed = false
  }

  struct Node {
    var lobby: Lobby?
    /// The id of the node's running process.
    var name: NodeID = ""
    /// The number of the node's starts. A message to the process of an earlier start is dropped.
    var life = 0
    /// How many milliseconds the node's clocks are ahead of the world's.
    var monotonicAhead: Int64 = 0
    var wallAhead: Int64 = 0
    /// The number of the lobby's last scheduled wake-up; `tickAt` is the wake-up's time.
    var tick = 0
    var tickAt: Int64?
    var waiting: [(UInt64, StoreUnit)] = []
    var isCommitting = false
    var isListening = true
    var stoppedUntil: Int64 = 0
    /// The actions that arrived while the node was stopped, in order.
    var backlog: [Action] = []
    var stopsAtCommit = false
    var isCutFromStore = false
    var startedAt: Int64 = 0
    /// Since when the node has been well: running, ready for players and connected to the store.
    var wellSince: Int64 = .max
    /// The start of the period in which the node was well before its last trouble.
    var wasWellSince: Int64 = .max
  }

  let seed: UInt64
  let options: Options
  var random: SplitMix64
  var now: Int64 = 1_000_000
  var wallOffset: Int64 = 1_700_000_000_000
  var queue = TimerQueue<Action>()
  var store: SimulatedStore
  var isStoreDown = false
  var nodes: [Node] = []
  var clients: [Client] = []
  var owner: [ConnectionID: Int] = [:]
  var homes: [ConnectionID: Int] = [:]
  var alive: Set<ConnectionID> = []
  /// The connections that a server has welcomed and not closed.
  var seated: Set<ConnectionID> = []
  /// The protocol layer between the hostile client's bytes and the lobby, by connection.
  var gates: [ConnectionID: ServerSession] = [:]
  var nextConnection: ConnectionID = 1
  /// The number of inputs that the lobbies have handled.
  var reductions = 0
  var codes: [String] = []
  var tournament: String?
  var organisersSecret: String?
  var isCalm = false
  var watch = Watch()
  var checker = HistoryChecker()
  /// How often each kind of event has happened, to see that a run covers its cases.
  var tally: [String: Int] = [:]

  init(seed: UInt64, _ options: Options = .init()) {
    self.seed = seed
    self.options = options
    random = SplitMix64(seed: seed)
    store = SimulatedStore(options)
    store.clock.wall = wallOffset + now
    nodes = Array(repeating: Node(), count: options.nodes)
    for i in 0..<options.clients {
      clients.append(
        Client(model: ClientModel(.init(client: "sim", guest: "p\(i)"), seed: seed &* 1000 &+ UInt64(i))))
      queue.set(.dial(i), at: now + Int64(random.below(500)))
      if let reload = options.reload { queue.set(.reload(i), at: now + reload + Int64(random.below(1000))) }
    }
    for i in nodes.indices { startServer(i) }
    if options.crashes {
      var at = now
      while at < now + options.duration {
        at += options.absences ? 3_600_000 + Int64(random.below(36_000_000)) : 5000 + Int64(random.below(15_000))
        queue.set(.fault, at: at)
      }
    }
    queue.set(.look, at: now + 20)
  }

  func moment(_ i: Int) -> Moment {
    Moment(monotonic: now + nodes[i].monotonicAhead, wall: wallOffset + now + nodes[i].wallAhead)
  }

  mutating func count(_ what: String) { tally[what, default: 0] += 1 }

  // MARK: running

  mutating func run() throws -> [String] {
    let (begun, end) = (now, now + options.duration)
    let start = Moment.currentMonotonic
    while let due = queue.next, due <= end, checker.faults.isEmpty {
      if let pace = options.pace {
        let early = Double(now - begun) / pace - Double(Moment.currentMonotonic - start)
        if early > 5 { usleep(UInt32(early * 1000)) }
      }
      let day = (now - begun) / 86_400_000
      step()
      if (now - begun) / 86_400_000 > day { options.eachDay?(day + 1) }
    }
    isCalm = true
    heal()
    for i in clients.indices where clients[i].isAbsent { comeBack(i) }
    // Every match must end by itself within 25 minutes. The longest is an untimed match that both players have left.
    let deadline = now + 1_500_000
    // A world that does not come to rest has a fault. Usually ten thousand steps are enough.
    var steps = 0
    while let due = queue.next, due < deadline, steps < 500_000, checker.faults.isEmpty {
      steps += 1
      step()
      if steps % 16 == 0, isFinished { break }
    }
    if checker.faults.isEmpty, !isFinished { checker.faults.append("not everything ended: \(unfinished)") }
    try checker.check(store.inner)
    try checker.checkRatings(store.inner, ends: store.ends)
    if let tournament { try checkTournament(tournament) }
    return checker.faults.map { "seed \(seed): \($0)" }
  }

  private var isFinished: Bool {
    guard store.live.isEmpty, clients.allSatisfy({ $0.model.outstanding.isEmpty || $0.model.failure != nil }) else {
      return false
    }
    if options.absences, !clients.allSatisfy(\.hasPlayed) { return false }
    guard isTournamentFinished else { return false }
    return nodes.allSatisfy { node in
      guard let lobby = node.lobby, node.waiting.isEmpty, !node.isCommitting else { return false }
      return lobby.isSettled && !lobby.matches.values.contains { !$0.isOver }
    }
  }

  private var unfinished: String {
    let lobbies = nodes.map { node in
      node.lobby.map {
        "settled \($0.isSettled) live \($0.matches.values.filter { !$0.isOver }.map(\.id.rawValue).sorted())"
      } ?? "down"
    }
    let idle = clients.indices.filter { options.absences && !clients[$0].hasPlayed }.map { i in
      let seek = clients[i].model.currentSeek.map { "\($0.terms)" } ?? "nothing"
      return
        "\(i) seeks \(seek), plays \(clients[i].model.matches.values.filter { $0.state.phase != .over }.map(\.state.id))"
    }
    return
      "clients without a match \(idle) \(store.live.sorted()) outstanding \(clients.flatMap(\.model.outstanding).map(\.message)) \(lobbies)"
  }

  private mutating func step() {
    guard let due = queue.next, let action = queue.take(dueAt: due) else { return }
    now = max(now, due)
    store.clock.wall = wallOffset + now
    if let i = place(of: action) {
      if options.crashes, !isCalm, !isStopped(i), random.below(2000) == 0 {
        count("pause")
        stop(i, for: 20 + Int64(random.below(2500)))
      }
      if isStopped(i) || !nodes[i].backlog.isEmpty { return nodes[i].backlog.append(action) }
    }
    perform(action)
  }

  private mutating func perform(_ action: Action) {
    switch action {
    case .resume(let i):
      while !isStopped(i), !nodes[i].backlog.isEmpty { perform(nodes[i].backlog.removeFirst()) }
    case .look:
      look()
      queue.set(.look, at: now + (options.absences ? 5000 : isCalm ? 500 : 100))
    case .think(let i): think(i)
    case .dial(let i): dial(i)
    case .reload(let i): reload(i)
    case .comeBack(let i): comeBack(i)
    case .toServer(let id, let line):
      guard let i = homes[id], nodes[i].lobby != nil, alive.contains(id) else { return }
      let line = spoken(line, by: owner[id])
      reduce(i, .line(id, line, at: moment(i).monotonic, roundTrip: random.below(80)))
    case .toClient(let i, let id, let line):
      guard clients[i].connection == id else { return }
      receive(i, line)
    case .hangUp(let i, let id): if clients[i].connection == id { lose(i) }
    case .serverHears(let id):
      seated.remove(id)
      guard let i = homes[id], nodes[i].lobby != nil, alive.remove(id) != nil else { return }
      reduce(i, .disconnected(id, clean: false))
    case .tick(let i, let number, let life):
      guard life == nodes[i].life, number == nodes[i].tick else { return }
      nodes[i].tickAt = nil
      reduce(i, .tick)
    case .lateUnit(let unit): _ = store.apply(unit, now: now)
    case .lateQuestion(let question): _ = store.answer(question)
    case .fault: fault()
    case .heal: heal()
    case .relapse(let i): cutOff(i)
    default: performAtNode(action)
    }
    checker.faults += store.faults
  }

  private mutating func performAtNode(_ action: Action) {
    switch action {
    case .units(let i, let batch, let life): arrive(i, batch, life)
    case .question(let i, let number, let question, let life): arrive(i, number, question, life)
    case .flush(let i, let life): if life == nodes[i].life { flush(i) }
    case .verdicts(let i, let verdicts, let life):
      guard life == nodes[i].life else { return }
      nodes[i].isCommitting = false
      for (number, verdict) in verdicts { reduce(i, .verdict(number, verdict)) }
      sendUnits(i)
    case .answer(let i, let number, let answer, let life):
      if life == nodes[i].life { reduce(i, .answer(number, answer)) }
    case .notification(let i, let text, let life): if life == nodes[i].life { hear(i, text) }
    case .restart(let i, let life): if life == nodes[i].life { startServer(i) }
    case .depart(let i, let until, let life): if life == nodes[i].life { depart(i, until) }
    default: break
    }
  }

  private func place(of action: Action) -> Int? {
    switch action {
    case .toServer(let id, _), .serverHears(let id): homes[id]
    case .tick(let i, _, _), .flush(let i, _), .verdicts(let i, _, _), .answer(let i, _, _, _),
      .notification(let i, _, _),
      .restart(let i, _), .depart(let i, _, _):
      i
    case .think, .dial, .reload, .comeBack, .toClient, .hangUp, .look, .units, .question, .lateUnit, .lateQuestion,
      .resume, .fault, .heal, .relapse:
      nil
    }
  }

  // MARK: the servers

  mutating func reduce(_ i: Int, _ input: LobbyInput) {
    let moment = moment(i)
    guard let effects = nodes[i].lobby?.reduce(input, now: moment) else { return }
    for effect in effects { carryOut(effect, at: i) }
    guard let lobby = nodes[i].lobby else { return }
    // Check the lobby's invariants after every input, but with 100 clients or more only after every hundredth: with 512 clients a check
    // takes milliseconds.
    reductions += 1
    if clients.count < 100 || reductions % 100 == 0 {
      for wrong in lobby.checkInvariants() { checker.faults.append("\(nodes[i].name): \(wrong)") }
    }
    guard let next = lobby.nextDue else { return }
    let due = max(now + 1, next - nodes[i].monotonicAhead)
    if let set = nodes[i].tickAt, set <= due { return }
    nodes[i].tick += 1
    nodes[i].tickAt = due
    queue.set(.tick(i, number: nodes[i].tick, life: nodes[i].life), at: due)
  }

  private mutating func carryOut(_ effect: LobbyEffect, at i: Int) {
    switch effect {
    case .send(let id, let line, let kind): sendToClient(id, line, kind)
    case .close(let id, let code, let text, let retry): close(id, code, text, retry: retry)
    case .store(let number, let unit):
      nodes[i].waiting.append((number, unit))
      sendUnits(i)
    case .ask(let number, let question): ask(i, number, question)
    case .publish(let names, let text): tell(names, text)
    case .orderCompleted(let number, let done): orderCompleted(number, done)
    case .note(let text, let fields):
      count("note: \(text)")
      if text.contains("broken") || text.contains("lost a match") { checker.faults.append("\(text) \(fields)") }
    }
  }

  private mutating func sendToClient(_ id: ConnectionID, _ line: [UInt8], _ kind: LineKind) {
    guard alive.contains(id), let i = owner[id] else { return }
    revealed(line, to: id)
    if kind == .droppable, random.below(10) == 0 { return }
    clients[i].downAt = max(clients[i].downAt, now + 1 + Int64(random.below(random.below(20) == 0 ? 800 : 40)))
    queue.set(.toClient(i, id, line), at: clients[i].downAt)
  }

  private mutating func close(_ id: ConnectionID, _ code: ByeCode, _ text: String, retry: Int?) {
    seated.remove(id)
    guard let i = owner[id] else { return }
    clients[i].downAt = max(clients[i].downAt, now + 1)
    queue.set(.toClient(i, id, ServerMessage.bye(code, text, retry: retry).bytes()), at: clients[i].downAt)
    queue.set(.hangUp(i, id), at: clients[i].downAt + 1)
    queue.set(.serverHears(id), at: now + 5)
  }

  /// A line may reveal only stored events.
  private mutating func revealed(_ line: [UInt8], to id: ConnectionID) {
    guard let parsed = try? line.dropLast().withUnsafeBytes({ raw in try ServerLine(raw) }) else {
      checker.faults.append("the server sent an invalid line: \(String(decoding: line, as: UTF8.self))")
      return
    }
    var shown: [(MatchID, Int, String?)] = []
    switch parsed.message {
    case .welcome: seated.insert(id)
    case .event(let m, let seq, let hash, _): shown.append((m, seq, hash))
    case .state(let state, _, _): shown.append((state.id, state.seq, state.hash.short))
    case .ok(let m?, let seq?): shown.append((m, seq, nil))
    case .paired(let m, _), .room(let m, _, _): shown.append((m, 1, nil))
    default: break
    }
    if case .state(let state, _, _)? = parsed.state { shown.append((state.id, state.seq, state.hash.short)) }
    for (m, seq, hash) in shown {
      let stored = store.length(m)
      if stored < seq { checker.faults.append("match \(m) seq \(seq) was revealed when \(stored) events were durable") }
      if let hash { checker.saw(m, seq: seq, hash: hash) }
    }
  }
}
