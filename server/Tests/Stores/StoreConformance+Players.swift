import Base
import Foundation
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore

extension StoreConformance {
  // MARK: logging in

  @Test(arguments: StoreKind.allCases)
  func `guests get the first free name and an unused number`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    func come(_ names: [String], _ session: String) throws -> LoginResult {
      try bench.login(
        .guest(
          names: names, token: Bench.digest(session), session: session, resume: Bench.digest("r" + session),
          lives: Bench.lives))
    }
    let before = try bench.now()
    guard case .entered(let first) = try come(["guest-x", "guest-y"], "s1"),
      case .entered(let second) = try come(["GUEST-x", "guest-y", "guest-z"], "s2")
    else { throw Bench.Unanswered() }
    #expect(first.profile.account.name == "guest-x" && first.profile.account.guest && first.generation == 1)
    #expect(first.before == nil && first.forgotten == [] && first.profile.live == [])
    #expect(first.profile.account.token == Bench.digest("s1"))
    #expect(second.profile.account.name == "guest-y" && second.profile.account.id > first.profile.account.id)
    let session = SessionRecord(
      id: "s1", account: first.profile.account.id, resume: Bench.digest("rs1"), expires: first.session.expires)
    #expect(first.session == session)
    for expires in [session.expires, first.profile.account.tokenExpires] {
      #expect((before + Bench.lives.guest...(try bench.now()) + Bench.lives.guest).contains(expires))
    }
    #expect(try come(["guest-X", "guest-Y"], "s3") == .unknown)
    #expect(try bench.store.accounts() == [first.profile.account, second.profile.account])
  }

  @Test(arguments: StoreKind.allCases)
  func `a session moves between nodes with its tokens and counts its logins`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    _ = try bench.heartbeat("b")
    let ann = try bench.player("Ann", at: "a")
    guard case .entered(let back) = try bench.resume("r-Ann", as: "f", at: "b") else { throw Bench.Unanswered() }
    #expect(back.generation == 2 && back.before == "a" && back.profile.account == ann)
    #expect(
      back.session
        == SessionRecord(
          id: "s-Ann", account: ann.id, resume: Bench.digest("f"), previous: Bench.digest("r-Ann"),
          expires: back.session.expires))
    #expect(back.session.expires > (try bench.now()) + Bench.lives.account - 60_000, "kept as long as a named account")
    // The answer with the new token may have been lost, so the previous token works until the new one is confirmed.
    guard case .entered(let again) = try bench.resume("r-Ann", as: "g", at: "a") else { throw Bench.Unanswered() }
    #expect(again.generation == 3 && again.before == "b" && again.session.id == "s-Ann")
    #expect(try bench.resume("f", as: "h") == .unknown)
    // The store ignores what a node reports about an earlier login of the session.
    _ = try bench.store.answer(.settle(session: "s-Ann", generation: 2))
    _ = try bench.store.answer(.detach(session: "s-Ann", generation: 2))
    guard case .entered(let third) = try bench.resume("r-Ann", as: "h", at: "b") else { throw Bench.Unanswered() }
    #expect(third.before == "a" && third.generation == 4)
    _ = try bench.store.answer(.settle(session: "s-Ann", generation: 4))
    #expect(try bench.resume("r-Ann", as: "i") == .unknown, "the previous token ended when the new one was confirmed")
    _ = try bench.store.answer(.detach(session: "s-Ann", generation: 4))
    guard case .entered(let last) = try bench.resume("h", as: "i") else { throw Bench.Unanswered() }
    #expect(last.before == nil && last.generation == 5 && last.session.previous == Bench.digest("h"))
    #expect(try bench.resume("nonsense", as: "j") == .unknown)
  }

  @Test(arguments: StoreKind.allCases)
  func `tokens work until they expire, and not for banned players`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    func come(_ token: String, _ session: String) throws -> LoginResult {
      try bench.login(
        .token(Bench.digest(token), session: session, resume: Bench.digest("r" + session), lives: Bench.lives))
    }
    guard case .entered(let entered) = try come("t-Ann", "s2") else { throw Bench.Unanswered() }
    #expect(entered.profile.account == ann && entered.generation == 1 && entered.session.id == "s2")
    #expect(try come("Ann", "s3") == .unknown, "registering has replaced the guest's token")
    _ = try bench.change(.id(ann.id), .token(Bench.digest("late"), lives: -1))
    #expect(try come("late", "s3") == .unknown && come("t-Ann", "s3") == .unknown)
    let short = try bench.guest("short", lives: Lifetimes(guest: -1, account: 1_000_000))
    #expect(short.session.expires < (try bench.now()))
    #expect(try bench.resume("r-short", as: "f") == .unknown && come("short", "s3") == .unknown)
    _ = try bench.change(.id(ann.id), .token(Bench.digest("t"), lives: Bench.lives.account))
    _ = try bench.change(.id(ann.id), .banned(true))
    #expect(try come("t", "s3") == .banned && bench.resume("r-Ann", as: "f") == .banned)
    _ = try bench.change(.id(ann.id), .banned(false))
    guard case .entered(let back) = try bench.resume("r-Ann", as: "f") else { throw Bench.Unanswered() }
    #expect(back.generation == 2, "a refused login does not change the session")
    #expect(try bench.resume("rs3", as: "g") == .unknown)
  }

  @Test(arguments: StoreKind.allCases)
  func `above the limit an account's oldest sessions are deleted, disconnected ones first`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    func come(_ n: Int) throws -> Entered {
      try bench.entered(
        .token(
          Bench.digest("t-Ann"), session: "s\(n)", resume: Bench.digest("r\(n)"),
          lives: Lifetimes(guest: 1, account: Int64(n) * 100_000)))
    }
    _ = try bench.store.answer(.change(.id(ann.id), .revoke(keep: "none")))
    _ = try bench.store.answer(.change(.id(ann.id), .token(Bench.digest("t-Ann"), lives: 1_000_000)))
    for n in 1...SessionRecord.mostPerAccount { #expect(try come(n).forgotten == []) }
    for n in [5, 7] { _ = try bench.store.answer(.detach(session: "s\(n)", generation: 1)) }
    #expect(try [17, 18, 19, 20].map { try come($0).forgotten } == [["s5"], ["s7"], ["s1"], ["s2"]])
    #expect(try bench.resume("r5", as: "f") == .unknown)
    guard case .entered = try bench.resume("r6", as: "f") else { throw Bench.Unanswered() }
    // A login does not delete the session that it has just made, however soon this session expires.
    let last = try bench.entered(
      .token(
        Bench.digest("t-Ann"), session: "s0", resume: Bench.digest("r0"), lives: Lifetimes(guest: 1, account: 1000)))
    #expect(last.forgotten == ["s3"])
  }

  // MARK: accounts

  @Test(arguments: StoreKind.allCases)
  func `each change changes one property of an account, and the account's version`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let guest = try bench.guest("Ann").profile.account
    let bob = try bench.player("Bob")
    var expected = guest
    func changed(
      _ change: AccountChange, of who: AccountReference? = nil, forgotten: [String] = [],
      _ edit: (inout AccountRecord) -> Void
    ) throws {
      edit(&expected)
      expected.version += 1
      guard case .changed(let account, let gone) = try bench.change(who ?? .id(guest.id), change) else {
        Issue.record("\(change) was refused")
        return
      }
      // The store sets when a token expires.
      let expires = account.tokenExpires
      expected.tokenExpires = expires
      #expect(account == expected && gone == forgotten)
      #expect(try bench.account(guest.id) == account)
    }
    func refused(_ change: AccountChange, _ result: ChangeResult, _ who: Int64? = nil) throws {
      #expect(try bench.change(.id(who ?? guest.id), change) == result)
      #expect(try bench.account(guest.id) == expected)
    }
    let token = Bench.digest("t-Ann")
    try refused(.register(name: "bOB", token: token, lives: 1), .nameTaken)
    try refused(.token(token, lives: 1), .forbidden)
    try refused(.revoke(keep: ""), .forbidden)
    try changed(.register(name: "Ann", token: token, lives: 5000)) {
      ($0.name, $0.guest, $0.token) = ("Ann", false, token)
    }
    #expect(abs(expected.tokenExpires - 5000 - (try bench.now())) < 4000)
    try refused(.register(name: "Eve", token: token, lives: 1), .forbidden)
    let other = Bench.digest("other")
    // Registers the name again, as after a lost answer.
    try changed(.register(name: "Ann", token: other, lives: 5000)) { $0.token = other }
    try changed(.token(other, lives: 1_000_000), of: .name("aNN")) { $0.token = other }
    for on in [true, false] {
      try changed(.quiet(on)) { $0.quiet = on }
      try changed(.muted(on)) { $0.muted = on }
      try changed(.banned(on)) { $0.banned = on }
    }
    for name in ["nobody", "ANN", "a\0b"] { try refused(.block(name: name, on: true), .notFound) }
    let names = ["Cid", "Dan"]
    let (cid, dan) = (try bench.player(names[0]), try bench.player(names[1]))
    for (name, id) in [("bob", bob.id), ("Cid", cid.id), ("DAN", dan.id)] {
      try changed(.block(name: name, on: true)) { $0.blocked.append(id) }
    }
    try changed(.block(name: "Bob", on: true)) { $0.blocked = [cid.id, dan.id, bob.id] }
    try changed(.block(name: "cid", on: false)) { $0.blocked = [dan.id, bob.id] }
    #expect(try bench.change(.name("nobody"), .muted(true)) == .unknown)
    #expect(try bench.change(.id(99_999), .muted(true)) == .unknown)

    for n in [3, 2, 1] {
      _ = try bench.entered(
        .token(other, session: "s\(n)", resume: Bench.digest("r\(n)"), lives: Bench.lives))
    }
    try changed(.revoke(keep: "s2"), forgotten: ["s-Ann", "s1", "s3"]) { $0.token = nil }
    #expect(try bench.login(.token(other, session: "s4", resume: other, lives: Bench.lives)) == .unknown)
    #expect(try bench.resume("r1", as: "f") == .unknown)
    guard case .entered = try bench.resume("r2", as: "f") else { throw Bench.Unanswered() }
    try changed(.forget, forgotten: ["s2"]) { ($0.name, $0.guest, $0.token) = ("deleted-\(guest.id)", true, nil) }
    #expect(expected.tokenExpires <= (try bench.now()))
    #expect(try bench.resume("f", as: "g") == .unknown && bench.resume("r-Bob", as: "g") != .unknown)
    let next = AccountReference.id(try bench.guest("x").profile.account.id)
    guard case .changed = try bench.change(next, .register(name: "ANN", token: token, lives: 1)) else {
      throw Bench.Unanswered()
    }
  }

  @Test(arguments: StoreKind.allCases) func `an account can block a thousand others`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    var ann = someAccount(1, "Ann")
    ann.blocked = Array(1001...2000)
    try bench.store.add([ann, someAccount(3, "Bob")])
    #expect(try bench.change(.id(1), .block(name: "Bob", on: true)) == .full)
    #expect(try bench.account(1) == ann)
  }

  @Test(arguments: StoreKind.allCases)
  func `a ticket that has led to a match is kept while the match is live`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    func led(_ n: UInt64) throws -> MatchID? {
      try bench.compare { $0.tickets = ["t\(n)"] }.tickets.first?.m
    }
    for (n, isOver) in [(1, false), (2, true)] as [(UInt64, Bool)] {
      _ = try bench.queue(bench.ticket("t\(n)", ann.id))
      var unit = bench.beginning(someID(n), ann.id, bob.id)
      unit.tickets = ["t\(n)"]
      #expect(bench.apply(unit) == .applied([:]))
      if isOver { try bench.change(someID(n)) { $0.ended = 7 } }
    }
    try bench.clean()
    #expect(try led(1) == someID(1))
    #expect(try led(2) == nil, "tickets of finished matches are deleted")
  }

  @Test(arguments: StoreKind.allCases) func `the number of a blocked account is never reused`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    var ann = someAccount(1, "Ann")
    ann.blocked = [40]
    try bench.store.add([ann])
    #expect(try bench.guest("x").profile.account.id > 40)
  }

  @Test(arguments: StoreKind.allCases)
  func `a profile has an account's live matches and blocked players`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    #expect(try bench.profile(99_999) == nil)
    let time = try bench.now()
    let later = bench.begin(1, ann.id, bob.id, created: 20)
    let same = [bench.begin(2, bob.id, ann.id, created: 10), bench.begin(3, opener: ann.id, code: "ABC", created: 10)]
    _ = bench.begin(4, bob.id, 99_999)
    let ended = [
      bench.begin(5, ann.id, bob.id, ended: time - 50_000), bench.begin(6, bob.id, ann.id, ended: time - 30_000),
      bench.begin(7, ann.id, bob.id, ended: time - 40_000),
    ]
    _ = bench.begin(8, bob.id, 99_999, opener: ann.id, ended: time - 1)
    _ = bench.apply(StoreUnit(logs: [.init(later, after: 1, [Bench.event(2)])]))
    _ = try bench.change(.id(ann.id), .block(name: "bob", on: true))
    var profile = try #require(try bench.profile(ann.id))
    #expect(profile.account.blocked == [bob.id] && profile.blockedNames == ["Bob"])
    #expect(profile.live == same.sorted() + [later])
    #expect(profile.openings.allSatisfy { $0.bodies == Bench.events(1) })
    #expect(profile.last == ended[1])
    let entered = try bench.entered(
      .token(Bench.digest("t-Ann"), session: "s2", resume: Bench.digest("r2"), lives: Bench.lives))
    #expect(entered.profile == profile)
    for m in profile.live { try bench.end(m) }
    profile = try #require(try bench.profile(ann.id))
    #expect(profile.live.isEmpty && profile.openings.isEmpty && [later, same[0]].contains(profile.last))
    let cid = try bench.player("Cid")
    _ = bench.begin(9, cid.id, ended: try bench.now() - 61_000)
    #expect(try bench.profile(cid.id)?.last == nil)
    // A profile names the last fifty blocked accounts in the order of blocking, without deleted ones.
    let others = (1001...1060).map { someAccount($0, "p\($0)") }
    var blocker = someAccount(1000, "Dan")
    blocker.blocked = others.map(\.id).reversed() + [5_000]
    try bench.store.add(others + [blocker])
    #expect(try bench.profile(1000)?.blockedNames == (1001...1049).reversed().map { "p\($0)" })
  }

  @Test(arguments: StoreKind.allCases) func `the ranking has registered players with rated games, strongest first`(
    kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    let other = try #require(Variant.allCases.first { $0 != .classic })
    func account(_ id: Int64, _ rating: Double, _ rules: Variant, rated: Bool = true) -> AccountRecord {
      var account = AccountRecord(id: id, name: "p\(id)", guest: false, token: nil, tokenExpires: 0)
      account[rules].rating.value = rating
      account[rules].ratedAt = rated ? 5 : 0
      return account
    }
    var accounts = [
      account(1, 1600, .classic), account(2, 1700, .classic), account(3, 1600, .classic), account(4, 1900, .classic),
      account(5, 1900, .classic), account(6, 1900, .classic, rated: false), account(7, 1400, other),
      account(8, 1500, other),
    ]
    (accounts[3].guest, accounts[4].banned) = (true, true)
    accounts[0][other].rating.value = 1500
    accounts[0][other].ratedAt = 5
    accounts[1][other].won = 1
    try bench.store.add(accounts)
    #expect(try bench.accounts(.top(.classic, limit: 10)).map(\.id) == [2, 1, 3])
    #expect(try bench.accounts(.top(.classic, limit: 2)) == [accounts[1], accounts[0]])
    #expect(try bench.accounts(.top(other, limit: 10)) == [accounts[0], accounts[7], accounts[6]])
    #expect(try bench.accounts(.top(other, limit: 1)) == [accounts[0]])
    _ = try bench.change(.id(8), .banned(true))
    #expect(try bench.accounts(.top(other, limit: 10)).map(\.id) == [1, 7])
  }

  // MARK: lists for administrators

  @Test(arguments: StoreKind.allCases) func `players are listed by number, in pages`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    var accounts = (1...6).map { someAccount(Int64($0), "p\($0)") }
    for i in accounts.indices { accounts[i].guest = [1, 4].contains(i) }
    (accounts[2].banned, accounts[4].banned, accounts[3].muted) = (true, true, true)
    try bench.store.add(accounts.reversed())
    for (list, ids) in [
      (.named, [1, 3, 4, 6]), (.banned, [3, 5]), (.muted, [4]), (.guests, [2, 5]),
    ] as [(PlayerList, [Int64])] {
      #expect(try bench.accounts(.players(list, after: 0, limit: 10)).map(\.id) == ids, "\(list)")
    }
    #expect(try bench.accounts(.players(.named, after: 0, limit: 3)) == [0, 2, 3].map { accounts[$0] })
    #expect(try bench.accounts(.players(.named, after: 4, limit: 3)) == [accounts[5]])
    #expect(try bench.accounts(.players(.named, after: 6, limit: 3)) == [])
    _ = try bench.change(.id(3), .banned(false))
    #expect(try bench.accounts(.players(.banned, after: 0, limit: 10)).map(\.id) == [5])
  }

  @Test(arguments: StoreKind.allCases)
  func `reports are listed latest first with current names and kept for 90 days`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let time = try bench.now()
    let (ann, bob) = (try bench.player("Ann"), try bench.player("Bob"))
    _ = bench.begin(1, ann.id, bob.id, ended: 5)
    func report(_ account: Int64, _ text: String, at: Int64 = 0) throws {
      let record = ReportRecord(at: at, account: account, m: someID(1), text: text)
      #expect(try bench.store.answer(.report(record)) == .done)
    }
    try report(ann.id, "old", at: time - ReportRecord.lives - 1)
    try report(ann.id, "nearly old", at: time - ReportRecord.lives + 600_000)
    try report(bob.id, "rude: 'ä' 😀")
    try report(999, "")
    let all = try bench.reports()
    #expect(all.map(\.text) == ["", "rude: 'ä' 😀", "nearly old", "old"])
    #expect(all.map(\.name) == ["", "Bob", "Ann", "Ann"] && all.map(\.account) == [999, bob.id, ann.id, ann.id])
    #expect(all[1...].map(\.opponent) == ["Ann", "Bob", "Bob"])
    #expect(all.allSatisfy { $0.m == someID(1) } && all[3].at == time - ReportRecord.lives - 1)
    #expect(all[1].at >= time && all[1].at < time + 600_000)
    #expect(try bench.reports(limit: 2) == Array(all[..<2]))
    #expect(try bench.reports(before: all[1].id, limit: 2) == Array(all[2...]))
    #expect(try bench.reports(before: all[3].id) == [])
    #expect(try bench.view().answer(.reports(before: .max, limit: 9)) == .reports(all))
    _ = try bench.change(.id(bob.id), .forget)
    try bench.clean()
    let left = try bench.reports()
    #expect(left.map(\.text) == ["", "rude: 'ä' 😀", "nearly old"])
    #expect(left.map(\.name) == ["", "", "Ann"] && left.last?.opponent == "", "reports do not name a forgotten player")
  }

  // MARK: cleaning

  @Test(arguments: StoreKind.allCases) func `expired sessions and idle guests are deleted`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let short = Lifetimes(guest: -1, account: 1_000_000)
    func guest(_ name: String, away: Bool = true) throws -> Int64 {
      let id = try bench.guest(name, lives: short).profile.account.id
      if away { _ = try bench.store.answer(.detach(session: "s-\(name)", generation: 1)) }
      return id
    }
    let time = try bench.now()
    let ann = try bench.player("Ann")
    let (gone, here) = (try guest("gone"), try guest("here", away: false))
    let (plays, opens, played) = (try guest("plays"), try guest("opens"), try guest("played"))
    let (longAgo, watched) = (try guest("long-ago"), try guest("watched"))
    let lives = try bench.guest("lives").profile.account.id
    _ = try bench.store.answer(.detach(session: "s-lives", generation: 1))
    _ = bench.begin(1, ann.id, plays)
    _ = bench.begin(2, opener: opens, code: "ABC")
    _ = bench.begin(3, played, ann.id, ended: time - 500_000)
    _ = bench.begin(4, longAgo, ann.id, ended: time - 700_000)
    _ = bench.begin(5, ann.id, opener: watched, ended: time - 1000)
    _ = try bench.queue(bench.ticket("t1", gone))
    try bench.clean(lives: short)
    #expect(try bench.store.accounts().map(\.id) == [ann.id, here, plays, opens, played, lives].sorted())
    #expect(try bench.tickets().isEmpty)
    let left = try bench.compare {
      $0.sessions = ["s-Ann": 1, "s-gone": 1, "s-here": 1, "s-plays": 1, "s-lives": 1]
    }
    #expect(left.sessions == ["s-gone", "s-plays"])
    _ = try bench.store.answer(.detach(session: "s-here", generation: 1))
    try bench.clean()
    #expect(try bench.account(here) == nil && bench.account(ann.id)?.name == "Ann")
    let last = try guest("last")
    try bench.clean()
    #expect(try bench.account(last) == nil)
    #expect(try bench.guest("next").profile.account.id > last)
  }

  @Test(arguments: StoreKind.allCases)
  func `above the limit the longest absent guests are deleted`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let named = try bench.player("Ann")
    let early = try bench.guest("5").profile.account.id
    let guests = try (0..<5).map { try bench.guest("\($0)").profile.account.id } + [early]
    try bench.wait(2 * Bench.day)
    _ = try bench.entered(
      .token(Bench.digest("5"), session: "again", resume: Bench.digest("again"), lives: Bench.lives))
    _ = try bench.store.answer(.detach(session: "again", generation: 1))
    _ = bench.begin(1, guests[0], guests[1])
    for n in [0, 1, 3, 4, 5] { _ = try bench.store.answer(.detach(session: "s-\(n)", generation: 1)) }
    _ = try bench.store.answer(.detach(session: "s-Ann", generation: 1))
    try bench.clean(guests: 6)
    #expect(try bench.store.accounts().count == 7)
    try bench.clean(guests: 4)
    // Of guests 0 to 2 two are in a match, and one is connected.
    #expect(try bench.store.accounts().map(\.id) == [named.id, early] + guests[..<3])
    #expect(try bench.resume("r-3", as: "f") == .unknown)
    try bench.clean(guests: 0)
    #expect(try bench.store.accounts().map(\.id) == [named.id] + guests[..<3])
  }

  @Test(arguments: StoreKind.allCases) func `old keys are deleted once their match is over`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let ann = try bench.player("Ann")
    for n in 1...2 as ClosedRange<UInt64> {
      var unit = bench.beginning(someID(n), ann.id)
      unit.keys = [.init(account: ann.id, "k\(n)", purpose: "p")]
      #expect(bench.apply(unit) == .applied([:]))
    }
    try bench.end(someID(1))
    func live() throws -> [QueueResult] {
      try (1...2).map { try bench.queue(bench.ticket("t\($0)", ann.id, key: "k\($0)")) }
    }
    for age: Int64 in [600_000, -600_000] {
      try bench.clean(keys: age)
      let results = try live()
      guard case .waits = results[0] else { throw Bench.Unanswered() }
      #expect(results[1] == .led(someID(2)), "the key of a live match is kept")
    }
  }
}
