import MatchProtocol
import MatchStore
import Synchronization

/// The reference for the other stores in `StoreConformance`, and the store of simulated worlds. May be called from any thread.
package final class MemoryStore: MatchStore {
  package let isShared: Bool
  private let content: Mutex<MemoryContent>
  private let listeners = Mutex<[NodeID: @Sendable (String?) -> Void]>([:])

  /// `shared` allows several nodes; `clock` returns milliseconds since 1970.
  package init(shared: Bool = false, clock: @escaping @Sendable () -> Int64 = { Moment.current.wall }) {
    isShared = shared
    content = Mutex(MemoryContent(isShared: shared, clock: clock))
  }

  package func apply(_ units: [StoreUnit]) -> [Verdict] {
    content.withLock { content in units.map { content.apply($0) } }
  }

  package func answer(_ questions: [StoreQuestion]) -> [Result<StoreAnswer, StoreError>] {
    content.withLock { content in
      questions.map { question in
        do throws(StoreError) { return .success(try content.answer(question)) } catch { return .failure(error) }
      }
    }
  }

  package func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void) {
    listeners.withLock { $0[node] = heard }
  }

  package func publish(_ notifications: [(node: NodeID, text: String)]) {
    for notification in notifications { listeners.withLock { $0[notification.node] }?(notification.text) }
  }

  package func requestComparison() throws(StoreError) {
    for heard in listeners.withLock({ Array($0.values) }) { heard(nil) }
  }

  package func accounts() throws(StoreError) -> [AccountRecord] {
    content.withLock { $0.accounts.values.sorted { $0.id < $1.id } }
  }

  package func add(_ accounts: [AccountRecord]) throws(StoreError) {
    try content.withLock { content throws(StoreError) in
      var (ids, names): (Set<Int64>, Set<String>) = ([], [])
      for account in accounts {
        let name = account.name.lowercased()
        guard ids.insert(account.id).inserted, content.accounts[account.id] == nil else {
          throw .failed("account \(account.id) is there")
        }
        guard names.insert(name).inserted, content.names[name] == nil else {
          throw .failed("the name \(account.name) is taken")
        }
      }
      for var account in accounts {
        account.version = 0
        content.put(account)
      }
    }
  }

  /// Overwrites accounts with earlier versions, as after a failover to a standby that lacks the last changes.
  package func overwrite(_ accounts: [AccountRecord]) {
    content.withLock { content in for account in accounts { content.put(account) } }
  }

  package func matchIDs() throws(StoreError) -> [MatchID] { content.withLock { $0.matches.keys.sorted() } }

  /// O(matches).
  package func prune(olderThan age: Int64) throws(StoreError) -> Int {
    try content.withLock { (content) throws(StoreError) in try content.prune(olderThan: age) }
  }

  /// Has no effect: another server in the process may continue with the content.
  package func close() {}
}
