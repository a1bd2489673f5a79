import MatchProtocol
import MatchStore
import TicTacToe

extension PostgresStore {
  package func answer(_ questions: [StoreQuestion]) -> [Result<StoreAnswer, StoreError>] {
    var (answers, rest) = ([Result<StoreAnswer, StoreError>](), questions[...])
    while let first = rest.first {
      let some = first.lane == nil ? rest.prefix(1) : rest.prefix { $0.lane == first.lane }
      rest = rest.dropFirst(some.count)
      do throws(StoreError) {
        if let lane = first.lane, some.count > 1 {
          answers += try answer(some, of: lane).map { .success($0) }
        } else {
          answers.append(.success(try answerOne(first)))
        }
      } catch { answers += some.map { _ in .failure(error) } }
    }
    return answers
  }

  private func answer(_ questions: ArraySlice<StoreQuestion>, of lane: StoreLane) throws(StoreError) -> [StoreAnswer] {
    switch lane {
    case .follow(let node):
      let ids = questions.compactMap { if case .follow(let m, _) = $0 { m } else { nil } }
      return try follow(ids, node).map { .match($0) }
    case .queue:
      let wishes = questions.compactMap { if case .queue(let ticket, let rated) = $0 { (ticket, rated) } else { nil } }
      return try queue(wishes).map { .queued($0) }
    }
  }

  private func answerOne(_ question: StoreQuestion) throws(StoreError) -> StoreAnswer {
    switch question {
    case .heartbeat(let node, let address): return .heartbeat(try heartbeat(node, address))
    case .leave(let node): try leave(node)
    case .adoptOrphans(let node, let limit): return .adopted(try adoptOrphans(node, limit))
    case .compare(let node, let memory): return .differences(try compare(node, memory))
    case .clean(let guests, let age, let lives): return .cleaned(isMore: try clean(guests, age, lives))
    case .follow(let m, let node): return .match(try follow([m], node)[0])
    case .match(let m): return .match(try followed([m], asker: nil).first)
    case .code(let code):
      return .id(PostgresRows.id(try read([PostgresStore.placeOf(.text(code))])[0].rows.first?.first))
    case .live(let limit):
      let most = PGValue.int(Int64(limit))
      let found = try read([PostgresStore.openMatches(most), PostgresStore.openLogs(most)])
      return .matches(PostgresRows.matches(found[0].rows, found[1].rows))
    case .history(let account, let before, let limit):
      let values: [PGValue] = [.int(account), .int(before), .int(Int64(limit))]
      let found = try read(
        [PostgresStore.history, PostgresStore.historyLogs].map { PGCall(statement: $0, values: values) })
      return .matches(PostgresRows.matches(found[0].rows, found[1].rows))
    case .login(let entry, let node):
      return .login(
        try transact { (rows) throws(StoreError) in
          try rows.prefetch(entry)
          return try rows.login(entry, at: node)
        })
    case .settle(let session, let generation):
      try pool.run([PostgresStore.settle(.text(session), .int(generation))])
    case .detach(let session, let generation):
      try pool.run([PostgresStore.detach(.text(session), .int(generation))])
    case .change(let who, let what):
      return .change(try transact { (rows) throws(StoreError) in try rows.change(who, what) })
    case .profile(let account):
      return .profile(PostgresStore.profile(try read(PostgresStore.profileCalls(account))))
    case .accounts(let ids):
      return .accounts(try read([PostgresStore.accountsOf(.ints(ids))])[0].rows.compactMap(PostgresRows.account))
    case .top(let rules, let limit): return .accounts(try top(rules, limit))
    case .players(let list, let after, let limit): return .accounts(try players(list, after, limit))
    case .report(let report): try add(report)
    case .reports(let before, let limit): return .reports(try reports(before, limit))
    case .queue(let ticket, let rated): return .queued(try queue([(ticket, rated)])[0])
    case .unqueue(let ticket): try pool.run([PostgresStore.unqueue(.text(ticket))])
    case .tickets: return .tickets(try tickets())
    case .host(let record, let most):
      return .tournament(try transact { (rows) throws(StoreError) in try rows.host(record, most: most) })
    case .tournament(let code): return .tournament(try tournament(code))
    case .changeTournament(let code, let change):
      return .tournament(try transact { (rows) throws(StoreError) in try rows.change(code, change) })
    }
    return .done
  }

  private func transact<T>(
    _ body: (inout PostgresPool.Transaction) throws(StoreError) -> T
  ) throws(StoreError) -> T {
    try pool.transact { (transaction) throws(StoreError) in
      let result = try body(&transaction)
      try transaction.finish()
      return result
    }
  }

  // MARK: nodes

  private static let heartbeat = PGStatement(
    """
    WITH mine AS (UPDATE node SET beat_at = \(PostgresRows.now), address = $2 WHERE id = $1 RETURNING 1)
    INSERT INTO node (id, address, beat_at) SELECT $1, $2, \(PostgresRows.now) WHERE NOT EXISTS (SELECT 1 FROM mine)
    """)
  /// Sets heartbeats in the future to now. They were written before the clock was set back, and would let a dead node seem alive.
  private static let calm = PGStatement(
    """
    UPDATE node SET beat_at = \(PostgresRows.now)
    WHERE id IN (SELECT id FROM node WHERE beat_at > \(PostgresRows.now) + 1000 FOR UPDATE SKIP LOCKED)
    """)
  private static let living = PGStatement(
    "SELECT \(PostgresRows.now), id, address FROM node WHERE \(PostgresRows.lives) ORDER BY joined")

  private func heartbeat(_ node: NodeID, _ address: String) throws(StoreError) -> Heartbeat {
    let rows = try pool.run([
      PostgresStore.heartbeat(.text(node), .text(address)), PostgresStore.calm(), PostgresStore.living(),
    ])[2].rows
    guard let now = rows.first?.first?.int else { throw .failed("\(place): no node lives") }
    return Heartbeat(
      now: now,
      nodes: rows.compactMap { row in
        guard let id = row[1].text, let address = row[2].text else { return nil }
        return NodeRecord(id: id, address: address)
      })
  }

  /// The different sets of nodes that live matches list. Each step looks up the next set in an index, so that not all matches are read.
  private static let sets = """
    sets AS (
      (SELECT nodes FROM match WHERE ended IS NULL ORDER BY nodes LIMIT 1)
      UNION ALL
      SELECT (SELECT m.nodes FROM match m WHERE m.ended IS NULL AND m.nodes > sets.nodes ORDER BY m.nodes LIMIT 1)
      FROM sets WHERE sets.nodes IS NOT NULL)
    """
  private static let leaving = [
    PGStatement(once: "DELETE FROM node WHERE id = $1"),
    PGStatement(
      once: """
        WITH RECURSIVE \(sets), mine AS (
          SELECT m.id FROM sets JOIN match m ON m.nodes = sets.nodes AND m.ended IS NULL WHERE $1 = ANY(sets.nodes)
          ORDER BY m.id FOR UPDATE OF m)
        UPDATE match SET nodes = array_remove(match.nodes, $1) FROM mine WHERE match.id = mine.id
        """),
    PGStatement(once: "DELETE FROM ticket WHERE id IN (SELECT id FROM ticket WHERE node = $1 ORDER BY id FOR UPDATE)"),
    PGStatement(once: "UPDATE session SET node = NULL WHERE node = $1"),
  ]

  private func leave(_ node: NodeID) throws(StoreError) {
    try pool.run(PostgresStore.leaving.map { $0(.text(node)) }, within: 10_000)
  }

  /// Makes node $1 follow up to $2 matches that list a dead node or no node. Skips locked matches, which the next search may find.
  private static let takeLost = PGStatement(
    """
    WITH RECURSIVE \(sets), living AS MATERIALIZED (SELECT id FROM node WHERE \(PostgresRows.lives) OR id = $1),
      lost AS (
        SELECT nodes FROM sets
        WHERE nodes IS NOT NULL AND (nodes = '{}' OR NOT nodes <@ ARRAY(SELECT id FROM living))),
      found AS (
        SELECT m.id FROM lost JOIN match m ON m.nodes = lost.nodes AND m.ended IS NULL
        LIMIT $2::bigint FOR UPDATE OF m SKIP LOCKED)
    UPDATE match SET nodes = array_append(
      ARRAY(SELECT n FROM unnest(match.nodes) AS n WHERE n <> $1 AND n IN (SELECT id FROM living)), $1)
    FROM found WHERE match.id = found.id RETURNING match.id
    """)
  /// Deletes the tickets of dead nodes other than $1. `places` looks up node after node in an index instead of reading all tickets.
  private static let dropLostTickets = PGStatement(
    """
    WITH RECURSIVE places AS (
      (SELECT node FROM ticket ORDER BY node LIMIT 1)
      UNION ALL
      SELECT (SELECT t.node FROM ticket t WHERE t.node > places.node ORDER BY t.node LIMIT 1)
      FROM places WHERE places.node IS NOT NULL)
    DELETE FROM ticket WHERE id IN (
      SELECT t.id FROM places JOIN ticket t ON t.node = places.node
      WHERE places.node <> $1 AND NOT EXISTS (SELECT 1 FROM node n WHERE n.id = places.node AND n.\(PostgresRows.lives))
      FOR UPDATE OF t SKIP LOCKED)
    """)
  private static let dropDeadNodes = PGStatement(
    """
    WITH RECURSIVE \(sets)
    DELETE FROM node WHERE NOT \(PostgresRows.lives) AND id <> $1
      AND NOT EXISTS (SELECT 1 FROM sets WHERE node.id = ANY(sets.nodes))
    """)

  private func adoptOrphans(_ node: NodeID, _ limit: Int) throws(StoreError) -> [FollowedMatch] {
    let taken = try pool.run([
      PostgresStore.takeLost(.text(node), .int(Int64(limit))), PostgresStore.dropLostTickets(.text(node)),
      PostgresStore.dropDeadNodes(.text(node)),
    ])[0].rows.compactMap { PostgresRows.id($0.first) }
    return taken.isEmpty ? [] : try followed(taken, asker: node)
  }

  // MARK: comparing

  private static let otherMatches = PGStatement(
    """
    SELECT d.id, coalesce(m.seq, 0) <> d.n, m.ended IS NULL AND NOT $3 = ANY(m.nodes)
    FROM unnest($1::text[], $2::bigint[]) AS d (id, n) LEFT JOIN match m ON m.id = d.id
    WHERE coalesce(m.seq, 0) <> d.n OR m.ended IS NULL AND NOT $3 = ANY(m.nodes)
    """)
  private static let name = PGStatement(
    """
    UPDATE match SET nodes = array_append(match.nodes, $2)
    FROM (SELECT id FROM match WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE) AS locked
    WHERE match.id = locked.id AND \(PostgresRows.isLive("match")) AND NOT $2 = ANY(match.nodes)
    """)
  private static let naming = PGStatement(
    """
    WITH RECURSIVE \(sets)
    SELECT m.id FROM sets JOIN match m ON m.nodes = sets.nodes AND m.ended IS NULL WHERE $1 = ANY(sets.nodes)
    """)
  private static let otherAccounts = PGStatement(
    """
    SELECT d.id, \(PostgresRows.accountColumns)
    FROM unnest($1::bigint[], $2::bigint[]) AS d (id, version) LEFT JOIN account ON account.id = d.id
    WHERE account.version IS DISTINCT FROM d.version ORDER BY d.id
    """)
  private static let otherSessions = PGStatement(
    """
    SELECT d.id FROM unnest($1::text[], $2::bigint[]) AS d (id, generation) LEFT JOIN session s ON s.id = d.id
    WHERE s.generation IS DISTINCT FROM d.generation
    """)
  private static let otherTickets = PGStatement(
    """
    SELECT d.id, t.match_id FROM unnest($1::text[]) AS d (id) LEFT JOIN ticket t ON t.id = d.id
    WHERE t.id IS NULL OR t.match_id IS NOT NULL
    """)

  private func compare(_ node: NodeID, _ memory: Memory) throws(StoreError) -> Differences {
    let matches = memory.matches.sorted { $0.key < $1.key }
    let lengths = PostgresStore.otherMatches(
      .texts(matches.map(\.key.rawValue)), .ints(matches.map { Int64($0.value) }), .text(node))
    let others = [
      PostgresStore.otherAccounts(.ints(Array(memory.accounts.keys)), .ints(Array(memory.accounts.values))),
      PostgresStore.otherSessions(.texts(Array(memory.sessions.keys)), .ints(Array(memory.sessions.values))),
      PostgresStore.otherTickets(.texts(Set(memory.tickets).sorted())),
    ]
    let naming = memory.wantsOthers ? [PostgresStore.naming(.text(node))] : []
    let found = try read([lengths] + others + naming).map(\.rows)
    var rows = found[0]
    let unnamed = rows.filter { $0[2].bool == true }.compactMap { $0[0].text }
    if !unnamed.isEmpty {
      // Read the lengths again after adding the node to the matches: from then on other nodes notify it, so it misses no event.
      try pool.run([PostgresStore.name(.texts(unnamed), .text(node))])
      rows = try read([lengths])[0].rows
    }
    let named = found.dropFirst(4).joined().compactMap { PostgresRows.id($0[0]) }
    var differences = Differences()
    differences.matches = rows.filter { $0[1].bool == true }.compactMap { PostgresRows.id($0[0]) }
    differences.matches += named.filter { memory.matches[$0] == nil }
    differences.matches.sort()
    for row in found[1] {
      if let account = PostgresRows.account(row.dropFirst()) {
        differences.accounts.append(account)
      } else if let id = row[0].int {
        differences.gone.append(id)
      }
    }
    differences.sessions = found[2].compactMap { $0[0].text }.sorted()
    for row in found[3] {
      guard let id = row[0].text else { continue }
      differences.tickets.append(.init(id: id, m: PostgresRows.id(row[1])))
    }
    differences.tickets.sort { $0.id < $1.id }
    return differences
  }

  // MARK: cleaning

  private static let cleaning = PGStatement(
    once: "SELECT pg_try_advisory_xact_lock(\(PostgresMigrations.lockClass), hashtext('clean ' || current_schema()))")
  private static func isHere(_ session: String) -> String {
    "EXISTS (SELECT 1 FROM node n WHERE n.id = \(session).node AND n.\(PostgresRows.lives))"
  }
  private static func plays(_ seat: String, _ since: String = "") -> String {
    "EXISTS (SELECT 1 FROM match m WHERE (m.ended IS NULL\(since)) AND m.\(seat) = a.id)"
  }
  private static let recently = " OR m.ended > \(PostgresRows.now) - 600000"
  /// $1, $2: the new lifetime in ms for guests and other accounts. $3, $4: sessions with more time left are not renewed. $5: most sessions.
  private static let renew = PGStatement(
    once: """
      WITH here AS (
          SELECT s.id, s.account, \(PostgresRows.now) + CASE WHEN a.guest THEN $1::bigint ELSE $2::bigint END AS expires
          FROM session s JOIN account a ON a.id = s.account
          WHERE s.node = ANY(ARRAY(SELECT id FROM node WHERE \(PostgresRows.lives)))
            AND s.expires < \(PostgresRows.now) + CASE WHEN a.guest THEN $3::bigint ELSE $4::bigint END
          LIMIT $5::bigint FOR UPDATE SKIP LOCKED),
        used AS (
          UPDATE account SET token_expires = u.expires FROM (SELECT account, max(expires) AS expires FROM here GROUP BY account) AS u
          WHERE id = u.account)
      UPDATE session SET expires = here.expires FROM here WHERE session.id = here.id
      """)
  private static let dropSessions = PGStatement(
    once: """
      DELETE FROM session WHERE id IN (
        SELECT id FROM session s WHERE expires <= \(PostgresRows.now) AND NOT \(isHere("s"))
        LIMIT $1::bigint FOR UPDATE SKIP LOCKED)
      """)
  /// Keeps accounts that played in a match that ended less than ten minutes ago: a rematch may need them.
  private static let isForgotten = """
    token_expires <= \(PostgresRows.now) AND (guest OR NOT banned) AND NOT EXISTS (SELECT 1 FROM session s WHERE s.account = a.id)
      AND NOT \(plays("x", recently)) AND NOT \(plays("o", recently)) AND NOT \(plays("opener"))
    """
  private static let isIdle = """
    guest AND NOT EXISTS (SELECT 1 FROM session s WHERE s.account = a.id AND \(isHere("s")))
      AND NOT \(plays("x")) AND NOT \(plays("o")) AND NOT \(plays("opener"))
    """
  private static let lockForgotten = PGStatement(
    once: "SELECT id FROM account a WHERE \(isForgotten) LIMIT $1::bigint FOR UPDATE SKIP LOCKED")
  private static let countGuests = PGStatement(
    once: "SELECT count(*) FROM (SELECT 1 FROM account WHERE guest LIMIT $1::bigint) AS guests")
  private static let lockIdle = PGStatement(
    once: "SELECT id FROM account a WHERE \(isIdle) ORDER BY token_expires, id LIMIT $1::bigint FOR UPDATE SKIP LOCKED")
  /// Checks `condition` again: a player may have logged in before the accounts were locked.
  private static func dropGuests(_ condition: String) -> PGStatement {
    PGStatement(
      once: """
        WITH gone AS (DELETE FROM account a WHERE id = ANY($1::bigint[]) AND \(condition) RETURNING id),
          theirs AS (DELETE FROM session WHERE account IN (SELECT id FROM gone)),
          wishes AS (DELETE FROM ticket WHERE account IN (SELECT id FROM gone))
        SELECT count(*) FROM gone
        """)
  }
  private static let (dropForgotten, dropIdle) = (dropGuests(isForgotten), dropGuests(isIdle))
  private static let dropKeys = PGStatement(
    once: """
      DELETE FROM used_key WHERE (account, key) IN (
        SELECT account, key FROM used_key k WHERE at < \(PostgresRows.now) - $1::bigint
          AND NOT EXISTS (SELECT 1 FROM match m WHERE m.id = k.match_id AND m.ended IS NULL)
        LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
      """)
  private static let dropLed = PGStatement(
    once: """
      DELETE FROM ticket WHERE id IN (
        SELECT id FROM ticket t WHERE match_id IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM match m WHERE m.id = t.match_id AND m.ended IS NULL)
        LIMIT $1::bigint FOR UPDATE OF t SKIP LOCKED)
      """)
  private static let dropReports = PGStatement(
    once: """
      DELETE FROM report WHERE id IN (
        SELECT id FROM report WHERE at < \(PostgresRows.now) - $1::bigint LIMIT $2::bigint)
      """)

  private static let dropNameCounts = PGStatement(
    once: """
      DELETE FROM name_count WHERE (address, day) IN (
        SELECT address, day FROM name_count WHERE day < \(PostgresRows.now) / 86400000 LIMIT $1::bigint FOR UPDATE SKIP LOCKED)
      """)

  /// Returns whether more expired rows may be left to delete.
  private func clean(_ most: Int, _ age: Int64, _ lives: Lifetimes) throws(StoreError) -> Bool {
    let (some, fresh) = (PGValue.int(Int64(StoreQuestion.cleanedAtOnce)), lives.fresh)
    return try pool.transact { (transaction) throws(StoreError) in
      // Only one node cleans at a time.
      guard try transaction.run([PostgresStore.cleaning()])[0].rows.first?.first?.bool == true else { return false }
      var found = try transaction.run([
        PostgresStore.renew(
          .int(lives.guest), .int(lives.account), .int(fresh.guest), .int(fresh.account), some),
        PostgresStore.dropSessions(some), PostgresStore.lockForgotten(some),
      ])
      let left = try transaction.run([
        PostgresStore.dropForgotten(.ints(found[2].rows.compactMap { $0.first?.int })),
        PostgresStore.countGuests(.int(Int64(most + StoreQuestion.cleanedAtOnce))),
      ])[1].rows.first?.first?.int
      let tooMany = (left ?? 0) - Int64(most)
      if tooMany > 0 {
        let idle = try transaction.run([PostgresStore.lockIdle(.int(tooMany))])[0]
        _ = try transaction.run([PostgresStore.dropIdle(.ints(idle.rows.compactMap { $0.first?.int }))])
        found.append(idle)
      }
      found += try transaction.finish(
        [
          PostgresStore.dropKeys(.int(age), some), PostgresStore.dropLed(some),
          PostgresStore.dropReports(.int(ReportRecord.lives), some), PostgresStore.dropNameCounts(some),
        ] + PostgresStore.dropTournaments.map { $0(.int(TournamentRecord.kept)) })
      return found.contains { $0.count >= StoreQuestion.cleanedAtOnce }
    }
  }

  // MARK: matches

  private static let followedMatches = PGStatement(
    "SELECT \(PostgresRows.matchColumns), nodes, \(PostgresRows.now) FROM match WHERE id = ANY($1::text[]) ORDER BY id")
  private static let followedLogs = PGStatement(
    "SELECT \(PostgresRows.eventColumns) FROM match_event e WHERE match_id = ANY($1::text[]) ORDER BY match_id, seq")
  /// The accounts that play the matches `$1` or opened their rooms.
  private static let seats = """
    ANY(ARRAY(SELECT unnest(ARRAY[m.x, m.o, m.opener]) FROM match m WHERE m.id = ANY($1::text[])))
    """
  private static let followedAccounts = PGStatement(
    "SELECT \(PostgresRows.accountColumns) FROM account WHERE account.id = \(seats) ORDER BY account.id")
  private static let followedHere = PGStatement(
    """
    SELECT DISTINCT s.account, s.node FROM session s
    WHERE s.account = \(seats) AND (s.node = $2 OR \(isHere("s")))
    """)

  private func follow(_ ids: [MatchID], _ node: NodeID) throws(StoreError) -> [FollowedMatch?] {
    // Add the node to the matches before reading: from then on other nodes notify it, so it misses no event.
    try pool.run([PostgresStore.name(.texts(ids.map(\.rawValue)), .text(node))])
    let found = Dictionary(uniqueKeysWithValues: try followed(ids, asker: node).map { ($0.match.record.id, $0) })
    return ids.map { found[$0] }
  }

  /// The existing matches, in the order of their ids. Sessions at node `asker` count as connected, whatever its last heartbeat.
  private func followed(_ ids: [MatchID], asker: NodeID?) throws(StoreError) -> [FollowedMatch] {
    let values = PGValue.texts(ids.map(\.rawValue))
    let found = try read([
      PostgresStore.followedMatches(values), PostgresStore.followedLogs(values),
      PostgresStore.followedAccounts(values), PostgresStore.followedHere(values, .optional(asker)),
    ])
    let accounts = Dictionary(
      found[2].rows.compactMap(PostgresRows.account).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    var here: [Int64: Set<NodeID>] = [:]
    for row in found[3].rows {
      if let account = row[0].int, let node = row[1].text { here[account, default: []].insert(node) }
    }
    let matches = PostgresRows.matches(found[0].rows, found[1].rows)
    return zip(matches, found[0].rows).map { match, row in
      let seats = Set(match.record.accounts).sorted()
      return FollowedMatch(
        match: match, accounts: seats.compactMap { accounts[$0] },
        nodes: PostgresRows.nodes(row[PostgresRows.matchWidth]), here: here.filter { seats.contains($0.key) },
        now: row.last?.int ?? 0)
    }
  }

  private static let placeOf = PGStatement(
    """
    SELECT id FROM match WHERE code = $1 AND ended IS NULL
    ORDER BY x IS NOT NULL, created DESC, id DESC LIMIT 1
    """)
  private static let open =
    "FROM match WHERE ended IS NULL AND opener IS NULL ORDER BY created DESC, id DESC LIMIT $1::bigint"
  private static let openMatches = PGStatement("SELECT \(PostgresRows.matchColumns) \(open)")
  private static let openLogs = PGStatement(
    """
    SELECT \(PostgresRows.eventColumns) FROM match_event e WHERE match_id = ANY(ARRAY(SELECT id \(open)))
    ORDER BY match_id, seq
    """)

  /// The latest ended matches of account `$1`. Each seat (X, O) is searched by its index.
  static func latest(_ columns: String, ended: String = "< $2::bigint", most: String = "$3::bigint") -> String {
    let seats = ["x", "o"].map { seat in
      "(SELECT \(columns) FROM match WHERE \(seat) = $1::bigint AND ended \(ended)"
        + " ORDER BY ended DESC FETCH FIRST (\(most)) ROWS WITH TIES)"
    }
    // WITH TIES adds matches that ended in the same millisecond as the page's last match: the next page begins before this millisecond.
    return "SELECT * FROM (SELECT \(columns) FROM (" + seats.joined(separator: " UNION ")
      + ") AS seats ORDER BY ended DESC FETCH FIRST (\(most)) ROWS WITH TIES) AS page ORDER BY ended DESC, id DESC"
  }
  private static let history = PGStatement(latest(PostgresRows.matchColumns))
  private static let historyLogs = PGStatement(
    """
    SELECT \(PostgresRows.eventColumns) FROM match_event e
    WHERE match_id = ANY(ARRAY(SELECT id FROM (\(latest("id, ended"))) AS page)) ORDER BY match_id, seq
    """)
}
