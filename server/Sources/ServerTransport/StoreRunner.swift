import Dispatch
import Lobby
import MatchStore
import NIOCore
import Synchronization

/// Executes the lobby's store requests on other threads and reports the results on the lobby's loop. Calls must come from this loop, unless
/// a function says otherwise.
final class StoreRunner: @unchecked Sendable {  // state is confined to `loop`
  private typealias Unit = (number: UInt64, unit: StoreUnit, decided: UInt64)

  /// `asked`: when the lobby asked the question, in nanoseconds.
  private typealias Question = (number: UInt64, question: StoreQuestion, asked: UInt64)

  /// Questions that are asked in batches: those that wait for the next batch, and whether a batch is being answered.
  private struct BatchQueue {
    var waiting: [Question] = []
    var isAsking = false
  }

  /// A shared store has a queue for each lane. Any other store has one queue, `nil`, for questions that change it, which share a commit.
  private typealias QueueName = StoreLane?

  private let loop: any EventLoop
  private let store: any MatchStore
  private let metrics: HostMetrics
  private let logger: Logger
  /// Receives the store's results. `durable`: when the verdicts among them arrived, in nanoseconds.
  var report: ([LobbyInput], _ durable: UInt64?) -> Void = { _, _ in }

  /// Runs units, and the questions that change an unshared store, which has a single writer.
  private let writes = DispatchQueue(label: "alina.store", qos: .userInitiated)
  private let questions = DispatchQueue(label: "alina.questions", qos: .userInitiated, attributes: .concurrent)
  /// Reads histories one at a time, so that logins and moves do not wait for them.
  private let histories = DispatchQueue(label: "alina.histories", qos: .utility)
  private let probes = DispatchQueue(label: "alina.probes", qos: .utility, attributes: .concurrent)

  /// The most questions outside of lanes that a shared store answers at the same time.
  private static let mostAtOnce = 4
  private static let mostTogether = 256

  private var units: [Unit] = []
  private var isStoring = false
  private var queues: [QueueName: BatchQueue] = [:]
  /// Questions that wait until fewer than `mostAtOnce` are in progress.
  private var waiting = CircularBuffer<Question>()
  private var askedNow = 0
  private var isTurnEnding = false
  /// The monotonic times, in milliseconds, of the first and last failure of the store; `nil` while the store works.
  private var trouble: (since: Int64, last: Int64)?
  private var isFinished = false
  /// Counted apart: if a part of the database file is damaged, only logins or only units may fail.
  private let refusals = Mutex((logins: RefusalCount(), units: RefusalCount()))
  private let heard = Mutex<[String?]>([])

  init(_ store: any MatchStore, loop: any EventLoop, metrics: HostMetrics, logger: Logger) {
    (self.store, self.loop, self.metrics, self.logger) = (store, loop, metrics, logger)
  }

  // MARK: units

  /// `decided`: when the lobby decided the unit, in nanoseconds.
  func apply(_ number: UInt64, _ unit: StoreUnit, decided: UInt64) {
    units.append((number, unit, decided))
    endTurn()
  }

  /// Waits for the end of the loop's turn, so that all units of the turn share a commit.
  private func endTurn() {
    guard !isTurnEnding else { return }
    isTurnEnding = true
    loop.execute {
      self.isTurnEnding = false
      self.applyUnits()
      for name in self.queues.keys { self.askTogether(name) }
    }
  }

  private func applyUnits() {
    guard !isStoring, !units.isEmpty, !isFinished else { return }
    let batch = units
    units = []
    isStoring = true
    let began = DispatchTime.now().uptimeNanoseconds
    work(on: writes) {
      self.store.apply(batch.map(\.unit))
    } then: { verdicts in
      let now = DispatchTime.now().uptimeNanoseconds
      self.metrics.stored(verdicts, nanoseconds: now - began)
      self.isStoring = false
      // Store the next batch while the verdicts on this batch are reported.
      self.applyUnits()
      if verdicts.contains(where: \.isStored) {
        self.refusals.withLock { $0.units.requestSucceeded() }
      } else if !verdicts.allSatisfy(\.isConflict) {
        self.refusals.withLock { $0.units.requestFailed(at: Moment.currentMonotonic) }
      }
      for (unit, verdict) in zip(batch, verdicts) {
        switch verdict {
        case .applied: self.metrics.took(.durable, nanoseconds: now - unit.decided)
        case .conflict: break
        case .unknown(let why): self.complain("the outcome of a commit is unknown; its log is read", why)
        case .failed(let why): self.complain("the store refused a write", why)
        }
      }
      self.report(zip(batch, verdicts).map { .verdict($0.number, $1) }, now)
    }
  }

  // MARK: questions

  func ask(_ number: UInt64, _ question: StoreQuestion) {
    let asked = (number, question, DispatchTime.now().uptimeNanoseconds)
    if case .history = question { return answer([asked], on: histories) }
    switch (store.isShared, question.changes) {
    case (false, true): join(nil, asked)
    case (false, false): answer([asked], on: questions)
    case (true, _):
      if let lane = question.lane { return join(lane, asked) }
      // A heartbeat does not queue behind logins: without it the other nodes consider this one dead.
      if case .heartbeat = question { waiting.prepend(asked) } else { waiting.append(asked) }
      askMore()
    }
  }

  private func join(_ name: QueueName, _ question: Question) {
    queues[name, default: BatchQueue()].waiting.append(question)
    endTurn()
  }

  private func askTogether(_ name: QueueName) {
    guard let queue = queues[name], !queue.isAsking, !queue.waiting.isEmpty else { return }
    let some = queue.waiting.prefix(StoreRunner.mostTogether)
    queues[name] = BatchQueue(waiting: Array(queue.waiting.dropFirst(some.count)), isAsking: true)
    answer(Array(some), on: name == nil ? writes : questions) {
      self.queues[name]?.isAsking = false
      self.askTogether(name)
    }
  }

  private func askMore() {
    while askedNow < StoreRunner.mostAtOnce, !waiting.isEmpty {
      askedNow += 1
      answer([waiting.removeFirst()], on: questions) {
        self.askedNow -= 1
        self.askMore()
      }
    }
  }

  /// Once the answers have arrived, calls `first` before they are reported.
  private func answer(_ batch: [Question], on queue: DispatchQueue, first: @escaping () -> Void = {}) {
    guard !isFinished else { return }
    work(on: queue) {
      let now = DispatchTime.now().uptimeNanoseconds
      for question in batch { self.metrics.took(.question, nanoseconds: now - question.asked) }
      return self.store.answer(batch.map(\.question)).map { $0.map(\.summarized) }
    } then: { results in
      first()
      self.report(
        zip(batch, results).map { asked, result in
          switch result {
          case .success(let answer):
            if case .login = answer { self.refusals.withLock { $0.logins.requestSucceeded() } }
            if case .differences(let found) = answer { self.metrics.found(found) }
            if case .heartbeat = asked.question {
              self.countHeartbeat(succeeded: true)
              self.seeWhetherTroubleIsOver()
            }
            return .answer(asked.number, answer)
          case .failure(let error):
            if case .login = asked.question {
              self.refusals.withLock { $0.logins.requestFailed(at: Moment.currentMonotonic) }
            }
            if case .heartbeat = asked.question { self.countHeartbeat(succeeded: false) }
            self.complain("the store did not answer", "\(error)")
            return .answer(asked.number, nil)
          }
        }, nil)
    }
  }

  /// `body` may block; `then` runs on the loop.
  private func work<T: Sendable>(on queue: DispatchQueue, _ body: @escaping () -> T, then: @escaping (T) -> Void) {
    nonisolated(unsafe) let (body, then) = (body, then)
    queue.async {
      let result = body()
      self.loop.execute { then(result) }
    }
  }

  /// Logs only the first failure until the store has recovered, since all questions fail meanwhile.
  private func complain(_ text: String, _ error: String) {
    let now = Moment.current.monotonic
    if trouble == nil { logger.warning(text, metadata: ["error": error]) }
    trouble = (trouble?.since ?? now, now)
  }

  /// Logs the recovery, two seconds after the last failure at the earliest: a full disk accepts some writes.
  private func seeWhetherTroubleIsOver() {
    guard let (since, last) = trouble, Moment.current.monotonic - last > 2000 else { return }
    trouble = nil
    logger.notice("the store answers again", metadata: ["seconds": "\((last - since) / 1000)"])
  }

  /// For an administrator's question, which waits in line with history pages.
  func look(_ question: StoreQuestion) -> EventLoopFuture<StoreAnswer> {
    let promise = loop.makePromise(of: StoreAnswer.self)
    histories.async {
      do throws(StoreError) { promise.succeed(try self.store.answer(question)) } catch { promise.fail(error) }
    }
    return promise.futureResult
  }

  // MARK: other nodes

  func listen(as node: NodeID) {
    store.listen(as: node) { told in
      let text = told.map { self.notification($0) }
      // Schedule one task for all notifications that arrive before the lobby processes them.
      let isFirst = self.heard.withLock { heard in
        heard.append(text)
        return heard.count == 1
      }
      guard isFirst else { return }
      self.loop.execute {
        let texts = self.heard.withLock { heard in
          defer { heard = [] }
          return heard
        }
        self.report(texts.map { .notification($0) }, nil)
      }
    }
  }

  func publish(_ nodes: [NodeID], _ text: String) {
    metrics.countPublished(nodes.count)
    let told = "\(Moment.current.wall) \(text)"
    store.publish(nodes.map { ($0, told) })
  }

  /// Strips the sending time and records the notification's age by the wall clocks of both nodes.
  private func notification(_ told: String) -> String {
    let parts = told.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let at = Int64(parts[0]) else { return told }
    // Any role with access to the database can notify: do not record implausible times.
    let now = Moment.current.wall
    if (now - 3_600_000...now + 3_600_000).contains(at) {
      metrics.took(.notification, nanoseconds: UInt64(max(0, now - at)) * 1_000_000)
    }
    return String(parts[1])
  }

  private func countHeartbeat(succeeded: Bool) {
    refusals.withLock {
      $0.logins.heartbeatEnded(succeeded: succeeded)
      $0.units.heartbeatEnded(succeeded: succeeded)
    }
  }

  /// Whether the store answers heartbeats but refuses logins or moves. May be called from any thread.
  var refusesRequests: Bool {
    let now = Moment.currentMonotonic
    return refusals.withLock { $0.logins.isRefused(at: now) || $0.units.isRefused(at: now) }
  }

  /// Whether the store answers within 800 ms and refuses neither logins nor moves. May be called from any thread.
  func isReached() -> EventLoopFuture<Bool> {
    guard !refusesRequests else { return loop.makeSucceededFuture(false) }
    let answered = loop.makePromise(of: Bool.self)
    loop.scheduleTask(in: .milliseconds(800)) { answered.succeed(false) }
    probes.async {
      do throws(StoreError) {
        try self.store.ping()
        answered.succeed(true)
      } catch { answered.succeed(false) }
    }
    return answered.futureResult
  }

  /// Removes the node from the store; waits at most 500 ms for the answer.
  func leave(_ node: NodeID) -> EventLoopFuture<Void> {
    let left = loop.makePromise(of: Void.self)
    loop.scheduleTask(in: .milliseconds(500)) { left.succeed() }
    questions.async {
      do throws(StoreError) { _ = try self.store.answer(.leave(node)) } catch {
        self.logger.warning(
          "the other nodes were not told that this node ends; they notice it by its missing heartbeats",
          metadata: ["error": "\(error)"])
      }
      left.succeed()
    }
    return left.futureResult
  }

  func stop() {
    isFinished = true
    (units, queues, waiting) = ([], [:], [])
  }

  /// Waits for work in progress. May be called from any thread except the loop's.
  func finish() async {
    for queue in [writes, questions, histories, probes] {
      await withCheckedContinuation { done in queue.async(flags: .barrier) { done.resume() } }
    }
  }
}

extension Verdict {
  fileprivate var isStored: Bool { if case .applied = self { true } else { false } }
  fileprivate var isConflict: Bool { if case .conflict = self { true } else { false } }
}
