import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

@Suite struct AbsenceTests {
  /// A match of two players who have both moved. `lost` is the connection at a node that will die, `kept` the other connection.
  private struct Scene {
    var world: SteppedNodes
    let m: String
    let kept: (node: Int, id: Int)
    let lost: (node: Int, id: Int)
    let lostSide: Player

    init(losing node: Int) throws {
      world = try SteppedNodes()
      let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
      world[x.node].move(x.id, m, 0, "b2")
      world[o.node].move(o.id, m, 1, "a1")
      self.m = m
      (kept, lost, lostSide) = x.node == node ? (o, x, .x) : (x, o, .o)
    }

    /// The scene `other`, but the remaining player uses the connection `id`.
    init(_ other: Scene, kept id: Int) {
      (world, m, lost, lostSide) = (other.world, other.m, other.lost, other.lostSide)
      kept = (other.kept.node, id)
    }

    mutating func act() {
      world[kept.node].type(kept.id, #"{"t":"draw","a":"offer","m":"\#(m)","mid":"d"}"#)
    }

    var isKnownToBeAway: Bool {
      get throws { try world[kept.node].stored(m).away == Sides(x: lostSide == .x, o: lostSide == .o) }
    }
  }

  @Test(arguments: [false, true]) func `a player who does not return after a node has shut down is recorded as away`(
    actsAtOnce: Bool
  ) throws {
    for node in 0...1 {
      var scene = try Scene(losing: node)
      try scene.world.leave(scene.lost.node)
      if actsAtOnce { scene.act() }
      scene.world.wait(6000, without: node)
      #expect(try scene.isKnownToBeAway)
      #expect(scene.world[scene.kept.node].heardAny(scene.kept.id, #""t":"gone""#))
    }
  }

  @Test func `abandoned games: a player's absences add up, and the win may be claimed after a minute of them`() throws {
    var world = try SteppedLobby()
    let (x, first, m) = world.pair(#""clock":"none","rated":false"#)
    var o = first
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    for _ in 0..<2 {
      o = try world.reconnect(o, after: 25_000)
    }
    world.said = []
    world.drop(o)
    #expect(world.heardAny(x, #""in_ms":10000"#))
    world.wait(10_000)
    world.type(x, #"{"t":"claim","m":"\#(m)","mid":"c"}"#)
    #expect(try world.state(m).end?.reason == .gone)
  }

  @Test func `a player who moves in time from a node that shuts down is never recorded as away`() throws {
    var scene = try Scene(losing: 1)
    let resume = try #require(scene.world[1].field("resume", of: scene.lost.id, in: "welcome"))
    try scene.world.leave(scene.lost.node)
    let back = scene.world[0].login("", resume: resume)
    scene.world.wait(6000, without: 1)
    #expect(scene.world[0].heardAny(back, #""t":"state""#))
    #expect(try scene.world[0].stored(scene.m).away == Sides(x: false, o: false))
    #expect(!scene.world[0].heardAny(scene.kept.id, #""t":"gone""#))
  }

  @Test(arguments: [0, 1]) func `a player whose second connection replaces the first is never recorded as away`(
    node: Int
  ) throws {
    var scene = try Scene(losing: 1)
    let resume = try #require(scene.world[1].field("resume", of: scene.lost.id, in: "welcome"))
    let again = scene.world[node].login("", resume: resume)
    scene.world.wait(6000)
    #expect(scene.world[1].closed[scene.lost.id] == .replaced)
    #expect(scene.world[node].heardAny(again, #""t":"state""#))
    #expect(!scene.world[0].heardAny(scene.kept.id, #""t":"gone""#))
    #expect(try scene.world[0].stored(scene.m).seq == 3)
  }

  @Test func `a banned player does not count as connected`() throws {
    var scene = try Scene(losing: 1)
    scene.world[1].step(.administer(1, .player("guest-Bob", .ban)))
    #expect(scene.world[1].closed[scene.lost.id] == .banned)
    scene.world[1].drop(scene.lost.id)
    let id = try #require(MatchID(rawValue: scene.m))
    let answer = try scene.world[0].store.answer(.match(id))
    let found = if case .match(let found?) = answer { found.here.count } else { 0 }
    #expect(found == 1)
    #expect(try scene.isKnownToBeAway)
  }

  @Test func `a room joined after its opener disconnected starts a match with the opener away`() throws {
    var world = try SteppedNodes()
    let a = world[0].login("a")
    world[0].type(a, #"{"t":"create","clock":"none","rated":false,"key":"k"}"#)
    let code = try #require(world[0].field("code", of: a, in: "room"))
    world[0].drop(a)
    let b = world[1].login("b")
    world[1].type(b, #"{"t":"join","code":"\#(code)"}"#)
    world.wait(3000)
    let m = try #require(world[1].field("m", of: b, in: "paired"))
    let away = try world[1].stored(m).away
    #expect(away.x != away.o && world[1].heardAny(b, #""t":"gone""#))
  }

  @Test(arguments: [1, 2])
  func `a player who joins a room and disconnects before the join is stored is away in the match`(
    nodes: Int
  ) throws {
    var world = try SteppedNodes(nodes)
    let a = world[0].login("a"), b = world[nodes - 1].login("b")
    world[0].type(a, #"{"t":"create","clock":"none","rated":false,"key":"k"}"#)
    let code = try #require(world[0].field("code", of: a, in: "room"))
    world[nodes - 1].isSlowToJudge = true
    world[nodes - 1].type(b, #"{"t":"join","code":"\#(code)"}"#)
    world[nodes - 1].drop(b)
    world[nodes - 1].hearLate()
    world.wait(3000)
    let m = try #require(world[0].field("m", of: a, in: "paired"))
    let away = try world[0].stored(m).away
    #expect(away.x != away.o && world[0].heardAny(a, #""t":"gone""#))
  }

  @Test(arguments: [1, 2])
  func `a player who returns and disconnects again before a rematch starts is recorded as away in it`(nodes: Int)
    throws
  {
    var world = try SteppedNodes(nodes)
    let (x, o, m) = world[0].pair(#""clock":"none","rated":false"#)
    world[0].move(x, m, 0, "b2")
    world[0].move(o, m, 1, "a1")
    world[0].type(x, #"{"t":"resign","m":"\#(m)","mid":"r"}"#)
    world[0].type(x, #"{"t":"rematch","m":"\#(m)","mid":"s"}"#)
    let resume = try #require(world[0].field("resume", of: x, in: "welcome"))
    let again = world[0].login("", resume: resume)
    world[0].drop(again)
    let id = try #require(MatchID(rawValue: m))
    // As if the node had evicted the finished match and read it again.
    for side in Player.allCases { world.nodes[0].lobby.matches[id]?.presence[side].hasLeft = false }
    world[0].type(o, #"{"t":"rematch","m":"\#(m)","mid":"t"}"#)
    let next = try #require(world[0].field("next", of: o) ?? world[0].field("m", of: o, in: "paired"))
    world.wait(3000)
    // The rematch swaps sides: X, who is away, has O in the rematch.
    #expect(try world[0].stored(next).away == Sides(x: false, o: true))
  }

  @Test func `an absence is logged even if the match was busy when its node was declared dead`() throws {
    for node in 0...1 {
      var scene = try Scene(losing: node)
      scene.world.wait(2500, without: node)
      scene.world[scene.kept.node].isSlowToJudge = true
      scene.act()
      scene.world.wait(4000, without: node)
      scene.world[scene.kept.node].hearLate()
      scene.world.wait(3000, without: node)
      #expect(try scene.isKnownToBeAway)
    }
  }

  @Test func `an absence is logged even if the store's answer about it was lost`() throws {
    for node in 0...1 {
      var scene = try Scene(losing: node)
      scene.world[scene.kept.node].loses = { if case .adoptOrphans = $0 { true } else { false } }
      scene.world.wait(5000, without: node)
      scene.world[scene.kept.node].loses = nil
      scene.world.wait(10_000, without: node)
      #expect(try scene.isKnownToBeAway)
    }
  }

  @Test(arguments: [true, false])
  func `a match that lost both players with a node is taken over even if the first attempt fails`(
    answerIsLost: Bool
  ) throws {
    var world = try SteppedNodes()
    let (x, o, m) = world[0].pair(#""clock":"none","rated":false"#)
    world[0].move(x, m, 0, "b2")
    world[0].move(o, m, 1, "a1")
    if answerIsLost {
      world[1].loses = { if case .adoptOrphans = $0 { true } else { false } }
    } else {
      world[1].mood = .refusing
    }
    world.wait(5000, without: 0)
    (world[1].loses, world[1].mood) = (nil, .well)
    world.wait(10_000, without: 0)
    #expect(try world[1].stored(m).away == Sides(x: true, o: true))
  }

  @Test func `a player whose node shuts down is recorded as away even if no other node knew the player`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world[0].pair(#""clock":"none","rated":false"#)
    world[0].move(x, m, 0, "b2")
    world[0].move(o, m, 1, "a1")
    let resume = try #require(world[0].field("resume", of: o, in: "welcome"))
    world[0].drop(o)
    _ = world[1].login("", resume: resume)
    #expect(try world[0].stored(m).away.o == false)
    try world.leave(1)
    world.wait(3000, without: 1)
    #expect(try world[0].stored(m).away.o)
  }

  @Test func `of two players on a node that shuts down, only the one who does not return is recorded as away`() throws {
    var world = try SteppedNodes(3)
    let (x, o, m) = world[0].pair(#""clock":"none","rated":false"#)
    world[0].move(x, m, 0, "b2")
    world[0].move(o, m, 1, "a1")
    let resume = try #require(world[0].field("resume", of: o, in: "welcome"))
    try world.leave(0)
    // Without answers of the store, node 1 cannot take the match over before the player returns to node 2.
    world.nodes[1].isSilent = true
    world.wait(1500, without: 0)
    let back = world[2].login("", resume: resume)
    world.nodes[1].isSilent = false
    world.wait(5000, without: 0)
    #expect(world[2].heardAny(back, #""t":"gone""#))
    #expect(try world[2].stored(m).away == Sides(x: true, o: false))
  }

  @Test func `an absence that could not be logged does not count, as the player may be on another node`() throws {
    var scene = try Scene(losing: 1)
    for _ in 0..<40 {
      let resume = try #require(scene.world[0].field("resume", of: scene.kept.id, in: "welcome"))
      scene.world[0].drop(scene.kept.id)
      scene.world.nodes[0].said = []
      let again = scene.world[0].login("", resume: resume)
      scene = Scene(scene, kept: again)
      scene.world.wait(100)
    }
    let resume = try #require(scene.world[0].field("resume", of: scene.kept.id, in: "welcome"))
    scene.world[0].drop(scene.kept.id)
    let back = scene.world[1].login("", resume: resume)
    scene.world.wait(110_000)
    scene.world[1].type(scene.lost.id, #"{"t":"claim","m":"\#(scene.m)","mid":"c"}"#)
    #expect(scene.world[1].heardAny(back, #""t":"state""#))
    #expect(try scene.world[1].stored(scene.m).phase == .live)
  }

  @Test func `a player's other connection, which is not in the match, does not count as present`() throws {
    var world = try SteppedNodes()
    let (ann, bob) = (world[0].login("Ann"), world[1].named("Bob"))
    let token = try #require(world[1].field("token", of: bob, in: "token"))
    let (x, o, m) = world.pair(ann, bob, #""clock":"none","rated":false"#)
    world[x.node].move(x.id, m, 0, "b2")
    world[o.node].move(o.id, m, 1, "a1")
    // A second session of Bob's account at node 0, as if it had not opened the match.
    let idle = world[0].login("", caps: #"["play:none"]"#, token: token)
    let id = try #require(MatchID(rawValue: m))
    let session = try #require(world[0].lobby.people.connections[UInt64(idle)]?.session)
    for side in Player.allCases { world.nodes[0].lobby.matches[id]?.remove(session, from: side) }
    world.wait(12_000, without: 1)
    #expect(try world[0].stored(m).away == Sides(x: x.node == 1, o: o.node == 1))
  }

  @Test func `a player's device on a third node that has spectators of the match does not count as present`() throws {
    var world = try SteppedNodes(3)
    let (ann, bob) = (world[0].login("Ann"), world[1].named("Bob"))
    let token = try #require(world[1].field("token", of: bob, in: "token"))
    // Only the nodes of the two paired connections are told of the match, not node 2 of Bob's other device.
    _ = world[2].login("", token: token)
    let (x, o, m) = world.pair(ann, bob, #""clock":"none","rated":false"#)
    world[x.node].move(x.id, m, 0, "b2")
    world[o.node].move(o.id, m, 1, "a1")
    let watcher = world[2].login("Cat")
    world[2].type(watcher, #"{"t":"watch","m":"\#(m)"}"#)
    #expect(world[2].heardAny(watcher, #""t":"state""#))
    world.wait(15_000, without: 1)
    #expect(try world[0].stored(m).away == Sides(x: x.node == 1, o: o.node == 1))
    #expect(world[0].heardAny(ann, #""t":"gone""#))
  }

  @Test func `a bye reported by another node before the absence is stored shortens the wait afterwards`() throws {
    var scene = try Scene(losing: 1)
    scene.world[0].isSlowToJudge = true
    scene.act()
    scene.world.nodes[0].said = []
    scene.world[1].type(scene.lost.id, #"{"t":"bye"}"#)
    #expect(!scene.world[0].heardAny(scene.kept.id, #""t":"gone""#))
    scene.world[0].hearLate()
    scene.world.wait(100)
    #expect(try scene.isKnownToBeAway)
    let gone = scene.world[0].heard(scene.kept.id).last { $0.contains(#""t":"gone""#) }
    #expect(gone?.contains(#""in_ms":10000"#) == true, "\(gone ?? "nothing was said")")
  }

  @Test func `a player whose node stops right after the pairing is away in the match`() throws {
    var world = try SteppedNodes()
    let a = world[0].login("a"), b = world[1].login("b")
    for (node, id) in [(0, a), (1, b)] {
      world[node].type(id, #"{"t":"seek","clock":"none","rated":false,"key":"k\#(node)"}"#)
    }
    world.wait(1500)
    let m = try #require(world[1].field("m", of: b, in: "paired"))
    try world.leave(1)
    world.wait(3000, without: 1)
    let state = try world[0].stored(m)
    #expect(state.phase == .live && state.away.x != state.away.o)
  }

  @Test func `a connection that did not seek is not told of the match of its player's other connection`() throws {
    var world = try SteppedNodes()
    let a = world[0].login("a"), b = world[1].named("b2b")
    let token = try #require(world[1].field("token", of: b, in: "token"))
    let idle = world[1].login("", token: token)
    world[1].type(b, #"{"t":"seek","clock":"60+2","rated":false,"key":"k"}"#)
    world.losesNotifications = true
    world[0].type(a, #"{"t":"seek","clock":"60+2","rated":false,"key":"k"}"#)
    world.nodes[1].lobby.membership.requireComparison()
    world.wait(12_000)
    #expect(world[0].heardAny(a, "paired") && world[1].heardAny(b, "paired") && !world[1].heardAny(idle, "paired"))
  }

  @Test func `after a bye on one node the opponent on another node may claim the win after 10 s`() throws {
    var scene = try Scene(losing: 1)
    scene.world[1].type(scene.lost.id, #"{"t":"bye"}"#)
    let gone = scene.world[0].heard(scene.kept.id).last { $0.contains(#""t":"gone""#) }
    #expect(gone?.contains(#""in_ms":10000"#) == true, "\(gone ?? "nothing was said")")
    scene.world.wait(10_100)
    scene.world[0].type(scene.kept.id, #"{"t":"claim","m":"\#(scene.m)","mid":"c"}"#)
    #expect(try scene.world[0].stored(scene.m).end?.reason == .gone)
  }

  @Test(arguments: [false, true])
  func `a player who withdraws a seek that another node has paired is told of the match`(
    notificationIsLost: Bool
  ) throws {
    var world = try SteppedNodes()
    let a = world[0].login("a"), b = world[1].login("b")
    let seek = #"{"t":"seek","clock":"60+2","rated":false,"key":"k"}"#
    world[1].type(b, seek)
    world.losesNotifications = true
    world[0].type(a, seek)
    while world[0].field("m", of: a, in: "paired") == nil { world.wait(50) }
    let m = try #require(world[0].field("m", of: a, in: "paired"))
    world.losesNotifications = false
    #expect(!world[1].heardAny(b, "paired"))
    world[1].type(b, #"{"t":"unseek"}"#)
    if !notificationIsLost {
      let ticket = try #require(world[1].field("ticket", of: b, in: "queued"))
      let account = try #require(world[1].lobby.people.sessions.all.first?.account)
      world[1].step(.notification("paired \(ticket) \(account) \(m)"))
      #expect(world[1].heardAny(b, "paired"))
    }
    world.wait(10_000)
    #expect(world[1].field("m", of: b, in: "paired") == m)
  }
}
