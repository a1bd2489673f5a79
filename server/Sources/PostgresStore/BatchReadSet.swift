import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// The rows that a batch of units or of tickets reads and locks.
struct BatchReadSet {
  var accounts: Set<Int64> = []
  /// Whether to read the accounts' rated slots, and their standings in games other than the classic one.
  var (readsSlots, readsStandings) = (false, false)
  var matches: Set<MatchID> = []
  var tickets: Set<String> = []
  /// The tickets to queue. The batch also reads the waiting tickets that they replace, those with the same session or key.
  var wishes: [TicketRecord] = []
  var keys: Set<BatchValidator.Key> = []
  var codes: Set<String> = []
  /// `tournaments`: those in which a game begins. `entrants`: players whose tournament game begins or ends.
  var tournaments: Set<String> = []
  var entrants: Set<EntrantKey> = []
  /// The clock orders the tickets and shows whether the tournaments run.
  var readsClock: Bool { !wishes.isEmpty || !tournaments.isEmpty }

  init(_ wanted: [(ticket: TicketRecord, rated: Bool)]) {
    wishes = wanted.map(\.ticket)
    accounts = Set(wishes.map(\.account))
    readsSlots = wanted.contains(where: \.rated)
    keys = Set(wishes.filter { !$0.key.isEmpty }.map { BatchValidator.Key(account: $0.account, key: $0.key) })
  }

  init(_ units: [StoreUnit]) {
    for unit in units {
      for log in unit.logs {
        matches.insert(log.m)
        if let record = log.record {
          if record.ended != nil {
            accounts.formUnion([record.x, record.o].compactMap(\.self))
            readsSlots = true
          }
          if let code = record.openCode { codes.insert(code) }
        }
      }
      accounts.formUnion(unit.scores.map(\.account))
      accounts.formUnion(unit.slots.map(\.account))
      accounts.formUnion(unit.keys.map(\.account))
      if !unit.slots.isEmpty { readsSlots = true }
      if !unit.slots.isEmpty || unit.scores.contains(where: { $0.rating != nil }) { readsStandings = true }
      tickets.formUnion(unit.tickets)
      keys.formUnion(unit.keys.map(BatchValidator.Key.init))
      tournaments.formUnion(unit.games.filter { $0.change == .begins }.map(\.code))
      entrants.formUnion(unit.games.flatMap(\.keys))
    }
  }

  private static let lockAccounts = PGStatement(
    "SELECT id, rating, deviation, volatility FROM account WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE")
  private static let lockMatches = PGStatement(
    "SELECT id, seq, nodes FROM match WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE")
  // READ COMMITTED takes a new snapshot per statement: read unlocked tables after the locks are held.
  private static let slots = PGStatement(
    "SELECT id, \(PostgresRows.liveMatch("rated_match")) FROM account WHERE id = ANY($1::bigint[])")
  private static let standings = PGStatement(
    "SELECT account, rules, rating, deviation, volatility FROM standing WHERE account = ANY($1::bigint[])")
  private static let lockTickets = PGStatement(
    "SELECT id FROM ticket WHERE id = ANY($1::text[]) AND \(PostgresRows.waits) ORDER BY id FOR UPDATE")
  private static let lockWaiting = PGStatement(
    """
    SELECT \(PostgresRows.ticketColumns) FROM ticket WHERE \(PostgresRows.waits) AND id = ANY(ARRAY(
      SELECT unnest(ARRAY[
        (SELECT id FROM ticket WHERE match_id IS NULL AND session = d.session),
        (SELECT id FROM ticket WHERE match_id IS NULL AND key <> '' AND account = d.account AND key = d.key)])
      FROM unnest($1::bigint[], $2::text[], $3::text[]) AS d (account, session, key)))
    ORDER BY ticket.id FOR UPDATE
    """)
  private static let keys = PGStatement(
    """
    SELECT k.account, k.key, k.purpose, \(PostgresRows.liveMatch("k.match_id"))
    FROM unnest($1::bigint[], $2::text[]) AS d (account, key)
      JOIN used_key k ON k.account = d.account AND k.key = d.key
    """)
  private static let rooms = PGStatement(
    "SELECT code, id FROM match WHERE code = ANY($1::text[]) AND x IS NULL AND ended IS NULL")

  /// In the order in which `BatchValidator.init` reads the answers; without statements for empty sets.
  var calls: [PGCall] {
    let numbers = PGValue.ints(accounts.sorted())
    var calls = accounts.isEmpty ? [] : [BatchReadSet.lockAccounts(numbers)]
    if !matches.isEmpty { calls.append(BatchReadSet.lockMatches(.texts(matches.map(\.rawValue)))) }
    if readsSlots { calls.append(BatchReadSet.slots(numbers)) }
    if readsStandings { calls.append(BatchReadSet.standings(numbers)) }
    if !tickets.isEmpty { calls.append(BatchReadSet.lockTickets(.texts(Array(tickets)))) }
    if !wishes.isEmpty {
      calls.append(
        BatchReadSet.lockWaiting(
          .ints(wishes.map(\.account)), .texts(wishes.map(\.session)), .texts(wishes.map(\.key))))
    }
    if !keys.isEmpty { calls.append(BatchReadSet.keys(.ints(keys.map(\.account)), .texts(keys.map(\.key)))) }
    if !codes.isEmpty { calls.append(BatchReadSet.rooms(.texts(Array(codes)))) }
    if !tournaments.isEmpty { calls.append(PostgresStore.lockTournaments(.texts(tournaments.sorted()))) }
    // Read the clock when the locks are held: the organiser may end a tournament while this batch waits for the tournament's lock.
    if readsClock { calls.append(PostgresPool.Transaction.now()) }
    if !entrants.isEmpty {
      let all = entrants.sorted { ($0.code, $0.account) < ($1.code, $1.account) }
      calls.append(PostgresStore.lockEntrants(.texts(all.map(\.code)), .ints(all.map(\.account))))
    }
    return calls
  }
}

extension MatchRecord {
  /// The code of a room that waits for its second player; `nil` for all other matches.
  var openCode: String? { x == nil && ended == nil ? code : nil }
}
