import Base
import MatchProtocol
import MatchStore
import Testing
import TicTacToe

@testable import Lobby

/// Whole tournaments on the matchmaker alone, in simulated time.
@Suite struct TournamentPairingTests {
  struct Report: CustomStringConvertible {
    /// Milliseconds from each player's request for a game to the game's start.
    var waits: [Int] = []
    /// For each player of a game, for how many milliseconds before the game's start the queue had held a new partner without a break.
    /// Neither of two players who are new to each other is the other's last opponent. Leaves out players who had no new partner.
    var waitsWithPartner: [Int] = []
    var games = 0
    var repeats = 0
    var players = 0
    /// The ranks of the five best-ranked players of the highest strength.
    var ranksOfStrongest: [Int] = []
    /// The longest time in milliseconds for which two unpaired players have waited at once.
    var longestWithPartner = 0

    /// A quantile in milliseconds: for the share 0.99, the wait that 99 % of the waits do not exceed.
    static func wait(_ share: Double, of waits: [Int]) -> Int {
      waits.isEmpty ? 0 : waits.sorted()[min(waits.count - 1, Int(share * Double(waits.count)))]
    }

    var description: String {
      """
      \(players) players: \(games) games, \(2 * games / players) a head; waits p50 \(Report.wait(0.5, of: waits)) ms, \
      p99 \(Report.wait(0.99, of: waits)) ms, longest \(Report.wait(1, of: waits)) ms; \
      with a partner p99 \(Report.wait(0.99, of: waitsWithPartner)) ms; \(1000 * repeats / max(1, games)) of 1,000 games repeat the last opponent; \
      ranks of the strongest \(ranksOfStrongest)
      """
    }
  }

  /// Ten minutes with players of six strengths, 150 rating points apart. Games take 8–40 s, and one game in eight is a draw.
  private func run(_ players: Int, seed: UInt64) -> Report {
    var (random, seats) = (SplitMix64(seed: seed), Entropy(seed: seed))
    var record = TournamentRecord()
    (record.code, record.begins, record.ends) = ("K3X9QF", 0, 600_000)
    let terms = record.matchTerms
    var entrants = (1...players).map { Entrant(account: Int64($0), number: $0) }
    func strength(_ i: Int) -> Int { i % 6 }
    var (matchmaker, report, freeAt) = (Matchmaker(), Report(), [Int64](repeating: 0, count: players))
    var playing: [(end: Int64, x: Int, o: Int)] = []
    report.players = players
    var seeking = Set<Int>()
    var partnerSince = [Int64?](repeating: nil, count: players)
    for now in stride(from: Int64(0), through: 700_000, by: 100) {
      for game in playing where game.end <= now {
        let edge = Double(strength(game.x) - strength(game.o)) * 150
        // Ten rating points multiply the odds of a win by 10^(10/400) = 1.0593.
        var odds = 1.0
        for _ in 0..<Int(abs(edge) / 10) { odds *= 1.0593 }
        let chance = edge >= 0 ? odds / (1 + odds) : 1 / (1 + odds)
        let outcome: Outcome =
          random.below(8) == 0 ? .draw : Double(random.below(1_000_000)) < chance * 1e6 ? .win(.x) : .win(.o)
        change(&entrants, game.x, game.o, .ends(outcome, pauses: nil))
        for i in [game.x, game.o] { freeAt[i] = now + 2000 }
      }
      playing.removeAll { $0.end <= now }
      let busy = Set(playing.flatMap { [$0.x, $0.o] })
      guard now < 600_000 else { continue }
      var entry = TournamentDesk.Entry()
      entry.take(Tournament(record, entrants), now)
      let context = Matchmaker.Context(
        now: now, accounts: Accounts(), mostPairs: 1000, botAfter: 20_000, tournaments: [record.code: entry], wall: now)
      for i in 0..<players where !busy.contains(i) && !seeking.contains(i) && freeAt[i] <= now {
        seeking.insert(i)
        let player = AccountRecord(id: Int64(i + 1), name: "p\(i)", guest: true, token: nil, tokenExpires: 0)
        let ticket = Ticket(
          id: "t\(i)-\(now)", session: "s\(i)", node: "n", player: player, seek: .init(terms, bots: true, key: nil),
          isBot: false, since: now)
        #expect(matchmaker.add(ticket, context).isEmpty)
      }
      for i in seeking {
        let has = seeking.contains { j in
          j != i && entrants[i].lastOpponent != Int64(j + 1) && entrants[j].lastOpponent != Int64(i + 1)
        }
        partnerSince[i] = has ? partnerSince[i] ?? now : nil
      }
      guard now % Matchmaker.tournamentInterval == 0 else { continue }
      for case .pair(let a, let b) in matchmaker.pairAll(context) {
        let pairing = Pairing(a, b, entry, &seats)
        matchmaker.release(pairing)
        let (i, j) = (Int(a.account) - 1, Int(b.account) - 1)
        let (x, o) = (Int(pairing.seats.x.account) - 1, Int(pairing.seats.o.account) - 1)
        if entrants[x].lastOpponent == Int64(o + 1) { report.repeats += 1 }
        change(&entrants, x, o, .begins)
        for ticket in [a, b] { report.waits.append(Int(now - ticket.since)) }
        for i in [i, j] { if let since = partnerSince[i] { report.waitsWithPartner.append(Int(now - since)) } }
        (partnerSince[i], partnerSince[j]) = (nil, nil)
        seeking.subtract([i, j])
        playing.append((now + 8000 + Int64(random.below(32_000)), x, o))
        report.games += 1
      }
      let waits = matchmaker.queue.oldestFirst.map { Int(now - $0.since) }
      if waits.count > 1 { report.longestWithPartner = max(report.longestWithPartner, waits[1]) }
    }
    let ranked = Tournament(record, entrants).ranked.map { Int($0.account) - 1 }
    report.ranksOfStrongest = ranked.indices.filter { strength(ranked[$0]) == 5 }.prefix(5).map { $0 + 1 }
    return report
  }

  private func change(_ entrants: inout [Entrant], _ x: Int, _ o: Int, _ change: TournamentGame.Change) {
    let seats = Sides(x: entrants[x].account, o: entrants[o].account)
    let game = TournamentGame("K3X9QF", MatchID(rawValue: "m") ?? .blank, seats, change)
    var both: Sides<Entrant?> = Sides(x: entrants[x], o: entrants[o])
    game.apply(to: &both)
    if let x1 = both.x, let o1 = both.o { (entrants[x], entrants[o]) = (x1, o1) }
  }

  @Test(arguments: [2, 3, 30, 100, 512])
  func `players of a tournament wait a bounded time, and seldom meet the same opponent again`(players: Int) {
    let report = run(players, seed: UInt64(players))
    print("TOURNAMENT: \(report)")
    #expect(report.longestWithPartner <= 15_000, "two free players do not wait for longer than 15 s")
    guard players >= 30 else { return }
    #expect(Report.wait(0.99, of: report.waits) <= 3000)
    #expect(Report.wait(0.99, of: report.waitsWithPartner) <= 1000)
    // With 30 players two become free about every two seconds, often those who have just played: one game in six may repeat a pairing.
    #expect(report.repeats * (players < 100 ? 6 : 100) <= report.games)
    #expect((report.ranksOfStrongest.first ?? 99) <= 3, "one of the strongest is among the first three")
  }
}
