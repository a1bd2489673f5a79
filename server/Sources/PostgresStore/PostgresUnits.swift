import MatchProtocol
import MatchStore
import TicTacToe

/// Units. Moves, which are most of them, go out in one flight of one statement. Where one needs more than the length of
/// a log, all of the batch is two flights of one transaction: what the units look at is locked and read, they are judged
/// one after the other, and what has become of it all is written.
///
/// Rows are locked accounts first, then matches, tickets and keys, each by id: nobody waits for another in a circle.
extension PostgresStore {
  package func apply(_ units: [StoreUnit]) -> [Verdict] {
    let mistakes = units.map(\.mistake)
    let sound = zip(units, mistakes).compactMap { $1 == nil ? $0 : nil }
    var verdicts = sound.isEmpty ? [] : applySound(sound)[...]
    return mistakes.map { $0.map { .failed($0) } ?? verdicts.removeFirst() }
  }

  private func applySound(_ units: [StoreUnit]) -> [Verdict] {
    do throws(StoreError) {
      return units.areMoves ? try move(units) : try judge(units)
    } catch {
      let verdict: Verdict = if case .unknown(let what) = error { .unknown(what) } else { .failed("\(error)") }
      return units.map { _ in verdict }
    }
  }

  /// Counting takes all locks before the first log grows. `IS TRUE` keeps what has grown from being joined row by row: it is
  /// looked up in a hash.
  private static let append = PGStatement(
    "append",
    """
    WITH locked AS MATERIALIZED (SELECT FROM match WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE),
      grown AS (
        UPDATE match SET seq = match.seq + d.n
        FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS d (id, after, n)
        WHERE (SELECT count(*) FROM locked) > 0 AND match.id = d.id AND match.seq = d.after
        RETURNING match.id, match.nodes),
      logged AS (
        INSERT INTO match_event (match_id, seq, body)
        SELECT e.* FROM unnest($4::text[], $5::bigint[], $6::bytea[]) AS e (match_id, seq, body)
        WHERE (e.match_id IN (SELECT id FROM grown)) IS TRUE)
    SELECT id, nodes FROM grown
    """)

  private func move(_ units: [StoreUnit]) throws(StoreError) -> [Verdict] {
    let logs = units.flatMap(\.logs)
    let call = PostgresStore.append(
      .texts(logs.map(\.m.rawValue)), .ints(logs.map { Int64($0.after) }), .ints(logs.map { Int64($0.events.count) }),
      events: logs.flatMap { log in log.events.map { (log.m, $0) } })
    let grown = Dictionary(
      try writer.run([call])[0].rows.map { ($0[0].text, PostgresRows.nodes($0[1])) }, uniquingKeysWith: { $1 })
    return logs.map { log in
      grown[log.m.rawValue].map { .applied([log.m: $0]) } ?? .conflict(.log(log.m))
    }
  }

  private func judge(_ units: [StoreUnit]) throws(StoreError) -> [Verdict] {
    let needs = PostgresNeeds(units)
    return try writer.transact { (transaction) throws(StoreError) in
      var judge = PostgresJudge(needs, try transaction.run(needs.calls))
      var verdicts: [Verdict] = []
      for unit in units { verdicts.append(try judge.judge(unit)) }
      let writes = judge.writes
      if !writes.isEmpty { try transaction.finish(writes) }
      return verdicts
    }
  }
}

extension [StoreUnit] {
  /// Whether each is a move, in a match of its own.
  fileprivate var areMoves: Bool {
    allSatisfy(\.isMove) && Set(map { $0.logs[0].m }).count == count
  }
}

extension PGStatement {
  /// With the events of matches as the last three parameters.
  fileprivate func callAsFunction(_ values: PGValue..., events: [(m: MatchID, event: StoredEvent)]) -> PGCall {
    PGCall(
      statement: self,
      values: values + [
        .texts(events.map(\.m.rawValue)), .ints(events.map { Int64($0.event.seq) }),
        .blobs(events.map(\.event.body)),
      ])
  }
}

/// What a batch of units looks at.
private struct PostgresNeeds {
  var accounts: Set<Int64> = []
  var matches: Set<MatchID> = []
  var tickets: Set<String> = []
  var keys: Set<PostgresJudge.Key> = []
  var codes: Set<String> = []

  init(_ units: [StoreUnit]) {
    for unit in units {
      for log in unit.logs {
        matches.insert(log.m)
        if let record = log.record {
          if record.ended != nil { accounts.formUnion([record.x, record.o].compactMap(\.self)) }
          if let code = record.openCode { codes.insert(code) }
        }
      }
      accounts.formUnion(unit.scores.map(\.account))
      accounts.formUnion(unit.slots.map(\.account))
      accounts.formUnion(unit.keys.map(\.account))
      tickets.formUnion(unit.tickets)
      keys.formUnion(unit.keys.map(PostgresJudge.Key.init))
    }
  }

  private static let lockAccounts = PGStatement(
    "lock_accounts", "SELECT id FROM account WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE")
  private static let lockMatches = PGStatement(
    "lock_matches", "SELECT id, seq, nodes FROM match WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE")
  /// In a later statement than the lock: it sees what was done while that waited.
  private static let accounts = PGStatement(
    "slots",
    """
    SELECT a.id, a.rating, a.deviation, a.volatility, m.id FROM account a
      LEFT JOIN match m ON m.id = a.rated_match AND m.ended IS NULL
    WHERE a.id = ANY($1::bigint[])
    """)
  private static let standings = PGStatement(
    "standings",
    "SELECT account, rules, rating, deviation, volatility FROM standing WHERE account = ANY($1::bigint[])")
  private static let lockTickets = PGStatement(
    "lock_tickets",
    "SELECT id FROM ticket WHERE id = ANY($1::text[]) AND match_id IS NULL ORDER BY id FOR UPDATE")
  private static let keys = PGStatement(
    "used_keys",
    """
    SELECT k.account, k.key, k.purpose, m.id
    FROM unnest($1::bigint[], $2::text[]) AS d (account, key)
      JOIN used_key k ON k.account = d.account AND k.key = d.key JOIN match m ON m.id = k.match_id AND m.ended IS NULL
    """)
  private static let rooms = PGStatement(
    "rooms", "SELECT code, id FROM match WHERE code = ANY($1::text[]) AND x IS NULL AND ended IS NULL")

  /// The questions, of which those about nothing are left out: see `PostgresJudge.init`.
  var calls: [PGCall] {
    let numbers = PGValue.ints(accounts.sorted())
    var calls = accounts.isEmpty ? [] : [PostgresNeeds.lockAccounts(numbers)]
    calls.append(PostgresNeeds.lockMatches(.texts(matches.map(\.rawValue))))
    if !accounts.isEmpty { calls += [PostgresNeeds.accounts(numbers), PostgresNeeds.standings(numbers)] }
    if !tickets.isEmpty { calls.append(PostgresNeeds.lockTickets(.texts(Array(tickets)))) }
    if !keys.isEmpty { calls.append(PostgresNeeds.keys(.ints(keys.map(\.account)), .texts(keys.map(\.key)))) }
    if !codes.isEmpty { calls.append(PostgresNeeds.rooms(.texts(Array(codes)))) }
    return calls
  }
}

extension MatchRecord {
  /// The code of an open room.
  fileprivate var openCode: String? { x == nil && ended == nil ? code : nil }
}

/// Judges units one after the other by what was read under locks, and gathers what those that hold write.
private struct PostgresJudge: StoreConditions {
  struct Key: Hashable {
    var account: Int64
    var key: String

    init(account: Int64, key: String) { (self.account, self.key) = (account, key) }
    init(_ key: StoreUnit.Key) { self.init(account: key.account, key: key.key) }
  }

  private struct Match {
    var length: Int
    var nodes: [NodeID]
    var isNew = false
    var grown = 0
    var record: MatchRecord?
  }

  private struct Account {
    var ratings: [Variant: Glicko2.Rating]
    var slot: MatchID?
    var isSlotMoved = false
    /// What is added to its row, and to those of other games, by how many results.
    var score: AccountScore?
    var results: Int64 = 0
    var others: [Variant: AccountScore] = [:]
  }

  private struct Use {
    var purpose: String
    var m: MatchID
  }

  // As it is after the units that were judged.
  private var matches: [MatchID: Match] = [:]
  private var accounts: [Int64: Account] = [:]
  private var tickets: Set<String> = []
  private var uses: [Key: Use] = [:]
  private var rooms: [String: MatchID] = [:]

  // What is written besides.
  private var events: [(m: MatchID, event: StoredEvent)] = []
  private var ledTickets: [(id: String, m: MatchID)] = []
  private var newUses: [Key: Use] = [:]

  init(_ needs: PostgresNeeds, _ found: [PGRows]) {
    var answers = found.map(\.rows)[...]
    if !needs.accounts.isEmpty { answers.removeFirst() }
    for row in answers.removeFirst() {
      guard let m = PostgresRows.id(row[0]), let length = row[1].int else { continue }
      matches[m] = Match(length: Int(length), nodes: PostgresRows.nodes(row[2]))
    }
    if !needs.accounts.isEmpty {
      for row in answers.removeFirst() {
        guard let id = row[0].int, let rating = PostgresJudge.rating(row[1...3]) else { continue }
        accounts[id] = Account(ratings: [.classic: rating], slot: PostgresRows.id(row[4]))
      }
      for row in answers.removeFirst() {
        guard let id = row[0].int, let rules = row[1].text.flatMap(Variant.init(rawValue:)) else { continue }
        accounts[id]?.ratings[rules] = PostgresJudge.rating(row[2...4])
      }
    }
    if !needs.tickets.isEmpty { tickets = Set(answers.removeFirst().compactMap { $0[0].text }) }
    if !needs.keys.isEmpty {
      for row in answers.removeFirst() {
        guard let account = row[0].int, let key = row[1].text, let purpose = row[2].text,
          let m = PostgresRows.id(row[3])
        else { continue }
        uses[Key(account: account, key: key)] = Use(purpose: purpose, m: m)
      }
    }
    if !needs.codes.isEmpty {
      for row in answers.removeFirst() { if let code = row[0].text { rooms[code] = PostgresRows.id(row[1]) } }
    }
  }

  private static func rating(_ row: ArraySlice<PGValue>) -> Glicko2.Rating? {
    let numbers = row.compactMap(\.double)
    return numbers.count == 3 ? Glicko2.Rating(value: numbers[0], deviation: numbers[1], volatility: numbers[2]) : nil
  }

  // MARK: judging

  mutating func judge(_ unit: StoreUnit) throws(StoreError) -> Verdict {
    if let conflict = try conflict(unit) { return .conflict(conflict) }
    var followers: [MatchID: [NodeID]] = [:]
    for log in unit.logs {
      if let match = matches[log.m], log.after > 0 { followers[log.m] = match.nodes }
      grow(log)
    }
    guard let m = unit.logs.first?.m else { return .applied(followers) }
    for score in unit.scores { add(score) }
    for slot in unit.slots {
      accounts[slot.account]?.slot = m
      accounts[slot.account]?.isSlotMoved = true
    }
    for key in unit.keys {
      uses[Key(key)] = Use(purpose: key.purpose, m: m)
      newUses[Key(key)] = uses[Key(key)]
    }
    tickets.subtract(unit.tickets)
    ledTickets += unit.tickets.map { ($0, m) }
    return .applied(followers)
  }

  func length(of m: MatchID) -> Int? { matches[m]?.length }
  func waits(ticket: String) -> Bool { tickets.contains(ticket) }
  func slot(of account: Int64) -> MatchID? { accounts[account]?.slot }
  func openRoom(_ code: String) -> MatchID? { rooms[code] }

  func use(of key: String, _ account: Int64) -> (purpose: String, live: MatchID?)? {
    uses[Key(account: account, key: key)].map { ($0.purpose, $0.m) }
  }

  /// Whoever has not played a game has the rating of a new player in it.
  func rating(of account: Int64, _ rules: Variant) -> Glicko2.Rating? {
    accounts[account].map { $0.ratings[rules] ?? Standing().rating }
  }

  private mutating func grow(_ log: StoreUnit.Log) {
    events += log.events.map { (log.m, $0) }
    var match = matches[log.m] ?? Match(length: 0, nodes: Set(log.nodes).sorted(), isNew: true)
    match.length += log.events.count
    match.grown += log.events.count
    match.record = log.record ?? match.record
    matches[log.m] = match
    guard let record = log.record else { return }
    rooms = rooms.filter { $0.value != log.m }
    if let code = record.openCode { rooms[code] = log.m }
    guard record.ended != nil else { return }
    uses = uses.filter { $0.value.m != log.m }
    for case let seat? in [record.x, record.o] where accounts[seat]?.slot == log.m {
      accounts[seat]?.slot = nil
      accounts[seat]?.isSlotMoved = true
    }
  }

  private mutating func add(_ score: AccountScore) {
    guard var account = accounts[score.account] else { return }
    account.results += 1
    if let rating = score.rating { account.ratings[score.rules] = rating }
    account.score = (account.score ?? AccountScore(account: score.account)).adding(score.onAccount)
    if score.rules != .classic {
      account.others[score.rules] =
        (account.others[score.rules] ?? AccountScore(account: score.account, score.rules)).adding(score)
    }
    accounts[score.account] = account
  }

  // MARK: writing

  private static let beginMatches = PGStatement(
    "begin_matches",
    """
    INSERT INTO match (id, x, o, opener, code, created, ended, seq, nodes)
    SELECT d.id, d.x, d.o, d.opener, d.code, d.created, d.ended, d.n, string_to_array(d.nodes, ' ')
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[],
      $8::bigint[], $9::text[]) AS d (id, x, o, opener, code, created, ended, n, nodes)
    """)
  private static let growMatches = PGStatement(
    "grow_matches",
    """
    UPDATE match SET seq = match.seq + d.n FROM unnest($1::text[], $2::bigint[]) AS d (id, n) WHERE match.id = d.id
    """)
  private static let changeMatches = PGStatement(
    "change_matches",
    """
    UPDATE match SET x = d.x, o = d.o, opener = d.opener, code = d.code, created = d.created, ended = d.ended,
      seq = match.seq + d.n
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[],
      $8::bigint[]) AS d (id, x, o, opener, code, created, ended, n)
    WHERE match.id = d.id
    """)
  private static let addEvents = PGStatement(
    "add_events",
    """
    INSERT INTO match_event (match_id, seq, body) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])
    """)
  /// A slot that does not move is NULL, one that is freed is empty.
  private static let changeAccounts = PGStatement(
    "change_accounts",
    """
    UPDATE account SET won = account.won + d.won, drawn = account.drawn + d.drawn, lost = account.lost + d.lost,
      x_balance = account.x_balance + d.x, rating = coalesce(d.rating, account.rating),
      deviation = coalesce(d.deviation, account.deviation), volatility = coalesce(d.volatility, account.volatility),
      rated_at = coalesce(d.rated_at, account.rated_at), version = account.version + d.versions,
      rated_match = CASE WHEN d.slot IS NULL THEN account.rated_match ELSE nullif(d.slot, '') END
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], $7::float8[],
      $8::float8[], $9::bigint[], $10::bigint[], $11::text[])
      AS d (id, won, drawn, lost, x, rating, deviation, volatility, rated_at, versions, slot)
    WHERE account.id = d.id
    """)
  private static let addStandings: PGStatement = {
    let new = Standing().rating
    return PGStatement(
      "add_standings",
      """
      INSERT INTO standing AS s (account, rules, rating, deviation, volatility, rated_at, won, drawn, lost)
      SELECT d.id, d.rules, coalesce(d.rating, \(new.value)), coalesce(d.deviation, \(new.deviation)),
        coalesce(d.volatility, \(new.volatility)), coalesce(d.rated_at, 0), d.won, d.drawn, d.lost
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], $7::float8[],
        $8::float8[], $9::bigint[]) AS d (id, rules, won, drawn, lost, rating, deviation, volatility, rated_at)
      ON CONFLICT (account, rules) DO UPDATE SET won = s.won + excluded.won, drawn = s.drawn + excluded.drawn,
        lost = s.lost + excluded.lost,
        rating = CASE WHEN excluded.rated_at > 0 THEN excluded.rating ELSE s.rating END,
        deviation = CASE WHEN excluded.rated_at > 0 THEN excluded.deviation ELSE s.deviation END,
        volatility = CASE WHEN excluded.rated_at > 0 THEN excluded.volatility ELSE s.volatility END,
        rated_at = CASE WHEN excluded.rated_at > 0 THEN excluded.rated_at ELSE s.rated_at END
      """)
  }()
  private static let leadTickets = PGStatement(
    "lead_tickets",
    "UPDATE ticket SET match_id = d.m FROM unnest($1::text[], $2::text[]) AS d (id, m) WHERE ticket.id = d.id")
  private static let useKeys = PGStatement(
    "use_keys",
    """
    INSERT INTO used_key (account, key, match_id, purpose, at)
    SELECT d.*, \(PostgresRows.now) FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS d
    ON CONFLICT (account, key) DO UPDATE SET match_id = excluded.match_id, purpose = excluded.purpose, at = excluded.at
    """)

  /// What has become of it all; nothing if nothing holds.
  var writes: [PGCall] {
    var calls: [PGCall] = []
    let changed = matches.filter { $0.value.grown > 0 || $0.value.record != nil }.sorted { $0.key < $1.key }
    let begun = changed.filter(\.value.isNew)
    if !begun.isEmpty {
      let nodes = PGValue.texts(begun.map { $0.value.nodes.joined(separator: " ") })
      calls.append(PGCall(statement: PostgresJudge.beginMatches, values: PostgresJudge.records(begun) + [nodes]))
    }
    let grown = changed.filter { !$0.value.isNew && $0.value.record == nil }
    if !grown.isEmpty {
      calls.append(
        PostgresJudge.growMatches(.texts(grown.map(\.key.rawValue)), .ints(grown.map { Int64($0.value.grown) })))
    }
    let rewritten = changed.filter { !$0.value.isNew && $0.value.record != nil }
    if !rewritten.isEmpty {
      calls.append(PGCall(statement: PostgresJudge.changeMatches, values: PostgresJudge.records(rewritten)))
    }
    if !events.isEmpty { calls.append(PostgresJudge.addEvents(events: events)) }
    calls += accountWrites
    if !ledTickets.isEmpty {
      calls.append(
        PostgresJudge.leadTickets(.texts(ledTickets.map(\.id)), .texts(ledTickets.map(\.m.rawValue))))
    }
    if !newUses.isEmpty {
      let all = newUses.sorted { ($0.key.account, $0.key.key) < ($1.key.account, $1.key.key) }
      calls.append(
        PostgresJudge.useKeys(
          .ints(all.map(\.key.account)), .texts(all.map(\.key.key)), .texts(all.map(\.value.m.rawValue)),
          .texts(all.map(\.value.purpose))))
    }
    return calls
  }

  private static func records(_ matches: [(key: MatchID, value: Match)]) -> [PGValue] {
    let records = matches.map { $0.value.record }
    return [
      .texts(matches.map(\.key.rawValue)), .ints(records.map { $0?.x }), .ints(records.map { $0?.o }),
      .ints(records.map { $0?.opener }), .texts(records.map { $0?.code }), .ints(records.map { $0?.created }),
      .ints(records.map { $0?.ended }), .ints(matches.map { Int64($0.value.grown) }),
    ]
  }

  private var accountWrites: [PGCall] {
    var calls: [PGCall] = []
    let changed = accounts.filter { $0.value.score != nil || $0.value.isSlotMoved }.sorted { $0.key < $1.key }
    if !changed.isEmpty {
      let scores = changed.map { $0.value.score ?? AccountScore(account: $0.key) }
      calls.append(
        PGCall(
          statement: PostgresJudge.changeAccounts,
          values: [.ints(scores.map(\.account))] + PostgresJudge.results(scores, withSides: true) + [
            .ints(changed.map(\.value.results)),
            .texts(changed.map { $0.value.isSlotMoved ? $0.value.slot?.rawValue ?? "" : nil }),
          ]))
    }
    let others = changed.flatMap { account in Variant.allCases.compactMap { account.value.others[$0] } }
    if !others.isEmpty {
      calls.append(
        PGCall(
          statement: PostgresJudge.addStandings,
          values: [.ints(others.map(\.account)), .texts(others.map(\.rules.rawValue))]
            + PostgresJudge.results(others, withSides: false)))
    }
    return calls
  }

  private static func results(_ scores: [AccountScore], withSides: Bool) -> [PGValue] {
    func ints(_ value: (AccountScore) -> Int) -> PGValue { .ints(scores.map { Int64(value($0)) }) }
    return [ints(\.won), ints(\.drawn), ints(\.lost)] + (withSides ? [ints(\.xBalance)] : []) + [
      .doubles(scores.map { $0.rating?.value }), .doubles(scores.map { $0.rating?.deviation }),
      .doubles(scores.map { $0.rating?.volatility }), .ints(scores.map(\.ratedAt)),
    ]
  }
}

extension AccountScore {
  /// Both of them, where a later rating takes the place of an earlier one.
  fileprivate func adding(_ later: AccountScore) -> AccountScore {
    var sum = self
    (sum.won, sum.drawn, sum.lost) = (won + later.won, drawn + later.drawn, lost + later.lost)
    sum.xBalance = xBalance + later.xBalance
    (sum.rating, sum.ratedAt) = (later.rating ?? rating, later.ratedAt ?? ratedAt)
    return sum
  }
}
