import MatchProtocol

/// Durable storage of accounts, sessions, tickets and match logs, in SQLite or PostgreSQL. `StoreConformance` in the tests checks both.
///
/// All calls block. Only one thread at a time may call `apply`; any number of threads may call the other functions.
package protocol MatchStore: AnyObject, Sendable {
  /// Stores units one after the other, each all or nothing. An `applied` unit survives a power cut. If the file or the connection was lost,
  /// the next call opens another.
  func apply(_ units: [StoreUnit]) -> [Verdict]

  /// Answers questions one after the other. The changes of one question are all or nothing, and durable before the answer.
  func answer(_ questions: [StoreQuestion]) -> [Result<StoreAnswer, StoreError>]

  /// Whether several nodes can use the store at the same time.
  var isShared: Bool { get }

  /// Calls `heard` on any thread with each notification for the node, and with `nil` if notifications may have been lost.
  func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void)
  /// Sends notifications without waiting for their delivery. Each has at most `longestNotification` bytes.
  func publish(_ notifications: [(node: NodeID, text: String)])

  /// Makes every node compare its memory with the store, after a program other than a node has changed the store.
  func requestComparison() throws(StoreError)

  // MARK: tools

  /// All accounts, sorted by id.
  func accounts() throws(StoreError) -> [AccountRecord]
  /// Adds accounts with their ids, all or none; throws `.failed` if an id or name is taken.
  func add(_ accounts: [AccountRecord]) throws(StoreError)
  /// The ids of all matches, sorted.
  func matchIDs() throws(StoreError) -> [MatchID]
  /// Deletes some of the matches that ended more than `age` milliseconds ago by the store's clock, so few that a unit does not wait long.
  /// Returns their number, which is 0 once none is left. Throws `clockIsDoubtful` if there are such matches, but no `Pruning.evidence`.
  func prune(olderThan age: Int64) throws(StoreError) -> Int
  /// Throws unless the store is reachable now.
  func ping() throws(StoreError)
  func close()
}

extension MatchStore {
  // Defaults for a store that only one process uses.
  package var isShared: Bool { false }
  package func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void) {}
  package func publish(_ notifications: [(node: NodeID, text: String)]) {}
  package func requestComparison() throws(StoreError) {}
  package func ping() throws(StoreError) {}

  package func answer(_ question: StoreQuestion) throws(StoreError) -> StoreAnswer {
    guard let result = answer([question]).first else { throw .unknown("no answer") }
    return try result.get()
  }

  package func match(_ m: MatchID) throws(StoreError) -> StoredMatch? {
    if case .match(let found) = try answer(.match(m)) { found?.match } else { nil }
  }
}

extension StoreQuestion {
  /// The most rows of a kind that one `clean` deletes. Units and logins wait until the deletion ends: 20 ms with SQLite (November 2026).
  package static let cleanedAtOnce = 1000

  package var node: NodeID? {
    switch self {
    case .heartbeat(let node, _), .leave(let node), .adoptOrphans(let node, _), .compare(let node, _),
      .follow(_, let node),
      .login(_, let node):
      node
    case .queue(let ticket, _): ticket.node
    default: nil
    }
  }

  package var changes: Bool {
    switch self {
    case .match, .code, .live, .history, .profile, .accounts, .top, .players, .reports, .tickets, .tournament: false
    case .heartbeat, .leave, .adoptOrphans, .compare, .clean, .follow, .login, .settle, .detach, .change, .report,
      .queue,
      .unqueue, .host, .changeTournament:
      true
    }
  }
}

/// The kinds of questions that a shared store answers in batches, because a batch costs little more than a single question.
package enum StoreLane: Sendable, Hashable {
  case follow(NodeID)
  case queue
}

extension StoreQuestion {
  /// `nil` for questions that are not batched. Questions of one lane may be answered at the same time and in any order.
  package var lane: StoreLane? {
    switch self {
    case .follow(_, let node): .follow(node)
    case .queue: .queue
    default: nil
    }
  }
}

package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing was changed, nor will be: the store is unreachable, full, or gave up after repeated conflicts.
  case failed(String)
  /// The outcome is unknown: the change was made, or not, or will be made later.
  case unknown(String)
  /// A newer program wrote the store, and this build cannot read it.
  case tooNew(String)
  /// The store cannot be opened or is damaged.
  case unusable(String)

  package var description: String {
    switch self {
    case .unknown(let what): "it may or may not have been done: \(what)"
    case .failed(let what), .tooNew(let what), .unusable(let what): what
    }
  }

  package var verdict: Verdict {
    if case .unknown(let what) = self { .unknown(what) } else { .failed(description) }
  }

  /// Replaces any error other than `tooNew` by `unusable`, with the store's place in the text.
  package func reading(_ place: String) -> StoreError {
    if case .tooNew = self { self } else { .unusable("\(place): \(self)") }
  }
}

/// The longest notification in bytes of UTF-8: PostgreSQL's NOTIFY takes less than 8,000.
package let longestNotification = 7_900
