import MatchProtocol
import Synchronization
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// What several nodes share, in the memory of one process: for tests and simulation. It keeps the rules of `ClusterStore`
/// to the letter, on a clock it is given.
///
/// May be used from any thread.
final class MemoryCluster: Sendable {
  struct Node {
    var record: NodeRecord
    var leaseUntil: Int64
    var reads: Int
    var hasLeft = false
  }

  struct SessionPlace {
    var generation: Int64
    var epoch: Int64?
  }

  struct State {
    var content = MemoryStore.Content()
    var nextEpoch: Int64 = 1
    var nextAccount: Int64 = 1
    var nodes: [Int64: Node] = [:]
    /// The epoch of each match.
    var epochs: [MatchID: Int64] = [:]
    var places: [String: SessionPlace] = [:]
    /// The match in the rated slot of an account.
    var slots: [Int64: MatchID] = [:]
    var now: Int64 = 0
    /// The version of the log's language in force.
    var language = 1

    func isGood(_ epoch: Int64) -> Bool { nodes[epoch].map { $0.leaseUntil > now } ?? false }
    func isLive(_ m: MatchID) -> Bool { content.matches[m].map { $0.record.ended == nil } ?? false }
  }

  private let state = Mutex(State())
  private let clock: @Sendable () -> Int64
  /// Whether writes are checked against the owner and the log. Only a test takes this out, to see that the checks notice.
  let isFenced: Bool

  /// Makes an empty cluster; `clock` is the database's, in milliseconds since 1970.
  init(isFenced: Bool = true, clock: @escaping @Sendable () -> Int64) {
    self.isFenced = isFenced
    self.clock = clock
  }

  /// A new node's view of it; a test may read less or more than this build does.
  func view(reads: Int = MatchEvent.newest) -> MemoryClusterView { MemoryClusterView(self, reads: reads) }

  /// Reads or changes everything as one transaction.
  func transact<T: Sendable>(_ body: (inout State) throws(StoreError) -> T) throws(StoreError) -> T {
    let result: Result<T, StoreError> = state.withLock { state in
      state.now = clock()
      do throws(StoreError) { return .success(try body(&state)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

extension MemoryCluster.State {
  /// Applies writes of an incarnation, all or none.
  mutating func apply(_ batch: [StoreTransaction], epoch: Int64, isFenced: Bool) throws(StoreError) {
    if isFenced {
      for write in batch.lazy.flatMap(\.writes) {
        switch write {
        case .append(let m, _, _):
          guard epochs[m] == nil || epochs[m] == epoch else { throw .conflict("match \(m) belongs to another node") }
        case .match(let record):
          guard epochs[record.id].map({ $0 == epoch }) ?? isGood(epoch) else {
            throw .conflict("match \(record.id) belongs to another node")
          }
        default: break
        }
      }
      try MemoryStore.check(batch, content)
    }
    for write in batch.lazy.flatMap(\.writes) {
      if case .match(let record) = write {
        if epochs[record.id] == nil { epochs[record.id] = epoch }
        if record.ended != nil {
          for account in [record.x, record.o] {
            if let account, slots[account] == record.id { slots[account] = nil }
          }
        }
      }
      if case .append(let m, let after, _) = write, !isFenced {
        // Without a fence whoever writes last overwrites what was there.
        let there = content.matches[m]?.events.count ?? 0
        if there > after { content.matches[m]?.events.removeLast(there - after) }
        content.matches[m]?.length = min(there, after)
      }
      MemoryStore.apply(write, &content)
    }
  }

  /// The incarnation, if its lease is good.
  func check(_ epoch: Int64) throws(StoreError) {
    guard isGood(epoch) else { throw .conflict("the lease of incarnation \(epoch) has run out") }
  }

  /// An incarnation gives its lease back, if it still has it.
  mutating func end(_ epoch: Int64) {
    guard isGood(epoch) else { return }
    nodes[epoch]?.leaseUntil = now
    nodes[epoch]?.hasLeft = true
  }

  /// What every incarnation reads that may own a match or come back; see `ClusterStore.raiseLanguage`.
  var common: Int {
    nodes.filter { epoch, node in
      node.leaseUntil > now
        || node.leaseUntil > now - MemoryClusterView.comesBack && !node.hasLeft
          && !nodes.contains { $0 > epoch && $1.record.node.name == node.record.node.name }
    }.values.map(\.reads).min() ?? language
  }

  func profile(_ id: Int64) -> Profile? {
    guard let account = content.accounts[id] else { return nil }
    let mine = content.matches.values.map(\.record).filter { $0.x == id || $0.o == id || $0.opener == id }
    let live = mine.filter { $0.ended == nil }.sorted { ($0.created, $0.id) < ($1.created, $1.id) }.map(\.id)
    let last = mine.filter { ($0.ended ?? 0) > now - 60_000 && ($0.x == id || $0.o == id) }
      .max { ($0.ended ?? 0, $0.id) < ($1.ended ?? 0, $1.id) }
    var profile = Profile(
      account: account, live: live, last: last?.id,
      blockedNames: account.blocked.prefix(50).compactMap { content.accounts[$0]?.name })
    profile.rated = slots[id].flatMap { isLive($0) ? $0 : nil }
    profile.openings = live.compactMap { content.matches[$0] }.map {
      StoredMatch(record: $0.record, events: Array($0.events.prefix(1)), length: $0.length)
    }
    return profile
  }

  func place(_ m: MatchID) -> MatchPlace? {
    guard let match = content.matches[m] else { return nil }
    let owner = epochs[m].flatMap { isGood($0) ? $0 : nil }
    return MatchPlace(m: m, owner: owner, endedAgo: match.record.ended.map { now - $0 })
  }
}
