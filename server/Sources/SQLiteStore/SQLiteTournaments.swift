import Base
import CSQLite
import MatchProtocol
import MatchStore

extension SQLiteRows: TournamentRows {
  func tournament(_ code: String) throws(StoreError) -> TournamentRecord? {
    try run("SELECT data FROM tournament WHERE code = ?", .text(code)) { TournamentRecord(stored: $0.text(0)) }.first
      ?? nil
  }

  func tournament(secret: SHA256.Digest) throws(StoreError) -> TournamentRecord? {
    try run("SELECT data FROM tournament WHERE secret = ?", .blob(secret.bytes)) {
      TournamentRecord(stored: $0.text(0))
    }.first ?? nil
  }

  func tournaments(closingAfter time: Int64) throws(StoreError) -> Int {
    try run("SELECT count(*) FROM tournament WHERE closes > ?", .int(time)) { Int($0.int(0)) }.first ?? 0
  }

  func put(_ record: TournamentRecord) throws(StoreError) {
    try run(
      "INSERT OR REPLACE INTO tournament (code, secret, closes, data) VALUES (?, ?, ?, ?)", .text(record.code),
      .blob(record.secret.bytes), .int(record.closes), .text(record.stored))
  }

  func entrant(_ account: Int64, of code: String) throws(StoreError) -> Entrant? {
    try run("SELECT data FROM entrant WHERE tournament = ? AND account = ?", .text(code), .int(account)) {
      Entrant(stored: $0.text(0))
    }.first ?? nil
  }

  func entrants(of code: String) throws(StoreError) -> [Entrant] {
    let rows = try run(
      "SELECT data, name FROM entrant LEFT JOIN account ON account.id = entrant.account WHERE tournament = ?",
      .text(code)
    ) { Entrant(stored: $0.text(0), name: $0.optionalText(1)) }
    return rows.compactMap(\.self).sorted { $0.row.number < $1.row.number }
  }

  func put(_ entrant: Entrant, of code: String) throws(StoreError) {
    try run(
      "INSERT OR REPLACE INTO entrant (tournament, account, data) VALUES (?, ?, ?)", .text(code),
      .int(entrant.account), .text(entrant.stored))
  }

  func dropTournaments(closedBefore time: Int64) throws(StoreError) {
    try run("DELETE FROM entrant WHERE tournament IN (SELECT code FROM tournament WHERE closes < ?)", .int(time))
    try run("DELETE FROM tournament WHERE closes < ?", .int(time))
  }
}
