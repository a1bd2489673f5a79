import MatchProtocol
import MatchStore

/// A cache of the accounts that the sessions and matches of this node need.
struct Accounts: Sendable {
  private(set) var all: [Int64: AccountRecord] = [:]
  /// For each account: how many units in flight will change the account, and whether the account was read meanwhile (`isRead`): the values
  /// read may include the units' changes already.
  private var adding: [Int64: (units: Int, isRead: Bool)] = [:]

  var count: Int { all.count }

  subscript(id: Int64) -> AccountRecord? { all[id] }

  /// Caches an account, unless a later version of it is cached.
  mutating func cache(_ account: AccountRecord) {
    guard all[account.id].map({ $0.version <= account.version }) ?? true else { return }
    all[account.id] = account
    adding[account.id]?.isRead = true
  }

  /// Makes the next `cache` of each account replace the cached values, even by values of a lower version.
  mutating func invalidate(_ ids: [Int64]) { for id in ids { all[id]?.version = -1 } }

  /// Lets these accounts of the store replace those in memory at the next `cache`, even by a lower version: the database may have lost
  /// changes. Skips accounts that memory has changed since the question. `versions`: those then.
  mutating func invalidate(_ found: [AccountRecord], unlessChangedSince versions: [Int64: Int64]) {
    invalidate(found.map(\.id).filter { all[$0]?.version == versions[$0] })
  }

  mutating func evict(_ id: Int64) { all[id] = nil }

  /// Records that a unit in flight will add these scores to their accounts.
  mutating func expect(_ scores: [AccountScore]) {
    for score in scores { adding[score.account, default: (0, false)].units += 1 }
  }

  /// A unit that would add these scores has ended. If it was stored (`areStored`), adds them to the cached accounts, but skips and returns
  /// those that were read while the unit was in flight: their values may include the scores already, so the caller must read them again.
  mutating func end(_ scores: [AccountScore], areStored: Bool) -> [Int64] {
    var unsure: [Int64] = []
    for score in scores where areStored && all[score.account] != nil {
      if adding[score.account]?.isRead == true {
        invalidate([score.account])
        unsure.append(score.account)
      } else {
        all[score.account]?.add(score)
        all[score.account]?.version += 1
      }
    }
    for score in scores {
      adding[score.account]?.units -= 1
      if adding[score.account]?.units == 0 { adding[score.account] = nil }
    }
    return unsure
  }
}

extension AccountRecord {
  var isClosed: Bool { banned || name == AccountRecord.deletedName(id) }
}
