import Base
import MatchProtocol
import TicTacToe

/// How somebody comes in. Digests are SHA-256 of tokens. An entry is a use of the account: account and session are kept for `lives`
/// from now on.
package enum Entry: Sendable, Hashable {
  /// With the resume token whose digest is `presented`: the session that has it as `resume` or `previous` gets `resume` =
  /// `fresh`, `previous` = `presented`, a new expiry, the next generation, and is connected to this node.
  case resume(presented: SHA256.Digest, fresh: SHA256.Digest, lives: Lifetimes)
  /// With an account's token that has not expired: a new session with this id and resume digest.
  case token(SHA256.Digest, session: String, resume: SHA256.Digest, lives: Lifetimes)
  /// As a new guest with the first of `names` that nobody has, this token and a new session.
  case guest(names: [String], token: SHA256.Digest, session: String, resume: SHA256.Digest, lives: Lifetimes)
}

/// How long accounts and their sessions are kept after they were used last, in milliseconds.
package struct Lifetimes: Sendable, Hashable {
  package var guest: Int64
  /// Of an account with a name.
  package var account: Int64

  package init(guest: Int64, account: Int64) {
    (self.guest, self.account) = (guest, account)
  }

  /// 30 days for guests. 366 days for named accounts: a player who comes once a year is let in, also across a leap day.
  package static let usual = Lifetimes(guest: 30 * 86_400_000, account: 366 * 86_400_000)

  /// Times left from which on an expiry is not written anew: 29 of 30 parts, so that a guest's row is written once a day at most.
  package var fresh: Lifetimes { Lifetimes(guest: guest / 30 * 29, account: account / 30 * 29) }

  package func life(ofGuest isGuest: Bool) -> Int64 { isGuest ? guest : account }
}

package enum EntryResult: Sendable, Hashable {
  case entered(Entered)
  /// The token or session is unknown or has expired, or none of the names was free.
  case unknown
  /// The account is banned; nothing was changed.
  case banned
}

/// Somebody who has come in.
package struct Entered: Sendable, Hashable {
  /// The session, as it is stored now.
  package var session: SessionRecord
  /// How often it has been entered: each time one more than the last.
  package var generation: Int64
  /// The node it was connected to before, unless that has detached it; it may be dead.
  package var before: NodeID?
  package var profile: Profile
  /// Sessions of his that are forgotten, since he has so many.
  package var forgotten: [String] = []
}

/// An account and what it plays.
package struct Profile: Sendable, Hashable {
  package var account: AccountRecord
  /// The match at whose board it sat that ended last, if it ended within the last minute.
  package var last: MatchID?
  /// The names of the first fifty accounts it blocks, in its order; those that are gone are left out.
  package var blockedNames: [String]
  /// Its live matches and open rooms (as x, o or opener), oldest first by `created`, then id; with their first event each,
  /// which names the game.
  package var openings: [StoredMatch]

  package var live: [MatchID] { openings.map(\.record.id) }

  package init(account: AccountRecord, last: MatchID?, blockedNames: [String], openings: [StoredMatch]) {
    (self.account, self.last, self.blockedNames, self.openings) = (account, last, blockedNames, openings)
  }
}

/// Whom an administrator asks for.
package enum PlayerList: String, Sendable, Hashable, CaseIterable {
  case named, banned, muted, guests

  /// Whether an account is on the list.
  package func has(_ account: AccountRecord) -> Bool {
    switch self {
    case .named: !account.guest
    case .banned: account.banned
    case .muted: account.muted
    case .guests: account.guest
    }
  }
}

/// What a player has told the administrators about a match.
package struct ReportRecord: Sendable, Hashable {
  /// How long it is kept, in milliseconds: 90 days.
  package static let lives: Int64 = 7_776_000_000

  /// Its number, by which later ones are greater; 0 until it is stored.
  package var id: Int64
  /// When it was made, on the store's clock; 0 for now.
  package var at: Int64
  /// Whose it is.
  package var account: Int64
  /// The name of that account now, empty once the account is gone: a player who is forgotten is named nowhere.
  package var name: String
  package var m: MatchID
  /// The name of who sat opposite, empty once that account or the match is gone.
  package var opponent: String
  package var text: String

  package init(
    id: Int64 = 0, at: Int64 = 0, account: Int64, name: String = "", m: MatchID, opponent: String = "", text: String
  ) {
    (self.id, self.at, self.account, self.name) = (id, at, account, name)
    (self.m, self.opponent, self.text) = (m, opponent, text)
  }
}

/// Whose account: its number, or its name without regard to case.
package enum AccountReference: Sendable, Hashable {
  case id(Int64)
  case name(String)
}

package enum AccountChange: Sendable, Hashable {
  /// Gives a guest a name and a token that lives `lives` ms: it is a guest no more. Refused as `.nameTaken` if another
  /// account has the name, without regard to case, as `.forbidden` if the account is no guest.
  case register(name: String, token: SHA256.Digest, lives: Int64)
  /// A new token that lives `lives` ms; `.forbidden` for guests.
  case token(SHA256.Digest, lives: Int64)
  /// Takes the token away and forgets all sessions but `keep`; `.forbidden` for guests.
  case revoke(keep: String)
  /// Whether the player wants no chat.
  case quiet(Bool)
  /// Puts an account, by name, on the list of the blocked or takes it off. `.notFound` if there is none or it is the
  /// player's own; `.full` if a thousand are blocked.
  case block(name: String, on: Bool)
  /// Whether an administrator has taken the player's chat away.
  case muted(Bool)
  /// Whether an administrator has shut the player out.
  case banned(Bool)
  /// Takes away what identifies the player: the name becomes `deleted-ID`, the token goes and has expired, it is a guest, and
  /// all sessions are forgotten.
  case forget
}

extension AccountChange {
  /// Where it has the account's sessions forgotten: the one that stays, or none.
  package var keeps: String? {
    switch self {
    case .revoke(let keep): keep
    case .forget: ""
    default: nil
    }
  }
}

extension AccountRecord {
  /// Changes it, or says why not; `holder` knows whose a name is.
  package mutating func apply<E>(
    _ change: AccountChange, now: Int64, holder: (String) throws(E) -> Int64?
  ) throws(E) -> ChangeResult? {
    switch change {
    case .register(let name, let token, let lives):
      // Asked again by the name that he has by now: the answer was lost, and the token with it.
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
    case .forget: (name, guest, token, tokenExpires) = ("deleted-\(id)", true, nil, now)
    }
    return nil
  }
}

package enum ChangeResult: Sendable, Hashable {
  /// The account as it is now; and the sessions that were forgotten.
  case changed(AccountRecord, forgotten: [String])
  /// There is no such account.
  case unknown
  case nameTaken, forbidden, notFound, full
}
