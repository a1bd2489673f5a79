import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// Players whose node is no more: whoever plays against them learns of it, whatever goes wrong meanwhile.
@Suite struct AbsenceTests {
  /// Two who have both moved; the one of node `lost` is lost with it.
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

    /// The node of the lost player stops in order, as for an update.
    mutating func leave() throws {
      world[lost.node].step(.drain(retry: 100))
      world[lost.node].step(.leave)
      _ = try world[kept.node].store.answer(.leave(world[lost.node].lobby.node))
    }

    /// The player who is still here says something that makes the log grow.
    mutating func act() {
      world[kept.node].type(kept.id, #"{"t":"draw","a":"offer","m":"\#(m)","mid":"d"}"#)
    }

    var isKnownToBeAway: Bool {
      get throws { try world[kept.node].stored(m).away == Sides(x: lostSide == .x, o: lostSide == .o) }
    }
  }

  @Test(arguments: [false, true]) func `who does not come back from a node that has left is known to be away`(
    actsAtOnce: Bool
  ) throws {
    for node in 0...1 {
      var scene = try Scene(losing: node)
      try scene.leave()
      if actsAtOnce { scene.act() }
      scene.world.wait(6000, without: node)
      #expect(try scene.isKnownToBeAway)
      #expect(scene.world[scene.kept.node].heardAny(scene.kept.id, #""t":"gone""#))
    }
  }

  @Test func `who has come back from a node that has left in time was never away`() throws {
    var scene = try Scene(losing: 1)
    let resume = try #require(scene.world[1].field("resume", of: scene.lost.id, in: "welcome"))
    try scene.leave()
    let back = scene.world[0].login("", resume: resume)
    scene.world.wait(6000, without: 1)
    #expect(scene.world[0].heardAny(back, #""t":"state""#))
    #expect(try scene.world[0].stored(scene.m).away == Sides(x: false, o: false))
    #expect(!scene.world[0].heardAny(scene.kept.id, #""t":"gone""#))
  }

  @Test func `an absence is logged though the match was busy when the node was found to be dead`() throws {
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

  @Test func `an absence is logged though the answer to the look for it was lost`() throws {
    for node in 0...1 {
      var scene = try Scene(losing: node)
      scene.world[scene.kept.node].loses = { if case .sweep = $0 { true } else { false } }
      scene.world.wait(5000, without: node)
      scene.world[scene.kept.node].loses = nil
      scene.world.wait(10_000, without: node)
      #expect(try scene.isKnownToBeAway)
    }
  }

  @Test(arguments: [true, false]) func `a match that lost both is set going again though that failed at first`(
    answerIsLost: Bool
  ) throws {
    var world = try SteppedNodes()
    let (x, o, m) = world[0].pair(#""clock":"none","rated":false"#)
    world[0].move(x, m, 0, "b2")
    world[0].move(o, m, 1, "a1")
    if answerIsLost {
      world[1].loses = { if case .sweep = $0 { true } else { false } }
    } else {
      world[1].mood = .refusing
    }
    world.wait(5000, without: 0)
    (world[1].loses, world[1].mood) = (nil, .well)
    world.wait(10_000, without: 0)
    #expect(try world[1].stored(m).away == Sides(x: true, o: true))
  }

  @Test func `who says goodbye can be claimed against as soon from another node as from the same`() throws {
    var scene = try Scene(losing: 1)
    scene.world[1].type(scene.lost.id, #"{"t":"bye"}"#)
    let gone = scene.world[0].heard(scene.kept.id).last { $0.contains(#""t":"gone""#) }
    #expect(gone?.contains(#""in_ms":10000"#) == true, "\(gone ?? "nothing was said")")
    scene.world.wait(10_100)
    scene.world[0].type(scene.kept.id, #"{"t":"claim","m":"\#(scene.m)","mid":"c"}"#)
    #expect(try scene.world[0].stored(scene.m).end?.reason == .gone)
  }

  @Test(arguments: [false, true])
  func `who takes a seek back that another node has led to a match is told of the match`(
    hintIsLost: Bool
  ) throws {
    var world = try SteppedNodes()
    let a = world[0].login("a"), b = world[1].login("b")
    let seek = #"{"t":"seek","clock":"60+2","rated":false,"key":"k"}"#
    world[1].type(b, seek)
    world.losesHints = true
    world[0].type(a, seek)
    while world[0].field("m", of: a, in: "paired") == nil { world.wait(50) }
    let m = try #require(world[0].field("m", of: a, in: "paired"))
    world.losesHints = false
    #expect(!world[1].heardAny(b, "paired"))
    world[1].type(b, #"{"t":"unseek"}"#)
    if !hintIsLost {
      let ticket = try #require(world[1].field("ticket", of: b, in: "queued"))
      let account = try #require(world[1].lobby.sessions.all.first?.account)
      world[1].step(.hint("paired \(ticket) \(account) \(m)"))
      #expect(world[1].heardAny(b, "paired"))
    }
    world.wait(10_000)
    #expect(world[1].field("m", of: b, in: "paired") == m)
  }
}
