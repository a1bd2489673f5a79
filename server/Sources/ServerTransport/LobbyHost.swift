import Dispatch
import Foundation
import Lobby
import MatchProtocol
import MatchStore
import NIOCore
import Synchronization

enum Delivery: Sendable {
  case line([UInt8], LineKind)
  case end(ByeCode, String, retry: Int?)
}

enum Arrival: Sendable {
  case connected(ConnectionID, SessionHandler, address: String?)
  /// `at`: when a line was decoded, in monotonic milliseconds. `read`: when the lines were read, in nanoseconds.
  case lines(ConnectionID, [(line: ClientLine, at: Int64)], roundTrip: Int, read: UInt64)
  case disconnected(ConnectionID, clean: Bool)
  case caughtUp(ConnectionID, [MatchID])
}

/// Runs the lobby on an event loop of its own: passes inputs to the lobby and executes its effects. The lines for a connection in one turn
/// of the loop are one write, and the turn's units are one batch, stored on another thread.
package final class LobbyHost: @unchecked Sendable {  // state is confined to `loop`
  /// The raw value is the reason why players cannot log in.
  enum Readiness: String {
    case starting = "the server is starting"
    case ready
    case lost = "the database cannot be reached"
    case draining = "the server is stopping"
  }

  /// A connection, and the lobby's output for it in the current turn of the loop.
  private final class Outbox {
    let peer: SessionHandler
    var deliveries: [Delivery] = []

    init(_ peer: SessionHandler) { self.peer = peer }
  }

  let loop: any EventLoop
  let node: NodeID
  private let store: StoreRunner
  private let logger: Logger
  private var lobby: Lobby

  private var outboxes: [ConnectionID: Outbox] = [:]
  private var touched: [Outbox] = []
  private var timer: (due: Int64, task: Scheduled<Void>)?
  /// The administrators' orders in progress, and the number of the last order.
  private var orders: (open: [UInt64: EventLoopPromise<Bool>], last: UInt64) = ([:], 0)
  /// Callers that wait until the lobby waits for no answer of the store (`settled`), or until players can log in (`ready`).
  private var waiting: (settled: [EventLoopPromise<Void>], ready: [EventLoopPromise<Void>]) = ([], [])
  /// Whether the host ignores further inputs.
  private var isFinished = false
  private let ready = Mutex(Readiness.starting)
  let metrics = HostMetrics()
  /// The number of lines that were read and that the lobby has not handled.
  private let unhandled = Atomic(0)
  /// The number of unhandled lines above which connections pause reading: 0.4 s of work at 10,000 lines a second.
  static let mostUnhandled = 4096

  package init(loop: any EventLoop, store: any MatchStore, configuration: LobbyConfiguration, logger: Logger) {
    self.loop = loop
    self.logger = logger
    self.store = StoreRunner(store, loop: loop, metrics: metrics, logger: logger)
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    node = String((0..<12).compactMap { _ in letters.randomElement() })
    lobby = Lobby(configuration, node: node, random: .system, now: .current)
    self.store.report = { [weak self] in self?.process($0, durable: $1) }
  }

  /// Returns once players can log in, or after `seconds` at the latest: clients can then connect even if a slow store delays their logins.
  /// Clients get `address` unless the configuration has an address.
  func start(at address: String, within seconds: Int64 = 5) async throws {
    try await loop.flatSubmit {
      var configuration = self.lobby.configuration
      if configuration.address.isEmpty {
        configuration.address = address
        self.lobby = Lobby(configuration, node: self.node, random: .system, now: .current)
      }
      self.logger.notice("node", metadata: ["id": self.node])
      self.store.listen(as: self.node)
      self.watchLoop(from: DispatchTime.now().uptimeNanoseconds)
      let promise = self.loop.makePromise(of: Void.self)
      self.waiting.ready.append(promise)
      self.loop.scheduleTask(in: .seconds(seconds)) { self.reportReady(anyway: true) }
      self.reduce(.tick)
      self.endReduction()
      return promise.futureResult
    }.value()
  }

  /// Measures once a second how late a task of the loop runs.
  private func watchLoop(from last: UInt64) {
    loop.scheduleTask(in: .seconds(1)) {
      let now = DispatchTime.now().uptimeNanoseconds
      self.metrics.took(.lag, nanoseconds: now - min(now, last + 1_000_000_000))
      if !self.isFinished { self.watchLoop(from: now) }
    }
  }

  /// `nil` if players can log in. May be called from any thread.
  var whyNotReady: String? {
    let state = ready.withLock { $0 }
    if state != .ready { return state.rawValue }
    return store.refusesRequests ? "the store refuses logins or moves" : nil
  }

  /// May be called from any thread except the loop's.
  func reachesStore() async throws -> Bool { try await store.isReached().value() }

  // MARK: inputs from connections and the store

  /// Processes inputs of connections in one turn of the lobby's loop. May be called from any thread.
  func arrive(_ arrivals: [Arrival]) {
    loop.execute {
      for arrival in arrivals { self.arrive(arrival) }
      self.endReduction()
    }
  }

  /// Counts lines that a connection has read, before `arrive` gets them. May be called from any thread.
  func read(_ lines: Int) { unhandled.add(lines, ordering: .relaxed) }

  /// May be called from any thread.
  var unhandledLines: Int { unhandled.load(ordering: .relaxed) }

  private func arrive(_ arrival: Arrival) {
    switch arrival {
    case .connected(let id, let peer, let address):
      let outbox = Outbox(peer)
      guard ready.withLock({ $0 == .ready || $0 == .draining }) else {
        return deliver(.end(.restart, "the server is not ready; come back", retry: 1000), outbox)
      }
      outboxes[id] = outbox
      reduce(.connected(id, address: address))
    case .lines(let id, let lines, let roundTrip, let read):
      defer { unhandled.subtract(lines.count, ordering: .relaxed) }
      guard let outbox = outboxes[id] else { return }
      defer { outbox.peer.handled(lines.count) }
      metrics.took(.arrival, nanoseconds: DispatchTime.now().uptimeNanoseconds - read)
      for (line, at) in lines { reduce(.line(id, line, at: at, roundTrip: roundTrip)) }
    case .disconnected(let id, let clean):
      guard outboxes.removeValue(forKey: id) != nil else { return }
      reduce(.disconnected(id, clean: clean))
    case .caughtUp(let id, let missed):
      guard outboxes[id] != nil else { return }
      reduce(.caughtUp(id, missed))
    }
  }

  /// `durable`: when the verdicts among the inputs arrived, in nanoseconds; `nil` without verdicts.
  private func process(_ inputs: [LobbyInput], durable: UInt64?) {
    for input in inputs { reduce(input) }
    endReduction(durable: durable)
  }

  // MARK: inputs from the server

  /// May be called from any thread except the loop's.
  func inspect<T: Sendable>(_ body: @escaping @Sendable (Lobby) -> T) async throws -> T {
    try await loop.submit { body(self.lobby) }.value()
  }

  /// For questions that change nothing. May be called from any thread except the loop's.
  func look(_ question: StoreQuestion) async throws -> StoreAnswer {
    try await loop.flatSubmit { self.store.look(question) }.value()
  }

  /// Returns once the order is durable; `false` if there is no such player or live match. Throws if the store does not answer or the server
  /// stops. May be called from any thread except the loop's.
  func administer(_ order: Order) async throws -> Bool {
    try await loop.flatSubmit { () -> EventLoopFuture<Bool> in
      let promise = self.loop.makePromise(of: Bool.self)
      guard !self.isFinished else {
        promise.fail(StoreError.failed("the server stops"))
        return promise.futureResult
      }
      self.orders.last += 1
      self.orders.open[self.orders.last] = promise
      self.reduce(.administer(self.orders.last, order))
      self.endReduction()
      return promise.futureResult
    }.value()
  }

  /// Announces the shutdown, waits at most `seconds` until all units are stored and sent, and removes the node from the store.
  func drain(retry: Int, within seconds: Int) async throws {
    try await loop.flatSubmit {
      self.ready.withLock { $0 = .draining }
      self.reduce(.drain(retry: retry))
      let promise = self.loop.makePromise(of: Void.self)
      self.waiting.settled.append(promise)
      self.loop.scheduleTask(in: .seconds(Int64(seconds))) { self.reportQuiet(anyway: true) }
      self.endReduction()
      return promise.futureResult
    }.value()
    // From now on the lobby must send no heartbeat, which would add this node to the store again.
    try await loop.submit {
      self.reduce(.leave)
      self.endReduction()
    }.value()
    try await store.leave(node).value()
  }

  func closeAll(_ code: ByeCode, _ text: String, retry: Int) async throws {
    try await loop.submit {
      for (_, outbox) in self.outboxes.sorted(by: { $0.key < $1.key }) {
        self.deliver(.end(code, text, retry: retry), outbox)
      }
      self.endReduction()
    }.value()
  }

  /// Waits for the store's work in progress and starts no more. Call `finish` after `drain`; then close the store and shut the loop down,
  /// in this order.
  package func finish() async throws {
    try await loop.submit {
      self.isFinished = true
      self.store.stop()
      for promise in self.orders.open.values { promise.fail(StoreError.failed("the server stops")) }
      self.orders.open = [:]
      self.timer?.task.cancel()
    }.value()
    await store.finish()
  }

  // MARK: reducing and executing effects

  private func reduce(_ input: LobbyInput) {
    guard !isFinished else { return }
    let began = DispatchTime.now().uptimeNanoseconds
    let effects = lobby.reduce(input, now: .current)
    let now = DispatchTime.now().uptimeNanoseconds
    metrics.took(.decide, nanoseconds: now - began)
    for effect in effects { carryOut(effect, now) }
  }

  private func carryOut(_ effect: LobbyEffect, _ now: UInt64) {
    switch effect {
    case .send(let id, let line, let kind):
      if let outbox = outboxes[id] { deliver(.line(line, kind), outbox) }
    case .close(let id, let code, let text, let retry):
      if let outbox = outboxes[id] { deliver(.end(code, text, retry: retry), outbox) }
    case .store(let number, let unit): store.apply(number, unit, decided: now)
    case .ask(let number, let question): store.ask(number, question)
    case .publish(let nodes, let text): store.publish(nodes, text)
    case .orderCompleted(let number, let done):
      let promise = orders.open.removeValue(forKey: number)
      if let done { promise?.succeed(done) } else { promise?.fail(StoreError.failed("the store cannot be reached")) }
    case .note(let text, let fields): logger.notice(text, metadata: fields)
    }
  }

  private func deliver(_ delivery: Delivery, _ outbox: Outbox) {
    if outbox.deliveries.isEmpty { touched.append(outbox) }
    outbox.deliveries.append(delivery)
  }

  /// Sends the lobby's output of this turn of the loop. `durable`: when the store's verdicts arrived, in nanoseconds.
  private func endReduction(durable: UInt64? = nil) {
    var batches: [ObjectIdentifier: (loop: any EventLoop, all: [(peer: SessionHandler, deliveries: [Delivery])])] = [:]
    for outbox in touched {
      let loop = outbox.peer.loop
      batches[ObjectIdentifier(loop), default: (loop, [])].all.append((outbox.peer, outbox.deliveries))
      outbox.deliveries = []
    }
    touched.removeAll(keepingCapacity: true)
    for (loop, all) in batches.values {
      loop.execute {
        for (peer, deliveries) in all { peer.take(deliveries) }
        if let durable { self.metrics.took(.write, nanoseconds: DispatchTime.now().uptimeNanoseconds - durable) }
      }
    }
    setTimer()
    let isReady = lobby.isReady
    ready.withLock { now in
      switch now {
      case .draining: break
      case .starting: if isReady { now = .ready }
      case .ready, .lost: now = isReady ? .ready : .lost
      }
    }
    if isReady { reportReady() }
    reportQuiet()
  }

  private func reportReady(anyway: Bool = false) {
    if anyway, !waiting.ready.isEmpty {
      logger.warning("the store does not answer yet; players cannot log in until it does")
    }
    for promise in waiting.ready { promise.succeed() }
    waiting.ready = []
  }

  private func reportQuiet(anyway: Bool = false) {
    guard !waiting.settled.isEmpty, anyway || lobby.isSettled else { return }
    for promise in waiting.settled { promise.succeed() }
    waiting.settled = []
  }

  private func setTimer() {
    guard !isFinished, let due = lobby.nextDue, timer.map({ due < $0.due }) ?? true else { return }
    timer?.task.cancel()
    let task = loop.scheduleTask(in: .milliseconds(max(0, due - Moment.current.monotonic))) {
      self.timer = nil
      self.reduce(.tick)
      self.endReduction()
    }
    timer = (due, task)
  }
}
