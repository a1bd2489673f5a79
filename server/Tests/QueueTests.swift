import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// The queue of a cluster, in the memory of one of its nodes.
@Suite struct QueueTests {
  /// A node of a cluster stepped by hand, and another that joined before or after it.
  private struct SteppedNode {
    let view: MemoryClusterView
    var lobby: Lobby
    var moment = Moment(steady: 1000, wall: 1_700_000_000_000)
    /// Where work was brought, and what was said.
    var told: [(epoch: Int64, m: MatchID)] = []
    var said: [String] = []
    /// The connections that were ended.
    var closed: [ConnectionID] = []
    /// Whether the store says nothing of matches that are to begin.
    var losesBegins = false
    /// Whether the store's answers come later, and those that do.
    var isSlow = false
    var late: [(number: UInt64, answer: ClusterAnswer?)] = []

    init(_ view: MemoryClusterView) throws {
      self.view = view
      let epoch = try view.join(node("a"), lease: 3000, replacing: nil)
      lobby = Lobby(.init(), epoch: epoch, joined: 1000, random: .seeded(SplitMix64(seed: 1)), now: moment)
      try step(.tick)
      for id in 1...2 as ClosedRange<ConnectionID> {
        try step(.connected(id, address: nil))
        try say(#"{"t":"hello","v":[1],"client":"t"}"#, id)
      }
    }

    mutating func step(_ input: LobbyInput) throws {
      var inputs = [input]
      while !inputs.isEmpty {
        for effect in lobby.reduce(inputs.removeFirst(), now: moment) {
          switch effect {
          case .commit(let transaction): inputs.append(.durable(transaction.number))
          case .send(_, let line, _): said.append(String(decoding: line, as: UTF8.self))
          case .cluster(.ask(let number, let question)):
            let isLost = if case .begin = question { losesBegins } else { false }
            let answer = isLost ? nil : try view.answer(question)
            if isSlow { late.append((number, answer)) } else { inputs.append(.cluster(.answer(number, answer))) }
          case .close(let id, _, _, _, _): closed.append(id)
          case .cluster(.relay(let epoch, _, _, let m, _)): told.append((epoch, m))
          default: break
          }
        }
      }
    }

    mutating func hearLate() throws {
      isSlow = false
      for (number, answer) in late { try step(.cluster(.answer(number, answer))) }
      late = []
    }

    mutating func say(_ line: String, _ id: ConnectionID = 1) throws {
      let parsed = try Array(line.utf8).withUnsafeBytes { raw in try ClientLine(raw) }
      try step(.line(id, parsed, at: moment.steady, roundTrip: 0))
    }

    mutating func wait(_ milliseconds: Int64) throws {
      for _ in 0..<milliseconds / 100 {
        moment.steady += 100
        try step(.tick)
      }
    }
  }

  @Test func `whoever waits at a node that ends goes on waiting at the next, as long as he has`() throws {
    let cluster = MemoryCluster { 1_700_000_000_000 }
    let first = cluster.view()
    let owner = try first.join(node("q"), lease: 3000, replacing: nil)
    var second = try SteppedNode(cluster.view())
    try second.say(#"{"t":"seek","id":"s","key":"k","clock":"60+2","rated":false}"#)
    #expect(second.told.map(\.epoch) == [owner] && second.told[0].m == .queue)
    second.moment.steady += 2000
    try first.leave()
    try second.step(.cluster(.linkLost(owner, heard: second.moment.steady)))
    try second.wait(2000)
    #expect(second.lobby.tickets.oldestFirst.map { second.moment.steady - $0.since } == [4000])
    #expect(second.told.count == 1 && second.said.count { $0.contains(#""t":"queued""#) } == 1)
  }

  @Test func `two whose rated match the store did not let begin go on waiting and get the next`() throws {
    var world = try SteppedNode(MemoryCluster { 1_700_000_000_000 }.view())
    for id in 1...2 as ClosedRange<ConnectionID> {
      try world.say(#"{"t":"register","id":"r","name":"Player\#(id)"}"#, id)
    }
    world.losesBegins = true
    for id in 1...2 as ClosedRange<ConnectionID> {
      try world.say(#"{"t":"seek","id":"s","key":"k","clock":"60+2","rated":true}"#, id)
    }
    try world.wait(3000)
    #expect(world.lobby.seeks.count == 2 && !world.said.contains { $0.contains(#""t":"paired""#) })
    world.losesBegins = false
    try world.wait(3000)
    #expect(world.lobby.seeks.isEmpty && world.lobby.tickets.isEmpty)
    #expect(world.said.count { $0.contains(#""t":"paired""#) } == 2)
  }

  @Test func `who takes his seek back while he is being paired gets no match, and the other waits on`() throws {
    let cluster = MemoryCluster { 1_700_000_000_000 }
    var first = try SteppedNode(cluster.view())
    let other = try cluster.view().join(node("b"), lease: 3000, replacing: nil)
    try first.wait(1000)
    // The queue is here, and the other player's node another one, to which their match may fall.
    let guest = AccountRecord(id: 77, name: "guest-b", guest: true, token: nil, tokenExpires: 0)
    let far = Attachment(
      session: "far", generation: 1, account: guest, isBot: false, confirms: false)
    try first.step(.cluster(.attached(other, 9, far)))
    for n in 0..<8 {
      try first.say(#"{"t":"seek","id":"s","key":"k\#(n)","clock":"60+2","rated":false}"#)
      let seek = ClientMessage.Seek(MatchTerms(clock: TimeControl("60+2"), rated: false), key: "f\(n)")
      let ticket = Ticket(
        id: "far\(n)", session: "far", player: guest, seek: seek, isBot: false, since: first.moment.steady)
      let began = first.lobby.counts.started
      try first.step(.cluster(.relayed(9, .wait(ticket), .queue, roundTrip: 0)))
      guard first.lobby.counts.started == began else { continue }
      #expect(first.lobby.delegated.count == 2 && first.lobby.tickets.isEmpty)
      let m = try #require(first.lobby.delegated[ticket.id]?.m)
      try first.say(#"{"t":"unseek","id":"u"}"#)
      #expect(first.said.last?.contains(#""t":"ok""#) == true)
      try first.wait(4000)
      #expect(first.lobby.delegated.isEmpty && first.lobby.tickets.isEmpty && first.lobby.seeks.isEmpty)
      // Of another connection with the same key it is thought that it led to that match, until its node says that there is none.
      var again = ticket
      again.id = "again"
      try first.step(.cluster(.relayed(9, .wait(again), .queue, roundTrip: 0)))
      #expect(first.lobby.tickets.isEmpty)
      again.lost = m
      try first.step(.cluster(.relayed(9, .wait(again), .queue, roundTrip: 0)))
      #expect(first.lobby.tickets.count == 1)
      return
    }
    Issue.record("no match fell to the other node")
  }

  @Test func `a match of a node that has just joined is asked for there once its address is known`() throws {
    let cluster = MemoryCluster { 1_700_000_000_000 }
    var first = try SteppedNode(cluster.view())
    let late = cluster.view()
    let epoch = try late.join(node("b"), lease: 3000, replacing: nil)
    let m = someID(1)
    try late.commit([.match(MatchRecord(id: m, x: nil, o: nil, created: 5)), .append(m, after: 0, [event(1)])])
    first.moment.steady += 10
    try first.say(#"{"t":"watch","id":"w","m":"\#(m)"}"#)
    // Of this the node says that nobody is there, and the player is sent away.
    #expect(first.told.allSatisfy { told in first.lobby.otherNodes.contains { $0.epoch == told.epoch } })
    try first.wait(1000)
    #expect(first.told.map(\.epoch) == [epoch])
  }

  @Test
  func `who opened a room and was gone before it was there is known when he comes back, as two are who were paired`()
    throws
  {
    for line in [
      #"{"t":"create","id":"c","key":"c","clock":"60+2","rated":false}"#,
      #"{"t":"seek","id":"s","key":"s","clock":"60+2","rated":true}"#,
    ] {
      var world = try SteppedNode(MemoryCluster { 1_700_000_000_000 }.view())
      var players: [AccountRecord] = []
      for id in 1...2 as ClosedRange<ConnectionID> {
        try world.say(#"{"t":"register","id":"r","name":"Player\#(id)"}"#, id)
        players.append(try #require(world.lobby.account(of: id)))
      }
      for id in 1...2 as ClosedRange<ConnectionID> {
        world.isSlow = id == 2
        try world.say(line, id)
        if id == 2, line.contains("seek") {
          let profile = world.late.removeFirst()
          try world.step(.cluster(.answer(profile.number, profile.answer)))
        }
      }
      for id in 1...2 as ClosedRange<ConnectionID> { try world.step(.disconnected(id, clean: false)) }
      try world.hearLate()
      let began = world.lobby.matches.values.filter { !$0.isOver }
      #expect(began.count == (line.contains("seek") ? 1 : 2))
      for match in began {
        for account in [match.record.x, match.record.o, match.record.opener].compactMap({ $0 }) {
          #expect(world.lobby.accounts[account] != nil)
        }
      }
      // He comes to another node, which brings him here.
      let m = try #require(
        began.first { [$0.record.x, $0.record.o, $0.record.opener].contains(players[1].id) }?.id)
      let attachment = Attachment(
        session: "far", generation: 9, account: players[1], isBot: false, confirms: false)
      try world.step(.cluster(.attached(7, 9, attachment)))
      world.said = []
      try world.step(.cluster(.relayed(9, .follow(m, re: nil, isNew: false), m, roundTrip: 0)))
      #expect(world.said.contains { $0.contains(#""t":"state""#) && $0.contains(m.rawValue) })
    }
  }

  @Test func `a ticket that comes again while its match is begun elsewhere leads to that match and to no second one`()
    throws
  {
    let cluster = MemoryCluster { 1_700_000_000_000 }
    var first = try SteppedNode(cluster.view())
    let other = try cluster.view().join(node("b"), lease: 3000, replacing: nil)
    try first.wait(1000)
    let guest = AccountRecord(id: 77, name: "guest-b", guest: true, token: nil, tokenExpires: 0)
    try first.step(
      .cluster(
        .attached(other, 9, Attachment(session: "far", generation: 1, account: guest, isBot: false, confirms: false))))
    for n in 0..<8 {
      try first.say(#"{"t":"seek","id":"s","key":"k\#(n)","clock":"60+2","rated":false}"#)
      let seek = ClientMessage.Seek(MatchTerms(clock: TimeControl("60+2"), rated: false), key: "f\(n)")
      let ticket = Ticket(
        id: "far\(n)", session: "far", player: guest, seek: seek, isBot: false, since: first.moment.steady)
      try first.step(.cluster(.relayed(9, .wait(ticket), .queue, roundTrip: 0)))
      guard first.lobby.delegated.count == 2 else { continue }
      try first.step(.cluster(.relayed(9, .wait(ticket), .queue, roundTrip: 0)))
      #expect(first.lobby.tickets.isEmpty)
      // The same of one whose connection is here.
      try first.say(#"{"t":"seek","id":"again","key":"k\#(n)","clock":"60+2","rated":false,"bots":true}"#)
      #expect(first.lobby.tickets.isEmpty && first.said.last?.contains(#""re":"again""#) == true)
      return
    }
    Issue.record("no match fell to the other node")
  }

  @Test func `a seek with a key that was used is answered while another one waits`() throws {
    var world = try SteppedNode(MemoryCluster { 1_700_000_000_000 }.view())
    for id in 1...2 as ClosedRange<ConnectionID> {
      try world.say(#"{"t":"seek","id":"s","key":"k","clock":"60+2","rated":false}"#, id)
    }
    let m = try #require(world.lobby.matches.keys.first)
    try world.say(#"{"t":"abort","m":"\#(m)","mid":"a"}"#)
    try world.say(#"{"t":"seek","id":"t","key":"l","clock":"60+2","rated":false}"#)
    try world.say(#"{"t":"seek","id":"u","key":"k","clock":"60+2","rated":false}"#)
    #expect(world.said.last?.contains(#""re":"u","code":"occupied""#) == true)
    #expect(world.lobby.seeks[1]?.ticket.seek.key == "l")
  }

  @Test func `a ticket that the queue takes back too late does not take its player from the match that has begun`()
    throws
  {
    let cluster = MemoryCluster { 1_700_000_000_000 }
    let owner = try cluster.view().join(node("q"), lease: 60_000, replacing: nil)
    let other = try cluster.view().join(node("b"), lease: 60_000, replacing: nil)
    var world = try SteppedNode(cluster.view())
    try world.say(#"{"t":"seek","id":"s","key":"k","clock":"60+2","rated":false}"#)
    let ticket = try #require(world.lobby.seeks[1]?.ticket)
    try world.step(.cluster(.here(other, 1, someID(1), ticket: ticket.id)))
    #expect(world.lobby.seeks.isEmpty)
    try world.step(.cluster(.notHere(owner, 1, .wait(ticket), someID(1), at: nil)))
    #expect(world.lobby.seeks.isEmpty)
    // But if the match came to nothing, its own node says so.
    try world.step(.cluster(.notHere(other, 1, .wait(ticket), someID(1), at: nil)))
    #expect(world.lobby.seeks[1]?.ticket.lost == someID(1))
  }

  @Test func `sessions that are over for a newcomer are ended though he has gone`() throws {
    var world = try SteppedNode(MemoryCluster { 1_700_000_000_000 }.view())
    let first = try #require(world.lobby.connections[1]?.session)
    world.isSlow = true
    try world.step(.connected(3, address: nil))
    try world.say(#"{"t":"hello","v":[1],"client":"t"}"#, 3)
    try world.step(.disconnected(3, clean: false))
    guard case .entry(.entered(var entered)) = world.late[0].answer else {
      Issue.record("nobody entered")
      return
    }
    entered.forgotten = [first]
    world.late[0].answer = .entry(.entered(entered))
    try world.hearLate()
    #expect(world.closed == [1])
  }

  @Test func `nobody can name the queue as if it were a match`() throws {
    let cluster = MemoryCluster { 1_700_000_000_000 }
    let owner = try cluster.view().join(node("q"), lease: 60_000, replacing: nil)
    var world = try SteppedNode(cluster.view())
    try world.say(#"{"t":"seek","id":"s","key":"k","clock":"60+2","rated":false}"#)
    #expect(world.told.map(\.epoch) == [owner])
    let says = [
      #""t":"move","mid":"a","ply":0,"cell":"b2""#, #""t":"sync","seq":0"#, #""t":"watch""#, #""t":"say","text":"hm""#,
      #""t":"confirm""#, #""t":"export""#, #""t":"unwatch""#, #""t":"rematch","mid":"b""#,
    ]
    for say in says {
      try world.say("{\(say),\"id\":\"x\",\"m\":\"queue\"}")
      #expect(world.said.last?.contains(#""re":"x","code":"not_found""#) == true, "\(say)")
    }
    #expect(world.told.count == 1, "the queue's node was told \(world.told)")
    // His seek is known to the queue as before: taken back, it goes from there.
    try world.say(#"{"t":"unseek","id":"u"}"#)
    #expect(world.told.count == 2 && world.told[1].m == .queue)
  }
}
