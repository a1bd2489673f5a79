import MatchProtocol
import MatchStore
import TicTacToe

/// Sessions and accounts as several nodes share them.
extension PostgresCluster {
  private static let leaseIsGood = PGStatement(
    "lease_is_good", "SELECT \(now) FROM node WHERE epoch = $1::bigint AND lease_until > \(now)")

  /// Makes calls in a transaction if the incarnation's lease is good; returns their rows, and the database's time.
  static func runWithLease(
    _ mine: Int64, _ calls: [PGCall], _ transaction: inout PostgresPool.Transaction
  ) throws(StoreError) -> (rows: [PGRows], now: Int64) {
    let found = try transaction.run([leaseIsGood(.int(mine))] + calls)
    guard let now = found.first?.rows.first?.first?.int else {
      throw .conflict("the lease of incarnation \(mine) has run out")
    }
    return (Array(found.dropFirst()), now)
  }

  // MARK: entering

  private static let sessionByToken = PGStatement(
    "session_by_token",
    """
    SELECT id, account, resume, previous, expires, generation, epoch FROM session
    WHERE resume = $1::bytea OR previous = $1::bytea ORDER BY id LIMIT 1 FOR UPDATE
    """)
  private static let accountByToken = PGStatement(
    "account_by_token", "SELECT id FROM account WHERE token = $1::bytea AND token_expires > $2::bigint LIMIT 1")
  private static let freeName = PGStatement(
    "free_name",
    """
    SELECT u.name, nextval('account_id')
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u (name, lower, i)
    WHERE NOT EXISTS (SELECT 1 FROM account WHERE name_lower = u.lower) ORDER BY i LIMIT 1
    """)
  private static let putSession = PGStatement(
    "enter_session",
    """
    INSERT INTO session (id, account, resume, previous, expires, generation, epoch)
    VALUES ($1, $2, $3, $4, $5, 1, $6)
    ON CONFLICT (id) DO UPDATE SET account = excluded.account, resume = excluded.resume,
      previous = excluded.previous, expires = excluded.expires, generation = session.generation + 1,
      epoch = excluded.epoch
    RETURNING generation
    """)

  private static let dropOldest = PGStatement(
    "drop_oldest",
    """
    DELETE FROM session WHERE id IN (
      SELECT id FROM session WHERE account = $1::bigint
      ORDER BY NOT EXISTS (SELECT 1 FROM node n WHERE n.epoch = session.epoch AND n.lease_until > \(now)),
        expires DESC, id DESC OFFSET $2::bigint)
    RETURNING id
    """)

  package func enter(_ entry: Entry) throws(StoreError) -> EntryResult {
    let mine = try mine()
    return try pool.transact { (transaction) throws(StoreError) -> EntryResult in
      guard let way = try PostgresCluster.recognise(entry, mine, &transaction) else { return .unknown }
      var session = way.session
      let found = try transaction.run(PostgresCluster.profileCalls(session.account))
      guard let profile = PostgresCluster.profile(found) else { return .unknown }
      guard !profile.account.banned else { return .banned }
      session.expires = way.now + (profile.account.guest ? way.lives.guest : way.lives.account)
      let put = PostgresCluster.putSession(
        .text(session.id), .int(session.account), .bytes(session.resume.bytes), .optional(session.previous?.bytes),
        .int(session.expires), .int(mine))
      let drop = PostgresCluster.dropOldest(.int(session.account), .int(Int64(SessionRecord.mostPerAccount)))
      let done = try transaction.run([put, drop])
      try transaction.finish([])
      return .entered(
        Entered(
          session: session, generation: done[0].rows.first?.first?.int ?? 0, before: way.before, profile: profile,
          forgotten: done[1].rows.compactMap { $0.first?.text }))
    }
  }

  private struct Way {
    var session: SessionRecord
    var before: Int64?
    var lives: Lifetimes
    var now: Int64
  }

  /// Finds who comes, and makes guests.
  private static func recognise(
    _ entry: Entry, _ mine: Int64, _ transaction: inout PostgresPool.Transaction
  ) throws(StoreError) -> Way? {
    switch entry {
    case .resume(let presented, let fresh, let lives):
      let (found, now) = try runWithLease(mine, [sessionByToken(.bytes(presented.bytes))], &transaction)
      guard let row = found[0].rows.first, var session = PostgresRows.session(Array(row.prefix(5))),
        session.expires > now
      else { return nil }
      (session.resume, session.previous) = (fresh, presented)
      return Way(session: session, before: row[6].int, lives: lives, now: now)
    case .token(let token, let id, let resume, let lives):
      let now = try runWithLease(mine, [], &transaction).now
      let found = try transaction.run([accountByToken(.bytes(token.bytes), .int(now))])
      guard let account = found[0].rows.first?.first?.int else { return nil }
      let session = SessionRecord(id: id, account: account, resume: resume, previous: nil, expires: 0)
      return Way(session: session, before: nil, lives: lives, now: now)
    case .guest(let names, let token, let id, let resume, let lives):
      let free = freeName(.texts(names), .texts(names.map { $0.lowercased() }))
      let (found, now) = try runWithLease(mine, [free], &transaction)
      guard let row = found[0].rows.first, let name = row[0].text, let number = row[1].int else { return nil }
      let account = AccountRecord(id: number, name: name, guest: true, token: token, tokenExpires: now + lives.guest)
      // Another guest may take the name meanwhile; then all of it is tried again with the next name.
      _ = try transaction.run([PostgresRows.add(account)])
      let session = SessionRecord(id: id, account: number, resume: resume, previous: nil, expires: 0)
      return Way(session: session, before: nil, lives: lives, now: now)
    }
  }

  private static let settle = PGStatement(
    "settle", "UPDATE session SET previous = NULL WHERE id = $1 AND generation = $2::bigint")
  private static let detach = PGStatement(
    "detach", "UPDATE session SET epoch = NULL WHERE id = $1 AND generation = $2::bigint")

  package func settle(session: String, generation: Int64) throws(StoreError) {
    _ = try pool.run([PostgresCluster.settle(.text(session), .int(generation))])
  }

  package func detach(session: String, generation: Int64) throws(StoreError) {
    _ = try pool.run([PostgresCluster.detach(.text(session), .int(generation))])
  }

  // MARK: accounts

  private static let lockByID = PGStatement(
    "account_by_id", "SELECT \(PostgresRows.accountColumns), \(now) FROM account WHERE id = $1::bigint FOR UPDATE")
  private static let lockByName = PGStatement(
    "account_by_name", "SELECT \(PostgresRows.accountColumns), \(now) FROM account WHERE name_lower = $1 FOR UPDATE")
  private static let idByName = PGStatement("id_by_name", "SELECT id FROM account WHERE name_lower = $1")
  private static let dropOthers = PGStatement(
    "drop_others", "DELETE FROM session WHERE account = $1::bigint AND id <> $2 RETURNING id")

  package func change(_ who: AccountReference, _ change: AccountChange) throws(StoreError) -> ChangeResult {
    // A name that another takes at the same moment is seen as taken on the next try.
    try pool.transact { (transaction) throws(StoreError) -> ChangeResult in
      let find =
        switch who {
        case .id(let id): PostgresCluster.lockByID(.int(id))
        case .name(let name): PostgresCluster.lockByName(.text(name.lowercased()))
        }
      guard let row = try transaction.run([find])[0].rows.first, let now = row.last?.int,
        var account = PostgresRows.account(row.dropLast())
      else { return .unknown }
      let refusal = try account.apply(change, now: now) { name throws(StoreError) in
        try transaction.run([PostgresCluster.idByName(.text(name.lowercased()))])[0].rows.first?.first?.int
      }
      if let refusal { return refusal }
      var forgotten: [String] = []
      if let kept = change.keeps {
        let gone = try transaction.run([PostgresCluster.dropOthers(.int(account.id), .text(kept))])
        forgotten = gone[0].rows.compactMap { $0.first?.text }.sorted()
      }
      // The row has been locked since it was read: nothing of others is overwritten.
      try transaction.finish([PostgresRows.put(account)])
      return .changed(account, forgotten: forgotten)
    }
  }

  // MARK: profiles

  private static let account = PGStatement(
    "account",
    """
    SELECT \(PostgresRows.accountColumns), (SELECT id FROM match m WHERE m.id = account.rated_match AND m.ended IS NULL)
    FROM account WHERE id = $1::bigint
    """)
  /// The keys of a match are in its first event, be it sought or opened.
  private static let liveOf = PGStatement(
    "live_of",
    """
    SELECT \(PostgresRows.matchColumns.split(separator: ", ").map { "m.\($0)" }.joined(separator: ", ")), \(PostgresRows.eventColumns)
    FROM match m LEFT JOIN match_event e ON e.match_id = m.id AND e.seq = 1
    WHERE ended IS NULL AND (x = $1::bigint OR o = $1::bigint OR opener = $1::bigint) ORDER BY created, id
    """)
  private static let lastOf = PGStatement(
    "last_of",
    """
    SELECT id FROM match WHERE ended > \(now) - 60000 AND (x = $1::bigint OR o = $1::bigint)
    ORDER BY ended DESC, id DESC LIMIT 1
    """)
  private static let blockedNames = PGStatement(
    "blocked_names",
    """
    SELECT other.name FROM unnest((SELECT blocked[1:50] FROM account WHERE id = $1::bigint))
      WITH ORDINALITY AS b (id, i) JOIN account other ON other.id = b.id ORDER BY b.i
    """)

  static func profileCalls(_ id: Int64) -> [PGCall] { [account, liveOf, lastOf, blockedNames].map { $0(.int(id)) } }

  static func profile(_ found: [PGRows]) -> Profile? {
    guard found.count == 4, let row = found[0].rows.first, let account = PostgresRows.account(row.dropLast()) else {
      return nil
    }
    func id(_ value: PGValue?) -> MatchID? { value?.text.flatMap(MatchID.init(rawValue:)) }
    let openings = PostgresRows.matches(
      PGRows(rows: found[1].rows.map { Array($0.prefix(8)) }), PGRows(rows: found[1].rows.map { Array($0.suffix(5)) }))
    var profile = Profile(
      account: account, live: openings.map(\.record.id), last: id(found[2].rows.first?.first),
      blockedNames: found[3].rows.compactMap { $0.first?.text })
    (profile.rated, profile.openings) = (id(row.last), openings)
    return profile
  }

  package func profile(_ account: Int64) throws(StoreError) -> Profile? {
    PostgresCluster.profile(try pool.run(PostgresCluster.profileCalls(account)))
  }

  private static let top = PGStatement(
    "top",
    """
    SELECT \(PostgresRows.accountColumns) FROM account WHERE NOT guest AND rated_at > 0 AND NOT banned
    ORDER BY rating DESC, id LIMIT $1::bigint
    """)
  private static let topOf = PGStatement(
    "top_of",
    """
    SELECT \(PostgresRows.accountColumns) FROM (
      SELECT account.*, t.rating AS strength FROM standing t JOIN account ON account.id = t.account
      WHERE t.rules = $2 AND t.rated_at > 0 AND NOT guest AND NOT banned
      ORDER BY t.rating DESC, t.account LIMIT $1::bigint) AS account
    ORDER BY strength DESC, id
    """)

  package func top(_ rules: Variant, limit: Int) throws(StoreError) -> [AccountRecord] {
    let call =
      rules == .classic
      ? PostgresCluster.top(.int(Int64(limit))) : PostgresCluster.topOf(.int(Int64(limit)), .text(rules.rawValue))
    return try pool.run([call])[0].rows.compactMap(PostgresRows.account)
  }
}
