import Base
import Foundation
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import MatchStore
@testable import SQLiteStore
@testable import PostgresStore

/// The stores under test. The reference is `MemoryStore`.
enum StoreKind: String, CaseIterable {
  case reference, sharedReference, sqliteInMemory, sqlite, postgres
}

/// A store under test, with shorthands for tests. Node `a` is live, and asks the questions unless another node is given.
final class Bench {
  static let lives = Lifetimes.usual
  static let (hour, day) = (3_600_000 as Int64, 86_400_000 as Int64)

  let kind: StoreKind
  let clock: TestClock
  let folder = TemporaryFolder()
  let store: any MatchStore
  /// The database's URL; `nil` unless the store is in PostgreSQL.
  private let url: String?
  private var others: [any MatchStore] = []

  /// The store's clock starts at `wall`, milliseconds since 1970.
  init(_ kind: StoreKind, at wall: Int64 = 1_800_000_000_000) throws {
    let clock = TestClock(wall: wall)
    (self.kind, self.clock) = (kind, clock)
    switch kind {
    case .reference: (store, url) = (MemoryStore { clock.wall }, nil)
    case .sharedReference: (store, url) = (MemoryStore(shared: true) { clock.wall }, nil)
    case .sqliteInMemory: (store, url) = (try SQLiteStore(path: SQLiteStore.inMemory) { clock.wall }, nil)
    case .sqlite: (store, url) = (try SQLiteStore(path: folder.path + "/matches.sqlite") { clock.wall }, nil)
    case .postgres:
      // The name distinguishes this bench's database connections from those of other benches.
      let fresh = try PostgresTestBed.shared.freshURL() + "&application_name=\(UUID().uuidString)"
      try PostgresTestBed.shared.setClock(ahead: wall - Moment.current.wall, at: fresh)
      (store, url) = (try PostgresStore(PGAddress(fresh)), fresh)
    }
    _ = try heartbeat("a")
  }

  deinit { for store in others + [store] { store.close() } }

  @discardableResult func sql(_ text: String) throws -> [[PGValue]] { try PostgresTestBed.shared.sql(text, at: url) }

  /// The store's content as another node sees it.
  func view() throws -> any MatchStore {
    guard let url else { return store }
    let other = try PostgresStore(PGAddress(url))
    others.append(other)
    return other
  }

  /// Advances the store's clock; node `a` stays live.
  func wait(_ milliseconds: Int64) throws {
    clock.wall += milliseconds
    if let url { try PostgresTestBed.shared.setClock(ahead: clock.wall - Moment.current.wall, at: url) }
    _ = try heartbeat("a")
  }

  func now() throws -> Int64 { try heartbeat("a").now }

  static func digest(_ text: String) -> SHA256.Digest { SHA256.hash(Array(text.utf8)) }

  static func event(_ seq: Int) -> [UInt8] { Array("event \(seq)".utf8) }

  static func events(_ count: Int) -> [[UInt8]] { (0..<count).map { event($0 + 1) } }

  // MARK: units

  func apply(_ unit: StoreUnit) -> Verdict { store.apply([unit]).first ?? .failed("no verdict") }

  func beginning(
    _ m: MatchID, _ x: Int64? = nil, _ o: Int64? = nil, opener: Int64? = nil, code: String? = nil, created: Int64 = 5,
    ended: Int64? = nil, nodes: [NodeID] = ["a"]
  ) -> StoreUnit {
    let record = MatchRecord(id: m, x: x, o: o, opener: opener, code: code, created: created, ended: ended)
    return StoreUnit(logs: [.init(m, after: 0, [Bench.event(1)], record: record, nodes: nodes)])
  }

  func begin(
    _ n: UInt64, _ x: Int64? = nil, _ o: Int64? = nil, opener: Int64? = nil, code: String? = nil, created: Int64 = 5,
    ended: Int64? = nil, nodes: [NodeID] = ["a"]
  ) -> MatchID {
    let m = someID(n)
    let unit = beginning(m, x, o, opener: opener, code: code, created: created, ended: ended, nodes: nodes)
    #expect(apply(unit) == .applied([:]))
    return m
  }

  func change(_ m: MatchID, _ change: (inout MatchRecord) -> Void) throws {
    var match = try #require(try store.match(m))
    change(&match.record)
    let unit = StoreUnit(logs: [.init(m, after: match.length, [], record: match.record)])
    guard case .applied = apply(unit) else {
      Issue.record("\(m) was not changed")
      return
    }
  }

  func end(_ m: MatchID) throws {
    let time = try now()
    try change(m) { $0.ended = time }
  }

  /// Cleans until nothing is left to clean; returns the number of calls.
  @discardableResult
  func clean(guests: Int = 1000, keys: Int64 = 600_000, lives: Lifetimes = Bench.lives) throws -> Int {
    let question = StoreQuestion.clean(guests: guests, keys: keys, lives: lives)
    for slice in 1...100 where try store.answer(question) == .cleaned(isMore: false) { return slice }
    throw Unanswered()
  }

  // MARK: nodes and matches

  func heartbeat(_ node: NodeID, address: String? = nil) throws -> Heartbeat {
    let question = StoreQuestion.heartbeat(node, address: address ?? "\(node):1")
    guard case .heartbeat(let heartbeat) = try store.answer(question) else { throw Unanswered() }
    // Moves heartbeats an hour ahead, so that no live node's heartbeat expires on a busy machine.
    if let url {
      let since = "(SELECT beat_at FROM node WHERE id = '\(node)') - \(Heartbeat.lives)"
      try PostgresTestBed.shared.sql("UPDATE node SET beat_at = beat_at + 3600000 WHERE beat_at > \(since)", at: url)
    }
    return heartbeat
  }

  /// Ages a node's heartbeat until the node counts as dead; node `a` stays live.
  func silence(_ node: NodeID) throws {
    if let url {
      let then = "(SELECT min(beat_at) FROM node WHERE id = 'a') - 3600000 - \(Heartbeat.lives)"
      try PostgresTestBed.shared.sql("UPDATE node SET beat_at = \(then) WHERE id = '\(node)'", at: url)
    } else {
      clock.wall += Heartbeat.lives - 1
      _ = try heartbeat("a")
      clock.wall += 1
    }
  }

  func adoptOrphans(_ node: NodeID = "a", limit: Int = 100) throws -> [FollowedMatch] {
    guard case .adopted(let adopted) = try store.answer(.adoptOrphans(node, limit: limit)) else { throw Unanswered() }
    return adopted
  }

  func follow(_ m: MatchID, _ node: NodeID = "a") throws -> FollowedMatch? {
    guard case .match(let followed) = try store.answer(.follow(m, node)) else { throw Unanswered() }
    return followed
  }

  func look(_ m: MatchID) throws -> FollowedMatch? {
    guard case .match(let followed) = try store.answer(.match(m)) else { throw Unanswered() }
    return followed
  }

  func compare(_ node: NodeID = "a", _ remember: (inout Memory) -> Void) throws -> Differences {
    var memory = Memory()
    remember(&memory)
    guard case .differences(let found) = try store.answer(.compare(node, memory)) else { throw Unanswered() }
    return found
  }

  func place(_ code: String) throws -> MatchID? {
    guard case .id(let m) = try store.answer(.code(code)) else { throw Unanswered() }
    return m
  }

  func matches(_ question: StoreQuestion) throws -> [StoredMatch] {
    guard case .matches(let found) = try store.answer(question) else { throw Unanswered() }
    return found
  }

  // MARK: players

  func login(_ entry: Login, at node: NodeID = "a") throws -> LoginResult {
    guard case .login(let result) = try store.answer(.login(entry, node)) else { throw Unanswered() }
    return result
  }

  func entered(_ entry: Login, at node: NodeID = "a") throws -> Entered {
    guard case .entered(let entered) = try login(entry, at: node) else { throw Unanswered() }
    return entered
  }

  /// Logs in as a guest `guest-NAME` with the token NAME and a session `s-NAME` with the resume token `r-NAME`.
  func guest(_ name: String, at node: NodeID = "a", lives: Lifetimes = Bench.lives) throws -> Entered {
    try entered(
      .guest(
        names: ["guest-\(name)"], token: Bench.digest(name), session: "s-\(name)", resume: Bench.digest("r-\(name)"),
        lives: lives), at: node)
  }

  /// Logs in as `guest` does, and registers NAME with the token `t-NAME`.
  func player(_ name: String, at node: NodeID = "a") throws -> AccountRecord {
    let guest = try guest(name, at: node).profile.account
    let change = AccountChange.register(name: name, token: Bench.digest("t-\(name)"), lives: Bench.lives.account)
    guard case .changed(let account, _) = try self.change(.id(guest.id), change) else { throw Unanswered() }
    return account
  }

  func resume(_ token: String, as fresh: String, at node: NodeID = "a") throws -> LoginResult {
    try login(.resume(presented: Bench.digest(token), fresh: Bench.digest(fresh), lives: Bench.lives), at: node)
  }

  func change(_ who: AccountReference, _ change: AccountChange) throws -> ChangeResult {
    guard case .change(let result) = try store.answer(.change(who, change)) else { throw Unanswered() }
    return result
  }

  func profile(_ account: Int64) throws -> Profile? {
    guard case .profile(let profile) = try store.answer(.profile(account)) else { throw Unanswered() }
    return profile
  }

  func account(_ id: Int64) throws -> AccountRecord? { try accounts(.accounts([id])).first }

  func accounts(_ question: StoreQuestion) throws -> [AccountRecord] {
    guard case .accounts(let found) = try store.answer(question) else { throw Unanswered() }
    return found
  }

  func reports(before: Int64 = .max, limit: Int = 100) throws -> [ReportRecord] {
    guard case .reports(let found) = try store.answer(.reports(before: before, limit: limit)) else {
      throw Unanswered()
    }
    return found
  }

  // MARK: the queue

  func ticket(
    _ id: String, _ account: Int64, session: String? = nil, key: String = "", purpose: String = "p",
    node: NodeID = "a", since: Int64 = 0
  ) -> TicketRecord {
    TicketRecord(
      id: id, session: session ?? "session of \(id)", account: account, node: node, key: key, purpose: purpose,
      wish: "wish of \(id)", since: since)
  }

  func queue(_ ticket: TicketRecord, rated: Bool = false) throws -> QueueResult {
    guard case .queued(let result) = try store.answer(.queue(ticket, rated: rated)) else { throw Unanswered() }
    return result
  }

  /// The store refuses a rated ticket of an account that is in a rated match.
  func playsRated(_ account: Int64) throws -> Bool {
    let result = try queue(ticket("probe", account), rated: true)
    _ = try store.answer(.unqueue("probe"))
    return result == .playing
  }

  func tickets() throws -> [WaitingTicket] {
    guard case .tickets(let all) = try store.answer(.tickets) else { throw Unanswered() }
    return all
  }

  struct Unanswered: Error {}
}
