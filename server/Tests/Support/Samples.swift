import Base
import MatchProtocol
import MatchStore
import TicTacToe

package func someAccount(_ id: Int64, _ name: String) -> AccountRecord {
  var account = AccountRecord(
    id: id, name: name, guest: id % 2 == 0, token: SHA256.hash(Array(name.utf8)),
    // 5·10¹² ms after 1970 are in the year 2128.
    tokenExpires: 5_000_000_000_000 + id)
  account.rating = .init(value: 1500 + Double(id) / 3, deviation: 200.25, volatility: 0.06)
  account.blocked = [1, 2, id]
  account.xBalance = -3
  return account
}

package func someID(_ n: UInt64) -> MatchID {
  var random = SplitMix64(seed: n)
  return MatchID(using: &random)
}

package func someMatch() throws -> (MatchRecord, [[UInt8]]) {
  var record = MatchRecord(id: someID(3), x: 1, o: 2, created: 5)
  record.ended = 50
  let info = PlayerInfo(name: "Ann", rating: 1500, guest: false)
  let events = [
    MatchEvent(
      at: 1, .start(Sides(x: info, o: info), MatchTerms(), confirm: false, previous: nil, keys: [])),
    MatchEvent(at: 2, side: .x, mid: "a", .move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 3)),
    MatchEvent(at: 3, side: .o, mid: "b", .resign), MatchEvent(at: 3, .end(.win(.x), .resign, ratings: nil)),
  ]
  return (record, events.map(\.body))
}
