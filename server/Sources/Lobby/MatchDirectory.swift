import MatchProtocol
import MatchStore

/// The matches in memory, those being loaded, and those of which a player's presence must be checked.
struct MatchDirectory: Sendable {
  /// Each match has a fixed place, so that reading one field does not copy the match. Place 0 stays empty, for matches not in memory.
  private var slots: [LiveMatch?] = [nil]
  private var places: [MatchID: Int] = [:]
  private var free: [Int] = []
  private var byAccount: [Int64: [MatchID]] = [:]
  /// The work that waits for a match to be loaded, in order.
  private var loading: [MatchID: [(id: ConnectionID?, work: Loading)]] = [:]
  /// For each match being loaded, the highest event number (`seq`) that a notification announced.
  private var announced: [MatchID: Int] = [:]
  /// Finished matches that were loaded, in the order of loading.
  private var finished: [MatchID] = []
  /// Matches with a player who may be absent although the log does not say so, for example because a node has died.
  private var checks: [MatchID: PresenceCheck] = [:]
  /// The wall time at which the last match ended, in milliseconds since 1970.
  private var lastEnd: Int64 = 0

  enum Loading: Sendable {
    case request(Request)
    /// Subscribe the players of the match `of` to the loaded match, its rematch.
    case rematch(of: MatchID)
    /// Subscribe the account whose ticket was matched to the loaded match.
    case paired(ticket: String, account: Int64)
    case annul(UInt64)
    /// Subscribe this node's players (`adopt`), because the store lists this node as a follower of the match.
    case named
  }

  struct PresenceCheck: Sendable {
    /// When the check was last scheduled, in monotonic ms.
    let since: Int64
    /// Whether no living node had followed the match until this node loaded it. Then `recovered` is logged if both players are absent, even
    /// if the log has a `gone` already.
    let byAll: Bool
  }

  var count: Int { places.count }
  var values: some Sequence<LiveMatch> { slots.lazy.compactMap(\.self) }

  /// A match, to be changed in place. Only `put` adds a match, and only `remove` deletes one.
  subscript(m: MatchID) -> LiveMatch? {
    _read { yield slots[places[m] ?? 0] }
    _modify {
      let place = places[m] ?? 0
      yield &slots[place]
      precondition((slots[place] == nil) == (place == 0), "put and remove add and take away")
    }
  }

  func of(_ account: Int64) -> [MatchID] { byAccount[account] ?? [] }

  mutating func put(_ match: LiveMatch) {
    let place = places[match.id] ?? free.popLast() ?? slots.count
    if place == slots.count { slots.append(match) } else { slots[place] = match }
    places[match.id] = place
    index(match.id)
  }

  /// Lists a match under its accounts, so that `of` finds it.
  mutating func index(_ m: MatchID) {
    for account in self[m]?.accounts ?? [] where byAccount[account]?.contains(m) != true {
      byAccount[account, default: []].append(m)
    }
  }

  mutating func remove(_ m: MatchID) {
    guard let accounts = self[m]?.accounts, let place = places.removeValue(forKey: m) else { return }
    slots[place] = nil
    checks[m] = nil
    free.append(place)
    for account in accounts {
      byAccount[account]?.removeAll { $0 == m }
      if byAccount[account]?.isEmpty == true { byAccount[account] = nil }
    }
  }

  // MARK: loading

  /// Whether one more request may wait until a match is loaded.
  func mayWait(for m: MatchID) -> Bool { loading.count < 256 && loading[m, default: []].count < 64 }

  /// Adds work to do once a match is loaded; `true` if the store must be asked for the match, because no earlier work waits for it.
  mutating func awaitLoading(of m: MatchID, _ work: Loading, for id: ConnectionID?) -> Bool {
    defer { loading[m, default: []].append((id, work)) }
    return loading[m] == nil
  }

  mutating func endLoading(of m: MatchID) -> [(id: ConnectionID?, work: Loading)] {
    loading.removeValue(forKey: m) ?? []
  }

  /// Notes an event number that another node announced for a match being loaded: the store's answer may lack the event.
  mutating func announce(_ seq: Int, of m: MatchID) {
    if loading[m] != nil { announced[m] = max(announced[m] ?? 0, seq) }
  }

  mutating func takeAnnounced(_ m: MatchID) -> Int? { announced.removeValue(forKey: m) }

  /// The most finished matches that are kept in memory after loading, so that repeated requests need no store.
  static let mostFinished = 256

  /// Returns the match to evict, if there are more than `mostFinished`.
  mutating func keepFinished(_ m: MatchID) -> MatchID? {
    // A match that was loaded before is the newest again, so that loading it does not evict it.
    finished.removeAll { $0 == m }
    finished.append(m)
    return finished.count > MatchDirectory.mostFinished ? finished.removeFirst() : nil
  }

  /// The wall time to record as the end of a match. No two matches get the same time at one node, because the next page of a history begins
  /// below the last time sent. The time decreases only if the clock was set back by a minute or more.
  mutating func endMoment(_ wall: Int64) -> Int64 {
    lastEnd = wall > lastEnd || wall < lastEnd - 60_000 ? wall : lastEnd + 1
    return lastEnd
  }

  // MARK: checking presence

  mutating func schedulePresenceCheck(_ m: MatchID, _ now: Int64, byAll: Bool = false) {
    checks[m] = PresenceCheck(since: now, byAll: byAll || checks[m]?.byAll == true)
  }

  func presenceCheck(of m: MatchID) -> PresenceCheck? { checks[m] }

  mutating func endPresenceCheck(_ m: MatchID) { checks[m] = nil }

  /// The matches to check now, at most 256: a dead node may leave thousands.
  var toCheck: ArraySlice<MatchID> { checks.keys.sorted().prefix(256) }

  var faults: [String] {
    var faults: [String] = []
    if checks.keys.contains(where: { places[$0] == nil }) {
      faults.append("a presence check is scheduled for a match that is not in memory")
    }
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
