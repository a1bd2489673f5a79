import MatchProtocol
import MatchStore
import Testing

@testable import Lobby

@Suite struct ReturningTests {
  private let day: Int64 = 86_400_000

  /// Waits more than a minute at the end, because the lobby asks the store once a minute to delete expired rows.
  private func pass(_ days: Int64, _ world: inout SteppedLobby) {
    world.wallAhead += days * day
    world.wait(61_000)
  }

  @Test func `a guest whose account was deleted is refused and becomes a new guest with the old name`() throws {
    var world = try SteppedLobby()
    let first = world.login("Ann")
    let session = world.field("session", of: first, in: "welcome")
    let token = try #require(world.field("token", of: first, in: "welcome"))
    let resume = try #require(world.field("resume", of: first, in: "welcome"))
    world.drop(first)
    pass(31, &world)
    for id in [world.login("Ann", resume: resume), world.login("Ann", token: token)] {
      #expect(world.field("code", of: id, in: "err") == "auth" && world.closed[id] == .revoked)
    }
    let again = world.login("Ann")
    #expect(world.heardAny(again, #""name":"guest-Ann""#))
    #expect(world.field("session", of: again, in: "welcome") != session)
  }

  @Test func `a guest connected for weeks can resume after a lost connection`() throws {
    var world = try SteppedLobby()
    let first = world.login("Ann")
    let resume = try #require(world.field("resume", of: first, in: "welcome"))
    for _ in 0..<20 { pass(2, &world) }
    world.drop(first)
    let back = world.login("Ann", resume: resume)
    #expect(world.field("session", of: back, in: "welcome") == world.field("session", of: first, in: "welcome"))
  }

  @Test func `notifications with numbers out of range are ignored`() throws {
    var world = try SteppedLobby()
    let (_, _, m) = world.pair()
    for text in [
      "grown \(m) 9223372036854775807", "grown \(m) -9223372036854775808\n{}", "grown \(m) 0\n{}\n{}",
      "account 9223372036854775807", "session s -9223372036854775808", "bots t 9223372036854775807",
    ] { world.step(.notification(text)) }
    #expect(try world.state(m).seq > 0)
  }

  @Test func `a forged notification neither breaks a match nor reaches a player`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    let seq = try world.state(m).seq
    world.said = []
    for notification in [
      "grown \(m) \(seq + 1)\n" + #"{"k":"move","at":1,"side":"o","mid":"f","ply":0,"cell":"b2","spent":0}"#,
      "grown \(m) \(seq + 1)\n" + #"{"k":"move","at":1,"side":"x","mid":"f","ply":7,"cell":"b2","spent":0}"#,
      "grown \(m) \(seq + 1)\nnonsense", "chat \(m) 1\n" + #"{"t":"bye","code":"banned","msg":"made up"}"#,
      "chat \(m) 1\n" + #"{"t":"chat","m":"other","from":"Ann","text":"made up"}"#,
    ] { world.step(.notification(notification)) }
    #expect(world.said.isEmpty, "\(world.said)")
    #expect(world.lobby.counts.abandoned == 0)
    world.move(x, m, 0, "b2")
    #expect(world.heardAny(o, #""ply":0"#))
  }

  @Test func `a forged notification of a legal move is taken back once the log is read, and the match continues`()
    throws
  {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
    let seq = try world.state(m).seq
    let move = #"{"k":"move","at":1,"side":"x","mid":"f","ply":0,"cell":"a1","spent":0}"#
    world.step(.notification("grown \(m) \(seq + 1)\n\(move)"))
    try #require(try world.state(m).seq == seq + 1)
    // The forged move is not in the store, which refuses O's answer; the node then reads the log again.
    world.said = []
    world.move(o, m, 1, "b2")
    #expect(try world.state(m) == world.stored(m))
    for id in [x, o] { #expect(world.heardAny(id, #"{"t":"state","m":"\#(m)","seq":\#(seq)"#), "\(world.said)") }
    #expect(!world.said.contains { $0.line.contains(#""t":"ok""#) || $0.line.contains(#""t":"bye""#) }, "\(world.said)")
    #expect(world.lobby.counts.abandoned == 0)
    world.move(x, m, 0, "b2")
    #expect(world.heardAny(o, #""ply":0,"cell":"b2""#))
    #expect(try world.state(m) == world.stored(m))
  }

  @Test func `a forged notification in place of another node's move is replaced by that move`() throws {
    var nodes = try SteppedNodes()
    let (x, o, m) = nodes.pair(#""clock":"none","rated":false"#)
    let seq = try nodes[o.node].state(m).seq
    nodes.losesNotifications = true
    nodes[x.node].move(x.id, m, 0, "b2")
    let forged = #"{"k":"move","at":1,"side":"x","mid":"f","ply":0,"cell":"a1","spent":0}"#
    nodes[o.node].step(.notification("grown \(m) \(seq + 1)\n\(forged)"))
    // A notification that the log has grown, without the events, makes the node read the log.
    nodes[o.node].step(.notification("grown \(m) \(seq + 1)"))
    #expect(try nodes[o.node].state(m) == nodes[o.node].stored(m))
    #expect(nodes[o.node].lobby.counts.abandoned == 0)
    nodes.losesNotifications = false
    nodes[o.node].move(o.id, m, 1, "a1")
    #expect(nodes[x.node].heardAny(x.id, #""ply":1"#))
  }

  @Test func `a real move that comes after a forged one of the same number replaces the forged one`() throws {
    var nodes = try SteppedNodes()
    let (x, o, m) = nodes.pair(#""clock":"none","rated":false"#)
    let seq = try nodes[o.node].state(m).seq
    let forged = #"{"k":"move","at":1,"side":"x","mid":"f","ply":0,"cell":"a1","spent":0}"#
    nodes[o.node].step(.notification("grown \(m) \(seq + 1)\n\(forged)"))
    nodes[o.node].said = []
    nodes[x.node].move(x.id, m, 0, "b2")
    #expect(try nodes[o.node].state(m) == nodes[o.node].stored(m))
    #expect(nodes[o.node].heardAny(o.id, #"{"t":"state","m":"\#(m)","seq":\#(seq + 1)"#), "\(nodes[o.node].said)")
    // The node does not apply a forged event in place of a stored one, and reads the log.
    nodes[o.node].step(.notification("grown \(m) \(seq + 1)\n\(forged)"))
    nodes[o.node].move(o.id, m, 1, "a1")
    #expect(try nodes[x.node].state(m) == nodes[x.node].stored(m))
    #expect(try nodes[x.node].stored(m).seq == seq + 2)
    #expect(nodes[o.node].lobby.counts.abandoned == 0)
  }

  @Test func `a token issued by an administrator works, and guests get none`() throws {
    var world = try SteppedLobby()
    let id = world.named("Ann")
    _ = world.login("Bob")
    world.drop(id)
    let token = IssuedToken(for: "ann")
    guard case .change(let result) = try world.store.answer(token.question) else {
      throw StoreError.failed("no answer")
    }
    #expect(token.refusal(of: result) == nil)
    let back = world.login("Ann", token: token.text)
    #expect(world.heardAny(back, #""name":"Ann""#))
    for (name, says) in [("guest-Bob", "is a guest"), ("nobody", "there is no player")] {
      let token = IssuedToken(for: name)
      guard case .change(let result) = try world.store.answer(token.question) else { continue }
      #expect(token.refusal(of: result)?.contains(says) == true)
    }
  }

  @Test func `an address may register a limited number of names a day; other refusals do not count`() throws {
    var configuration = LobbyConfiguration()
    configuration.namesPerDay = 2
    configuration.loginsPerMinute = 100
    var world = try SteppedLobby(configuration)
    func come(from address: String, _ world: inout SteppedLobby) -> Int {
      let id = world.connect(from: address)
      world.type(id, #"{"t":"hello","v":[1],"client":"t","caps":[]}"#)
      return id
    }
    func register(_ name: String, from address: String, _ world: inout SteppedLobby) -> String? {
      let id = come(from: address, &world)
      world.type(id, #"{"t":"register","id":"r","name":"\#(name)"}"#)
      return world.field("code", of: id, in: "err")
    }
    #expect(register("Ann", from: "one", &world) == nil)
    #expect(register("ann", from: "one", &world) == "name")
    #expect(register("Bob", from: "one", &world) == nil)
    #expect(register("Cid", from: "one", &world) == "rate")
    #expect(register("Cid", from: "two", &world) == nil)
    world.now += day
    #expect(register("Dan", from: "one", &world) == nil)
  }
}
