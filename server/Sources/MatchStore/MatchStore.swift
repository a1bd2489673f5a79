import MatchProtocol

/// Durable storage of accounts, sessions, tickets and match logs; one contract for SQLite and PostgreSQL.
///
/// A node changes the store with units, each of which gets a verdict, and with those questions that also write
/// (`StoreQuestion.changes`); every question gets an answer. All calls block. `apply` is called by one thread at a time, every other
/// function by any number of threads. `StoreConformance` in the tests checks each store against these rules.
package protocol MatchStore: AnyObject, Sendable {
  /// Stores units one after the other, each all or nothing. An `applied` unit survives a power cut. A store that has
  /// lost its file or connection reopens it at the next call.
  func apply(_ units: [StoreUnit]) -> [Verdict]

  /// Answers questions one after the other. The changes of one question are all or nothing, and durable before the answer. After the error
  /// `.failed` nothing was changed. After any other error the change was made, or not, or will be made later.
  func answer(_ questions: [StoreQuestion]) -> [Result<StoreAnswer, StoreError>]

  /// Whether several nodes can use the store at the same time. If not, the node that has the store open is the only living node.
  var isShared: Bool { get }

  // Notifications: texts sent from node to node, which may be lost, repeated or late.

  /// From now on, calls `heard` on any thread with each notification for a node; with `nil` if some notifications may have been lost.
  func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void)
  /// Sends notifications of at most `longestNotification` bytes to other nodes. Does not wait for their delivery.
  func publish(_ notifications: [(node: NodeID, text: String)])

  /// Makes every node compare its memory with the store, after a program other than a node has changed the store.
  func requestComparison() throws(StoreError)

  // MARK: tools

  /// Every account, by id.
  func accounts() throws(StoreError) -> [AccountRecord]
  /// Adds accounts with their ids, all or none; throws `.failed` if an id or name is taken.
  func add(_ accounts: [AccountRecord]) throws(StoreError)
  /// The ids of all matches, sorted.
  func matchIDs() throws(StoreError) -> [MatchID]
  /// Deletes the matches that ended before a time (in milliseconds since 1970) with their logs, in several transactions. Returns the number
  /// of deleted matches.
  func prune(before: Int64) throws(StoreError) -> Int
  /// Throws unless the store is reachable now.
  func ping() throws(StoreError)
  /// Closes the file or the connections; further calls fail.
  func close()
}

extension MatchStore {

  // Defaults for a store that only one process uses: there are no other nodes, and the store is always reachable.
  package var isShared: Bool { false }
  package func listen(as node: NodeID, heard: @escaping @Sendable (String?) -> Void) {}
  package func publish(_ notifications: [(node: NodeID, text: String)]) {}
  package func requestComparison() throws(StoreError) {}
  package func ping() throws(StoreError) {}

  /// The answer to one question.
  package func answer(_ question: StoreQuestion) throws(StoreError) -> StoreAnswer {
    guard let result = answer([question]).first else { throw .unknown("no answer") }
    return try result.get()
  }

  /// A match with its log, live or finished.
  package func match(_ m: MatchID) throws(StoreError) -> StoredMatch? {
    if case .match(let found) = try answer(.match(m)) { found?.match } else { nil }
  }
}

extension StoreQuestion {
  /// The most rows of a kind that one `clean` deletes. Units and logins wait until it ends: 20 ms with SQLite (November 2026).
  package static let cleanedAtOnce = 1000

  /// The node that asks the question; `nil` for a question that does not name its node.
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

  /// Whether the question may change the store.
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

/// The kinds of questions of which a shared store answers many in one batch, for little more than the cost of a single question.
package enum StoreLane: Sendable, Hashable {
  case follow(NodeID)
  case queue
}

extension StoreQuestion {
  /// The lane in which a shared store answers the question in a batch with others; `nil` if it has none. Questions of one lane may be
  /// answered at the same time and in any order.
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

  /// The verdict on a unit, if storing the unit threw this error.
  package var verdict: Verdict {
    if case .unknown(let what) = self { .unknown(what) } else { .failed(description) }
  }

  /// This error for a program that only opens or reads the store at `place`: `tooNew` stays as it is, any other error becomes `unusable`,
  /// with the place in its text.
  package func reading(_ place: String) -> StoreError {
    if case .tooNew = self { self } else { .unusable("\(place): \(self)") }
  }
}

/// The longest notification in bytes of UTF-8: PostgreSQL's NOTIFY takes less than 8,000.
package let longestNotification = 7_900
