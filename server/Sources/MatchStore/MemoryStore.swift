import MatchProtocol
import Synchronization

/// A store that forgets everything when the process ends: for tests, simulation and as the yardstick of the load table.
///
/// May be called from any thread.
package final class MemoryStore: MatchStore {
  struct Content {
    var accounts: [Int64: AccountRecord] = [:]
    var names: [String: Int64] = [:]
    var sessions: [String: SessionRecord] = [:]
    var matches: [MatchID: StoredMatch] = [:]
  }

  private let content = Mutex(Content())

  package init() {}

  /// Applies a batch, all or nothing; O(batch).
  package func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    let result: Result<Void, StoreError> = content.withLock { content in
      do throws(StoreError) {
        try MemoryStore.check(batch, content)
      } catch { return .failure(error) }
      for transaction in batch { for write in transaction.writes { MemoryStore.apply(write, &content) } }
      return .success(())
    }
    try result.get()
  }

  /// Looks a batch over before anything is changed, so that the common case copies nothing.
  static func check(_ batch: [StoreTransaction], _ content: Content) throws(StoreError) {
    var fresh: [MatchID: Int] = [:]
    var names: [String: Int64] = [:]
    for write in batch.lazy.flatMap(\.writes) {
      switch write {
      case .account(let account):
        let name = account.name.lowercased()
        if let holder = names[name] ?? content.names[name], holder != account.id {
          throw .conflict("the name \(account.name) is taken")
        }
        names[name] = account.id
      case .append(let m, let after, let events):
        let length = (content.matches[m]?.length ?? 0) + fresh[m, default: 0]
        guard length == after, events.first.map({ $0.seq == after + 1 }) ?? true else { throw .broken([m]) }
        fresh[m, default: 0] += events.count
      case .score(let score):
        // An account that is made in the same batch is not there yet; whoever names one that is nowhere has a bug.
        guard content.accounts[score.account] != nil || names.values.contains(score.account) else {
          throw .conflict("there is no account \(score.account)")
        }
      case .match, .session, .deleteSession, .deleteAccount: break
      }
    }
  }

  static func apply(_ write: StoreWrite, _ content: inout Content) {
    switch write {
    case .account(let account):
      if let old = content.accounts[account.id] { content.names[old.name.lowercased()] = nil }
      content.accounts[account.id] = account
      content.names[account.name.lowercased()] = account.id
    case .score(let score): content.accounts[score.account]?.add(score)
    case .deleteAccount(let id):
      if let old = content.accounts.removeValue(forKey: id) { content.names[old.name.lowercased()] = nil }
      content.sessions = content.sessions.filter { $0.value.account != id }
    case .session(let session): content.sessions[session.id] = session
    case .deleteSession(let id): content.sessions[id] = nil
    case .match(let record):
      content.matches[record.id, default: StoredMatch(record: record, events: [])].record = record
    case .append(let m, _, let events):
      let empty = StoredMatch(record: MatchRecord(id: m, x: nil, o: nil, created: 0), events: [])
      content.matches[m, default: empty].events += events
      content.matches[m]?.length += events.count
    }
  }

  /// Everything but finished matches, in a fixed order.
  package func recover() throws(StoreError) -> Recovery { content.withLock { $0.recovery } }

  /// One match; O(1).
  package func match(_ id: MatchID) throws(StoreError) -> StoredMatch? { content.withLock { $0.matches[id] } }

  /// Finished matches, latest first; O(matches).
  package func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    content.withLock { $0.history(of: account, before: before, limit: limit) }
  }

  /// Every match id, in order.
  package func matchIDs() throws(StoreError) -> [MatchID] { content.withLock { $0.matches.keys.sorted() } }

  /// Drops old matches; O(matches).
  package func prune(before: Int64) throws(StoreError) -> Int { content.withLock { $0.prune(before: before) } }

  /// Does nothing: memory has no other side.
  package func reopen() throws(StoreError) {}
  /// Does nothing.
  package func close() {}
}

extension MemoryStore.Content {
  /// Everything but finished matches, in a fixed order.
  var recovery: Recovery {
    var recovery = Recovery()
    recovery.accounts = accounts.values.sorted { $0.id < $1.id }
    let seats = matches.values.flatMap { [$0.record.x, $0.record.o, $0.record.opener] }
    recovery.lastAccount = max(accounts.keys.max() ?? 0, seats.compactMap { $0 }.max() ?? 0)
    recovery.sessions = sessions.values.sorted { $0.id < $1.id }
    recovery.matches = matches.values.filter { $0.record.ended == nil }.sorted { $0.record.id < $1.record.id }
    return recovery
  }

  /// Finished matches of an account, latest first.
  func history(of account: Int64, before: Int64, limit: Int) -> [StoredMatch] {
    let mine = matches.values.filter {
      ($0.record.x == account || $0.record.o == account) && ($0.record.ended ?? .max) < before
    }
    let latest = mine.sorted {
      ($0.record.ended ?? 0, $0.record.id.rawValue) > ($1.record.ended ?? 0, $1.record.id.rawValue)
    }
    let last = latest.prefix(limit).last?.record.ended ?? 0
    return latest.enumerated().prefix { $0.offset < limit || $0.element.record.ended == last }.map(\.element)
  }

  /// Drops matches that ended before a time; returns how many.
  mutating func prune(before: Int64) -> Int {
    let old = matches.filter { ($0.value.record.ended ?? .max) < before }
    for id in old.keys { matches[id] = nil }
    return old.count
  }
}
