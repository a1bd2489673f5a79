import Base
import MatchProtocol
import TicTacToe

/// A way to log in. Each login renews the expiry of the account and its session: `lives` from now.
package enum Login: Sendable, Hashable {
  /// Resumes the session whose `resume` or `previous` digest is `presented`. The two digests then become `fresh` and `presented`.
  case resume(presented: SHA256.Digest, fresh: SHA256.Digest, lives: Lifetimes)
  /// Logs in by an account's unexpired token: creates a session with this id and resume digest.
  case token(SHA256.Digest, session: String, resume: SHA256.Digest, lives: Lifetimes)
  /// Logs in as a new guest with this token, under the first free name of `names`.
  case guest(names: [String], token: SHA256.Digest, session: String, resume: SHA256.Digest, lives: Lifetimes)
}

/// Milliseconds for which accounts and their sessions are kept after their last use.
package struct Lifetimes: Sendable, Hashable {
  package var guest: Int64
  /// Milliseconds for which accounts with a registered name are kept.
  package var account: Int64

  package init(guest: Int64, account: Int64) {
    (self.guest, self.account) = (guest, account)
  }

  /// 366 days: a named player who comes once a year can log in, also across a leap day.
  package static let usual = Lifetimes(guest: 30 * 86_400_000, account: 366 * 86_400_000)

  /// An account's expiry is renewed only if less than these times remain: 29/30, so that a guest's row is written at most once a day.
  package var fresh: Lifetimes { Lifetimes(guest: guest / 30 * 29, account: account / 30 * 29) }

  package func life(ofGuest isGuest: Bool) -> Int64 { isGuest ? guest : account }
}

package enum LoginResult: Sendable, Hashable {
  case entered(Entered)
  /// The token or session is unknown or expired, or no name was free.
  case unknown
  case banned
}

package struct Entered: Sendable, Hashable {
  package var session: SessionRecord
  package var generation: Int64
  /// The node to which the session was connected until now, possibly dead; `nil` if that connection has ended.
  package var before: NodeID?
  package var profile: Profile
  /// Sessions that were deleted because the account had more than `SessionRecord.mostPerAccount`.
  package var forgotten: [String] = []
}

package struct Profile: Sendable, Hashable {
  package var account: AccountRecord
  /// The account's match that ended last, if within the last minute.
  package var last: MatchID?
  /// The names of the fifty accounts that were blocked last, in the order of blocking. Deleted accounts are left out.
  package var blockedNames: [String]
  /// Live matches and open rooms, oldest first by `created`, then id; each with only the first event, which names the game.
  package var openings: [StoredMatch]

  package var live: [MatchID] { openings.map(\.record.id) }

  package init(account: AccountRecord, last: MatchID?, blockedNames: [String], openings: [StoredMatch]) {
    (self.account, self.last, self.blockedNames, self.openings) = (account, last, blockedNames, openings)
  }
}

/// A list of players for administrators.
package enum PlayerList: String, Sendable, Hashable, CaseIterable {
  case named, banned, muted, guests
}

/// A player's report to the administrators about a match.
package struct ReportRecord: Sendable, Hashable {
  /// Milliseconds for which a report is kept: 90 days.
  package static let lives: Int64 = 7_776_000_000

  /// 0 until the report is stored. A later report has a greater id.
  package var id: Int64
  /// The time of the report in milliseconds since 1970 on the store's clock; 0 means now.
  package var at: Int64
  /// The account that reported.
  package var account: Int64
  /// The reporter's current name: `deleted-ID` after the player's identity was erased, empty after the account's row was deleted.
  package var name: String
  package var m: MatchID
  /// The opponent's name; empty if the opponent's account or the match was deleted.
  package var opponent: String
  package var text: String

  package init(
    id: Int64 = 0, at: Int64 = 0, account: Int64, name: String = "", m: MatchID, opponent: String = "", text: String
  ) {
    (self.id, self.at, self.account, self.name) = (id, at, account, name)
    (self.m, self.opponent, self.text) = (m, opponent, text)
  }
}

/// An account by id, or by name regardless of case.
package enum AccountReference: Sendable, Hashable {
  case id(Int64)
  case name(String)
}

package enum AccountChange: Sendable, Hashable {
  /// Gives a guest a name and a token that expires after `lives` ms. `.nameTaken` if another account has the name, regardless of case;
  /// `.forbidden` for a named account, except under its own name.
  case register(name: String, token: SHA256.Digest, lives: Int64, quota: NameQuota? = nil)
  /// Replaces the token by one that expires after `lives` ms; `.forbidden` for guests.
  case token(SHA256.Digest, lives: Int64)
  /// Removes the token and all sessions except `keep`; `.forbidden` for guests.
  case revoke(keep: String)
  case quiet(Bool)
  /// `.notFound` if the name is unknown or the player's own; `.full` beyond 1,000 blocked accounts.
  case block(name: String, on: Bool)
  case muted(Bool)
  case banned(Bool)
  /// Erases the player's identity: the account becomes a guest account named `deleted-ID`, without token and sessions.
  case forget
}

/// The most names that an address may register on a day of UTC.
package struct NameQuota: Sendable, Hashable {
  package var address: SHA256.Digest
  package var most: Int

  package init(address: SHA256.Digest, most: Int) { (self.address, self.most) = (address, most) }
}

extension AccountChange {
  /// The session to keep while all others of the account are deleted; empty to keep none. `nil` for a change that deletes no sessions.
  package var keeps: String? {
    switch self {
    case .revoke(let keep): keep
    case .forget: ""
    default: nil
    }
  }
}

extension AccountRecord {
  package static func deletedName(_ id: Int64) -> String { "deleted-\(id)" }

  /// Returns the reason if the change is not allowed; the account must then not be stored. `holder` returns the account that has a name.
  package mutating func apply<E>(
    _ change: AccountChange, now: Int64, holder: (String) throws(E) -> Int64?
  ) throws(E) -> ChangeResult? {
    switch change {
    case .register(let name, let token, let lives, _):
      // A named account may repeat its registration, because the answer with the token may have been lost.
      guard guest || name.lowercased() == self.name.lowercased() else { return .forbidden }
      let other = try holder(name)
      guard other == nil || other == id else { return .nameTaken }
      (self.name, guest, self.token, tokenExpires) = (name, false, token, now + lives)
    case .token(let token, let lives):
      guard !guest else { return .forbidden }
      (self.token, tokenExpires) = (token, now + lives)
    case .revoke:
      guard !guest else { return .forbidden }
      token = nil
    case .quiet(let on): quiet = on
    case .block(let name, let on):
      guard let other = try holder(name), other != id else { return .notFound }
      blocked.removeAll { $0 == other }
      if on { blocked.append(other) }
      guard blocked.count <= 1000 else { return .full }
    case .muted(let on): muted = on
    case .banned(let on): banned = on
    case .forget: (name, guest, token, tokenExpires) = (Self.deletedName(id), true, nil, now)
    }
    return nil
  }
}

package enum ChangeResult: Sendable, Hashable {
  /// `forgotten`: the ids of the deleted sessions.
  case changed(AccountRecord, forgotten: [String])
  /// There is no such account.
  case unknown
  case nameTaken, forbidden, notFound, full, tooMany
}
