import MatchProtocol
import ServerTestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

@Suite struct BoundTests {
  @Test func `in an untimed match each side has ten minutes for its first move, with a clock 30 seconds`() throws {
    for (clock, within) in [("none", 600_000 as Int64), ("60+2", 30_000)] {
      var world = try SteppedLobby()
      let (_, _, m) = world.pair(#""clock":"\#(clock)","rated":false"#)
      world.wait(within - 100)
      #expect(try world.state(m).phase == .live)
      world.wait(200)
      #expect(try world.state(m).end?.reason == .aborted)
    }
  }

  @Test func `a deadline that is moved earlier many times keeps a single timer`() throws {
    var world = try SteppedLobby()
    let (x, first, m) = world.pair(#""clock":"600+0","rated":false"#)
    var o = first
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    for _ in 0..<5 {
      o = try world.reconnect(o, after: 1_000)
    }
    world.wait(120_000)
    let mine = world.lobby.timers.heap.filter { if case .match = $0.item { true } else { false } }
    #expect(mine.count == 1, "a match has a single timer")
  }

  @Test func `a change that the store fails to make is retried with growing pauses`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    var tries = 0
    world.loses = { question in
      guard case .detach = question else { return false }
      tries += 1
      return true
    }
    world.drop(id)
    world.wait(60_000)
    // Pauses of 250, 500, 1000 and then always 2000 ms make about 33 tries a minute; constant pauses of 250 ms would make 240.
    #expect((25...40).contains(tries), "\(tries) tries in a minute")
  }

  @Test func `the number of finished matches in memory stays bounded, however many a client looks at`() throws {
    var world = try SteppedLobby()
    let ann = world.login("Ann")
    for i in 0..<400 {
      let m = someID(UInt64(1000 + i))
      let record = MatchRecord(id: m, x: nil, o: nil, opener: nil, created: 1, ended: 2)
      let player = PlayerInfo(name: "n", rating: 1500, guest: true)
      let start = MatchEvent(
        at: 1, .start(Sides(x: player, o: player), MatchTerms(), confirm: false, previous: nil, keys: []))
      let end = MatchEvent(at: 2, .end(nil, .aborted, ratings: nil))
      _ = world.store.apply([StoreUnit(logs: [.init(m, after: 0, [start.body, end.body], record: record)])])
      world.type(ann, #"{"t":"sync","id":"s","m":"\#(m)","seq":0}"#)
    }
    #expect(world.heardAny(ann, #""seq":2"#))
    #expect(world.lobby.matches.count <= MatchDirectory.mostFinished)
  }

  @Test func `the list of matches is rendered at most once a second`() throws {
    var world = try SteppedLobby()
    let (x, o, _) = world.pair()
    world.said = []
    var asked = 0
    world.loses = { question in
      if case .live = question { asked += 1 }
      return false
    }
    for id in [x, o, x] { world.type(id, #"{"t":"list","id":"l"}"#) }
    #expect(asked == 1)
    #expect(world.said.filter { $0.line.contains(#""t":"page","re":"l","of":"list","rows":[{"m":"#) }.count == 3)
  }

  @Test func `a request for a room with the key of a waiting seek is refused`() throws {
    var world = try SteppedLobby()
    let ann = world.login("Ann")
    world.type(ann, #"{"t":"seek","id":"s","key":"k"}"#)
    world.type(ann, #"{"t":"create","id":"c","key":"k"}"#)
    #expect(world.heardAny(ann, #""re":"c","code":"mid_reused""#))
  }

  @Test func `a bye withdraws the seek before the connection ends`() throws {
    var world = try SteppedLobby()
    let ann = world.login("Ann")
    world.type(ann, #"{"t":"seek","key":"k"}"#)
    world.step(.line(UInt64(ann), ClientLine(.bye), at: world.now, roundTrip: 0))
    let bob = world.login("Bob")
    world.type(bob, #"{"t":"seek","key":"k"}"#)
    #expect(world.field("m", of: bob, in: "paired") == nil)
  }

  @Test func `many simultaneous seeks on other nodes cause few reads of the queue`() throws {
    var world = try SteppedNodes()
    var reads = 0
    world.nodes[0].loses = { question in
      if case .tickets = question { reads += 1 }
      return false
    }
    for i in 0..<40 {
      let id = world[1].login("P\(i)")
      world[1].type(id, #"{"t":"seek","range":0,"rules":"classic","clock":"\#(10 + i)+0","key":"k"}"#)
    }
    world.wait(500)
    #expect(reads <= 4, "\(reads) reads for 40 seeks")
  }

  @Test func `chat keeps a few combining marks per letter and no direction controls`() {
    #expect(ChatText.cleaned("a" + String(repeating: "\u{301}", count: 199)).unicodeScalars.count == 5)
    let parted = "a" + String(repeating: "\u{301}\u{301}\u{301}\u{301}\u{200B}", count: 9)
    #expect(ChatText.cleaned(parted).unicodeScalars.count == 5, "characters that are left out do not part marks")
    #expect(ChatText.cleaned("a\u{202E}b\u{2066}c") == "abc")
    #expect(ChatText.cleaned("วันนี้ e\u{323}\u{302} 1\u{FE0F}\u{20E3}") == "วันนี้ e\u{323}\u{302} 1\u{FE0F}\u{20E3}")
  }
}
