import MatchProtocol

/// Where accounts, sessions, tickets and match logs are kept; one contract for memory, SQLite and PostgreSQL.
///
/// Units go in, and a verdict for each comes out. Questions have answers. Nothing else changes a store. Calls block; `apply` comes from one
/// thread at a time, everything else from any. `StoreConformance` in the tests holds every store to these rules.
package protocol MatchStore: AnyObject, Sendable {
  /// Stores units, each all or nothing, as if one after the other. What is `applied` survives a power cut. A store that
  /// has lost its file or connection opens it again by itself at the next call.
  func apply(_ units: [StoreUnit]) -> [Verdict]

  /// Answers questions, as if one after the other. What a question changes is all or nothing, and durable when it is answered. After
  /// `.failed` nothing was done; after another error it was done, or not, or will be later.
  func answer(_ questions: [StoreQuestion]) -> [Result<StoreAnswer, StoreError>]

  /// Whether several nodes can use it at once. If not, whoever has it open is alone: every other node is dead.
  var isShared: Bool { get }

  // Hints: texts from node to node, which may be lost, doubled or late.

  /// Hears what other nodes tell this one from now on, on any thread; `nil` says that something may have been missed.
  func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void)
  /// Tells other nodes something; at most `hintBytes` bytes each. Does not wait until it is said.
  func tell(_ hints: [(node: NodeID, text: String)])

  /// Has every node compare what it has in memory with the store: something else than a node has changed it.
  func requestComparison() throws(StoreError)

  // Tools.

  /// Every account, by id.
  func accounts() throws(StoreError) -> [AccountRecord]
  /// Adds accounts under the numbers they have, all or none; throws `.failed` if a number or name is taken.
  func add(_ accounts: [AccountRecord]) throws(StoreError)
  /// Every match id, in order.
  func matchIDs() throws(StoreError) -> [MatchID]
  /// Drops logs of matches that ended before a time, some at a time; returns how many.
  func prune(before: Int64) throws(StoreError) -> Int
  /// Throws unless the store can be reached now.
  func ping() throws(StoreError)
  /// Closes the file or the connections; further calls fail. A store in memory has nothing to close.
  func close()
}

extension MatchStore {
  /// The longest hint, in bytes of UTF-8: what PostgreSQL's NOTIFY takes.
  package static var hintBytes: Int { 7_900 }

  // A store that only this process uses has nobody to tell, and is always there.
  package var isShared: Bool { false }
  package func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void) {}
  package func tell(_ hints: [(node: NodeID, text: String)]) {}
  package func requestComparison() throws(StoreError) {}
  package func ping() throws(StoreError) {}

  /// The answer to one question.
  package func answer(_ question: StoreQuestion) throws(StoreError) -> StoreAnswer {
    guard let result = answer([question]).first else { throw .unknown("no answer") }
    return try result.get()
  }

  /// One match with its log, over or not.
  package func match(_ m: MatchID) throws(StoreError) -> StoredMatch? {
    if case .match(let found) = try answer(.match(m)) { found?.match } else { nil }
  }
}

extension StoreQuestion {
  /// Rows of a kind that one `clean` deletes: units and logins wait for it, 20 ms in a file (November 2026).
  package static let cleanedAtOnce = 1000

  /// Whether it may change something.
  package var changes: Bool {
    switch self {
    case .match, .code, .live, .history, .profile, .accounts, .top, .players, .reports, .tickets: false
    case .beat, .leave, .sweep, .compare, .clean, .follow, .enter, .settle, .detach, .change, .report, .queue,
      .unqueue:
      true
    }
  }
}

/// Questions that a store which several nodes use answers together: many of them cost it little more than one.
package enum StoreLane: Sendable, Hashable {
  case follow(NodeID)
  case queue
}

extension StoreQuestion {
  /// Those of one lane may be asked at once, in any order.
  package var lane: StoreLane? {
    switch self {
    case .follow(_, let node): .follow(node)
    case .queue: .queue
    default: nil
    }
  }
}

package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing was done, nor will be: the store cannot be reached, has no room, or met others too often.
  case failed(String)
  /// It was done, or not, or will be later.
  case unknown(String)
  /// The store was written by a newer program that this build cannot read.
  case tooNew(String)
  /// The store cannot be opened or is damaged.
  case unusable(String)

  package var description: String {
    switch self {
    case .unknown(let what): "it may or may not have been done: \(what)"
    case .failed(let what), .tooNew(let what), .unusable(let what): what
    }
  }

  /// What it says of a unit.
  package var verdict: Verdict {
    if case .unknown(let what) = self { .unknown(what) } else { .failed(description) }
  }

  /// What it means to somebody who only opens or reads a store.
  package func reading(_ place: String) -> StoreError {
    if case .tooNew = self { self } else { .unusable("\(place): \(self)") }
  }
}
