import Base
import Foundation
import MatchProtocol
import ServerTestSupport
import Synchronization
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore

/// Tests that every store must pass.
@Suite struct StoreConformance {
  // MARK: logs

  @Test(arguments: StoreKind.allCases) func `applied units are read back unchanged`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (one, two) = (someID(1), someID(2))
    let events = Bench.events(3)
    var record = MatchRecord(id: one, x: 1, o: 2, opener: 2, code: "ABC123", created: 5)
    var unit = StoreUnit(logs: [
      .init(one, after: 0, Array(events[..<2]), record: record, nodes: ["b", "a"]),
      .init(two, after: 0, [Bench.event(1)], record: MatchRecord(id: two, created: 6)),
    ])
    #expect(bench.apply(unit) == .applied([:]), "the verdict lists no followers of new matches")
    unit = StoreUnit(logs: [.init(one, after: 2, [events[2]]), .init(two, after: 1, [Bench.event(2)])])
    guard case .applied(let followers) = bench.apply(unit) else { throw Bench.Unanswered() }
    #expect(followers.mapValues { $0.sorted() } == [one: ["a", "b"], two: []])
    #expect(try bench.store.match(one) == StoredMatch(record: record, bodies: events))
    record.x = 7
    record.ended = 99
    unit = StoreUnit(logs: [.init(one, after: 3, [], record: record)])
    guard case .applied = bench.apply(unit) else { throw Bench.Unanswered() }
    let read = try #require(try bench.store.match(one))
    #expect(read == StoredMatch(record: record, bodies: events), "a finished match is read back unchanged, too")
    #expect(try bench.store.matchIDs() == [one, two].sorted())
    #expect(try bench.store.match(someID(3)) == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `a log of unexpected length is a conflict: its unit is not stored, other units are`(
    kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    let m = bench.begin(1, ann.id)
    let wrong: [[StoreUnit.Log]] = [
      [.init(m, after: 0, [Bench.event(1)], record: MatchRecord(id: m, created: 5))],
      [.init(m, after: 2, [Bench.event(3)])], [.init(m, after: 2, [])],
      [
        .init(someID(8), after: 0, [Bench.event(1)], record: MatchRecord(id: someID(8), created: 5)),
        .init(m, after: 2, [Bench.event(3)]),
      ],
    ]
    var score = AccountScore(account: ann.id)
    score.won = 1
    for (i, logs) in wrong.enumerated() {
      var unit = StoreUnit(logs: logs)
      unit.scores = [score]
      unit.keys = [.init(account: ann.id, "k", purpose: "p")]
      let (before, after) = (someID(UInt64(100 + i)), someID(UInt64(200 + i)))
      let verdicts = bench.store.apply([bench.beginning(before), unit, bench.beginning(after)])
      #expect(verdicts == [.applied([:]), .conflict(.log(m)), .applied([:])])
      #expect(try bench.store.match(before) != nil && bench.store.match(after) != nil)
    }
    let missing = StoreUnit(logs: [.init(someID(7), after: 1, [Bench.event(2)])])
    #expect(bench.apply(missing) == .conflict(.log(someID(7))))
    #expect(try bench.store.match(m)?.bodies == Bench.events(1))
    #expect(try bench.store.match(someID(8)) == nil && bench.store.match(someID(7)) == nil)
    #expect(try bench.account(ann.id)?.won == 0)
    var free = bench.beginning(someID(9), ann.id)
    free.keys = [.init(account: ann.id, "k", purpose: "other")]
    #expect(bench.apply(free) == .applied([:]), "the refused unit has not used the key")
  }

  @Test(arguments: StoreKind.allCases) func `units of a batch are stored in order`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let m = someID(1)
    let verdicts = bench.store.apply([
      bench.beginning(m), StoreUnit(logs: [.init(m, after: 1, [Bench.event(2)])]),
      StoreUnit(logs: [.init(m, after: 1, [Bench.event(2)])]),
      StoreUnit(logs: [.init(m, after: 2, [Bench.event(3), Bench.event(4)])]),
    ])
    #expect(verdicts == [.applied([:]), .applied([m: ["a"]]), .conflict(.log(m)), .applied([m: ["a"]])])
    #expect(try bench.store.match(m)?.bodies == Bench.events(4))
  }

  @Test(arguments: StoreKind.allCases)
  func `of two nodes that append at the same place, one succeeds`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let m = bench.begin(1)
    // A SQLite file has one node, which uses one thread.
    let views = bench.store.isShared ? [bench.store, try bench.view()] : [bench.store]
    let counts = Mutex([0, 0])
    let places = 40
    DispatchQueue.concurrentPerform(iterations: views.count) { i in
      for after in 1...places {
        // Any node may be the first to append at this place of the log.
        let unit = StoreUnit(logs: [.init(m, after: after, [Bench.event(after + 1)])])
        while true {
          let verdict = views[i].apply([unit])[0]
          if case .applied = verdict {
            counts.withLock { $0[i] += 1 }
          } else if verdict != .conflict(.log(m)) {
            Issue.record("\(verdict)")
          } else if let length = try? views[i].match(m)?.length, length <= after {
            // The store reported a conflict although no event is stored at this place yet.
            continue
          }
          break
        }
      }
    }
    #expect(counts.withLock { $0.reduce(0, +) } == places)
    let stored = try #require(try bench.store.match(m))
    #expect(stored.bodies == Bench.events(places + 1) && stored.length == places + 1)
  }

  // MARK: results and slots

  @Test(arguments: StoreKind.allCases)
  func `results add up, and those of deleted accounts are dropped`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    let other = try #require(Variant.allCases.first { $0 != .classic })
    var (first, second) = (AccountScore(account: ann.id), AccountScore(account: ann.id, other))
    (first.won, first.drawn, first.lost, first.xBalance) = (1, 2, 3, -1)
    (second.won, second.xBalance, second.ratedAt) = (4, 2, 77)
    second.rating = .init(value: 1600.5, deviation: 99, volatility: 0.05)
    second.replacedRating = Glicko2.Rating()
    var unit = bench.beginning(someID(1), ann.id)
    unit.scores = [first, AccountScore(account: 99_999), AccountScore(account: 99_998, other), second, first]
    #expect(bench.apply(unit) == .applied([:]))
    var expected = ann
    for score in [first, second, first] { expected.add(score) }
    expected.version += 3
    #expect(try bench.account(ann.id) == expected, "each result increases the version by one")
    #expect(expected[other].rating.value == 1600.5 && expected.xBalance == 0)
    #expect(try bench.store.accounts() == [expected])
  }

  @Test(arguments: StoreKind.allCases)
  func `a rating is replaced only if the expected one is stored`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    for rules in [Variant.classic, try #require(Variant.allCases.first { $0 != .classic })] {
      func unit(_ n: UInt64, _ replaced: Glicko2.Rating, _ rating: Double) -> StoreUnit {
        var (good, score) = (AccountScore(account: ann.id, rules), AccountScore(account: bob.id, rules))
        good.won = 1
        (score.lost, score.ratedAt) = (1, 7)
        score.rating = .init(value: rating, deviation: 200, volatility: 0.06)
        score.replacedRating = replaced
        var unit = bench.beginning(someID(n + (rules == .classic ? 0 : 10)))
        unit.scores = [good, score]
        return unit
      }
      #expect(bench.apply(unit(1, Glicko2.Rating(), 1400)) == .applied([:]))
      let now = Glicko2.Rating(value: 1400, deviation: 200, volatility: 0.06)
      for part in [\Glicko2.Rating.value, \.deviation, \.volatility] {
        var wrong = now
        wrong[keyPath: part] += 0.001
        #expect(bench.apply(unit(2, wrong, 1300)) == .conflict(.rating(bob.id)))
      }
      #expect(try bench.account(ann.id)?[rules].won == 1)
      #expect(try bench.account(bob.id)?[rules].rating == now)
      #expect(bench.apply(unit(3, now, 1300)) == .applied([:]))
      #expect(try bench.account(bob.id)?[rules].lost == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an account plays one rated match at a time, until that match's record has an end`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob, cid) = (try bench.player("Ann"), try bench.player("Bob"), try bench.player("Cid"))
    let other = try #require(Variant.allCases.first { $0 != .classic })
    func rated(_ n: UInt64, _ x: AccountRecord, _ o: AccountRecord, _ rules: Variant = .classic) -> StoreUnit {
      var unit = bench.beginning(someID(n), x.id, o.id)
      unit.slots = [.init(account: x.id, rules, x[rules].rating), .init(account: o.id, rules, o[rules].rating)]
      return unit
    }
    var stale = rated(1, ann, bob)
    stale.slots[1].rating.value += 1
    #expect(bench.apply(stale) == .conflict(.rating(bob.id)))
    #expect(try !bench.playsRated(ann.id))
    #expect(bench.apply(rated(1, ann, bob)) == .applied([:]))
    #expect(try bench.playsRated(ann.id) && bench.playsRated(bob.id))
    #expect(bench.apply(rated(2, cid, ann)) == .conflict(.playing(ann.id)))
    #expect(bench.apply(rated(2, cid, bob, other)) == .conflict(.playing(bob.id)), "the slot is the same for all games")
    #expect(try !bench.playsRated(cid.id) && bench.store.match(someID(2)) == nil)
    #expect(bench.apply(bench.beginning(someID(3), ann.id, cid.id)) == .applied([:]), "an unrated match needs no slot")
    try bench.end(someID(3))
    #expect(bench.apply(rated(2, cid, ann)) == .conflict(.playing(ann.id)))
    try bench.end(someID(1))
    #expect(try !bench.playsRated(ann.id))
    #expect(bench.apply(rated(2, cid, ann, other)) == .applied([:]))
    #expect(bench.apply(rated(4, bob, ann)) == .conflict(.playing(ann.id)))
    var gone = bench.beginning(someID(5))
    gone.slots = [.init(account: 99_999, .classic, Glicko2.Rating())]
    #expect(bench.apply(gone) == .conflict(.rating(99_999)))
    #expect(try bench.account(ann.id) == ann, "slots do not change the account's version")
  }

  // MARK: keys, codes, tickets

  @Test(arguments: StoreKind.allCases) func `a key leads to a single match while that match is live`(kind: StoreKind)
    throws
  {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    func keyed(_ n: UInt64, _ account: Int64, _ purpose: String = "p") -> StoreUnit {
      var unit = bench.beginning(someID(n), opener: account, code: "CODE\(n)")
      unit.keys = [.init(account: account, "k", purpose: purpose)]
      return unit
    }
    #expect(bench.apply(keyed(1, ann.id)) == .applied([:]))
    #expect(bench.apply(keyed(2, ann.id)) == .conflict(.key(account: ann.id, key: "k", someID(1))))
    #expect(bench.apply(keyed(2, ann.id, "q")) == .conflict(.purpose(account: ann.id, key: "k")))
    #expect(bench.apply(keyed(2, bob.id, "q")) == .applied([:]), "the key of another account is unrelated")
    try bench.end(someID(1))
    #expect(bench.apply(keyed(3, ann.id, "q")) == .applied([:]))
    #expect(bench.apply(keyed(4, ann.id, "q")) == .conflict(.key(account: ann.id, key: "k", someID(3))))
    try bench.end(someID(3))
    #expect(bench.apply(keyed(5, ann.id)) == .applied([:]))
    #expect(bench.apply(keyed(6, bob.id, "q")) == .conflict(.key(account: bob.id, key: "k", someID(2))))
    var same = StoreUnit(logs: [.init(someID(5), after: 1, [Bench.event(2)])])
    same.keys = [.init(account: ann.id, "k", purpose: "p")]
    #expect(bench.apply(same) == .applied([someID(5): ["a"]]), "the key already leads to this match")
  }

  @Test(arguments: StoreKind.allCases)
  func `a code belongs to one open room, and finds that room or its match`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    #expect(try bench.place("ABC") == nil)
    let first = bench.begin(1, opener: 1, code: "ABC", created: 10)
    #expect(bench.apply(bench.beginning(someID(2), opener: 2, code: "ABC")) == .conflict(.code("ABC")))
    #expect(try bench.place("ABC") == first && bench.store.match(someID(2)) == nil)
    _ = bench.begin(3, opener: 2, code: "XYZ")
    try bench.change(first) { ($0.x, $0.o) = (1, 2) }
    #expect(try bench.place("ABC") == first, "the code finds the room's match after its start")
    // A rematch keeps the code and has both players, so it is not an open room.
    let rematch = bench.begin(4, 2, 1, opener: 1, code: "ABC", created: 20)
    #expect(try bench.place("ABC") == rematch, "of several matches with the code the latest is found")
    let second = bench.begin(5, opener: 3, code: "ABC", created: 1)
    #expect(try bench.place("ABC") == second, "an open room is found before any match")
    #expect(bench.apply(bench.beginning(someID(6), 1, 2, opener: 1, code: "ABC")) == .applied([:]))
    for m in [second, someID(6), rematch] { try bench.end(m) }
    #expect(try bench.place("ABC") == first)
    try bench.end(first)
    #expect(try bench.place("ABC") == nil)
    #expect(bench.apply(bench.beginning(someID(7), opener: 2, code: "ABC")) == .applied([:]))
  }

  @Test(arguments: StoreKind.allCases)
  func `a ticket leads to one match, which a comparison reports to its node`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    _ = try bench.queue(bench.ticket("t1", ann.id))
    _ = try bench.queue(bench.ticket("t2", bob.id))
    func led(_ n: UInt64, _ tickets: [String]) -> StoreUnit {
      var unit = bench.beginning(someID(n), ann.id, bob.id)
      unit.tickets = tickets
      return unit
    }
    #expect(bench.apply(led(1, ["t1", "t9"])) == .conflict(.ticket("t9")))
    #expect(try bench.tickets().map(\.ticket.id) == ["t1", "t2"])
    #expect(bench.apply(led(1, ["t1", "t2"])) == .applied([:]))
    #expect(try bench.tickets().isEmpty)
    #expect(bench.apply(led(2, ["t1"])) == .conflict(.ticket("t1")))
    _ = try bench.store.answer(.unqueue("t1"))
    _ = try bench.queue(bench.ticket("t1", ann.id))
    #expect(try bench.tickets().isEmpty)
    _ = try bench.queue(bench.ticket("t3", ann.id))
    let found = try bench.compare { $0.tickets = ["t3", "t2", "t1", "t9"] }
    #expect(
      found.tickets == [.init(id: "t1", m: someID(1)), .init(id: "t2", m: someID(1)), .init(id: "t9", m: nil)])
    let again = try bench.compare { $0.tickets = ["t1"] }
    #expect(again.tickets == [.init(id: "t1", m: someID(1))], "the first answer may have been lost")
  }

  @Test(arguments: StoreKind.allCases)
  func `of several conflicts the first is reported, and nothing is stored until no conflict is left`(
    kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    let room = bench.begin(1, opener: ann.id, code: "ABC")
    var other = bench.beginning(someID(2), ann.id, bob.id)
    other.keys = [.init(account: ann.id, "k1", purpose: "p"), .init(account: ann.id, "k2", purpose: "q")]
    other.slots = [.init(account: ann.id, .classic, ann.rating)]
    #expect(bench.apply(other) == .applied([:]))

    var unit = bench.beginning(someID(3), opener: ann.id, code: "ABC")
    unit.logs.append(.init(room, after: 2, [Bench.event(3)]))
    unit.tickets = ["t1"]
    unit.keys = [.init(account: ann.id, "k2", purpose: "p"), .init(account: ann.id, "k1", purpose: "p")]
    var score = AccountScore(account: bob.id)
    (score.won, score.ratedAt) = (1, 7)
    score.rating = .init(value: 1600, deviation: 100, volatility: 0.06)
    score.replacedRating = .init(value: 1, deviation: 1, volatility: 1)
    unit.scores = [score]
    unit.slots = [
      .init(account: bob.id, .classic, .init(value: 1, deviation: 1, volatility: 1)),
      .init(account: ann.id, .classic, ann.rating),
    ]
    func refuse(_ conflict: Conflict) throws {
      #expect(bench.apply(unit) == .conflict(conflict))
      #expect(try bench.store.match(someID(3)) == nil && bench.store.match(room)?.length == 1)
      #expect(try bench.account(bob.id) == bob && !bench.playsRated(bob.id))
      #expect(try bench.tickets().count <= 1)
    }
    try refuse(.log(room))
    unit.logs[1] = .init(room, after: 1, [Bench.event(2)])
    try refuse(.ticket("t1"))
    _ = try bench.queue(bench.ticket("t1", bob.id))
    try refuse(.key(account: ann.id, key: "k1", someID(2)))
    unit.keys[1].key = "k3"
    try refuse(.purpose(account: ann.id, key: "k2"))
    unit.keys[0].key = "k4"
    try refuse(.playing(ann.id))
    unit.slots[1] = .init(account: bob.id, .classic, bob.rating)
    unit.slots.swapAt(0, 1)
    try refuse(.rating(bob.id))
    unit.scores[0].replacedRating = bob.rating
    try refuse(.rating(bob.id))
    unit.slots.removeLast()
    try refuse(.code("ABC"))
    #expect(try bench.tickets().map(\.ticket.id) == ["t1"])
    unit.logs[0].record?.code = "XYZ"
    #expect(bench.apply(unit) == .applied([room: ["a"]]))
    #expect(try bench.tickets().isEmpty && bench.place("XYZ") == someID(3))
    #expect(try bench.account(bob.id)?.rating.value == 1600 && bench.playsRated(bob.id))
  }

  // MARK: finding matches

  @Test(arguments: StoreKind.allCases) func `live public matches are listed latest first`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    for n in 1...6 {
      _ = bench.begin(
        UInt64(n), 1, 2, opener: n == 5 ? 1 : nil, created: n == 3 ? 2 : Int64(n), ended: n == 6 ? 9 : nil)
    }
    let found = try bench.matches(.live(limit: 3))
    #expect(found.map(\.record.id) == [someID(4)] + [someID(2), someID(3)].sorted().reversed())
    #expect(found.allSatisfy { $0.bodies == Bench.events(1) })
    #expect(try bench.matches(.live(limit: 10)).count == 4)
  }

  @Test(arguments: StoreKind.allCases)
  func `histories are listed latest first, in pages`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    for n in 1...25 {
      _ = bench.begin(UInt64(n), n % 2 == 0 ? 1 : 9, n % 2 == 0 ? 9 : 1, ended: Int64(n))
      _ = bench.begin(UInt64(n + 100), n % 2 == 0 ? 1 : 2, 3, opener: 1, ended: n % 2 == 0 ? nil : Int64(n))
    }
    let first = try bench.matches(.history(1, before: .max, limit: 20))
    #expect(first.map(\.record.ended) == (6...25).reversed().map { Int64($0) })
    #expect(first.allSatisfy { $0.bodies == Bench.events(1) })
    let rest = try bench.matches(.history(1, before: first.last?.record.ended ?? 0, limit: 20))
    #expect(rest.map(\.record.ended) == (1...5).reversed().map { Int64($0) })
    // Matches that ended in the same millisecond are on one page, because the next page begins before this millisecond.
    for n in 31...34 { _ = bench.begin(UInt64(n), n % 2 == 0 ? 7 : 9, n % 2 == 0 ? 9 : 7, ended: n == 34 ? 60 : 50) }
    let page = try bench.matches(.history(7, before: .max, limit: 2))
    #expect(page.map(\.record.ended) == [60, 50, 50, 50])
    #expect(page.map(\.record.id) == [someID(34)] + [31, 32, 33].map { someID($0) }.sorted().reversed())
    #expect(try bench.matches(.history(8, before: .max, limit: 2)).isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `old matches are deleted by the store's clock, unless no match ended by it a day or a month ago`(kind: StoreKind)
    throws
  {
    let bench = try Bench(kind)
    let (hour, day) = (Bench.hour, Bench.day)
    let start = try bench.now()
    // The clock is set 40 days ahead after these matches, or the server was off for so long.
    for n in 1...5 { _ = bench.begin(UInt64(n), 1, 2, ended: start - 40 * day + Int64(n) * hour) }
    let live = bench.begin(6, 1, 2)
    func isRefused(_ age: Int64) -> Bool {
      do throws(StoreError) { _ = try bench.store.prune(olderThan: age) } catch { return error == .clockIsDoubtful }
      return false
    }
    #expect(isRefused(10 * day))
    #expect(try bench.store.prune(olderThan: 50 * day) == 0, "there is nothing to refuse")
    let new = bench.begin(7, 1, 2, ended: start)
    #expect(isRefused(10 * day), "one match is no evidence until a day has passed")
    try bench.store.ping()
    #expect(try bench.store.matchIDs().count == 7)
    try bench.wait(day + hour)
    // The age of the first match is 41 days now; that of each of the next four is an hour less.
    #expect(try bench.store.prune(olderThan: 41 * day - 2 * hour - hour / 2) == 3)
    #expect(try bench.store.prune(olderThan: 41 * day - 2 * hour - hour / 2) == 0)
    #expect(try bench.store.matchIDs() == [someID(4), someID(5), live, new].sorted())
    #expect(try bench.store.match(someID(3)) == nil)
    #expect(try bench.matches(.history(1, before: .max, limit: 100)).count == 3)
  }

  // MARK: tools

  @Test(arguments: StoreKind.allCases)
  func `accounts are added with their numbers, all or none`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    var accounts = [someAccount(7, "Ann"), someAccount(4, "Bob")]
    let other = try #require(Variant.allCases.first { $0 != .classic })
    accounts[0][other].rating = .init(value: 1700.125, deviation: 80.5, volatility: 0.07)
    (accounts[0][other].ratedAt, accounts[0][other].won, accounts[0][other].lost) = (77, 3, 4)
    accounts[1].token = nil
    (accounts[1].quiet, accounts[1].muted, accounts[1].banned) = (true, true, true)
    accounts[0].version = 5
    try bench.store.add(accounts)
    accounts[0].version = 0
    #expect(try bench.store.accounts() == accounts.reversed())
    #expect(try bench.accounts(.accounts([7, 9, 4, 7])) == accounts.reversed())
    for taken in [someAccount(7, "Eve"), someAccount(9, "aNN")] {
      let error = #expect(throws: StoreError.self) { try bench.store.add([someAccount(8, "Cid"), taken]) }
      guard case .failed = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(try bench.store.accounts().count == 2)
    }
    _ = bench.begin(1, 20, 21, opener: 22, ended: 5)
    #expect(try bench.guest("x").profile.account.id > 22, "an id that occurs in a match is not used again")
  }

  @Test(arguments: StoreKind.allCases) func `several questions are answered as if sequential`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    let answers = bench.store.answer([
      .tickets, .queue(bench.ticket("t1", ann.id, since: 5), rated: false), .tickets,
      .change(.id(ann.id), .quiet(true)), .profile(ann.id), .change(.id(99_999), .quiet(true)), .unqueue("t1"),
      .tickets,
    ])
    let found = try answers.map { try $0.get() }
    guard found.count == 8, case .tickets(let one) = found[0], case .tickets(let two) = found[2],
      case .profile(let profile) = found[4], case .tickets(let three) = found[7]
    else { throw Bench.Unanswered() }
    #expect(one.isEmpty && two.map(\.ticket.id) == ["t1"] && three.isEmpty)
    #expect(found[1] == .queued(.waits(since: 5)) && found[5] == .change(.unknown) && found[6] == .done)
    #expect(profile?.account.quiet == true)
    #expect(bench.store.answer([]).isEmpty && bench.store.apply([]).isEmpty)
  }

  @Test(arguments: [StoreKind.sqlite, .postgres]) func `a closed store refuses every call`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    bench.store.close()
    guard case .failed = bench.apply(bench.beginning(someID(1))) else { throw Bench.Unanswered() }
    #expect(throws: StoreError.self) { try bench.store.answer(.tickets) }
    #expect(throws: StoreError.self) { try bench.store.answer(.unqueue("t")) }
    #expect(throws: StoreError.self) { try bench.store.accounts() }
  }
}
