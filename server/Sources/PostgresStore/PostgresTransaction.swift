import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Accounts are locked before their sessions.
extension PostgresPool.Transaction: StoreRows {
  static let now = PGStatement("SELECT \(PostgresRows.now)")

  mutating func now() throws(StoreError) -> Int64 {
    guard let now = try run([Self.now()])[0].rows.first?.first?.int else { throw .failed("the database has no clock") }
    return now
  }

  /// Prefetches rows of a login in one round trip. `run` finds them only by equal calls, which the functions below make for both.
  mutating func prefetch(_ entry: Login) throws(StoreError) {
    switch entry {
    case .resume(let presented, _, _): try prefetch([Self.now()] + Self.presenting(presented))
    case .token(let token, _, _, _): try prefetch([Self.now(), Self.lockAccount(of: token)])
    case .guest(let names, _, _, _, _):
      try prefetch([Self.now(), Self.nextNumber()] + names.prefix(1).map(Self.holder(of:)))
    }
  }

  // MARK: accounts

  private static let lockAccount = PGStatement(
    "SELECT id FROM account WHERE id = $1::bigint FOR UPDATE")
  private static let lockAccountNamed = PGStatement(
    "SELECT id FROM account WHERE name_lower = $1 FOR UPDATE")
  private static let lockAccountOfToken = PGStatement(
    "SELECT id FROM account WHERE token = $1::bytea ORDER BY id LIMIT 1 FOR UPDATE")
  private static let account = PostgresStore.account
  private static let holder = PGStatement("SELECT id FROM account WHERE name_lower = $1")
  private static let nextNumber = PGStatement("SELECT nextval('account_id')")

  private static func reading(_ id: Int64) -> [PGCall] { [lockAccount, account].map { $0(.int(id)) } }

  mutating func account(_ who: AccountReference) throws(StoreError) -> AccountRecord? {
    switch who {
    // Lock first, then read: a single statement would read the table `standing` as it was before the lock was granted.
    case .id(let id):
      return try run(Self.reading(id))[1].rows.first.flatMap(PostgresRows.account)
    case .name(let name):
      return try holder(of: name) == nil ? nil : locked(Self.lockAccountNamed(.text(name.lowercased())))
    }
  }

  private static func lockAccount(of token: SHA256.Digest) -> PGCall { lockAccountOfToken(.bytes(token.bytes)) }

  mutating func account(token: SHA256.Digest) throws(StoreError) -> AccountRecord? {
    try locked(Self.lockAccount(of: token))
  }

  private mutating func locked(_ lock: PGCall) throws(StoreError) -> AccountRecord? {
    guard let id = try run([lock])[0].rows.first?.first?.int else { return nil }
    return try run([Self.account(.int(id))])[0].rows.first.flatMap(PostgresRows.account)
  }

  private static func holder(of name: String) -> PGCall { holder(.text(name.lowercased())) }

  mutating func holder(of name: String) throws(StoreError) -> Int64? {
    // PostgreSQL texts cannot contain NUL, so no account has such a name.
    guard !name.utf8.contains(0) else { return nil }
    return try run([Self.holder(of: name)])[0].rows.first?.first?.int
  }

  mutating func replace(_ account: AccountRecord) throws(StoreError) {
    enqueue(PostgresRows.put(account, by: PostgresRows.replaceAccount))
  }

  private static let countName = PGStatement(
    """
    INSERT INTO name_count AS n VALUES ($1::bytea, $2::bigint, 1)
    ON CONFLICT (address, day) DO UPDATE SET count = n.count + 1 WHERE n.count < $3::bigint
    """)

  mutating func countName(_ quota: NameQuota, day: Int64) throws(StoreError) -> Bool {
    try run([Self.countName(.bytes(quota.address.bytes), .int(day), .int(Int64(quota.most)))])[0].count > 0
  }

  private static let renew = PGStatement("UPDATE account SET token_expires = $2::bigint WHERE id = $1::bigint")

  mutating func renew(account: Int64, until expires: Int64) throws(StoreError) {
    enqueue([Self.renew(.int(account), .int(expires))])
  }

  mutating func add(_ account: AccountRecord) throws(StoreError) -> AccountRecord {
    guard let number = try run([Self.nextNumber()])[0].rows.first?.first?.int else {
      throw .failed("the database has no number for an account")
    }
    var account = account
    account.id = number
    // If another guest takes the name meanwhile, this insertion fails, and the transaction is retried with the guest's next name.
    enqueue(PostgresRows.put(account, by: PostgresRows.addAccount))
    return account
  }

  mutating func profile(_ account: Int64) throws(StoreError) -> Profile? {
    PostgresStore.profile(try run(PostgresStore.profileCalls(account)))
  }

  // MARK: sessions

  private static let lockAccountOfSession = PGStatement(
    """
    SELECT id FROM account WHERE id = (
      SELECT account FROM session WHERE resume = $1::bytea OR previous = $1::bytea ORDER BY id LIMIT 1)
    FOR UPDATE
    """)
  private static let sessionPresenting = PGStatement(
    """
    SELECT id, account, resume, previous, expires FROM session WHERE resume = $1::bytea OR previous = $1::bytea
    ORDER BY id LIMIT 1 FOR UPDATE
    """)
  private static let lockSession = PGStatement("SELECT node FROM session WHERE id = $1 FOR UPDATE")
  private static let enterSession = PGStatement(
    """
    INSERT INTO session (id, account, resume, previous, expires, generation, node)
    VALUES ($1, $2, $3, $4, $5, 1, $6)
    ON CONFLICT (id) DO UPDATE SET account = excluded.account, resume = excluded.resume,
      previous = excluded.previous, expires = excluded.expires, generation = session.generation + 1,
      node = excluded.node
    RETURNING generation
    """)
  private static let forgetOthers = PGStatement(
    "DELETE FROM session WHERE account = $1::bigint AND id <> $2 RETURNING id")
  private static let forgetOldest = PGStatement(
    """
    DELETE FROM session WHERE id IN (
      SELECT id FROM session WHERE account = $1::bigint
      ORDER BY id = $3 DESC, EXISTS (SELECT 1 FROM node n WHERE n.id = session.node AND n.\(PostgresRows.lives)) DESC,
        expires DESC, id DESC OFFSET $2::bigint)
    RETURNING id
    """)

  private static func presenting(_ token: SHA256.Digest) -> [PGCall] {
    [lockAccountOfSession, sessionPresenting].map { $0(.bytes(token.bytes)) }
  }

  mutating func session(presenting token: SHA256.Digest) throws(StoreError) -> SessionRecord? {
    let found = try run(Self.presenting(token))
    guard let row = found[1].rows.first, let id = row[0].text, let account = row[1].int,
      let resume = row[2].bytes.flatMap({ SHA256.Digest(bytes: $0) })
    else { return nil }
    let previous = row[3].bytes.flatMap { SHA256.Digest(bytes: $0) }
    return SessionRecord(id: id, account: account, resume: resume, previous: previous, expires: row[4].int ?? 0)
  }

  mutating func login(
    _ session: SessionRecord, at node: NodeID
  ) throws(StoreError) -> (generation: Int64, before: NodeID?) {
    let put = Self.enterSession(
      .text(session.id), .int(session.account), .bytes(session.resume.bytes), .optional(session.previous?.bytes),
      .int(session.expires), .text(node))
    let enter = [Self.lockSession(.text(session.id)), put]
    // The rest of the login, which deletes the oldest sessions and reads the profile, shares this round trip.
    let most = SessionRecord.mostPerAccount
    try prefetch(
      enter + [Self.trimming(session.account, to: most, but: session.id)]
        + PostgresStore.profileCalls(session.account))
    let found = try run(enter)
    return (found[1].rows.first?.first?.int ?? 0, found[0].rows.first?.first?.text)
  }

  mutating func forgetSessions(of account: Int64, but kept: String) throws(StoreError) -> [String] {
    try run([Self.forgetOthers(.int(account), .text(kept))])[0].rows.compactMap { $0.first?.text }.sorted()
  }

  private static func trimming(_ account: Int64, to most: Int, but kept: String) -> PGCall {
    forgetOldest(.int(account), .int(Int64(most)), .text(kept))
  }

  mutating func trimSessions(
    of account: Int64, to most: Int, but kept: String
  ) throws(StoreError) -> [String] {
    try run([Self.trimming(account, to: most, but: kept)])[0].rows.compactMap { $0.first?.text }.sorted()
  }
}
