import Base
import MatchProtocol
import MatchStore

extension MemoryContent: TournamentRows {
  func tournament(_ code: String) -> TournamentRecord? { tournaments[code]?.record }

  func tournament(secret: SHA256.Digest) -> TournamentRecord? {
    tournaments.values.first { $0.record.secret == secret }?.record
  }

  func tournaments(closingAfter time: Int64) -> Int { tournaments.values.count { $0.record.closes > time } }

  mutating func put(_ record: TournamentRecord) {
    tournaments[record.code] = Tournament(record, tournaments[record.code]?.entrants ?? [])
  }

  func entrant(_ account: Int64, of code: String) -> Entrant? {
    tournaments[code]?.entrants.first { $0.account == account }
  }

  func entrants(of code: String) -> [Entrant] {
    (tournaments[code]?.entrants ?? []).map { entrant in
      var named = entrant
      named.row.name = accounts[entrant.account]?.name ?? AccountRecord.deletedName(entrant.account)
      return named
    }
  }

  mutating func put(_ entrant: Entrant, of code: String) {
    tournaments[code]?.entrants.removeAll { $0.account == entrant.account }
    tournaments[code]?.entrants.append(entrant)
    tournaments[code]?.entrants.sort { $0.row.number < $1.row.number }
  }
}
