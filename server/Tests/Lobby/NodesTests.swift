import Base
import MatchProtocol
import ServerTestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

@Suite struct NodesTests {
  @Test func `clients are told once of a new node`() throws {
    let clock = TestClock()
    let store = MemoryStore(shared: true) { clock.wall }
    var world = try SteppedLobby(.init(), store: store, clock: clock, node: "a", seed: 1)
    let x = world.login("x")
    let stranger = world.connect()
    for (addresses, isNews) in [(["b:2"], true), (["b:2"], false), (["b:2", ""], false), (["b:2", "c:3"], true)] {
      world.said = []
      for address in addresses { _ = try store.answer(.heartbeat("node of \(address)", address: address)) }
      world.wait(1000)
      #expect(world.heardAny(x, #""t":"nodes""#) == isNews)
      #expect(!world.heardAny(stranger, #""t":"nodes""#))
    }
    #expect(world.heardAny(x, #"{"t":"nodes","nodes":["b:2","c:3"]}"#))
  }

  // MARK: verdicts

  @Test func `a command that another node's event preceded is decided again, and answered once`() throws {
    for isSameCommand in [true, false] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
      let id = try #require(MatchID(rawValue: m))
      world.said = []
      // Just before the unit is applied, another node appends the same event, or a draw offer of O.
      world.before = { store, unit in
        var other = unit
        if !isSameCommand {
          let event = MatchEvent(at: 5, side: .o, mid: "offer", .draw(.offer, offer: nil))
          other.logs[0].bodies = [event.body]
        }
        #expect(store.apply([other]).count == 1)
      }
      world.move(x, m, 0, "b2")
      guard case .conflict(.log(id)) = world.units[1].verdict else {
        Issue.record("\(world.units[1].verdict)")
        continue
      }
      #expect(world.units.count == (isSameCommand ? 2 : 3))
      let stored = try #require(try world.store.match(id))
      let moves = try zip(1..., stored.bodies).filter { try MatchEvent(body: $1).mid == "p0" }
      #expect(moves.count == 1)
      let seq = try #require(moves.first?.0)
      #expect(
        world.heard(x).filter { $0.contains(#""t":"ok""#) } == [#"{"t":"ok","re":"r","m":"\#(m)","seq":\#(seq)}"#])
      #expect(world.heard(o).filter { $0.contains(#""k":"move""#) }.count == 1)
      #expect(try world.state(m) == world.stored(m))
    }
  }

  @Test func `the outcome of a unit whose answer was lost is read from the store and reported`() throws {
    for mood in [SteppedLobby.Store.mute, .deaf] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair()
      world.said = []
      world.mood = mood
      world.isSlow = true
      world.move(x, m, 0, "b2")
      #expect(world.said.isEmpty, "nothing is sent while the outcome is unknown")
      world.mood = .well
      world.hearLate()
      #expect(world.heard(x).filter { $0.contains(#""t":"ok""#) }.count == 1)
      #expect(world.heard(o).filter { $0.contains(#""k":"move""#) }.count == 1)
      #expect(world.units.count == (mood == .mute ? 2 : 3))
      #expect(try world.stored(m).moves.count == 1 && world.state(m) == world.stored(m))
      world.move(o, m, 1, "a1")
      #expect(try world.stored(m).moves.count == 2)
    }
  }

  @Test func `a unit that reaches the store only after the lobby asked for its outcome is not applied twice`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.mood = .deaf
    world.isSlow = true
    world.move(x, m, 0, "b2")
    let late = try #require(world.units.last?.unit)
    world.mood = .well
    world.before = { store, _ in #expect(store.apply([late]).count == 1) }
    world.hearLate()
    #expect(try world.stored(m).moves.count == 1 && world.state(m) == world.stored(m))
    #expect(world.heard(x).filter { $0.contains(#""t":"ok""#) }.count == 1)
    _ = o
  }

  @Test func `a command whose outcome stays unknown is finally refused, and its match continues`() throws {
    for isRoom in [false, true] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair()
      (world.mood, world.isSlow, world.said) = (.deaf, true, [])
      let room = #"{"t":"create","id":"r","clock":"none","key":"k"}"#
      if isRoom { world.type(x, room) } else { world.move(x, m, 0, "b2") }
      var answers = 0
      while !world.heardAny(x, #""re":"r","code":"busy""#), answers < 100 {
        world.now += 50
        world.hearLate(staysSlow: true)
        answers += 1
      }
      #expect(answers < 100, "the command is refused after `maxWait`: \(world.heard(x))")
      world.mood = .well
      world.hearLate()
      world.move(x, m, 0, "b2")
      world.move(o, m, 1, "a1")
      #expect(try world.stored(m).moves.count == 2 && world.state(m) == world.stored(m))
    }
  }

  @Test func `an unanswered question about a unit's outcome is repeated after a pause, not at once`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    (world.mood, world.isSlow, world.isSilent) = (.deaf, true, true)
    world.move(x, m, 0, "b2")
    for _ in 0..<2 { world.hearLate(staysSlow: true) }
    #expect(world.late.isEmpty)
    (world.mood, world.isSlow, world.isSilent) = (.well, false, false)
    world.wait(300)
    #expect(world.heardAny(o, #""k":"move""#))
  }

  @Test func `only a message sent after welcome confirms the new resume token`() throws {
    var world = try SteppedLobby()
    let a = world.login("a")
    let resume = try #require(world.field("resume", of: a, in: "welcome"))
    world.drop(a)
    for isRead in [false, true] {
      world.isSlow = true
      let b = world.login("", resume: resume)
      world.type(b, #"{"t":"me"}"#)
      world.hearLate()
      #expect(world.heard(b).count { $0.hasPrefix(#"{"t":"welcome""#) } == 1)
      if isRead {
        world.wait(1)
        world.type(b, #"{"t":"me"}"#)
      }
      world.drop(b)
    }
    let c = world.login("", resume: resume)
    #expect(world.closed[c] == .revoked, "a message sent after `welcome` ends the previous token")
  }

  @Test func `a session whose end could not be stored does not stay connected for ever`() throws {
    var world = try SteppedLobby()
    let ann = world.login("Ann")
    let resume = try #require(world.field("resume", of: ann, in: "welcome"))
    world.mood = .full
    world.drop(ann)
    world.mood = .well
    world.wait(300)
    let entry = Login.resume(
      presented: Secret.digest(resume), fresh: Secret.digest("next"), lives: .init(guest: 1000, account: 1000))
    guard case .login(.entered(let entered)) = try world.store.answer(.login(entry, "other")) else {
      Issue.record("the session is lost")
      return
    }
    #expect(entered.before == nil)
  }

  @Test func `a rated match ends even if the store lost the previous result`() throws {
    var world = try SteppedLobby()
    let (ann, bob) = (world.named("Ann"), world.named("Bob"))
    let before = try world.store.accounts()  // as they were before any result
    for round in 0..<2 {
      world.said = []
      for (id, name) in [(ann, "a"), (bob, "b")] {
        world.type(id, #"{"t":"seek","clock":"60+0","rated":true,"key":"\#(name)\#(round)"}"#)
      }
      // After 25 s of waiting the players accept opponents of any rating.
      world.wait(25_000)
      let m = try #require(world.field("m", of: ann, in: "paired"))
      let x = world.field("side", of: ann, in: "paired") == "x" ? (ann, bob) : (bob, ann)
      world.move(x.0, m, 0, "b2")
      world.move(x.1, m, 1, "a1")
      // As after a failover to a standby that has not received the result of the first match.
      if round == 1 { world.store.overwrite(before) }
      world.type(x.0, #"{"t":"resign","m":"\#(m)","mid":"r"}"#)
      #expect(try world.stored(m).end?.ratings != nil)
    }
  }

  @Test func `each player of a dead node gets the match's state on return, even if all return at once`() throws {
    var world = try SteppedNodes()
    let pairs = (0..<270).map { _ in world.nodes[0].pair() }
    let resumes = try pairs.map { try #require(world[0].field("resume", of: $0.x, in: "welcome")) }
    world.nodes[0].said = []
    world.nodes[1].isSlow = true
    let back = resumes.map { world.nodes[1].login("", resume: $0) }
    world.nodes[1].hearLate(staysSlow: true)
    world.nodes[1].hearLate()
    for id in back { #expect(world[1].heardAny(id, #""t":"state""#)) }
  }

  @Test func `with a full store commands are refused as busy; once there is space they are accepted`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"20+0","rated":false"#)
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    let resume = try #require(world.field("resume", of: o, in: "welcome"))
    world.mood = .full
    world.said = []
    world.move(x, m, 2, "c3")
    #expect(world.heardAny(x, #""code":"busy""#) && !world.heardAny(o, #""k":"move""#))
    world.drop(o)
    world.wait(5000)
    #expect(try world.stored(m).away.o == false)
    let late = world.login("", resume: resume)
    #expect(world.closed[late] == .restart)
    world.mood = .well
    world.wait(2500)
    #expect(
      try world.stored(m).away.o && world.heardAny(x, #""t":"gone""#),
      "a player who left while the store was full is recorded as gone")
    world.move(x, m, 2, "c3")
    #expect(try world.stored(m).moves.count == 3)
    let back = world.login("", resume: resume)
    #expect(try world.stored(m).away.o == false)
    world.move(back, m, 3, "a3")
    #expect(try world.stored(m).moves.count == 4)
    // While the store is full, no move can be stored, so the clocks stand.
    world.mood = .full
    world.wait(25_000)
    #expect(try world.stored(m).phase == .live)
    world.mood = .well
    world.wait(10_000)
    #expect(try world.stored(m).phase == .live)
    world.wait(15_000)
    #expect(try world.stored(m).end?.reason == .time && world.state(m) == world.stored(m))
  }

  // MARK: two nodes

  @Test func `a node that loses its database twice disconnects its players both times`() throws {
    var world = try SteppedNodes()
    for _ in 0..<3 {
      let x = world[1].login("")
      for i in world.nodes.indices { world.nodes[i].isSilent = true }
      world.wait(5000)
      #expect(world[1].closed[x] == .restart)
      world.nodes[1].drop(x)
      world.nodes[1].isSilent = false
      world.wait(1000)
    }
  }

  @Test func `after a database outage slower nodes are not declared dead`() throws {
    var world = try SteppedNodes()
    let m = world.pair().m
    let before = try world[0].stored(m).seq
    for i in world.nodes.indices { world.nodes[i].isSilent = true }
    world.wait(5000)
    for i in world.nodes.indices {
      world.nodes[i].isSilent = false
      world.wait(2000)
    }
    world.wait(5000)
    #expect(try world[0].stored(m).seq == before, "no player is recorded as away or back")
  }

  @Test func `players who seek on two nodes are paired and see each other's moves`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world.pair()
    #expect(try world[x.node].state(m) == world[o.node].state(m))
    world[x.node].move(x.id, m, 0, "b2")
    #expect(world[o.node].heardAny(o.id, #""k":"move""#), "a notification brings the move at once")
    world.losesNotifications = true
    world[o.node].move(o.id, m, 1, "a1")
    #expect(!world[x.node].heardAny(x.id, #""cell":"a1""#))
    world.wait(world[0].lobby.configuration.compareEvery)
    #expect(world[x.node].heardAny(x.id, #""cell":"a1""#), "without a notification a comparison brings the move")
    world[x.node].move(x.id, m, 2, "c3")
    #expect(try world[x.node].stored(m).moves.count == 3)
  }

  @Test func `a room can be joined even if its opener left before the room was stored`() throws {
    var world = try SteppedNodes()
    let ann = world[0].login("Ann")
    let resume = try #require(world[0].field("resume", of: ann, in: "welcome"))
    let line = #"{"t":"create","id":"c","key":"c","clock":"60+2","rated":false}"#
    world[0].isSlowToJudge = true
    world[0].type(ann, line)
    world[0].drop(ann)
    world[0].hearLate()
    let back = world[1].login("", resume: resume)
    world[1].type(back, line)
    let code = try #require(world[1].field("code", of: back, in: "room"))
    let bob = world[0].login("Bob")
    world[0].type(bob, #"{"t":"join","id":"j","code":"\#(code)"}"#)
    #expect(world[0].field("m", of: bob, in: "paired") != nil)
  }

  @Test func `a command based on an outdated log is decided again on the current one`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world.pair()
    world.losesNotifications = true
    world[x.node].move(x.id, m, 0, "b2")
    // O's node has not received the move, and learns of it from the conflict of its own command.
    world[o.node].said = []
    world[o.node].type(o.id, #"{"t":"abort","id":"a","m":"\#(m)","mid":"a"}"#)
    let conflicts = world[o.node].units.filter { if case .conflict = $0.verdict { true } else { false } }
    #expect(conflicts.count == 1)
    #expect(world[o.node].heardAny(o.id, #""k":"move""#) && world[o.node].heardAny(o.id, #""re":"a""#))
    #expect(try world[o.node].stored(m).end?.reason == .aborted)
    #expect(try world[o.node].state(m) == world[o.node].stored(m))
  }

  @Test func `a ban on one node ends a session on another within 2 s even without notifications`() throws {
    var world = try SteppedNodes()
    let id = world[1].named("Ann")
    world.wait(world[0].lobby.configuration.compareEvery)
    world.losesNotifications = true
    world[0].step(.administer(7, .player("ann", .ban)))
    #expect(world[0].orderCompleted[7] == true && world[1].closed.isEmpty)
    world.wait(world[0].lobby.configuration.compareEvery)
    #expect(world[1].closed[id] == .banned)
    let token = try #require(world[1].field("token", of: id, in: "token"))
    let again = world[0].login("", token: token)
    #expect(world[0].closed[again] == .banned)
  }

  @Test(arguments: [false, true]) func `a session that is resumed on another node ends on its first node`(
    losesNotifications: Bool
  )
    throws
  {
    var world = try SteppedNodes()
    let id = world[0].login("Ann")
    let resume = try #require(world[0].field("resume", of: id, in: "welcome"))
    world.losesNotifications = losesNotifications
    let other = world[1].login("", resume: resume)
    #expect(world[1].heardAny(other, #""t":"welcome""#))
    if losesNotifications { world.wait(world[0].lobby.configuration.compareEvery) }
    #expect(world[0].closed[id] == .replaced && world[1].closed.isEmpty)
  }

  @Test func `a player who changes nodes during a match is never recorded as away`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world.pair()
    world[x.node].move(x.id, m, 0, "b2")
    let resume = try #require(world[o.node].field("resume", of: o.id, in: "welcome"))
    let again = world[x.node].login("", resume: resume)
    world.wait(1000)
    #expect(world[x.node].heardAny(again, #""t":"state""#))
    world[x.node].move(again, m, 1, "a1")
    #expect(try world[x.node].stored(m).moves.count == 2)
    world.wait(3000)
    #expect(try world[x.node].stored(m).away == Sides(x: false, o: false))
  }

  @Test func `a rated room opened on one node and joined on another rates both players`() throws {
    var world = try SteppedNodes()
    let ann = world[0].named("Ann"), bob = world[1].named("Bob")
    world[0].type(ann, "create 60+0 rated")
    let code = try #require(world[0].field("code", of: ann, in: "room"))
    world[1].type(bob, "join \(code)")
    let m = try #require(world[0].field("m", of: ann, in: "paired"))
    #expect(world[1].field("m", of: bob, in: "paired") == m)
    world[1].type(bob, "move b2")
    world[0].type(ann, "move b2")
    world[1].type(bob, "move a1")
    world[0].type(ann, "move a1")
    world[1].type(bob, "resign")
    #expect(try world[0].state(m).end?.ratings != nil && world[0].state(m) == world[1].state(m))
    let accounts = try world[0].store.accounts()
    #expect(accounts.map(\.won) == [1, 0] && accounts.map(\.lost) == [0, 1])
    #expect(accounts[0].rating.value > 1600 && accounts[1].rating.value < 1400)
    for i in 0..<2 {
      world[i].type([ann, bob][i], #"{"t":"me","id":"me"}"#)
      #expect(world[i].heardAny([ann, bob][i], #""rating":\#(Int(accounts[i].rating.value.rounded()))"#))
    }
  }

  @Test func `a player has at most one rated match across all nodes`() throws {
    var world = try SteppedNodes()
    let (x, _, m) = world.pair(#""clock":"60+2","rated":true"#, named: true)
    let name = x.node == 0 ? "Ann" : "Bob"
    let token = try #require(world[x.node].field("token", of: x.id, in: "token"))
    let elsewhere = world[1 - x.node].login("", token: token), cleo = world[x.node].named("Cleo")
    for (node, id) in [(1 - x.node, elsewhere), (x.node, cleo)] {
      world[node].type(id, #"{"t":"seek","id":"s","clock":"30+0","rated":true,"key":"more"}"#)
    }
    world.wait(3000)
    #expect(try world[0].store.matchIDs().map(\.rawValue) == [m], "\(name) has one rated match")
    #expect(world[1 - x.node].heardAny(elsewhere, #""re":"s","code":"occupied""#))
  }

  @Test func `a rematch offered on one node can be accepted on another`() throws {
    for rated in [false, true] {
      var world = try SteppedNodes()
      let (x, o, m) = world.pair(#""clock":"60+2","rated":\#(rated)"#, named: true)
      world[x.node].type(x.id, #"{"t":"abort","m":"\#(m)","mid":"a"}"#)
      world[o.node].type(o.id, #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
      #expect(world[x.node].heardAny(x.id, #""k":"rematch""#))
      world[x.node].type(x.id, #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
      let next = try #require(world[x.node].field("m", of: x.id, in: "paired"))
      #expect(next != m && world[o.node].field("m", of: o.id, in: "paired") == next)
      #expect(world[x.node].field("side", of: x.id, in: "paired") == "o")
      world[o.node].move(o.id, next, 0, "b2")
      #expect(world[x.node].heardAny(x.id, #""m":"\#(next)","seq":2"#))
    }
  }

  @Test func `simultaneous rematch offers on two nodes start one match`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world.pair()
    world[x.node].type(x.id, #"{"t":"abort","m":"\#(m)","mid":"a"}"#)
    world.losesNotifications = true
    world[o.node].type(o.id, #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    world[x.node].type(x.id, #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    let next = try #require(try world[x.node].stored(m).next?.rawValue)
    #expect(world[x.node].field("m", of: x.id, in: "paired") == next)
    #expect(try world[0].store.matchIDs().count == 2)
  }

  @Test func `a rematch missing from the store is looked up again after a pause, not in a loop`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world.pair()
    world[x.node].type(x.id, #"{"t":"abort","m":"\#(m)","mid":"a"}"#)
    world[o.node].type(o.id, #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    (world.nodes[o.node].mood, world.nodes[o.node].isSlow) = (.full, true)
    world[x.node].type(x.id, #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    let next = try #require(try world[x.node].stored(m).next?.rawValue)
    #expect(!world[o.node].late.isEmpty)
    world[o.node].hearLate(staysSlow: true)
    #expect(world[o.node].late.isEmpty)
    world[o.node].hearLate()
    world[o.node].mood = .well
    world.wait(400)
    #expect(world[o.node].field("m", of: o.id, in: "paired") == next)
  }

  // MARK: a node that dies

  @Test func `a dead node's matches are taken over and its players recorded as away`() throws {
    for dead in 0...1 {
      var world = try SteppedNodes()
      let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
      world[x.node].move(x.id, m, 0, "b2")
      world[o.node].move(o.id, m, 1, "a1")
      let (lost, kept) = x.node == dead ? (x, o) : (o, x)
      let resume = try #require(world[dead].field("resume", of: lost.id, in: "welcome"))
      world.wait(6000, without: dead)
      let side: Player = lost.node == x.node ? .x : .o
      #expect(try world[1 - dead].stored(m).away[side] && !world[1 - dead].stored(m).away[side.opponent])
      #expect(world[1 - dead].heardAny(kept.id, #""t":"gone""#))
      let back = world[1 - dead].login("", resume: resume)
      #expect(world[1 - dead].heardAny(back, #""t":"state""#))
      #expect(try !world[1 - dead].stored(m).away[side])
      world[1 - dead].move(side == .x ? back : kept.id, m, 2, "c3")
      #expect(try world[1 - dead].stored(m).moves.count == 3)
    }
  }

  @Test func `a match that lost both players with a node is taken over and ends`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world[0].pair(#""clock":"10+0","rated":false"#)
    world[0].move(x, m, 0, "b2")
    world[0].move(o, m, 1, "a1")
    let id = try #require(MatchID(rawValue: m))
    #expect(world[1].lobby.matches[id] == nil)
    world.wait(7000, without: 0)
    #expect(world[1].lobby.matches[id] != nil)
    world.wait(60_000, without: 0)
    #expect(try world[1].stored(m).end?.reason == .time)
    // Node 0 was only stopped: it resumes and reads what it has missed.
    world.wait(4000)
    #expect(try world[0].stored(m).phase == .over && world[0].lobby.matches[id].map { $0.isOver } != false)
  }

  @Test func `a new process takes over the matches of the previous one`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
    world.move(x, m, 0, "b2")
    var next = try SteppedLobby(after: world, seed: 2)
    #expect(try next.state(m).away == Sides(x: true, o: true))
    let resume = try #require(world.field("resume", of: o, in: "welcome"))
    let back = next.login("", resume: resume)
    next.move(back, m, 1, "a1")
    #expect(try next.stored(m).moves.count == 2)
  }
}
