import MatchProtocol

package enum StoreWrite: Sendable, Hashable {
  /// Adds or replaces an account.
  case account(AccountRecord)
  /// Adds results to an account that must be there.
  case score(AccountScore)
  /// Forgets an account and its sessions; its name stays in the logs of its matches.
  case deleteAccount(Int64)
  /// Adds or replaces a session.
  case session(SessionRecord)
  case deleteSession(String)
  /// Adds or replaces what is kept of a match beside its log.
  case match(MatchRecord)
  /// Adds to a log that must have exactly `after` events now.
  case append(MatchID, after: Int, [StoredEvent])
}

extension StoreWrite {
  package var account: Int64? {
    switch self {
    case .account(let account): account.id
    case .score(let score): score.account
    default: nil
    }
  }

  package var match: MatchID? {
    switch self {
    case .match(let record): record.id
    case .append(let m, _, _): m
    default: nil
    }
  }
}

/// Changes that become durable together or not at all.
package struct StoreTransaction: Sendable, Hashable {
  /// Its number, by which the lobby recognises it; consecutive.
  package var number: UInt64
  /// The changes, in order.
  package var writes: [StoreWrite]

  package init(number: UInt64, writes: [StoreWrite]) {
    self.number = number
    self.writes = writes
  }
}

package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A match belongs to another node, an account is gone, or a name came twice: a bug, or a second writer. Nothing of the batch
  /// was stored.
  case conflict(String)
  /// The logs of these matches are not as expected. Nothing of the batch was stored; without them it can be.
  case broken(Set<MatchID>)
  /// It met another transaction that came first. Nothing was stored, and the same may be stored now.
  case contended(String)
  /// Whether the batch is stored is not known; open the store anew and read.
  case unknownOutcome(String)
  /// The store was written by a newer program that this build cannot read.
  case tooNew(String)
  /// The store cannot be opened, read or is damaged.
  case unusable(String)

  /// Whether nothing was stored for a reason other than who owns a match.
  package var isRefusal: Bool {
    switch self {
    case .unusable, .broken, .contended: true
    case .conflict, .unknownOutcome, .tooNew: false
    }
  }

  /// One sentence.
  package var description: String {
    switch self {
    case .conflict(let what): "conflict in the store: \(what)"
    case .broken(let matches):
      "the logs of these matches are not as expected: \(matches.sorted().map(\.rawValue).joined(separator: ", "))"
    case .unknownOutcome(let what): "it may or may not have been stored: \(what)"
    case .tooNew(let what), .unusable(let what), .contended(let what): what
    }
  }

  /// What it means to somebody who only opens or reads a store.
  package func reading(_ place: String) -> StoreError {
    if case .tooNew = self { self } else { .unusable("\(place): \(self)") }
  }
}

/// What a server starts from.
package struct Recovery: Sendable {
  /// The highest account number in use, be it only by a match of an account that is forgotten; 0 if none.
  package var lastAccount: Int64 = 0
  package var accounts: [AccountRecord] = []
  package var sessions: [SessionRecord] = []
  /// Every match that is not over, with its log.
  package var matches: [StoredMatch] = []

  package init() {}

  /// Throws `.tooNew` if a match that is not over holds an event of a newer build's: a server that cannot fold it could
  /// neither play it on nor end it. O(events).
  package func check() throws(StoreError) {
    for match in matches {
      for event in match.events {
        do throws(ProtocolError) { _ = try MatchEvent(body: event.body) } catch {
          guard case .unknownEvent = error else { continue }
          throw .tooNew("match \(match.record.id), event \(event.seq): \(error.message)")
        }
      }
    }
  }
}

/// Where accounts, sessions and match logs are kept. Calls block; each store says from which threads they may come.
///
/// `MatchStoreConformance` in the tests holds every store to these rules.
package protocol MatchStore: AnyObject, Sendable {
  /// Stores transactions in order, all or none; when it returns they survive a power cut. After `broken`, `conflict` and
  /// `contended` nothing of the batch is stored. After any error but `broken` the store must be opened anew.
  func commit(_ batch: [StoreTransaction]) throws(StoreError)
  /// Reads everything a server needs to go on.
  func recover() throws(StoreError) -> Recovery
  /// Reads one match, over or not.
  func match(_ id: MatchID) throws(StoreError) -> StoredMatch?
  /// Reads the finished matches of an account, latest first, that ended before a time: `limit` of them, and whatever ended in the
  /// same millisecond as the last one, so that the next page can begin before that.
  func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch]
  /// Every match id, in order, for export and checking.
  func matchIDs() throws(StoreError) -> [MatchID]
  /// Drops logs of matches that ended before a time; returns how many.
  func prune(before: Int64) throws(StoreError) -> Int
  /// Throws unless the store can be reached now.
  func ping() throws(StoreError)
  /// Opens the store again after an unknown outcome.
  func reopen() throws(StoreError)
  /// Closes it; further calls throw.
  func close()
}

extension MatchStore {
  /// A store in this process is always there.
  package func ping() throws(StoreError) {}

  /// Removes what identifies a player, as an administrator's order does, and returns the name that the player had; `nil` if
  /// nobody has it. Matches of the player go on.
  package func forget(_ name: String, now: Int64) throws(StoreError) -> String? {
    let recovery = try recover()
    guard var account = recovery.accounts.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      return nil
    }
    let before = account.name
    _ = account.apply(.forget, now: now) { (_) -> Int64? in nil }
    let sessions = recovery.sessions.filter { $0.account == account.id }.map { StoreWrite.deleteSession($0.id) }
    try commit([StoreTransaction(number: 1, writes: [.account(account)] + sessions)])
    return before
  }
}
