import Foundation
import MatchProtocol
import MatchStore
import ServerTestSupport
import Synchronization

/// A store in memory that, when a test asks for it, fails as if its disk were full, loses the outcome of changes, or stalls.
final class TroubledStore: MatchStore {
  enum Trouble: Sendable {
    case full
    /// The outcome of a change is unknown; every second change is stored, the others are dropped.
    case unknown
  }

  let inner = MemoryStore()
  let trouble = Mutex<Trouble?>(nil)
  let isHeld = Mutex(false)
  let isHistoryHeld = Mutex(false)
  /// The number of running calls that change the store.
  let running = Mutex(0)
  private let turns = Mutex(0)
  private let waits = DispatchSemaphore(value: 0)

  /// Returns once a call waits in `hold`.
  func waitUntilHeld() { waits.wait() }

  private func hold(_ isHeld: borrowing Mutex<Bool>) {
    if isHeld.withLock({ $0 }) { waits.signal() }
    while isHeld.withLock({ $0 }) { usleep(1000) }
  }

  private var isDone: Bool {
    turns.withLock { turns in
      turns += 1
      return turns % 2 == 0
    }
  }

  func apply(_ units: [StoreUnit]) -> [Verdict] {
    running.withLock { $0 += 1 }
    defer { running.withLock { $0 -= 1 } }
    hold(isHeld)
    switch trouble.withLock({ $0 }) {
    case .full?: return units.map { _ in .failed("the disk is full") }
    case .unknown?:
      return units.map { unit in
        if isDone { _ = inner.apply([unit]) }
        return .unknown("the connection is lost")
      }
    case nil: return inner.apply(units)
    }
  }

  func answer(_ questions: [StoreQuestion]) -> [Result<StoreAnswer, StoreError>] {
    let changes = questions.contains { $0.changes && !$0.isUpkeep }
    if changes { running.withLock { $0 += 1 } }
    defer { if changes { running.withLock { $0 -= 1 } } }
    if changes { hold(isHeld) }
    if questions.contains(where: { if case .history = $0 { true } else { false } }) { hold(isHistoryHeld) }
    switch changes ? trouble.withLock({ $0 }) : nil {
    case .full?: return questions.map { _ in .failure(.failed("the disk is full")) }
    case .unknown?:
      return questions.map { question in
        if isDone { _ = inner.answer([question]) }
        return .failure(.unknown("the connection is lost"))
      }
    case nil: return inner.answer(questions)
    }
  }

  func accounts() throws(StoreError) -> [AccountRecord] { try inner.accounts() }
  func add(_ accounts: [AccountRecord]) throws(StoreError) { try inner.add(accounts) }
  func matchIDs() throws(StoreError) -> [MatchID] { try inner.matchIDs() }
  func prune(olderThan age: Int64) throws(StoreError) -> Int { try inner.prune(olderThan: age) }
  func close() { inner.close() }
}

extension StoreQuestion {
  /// Whether nodes repeat the question by themselves: no client notices a failure, and tests do not wait for the question.
  fileprivate var isUpkeep: Bool {
    switch self {
    case .heartbeat, .adoptOrphans, .compare, .clean, .follow: true
    default: false
    }
  }
}
