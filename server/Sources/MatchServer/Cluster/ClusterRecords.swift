import Base
import MatchProtocol
import TicTacToe

/// How somebody comes in. Digests are SHA-256 of tokens; `lives` are milliseconds from now to the expiry of what is made
/// for guests and for named accounts.
package enum Entry: Sendable, Hashable {
  /// With the resume token whose digest is `presented`: the session that has it as `resume` or `previous` gets `resume` =
  /// `fresh`, `previous` = `presented`, a new expiry, the next generation, and is connected to this incarnation.
  case resume(presented: SHA256.Digest, fresh: SHA256.Digest, lives: Lifetimes)
  /// With an account's token that has not expired: a new session with this id and resume digest.
  case token(SHA256.Digest, session: String, resume: SHA256.Digest, lives: Lifetimes)
  /// As a new guest with the first of `names` that nobody has, this token and a new session.
  case guest(names: [String], token: SHA256.Digest, session: String, resume: SHA256.Digest, lives: Lifetimes)
}

/// How long what an entry makes is kept, in milliseconds.
package struct Lifetimes: Sendable, Hashable {
  /// For guests.
  package var guest: Int64
  /// For named accounts.
  package var account: Int64

  /// Makes lifetimes.
  package init(guest: Int64, account: Int64) { (self.guest, self.account) = (guest, account) }
}

/// What came of an entry.
package enum EntryResult: Sendable, Hashable {
  /// In.
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
  /// The incarnation it was connected to before, unless that is detached from it; the lease may have run out.
  package var before: Int64?
  /// The account, what it plays.
  package var profile: Profile

  /// Makes an answer.
  package init(session: SessionRecord, generation: Int64, before: Int64?, profile: Profile) {
    (self.session, self.generation, self.before, self.profile) = (session, generation, before, profile)
  }
}

/// An account and what it plays.
package struct Profile: Sendable, Hashable {
  /// The account.
  package var account: AccountRecord
  /// Its live matches and open rooms (as x, o or opener), oldest first by `created`, then id.
  package var live: [MatchID]
  /// The match at whose board it sat that ended last, if it ended within the last minute.
  package var last: MatchID?
  /// The names of the first fifty accounts it blocks, in its order; those that are gone are left out.
  package var blockedNames: [String]

  /// Makes a profile.
  package init(account: AccountRecord, live: [MatchID], last: MatchID?, blockedNames: [String]) {
    (self.account, self.live, self.last, self.blockedNames) = (account, live, last, blockedNames)
  }
}

/// Whose account: its number, or its name without regard to case.
package enum AccountReference: Sendable, Hashable {
  case id(Int64)
  case name(String)
}

/// One change of an account.
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
      guard guest else { return .forbidden }
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

/// What came of a change.
package enum ChangeResult: Sendable, Hashable {
  /// The account as it is now; and the sessions that were forgotten.
  case changed(AccountRecord, forgotten: [String])
  /// There is no such account.
  case unknown
  case nameTaken, forbidden, notFound, full
}

/// A wish to be paired, as nodes share it.
package struct TicketRecord: Sendable, Hashable {
  /// Its public number; unique.
  package var id: String
  /// The session that waits; it has at most one ticket.
  package var session: String
  /// Whose.
  package var account: Int64
  /// The terms, range, whether a bot will do, and the key, which is never `nil` here.
  package var seek: ClientMessage.Seek
  /// Whether a bot waits.
  package var isBot: Bool
  /// Whether its client confirms by itself.
  package var confirms: Bool
  /// Milliseconds it has waited: stored as the instant now − `waited`.
  package var waited: Int64

  /// Makes a ticket.
  package init(
    id: String, session: String, account: Int64, seek: ClientMessage.Seek, isBot: Bool, confirms: Bool, waited: Int64
  ) {
    (self.id, self.session, self.account, self.seek) = (id, session, account, seek)
    (self.isBot, self.confirms, self.waited) = (isBot, confirms, waited)
  }
}

extension TicketRecord {
  /// Whether it has waited longer than another one; of two that came at once, one does.
  package func isOlder(than other: TicketRecord) -> Bool {
    (other.waited, id) < (waited, other.id)
  }
}

/// A ticket that waits, as it is now.
package struct WaitingTicket: Sendable, Hashable {
  /// The ticket, with its waiting time as of now.
  package var ticket: TicketRecord
  /// The incarnation it waits at.
  package var epoch: Int64
  /// Its account.
  package var account: AccountRecord
  /// Whether it is rated and its account is in a live rated match.
  package var isPlaying: Bool

  /// Makes a ticket.
  package init(ticket: TicketRecord, epoch: Int64, account: AccountRecord, isPlaying: Bool) {
    (self.ticket, self.epoch, self.account, self.isPlaying) = (ticket, epoch, account, isPlaying)
  }

  /// Whether two may be paired but for how far apart they are: same terms, another account, neither blocks the other, a bot only
  /// where the other side says that one will do, and neither in a rated match if this is to be one.
  package func suits(_ other: WaitingTicket) -> Bool {
    let (one, two) = (ticket, other.ticket)
    return one.account != two.account && one.seek.terms == two.seek.terms && !isPlaying && !other.isPlaying
      && (!one.isBot || two.seek.bots) && (!two.isBot || one.seek.bots)
      && !account.blocked.contains(two.account) && !other.account.blocked.contains(one.account)
  }
}

/// What came of putting a ticket into the queue.
///
/// First its key is looked up among those used by its account (`MatchBegin.keys`) in the last ten minutes: if the match it
/// led to is live, that is the answer and nothing is queued. Then the session's ticket, if it has one: with the same key it is replaced by the
/// new one, which keeps its number and the longer of both waiting times; with another key the answer is `.occupied`. A rated ticket of an account whose rated
/// slot holds a live match is `.playing`.
package enum QueueResult: Sendable, Hashable {
  /// It waits under this number, and has for so many milliseconds.
  case waiting(id: String, Int64)
  /// The key has led to this live match.
  case paired(MatchID)
  /// The key was used for a room.
  case usedForRoom
  /// The session has a ticket with another key, or with this key and other terms or range.
  case occupied
  /// The account is in a live rated match.
  case playing(MatchID)
}

/// What has become of a ticket.
package enum TicketState: Sendable, Hashable {
  /// It waits.
  case waiting(WaitingTicket)
  /// Its key led to this live match.
  case paired(MatchID)
  /// It is not in the queue any more and led to nothing that is live.
  case gone
}

/// What a look at the queue found.
package struct QueueView: Sendable, Hashable {
  /// What has become of the tickets looked at, in their order.
  package var states: [TicketState]
  /// Who waits, at incarnations whose lease is good, for the terms of one of those: the longest waiting first, up to 1,024. Those
  /// looked at are among them.
  package var waiting: [WaitingTicket]
  /// The most that `waiting` has.
  package static let most = 1024

  /// Makes a view.
  package init(states: [TicketState], waiting: [WaitingTicket]) { (self.states, self.waiting) = (states, waiting) }
}

/// A match to begin, all or nothing: if this incarnation's lease is good, every ticket named is there, no account has
/// another live match in its rated slot (`rated`), the code is no open room's and the key is not used, then the tickets go, the slots
/// hold the match, the keys are remembered with it, and the writes are applied as `commit` would, fenced like those.
package struct MatchBegin: Sendable, Hashable {
  /// What a `key` was used for.
  package struct Key: Sendable, Hashable {
    /// Whose key.
    package var account: Int64
    /// The key.
    package var key: String
    /// Whether for a room.
    package var isRoom: Bool
    /// Makes a key.
    package init(account: Int64, key: String, isRoom: Bool) {
      (self.account, self.key, self.isRoom) = (account, key, isRoom)
    }
  }

  /// The match that begins, which is among the writes.
  package var m: MatchID
  /// The writes; those of other matches than `m` (a rematch is logged in the old one too) are fenced.
  package var writes: [StoreWrite]
  /// The numbers of the tickets that become this match.
  package var tickets: [String] = []
  /// The accounts whose rated slot it takes, in order; empty if unrated. `ratings` has what was assumed of them.
  package var rated: [Int64] = []
  /// The ratings that were assumed of `rated`; if one of them is another now the answer is `.stale`.
  package var ratings: [Glicko2.Rating] = []
  /// The code that must not be an open room's.
  package var code: String?
  /// What keys led to it; a key for a room that has been used already gives `.known`, others are replaced.
  package var keys: [Key] = []

  /// Makes a beginning.
  package init(m: MatchID, writes: [StoreWrite]) { (self.m, self.writes) = (m, writes) }
}

/// What came of beginning a match; all but `begun` changed nothing.
package enum BeginResult: Sendable, Hashable {
  /// It is durable.
  case begun
  /// One of the tickets is not there any more, or is being taken by somebody else at this moment.
  case ticketsGone
  /// This account is in another rated match.
  case playing(Int64)
  /// A rating is not what was assumed.
  case stale
  /// An open room has this code.
  case codeTaken
  /// The key has led to this room already.
  case known(MatchID)
}
