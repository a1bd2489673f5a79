import Base
import MatchProtocol
import TicTacToe

/// The row operations that `login` and `change` below need. Rows that were read cannot change until the transaction ends.
package protocol StoreRows {
  /// Milliseconds since 1970 on the store's clock.
  mutating func now() throws(StoreError) -> Int64

  mutating func account(_ who: AccountReference) throws(StoreError) -> AccountRecord?
  mutating func account(token: SHA256.Digest) throws(StoreError) -> AccountRecord?
  /// The account that has a name, regardless of case. Does not lock the account.
  mutating func holder(of name: String) throws(StoreError) -> Int64?
  /// Replaces an account and increments its version.
  mutating func replace(_ account: AccountRecord) throws(StoreError)
  /// Sets the expiry of an account without changing its version.
  mutating func renew(account: Int64, until expires: Int64) throws(StoreError)
  /// Counts a name that an address registers on a day (days since 1970). Returns `false` if the address has used up its quota of the day.
  mutating func countName(_ quota: NameQuota, day: Int64) throws(StoreError) -> Bool
  /// Adds an account under an id that was never used; returns the stored account.
  mutating func add(_ account: AccountRecord) throws(StoreError) -> AccountRecord
  mutating func profile(_ account: Int64) throws(StoreError) -> Profile?

  /// The session with this digest as `resume` or `previous`.
  mutating func session(presenting token: SHA256.Digest) throws(StoreError) -> SessionRecord?
  /// Stores a session and connects it to a node. Returns its new generation and the node to which it was connected before.
  mutating func login(_ session: SessionRecord, at node: NodeID) throws(StoreError) -> (
    generation: Int64, before: NodeID?
  )
  /// Deletes the sessions of an account except one; returns their ids, sorted.
  mutating func forgetSessions(of account: Int64, but kept: String) throws(StoreError) -> [String]
  /// Deletes the oldest sessions of an account beyond `most`, disconnected ones first, never `kept`; returns their ids, sorted.
  mutating func trimSessions(of account: Int64, to most: Int, but kept: String) throws(StoreError) -> [String]
}

extension StoreRows {
  package mutating func login(_ entry: Login, at node: NodeID) throws(StoreError) -> LoginResult {
    let now = try now()
    var session: SessionRecord
    let (account, lives): (AccountRecord?, Lifetimes)
    switch entry {
    case .resume(let presented, let fresh, let given):
      guard let known = try self.session(presenting: presented), known.expires > now else { return .unknown }
      (session, lives) = (known, given)
      (session.resume, session.previous) = (fresh, presented)
      account = try self.account(.id(known.account))
    case .token(let token, let id, let resume, let given):
      guard let known = try self.account(token: token), known.tokenExpires > now else { return .unknown }
      session = SessionRecord(id: id, account: known.id, resume: resume, previous: nil, expires: 0)
      (account, lives) = (known, given)
    case .guest(let names, let token, let id, let resume, let given):
      var name: String?
      for wanted in names where name == nil { if try holder(of: wanted) == nil { name = wanted } }
      guard let name else { return .unknown }
      let made = try add(
        AccountRecord(id: 0, name: name, guest: true, token: token, tokenExpires: now + given.guest))
      session = SessionRecord(id: id, account: made.id, resume: resume, previous: nil, expires: 0)
      (account, lives) = (made, given)
    }
    guard let account else { return .unknown }
    guard !account.banned else { return .banned }
    session.expires = now + lives.life(ofGuest: account.guest)
    if account.tokenExpires < now + lives.fresh.life(ofGuest: account.guest) {
      try renew(account: account.id, until: session.expires)
    }
    let (generation, before) = try login(session, at: node)
    let forgotten = try trimSessions(of: account.id, to: SessionRecord.mostPerAccount, but: session.id)
    guard let profile = try profile(account.id) else { return .unknown }
    return .entered(
      Entered(session: session, generation: generation, before: before, profile: profile, forgotten: forgotten))
  }

  package mutating func change(_ who: AccountReference, _ change: AccountChange) throws(StoreError) -> ChangeResult {
    guard var account = try account(who) else { return .unknown }
    let now = try now()
    let refusal = try account.apply(change, now: now) { (name) throws(StoreError) in try holder(of: name) }
    if let refusal { return refusal }
    if case .register(_, _, _, let quota?) = change, try !countName(quota, day: now / 86_400_000) { return .tooMany }
    var forgotten: [String] = []
    if let kept = change.keeps { forgotten = try forgetSessions(of: account.id, but: kept) }
    try replace(account)
    account.version += 1
    return .changed(account, forgotten: forgotten)
  }
}

/// The row operations that `queue` below needs. Rows that were read cannot change until the transaction ends.
package protocol QueueRows: StoreConditions {
  mutating func hasAccount(_ id: Int64) throws(StoreError) -> Bool
  /// The waiting tickets of an account with this session or key, sorted by id; an empty key matches no ticket.
  mutating func tickets(session: String, key: String, account: Int64) throws(StoreError) -> [TicketRecord]
  /// Without effect if a ticket with this id was already matched: the call then repeats one whose answer was lost.
  mutating func put(_ ticket: TicketRecord) throws(StoreError)
  mutating func drop(ticket: String) throws(StoreError)
}

extension QueueRows {
  package mutating func queue(_ wanted: TicketRecord, rated: Bool) throws(StoreError) -> QueueResult {
    guard try hasAccount(wanted.account) else { return .unknown }
    if !wanted.key.isEmpty, let use = try use(of: wanted.key, wanted.account) {
      if let m = use.live { return use.purpose == wanted.purpose ? .led(m) : .purpose }
    }
    let before = try tickets(session: wanted.session, key: wanted.key, account: wanted.account)
    if before.contains(where: { $0.key == wanted.key && !wanted.key.isEmpty && $0.purpose != wanted.purpose }) {
      return .purpose
    }
    if wanted.hasLostPlace, before.contains(where: { $0.session != wanted.session }) { return .purpose }
    if rated, try slot(of: wanted.account) != nil { return .playing }
    var ticket = wanted
    if ticket.since == 0 { ticket.since = try now() }
    for old in before {
      if old.key == ticket.key { ticket.since = min(ticket.since, old.since) }
      try drop(ticket: old.id)
    }
    try put(ticket)
    return .waits(since: ticket.since)
  }
}
