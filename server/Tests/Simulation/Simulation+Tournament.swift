import ClientModel
import MatchProtocol
import TicTacToe

@testable import Lobby
@testable import MatchStore

extension Simulation {
  mutating func takePart(_ i: Int) {
    guard let tournament else {
      if i == 0 {
        carryOut(
          i, clients[i].model.perform(.host(TournamentTerms(name: "sim", clock: TimeControl("10+0"), minutes: 120))))
      }
      return
    }
    func order(_ operation: TournamentOrder.Operation) {
      count("tournament \(operation.rawValue)")
      carryOut(i, clients[i].model.perform(.tournament(.init(operation, tournament))))
    }
    guard let view = clients[i].model.tournament, view.code == tournament else { return order(.enter) }
    if i == 0, view.notice.phase == .waiting { return order(.start) }
    guard let mine = view.mine else { return order(.enter) }
    switch random.below(12) {
    case 0: order(.pause)
    case 1: order(.leave)
    case 2: order(.follow)
    default: if mine.status == .playing { carryOut(i, clients[i].model.perform(.nextGame)) } else { order(.play) }
    }
  }

  private func found(_ code: String) throws -> Tournament? {
    guard case .tournament(.found(let found)) = try store.inner.answer(.tournament(code)) else { return nil }
    return found
  }

  var isTournamentFinished: Bool {
    guard let tournament, let found = try? found(tournament) else { return true }
    guard let ends = found.record.ends, ends + 10_000 < store.clock.wall else { return false }
    return found.games.isEmpty && staleTables(found).isEmpty
  }

  mutating func checkTournament(_ code: String) throws {
    guard let found = try found(code) else {
      checker.faults.append("the tournament is lost")
      return
    }
    tally["tournament entrants"] = found.entrants.count
    var rows: [Int64: TournamentRow] = [:]
    for m in store.ends {
      guard let log = store.logs[m], log.state.terms.tournament == code, let x = log.record.x, let o = log.record.o,
        let outcome = log.state.end?.outcome
      else { continue }
      count("tournament game")
      let before = Sides(x: rows[x]?.points ?? 0, o: rows[o]?.points ?? 0)
      rows[x, default: .init()].add(outcome == .draw ? 0 : outcome == .win(.x) ? 1 : -1, against: before.o)
      rows[o, default: .init()].add(outcome == .draw ? 0 : outcome == .win(.o) ? 1 : -1, against: before.x)
    }
    for entrant in found.entrants {
      let (row, own) = (entrant.row, rows[entrant.account] ?? .init())
      if (row.points, row.games, row.streak, row.opposition) != (own.points, own.games, own.streak, own.opposition) {
        checker.faults.append("tournament: the logs give \(own), the table has \(row)")
      }
    }
    if rows.keys.contains(where: { account in !found.entrants.contains { $0.account == account } }) {
      checker.faults.append("tournament: a player has no row")
    }
    checker.faults += staleTables(found)
  }

  private func staleTables(_ found: Tournament) -> [String] {
    let (code, rows) = (found.record.code, found.ranked.map(\.row))
    let stale = nodes.filter { $0.lobby?.tournaments[code]?.known.map { $0.entrants != found.entrants } ?? false }
    let unaware = clients.indices.filter { i in
      let model = clients[i].model
      guard clients[i].connection != nil, model.welcome != nil, let view = model.tournament else { return false }
      return view.code == code && view.table != rows
    }
    return stale.map { "tournament: \($0.name) has another table" }
      + unaware.map { "tournament: client \($0) shows another table" }
  }
}
