import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

extension SteppedLobby {
  /// Oldest first.
  fileprivate func waiting() throws -> [TicketRecord] {
    guard case .tickets(let found) = try store.answer(.tickets) else { return [] }
    return found.map(\.ticket)
  }

  fileprivate mutating func seek(_ id: Int, _ key: String, rated: Bool = false) {
    type(id, #"{"t":"seek","id":"s","key":"\#(key)","clock":"60+2","rated":\#(rated)}"#)
  }
}

@Suite struct QueueTests {
  @Test func `a ticket never outlives its connection`() throws {
    var world = try SteppedLobby()
    let a = world.login("a")
    world.type(a, #"{"t":"seek","clock":"60+0","rated":false,"key":"a"}"#)
    #expect(world.lobby.matchmaker.queue.count == 1)
    world.drop(a)
    #expect(world.lobby.matchmaker.queue.isEmpty)
  }

  @Test func `a seek is answered even if the notification of its pairing comes before the store's answer`() throws {
    var world = try SteppedNodes()
    let (ann, bob) = (world[0].login("Ann"), world[1].login("Bob"))
    world[0].type(ann, #"{"t":"seek","clock":"60+0","rated":false,"key":"a"}"#)
    world.nodes[1].isSlow = true
    world[1].type(bob, #"{"t":"seek","id":"s","clock":"60+0","rated":false,"key":"b"}"#)
    // The leader finds Bob's ticket without a notification, when it next reads the queue.
    world.wait(2500)
    let m = try #require(world[0].field("m", of: ann, in: "paired"))
    #expect(!world[1].heardAny(bob, #""re":"s""#), "the store's answer to the seek has not arrived yet")
    world.nodes[1].hearLate()
    world.wait(100)
    #expect(world[1].heardAny(bob, #""re":"s""#))
    #expect(world[1].field("m", of: bob, in: "paired") == m)
  }

  @Test func `players keep their waiting time when the node that manages the queue dies`() throws {
    var world = try SteppedNodes()
    #expect(world[0].lobby.membership.isLeader && !world[1].lobby.membership.isLeader)
    let a = world[1].login("a")
    world[1].seek(a, "k")
    let since = try #require(try world[1].waiting().first?.since)
    world.wait(2000)
    #expect(world[0].lobby.matchmaker.queue.count == 1)
    world.wait(6000, without: 0)
    #expect(world[1].lobby.membership.isLeader)
    #expect(world[1].lobby.matchmaker.queue.oldestFirst.map { world[1].now - $0.since } == [8000])
    #expect(try world[1].waiting().map(\.since) == [since])
    let b = world[1].login("b")
    world[1].seek(b, "l")
    #expect(world[1].field("m", of: a, in: "paired") != nil && world[1].field("m", of: b, in: "paired") != nil)
  }

  @Test func `two players whose match could not be stored stay in the queue and are paired again`() throws {
    for mood in [SteppedLobby.Store.refusing, .deaf] {
      var world = try SteppedLobby()
      let ids = [world.named("Ann"), world.named("Bob")]
      world.mood = mood
      for id in ids { world.seek(id, "k", rated: true) }
      world.wait(3000)
      #expect(world.lobby.seeks.count == 2 && !world.said.contains { $0.line.contains(#""t":"paired""#) })
      world.mood = .well
      world.wait(3000)
      #expect(world.lobby.seeks.isEmpty && world.lobby.matchmaker.queue.isEmpty)
      #expect(world.said.count { $0.line.contains(#""t":"paired""#) } == 2)
    }
  }

  @Test func `players whose pairing was stored without an answer are told once`() throws {
    var world = try SteppedLobby()
    let ids = [world.login("a"), world.login("b")]
    world.mood = .mute
    for id in ids { world.seek(id, "k") }
    world.wait(3000)
    #expect(world.said.count { $0.line.contains(#""t":"paired""#) } == 2)
    #expect(try world.store.matchIDs().count == 1 && world.waiting().isEmpty && world.lobby.seeks.isEmpty)
  }

  @Test func `a seek withdrawn during pairing gets no match, and the opponent stays in the queue`() throws {
    var world = try SteppedLobby()
    let a = world.login("a"), b = world.login("b"), c = world.login("c")
    world.seek(a, "k")
    let ticket = try #require(try world.waiting().first?.id)
    // Another node withdraws the ticket just before the unit with the match arrives.
    world.before = { store, _ in _ = try? store.answer(.unqueue(ticket)) }
    world.seek(b, "l")
    #expect(!world.heardAny(a, #""t":"paired""#) && !world.heardAny(b, #""t":"paired""#))
    #expect(world.units.map(\.verdict) == [.conflict(.ticket(ticket))])
    world.type(a, #"{"t":"unseek","id":"u"}"#)
    world.wait(3000)
    #expect(try world.store.matchIDs().isEmpty)
    world.seek(c, "m")
    #expect(world.field("m", of: b, in: "paired") != nil && world.field("m", of: c, in: "paired") != nil)
  }

  @Test func `a seek withdrawn after its match was stored leads to the match`() throws {
    var world = try SteppedLobby()
    let (ann, bob) = (world.named("Ann"), world.named("Bob"))
    world.seek(ann, "a", rated: true)
    world.isSlowToJudge = true
    world.seek(bob, "b", rated: true)
    world.type(ann, #"{"t":"unseek","id":"u"}"#)
    world.hearLate()
    let m = try #require(world.field("m", of: ann, in: "paired"))
    world.wait(1000)
    #expect(try world.stored(m).away == Sides(x: false, o: false))
    world.type(ann, #"{"t":"abort","m":"\#(m)","mid":"q"}"#)
    #expect(try world.stored(m).end?.reason == .aborted)
  }

  @Test func `a waiting player is not paired with a player who is blocked during the wait`() throws {
    var world = try SteppedLobby()
    let (ann, bob) = (world.named("Ann"), world.named("Bob"))
    world.seek(ann, "a")
    world.type(ann, #"{"t":"block","name":"Bob","on":true}"#)
    world.seek(bob, "b")
    world.wait(3000)
    #expect(!world.heardAny(ann, #""t":"paired""#) && world.lobby.matchmaker.queue.count == 2)
  }

  @Test func `players who left before their room or match was stored find it on return`() throws {
    for line in [
      #"{"t":"create","id":"c","key":"c","clock":"60+2","rated":false}"#,
      #"{"t":"seek","id":"s","key":"s","clock":"60+2","rated":true}"#,
    ] {
      var world = try SteppedLobby()
      let ids = [world.named("Ann"), world.named("Bob")]
      let resumes = try ids.map { try #require(world.field("resume", of: $0, in: "welcome")) }
      world.type(ids[0], line)
      // Both players leave before the lobby gets the store's answer about the second room, or about the match of the two seeks.
      let isSeek = line.contains("seek")
      if isSeek { world.isSlowToJudge = true } else { world.isSlow = true }
      world.type(ids[1], line)
      #expect(!world.late.isEmpty)
      for id in ids { world.drop(id) }
      world.hearLate()
      #expect(try world.store.matchIDs().count == (isSeek ? 1 : 2))
      let back = world.login("", resume: resumes[1])
      let account = try #require(world.lobby.account(of: ConnectionID(back))?.id)
      let m = try #require(world.lobby.matches.of(account).first)
      #expect(world.heardAny(back, #""matches":["\#(m)"]"#))
      #expect(
        world.said.contains {
          $0.connection == back && $0.line.contains(#""t":"state""#) && $0.line.contains(m.rawValue)
        })
    }
  }

  @Test func `a seek repeated while its match is being stored leads to that match only`() throws {
    var world = try SteppedLobby()
    let a = world.login("a"), b = world.login("b")
    world.seek(a, "k")
    world.isSlowToJudge = true
    world.seek(b, "l")
    #expect(world.late.count == 1 && !world.heardAny(a, #""t":"paired""#))
    world.seek(b, "l")
    world.type(a, #"{"t":"seek","id":"again","key":"k","clock":"60+2","rated":false,"bots":true}"#)
    world.hearLate()
    world.wait(3000)
    #expect(try world.store.matchIDs().count == 1 && world.waiting().isEmpty)
    #expect(world.lobby.matchmaker.queue.isEmpty && world.lobby.seeks.isEmpty)
    #expect(world.field("m", of: a, in: "paired") != nil && world.field("m", of: b, in: "paired") != nil)
  }

  @Test func `both players are told of a match that a spectator loads before the verdict on its start arrives`() throws
  {
    var world = try SteppedLobby()
    let a = world.login("a"), b = world.login("b")
    world.seek(a, "k")
    world.isSlowToJudge = true
    world.seek(b, "l")
    // The match is stored, but the lobby has no verdict yet. A spectator makes the lobby load the match.
    world.said = []
    let back = world.login("c")
    world.type(back, #"{"t":"watch","m":"\#(try #require(try world.store.matchIDs().first))"}"#)
    #expect(world.heardAny(back, #""t":"state""#) && world.lobby.matches.count == 1)
    world.hearLate()
    #expect(world.field("m", of: a, in: "paired") != nil && world.field("m", of: b, in: "paired") != nil)
    #expect(world.lobby.seeks.isEmpty && world.lobby.matchmaker.queue.isEmpty)
  }

  @Test func `a seek with a used key is refused while another seek waits`() throws {
    var world = try SteppedLobby()
    let ids = [world.login("a"), world.login("b")]
    for id in ids { world.seek(id, "k") }
    let m = try #require(world.field("m", of: ids[0], in: "paired"))
    world.type(ids[0], #"{"t":"abort","m":"\#(m)","mid":"a"}"#)
    world.seek(ids[0], "l")
    world.said = []
    world.type(ids[0], #"{"t":"seek","id":"u","key":"k","clock":"60+2","rated":false}"#)
    #expect(world.heardAny(ids[0], #""re":"u","code":"occupied""#))
    #expect(world.lobby.seeks[ConnectionID(ids[0])]?.seek.key == "l")
  }

  @Test func `sessions displaced by a new one end even if the new connection is already gone`() throws {
    var world = try SteppedLobby()
    let first = world.named("Ann")
    let token = try #require(world.field("token", of: first, in: "token"))
    for _ in 1..<SessionRecord.mostPerAccount { _ = world.login("", token: token) }
    #expect(world.closed.isEmpty)
    world.isSlow = true
    let late = world.login("", token: token)
    world.drop(late)
    world.hearLate()
    #expect(world.closed[first] == .revoked && world.closed.count == 1)
  }

  @Test func `many queue notifications cause one read at a time, and none is missed`() throws {
    var world = try SteppedLobby()
    let text = Notification.queued.text
    world.isSlow = true
    let readings = (0..<50).flatMap { _ in
      world.lobby.reduce(.notification(text), now: Moment(monotonic: world.now, wall: 0)).compactMap {
        effect -> UInt64? in
        if case .ask(let number, .tickets) = effect { number } else { nil }
      }
    }
    #expect(readings.count == 1)
    _ = world.lobby.reduce(.answer(readings[0], .tickets([])), now: Moment(monotonic: world.now, wall: 0))
    let effects = world.lobby.reduce(.tick, now: Moment(monotonic: world.now + 100, wall: 0))
    #expect(effects.count { if case .ask(_, .tickets) = $0 { true } else { false } } == 1, "one more read")
  }

  @Test func `a lost place in the queue is requested again`() throws {
    var world = try SteppedLobby()
    let a = world.login("a")
    world.mood = .full
    world.seek(a, "k")
    #expect(try world.waiting().isEmpty)
    world.mood = .well
    if world.heardAny(a, #""code":"busy""#) { world.seek(a, "k") }
    world.wait(5000)
    #expect(try world.waiting().count == 1 && world.lobby.seeks.count == 1)
  }
}
