import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// A request of a connection.
enum Request: Sendable {
  /// A line of the client, decoded at a steady time.
  case line(ClientLine, at: Int64)
  /// Subscribe to a match and send its state. If the match is new to the player, `paired` is sent in answer to `re`.
  case follow(MatchID, re: String?, isNew: Bool)
  /// Send the code of a room, in answer to `re`.
  case room(MatchID, re: String?)
  /// Send the state of a match to a spectator whose connection was too slow for its events.
  case caughtUp(MatchID)
  /// The same request, after the match has been read again.
  indirect case afterReading(Request)

  /// Whether the request asks for the state of a match.
  var isLook: Bool {
    switch self {
    case .line(let line, _): if case .sync = line.message { true } else { false }
    case .follow: true
    case .room, .caughtUp: false
    case .afterReading(let request): request.isLook
    }
  }

  var re: String? {
    switch self {
    case .line(let line, _): line.id
    case .follow(_, let re, _), .room(_, let re): re
    case .caughtUp: nil
    case .afterReading(let request): request.re
    }
  }
}

struct Connection: Sendable {
  let address: String?
  var session: String?
  /// The protocol version of the connection.
  var version = 1
  var watching: [MatchID] = []
  var roundTrip = 0
  /// The number of answers for which the connection waits; meanwhile no further request is begun.
  var outstanding = 0
  /// Requests received while the connection waits, in order.
  var queue: [Request] = []
  static let mostQueued = 64
}

/// A session that is connected to this node.
struct Session: Sendable {
  let id: String
  let account: Int64
  let connection: ConnectionID
  /// How often the session has been resumed; of two connections the one with the higher number wins.
  let generation: Int64
  var isBot = false
  /// The games that the client knows. It is sent no match of other games.
  var games = [Variant.classic]
  /// When the new resume token was sent, in steady milliseconds; `nil` once a later line has shown that it arrived.
  var unsettledSince: Int64?
}

/// The sessions of this node, by id and by account.
struct Sessions: Sendable {
  private var byID: [String: Session] = [:]
  private var byAccount: [Int64: [String]] = [:]

  var count: Int { byID.count }
  var all: Dictionary<String, Session>.Values { byID.values }

  subscript(id: String) -> Session? { byID[id] }

  func of(_ account: Int64) -> [Session] { (byAccount[account] ?? []).compactMap { byID[$0] } }

  mutating func put(_ session: Session) {
    if byID.updateValue(session, forKey: session.id) == nil {
      byAccount[session.account, default: []].append(session.id)
    }
  }

  mutating func settle(_ id: String) { byID[id]?.unsettledSince = nil }

  mutating func remove(_ id: String) {
    guard let session = byID.removeValue(forKey: id) else { return }
    byAccount[session.account]?.removeAll { $0 == id }
    if byAccount[session.account]?.isEmpty == true { byAccount[session.account] = nil }
  }

  var faults: [String] {
    let listed = byAccount.flatMap { account, ids in ids.map { (account, $0) } }
    return listed.count == byID.count && listed.allSatisfy { byID[$0.1]?.account == $0.0 }
      ? [] : ["sessions and accounts do not agree"]
  }
}

/// The accounts that a session or match of this node needs.
struct Accounts: Sendable {
  private(set) var all: [Int64: AccountRecord] = [:]
  /// For each account the number of units in flight that change it, and whether it was read meanwhile. If so, the
  /// values read may or may not include these changes.
  private var adding: [Int64: (units: Int, isRead: Bool)] = [:]

  var count: Int { all.count }

  subscript(id: Int64) -> AccountRecord? { all[id] }

  /// Caches an account, unless a later version is cached.
  mutating func cache(_ account: AccountRecord) {
    guard all[account.id].map({ $0.version <= account.version }) ?? true else { return }
    all[account.id] = account
    adding[account.id]?.isRead = true
  }

  /// Makes the next `cache` of these accounts overwrite the cached version, whatever its number.
  mutating func invalidate(_ ids: [Int64]) { for id in ids { all[id]?.version = -1 } }

  mutating func evict(_ id: Int64) { all[id] = nil }

  /// Records that a unit in flight adds to these accounts.
  mutating func expect(_ scores: [AccountScore]) {
    for score in scores { adding[score.account, default: (0, false)].units += 1 }
  }

  mutating func applyScores(_ scores: [AccountScore]) {
    for score in scores {
      adding[score.account]?.units -= 1
      if adding[score.account]?.units == 0 { adding[score.account] = nil }
    }
  }

  /// Adds a unit's scores to cached accounts; returns the ambiguous accounts, which must be read again.
  mutating func add(_ scores: [AccountScore]) -> [Int64] {
    var unsure: [Int64] = []
    for score in scores where all[score.account] != nil {
      if adding[score.account]?.isRead == true {
        invalidate([score.account])
        unsure.append(score.account)
      } else {
        all[score.account]?.add(score)
        all[score.account]?.version += 1
      }
    }
    return unsure
  }
}

/// The matches in memory, by account.
struct MatchCache: Sendable {
  /// The matches, each in a fixed slot, so that reading one field does not copy the whole match. Slot 0 stays empty.
  private var slots: [CachedMatch?] = [nil]
  private var places: [MatchID: Int] = [:]
  private var free: [Int] = []
  private var byAccount: [Int64: [MatchID]] = [:]

  var count: Int { places.count }
  var values: some Sequence<CachedMatch> { slots.lazy.compactMap(\.self) }

  /// A match, to be changed in place; only `put` and `remove` add and delete.
  subscript(m: MatchID) -> CachedMatch? {
    _read { yield slots[places[m] ?? 0] }
    _modify {
      let place = places[m] ?? 0
      yield &slots[place]
      precondition((slots[place] == nil) == (place == 0), "put and remove add and take away")
    }
  }

  /// The matches of an account, in the order of their loading.
  func of(_ account: Int64) -> [MatchID] { byAccount[account] ?? [] }

  mutating func put(_ match: CachedMatch) {
    let place = places[match.id] ?? free.popLast() ?? slots.count
    if place == slots.count { slots.append(match) } else { slots[place] = match }
    places[match.id] = place
    index(match.id)
  }

  /// Makes a match findable by its accounts.
  mutating func index(_ m: MatchID) {
    for account in self[m]?.accounts ?? [] where byAccount[account]?.contains(m) != true {
      byAccount[account, default: []].append(m)
    }
  }

  mutating func remove(_ m: MatchID) {
    guard let accounts = self[m]?.accounts, let place = places.removeValue(forKey: m) else { return }
    slots[place] = nil
    free.append(place)
    for account in accounts {
      byAccount[account]?.removeAll { $0 == m }
      if byAccount[account]?.isEmpty == true { byAccount[account] = nil }
    }
  }

  var faults: [String] {
    var faults: [String] = []
    for match in values {
      for account in match.accounts where byAccount[account]?.contains(match.id) != true {
        faults.append("\(match.id) is not found by its account \(account)")
      }
    }
    for (account, ids) in byAccount where ids.contains(where: { self[$0]?.accounts.contains(account) != true }) {
      faults.append("account \(account) has a match that is not its own")
    }
    let isPlaced = places.allSatisfy { slots[$1]?.id == $0 } && free.allSatisfy { slots[$0] == nil } && slots[0] == nil
    if !isPlaced || places.count + free.count + 1 != slots.count { faults.append("the places are wrong") }
    return faults
  }
}

/// Counts attempts within a fixed window of time.
struct Tries: Sendable {
  /// The length of the window in milliseconds; the counts are reset after it.
  let window: Int64
  private var began: Int64 = 0
  private var counts: [String: Int] = [:]

  init(window: Int64) { self.window = window }

  /// Counts an attempt; `false` if there were more than `limit` within the window.
  mutating func allow(_ what: String, atMost limit: Int, _ now: Int64) -> Bool {
    if began != now / window { (began, counts) = (now / window, [:]) }
    counts[what, default: 0] += 1
    return counts[what, default: 0] <= limit
  }

  /// Uncounts an attempt that failed through no fault of the client.
  mutating func takeBack(_ what: String) { counts[what]? -= 1 }
}

/// The living nodes, from the store's last answer.
struct Nodes: Sendable {
  var living: [NodeRecord] = []
  /// When the last answered heartbeat was sent, in steady milliseconds.
  var beatAt = Int64.min / 2
  /// Milliseconds by which the store's clock is ahead of the local wall clock.
  var clockAhead: Int64 = 0
  /// The store's clock less the steady clock, at the last heartbeat.
  var clockOffset: Int64?
  /// The store's clock minus the steady clock, at the last heartbeat.
  var trustsBeatsFrom: Int64 = 0
  /// When another node was last alive.
  var companyAt = Int64.min / 2
  var hasStarted = false
  /// Whether a heartbeat, or a search for matches without a living follower, is unanswered.
  var isBeating = false
  var isSweeping = false
  /// The time until which the store may still execute a request that it has not answered.
  var isUncertainUntil = Int64.min / 2
  /// The number of comparisons; every third one also looks for matches that list this node and are not in memory.
  var comparisons = 0
  /// Whether an answer was lost that may have named a match of this node that is not in memory.
  var mustCompare = false
  /// Matches with a player whose presence is unknown and not logged: a node has died, a room's opener is not here, or a
  /// session is reported on another node.
  private(set) var presenceChecks: [MatchID: PresenceCheck] = [:]
  /// When this node last searched for matches without a living follower.
  var adoptedAt = Int64.min / 2

  struct PresenceCheck: Sendable {
    let since: Int64
    /// Whether no node followed the match, so that its clock was not enforced.
    let byAll: Bool
  }

  mutating func schedulePresenceCheck(_ m: MatchID, _ now: Int64, byAll: Bool = false) {
    presenceChecks[m] = PresenceCheck(since: now, byAll: byAll || presenceChecks[m]?.byAll == true)
  }

  /// Ends the presence check of a match.
  mutating func endPresenceCheck(_ m: MatchID) { presenceChecks[m] = nil }

  /// Whether another node is alive or was within 10 s, whose last changes may not have arrived here.
  func haveCompany(_ now: Int64) -> Bool { now - companyAt < 10_000 }
}
