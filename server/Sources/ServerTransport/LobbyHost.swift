// Past 500 lines in one file: connections, commits and the cluster work on the same private state of one event loop.
import Dispatch
import Foundation
import Lobby
import MatchProtocol
import MatchStore
import NIOCore
import Synchronization
import TicTacToe

/// Runs the lobby on one event loop: hands it what happens, carries out what it wants, and commits in groups.
///
/// All state but `isReady` belongs to that loop; calls marked so may only be made there. Commits run on a thread of
/// their own, so that a slow disk never delays a line that needs none.
package final class LobbyHost: @unchecked Sendable {  // state is confined to `loop`, which each call checks
  private enum Readiness {
    case starting, ready, draining
  }

  /// What the host needs of a connection; all calls may come from any thread.
  protocol Peer: AnyObject {
    /// Whether lines were delivered since the last `flush`; the host's own mark, on its loop.
    var isTouched: Bool { get set }
    /// Queues a line; `flush` follows.
    func deliver(_ line: [UInt8], _ kind: LineKind)
    /// Writes out what was queued.
    func flush()
    /// Says `bye` and closes; `node` is where the client should go.
    func end(_ code: ByeCode, _ text: String, retry: Int?, node: String?)
  }

  let loop: any EventLoop
  private let store: any MatchStore
  private let logger: Logger
  private let configuration: LobbyConfiguration
  private let commits = DispatchQueue(label: "alina.store", qos: .userInitiated)
  private let reads = DispatchQueue(label: "alina.reads", qos: .utility, attributes: .concurrent)
  /// Pages of what is over: one at a time, so that nobody's login or move waits for them.
  private let histories = DispatchQueue(label: "alina.histories", qos: .utility)
  private let probes = DispatchQueue(label: "alina.probes", qos: .utility, attributes: .concurrent)

  private var lobby: Lobby
  private var peers: [ConnectionID: any Peer] = [:]
  private var touched: [any Peer] = []
  private var waiting: [StoreTransaction] = []
  private var isCommitting = false
  private var isFlushScheduled = false
  /// When the strongest players of all nodes were asked for, and who they are.
  private var best: [Variant: (at: Int64, players: EventLoopFuture<[AccountRecord]>)] = [:]
  /// Who waits until a transaction is durable.
  private var awaiting: [(number: UInt64, promise: EventLoopPromise<Void>)] = []
  private var timer: Scheduled<Void>?
  private var timerDue = Int64.max
  private var generation = 0
  /// Milliseconds until the store is opened anew after the next commit that fails; more each time, until one succeeds.
  private var reopenWait: Int64 = 100
  /// Whether the lobby is one that failed, until the next one is there: it must not do anything any more, above all not renew the
  /// lease of the incarnation that is being begun.
  private var isDown = false
  /// Whether the server ends: the store is used no more.
  private var isFinished = false
  /// Why this node could not join when it was last tried.
  private var refusal: String?
  private var quiet: [EventLoopPromise<Void>] = []
  private var published: (@Sendable (MatchState) -> Void)?
  private let ready = Mutex(Readiness.starting)
  let metrics = HostMetrics()
  /// In-memory stores commit on the loop: there is nothing to wait for.
  private let isInstant: Bool
  /// What makes it a node of a cluster, if it is one.
  private var seat: NodeSeat?
  /// Whether something does.
  let isNode: Bool
  private let leases = DispatchQueue(label: "alina.lease", qos: .userInteractive)
  /// What the cluster refuses this node with: it can never join again, and the process should end.
  package let refusals: AsyncStream<StoreError>
  private let refused: AsyncStream<StoreError>.Continuation

  /// Starts from what the store holds.
  package init(
    loop: any EventLoop, store: any MatchStore, configuration: LobbyConfiguration, logger: Logger
  ) throws(StoreError) {
    self.loop = loop
    self.store = store
    self.logger = logger
    self.configuration = configuration
    (refusals, refused) = AsyncStream.makeStream()
    (isInstant, isNode) = (store is MemoryStore, false)
    let recovery = try store.recover()
    try recovery.check()
    lobby = Lobby(configuration, recovery: recovery, random: .system, now: .current)
  }

  /// Starts as a node of a cluster; it owns nothing before it has joined.
  package init(loop: any EventLoop, seat: NodeSeat, configuration: LobbyConfiguration, logger: Logger) {
    self.loop = loop
    store = seat.store
    self.logger = logger
    self.configuration = configuration
    (refusals, refused) = AsyncStream.makeStream()
    (isInstant, isNode) = (false, true)
    self.seat = seat
    lobby = Lobby(configuration, recovery: Recovery(), random: .system, now: .current)
  }

  /// Opens what is needed before connections are taken; throws if the node port cannot be had.
  func open() async throws {
    guard let seat = try await loop.submit({ self.seat }).value() else { return }
    let port = try await seat.port.listen(for: self)
    try await loop.submit { self.seat?.listens(at: port) }.value()
  }

  /// Begins, being reached by clients at an address: carries out what recovery wants, or joins the cluster.
  func start(at address: String) {
    watchLoop(from: DispatchTime.now().uptimeNanoseconds)
    loop.execute {
      if self.seat != nil {
        self.seat?.isReached(at: address)
        return self.join(after: 0)
      }
      self.ready.withLock { $0 = .ready }
      self.reduce(.tick)
    }
  }

  /// Measures each second how late the loop is.
  private func watchLoop(from last: UInt64) {
    loop.scheduleTask(in: .seconds(1)) {
      let now = DispatchTime.now().uptimeNanoseconds
      self.metrics.late(nanoseconds: now - min(now, last + 1_000_000_000))
      if !self.isFinished { self.watchLoop(from: now) }
    }
  }

  /// Whether commands can be taken: the store works and is not overwhelmed. May be called from any thread.
  package var isReady: Bool { ready.withLock { $0 == .ready } }

  /// Whether the store can be reached: it answers within 800 ms. May be called from any thread but the loop's.
  func reachesStore() async throws -> Bool {
    let answered = loop.makePromise(of: Bool.self)
    loop.scheduleTask(in: .milliseconds(800)) { answered.succeed(false) }
    probes.async {
      do throws(StoreError) {
        try self.store.ping()
        answered.succeed(true)
      } catch { answered.succeed(false) }
    }
    return try await answered.futureResult.value()
  }

  /// Calls back with every public match that changes, on the lobby's loop.
  func onPublish(_ body: @escaping @Sendable (MatchState) -> Void) { loop.execute { self.published = body } }

  // MARK: from the connections, on the loop

  func connected(_ id: ConnectionID, _ peer: any Peer, address: String?) {
    loop.preconditionInEventLoop()
    guard ready.withLock({ $0 != .starting }) else {
      return peer.end(.restart, "the server is recovering; come back", retry: 1000, node: nil)
    }
    peers[id] = peer
    reduce(.connected(id, address: address))
  }

  func receive(_ id: ConnectionID, _ lines: [(line: ClientLine, at: Int64)], roundTrip: Int) {
    loop.preconditionInEventLoop()
    guard peers[id] != nil else { return }
    for (line, at) in lines { reduce(.line(id, line, at: at, roundTrip: roundTrip), thenFlush: false) }
    flushPeers()
  }

  func disconnected(_ id: ConnectionID, clean: Bool) {
    loop.preconditionInEventLoop()
    guard peers.removeValue(forKey: id) != nil else { return }
    reduce(.disconnected(id, clean: clean))
  }

  func caughtUp(_ id: ConnectionID, _ missed: [MatchID]) {
    loop.preconditionInEventLoop()
    reduce(.caughtUp(id, missed))
  }

  // MARK: from elsewhere

  /// Reads the lobby on its loop. May be called from any thread but the loop's.
  func inspect<T: Sendable>(_ body: @escaping @Sendable (Lobby) -> T) async throws -> T {
    try await loop.submit { body(self.lobby) }.value()
  }

  /// The strongest players of a game on all nodes, as of some seconds ago. May be called from any thread but the loop's.
  func leaders(_ rules: Variant, limit: Int) async throws -> [AccountRecord] {
    try await loop.flatSubmit { () -> EventLoopFuture<[AccountRecord]> in
      guard let seat = self.seat else { return self.loop.makeSucceededFuture(self.lobby.leaders(rules, limit: limit)) }
      let now = Moment.current.steady
      if let best = self.best[rules], now - best.at < 5000 { return best.players }
      let promise = self.loop.makePromise(of: [AccountRecord].self)
      self.best[rules] = (now, promise.futureResult)
      self.histories.async {
        do throws(StoreError) { promise.succeed(try seat.store.top(rules, limit: limit)) } catch {
          promise.fail(error)
        }
      }
      return promise.futureResult
    }.value()
  }

  /// Carries out an administrator's order and returns once it holds; `false` if there is no such player. May be called
  /// from any thread but the loop's.
  func administer(_ name: String, _ order: Administration) async throws -> Bool {
    if let seat = try await loop.submit({ self.seat }).value() { return try await administer(name, order, seat) }
    return try await decide(.administer(name: name, order)) { $0.knows(player: name) }
  }

  /// Has the lobby decide something if it can, and returns whether it could once all that is decided is durable; throws if
  /// that never becomes known, or if the lobby is one that failed.
  private func decide(_ input: LobbyInput, if canBe: @escaping @Sendable (Lobby) -> Bool) async throws -> Bool {
    try await loop.flatSubmit { () -> EventLoopFuture<Bool> in
      if !self.isDown, !canBe(self.lobby) { return self.loop.makeSucceededFuture(false) }
      self.reduce(input)
      guard !self.isDown else {
        return self.loop.makeFailedFuture(StoreError.unusable("the store is being opened anew; try again in a moment"))
      }
      guard !self.lobby.isDurable(self.lobby.lastIssued) else { return self.loop.makeSucceededFuture(true) }
      let promise = self.loop.makePromise(of: Void.self)
      self.awaiting.append((self.lobby.lastIssued, promise))
      return promise.futureResult.map { true }
    }.value()
  }

  /// Sets a match aside; `false` if it is not a live one of this server's. May be called from any thread but the loop's.
  func setAside(_ m: MatchID) async throws -> Bool {
    try await decide(.setAside(m)) { $0.isPlayed(m) }
  }

  /// Tells everybody that the server stops, and returns when everything decided is stored and sent, or after some seconds:
  /// a disk that hangs holds nothing up but what it was given.
  func drain(retry: Int, within seconds: Int) async throws {
    try await loop.flatSubmit {
      self.ready.withLock { $0 = .draining }
      self.reduce(.drain(retry: retry))
      let promise = self.loop.makePromise(of: Void.self)
      self.quiet.append(promise)
      self.reportQuiet()
      self.loop.scheduleTask(in: .seconds(Int64(seconds))) { self.reportQuiet(anyway: true) }
      return promise.futureResult
    }.value()
    try await leave()
  }

  /// Ends every connection with `bye`.
  func closeAll(_ code: ByeCode, _ text: String, retry: Int) async throws {
    try await loop.submit {
      for id in self.peers.keys.sorted() { self.peers[id]?.end(code, text, retry: retry, node: nil) }
    }.value()
  }

  /// Ends the work on the store after `drain`: what is being done there is waited for, and nothing is begun any more. Only then may
  /// the store be closed and the loop end, which nobody may give work to after that.
  package func finish() async throws {
    try await loop.submit {
      (self.isFinished, self.isDown) = (true, true)
      self.generation += 1
      self.waiting = []
    }.value()
    for queue in [commits, reads, histories, leases, probes] {
      await withCheckedContinuation { done in queue.async(flags: .barrier) { done.resume() } }
    }
  }

  // MARK: reduce and carry out

  private func reduce(_ input: LobbyInput, thenFlush: Bool = true) {
    guard !isDown else { return }
    let began = DispatchTime.now().uptimeNanoseconds
    let effects = lobby.reduce(input, now: .current)
    metrics.decided(nanoseconds: DispatchTime.now().uptimeNanoseconds - began)
    for effect in effects { carryOut(effect) }
    setTimer()
    if thenFlush { flushPeers() }
    if !quiet.isEmpty { reportQuiet() }
  }

  private func carryOut(_ effect: LobbyEffect) {
    switch effect {
    case .send(let id, let line, let kind):
      guard let peer = peers[id] else { return }
      peer.deliver(line, kind)
      guard !peer.isTouched else { return }
      peer.isTouched = true
      touched.append(peer)
    case .close(let id, let code, let text, let retry, let node): peers[id]?.end(code, text, retry: retry, node: node)
    case .commit(let transaction):
      waiting.append(transaction)
      scheduleCommit()
    case .load(let m):
      read { store throws(StoreError) in
        try store.match(m)
      } then: {
        .loaded(m, $0 ?? nil)
      }
    case .history(let id, let re, let account, let before):
      let limit = 20
      read(on: histories) { store throws(StoreError) in
        try store.history(of: account, before: before, limit: limit)
      } then: { found in
        .history(id, re: re, found, more: found.flatMap { $0.count >= limit ? $0.last?.record.ended : nil })
      }
    case .publish(let m):
      if let published, let state = lobby.publicMatch(m) { published(state) }
    case .cluster(let effect): carryOut(effect)
    case .note(let text, let fields):
      logger.notice("\(text)", metadata: fields)
    }
  }

  private func flushPeers() {
    for peer in touched {
      peer.isTouched = false
      peer.flush()
    }
    touched.removeAll(keepingCapacity: true)
  }

  private func reportQuiet(anyway: Bool = false) {
    // A lobby that failed has nothing left to store: nobody was told what it could not.
    guard anyway || isDown || (lobby.isSettled && waiting.isEmpty && !isCommitting) else { return }
    for promise in quiet { promise.succeed() }
    quiet = []
  }

  private func setTimer() {
    guard let due = lobby.nextDue, due < timerDue || timer == nil else { return }
    timer?.cancel()
    timerDue = due
    let wait = max(0, due - Moment.current.steady)
    timer = loop.scheduleTask(in: .milliseconds(wait)) {
      self.timer = nil
      self.timerDue = .max
      self.reduce(.tick)
    }
  }

  // MARK: the store

  /// Commits what is waiting once the current turn of the loop is over, so that everything decided in it shares a sync.
  private func scheduleCommit() {
    guard !isCommitting, !isFlushScheduled else { return }
    isFlushScheduled = true
    loop.execute {
      self.isFlushScheduled = false
      self.commitWaiting()
    }
  }

  private func commitWaiting() {
    guard !isCommitting, !waiting.isEmpty else { return }
    let batch = waiting
    waiting = []
    commit(batch)
  }

  /// Stores a batch, and tells the lobby.
  private func commit(_ batch: [StoreTransaction]) {
    if isInstant {
      let result: Result<Void, StoreError>
      do throws(StoreError) { result = .success(try store.commit(batch)) } catch { result = .failure(error) }
      return committed(batch, result)
    }
    isCommitting = true
    let generation = generation
    let began = DispatchTime.now().uptimeNanoseconds
    commits.async {
      let result: Result<Void, StoreError>
      do throws(StoreError) { result = .success(try self.store.commit(batch)) } catch { result = .failure(error) }
      self.loop.execute {
        guard generation == self.generation else { return }
        self.isCommitting = false
        self.metrics.committed(batch.count, nanoseconds: DispatchTime.now().uptimeNanoseconds - began)
        self.committed(batch, result)
      }
    }
  }

  private func committed(_ batch: [StoreTransaction], _ result: Result<Void, StoreError>) {
    guard let last = batch.last else { return }
    switch result {
    case .success:
      reopenWait = 100
      // The disk goes on with what has come meanwhile, while what is durable now is told.
      commitWaiting()
      reduce(.durable(last.number))
      let done = awaiting.prefix { lobby.isDurable($0.number) }
      awaiting.removeFirst(done.count)
      for (_, promise) in done { promise.succeed() }
      reportQuiet()
    case .failure(.broken(let matches)):
      logger.error("a log in the store is not as expected", metadata: ["m": "\(matches.sorted())"])
      let isBroken = { (transaction: StoreTransaction) in
        transaction.writes.contains { $0.match.map(matches.contains) ?? false }
      }
      let refused = batch.filter(isBroken)
      guard !refused.isEmpty else { return failed(.broken(matches)) }
      // Its number becomes durable all the same, behind what is left of the batch.
      var rest = batch.filter { !isBroken($0) }
      if rest.last?.number != last.number { rest.append(StoreTransaction(number: last.number, writes: [])) }
      reduce(.broken(matches, refused))
      commit(rest)
    case .failure(let error): failed(error)
    }
  }

  private func read<T: Sendable>(
    on queue: DispatchQueue? = nil, _ body: @escaping @Sendable (any MatchStore) throws(StoreError) -> T,
    then: @escaping @Sendable (T?) -> LobbyInput
  ) {
    let generation = generation
    (queue ?? reads).async {
      let value: T?
      do throws(StoreError) {
        value = try body(self.store)
      } catch {
        self.logger.error("cannot read from the store", metadata: ["error": "\(error)"])
        value = nil
      }
      self.loop.execute { if generation == self.generation { self.reduce(then(value)) } }
    }
  }

  /// A commit failed, and what the disk holds is not known. Nobody is answered either way: every connection is ended,
  /// the store is opened anew and read, and the clients come back and send again what was not answered.
  private func failed(_ error: StoreError) {
    logger.critical("a commit failed; starting over from the store", metadata: ["error": "\(error)"])
    // A server that is stopping stays so: what it could not store, nobody was told.
    ready.withLock { $0 = $0 == .draining ? .draining : .starting }
    generation += 1
    isDown = true
    isCommitting = false
    waiting = []
    for (_, promise) in awaiting { promise.fail(error) }
    awaiting = []
    metrics.failed()
    seat?.port.closeLinks()
    // In a cluster another node may be better off already: go there at once.
    let retry = seat == nil ? 500 : 50
    for id in peers.keys.sorted() {
      peers[id]?.end(
        .restart, "the server starts over; come back and send again what was not answered", retry: retry, node: nil)
    }
    peers = [:]
    touched = []
    reportQuiet()
    guard seat == nil else { return join(after: 50) }
    reopen(after: reopenWait)
    reopenWait = min(reopenWait * 2, 5000)
  }

  private func reopen(after milliseconds: Int64) {
    loop.scheduleTask(in: .milliseconds(milliseconds)) {
      guard !self.isFinished else { return }
      self.commits.async {
        let result: Result<Recovery, StoreError>
        do throws(StoreError) {
          try self.store.reopen()
          result = .success(try self.store.recover())
        } catch { result = .failure(error) }
        self.loop.execute {
          guard !self.isFinished else { return }
          switch result {
          case .success(let recovery):
            self.lobby = Lobby(self.configuration, recovery: recovery, random: .system, now: .current)
            self.isDown = false
            self.ready.withLock { $0 = $0 == .draining ? .draining : .ready }
            self.logger.notice("started over", metadata: ["matches": "\(recovery.matches.count)"])
            self.reduce(.tick)
          case .failure(let error):
            self.logger.critical("the store cannot be opened; trying again", metadata: ["error": "\(error)"])
            self.reopen(after: min(milliseconds * 2, 1000))
          }
        }
      }
    }
  }
}

// MARK: as a node of a cluster

extension LobbyHost {
  var epoch: Int64? { seat?.epoch }

  /// Joins the cluster as a new incarnation, as often as it takes.
  private func join(after milliseconds: Int64) {
    guard let seat else { return }
    let generation = generation
    loop.scheduleTask(in: .milliseconds(milliseconds)) {
      // Whoever failed since tries by himself.
      guard generation == self.generation else { return }
      self.commits.async {
        let asked = Moment.current.steady
        let result: Result<Int64, StoreError>
        do throws(StoreError) {
          if seat.epoch != nil { try seat.store.reopen() }
          result = .success(
            try seat.store.join(seat.description, lease: self.configuration.lease, replacing: seat.epoch))
        } catch { result = .failure(error) }
        self.loop.execute {
          guard generation == self.generation else { return }
          switch result {
          case .success(let epoch):
            self.seat?.epoch = epoch
            self.lobby = Lobby(self.configuration, epoch: epoch, joined: asked, random: .system, now: .current)
            (self.isDown, self.refusal) = (false, nil)
            self.ready.withLock { $0 = $0 == .draining ? .draining : .ready }
            self.logger.notice(
              "joined the cluster", metadata: ["node": "\(seat.description.name)", "epoch": "\(epoch)"])
            self.reduce(.tick)
          case .failure(let error):
            if case .tooNew = error {
              self.refused.yield(error)
              return self.refused.finish()
            }
            // Once for each reason: it is tried five times a second.
            let reason = "\(error)"
            self.logger.log(
              level: reason == self.refusal ? .debug : .warning, "cannot join the cluster yet",
              metadata: ["error": "\(reason)"])
            self.refusal = reason
            self.join(after: min(max(50, milliseconds * 2), 200))
          }
        }
      }
    }
  }

  /// Gives everything away: the others may take this node's matches from now on.
  private func leave() async throws {
    guard let seat = try await loop.submit({ self.seat }).value() else { return }
    let left = loop.makePromise(of: Void.self)
    leases.async {
      do throws(StoreError) { try seat.store.leave() } catch {
        self.logger.warning("the lease could not be given back; it ends by itself", metadata: ["error": "\(error)"])
      }
      left.succeed()
    }
    try await left.futureResult.value()
    try await loop.submit {
      for node in self.lobby.otherNodes { seat.port.send(.hint, to: node, from: seat.epoch ?? 0) }
      self.reduce(.cluster(.left))
    }.value()
  }

  /// Stores an administrator's order, and lets all nodes know; `false` if there is no such player.
  private func administer(_ name: String, _ order: Administration, _ seat: NodeSeat) async throws -> Bool {
    let stored = loop.makePromise(of: ChangeResult.self)
    reads.async {
      do throws(StoreError) { stored.succeed(try seat.store.change(.name(name), order.change)) } catch {
        stored.fail(error)
      }
    }
    guard case .changed(let account, _) = try await stored.futureResult.value() else { return false }
    try await loop.submit {
      self.logger.notice("administered", metadata: ["name": "\(name)", "order": "\(order.rawValue)"])
      self.reduce(.cluster(.refreshed(account: account.id)))
      self.carryOut(.refresh(account: account.id))
    }.value()
    return true
  }

  private func carryOut(_ effect: ClusterEffect) {
    switch effect {
    case .ask(let number, let question): ask(number, question)
    case .attach(let epoch, let id, let attachment): tell(epoch, .attach(id, attachment))
    case .relay(let epoch, let id, let work, let m, let roundTrip):
      tell(epoch, .work(id, work.aged(at: Moment.current.steady), m, roundTrip: roundTrip))
    case .detach(let epoch, let id, let clean): tell(epoch, .detach(id, clean: clean))
    case .hint(let epoch): tell(epoch, .hint)
    case .evict(let epoch, let session, let generation):
      tell(epoch, .evict(session: session, generation: generation))
    case .refresh(let account): for node in lobby.otherNodes { tell(node.epoch, .refresh(account: account)) }
    case .notHere(let id, let work, let m, let home):
      peers[id]?.tellHolder { .notHere($0, work.aged(at: Moment.current.steady), m, at: home) }
    case .here(let id, let m, let ticket): peers[id]?.tellHolder { .here($0, m, ticket: ticket) }
    case .played(let id, let account): peers[id]?.tellHolder { .played($0, account) }
    case .startOver(let why):
      let generation = generation
      // Not in the middle of what is being carried out.
      loop.execute { if generation == self.generation { self.failed(.conflict(why)) } }
    }
  }

  private func tell(_ epoch: Int64, _ frame: NodeFrame) {
    guard let seat, let own = seat.epoch else { return }
    if let node = lobby.otherNodes.first(where: { $0.epoch == epoch }) {
      seat.port.send(frame, to: node, from: own)
    } else {
      // It was not among those with a good lease when that was asked last.
      loop.execute { self.reduce(.cluster(.linkLost(epoch, heard: Moment.current.steady))) }
    }
  }

  private func ask(_ number: UInt64, _ question: ClusterQuestion) {
    guard let seat else { return }
    let (generation, epoch) = (generation, seat.epoch)
    var queue = reads
    if case .renew = question { queue = leases }
    queue.async {
      let result = $asking.withValue(epoch) { () -> Result<ClusterAnswer, StoreError> in
        do throws(StoreError) { return .success(try seat.store.answer(question)) } catch { return .failure(error) }
      }
      self.loop.execute {
        guard generation == self.generation else { return }
        switch result {
        case .success(let answer): self.reduce(.cluster(.answer(number, answer)))
        case .failure(let error):
          self.logger.warning("cannot ask the store", metadata: ["error": "\(error)"])
          // What was refused, or never sent, is known not to have been done.
          if question.mustBeKnown, !error.isRefusal {
            self.failed(error)
          } else {
            self.reduce(.cluster(.answer(number, nil)))
          }
        }
      }
    }
  }

  // MARK: from the node port, on the loop

  /// Something another node said that is not about a connection it holds.
  func hear(_ input: ClusterInput) {
    loop.preconditionInEventLoop()
    reduce(.cluster(input))
  }

  func attached(_ epoch: Int64, _ id: ConnectionID, _ peer: any Peer, _ attachment: Attachment) {
    loop.preconditionInEventLoop()
    peers[id] = peer
    reduce(.cluster(.attached(epoch, id, attachment)))
  }

  func linkLost(_ epoch: Int64, heard: Int64) {
    loop.preconditionInEventLoop()
    reduce(.cluster(.linkLost(epoch, heard: heard)))
  }

  /// What the owner of a match said to somebody whose connection is here.
  func answered(_ frame: NodeFrame, by epoch: Int64) {
    loop.preconditionInEventLoop()
    switch frame {
    case .send(let id, let kind, let line):
      guard let peer = peers[id] else { return }
      peer.deliver(line, kind)
      flushSoon(peer)
    case .end(let id, let code, let text, let retry): peers[id]?.end(code, text, retry: retry, node: nil)
    case .notHere(let id, let work, let m, let home):
      reduce(.cluster(.notHere(epoch, id, work.aged(at: Moment.current.steady), m, at: home)))
    case .here(let id, let m, let ticket): reduce(.cluster(.here(epoch, id, m, ticket: ticket)))
    case .played(let id, let account): reduce(.cluster(.played(id, account)))
    default: break
    }
  }

  private func flushSoon(_ peer: any Peer) {
    guard !peer.isTouched else { return }
    peer.isTouched = true
    let isFirst = touched.isEmpty
    touched.append(peer)
    if isFirst { loop.execute { self.flushPeers() } }
  }
}

/// What makes a server a node of a cluster.
package struct NodeSeat: Sendable {
  let store: any ClusterStore
  let port: NodePort
  /// What it says of itself; addresses that are empty become those that are listened on.
  private(set) var description: NodeDescription
  /// The incarnation, once it has joined.
  var epoch: Int64?

  package init(store: any ClusterStore, port: NodePort, description: NodeDescription) {
    (self.store, self.port, self.description) = (store, port, description)
  }

  mutating func listens(at port: Int) {
    if let colon = description.peer.lastIndex(of: ":"), description.peer[colon...] == ":0" {
      description.peer = description.peer[..<colon] + ":\(port)"
    }
  }

  mutating func isReached(at address: String) {
    if description.address.isEmpty { description.address = address }
  }
}
