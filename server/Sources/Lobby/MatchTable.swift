import MatchProtocol

/// The matches in memory, by id and by account.
struct MatchTable: Sendable {
  /// Each match has a fixed place, so that reading one field does not copy the match. Place 0 stays empty, for matches not in memory.
  private var slots: [LiveMatch?] = [nil]
  private var places: [MatchID: Int] = [:]
  private var free: [Int] = []
  private var byAccount: [Int64: [MatchID]] = [:]

  var count: Int { places.count }
  var values: some Sequence<LiveMatch> { slots.lazy.compactMap(\.self) }

  /// A match, to be changed in place. Only `put` adds a match, and only `remove` deletes one.
  subscript(m: MatchID) -> LiveMatch? {
    _read { yield slots[places[m] ?? 0] }
    _modify {
      let place = places[m] ?? 0
      yield &slots[place]
      precondition((slots[place] == nil) == (place == 0), "only put adds a match, and only remove deletes one")
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
