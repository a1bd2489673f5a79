import Foundation
import MatchProtocol
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import MatchStore

extension StoreConformance {
  // MARK: heartbeats

  @Test(arguments: StoreKind.allCases)
  func `a heartbeat lists the live nodes in order of arrival; a private store has only its own node`(
    kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    var heartbeat = try bench.heartbeat("z")
    #expect(heartbeat.nodes.map(\.id) == (bench.store.isShared ? ["a", "z"] : ["z"]))
    heartbeat = try bench.heartbeat("b")
    #expect(heartbeat.nodes.map(\.id) == (bench.store.isShared ? ["a", "z", "b"] : ["b"]))
    #expect(heartbeat.nodes.last?.address == "b:1")
    let moved = try bench.heartbeat("a", address: "elsewhere:7")
    #expect(moved.nodes.first == NodeRecord(id: "a", address: "elsewhere:7"))
    #expect(moved.nodes.map(\.id) == (bench.store.isShared ? ["a", "z", "b"] : ["a"]))
    #expect(moved.now >= heartbeat.now)
    _ = try bench.store.answer(.leave("z"))
    heartbeat = try bench.heartbeat("a")
    #expect(heartbeat.nodes.map(\.id) == (bench.store.isShared ? ["a", "b"] : ["a"]))
  }

  @Test(arguments: [StoreKind.sharedReference, .postgres])
  func `a node silent for 3 s is dead, and the matches that only this node followed are adopted`(
    kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    _ = try bench.heartbeat("b")
    let (both, theirs) = (bench.begin(1, nodes: ["a", "b"]), bench.begin(2, nodes: ["b"]))
    let ann = try bench.player("Ann", at: "b")
    let m = bench.begin(3, ann.id)
    _ = try bench.queue(bench.ticket("t1", ann.id, node: "b"))
    #expect(try bench.adoptOrphans().isEmpty)
    #expect(try bench.heartbeat("a").nodes.map(\.id) == ["a", "b"])
    #expect(try bench.look(m)?.here == [ann.id: ["b"]] && bench.tickets().count == 1)
    try bench.silence("b")
    #expect(try bench.heartbeat("a").nodes.map(\.id) == ["a"])
    #expect(try bench.look(m)?.here == [:])
    #expect(try bench.adoptOrphans().map(\.match.record.id).sorted() == [both, theirs].sorted())
    for m in [both, theirs] { #expect(try bench.look(m)?.nodes == ["a"]) }
    #expect(try bench.adoptOrphans().isEmpty && bench.tickets().isEmpty)
    let heartbeat = try bench.heartbeat("b")
    #expect(Set(heartbeat.nodes.map(\.id)) == ["a", "b"], "a node that was declared dead may return")
  }

  @Test func `a node counts as live for 3 s after a heartbeat`() throws {
    let bench = try Bench(.sharedReference)
    _ = try bench.heartbeat("b")
    bench.clock.wall += Heartbeat.lives - 1
    #expect(try bench.heartbeat("a").nodes.map(\.id) == ["a", "b"])
    bench.clock.wall += 1
    #expect(try bench.heartbeat("a").nodes.map(\.id) == ["a"])
  }

  @Test func `a clock that was set back keeps no dead node alive`() throws {
    let bench = try Bench(.sharedReference)
    bench.clock.wall += 3_600_000
    _ = try bench.heartbeat("b")
    bench.clock.wall -= 3_600_000
    #expect(try bench.heartbeat("a").nodes.map(\.id) == ["a", "b"])
    bench.clock.wall += Heartbeat.lives
    #expect(try bench.heartbeat("a").nodes.map(\.id) == ["a"])
  }

  // MARK: following

  @Test(arguments: StoreKind.allCases) func `a live match lists its followers`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    let m = bench.begin(1, ann.id, 99_999, opener: bob.id, nodes: [])
    #expect(try bench.follow(someID(9)) == nil)
    let followed = try #require(try bench.follow(m))
    #expect(followed.match == (try bench.store.match(m)) && followed.match.bodies == Bench.events(1))
    #expect(followed.accounts == [ann, bob] && followed.nodes == ["a"])
    #expect(followed.here == [ann.id: ["a"], bob.id: ["a"]])
    #expect(abs(followed.now - (try bench.now())) < 60_000)
    _ = try bench.store.answer(.detach(session: "s-Ann", generation: 1))
    #expect(try bench.look(m)?.here == [bob.id: ["a"]])
    #expect(try bench.follow(m, "b")?.nodes.sorted() == ["a", "b"])
    #expect(try bench.follow(m, "b")?.nodes.sorted() == ["a", "b"], "a follower is listed once")
    guard case .applied(let told) = bench.apply(StoreUnit(logs: [.init(m, after: 1, [Bench.event(2)])])) else {
      throw Bench.Unanswered()
    }
    #expect(told.mapValues { $0.sorted() } == [m: ["a", "b"]])
    #expect(try bench.look(m)?.nodes.sorted() == ["a", "b"])
    let over = bench.begin(2, ended: 7, nodes: [])
    #expect(try bench.follow(over)?.match.record.ended == 7)
    #expect(try bench.look(over)?.nodes == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `a node follows several matches, with one question for each`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    let (mine, over) = (bench.begin(2, ann.id, nodes: []), bench.begin(1, ended: 7, nodes: []))
    let asked = [mine, someID(9), over, mine]
    let found = try bench.store.answer(asked.map { .follow($0, "a") }).map { answer -> FollowedMatch? in
      guard case .match(let found) = try answer.get() else { throw Bench.Unanswered() }
      return found
    }
    #expect(found.map { $0?.match.record.id } == [mine, nil, over, mine])
    #expect(found.map { $0?.nodes } == [["a"], nil, [], ["a"]])
    #expect(found[0]?.accounts == [ann] && found[0]?.match.bodies == Bench.events(1))
  }

  @Test(arguments: StoreKind.allCases)
  func `matches without a live follower are adopted in limited numbers`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    let mine = bench.begin(1, nodes: ["a"])
    let (none, dead) = (bench.begin(2, ann.id, nodes: []), bench.begin(3, nodes: ["dead"]))
    let half = bench.begin(4, nodes: ["a", "dead"])
    let over = bench.begin(5, ended: 7, nodes: ["dead"])
    _ = try bench.queue(bench.ticket("t1", ann.id, node: "dead"))
    _ = try bench.queue(bench.ticket("t2", ann.id))
    var adopted = try bench.adoptOrphans(limit: 2)
    #expect(adopted.count == 2)
    adopted += try bench.adoptOrphans(limit: 2)
    #expect(adopted.map(\.match.record.id).sorted() == [none, dead, half].sorted())
    for followed in adopted {
      #expect(followed.nodes == ["a"] && followed.match.bodies == Bench.events(1))
      if followed.match.record.id == none { #expect(followed.accounts == [ann] && followed.here == [ann.id: ["a"]]) }
    }
    #expect(try bench.adoptOrphans().isEmpty)
    for m in [mine, none, dead, half] { #expect(try bench.look(m)?.nodes == ["a"]) }
    #expect(try bench.look(over)?.match.record.ended == 7)
    #expect(try bench.tickets().map(\.ticket.id) == ["t2"], "tickets of dead nodes are deleted")
    guard bench.store.isShared else { return }
    _ = try bench.heartbeat("b")
    let theirs = bench.begin(6, nodes: ["b"])
    #expect(try bench.adoptOrphans().isEmpty && bench.adoptOrphans("b").isEmpty)
    #expect(try bench.look(theirs)?.nodes == ["b"])
  }

  /// If a node does not have a match that lists it as a follower, the answer to the node's registration was lost.
  @Test(arguments: StoreKind.allCases)
  func `a comparison returns live matches that list the node but are missing in its memory`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (had, lost) = (bench.begin(1, nodes: ["a"]), bench.begin(2, nodes: ["a"]))
    _ = bench.begin(3, ended: 7, nodes: ["a"])
    for wants in [false, true] {
      let found = try bench.compare {
        $0.matches = [had: 1]
        $0.wantsOthers = wants
      }
      #expect(found.matches == (wants ? [lost] : []))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a node that shuts down follows no match and holds no session`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    let (one, both) = (bench.begin(1, ann.id, nodes: ["a"]), bench.begin(2, ann.id, nodes: ["ab", "a", "b"]))
    _ = try bench.queue(bench.ticket("t1", ann.id))
    _ = try bench.store.answer(.leave("a"))
    #expect(try bench.look(one)?.nodes == [] && bench.look(both)?.nodes.sorted() == ["ab", "b"])
    #expect(try bench.look(one)?.here == [:])
    guard case .applied(let told) = bench.apply(StoreUnit(logs: [.init(one, after: 1, [Bench.event(2)])])) else {
      throw Bench.Unanswered()
    }
    #expect(told == [one: []])
    _ = try bench.heartbeat("b")
    guard case .entered(let entered) = try bench.resume("r-Ann", as: "f", at: "b") else { throw Bench.Unanswered() }
    #expect(entered.before == nil && entered.generation == 2)
    #expect(try bench.adoptOrphans("b").map(\.match.record.id).contains(one) && bench.tickets().isEmpty)
  }

  // MARK: comparing

  @Test(arguments: StoreKind.allCases)
  func `a comparison returns exactly the differences to a node's memory`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob, cid) = (try bench.player("Ann"), try bench.player("Bob"), try bench.player("Cid"))
    let (same, longer, unnamed) = (bench.begin(1), bench.begin(2), bench.begin(3, nodes: []))
    _ = bench.apply(StoreUnit(logs: [.init(longer, after: 1, [Bench.event(2)])]))
    let over = bench.begin(4, ended: 7, nodes: [])
    guard case .changed(let quiet, _) = try bench.change(.id(bob.id), .quiet(true)) else { throw Bench.Unanswered() }
    var won = cid
    (won.won, won.version) = (1, cid.version + 1)
    #expect(quiet.version == bob.version + 1)
    var score = AccountScore(account: cid.id)
    score.won = 1
    var unit = StoreUnit(logs: [.init(same, after: 1, [])])
    unit.scores = [score]
    #expect(bench.apply(unit) == .applied([same: ["a"]]))
    _ = try bench.resume("r-Bob", as: "f")
    _ = try bench.queue(bench.ticket("t1", ann.id))
    let found = try bench.compare {
      $0.matches = [same: 1, longer: 1, unnamed: 1, over: 1, someID(9): 2]
      $0.accounts = [ann.id: ann.version, bob.id: bob.version, cid.id: cid.version, 99_999: 1, 99_998: 0]
      $0.sessions = ["s-Ann": 1, "s-Bob": 1, "s-Cid": 1, "nobody": 1]
      $0.tickets = ["t1", "t0"]
    }
    var expected = Differences()
    expected.matches = [longer, someID(9)].sorted()
    expected.accounts = [quiet, won]
    expected.gone = [99_998, 99_999]
    expected.sessions = ["nobody", "s-Bob"]
    expected.tickets = [.init(id: "t0", m: nil)]
    #expect(found == expected)
    #expect(try bench.look(unnamed)?.nodes == ["a"], "the comparison has listed the node as a follower")
    #expect(try bench.look(over)?.nodes == [])
    let shorter = try bench.compare("b") { $0.matches = [same: 2] }
    #expect(shorter.matches == [same], "a match whose log is shorter in the store is reported, too")
    #expect(try bench.look(same)?.nodes.sorted() == ["a", "b"])
    #expect(try bench.compare { _ in } == Differences())
  }

  @Test(arguments: StoreKind.allCases) func `changes after a comparison are in the next comparison`(kind: StoreKind)
    throws
  {
    let bench = try Bench(kind)
    let (ann, bob, cid) = (try bench.player("Ann"), try bench.player("Bob"), try bench.player("Cid"))
    let guest = try bench.guest("x", lives: Lifetimes(guest: -1, account: 1)).profile.account
    let m = bench.begin(1)
    func differences() throws -> Differences {
      try bench.compare {
        $0.matches = [m: 1]
        for account in [ann, bob, cid, guest] { $0.accounts[account.id] = account.version }
        $0.sessions = ["s-Ann": 1, "s-Bob": 1, "s-Cid": 1, "s-x": 1]
      }
    }
    #expect(try differences() == Differences())
    var unit = StoreUnit(logs: [.init(m, after: 1, [Bench.event(2)])])
    unit.scores = [AccountScore(account: ann.id)]
    guard case .applied = bench.apply(unit) else { throw Bench.Unanswered() }
    _ = try bench.change(.id(bob.id), .quiet(true))
    _ = try bench.change(.id(cid.id), .revoke(keep: ""))
    _ = try bench.resume("r-Ann", as: "f")
    _ = try bench.store.answer(.detach(session: "s-x", generation: 1))
    try bench.clean()
    let found = try differences()
    #expect(found.matches == [m] && found.accounts.map(\.id) == [ann.id, bob.id, cid.id])
    #expect(found.gone == [guest.id] && found.sessions == ["s-Ann", "s-Cid", "s-x"])
  }

  // MARK: notifications

  @Test(arguments: [StoreKind.sharedReference, .postgres])
  func `a single node compares its memory after a tool has changed the store`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let missed = Mutex(0)
    bench.store.listen(as: "a") { text in if text == nil { missed.withLock { $0 += 1 } } }
    // PostgreSQL's listener calls the handler with `nil` once when it connects: notifications may have been lost before.
    if kind == .postgres { #expect(eventually { missed.withLock { $0 } == 1 }) }
    let before = missed.withLock { $0 }
    try bench.view().requestComparison()
    #expect(eventually { missed.withLock { $0 } == before + 1 })
  }

  @Test(arguments: [StoreKind.sharedReference, .postgres])
  func `a node receives notifications from others`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let heard = Mutex<[String: [String]]>([:])
    let (one, two) = (try bench.view(), try bench.view())
    for (node, store) in [("a", one), ("b", two)] {
      store.listen(as: node) { text in
        if let text { heard.withLock { $0[node, default: []].append(text) } }
      }
    }
    let long = String(repeating: "x", count: longestNotification)
    // A notification that is sent before a node listens may be lost.
    for _ in 0..<200 where heard.withLock({ $0.values.count { $0.contains("first") } < 2 }) {
      bench.store.publish([("a", "first"), ("b", "first")])
      usleep(50_000)
    }
    bench.store.publish([("a", "to a: \"ü\" '"), ("b", long), ("c", "nobody")])
    _ = eventually(within: 10) { heard.withLock { $0.values.count { $0.contains { $0 != "first" } } == 2 } }
    heard.withLock { heard in
      #expect(heard["a"]?.filter { $0 != "first" } == ["to a: \"ü\" '"])
      #expect(heard["b"]?.filter { $0 != "first" } == [long])
    }
  }
}
