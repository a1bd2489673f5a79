import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Something a connection wants.
enum Request: Sendable {
  /// A line of the client, decoded at a steady time.
  case line(ClientLine, at: Int64)
  /// Follow a match from now on and be told how it stands; if it is new to the player, that he was paired, in answer to `re`.
  case follow(MatchID, re: String?, isNew: Bool)
  /// Be told the code of a room, as the answer to `re`.
  case room(MatchID, re: String?)
  /// See how a match stands after having been too slow.
  case caughtUp(MatchID)
  /// The same, once the match has been read again.
  indirect case afterReading(Request)

  /// Whether it asks how a match stands.
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
  /// The version of the protocol that is spoken on it.
  var version = 1
  var watching: [MatchID] = []
  var roundTrip = 0
  /// What it waits for; nothing that it says is begun meanwhile.
  var outstanding = 0
  /// What it has said since, in order.
  var queue: [Request] = []
  static let mostQueued = 64
}

/// A session that is connected to this node.
struct Session: Sendable {
  let id: String
  let account: Int64
  let connection: ConnectionID
  /// How often it has been entered, so that of two connections the later one counts.
  let generation: Int64
  var isBot = false
  var confirms = false
  /// The games that the client knows. Of the others it is told nothing.
  var games = [Variant.classic]
  /// When the client was told its new resume token, in steady milliseconds; `nil` once it has said something since, and so has it.
  var unsettledSince: Int64?
}

/// The sessions of this node, by number and by account.
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

/// The accounts that a session or a match of this node needs.
struct Accounts: Sendable {
  private(set) var all: [Int64: AccountRecord] = [:]
  /// For each account how many units are out that add to it, and whether it was read meanwhile: nobody knows then whether what was read
  /// has theirs.
  private var adding: [Int64: (units: Int, isRead: Bool)] = [:]

  var count: Int { all.count }

  subscript(id: Int64) -> AccountRecord? { all[id] }

  /// Knows an account as the store has it, unless a later state of it is known.
  mutating func learn(_ account: AccountRecord) {
    guard all[account.id].map({ $0.version <= account.version }) ?? true else { return }
    all[account.id] = account
    adding[account.id]?.isRead = true
  }

  /// What the store says of these next is taken for true, whatever is known.
  mutating func doubt(_ ids: [Int64]) { for id in ids { all[id]?.version = -1 } }

  mutating func forget(_ id: Int64) { all[id] = nil }

  /// A unit is out, or is no more, that adds to accounts.
  mutating func expect(_ scores: [AccountScore]) {
    for score in scores { adding[score.account, default: (0, false)].units += 1 }
  }

  mutating func settle(_ scores: [AccountScore]) {
    for score in scores {
      adding[score.account]?.units -= 1
      if adding[score.account]?.units == 0 { adding[score.account] = nil }
    }
  }

  /// Knows what a unit has added to accounts; returns those that must be read instead.
  mutating func add(_ scores: [AccountScore]) -> [Int64] {
    var unsure: [Int64] = []
    for score in scores where all[score.account] != nil {
      if adding[score.account]?.isRead == true {
        doubt([score.account])
        unsure.append(score.account)
      } else {
        all[score.account]?.add(score)
        all[score.account]?.version += 1
      }
    }
    return unsure
  }
}

/// The matches in memory, by account and by strength.
struct MatchCache: Sendable {
  /// Each at a place of its own, so that one of its fields is read without a copy of all; the first place stays free.
  private var slots: [CachedMatch?] = [nil]
  private var places: [MatchID: Int] = [:]
  private var free: [Int] = []
  private var byAccount: [Int64: [MatchID]] = [:]
  /// Live matches that everybody may watch.
  private(set) var listed = Ranking<MatchID>()

  var count: Int { places.count }
  var values: some Sequence<CachedMatch> { slots.lazy.compactMap(\.self) }

  /// A match, to be changed in place; `put` and `remove` add and take away.
  subscript(m: MatchID) -> CachedMatch? {
    _read { yield slots[places[m] ?? 0] }
    _modify {
      let place = places[m] ?? 0
      yield &slots[place]
      precondition((slots[place] == nil) == (place == 0), "put and remove add and take away")
    }
  }

  /// In the order in which they came here.
  func of(_ account: Int64) -> [MatchID] { byAccount[account] ?? [] }

  mutating func put(_ match: CachedMatch) {
    let place = places[match.id] ?? free.popLast() ?? slots.count
    if place == slots.count { slots.append(match) } else { slots[place] = match }
    places[match.id] = place
    index(match.id)
  }

  /// Finds a match by whoever sits at it.
  mutating func index(_ m: MatchID) {
    for account in self[m]?.accounts ?? [] where byAccount[account]?.contains(m) != true {
      byAccount[account, default: []].append(m)
    }
  }

  mutating func remove(_ m: MatchID) {
    list(m, nil)
    guard let accounts = self[m]?.accounts, let place = places.removeValue(forKey: m) else { return }
    slots[place] = nil
    free.append(place)
    for account in accounts {
      byAccount[account]?.removeAll { $0 == m }
      if byAccount[account]?.isEmpty == true { byAccount[account] = nil }
    }
  }

  /// Gives a match its place among those that everybody may watch, or takes it off.
  mutating func list(_ m: MatchID, _ strength: Double?) {
    let old = self[m]?.listed
    guard places[m] != nil, old != strength else { return }
    listed.move(m, from: old, to: strength)
    self[m]?.listed = strength
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
    if listed.places.contains(where: { self[$0.id]?.listed != $0.strength }) { faults.append("the list is wrong") }
    return faults
  }
}

/// Tries in this minute.
struct Tries: Sendable {
  /// Milliseconds after which the counts begin anew.
  let window: Int64
  private var began: Int64 = 0
  private var counts: [String: Int] = [:]

  init(window: Int64) { self.window = window }

  /// Counts a try; `false` once there were more than `limit` within the window.
  mutating func allow(_ what: String, atMost limit: Int, _ now: Int64) -> Bool {
    if began != now / window { (began, counts) = (now / window, [:]) }
    counts[what, default: 0] += 1
    return counts[what, default: 0] <= limit
  }

  /// A try counts no more: it failed, and not by the fault of who tried.
  mutating func takeBack(_ what: String) { counts[what]? -= 1 }
}

/// The nodes that live, as the store said last.
struct Nodes: Sendable {
  var living: [NodeRecord] = []
  /// When a beat was sent that was answered, by the steady clock.
  var beatAt = Int64.min / 2
  /// By how many milliseconds the store's clock is ahead of this machine's wall clock.
  var clockAhead: Int64 = 0
  /// The store's clock less the steady one, at the last beat.
  var clockOffset: Int64?
  /// Until when nobody is taken for dead: the store's clock has jumped, or was out of reach.
  var trustsBeatsFrom: Int64 = 0
  /// When there was another node last.
  var companyAt = Int64.min / 2
  var hasStarted = false
  /// Whether a beat, or a look for what nobody follows, has not been answered.
  var isBeating = false
  var isSweeping = false
  /// Until when something may still be stored that the store did not answer for.
  var doubtsUntil = Int64.min / 2
  /// Comparisons so far; every third one is also for matches that name this node and are not here.
  var comparisons = 0
  /// Whether an answer was lost that may have told of such a match.
  var mustCompare = false
  /// Matches here of which somebody may be nowhere, which no log says: a node has ended, their opener is not here, or a session is
  /// said to be elsewhere.
  private(set) var deserted: [MatchID: Desertion] = [:]
  /// When this node looked last for what nobody follows.
  var sweptAt = Int64.min / 2

  struct Desertion: Sendable {
    let since: Int64
    /// Whether nobody followed the match, so that nobody looked at its clock either.
    let byAll: Bool
  }

  mutating func desert(_ m: MatchID, _ now: Int64, byAll: Bool = false) {
    deserted[m] = Desertion(since: now, byAll: byAll || deserted[m]?.byAll == true)
  }

  /// It is known who plays a match and is nowhere, or nobody plays it any more.
  mutating func settle(_ m: MatchID) { deserted[m] = nil }

  /// Whether there is another node, or was a moment ago: what it did last may not have been heard of.
  func haveCompany(_ now: Int64) -> Bool { now - companyAt < 10_000 }
}
