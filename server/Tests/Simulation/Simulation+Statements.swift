import Base
import MatchProtocol

@testable import Lobby
@testable import MatchStore

/// Statements from nodes to the store: some are lost, executed without an answer, or executed after the node has given up.
extension Simulation {
  private enum Fate {
    /// The statement was not sent, and the node is told so.
    case failed
    case lost, done, doneLater
  }

  func cannotReachStore(_ i: Int) -> Bool { isStoreDown || nodes[i].isCutFromStore }

  /// `nil` if the statement is answered.
  private mutating func fate(_ i: Int, oneIn seldom: Int) -> Fate? {
    guard cannotReachStore(i) || !isCalm && options.crashes && random.below(seldom) == 0 else { return nil }
    trouble(i)
    return [.failed, .lost, .done, .doneLater][random.below(options.isShared ? 4 : 3)]
  }

  /// Whether a statement of node `i` is lost, because the process that sent it (`life`) has ended.
  private mutating func isLost(_ i: Int, _ life: Int) -> Bool {
    life != nodes[i].life && (random.below(2) == 0 || !options.isShared && nodes[i].lobby != nil)
  }

  // MARK: units

  mutating func sendUnits(_ i: Int) {
    guard !nodes[i].isCommitting, !nodes[i].waiting.isEmpty else { return }
    nodes[i].isCommitting = true
    queue.set(.flush(i, life: nodes[i].life), at: now + Int64(random.below(3)))
  }

  mutating func flush(_ i: Int) {
    let batch = nodes[i].waiting
    nodes[i].waiting = []
    if cannotReachStore(i) {
      trouble(i)
      hear(i, batch.map { ($0.0, .failed("the store cannot be reached")) }, within: 1000)
    } else {
      queue.set(
        .units(i, batch, life: nodes[i].life), at: now + Int64(random.below(random.below(50) == 0 ? 500 : 9)))
      if !options.waitsForVerdict {
        for (number, _) in batch { reduce(i, .verdict(number, .applied([:]))) }
      }
    }
    // The worst moment to suspend a node: the store handles the batch, and the node learns the verdicts only when it resumes.
    if nodes[i].stopsAtCommit { stopForLong(i) }
  }

  mutating func arrive(_ i: Int, _ batch: [(UInt64, StoreUnit)], _ life: Int) {
    // A batch of an ended process is lost (`isLost`), or is stored below although no process gets the verdicts.
    if isLost(i, life) { return }
    let isDead = life != nodes[i].life
    guard let fate = isDead ? .lost : fate(i, oneIn: 50) else {
      return hear(i, batch.map { ($0.0, store.apply($0.1, now: now)) }, within: random.below(30) == 0 ? 400 : 5)
    }
    let cut = random.below(batch.count + 1)
    var verdicts: [(UInt64, Verdict)] = []
    for (n, (number, unit)) in batch.enumerated() {
      if n < cut {
        let verdict = store.apply(unit, now: now)
        verdicts.append((number, fate == .failed ? verdict : .unknown("the connection was lost")))
      } else {
        if fate == .done { _ = store.apply(unit, now: now) }
        if fate == .doneLater { queue.set(.lateUnit(unit), at: now + Int64(random.below(3000))) }
        verdicts.append(
          (number, fate == .failed ? .failed("the connection was lost") : .unknown("the connection was lost")))
      }
    }
    if isDead { return }
    count("unknown")
    hear(i, verdicts, within: 1000)
  }

  private mutating func hear(_ i: Int, _ verdicts: [(UInt64, Verdict)], within: Int) {
    var verdicts = verdicts
    for (n, (number, verdict)) in verdicts.enumerated() {
      switch verdict {
      case .conflict: count("conflict")
      case .unknown: if !options.isToldOfUnknown { verdicts[n] = (number, .applied([:])) }
      case .applied, .failed: break
      }
    }
    if !options.waitsForVerdict { verdicts = [] }
    queue.set(.verdicts(i, verdicts, life: nodes[i].life), at: now + 1 + Int64(random.below(within)))
  }

  // MARK: questions

  mutating func ask(_ i: Int, _ number: UInt64, _ question: StoreQuestion) {
    let life = nodes[i].life
    guard !cannotReachStore(i) else {
      trouble(i)
      return queue.set(.answer(i, number, nil, life: life), at: now + 1 + Int64(random.below(1000)))
    }
    queue.set(.question(i, number, question, life: life), at: now + Int64(random.below(5)))
  }

  mutating func arrive(_ i: Int, _ number: UInt64, _ question: StoreQuestion, _ life: Int) {
    if isLost(i, life) { return }
    let isDead = life != nodes[i].life
    var (answer, within): (StoreAnswer?, Int) = (nil, 1000)
    switch isDead ? .done : fate(i, oneIn: 400) {
    case .failed, .lost: break
    case .done: _ = store.answer(question)
    case .doneLater: queue.set(.lateQuestion(question), at: now + Int64(random.below(3000)))
    case nil:
      within = random.below(30) == 0 ? 400 : 5
      if !options.registersFirst, case .follow(let m, _) = question {
        // Without `registersFirst` the store reads the match before it registers the node as a follower.
        if case .match(let found)? = store.answer(.match(m)) { answer = .match(found) }
        queue.set(.lateQuestion(question), at: now + 1 + Int64(random.below(400)))
      } else {
        answer = store.answer(question)
      }
    }
    if isDead { return }
    queue.set(.answer(i, number, answer, life: life), at: now + 1 + Int64(random.below(within)))
  }
}
