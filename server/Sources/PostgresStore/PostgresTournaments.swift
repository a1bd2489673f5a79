import Base
import MatchProtocol
import MatchStore

struct EntrantKey: Hashable {
  var code: String
  var account: Int64
}

extension TournamentGame {
  var keys: [EntrantKey] { [seats.x, seats.o].map { EntrantKey(code: code, account: $0) } }
}

/// Entrants are locked after accounts, matches, tickets and keys.
extension PostgresStore {
  static let lockEntrants = PGStatement(
    """
    SELECT tournament, data FROM entrant
    WHERE (tournament, account) IN (SELECT * FROM unnest($1::text[], $2::bigint[]) AS d (tournament, account))
    ORDER BY tournament, account FOR UPDATE OF entrant
    """)
  static let changeEntrants = PGStatement(
    """
    UPDATE entrant SET data = d.data FROM unnest($1::text[], $2::bigint[], $3::text[]) AS d (tournament, account, data)
    WHERE entrant.tournament = d.tournament AND entrant.account = d.account
    """)
  static let dropTournaments = [
    PGStatement(
      once: """
        DELETE FROM entrant WHERE tournament IN (SELECT code FROM tournament WHERE closes < \(PostgresRows.now) - $1::bigint)
        """),
    PGStatement(once: "DELETE FROM tournament WHERE closes < \(PostgresRows.now) - $1::bigint"),
  ]
  /// Tournaments are locked before their entrants, also when the organiser changes one: a single order of locks prevents deadlocks.
  static let lockTournaments = PGStatement(
    "SELECT data FROM tournament WHERE code = ANY($1::text[]) ORDER BY code FOR UPDATE")
  fileprivate static let ofCode = PGStatement("SELECT data, \(PostgresRows.now) FROM tournament WHERE code = $1")
  fileprivate static let entrants = PGStatement(
    """
    SELECT e.data, a.name FROM entrant e LEFT JOIN account a ON a.id = e.account WHERE e.tournament = $1
    """)

  fileprivate static func decoded(_ rows: PGRows) -> [Entrant] {
    rows.rows.compactMap { row in row[0].text.flatMap { Entrant(stored: $0, name: row[1].text) } }
      .sorted { $0.row.number < $1.row.number }
  }

  func tournament(_ code: String) throws(StoreError) -> TournamentResult {
    let found = try read([PostgresStore.ofCode(.text(code)), PostgresStore.entrants(.text(code))])
    guard let row = found[0].rows.first, let record = row[0].text.flatMap(TournamentRecord.init(stored:)),
      let time = row[1].int
    else { return .unknown }
    return .found(Tournament(record, PostgresStore.decoded(found[1]), readAt: time))
  }
}

extension PostgresPool.Transaction: TournamentRows {
  private static let lockCode = PGStatement("SELECT data FROM tournament WHERE code = $1 FOR UPDATE")
  private static let lockSecret = PGStatement("SELECT data FROM tournament WHERE secret = $1::bytea FOR UPDATE")
  private static let countOpen = PGStatement("SELECT count(*) FROM tournament WHERE closes > $1::bigint")
  private static let lockEntrant = PGStatement(
    "SELECT data FROM entrant WHERE tournament = $1 AND account = $2::bigint FOR UPDATE")
  private static let putTournament = PGStatement(
    """
    INSERT INTO tournament (code, secret, closes, data) VALUES ($1, $2, $3, $4)
    ON CONFLICT (code) DO UPDATE SET closes = excluded.closes, data = excluded.data
    """)
  private static let putEntrant = PGStatement(
    """
    INSERT INTO entrant (tournament, account, data) VALUES ($1, $2, $3)
    ON CONFLICT (tournament, account) DO UPDATE SET data = excluded.data
    """)

  private mutating func decoded<Value: FieldObject>(_ call: PGCall, as type: Value.Type) throws(StoreError) -> Value? {
    try run([call])[0].rows.first?.first?.text.flatMap(Value.init(stored:))
  }

  mutating func tournament(_ code: String) throws(StoreError) -> TournamentRecord? {
    try decoded(Self.lockCode(.text(code)), as: TournamentRecord.self)
  }

  mutating func tournament(secret: SHA256.Digest) throws(StoreError) -> TournamentRecord? {
    try decoded(Self.lockSecret(.bytes(secret.bytes)), as: TournamentRecord.self)
  }

  mutating func tournaments(closingAfter time: Int64) throws(StoreError) -> Int {
    Int(try run([Self.countOpen(.int(time))])[0].rows.first?.first?.int ?? 0)
  }

  mutating func put(_ record: TournamentRecord) throws(StoreError) {
    _ = try run([
      Self.putTournament(
        .text(record.code), .bytes(record.secret.bytes), .int(record.closes), .text(record.stored))
    ])
  }

  mutating func entrant(_ account: Int64, of code: String) throws(StoreError) -> Entrant? {
    try decoded(Self.lockEntrant(.text(code), .int(account)), as: Entrant.self)
  }

  mutating func entrants(of code: String) throws(StoreError) -> [Entrant] {
    PostgresStore.decoded(try run([PostgresStore.entrants(.text(code))])[0])
  }

  mutating func put(_ entrant: Entrant, of code: String) throws(StoreError) {
    _ = try run([Self.putEntrant(.text(code), .int(entrant.account), .text(entrant.stored))])
  }
}
