import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore

extension StoreConformance {
  @Test(arguments: StoreKind.allCases)
  func `a ticket waits in the queue, and inherits the place of the ticket that it replaces`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    let time = try bench.now()
    guard case .waits(let since) = try bench.queue(bench.ticket("t1", ann.id, session: "s1", key: "k1")) else {
      throw Bench.Unanswered()
    }
    #expect((time...(try bench.now())).contains(since))
    #expect(try bench.queue(bench.ticket("t2", bob.id, session: "s2", since: time - 50)) == .waits(since: time - 50))
    var expected = bench.ticket("t1", ann.id, session: "s1", key: "k1")
    expected.since = since
    #expect(
      try bench.tickets() == [
        WaitingTicket(bench.ticket("t2", bob.id, session: "s2", since: time - 50), bob), WaitingTicket(expected, ann),
      ])
    // The same key from another session of the account is the same request: the new ticket inherits the time of the old one.
    let again = bench.ticket("t3", ann.id, session: "s3", key: "k1", since: since + 100)
    #expect(try bench.queue(again) == .waits(since: since))
    #expect(try bench.tickets().map(\.ticket.id) == ["t2", "t3"])
    #expect(
      try bench.queue(bench.ticket("t4", ann.id, session: "s3", key: "k2", since: since + 200))
        == .waits(since: since + 200))
    #expect(
      try bench.queue(bench.ticket("t5", bob.id, session: "s2", since: time + 900)) == .waits(since: time - 50),
      "without a key the session's is the same wish")
    #expect(try bench.tickets().map(\.ticket.id) == ["t5", "t4"])
    // A ticket without a key does not replace the ticket of another session.
    _ = try bench.queue(bench.ticket("t6", bob.id, session: "s6", since: time + 1000))
    _ = try bench.queue(bench.ticket("t7", bob.id, session: "s7", key: "k2", purpose: "q", since: time + 1001))
    #expect(try Set(bench.tickets().map(\.ticket.id)) == ["t4", "t5", "t6", "t7"])
    #expect(try bench.queue(bench.ticket("t8", ann.id, session: "s8", key: "k2", purpose: "other")) == .purpose)
    #expect(try bench.queue(bench.ticket("t8", 99_999)) == .unknown)
    _ = try bench.store.answer(.unqueue("t5"))
    _ = try bench.store.answer(.unqueue("t8"))
    #expect(try Set(bench.tickets().map(\.ticket.id)) == ["t4", "t6", "t7"])
  }

  @Test(arguments: StoreKind.allCases)
  func `simultaneous queue requests are handled as if sequential`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    var begun = bench.beginning(someID(1), bob.id)
    begun.keys = [.init(account: bob.id, "used", purpose: "p")]
    begun.slots = [.init(account: bob.id, .classic, bob.rating)]
    #expect(bench.apply(begun) == .applied([:]))
    _ = try bench.queue(bench.ticket("t0", ann.id, session: "s1", key: "k1", since: 10))
    let wanted: [(TicketRecord, Bool)] = [
      (bench.ticket("t1", ann.id, session: "s1", key: "k1", since: 20), false),
      (bench.ticket("t2", bob.id, session: "s2", key: "used"), false),
      (bench.ticket("t3", bob.id, session: "s2", key: "k3", since: 30), true),
      (bench.ticket("t4", 99_999, session: "s4"), false),
      (bench.ticket("t5", bob.id, session: "s2", key: "k5", since: 40), false),
      // `t5` is sent again. `t6` has the key of `t5`, and `t7` the session of `t6`. `t8` replaces no ticket.
      (bench.ticket("t5", bob.id, session: "s2", key: "k5", since: 50), false),
      (bench.ticket("t6", bob.id, session: "s3", key: "k5", since: 60), false),
      (bench.ticket("t7", bob.id, session: "s3", since: 70), false),
      (bench.ticket("t8", bob.id, session: "s5", key: "k5", purpose: "q", since: 80), false),
    ]
    let results = try bench.store.answer(wanted.map { .queue($0.0, rated: $0.1) }).map { try $0.get() }
    #expect(
      results
        == [
          .waits(since: 10), .led(someID(1)), .playing, .unknown, .waits(since: 40), .waits(since: 40),
          .waits(since: 40), .waits(since: 70), .waits(since: 80),
        ].map { .queued($0) })
    #expect(try bench.tickets().map(\.ticket.id) == ["t1", "t7", "t8"])
    #expect(try bench.tickets().map(\.ticket.since) == [10, 70, 80])
  }

  @Test(arguments: StoreKind.allCases)
  func `a used key leads to its match, and a player in a rated match cannot queue for another rated one`(
    kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    var unit = bench.beginning(someID(1), ann.id)
    unit.keys = [.init(account: ann.id, "k1", purpose: "p")]
    unit.slots = [.init(account: ann.id, .classic, ann.rating)]
    #expect(bench.apply(unit) == .applied([:]))
    #expect(try bench.queue(bench.ticket("t1", ann.id, key: "k1"), rated: true) == .led(someID(1)))
    #expect(try bench.queue(bench.ticket("t1", ann.id, key: "k1", purpose: "q"), rated: true) == .purpose)
    #expect(try bench.queue(bench.ticket("t1", ann.id, key: "k2"), rated: true) == .playing)
    #expect(try bench.tickets().isEmpty)
    guard case .waits = try bench.queue(bench.ticket("t1", ann.id, key: "k2")) else { throw Bench.Unanswered() }
    #expect(try bench.queue(bench.ticket("t2", ann.id, key: "k2"), rated: true) == .playing)
    #expect(try bench.tickets().map(\.ticket.id) == ["t1"], "a refused ticket replaces no other")
    try bench.end(someID(1))
    guard case .waits = try bench.queue(bench.ticket("t3", ann.id, key: "k1", purpose: "q"), rated: true) else {
      throw Bench.Unanswered()
    }
  }
}
