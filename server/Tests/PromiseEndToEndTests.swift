import Base
import Foundation
import MatchProtocol
import Synchronization
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport
@testable import PostgresStore

/// What a hostile client, a broken log or a bad moment of the database may cost: never more than is told here.
@Suite struct PromiseEndToEndTests {
  @Test func `no id that a client can say is one of ours`() async throws {
    let server = try await TestServer()
    let (x, o, m, _) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2", mid: "srv-4")
    try x.wait(#""re":"r0""#)
    o.move(m, 1, "c3")
    try x.wait(#""ply":1"#)
    x.type("move a1")
    try x.wait(#""t":"ok""#)
    try o.wait(#""cell":"a1""#)
    try await server.stop()
  }

  @Test func `a log that is not what it was costs its match, and nobody else notices`() async throws {
    let store = MemoryStore()
    let server = try await TestServer(store: store)
    let (x, _, m, resume) = try RawPeer.pair(server.port)
    let (x2, o2, m2, _) = try RawPeer.pair(server.port)
    let id = try #require(MatchID(rawValue: m))
    // As if another program had written there.
    let there = try #require(try store.match(id)?.events.count)
    let strange = StoredEvent(seq: there + 1, side: .o, mid: nil, body: Array(#"{"k":"gone","at":1,"side":"o"}"#.utf8))
    try store.commit([StoreTransaction(number: 0, writes: [.append(id, after: there, [strange])])])
    x.move(m, 0, "b2")
    #expect(try x.wait(#""t":"bye""#).contains(#""code":"restart""#))
    x2.move(m2, 0, "b2")
    try o2.wait(#""cell":"b2""#)
    let back = try RawPeer(server.port)
    #expect(try back.hello(#""resume":"\#(resume[0])""#).contains(#""matches":[]"#))
    back.move(m, 0, "b2")
    #expect(try back.wait(#""re":"r0""#).contains("broken"))
    #expect(try store.match(id)?.record.ended != nil)
    #expect(try await server.host.inspect { $0.gauges.contains { ($0.name, $0.value) == ("broken_matches", 1) } })
    try await server.stop()
  }

  @Test func `a match in a long clock that both have left needs no look before the flag falls`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"600+0","rated":false"#)
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    world.drop(x)
    world.drop(o)
    world.wait(41_000)
    let looks = world.ticks
    world.wait(60_000)
    // The queue once a second and the house once a minute.
    #expect(world.ticks - looks < 70)
    world.wait(600_000)
    #expect(try world.store.recover().matches.isEmpty, "the clock has decided")
  }

  @Test func `a transaction does not go on over a connection that was made anew in the middle of it`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    try PostgresTestBed.shared.sql("CREATE TABLE word (w TEXT)", at: url)
    let pool = PostgresPool(try PGAddress(url), setup: [], count: 1)
    defer { pool.close() }
    let put = PGStatement(once: "INSERT INTO word VALUES ($1)")
    #expect(throws: StoreError.self) {
      try pool.transact { (transaction) throws(StoreError) in
        let pid = try transaction.run([put(.text("a")), PGStatement(once: "SELECT pg_backend_pid()")()])
          .last?.rows.first?.first?.int
        _ = try? PostgresTestBed.shared.sql("SELECT pg_terminate_backend(\(pid ?? 0), 5000)")
        usleep(50_000)
        try transaction.finish([put(.text("b"))])
      }
    }
    #expect(try PostgresTestBed.shared.sql("SELECT w FROM word", at: url).isEmpty)
  }

  @Test func `matches that were taken and could not be read leave no doubt about whose they are`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let (a, b) = (try PostgresCluster(PGAddress(url)), try PostgresCluster(PGAddress(url)))
    _ = try a.join(node("a"), lease: 60_000, replacing: nil)
    _ = try b.join(node("b"), lease: 60_000, replacing: nil)
    try a.commit([
      .match(MatchRecord(id: someID(1), x: nil, o: nil, created: 5)), .append(someID(1), after: 0, [event(1)]),
    ])
    try a.leave()
    try PostgresTestBed.shared.sql("ALTER TABLE match_event RENAME TO hidden", at: url)
    let error = #expect(throws: StoreError.self) { try b.takeOver(limit: 10) }
    guard case .unknownOutcome? = error else {
      Issue.record("\(String(describing: error)) lets the node go on without its matches")
      return
    }
    #expect(ClusterQuestion.takeOver(limit: 1).mustBeKnown)
    a.close()
    b.close()
  }

  @Test
  func `an append to a log that is longer or shorter than its row says is refused by name, and nothing of it stored`()
    throws
  {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresCluster(PGAddress(url))
    defer { store.close() }
    _ = try store.join(node("a"), lease: 60_000, replacing: nil)
    let ids = (1...3).map { someID($0) }
    for m in ids {
      try store.commit([.match(MatchRecord(id: m, x: nil, o: nil, created: 5)), .append(m, after: 0, [event(1)])])
    }
    // As it was left when an append was two statements and the second was done by itself.
    try PostgresTestBed.shared.sql(
      "INSERT INTO match_event (match_id, seq, side, body) VALUES ('\(ids[0])', 2, '', '')", at: url)
    let stored = try #require(try store.match(ids[0]))
    #expect(stored.length == 1 && stored.events.count == 2)
    let appends = ids.map { StoreWrite.append($0, after: 1, [event(2)]) }
    #expect(throws: StoreError.broken([ids[0]])) { try store.commit(appends) }
    try PostgresTestBed.shared.sql("UPDATE match SET seq = 2 WHERE id = '\(ids[1])'", at: url)
    #expect(throws: StoreError.broken([ids[1]])) { try store.commit(Array(appends[1...])) }
    #expect(try store.match(ids[2])?.events.count == 1)
    try store.commit([appends[2]])
    try PostgresTestBed.shared.sql("UPDATE match SET epoch = 0 WHERE id = '\(ids[2])'", at: url)
    let error = #expect(throws: StoreError.self) { try store.commit([.append(ids[2], after: 2, [event(3)])]) }
    guard case .conflict? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a server that ends waits for what its store is still doing`() async throws {
    let store = HeldStore()
    let server = try await TestServer(store: store)
    let (x, _, m, _) = try RawPeer.pair(server.port)
    store.isHeld.withLock { $0 = true }
    x.move(m, 0, "b2")
    store.waitUntilHeld()
    try await server.host.drain(retry: 0, within: 0)
    store.isHeld.withLock { $0 = false }
    try await server.host.finish()
    #expect(store.running.withLock { $0 } == 0, "a commit is under way")
    try await server.stop()
  }

  @Test func `while the disk stands still, what needs it is refused in time and everything else answered`() async throws
  {
    var lobby = LobbyConfiguration()
    lobby.maxWait = 1
    let store = HeldStore()
    let server = try await TestServer(store: store, lobby: lobby)
    let (x, o, m, _) = try RawPeer.pair(server.port)
    let (x2, _, m2, _) = try RawPeer.pair(server.port)
    let reader = try RawPeer(server.port)
    try reader.hello()
    store.isHeld.withLock { $0 = true }
    x.move(m, 0, "b2")
    store.waitUntilHeld()
    for (i, command) in [#""t":"me""#, #""t":"top""#, #""t":"list""#, #""t":"seek","key":"k""#, #""t":"unseek""#]
      .enumerated()
    {
      reader.type(#"{"id":"q\#(i)",\#(command)}"#)
      try reader.wait(#""re":"q\#(i)""#)
    }
    o.type(#"{"t":"say","id":"s","m":"\#(m)","text":"hm"}"#)
    try o.wait(#""re":"s""#)
    x2.move(m2, 0, "b2")
    #expect(try x2.wait(#""re":"r0""#).contains(#""code":"busy""#))
    // Behind a move that may be stored or not, too.
    x.type(#"{"t":"sync","id":"y","m":"\#(m)","seq":0}"#)
    #expect(try x.wait(#""re":"y""#).contains(#""code":"busy""#))
    // What tells nothing of it goes before what it has to say.
    for (id, line) in [
      ("f", #""t":"resign","m":"\#(m2)""#), ("u", #""t":"unseek""#), ("k", #""t":"seek","key":"k""#),
      ("g", #""t":"unseek""#),
    ] {
      x.type(#"{"id":"\#(id)",\#(line)}"#)
      try x.wait(#""re":"\#(id)""#)
    }
    let late = try RawPeer(server.port)
    late.type(#"{"t":"hello","v":[1]}"#)
    #expect(try late.wait(#""t":"bye""#).contains("restart"))
    store.isHeld.withLock { $0 = false }
    #expect(try x.wait(#""re":"r0""#).contains(#""t":"ok""#))
    try o.wait(#""cell":"b2""#)
    try await server.stop()
  }

  @Test func `an administrator's order is answered when it is durable`() async throws {
    let store = HeldStore()
    let server = try await TestServer(store: store)
    let peer = try RawPeer(server.port)
    #expect(try peer.hello(#""guest":"ann""#).contains("guest-ann"))
    store.isHeld.withLock { $0 = true }
    let isAnswered = Mutex(false)
    let host = server.host
    let order = Task {
      let isKnown = try await host.administer("guest-ann", .mute)
      isAnswered.withLock { $0 = true }
      return isKnown
    }
    store.waitUntilHeld()
    // What an order decides is there at once; only its answer waits.
    #expect(try await host.inspect { $0.accounts[$0.names["guest-ann"] ?? 0]?.muted } == true)
    for _ in 0..<100 { await Task.yield() }
    #expect(!isAnswered.withLock { $0 })
    store.isHeld.withLock { $0 = false }
    #expect(try await order.value)
    try await server.stop()
  }

  @Test func `a room's log begins with its first event for both, and who comes back sees the match before himself`()
    throws
  {
    var world = try SteppedLobby()
    let host = world.login("host"), friend = world.login("friend")
    world.type(host, "create")
    let code = try #require(world.field("code", of: host, in: "room"))
    for id in [host, friend] { _ = world.heard(id) }
    world.type(friend, "join \(code)")
    for id in [host, friend] {
      let events = world.said.filter { $0.connection == id && $0.line.contains(#""t":"event""#) }
      #expect(events.map { RawPeer.field("seq", $0.line) } == ["1", "2"])
    }
    world = try SteppedLobby(seed: 2)
    let x = world.pair().x
    let token = try #require(world.field("resume", of: x, in: "welcome"))
    world.drop(x)
    let back = world.login("", resume: token)
    let types = world.heard(back).map { RawPeer.field("t", $0) }
    #expect(types == ["hello", "welcome", "state", "event"])
  }

  @Test func `an account has sixteen sessions, and whoever is forgotten has none`() throws {
    var world = try SteppedLobby()
    let first = world.login("Ann")
    world.type(first, #"{"t":"register","name":"Ann"}"#)
    let token = try #require(world.field("token", of: first, in: "token"))
    let resume = try #require(world.field("resume", of: first, in: "welcome"))
    let others = (0..<SessionRecord.mostPerAccount).map { _ in world.login("", token: token) }
    #expect(world.lobby.sessions.count == SessionRecord.mostPerAccount && world.closed[first] == .revoked)
    #expect(try world.store.recover().sessions.count == SessionRecord.mostPerAccount)
    let again = world.login("", resume: resume)
    #expect(world.heardAny(again, #""code":"auth""#))
    let last = try #require(world.field("resume", of: others[3], in: "welcome"))
    world.step(.administer(name: "Ann", .forget))
    #expect(others.allSatisfy { world.closed[$0] == .revoked })
    #expect(try world.store.recover().sessions.isEmpty)
    let gone = world.login("", resume: last)
    #expect(world.heardAny(gone, #""code":"auth""#))
  }

  @Test func `a page of what is over is read for everybody once at a time`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    let line = ClientLine(id: "h", .history(nil, before: nil))
    func ask() -> [LobbyEffect] {
      world.lobby.reduce(
        .line(UInt64(id), line, at: world.now, roundTrip: 0), now: Moment(steady: world.now, wall: world.now))
    }
    func isRead(_ effects: [LobbyEffect]) -> Bool { effects.contains { if case .history = $0 { true } else { false } } }
    #expect(isRead(ask()))
    #expect(!isRead(ask()), "the first is still being read")
    world.step(.history(UInt64(id), re: "h", [], more: nil))
    #expect(isRead(ask()))
  }

  @Test func `a seek that is sent again has the same ticket`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    world.type(id, #"{"t":"seek","key":"k"}"#)
    let ticket = try #require(world.field("ticket", of: id))
    world.said = []
    world.type(id, #"{"t":"seek","key":"k","bots":true}"#)
    #expect(world.field("ticket", of: id) == ticket && world.lobby.tickets[id: ticket]?.seek.bots == true)
  }

  @Test func `rankings and the queue keep their order through every change`() {
    var random = SplitMix64(seed: 3)
    var ranking = Ranking<Int64>()
    var strengths: [Int64: Double] = [:]
    var queue = TicketQueue()
    var tickets: [String: Ticket] = [:]
    func player(rated rating: Int) -> AccountRecord {
      var account = someAccount(1, "Ann")
      account.rating.value = Double(rating)
      return account
    }
    for n in 0..<2000 {
      let id = Int64(random.below(200))
      let new = random.below(3) == 0 ? nil : Double(random.below(20))
      ranking.move(id, from: strengths[id], to: new)
      strengths[id] = new
      let session = "s\(random.below(100))"
      if random.below(3) == 0 {
        #expect(queue.remove(session: session)?.id == tickets.removeValue(forKey: session)?.id)
      } else {
        let ticket = Ticket(
          id: "t\(n)", session: session, player: player(rated: random.below(10)),
          seek: .init(MatchTerms(), bots: random.below(2) == 0, key: nil), isBot: random.below(4) == 0,
          since: Int64(random.below(50)))
        queue.insert(ticket)
        tickets[session] = ticket
        let near = queue.around(ticket).map(\.id)
        let all = tickets.values.filter { ticket.seek.bots || !$0.isBot }
        #expect(Set(near) == Set(all.map(\.id)), "a queue this short is looked at whole")
      }
    }
    let sorted = strengths.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
    #expect(ranking.places.map(\.id) == sorted.map(\.key))
    #expect(queue.oldestFirst.map(\.id) == tickets.values.sorted { ($0.since, $0.id) < ($1.since, $1.id) }.map(\.id))
    func ticket(_ n: Int) -> Ticket {
      let seek = ClientMessage.Seek(MatchTerms(), bots: true, key: nil)
      return Ticket(
        id: "q\(n)", session: "q\(n)", player: player(rated: n), seek: seek, isBot: n % 2 == 0, since: 0)
    }
    for n in 0..<2000 { queue.insert(ticket(n)) }
    let near = queue.around(ticket(1000))
    #expect(near.count <= 256 && near.contains { $0.id == "q999" }, "however long it is, few are compared with one")
  }

  @Test func `pages hear only of the boards they show`() throws {
    var world = try SteppedLobby()
    let matches = (0..<Lobby.boards + 6).map { _ in world.pair() }
    world.published = []
    for (x, _, m) in matches { world.move(x, m, 0, "b2") }
    #expect(Set(world.published) == Set(world.lobby.listed.places.prefix(Lobby.boards).map(\.id)))
    #expect(world.published.count == Lobby.boards)
  }

  @Test func `who is gone is forgotten when his time is over, and who is here is not`() throws {
    var world = try SteppedLobby()
    _ = world.login("here")
    let gone = world.login("gone")
    world.drop(gone)
    world.wallAhead += 25 * 3_600_000
    world.wait(125_000)
    let stored = try world.store.recover()
    #expect(stored.accounts.map(\.name) == ["guest-here"] && stored.sessions.count == 1)
    #expect(world.lobby.accounts.count == 1 && world.lobby.sessions.count == 1)
  }

  @Test func `a bot is told that it may say two hundred things at once, and may`() throws {
    var world = try SteppedLobby()
    let bot = world.login("bot", caps: #"["bot"]"#)
    #expect(world.heardAny(bot, #""limits":[200,200]"#))
    world.said = []
    for _ in 0..<150 { world.type(bot, "top") }
    #expect(world.heard(bot).count == 150 && !world.heardAny(bot, "rate"))
  }

  @Test func `while pages of what is over are slow, whoever else asks is answered`() async throws {
    let store = HeldStore()
    let server = try await TestServer(store: store)
    let reader = try RawPeer(server.port)
    try reader.hello()
    store.isHistoryHeld.withLock { $0 = true }
    reader.type(#"{"t":"history","id":"h"}"#)
    store.waitUntilHeld()
    let other = try RawPeer(server.port)
    try other.hello()
    other.type(#"{"t":"sync","id":"s","m":"nosuchmatch","seq":0}"#)
    #expect(try other.wait(#""re":"s""#).contains("not_found"))
    store.isHistoryHeld.withLock { $0 = false }
    try reader.wait(#""re":"h""#)
    try await server.stop()
  }

  @Test func `connections from the machine itself are not counted by address`() async throws {
    let server = try await TestServer { $0.maxPerAddress = 2 }
    let peers = try (0..<5).map { _ in try RawPeer(server.port) }
    for peer in peers { try peer.hello() }
    try await server.stop()
  }
}

/// A store in memory whose disk can be made to stand still.
private final class HeldStore: MatchStore {
  let isHeld = Mutex(false)
  let isHistoryHeld = Mutex(false)
  /// How many commits have begun and not ended.
  let running = Mutex(0)
  private let waits = DispatchSemaphore(value: 0)
  private let inner = MemoryStore()

  func waitUntilHeld() { waits.wait() }

  func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    running.withLock { $0 += 1 }
    defer { running.withLock { $0 -= 1 } }
    if isHeld.withLock({ $0 }) { waits.signal() }
    while isHeld.withLock({ $0 }) { usleep(1000) }
    try inner.commit(batch)
  }
  func recover() throws(StoreError) -> Recovery { try inner.recover() }
  func match(_ id: MatchID) throws(StoreError) -> StoredMatch? { try inner.match(id) }
  func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    if isHistoryHeld.withLock({ $0 }) { waits.signal() }
    while isHistoryHeld.withLock({ $0 }) { usleep(1000) }
    return try inner.history(of: account, before: before, limit: limit)
  }
  func matchIDs() throws(StoreError) -> [MatchID] { try inner.matchIDs() }
  func prune(before: Int64) throws(StoreError) -> Int { try inner.prune(before: before) }
  func reopen() throws(StoreError) {}
  func close() {}
}
