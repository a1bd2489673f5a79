import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Validates units or tickets one after the other against locked rows, and collects the changes to write.
struct BatchValidator: QueueRows {
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
    /// `score` is added to the account's row, `others` to the standings in other games, `results` (a number of scores) to the version.
    var score: AccountScore?
    var results: Int64 = 0
    var others: [Variant: AccountScore] = [:]
  }

  // The locked rows, with the changes of the units that were validated so far.
  private var matches: [MatchID: Match] = [:]
  private var accounts: [Int64: Account] = [:]
  private var tickets: Set<String> = []
  private var waiting: [Int64: [TicketRecord]] = [:]
  private var uses: [Key: (purpose: String, m: MatchID)] = [:]
  private var rooms: [String: MatchID] = [:]
  private var tournaments: [String: TournamentRecord] = [:]
  /// When the rows were locked, in milliseconds since 1970 on the database's clock; `nil` if the batch needs no time.
  private var clock: Int64?
  private var entrants: [EntrantKey: Entrant] = [:]

  // Rows to write or delete, other than those of accounts and matches.
  private var events: [EventRow] = []
  private var ledTickets: [(id: String, m: MatchID)] = []
  private var newUses: [Key: (purpose: String, m: MatchID)] = [:]
  private var newTickets: [String: TicketRecord] = [:]
  private var droppedTickets: [String] = []
  private var played: Set<EntrantKey> = []

  init(_ needs: BatchReadSet, _ found: [PGRows]) {
    var answers = found.map(\.rows)[...]
    if !needs.accounts.isEmpty {
      for row in answers.removeFirst() {
        guard let id = row[0].int, let rating = BatchValidator.rating(row[1...3]) else { continue }
        accounts[id] = Account(ratings: [.classic: rating])
      }
    }
    if !needs.matches.isEmpty {
      for row in answers.removeFirst() {
        guard let m = PostgresRows.id(row[0]), let length = row[1].int else { continue }
        matches[m] = Match(length: Int(length), nodes: PostgresRows.nodes(row[2]))
      }
    }
    if needs.readsSlots {
      for row in answers.removeFirst() { if let id = row[0].int { accounts[id]?.slot = PostgresRows.id(row[1]) } }
    }
    if needs.readsStandings {
      for row in answers.removeFirst() {
        guard let id = row[0].int, let rules = row[1].text.flatMap(Variant.init(rawValue:)) else { continue }
        accounts[id]?.ratings[rules] = BatchValidator.rating(row[2...4])
      }
    }
    if !needs.tickets.isEmpty { tickets = Set(answers.removeFirst().compactMap { $0[0].text }) }
    if !needs.wishes.isEmpty {
      waiting = Dictionary(grouping: answers.removeFirst().compactMap(PostgresRows.ticket), by: \.account)
    }
    if !needs.keys.isEmpty {
      for row in answers.removeFirst() {
        guard let account = row[0].int, let key = row[1].text, let purpose = row[2].text,
          let m = PostgresRows.id(row[3])
        else { continue }
        uses[Key(account: account, key: key)] = (purpose, m)
      }
    }
    if !needs.codes.isEmpty {
      for row in answers.removeFirst() { if let code = row[0].text { rooms[code] = PostgresRows.id(row[1]) } }
    }
    if !needs.tournaments.isEmpty {
      for row in answers.removeFirst() {
        guard let record = row[0].text.flatMap(TournamentRecord.init(stored:)) else { continue }
        tournaments[record.code] = record
      }
    }
    if needs.readsClock { clock = answers.removeFirst().first?.first?.int }
    if !needs.entrants.isEmpty {
      for row in answers.removeFirst() {
        guard let code = row[0].text, let entrant = row[1].text.flatMap(Entrant.init(stored:)) else { continue }
        entrants[EntrantKey(code: code, account: entrant.account)] = entrant
      }
    }
  }

  private static func rating(_ row: ArraySlice<PGValue>) -> Glicko2.Rating? {
    let numbers = row.compactMap(\.double)
    return numbers.count == 3 ? Glicko2.Rating(value: numbers[0], deviation: numbers[1], volatility: numbers[2]) : nil
  }

  // MARK: validating

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
      uses[Key(key)] = (key.purpose, m)
      newUses[Key(key)] = uses[Key(key)]
    }
    tickets.subtract(unit.tickets)
    ledTickets += unit.tickets.map { ($0, m) }
    for game in unit.games {
      let keys = game.keys
      var both = Sides(x: entrants[keys[0]], o: entrants[keys[1]])
      game.apply(to: &both)
      (entrants[keys[0]], entrants[keys[1]]) = (both.x, both.o)
      played.formUnion(keys)
    }
    return .applied(followers)
  }

  func length(of m: MatchID) -> Int? { matches[m]?.length }
  func waits(ticket: String) -> Bool { tickets.contains(ticket) }
  func slot(of account: Int64) -> MatchID? { accounts[account]?.slot }
  func openRoom(_ code: String) -> MatchID? { rooms[code] }
  func tournament(_ code: String) -> TournamentRecord? { tournaments[code] }

  func use(of key: String, _ account: Int64) -> (purpose: String, live: MatchID?)? {
    uses[Key(account: account, key: key)].map { ($0.purpose, $0.m) }
  }

  /// A new player's rating if the account has not played the game.
  func rating(of account: Int64, _ rules: Variant) -> Glicko2.Rating? {
    accounts[account].map { $0.ratings[rules] ?? Standing().rating }
  }

  // MARK: the queue

  func now() throws(StoreError) -> Int64 {
    guard let clock else { throw .failed("the database has no clock") }
    return clock
  }

  func hasAccount(_ id: Int64) -> Bool { accounts[id] != nil }

  func tickets(session: String, key: String, account: Int64) -> [TicketRecord] {
    waiting[account, default: []].filter { $0.session == session || !key.isEmpty && $0.key == key }
  }

  mutating func put(_ ticket: TicketRecord) {
    waiting[ticket.account, default: []].append(ticket)
    newTickets[ticket.id] = ticket
  }

  mutating func drop(ticket: String) {
    for account in waiting.keys { waiting[account]?.removeAll { $0.id == ticket } }
    if newTickets.removeValue(forKey: ticket) == nil { droppedTickets.append(ticket) }
  }

  // MARK: appending

  private mutating func grow(_ log: StoreUnit.Log) {
    events += log.numbered
    var match = matches[log.m] ?? Match(length: 0, nodes: Set(log.nodes).sorted(), isNew: true)
    match.length += log.bodies.count
    match.grown += log.bodies.count
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
    if !score.rules.isImplied {
      account.others[score.rules] =
        (account.others[score.rules] ?? AccountScore(account: score.account, score.rules)).adding(score)
    }
    accounts[score.account] = account
  }

  // MARK: writing

  private static let beginMatches = PGStatement(
    """
    INSERT INTO match (id, x, o, opener, code, created, ended, seq, nodes)
    SELECT d.id, d.x, d.o, d.opener, d.code, d.created, d.ended, d.n, string_to_array(d.nodes, ' ')
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[],
      $8::bigint[], $9::text[]) AS d (id, x, o, opener, code, created, ended, n, nodes)
    """)
  private static let growMatches = PGStatement(
    """
    UPDATE match SET seq = match.seq + d.n FROM unnest($1::text[], $2::bigint[]) AS d (id, n) WHERE match.id = d.id
    """)
  private static let changeMatches = PGStatement(
    """
    UPDATE match SET x = d.x, o = d.o, opener = d.opener, code = d.code, created = d.created, ended = d.ended,
      seq = match.seq + d.n
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[],
      $8::bigint[]) AS d (id, x, o, opener, code, created, ended, n)
    WHERE match.id = d.id
    """)
  private static let addEvents = PGStatement(
    """
    INSERT INTO match_event (match_id, seq, body) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])
    """)
  /// `slot`: NULL keeps the account's rated slot, an empty text frees it.
  private static let changeAccounts = PGStatement(
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
  private static let dropTickets = PGStatement("DELETE FROM ticket WHERE id = ANY($1::text[])")
  private static let putTickets = PGStatement(
    """
    INSERT INTO ticket (id, session, account, node, key, purpose, wish, since)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
    ON CONFLICT (id) DO NOTHING
    """)
  private static let leadTickets = PGStatement(
    "UPDATE ticket SET match_id = d.m FROM unnest($1::text[], $2::text[]) AS d (id, m) WHERE ticket.id = d.id")
  private static let useKeys = PGStatement(
    """
    INSERT INTO used_key (account, key, match_id, purpose, at)
    SELECT d.*, \(PostgresRows.now) FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS d
    ON CONFLICT (account, key) DO UPDATE SET match_id = excluded.match_id, purpose = excluded.purpose, at = excluded.at
    """)

  var writes: [PGCall] {
    var calls: [PGCall] = []
    let changed = matches.filter { $0.value.grown > 0 || $0.value.record != nil }.sorted { $0.key < $1.key }
    let begun = changed.filter(\.value.isNew)
    if !begun.isEmpty {
      let nodes = PGValue.texts(begun.map { $0.value.nodes.joined(separator: " ") })
      calls.append(PGCall(statement: BatchValidator.beginMatches, values: BatchValidator.records(begun) + [nodes]))
      // A match that is stored after its end comes from an import. Its accounts may be deleted by now; no new account may get their ids.
      let imported = begun.compactMap(\.value.record).filter { $0.ended != nil }
      if let highest = imported.flatMap(\.accounts).max() { calls.append(PostgresStore.skipTo(.int(highest))) }
    }
    let grown = changed.filter { !$0.value.isNew && $0.value.record == nil }
    if !grown.isEmpty {
      calls.append(
        BatchValidator.growMatches(.texts(grown.map(\.key.rawValue)), .ints(grown.map { Int64($0.value.grown) })))
    }
    let rewritten = changed.filter { !$0.value.isNew && $0.value.record != nil }
    if !rewritten.isEmpty {
      calls.append(PGCall(statement: BatchValidator.changeMatches, values: BatchValidator.records(rewritten)))
    }
    if !events.isEmpty { calls.append(BatchValidator.addEvents(events: events)) }
    calls += accountWrites
    if !droppedTickets.isEmpty { calls.append(BatchValidator.dropTickets(.texts(droppedTickets))) }
    if !newTickets.isEmpty {
      let all = newTickets.values.sorted { $0.id < $1.id }
      func texts(_ value: (TicketRecord) -> String) -> PGValue { .texts(all.map(value)) }
      calls.append(
        BatchValidator.putTickets(
          texts(\.id), texts(\.session), .ints(all.map(\.account)), texts(\.node), texts(\.key), texts(\.purpose),
          texts(\.wish), .ints(all.map(\.since))))
    }
    if !ledTickets.isEmpty {
      calls.append(
        BatchValidator.leadTickets(.texts(ledTickets.map(\.id)), .texts(ledTickets.map(\.m.rawValue))))
    }
    if !newUses.isEmpty {
      let all = newUses.sorted { ($0.key.account, $0.key.key) < ($1.key.account, $1.key.key) }
      calls.append(
        BatchValidator.useKeys(
          .ints(all.map(\.key.account)), .texts(all.map(\.key.key)), .texts(all.map(\.value.m.rawValue)),
          .texts(all.map(\.value.purpose))))
    }
    let changedEntrants = played.sorted { ($0.code, $0.account) < ($1.code, $1.account) }.compactMap { key in
      entrants[key].map { (key, $0) }
    }
    if !changedEntrants.isEmpty {
      calls.append(
        PostgresStore.changeEntrants(
          .texts(changedEntrants.map(\.0.code)), .ints(changedEntrants.map(\.0.account)),
          .texts(changedEntrants.map(\.1.stored))))
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
          statement: BatchValidator.changeAccounts,
          values: [.ints(scores.map(\.account))] + BatchValidator.results(scores, withSides: true) + [
            .ints(changed.map(\.value.results)),
            .texts(changed.map { $0.value.isSlotMoved ? $0.value.slot?.rawValue ?? "" : nil }),
          ]))
    }
    let others = changed.flatMap { account in Variant.allCases.compactMap { account.value.others[$0] } }
    if !others.isEmpty {
      calls.append(
        PGCall(
          statement: BatchValidator.addStandings,
          values: [.ints(others.map(\.account)), .texts(others.map(\.rules.rawValue))]
            + BatchValidator.results(others, withSides: false)))
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
  /// The rating of `later`, if it has one, replaces the earlier rating.
  fileprivate func adding(_ later: AccountScore) -> AccountScore {
    var sum = self
    (sum.won, sum.drawn, sum.lost) = (won + later.won, drawn + later.drawn, lost + later.lost)
    sum.xBalance = xBalance + later.xBalance
    (sum.rating, sum.ratedAt) = (later.rating ?? rating, later.ratedAt ?? ratedAt)
    return sum
  }
}
