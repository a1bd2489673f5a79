import Base
import Foundation
import MatchProtocol
import Synchronization
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore

/// Several nodes' views of one shared store.
enum ClusterKind: String, CaseIterable {
  case memory, postgres

  /// Makes views of the same content; each call of the result is another node's.
  func make() throws -> () throws -> any ClusterStore {
    let view = try builds()
    return { try view(MatchEvent.newest) }
  }

  /// The same for nodes that are builds which read events up to a version.
  func builds() throws -> (_ reads: Int) throws -> any ClusterStore {
    switch self {
    case .memory:
      let cluster = MemoryCluster { Moment.current.wall }
      return { cluster.view(reads: $0) }
    case .postgres:
      let address = try PGAddress(try PostgresTestBed.shared.freshURL())
      return { try PostgresCluster(address, reads: $0) }
    }
  }
}

let lives = Lifetimes(guest: 86_400_000, account: 7_776_000_000)

func digest(_ text: String) -> SHA256.Digest { SHA256.hash(Array(text.utf8)) }

func node(_ name: String) -> NodeDescription {
  NodeDescription(name: name, address: "127.0.0.1:1", peer: "127.0.0.1:2")
}

func event(_ seq: Int) -> StoredEvent {
  StoredEvent(seq: seq, side: .x, mid: "m\(seq)", body: Array(#"{"k":"confirm","at":\#(seq),"side":"x"}"#.utf8))
}

extension ClusterStore {
  /// A named account with a session, made as a client would.
  func player(_ name: String) throws -> (account: AccountRecord, session: String) {
    let entry = Entry.guest(
      names: ["guest-\(name)"], token: digest(name), session: "s-\(name)", resume: digest("r-\(name)"), lives: lives)
    guard case .entered(let entered) = try enter(entry),
      case .changed(let account, _) = try change(
        .id(entered.profile.account.id), .register(name: name, token: digest("t-\(name)"), lives: 1_000_000))
    else {
      Issue.record("\(name) did not come in")
      throw StoreError.unusable("")
    }
    return (account, entered.session.id)
  }

  func commit(_ writes: [StoreWrite]) throws { try commit([StoreTransaction(number: 1, writes: writes)]) }
}

func beginning(_ m: MatchID, _ x: AccountRecord, _ o: AccountRecord) -> MatchBegin {
  var begin = MatchBegin(
    m: m, writes: [.match(MatchRecord(id: m, x: x.id, o: o.id, created: 5)), .append(m, after: 0, [event(1)])])
  begin.rated = [x.id, o.id].sorted()
  begin.ratings = [x, o].sorted { $0.id < $1.id }.map(\.rating)
  return begin
}

func room(_ m: MatchID, _ opener: AccountRecord, code: String, key: String) -> MatchBegin {
  let body = MatchEvent(at: 5, mid: key, .open(by: opener.name, MatchTerms(rated: false))).body
  var begin = MatchBegin(
    m: m,
    writes: [
      .match(MatchRecord(id: m, x: nil, o: nil, opener: opener.id, code: code, created: 5)),
      .append(m, after: 0, [StoredEvent(seq: 1, side: nil, mid: key, body: body)]),
    ])
  begin.room = .init(opener: opener.id, code: code, key: key)
  return begin
}

/// What every store of several nodes must do.
@Suite struct ClusterStoreConformance {
  @Test(arguments: ClusterKind.allCases)
  func `a match is its owner's alone, and whoever takes it over shuts the old owner out`(kind: ClusterKind) throws {
    let view = try kind.make()
    let (a, b) = (try view(), try view())
    let one = try a.join(node("a"), lease: 60_000, replacing: nil)
    let two = try b.join(node("b"), lease: 60_000, replacing: nil)
    #expect(one != two)
    #expect(try a.renew(lease: 60_000)?.nodes.map(\.epoch) == [one, two].sorted())
    let m = someID(1)
    let record = MatchRecord(id: m, x: nil, o: nil, opener: nil, created: 5)
    try a.commit([.match(record), .append(m, after: 0, [event(1)])])
    #expect(try b.place(m) == MatchPlace(m: m, owner: one, endedAgo: nil))
    #expect(throws: StoreError.self) { try b.commit([.append(m, after: 1, [event(2)])]) }
    #expect(throws: StoreError.self) { try b.commit([.match(record)]) }
    #expect(try b.takeOver(limit: 10).isEmpty, "a living owner keeps its matches")
    try a.commit([.append(m, after: 1, [event(2)])])
    try a.leave()
    #expect(try b.place(m)?.owner == nil)
    #expect(try a.renew(lease: 60_000) == nil, "a lease that is over stays so")
    let taken = try b.takeOver(limit: 10)
    #expect(taken.map(\.match) == [StoredMatch(record: record, events: [event(1), event(2)])])
    #expect(try b.place(m)?.owner == two)
    #expect(throws: StoreError.self) {
      try a.commit([.account(someAccount(1000, "Eve")), .append(m, after: 2, [event(3)])])
    }
    #expect(try b.recover().accounts.isEmpty, "nothing of a fenced batch is stored")
    try b.commit([.append(m, after: 2, [event(3)])])
    #expect(try b.match(m)?.events.count == 3)
    #expect(try a.takeOver(limit: 10).isEmpty && a.renew(lease: 10) == nil)
  }

  @Test(arguments: ClusterKind.allCases)
  func `two nodes cannot have one name, and who starts over shuts himself out`(kind: ClusterKind) throws {
    let view = try kind.make()
    let (a, b) = (try view(), try view())
    let first = try a.join(node("a"), lease: 60_000, replacing: nil)
    #expect(throws: StoreError.self) { _ = try b.join(node("a"), lease: 60_000, replacing: nil) }
    let m = someID(1)
    try a.commit([.match(MatchRecord(id: m, x: nil, o: nil, created: 5)), .append(m, after: 0, [event(1)])])
    let second = try a.join(node("a"), lease: 60_000, replacing: first)
    #expect(second > first)
    #expect(throws: StoreError.self) { try a.commit([.append(m, after: 1, [event(2)])]) }
    #expect(try a.takeOver(limit: 1).map(\.match.record.id) == [m])
    try a.commit([.append(m, after: 1, [event(2)])])
    #expect(try a.renew(lease: 60_000)?.nodes.count == 1)
  }

  @Test(arguments: ClusterKind.allCases)
  func `a clock set back delays no takeover by more than a lease, and shortens no lease of the living`(
    kind: ClusterKind
  ) throws {
    let clock = Mutex<Int64>(1_700_000_000_000)
    let a: any ClusterStore
    let b: any ClusterStore
    let stepBack: () throws -> Void
    switch kind {
    case .memory:
      let cluster = MemoryCluster { clock.withLock { $0 } }
      (a, b, stepBack) = (cluster.view(), cluster.view(), { clock.withLock { $0 -= 3_600_000 } })
    case .postgres:
      // No test sets the clock of the machine: that every time in the rows is an hour later is the same.
      let url = try PostgresTestBed.shared.freshURL()
      let address = try PGAddress(url)
      (a, b) = (try PostgresCluster(address), try PostgresCluster(address))
      stepBack = { try PostgresTestBed.shared.sql("UPDATE node SET lease_until = lease_until + 3600000", at: url) }
    }
    let one = try a.join(node("a"), lease: 60_000, replacing: nil)
    let two = try b.join(node("b"), lease: 60_000, replacing: nil)
    try stepBack()
    let left = try #require(try b.renew(lease: 60_000)).nodes
    #expect(left.map(\.epoch) == [one, two].sorted())
    #expect(left.allSatisfy { $0.left <= 60_000 && $0.left > 50_000 }, "\(left)")
    #expect(try a.renew(lease: 60_000) != nil)
  }

  @Test(arguments: ClusterKind.allCases)
  func `a session goes from node to node with its token, and counts its entries`(kind: ClusterKind) throws {
    let view = try kind.make()
    let (a, b) = (try view(), try view())
    let one = try a.join(node("a"), lease: 60_000, replacing: nil)
    _ = try b.join(node("b"), lease: 60_000, replacing: nil)
    let ann = try a.player("Ann")
    guard case .entered(let back) = try b.enter(.resume(presented: digest("r-Ann"), fresh: digest("f"), lives: lives))
    else {
      Issue.record("Ann did not come back")
      return
    }
    #expect(back.before == one && back.generation == 2 && back.session.id == ann.session)
    #expect(back.profile.account.name == "Ann" && back.session.previous == digest("r-Ann"))
    try a.detach(session: ann.session, generation: 1)
    try b.settle(session: ann.session, generation: 2)
    #expect(try b.enter(.resume(presented: digest("r-Ann"), fresh: digest("g"), lives: lives)) == .unknown)
    guard case .entered(let again) = try a.enter(.resume(presented: digest("f"), fresh: digest("g"), lives: lives))
    else {
      Issue.record("Ann did not come back again")
      return
    }
    #expect(again.before == two(back, b) && again.generation == 3)
    guard
      case .entered(let other) = try a.enter(.token(digest("t-Ann"), session: "s9", resume: digest("h"), lives: lives))
    else {
      Issue.record("Ann's token does nothing")
      return
    }
    #expect(other.generation == 1 && other.profile.account.id == ann.account.id)
    guard case .changed(_, let forgotten) = try b.change(.id(ann.account.id), .revoke(keep: "s9")) else {
      Issue.record("nothing revoked")
      return
    }
    #expect(forgotten == [ann.session])
    #expect(try a.enter(.token(digest("t-Ann"), session: "s10", resume: digest("i"), lives: lives)) == .unknown)
    _ = try b.change(.name("ANN"), .banned(true))
    #expect(try a.enter(.resume(presented: digest("h"), fresh: digest("j"), lives: lives)) == .banned)
  }

  private func two(_ entered: Entered, _ store: any ClusterStore) -> Int64? {
    try? store.renew(lease: 60_000)?.nodes.first { $0.node.name == "b" }?.epoch
  }

  @Test(arguments: ClusterKind.allCases)
  func `names are one player's on all nodes, and changes meet in one row`(kind: ClusterKind) throws {
    let view = try kind.make()
    let (a, b) = (try view(), try view())
    _ = try a.join(node("a"), lease: 60_000, replacing: nil)
    _ = try b.join(node("b"), lease: 60_000, replacing: nil)
    let (ann, bob) = (try a.player("Ann"), try b.player("Bob"))
    guard
      case .entered(let guest) = try b.enter(
        .guest(names: ["guest-x", "guest-y"], token: digest("x"), session: "gx", resume: digest("gx"), lives: lives))
    else {
      Issue.record("no guest")
      return
    }
    #expect(
      try a.change(.id(guest.profile.account.id), .register(name: "bOB", token: digest("z"), lives: 1)) == .nameTaken)
    #expect(try a.change(.id(ann.account.id), .register(name: "Eve", token: digest("z"), lives: 1)) == .forbidden)
    #expect(try a.change(.name("nobody"), .muted(true)) == .unknown)
    _ = try a.change(.id(ann.account.id), .block(name: "bob", on: true))
    _ = try b.change(.id(ann.account.id), .quiet(true))
    var score = AccountScore(account: ann.account.id)
    (score.won, score.xBalance) = (1, 1)
    try a.commit([.score(score)])
    try b.commit([.score(score)])
    let profile = try #require(try a.profile(ann.account.id))
    #expect(profile.account.quiet && profile.account.blocked == [bob.account.id] && profile.blockedNames == ["Bob"])
    #expect(profile.account.won == 2 && profile.account.xBalance == 2)
    #expect(throws: StoreError.self) { try a.commit([.score(AccountScore(account: 99_999))]) }
  }

  @Test(arguments: ClusterKind.allCases)
  func `a rated match takes a slot of both, and begins only with their ratings as they are`(kind: ClusterKind) throws {
    let view = try kind.make()
    let (a, b) = (try view(), try view())
    _ = try a.join(node("a"), lease: 60_000, replacing: nil)
    _ = try b.join(node("b"), lease: 60_000, replacing: nil)
    let (ann, bob, cid) = (try a.player("Ann"), try b.player("Bob"), try b.player("Cid"))
    let m = someID(1)
    var stale = beginning(m, ann.account, bob.account)
    stale.ratings[0].value = 1
    #expect(try b.begin(stale) == .stale)
    #expect(try b.begin(beginning(m, ann.account, bob.account)) == .begun)
    let first = min(ann.account.id, bob.account.id)
    #expect(try a.begin(beginning(someID(2), ann.account, bob.account)) == .playing(first))
    let profile = try #require(try a.profile(ann.account.id))
    #expect(profile.live == [m] && profile.rated == m && profile.openings.map(\.events) == [[event(1)]])
    #expect(try b.begin(beginning(someID(3), ann.account, cid.account)) == .playing(ann.account.id))
    var over = MatchRecord(id: m, x: ann.account.id, o: bob.account.id, created: 5)
    over.ended = Moment.current.wall
    var score = AccountScore(account: ann.account.id)
    score.rating = .init(value: 1600, deviation: 100, volatility: 0.06)
    score.ratedAt = 7
    try b.commit([.score(score), .append(m, after: 1, [event(2)]), .match(over)])
    #expect(try a.top(.classic, limit: 5).map(\.name) == ["Ann"])
    let free = try #require(try a.profile(ann.account.id))
    #expect(free.last == m && free.rated == nil && free.openings.isEmpty && free.account.rating.value == 1600)
    #expect(try a.begin(beginning(someID(4), ann.account, cid.account)) == .stale)
    #expect(try a.begin(beginning(someID(4), free.account, cid.account)) == .begun)
    #expect(try b.place(m)?.endedAgo != nil)
  }

  @Test(arguments: ClusterKind.allCases)
  func `a room's code is one room's, and its key opens one`(kind: ClusterKind) throws {
    let view = try kind.make()
    let (a, b) = (try view(), try view())
    _ = try a.join(node("a"), lease: 60_000, replacing: nil)
    _ = try b.join(node("b"), lease: 60_000, replacing: nil)
    let ann = try a.player("Ann")
    func room(_ n: UInt64, _ code: String, _ key: String) -> MatchBegin {
      MatchServerTests.room(someID(n), ann.account, code: code, key: key)
    }
    #expect(try a.begin(room(1, "ABC123", "k1")) == .begun)
    #expect(try b.begin(room(2, "ABC123", "k2")) == .codeTaken)
    #expect(try b.begin(room(3, "XYZ123", "k1")) == .known(someID(1)))
    #expect(try b.place(code: "ABC123")?.m == someID(1))
    #expect(try b.place(code: "XYZ123") == nil)
    #expect(try b.live(limit: 10).isEmpty, "rooms are private")
    try b.clean()
    #expect(try b.profile(ann.account.id)?.live == [someID(1)])
  }

  private func stand(_ store: any ClusterStore) throws -> [Int] {
    try store.renew(lease: 60_000).map { [$0.inForce, $0.common] } ?? []
  }

  @Test(arguments: ClusterKind.allCases)
  func `a version of the log is in force once nobody is left who cannot read it, and then shuts older builds out`(
    kind: ClusterKind
  ) throws {
    let view = try kind.builds()
    let (old, new, late) = (try view(1), try view(2), try view(1))
    _ = try old.join(node("a"), lease: 60_000, replacing: nil)
    _ = try new.join(node("b"), lease: 60_000, replacing: nil)
    #expect(try stand(new) == [1, 1] && stand(old) == [1, 1])
    try new.raiseLanguage()
    #expect(try stand(new) == [1, 1], "one reads less")
    // Until then the way back is free.
    try new.leave()
    let back = try view(1)
    _ = try back.join(node("b"), lease: 60_000, replacing: nil)
    try back.leave()
    let again = try view(2)
    let epoch = try again.join(node("b"), lease: 60_000, replacing: nil)
    try old.leave()
    #expect(try stand(again) == [1, 2], "who left is not waited for")
    // Who ended without leaving may come back as what he was, but not once another has his name.
    _ = try old.join(node("a"), lease: 1, replacing: nil)
    // No suspension: the other suites might not let it come back before the leases of a minute are over.
    usleep(20_000)
    #expect(try old.renew(lease: 60_000) == nil)
    #expect(try stand(again) == [1, 1])
    try again.raiseLanguage()
    #expect(try stand(again) == [1, 1])
    let successor = try view(3)
    _ = try successor.join(node("a"), lease: 60_000, replacing: nil)
    #expect(try stand(again) == [1, 2])
    try again.raiseLanguage()
    try successor.raiseLanguage()
    #expect(try stand(again) == [2, 2])
    for replacing in [nil, Int64(1)] {
      let error = #expect(throws: StoreError.self) {
        try late.join(node("c"), lease: 60_000, replacing: replacing)
      }
      guard case .tooNew(let text) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(text.contains("events of version 2 are in force") && text.contains("up to version 1"))
    }
    #expect(try again.join(node("b"), lease: 60_000, replacing: epoch) > epoch)
    try successor.leave()
    #expect(try stand(again) == [2, 2], "what is in force stays so")
  }
}
