import MatchProtocol
import MatchStore
import Testing

@testable import Lobby

@Suite struct MatchmakerTests {
  private var matchmaker = Matchmaker()

  private func ticket(_ name: String, rating: Int = 1500, since: Int64 = 0, isBot: Bool = false, bots: Bool = false)
    -> Ticket
  {
    var player = AccountRecord(
      id: Int64(name.utf8.first ?? 0), name: name, guest: false, token: nil, tokenExpires: 0)
    player.rating.value = Double(rating)
    return Ticket(
      id: name, session: "s\(name)", node: "n", player: player, seek: .init(MatchTerms(), bots: bots, key: nil),
      isBot: isBot, since: since)
  }

  private func at(_ now: Int64, mostPairs: Int = 10) -> Matchmaker.Context {
    .init(now: now, accounts: Accounts(), mostPairs: mostPairs, botAfter: 20_000, tournaments: [:], wall: now)
  }

  /// The ids of a pair's tickets; of an offer of bots the ticket's id and the number of bots.
  private func names(_ outputs: [Matchmaker.Output]) -> [String] {
    outputs.map {
      switch $0 {
      case .pair(let a, let b): a.id + b.id
      case .offerBots(let ticket, let count): "\(ticket.id)\(count)"
      }
    }
  }

  @Test mutating func `the closest in strength are paired, and after 20 s players of any strength`() {
    #expect(matchmaker.add(ticket("a"), at(0)).isEmpty)
    #expect(matchmaker.add(ticket("b", rating: 2000), at(0)).isEmpty)
    #expect(names(matchmaker.add(ticket("c", rating: 1550), at(0))) == ["ca"])
    #expect(matchmaker.add(ticket("d", rating: 1000, since: 1000), at(1000)).isEmpty)
    #expect(matchmaker.pairAll(at(19_000)).isEmpty)
    #expect(names(matchmaker.pairAll(at(20_000))) == ["bd"])
  }

  @Test mutating func `no more pairs are made than the store can take; the others wait`() {
    for name in ["a", "b", "c", "d"] { #expect(matchmaker.add(ticket(name), at(0, mostPairs: 0)).isEmpty) }
    #expect(names(matchmaker.pairAll(at(0, mostPairs: 1))) == ["ad"])
    #expect(names(matchmaker.pairAll(at(0))) == ["bc"])
  }

  @Test mutating func `bots are offered once, to a person who waited long`() {
    _ = matchmaker.add(ticket("a"), at(0))
    _ = matchmaker.add(ticket("r", isBot: true), at(0))
    #expect(matchmaker.pairAll(at(19_999)).isEmpty)
    #expect(names(matchmaker.pairAll(at(20_000))) == ["a1"])
    #expect(matchmaker.pairAll(at(30_000)).isEmpty)
  }

  @Test
  mutating func `a read replaces the queue, except for tickets queued meanwhile and those whose match is being stored`()
  {
    func row(_ name: String, rating: Int = 1500) -> WaitingTicket {
      WaitingTicket(ticket(name).record(0), ticket(name, rating: rating).player)
    }
    _ = matchmaker.add(ticket("a", rating: 1000), at(0))
    let known = matchmaker.beginReading()
    #expect(known == ["a"])
    let second = matchmaker.beginReading()
    #expect(second == nil && matchmaker.mustRead, "a read in progress may miss newer tickets")
    _ = matchmaker.add(ticket("b", rating: 3000), at(0))
    let (pairs, missing) = matchmaker.read(
      [row("c"), row("d")], known: known ?? [], clockOffset: 0, at(0))
    #expect(names(pairs) == ["dc"] && missing == ["a"] && matchmaker.queue.ids == ["b"])
    let again = matchmaker.read([row("c"), row("d"), row("b")], known: ["b"], clockOffset: 0, at(0))
    #expect(again.pairs.isEmpty && matchmaker.queue.ids == ["b"], "c and d are reserved")
  }

  @Test mutating func `notifications of other nodes cause at most one read in 100 ms`() {
    #expect(matchmaker.scheduleRead(1000) == 1000)
    matchmaker.scheduledReadIsDue(1000)
    let soon = [matchmaker.scheduleRead(1010), matchmaker.scheduleRead(1020)]
    #expect(soon == [1100, nil])
    matchmaker.scheduledReadIsDue(1100)
    #expect(matchmaker.scheduleRead(1300) == 1300)
  }
}
