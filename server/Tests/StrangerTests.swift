import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore

/// What somebody who wishes a server ill may say, and what a client that is lost may.
@Suite struct StrangerTests {
  private func terms(_ key: String) -> String { #"{"t":"seek","clock":"3600+59","rated":false,"key":"\#(key)"}"# }

  @Test func `a seek from another session takes the place of the first, and nobody is paired with what is gone`() throws
  {
    var world = try SteppedLobby()
    let first = world.login("Ann")
    world.type(first, #"{"t":"register","name":"Ann"}"#)
    let token = try #require(world.field("token", of: first, in: "token"))
    let second = world.login("", token: token)
    world.type(first, terms("k"))
    world.type(second, terms("k"))
    #expect(world.lobby.tickets.count == 1 && world.heardAny(first, #""code":"mid_reused""#))
    world.type(first, #"{"t":"unseek"}"#)
    #expect(world.lobby.tickets.count == 1, "what the first gives up is not the second's")
    world.type(second, #"{"t":"unseek"}"#)
    #expect(world.lobby.tickets.isEmpty)
    let guests = (0..<2).map { world.login("g\($0)") }
    for id in guests { world.type(id, terms("g")) }
    #expect(guests.allSatisfy { world.field("m", of: $0, in: "paired") != nil })
  }

  @Test func `nobody plays more than so many matches at once`() throws {
    var world = try SteppedLobby()
    let players = [world.login("Ann"), world.login("Bob")]
    for n in 0...Lobby.matchesPerAccount {
      for id in players { world.type(id, terms("k\(n)")) }
      world.wait(100)
    }
    #expect(world.lobby.matches.count == Lobby.matchesPerAccount)
    #expect(world.heardAny(players[0], #""code":"occupied""#) && world.lobby.seeks.isEmpty)
    // Nor by a rematch of one that has ended.
    let old = try #require(world.field("m", of: players[0], in: "paired"))
    world.type(players[0], #"{"t":"abort","m":"\#(old)","mid":"a"}"#)
    for id in players { world.type(id, terms("more")) }
    world.said = []
    for id in players { world.type(id, #"{"t":"rematch","m":"\#(old)","mid":"r\#(id)"}"#) }
    #expect(world.said.filter { $0.line.contains(#""code":"occupied""#) }.count == 2)
    #expect(world.lobby.matches.values.filter { !$0.isOver }.count == Lobby.matchesPerAccount)
    // Nor when somebody else agrees to one that was asked for before.
    let asked = ["Cleo", "Dan", "Eve"].map { world.login($0) }
    for id in asked[..<2] { world.type(id, terms("first")) }
    let m = try #require(world.field("m", of: asked[0], in: "paired"))
    world.type(asked[0], #"{"t":"abort","m":"\#(m)","mid":"a"}"#)
    world.type(asked[0], #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    for n in 0..<Lobby.matchesPerAccount {
      for id in [asked[0], asked[2]] { world.type(id, terms("c\(n)")) }
      world.wait(100)
    }
    world.type(asked[1], #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    #expect(world.heardAny(asked[1], #""code":"occupied""#))
  }

  @Test func `matches that end in one moment are on pages of their own, and nobody gets the number of who is blocked`()
    throws
  {
    var world = try SteppedLobby()
    let players = [world.login("Ann"), world.login("Bob")]
    for n in 0..<3 {
      for id in players { world.type(id, terms("k\(n)")) }
      world.wait(100)
    }
    for m in world.lobby.matches.keys { world.type(players[0], #"{"t":"abort","m":"\#(m)","mid":"a"}"#) }
    #expect(Set(world.lobby.matches.values.map(\.record.ended)).count == 3)
    var recovery = Recovery()
    recovery.accounts = [AccountRecord(id: 1, name: "Kim", guest: false, token: nil, tokenExpires: .max)]
    recovery.accounts[0].blocked = [40]
    recovery.lastAccount = 1
    let lobby = Lobby(.init(), recovery: recovery, random: .seeded(SplitMix64(seed: 1)), now: .current)
    #expect(lobby.nextAccount == 41)
  }

  @Test func `what keys were used for is bounded, and so is what waits to forget it`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    for n in 0..<1000 {
      world.type(id, terms("k\(n % 100)"))
      if n % 2 == 0 { world.type(id, #"{"t":"unseek"}"#) }
      world.wait(100)
    }
    #expect(world.lobby.keys.values.allSatisfy { $0.count <= Lobby.keysPerAccount })
    #expect(world.lobby.timers.heap.count < 20)
    world.type(id, #"{"t":"unseek"}"#)
    world.drop(id)
    world.wait(Int64(world.lobby.configuration.keyLives) * 2)
    #expect(world.lobby.keys.isEmpty)
  }

  @Test func `nobody takes the name of somebody who is forgotten`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    world.type(id, #"{"t":"register","name":"Deleted-1"}"#)
    #expect(world.heardAny(id, #""code":"name""#))
  }

  @Test func `a match that is not in the store costs itself alone`() throws {
    let store = try PostgresCluster(PGAddress(try PostgresTestBed.shared.freshURL()))
    defer { store.close() }
    _ = try store.join(node("a"), lease: 60_000, replacing: nil)
    #expect(throws: StoreError.broken([someID(9)])) { try store.commit([.append(someID(9), after: 1, [event(2)])]) }
  }

  @Test func `what an incarnation that is over has asked is not done for the next`() throws {
    let store = try PostgresCluster(PGAddress(try PostgresTestBed.shared.freshURL()))
    defer { store.close() }
    let before = try store.join(node("a"), lease: 60_000, replacing: nil)
    let ann = try store.player("Ann"), bob = try store.player("Bob")
    let now = try store.join(node("a"), lease: 60_000, replacing: before)
    $asking.withValue(before) {
      #expect(throws: StoreError.self) { try store.answer(.takeOver(limit: 1)) }
      #expect(throws: StoreError.self) { try store.answer(.begin(beginning(someID(1), ann.account, bob.account))) }
    }
    let answer = try $asking.withValue(now) { try store.answer(.begin(beginning(someID(1), ann.account, bob.account))) }
    #expect(answer == .begin(.begun))
  }

  @Test func `a guest who has just played is not forgotten before the other has asked for a rematch`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let store = try PostgresCluster(PGAddress(url))
    defer { store.close() }
    _ = try store.join(node("a"), lease: 60_000, replacing: nil)
    let ann = try store.player("Ann"), bob = try store.player("Bob")
    try store.commit([
      .match(MatchRecord(id: someID(1), x: ann.account.id, o: nil, created: 5, ended: Moment.current.wall))
    ])
    for sql in ["DELETE FROM session", "UPDATE account SET guest = true, token_expires = 5"] {
      try PostgresTestBed.shared.sql(sql, at: url)
    }
    try store.clean()
    #expect(try store.profile(ann.account.id) != nil && store.profile(bob.account.id) == nil)
  }

  @Test func `in a cluster, too, the session before the last sixteen is over`() throws {
    let store = try PostgresCluster(PGAddress(try PostgresTestBed.shared.freshURL()))
    defer { store.close() }
    _ = try store.join(node("a"), lease: 60_000, replacing: nil)
    let ann = try store.player("Ann")
    var forgotten: [String] = []
    for n in 0..<SessionRecord.mostPerAccount {
      let entry = Entry.token(digest("t-Ann"), session: "n\(n)", resume: digest("n\(n)"), lives: lives)
      guard case .entered(let entered) = try store.enter(entry) else { continue }
      forgotten += entered.forgotten
    }
    #expect(forgotten == [ann.session])
  }

  @Test func `who is connected keeps his session before those of a node that is no more`() throws {
    let address = try PGAddress(try PostgresTestBed.shared.freshURL())
    let (store, gone) = (try PostgresCluster(address), try PostgresCluster(address))
    defer { [store, gone].forEach { $0.close() } }
    _ = try store.join(node("a"), lease: 60_000, replacing: nil)
    _ = try gone.join(node("b"), lease: 60_000, replacing: nil)
    let ann = try store.player("Ann")
    var forgotten: [String] = []
    for n in 0..<SessionRecord.mostPerAccount {
      let isLast = n == SessionRecord.mostPerAccount - 1
      if isLast { try gone.leave() }
      let entry = Entry.token(digest("t-Ann"), session: "n\(n)", resume: digest("n\(n)"), lives: lives)
      guard case .entered(let entered) = try (isLast ? store : gone).enter(entry) else { continue }
      forgotten += entered.forgotten
    }
    #expect(forgotten.count == 1 && forgotten != [ann.session])
  }

  @Test func `whom two players block fits into a frame between nodes`() {
    var account = AccountRecord(
      id: .max, name: String(repeating: "n", count: 20), guest: false, token: nil, tokenExpires: 0)
    account.blocked = (0..<1000).map { 10_000_000 + $0 }
    let ticket = Ticket(
      id: "t", session: "s", player: account, seek: .init(MatchTerms(), key: nil), isBot: false, since: 0)
    let frame = NodeFrame.work(
      1, .begin(Pairing(m: someID(1), seats: Sides(x: ticket, o: ticket))), someID(1), roundTrip: 0)
    #expect(frame.bytes.count <= NodeFrame.longest)
  }
}
