import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// Faults by which one client, or one lost answer, harmed other players.
@Suite struct LobbyFaultTests {
  @Test func `a command that another node's event preceded is refused if the log cannot be read until maxWait`() throws
  {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
    world.before = { store, unit in
      var other = unit
      other.logs[0].bodies = [MatchEvent(at: 5, side: .o, mid: "offer", .draw(.offer, offer: nil)).body]
      #expect(store.apply([other]).count == 1)
    }
    (world.isSilent, world.said) = (true, [])
    world.move(x, m, 0, "b2")
    world.wait(Int64(world.lobby.configuration.maxWait) + 100)
    #expect(world.heardAny(x, #""re":"r","code":"busy""#), "\(world.heard(x))")
    world.isSilent = false
    world.wait(1000)
    world.move(x, m, 0, "b2")
    #expect(world.heardAny(o, #""k":"move""#) && world.heardAny(o, #""k":"draw""#))
    #expect(try world.state(m) == world.stored(m))
  }

  @Test func `a report is acknowledged after it is stored, and refused as busy if it cannot be`() throws {
    var world = try SteppedLobby()
    let (x, _, m) = world.pair()
    let id = try #require(MatchID(rawValue: m))
    let ann = try #require(world.lobby.matches[id]?.account(at: .x))
    func stored() throws -> [ReportRecord] {
      guard case .reports(let found) = try world.store.answer(.reports(before: .max, limit: 9)) else { return [] }
      return found
    }
    world.isSlow = true
    world.type(x, #"{"t":"report","id":"r1","m":"\#(m)","text":"ru\u202ede\n"}"#)
    #expect(!world.heardAny(x, #""re":"r1""#), "a report is acknowledged only after the store has answered")
    world.hearLate()
    #expect(world.heardAny(x, #"{"t":"ok","re":"r1""#))
    let report = try #require(try stored().first)
    #expect(report.account == ann && report.m == id && report.text == "rude" && report.at == world.clock.wall)
    #expect(report.name == world.lobby.people.accounts[ann]?.name)
    world.mood = .full
    world.type(x, #"{"t":"report","id":"r2","m":"\#(m)","text":"again"}"#)
    #expect(world.heardAny(x, #""re":"r2","code":"busy""#))
    world.mood = .well
    world.type(x, #"{"t":"report","id":"r3","m":"\#(m)","text":"and again"}"#)
    #expect(world.heardAny(x, #"{"t":"ok","re":"r3""#), "a report that was not stored does not count")
    world.type(x, #"{"t":"report","id":"r4","m":"\#(m)","text":"and again"}"#)
    #expect(world.heardAny(x, #""re":"r4","code":"rate""#), "at most two reports a minute")
    #expect(try stored().count == 2)
  }

  @Test func `an address has four reports a minute, however many players report from there`() throws {
    var world = try SteppedLobby()
    var pairs: [(ids: [Int], m: String)] = []
    for n in 1...3 {
      let ids = [world.connect(from: "192.0.2.1"), world.connect(from: "198.51.100.\(n)")]
      for id in ids {
        world.type(id, #"{"t":"hello","v":[1],"client":"t","caps":[],"guest":"Ann-\#(id)"}"#)
        world.type(id, #"{"t":"seek","clock":"none","rated":false,"key":"k\#(id)"}"#)
      }
      let m = try #require(world.field("m", of: ids[0], in: "paired"))
      pairs.append((ids, m))
    }
    func report(_ pair: (ids: [Int], m: String), by side: Int, _ re: String) -> Bool {
      world.type(pair.ids[side], #"{"t":"report","id":"\#(re)","m":"\#(pair.m)","text":"rude"}"#)
      return world.heardAny(pair.ids[side], #"{"t":"ok","re":"\#(re)""#)
    }
    for pair in pairs.prefix(2) {
      for re in ["r1", "r2"] { #expect(report(pair, by: 0, re)) }
    }
    #expect(!report(pairs[2], by: 0, "r3"))
    #expect(world.heardAny(pairs[2].ids[0], "at most four reports a minute from one address"))
    #expect(report(pairs[2], by: 1, "r4"), "a player of another address may report")
  }

  /// The store keeps the move in the mood `mute` and loses it in the mood `deaf`.
  @Test(arguments: [SteppedLobby.Store.mute, .deaf])
  func `a move whose outcome is unknown is refused as busy after a while, however long the store is silent`(
    mood: SteppedLobby.Store
  ) throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.mood = mood
    world.isSilent = true
    world.said = []
    world.move(x, m, 0, "b2")
    // The opponent's command waits behind the move, and is refused as busy together with the move.
    world.type(o, #"{"t":"resign","id":"q","m":"\#(m)","mid":"q"}"#)
    #expect(world.said.isEmpty, "the move is not refused at once, as most outcomes are known within milliseconds")
    world.wait(5000)
    #expect(world.heardAny(x, #""re":"r","code":"busy""#))
    #expect(world.heardAny(o, #""re":"q","code":"busy""#))
    world.move(x, m, 0, "b2")
    #expect(world.said.filter { $0.line.contains(#""re":"r","code":"busy""#) }.count == 2, "refused at once")
    world.mood = .well
    world.isSilent = false
    world.wait(3000)
    world.move(x, m, 0, "b2")
    #expect(world.heardAny(x, #"{"t":"ok","re":"r""#))
    #expect(world.heardAny(o, #""ply":0"#))
    #expect(try world.stored(m).moves.count == 1)
    world.move(o, m, 1, "a1")
    #expect(try world.stored(m).moves.count == 2, "the match continues")
  }

  @Test func `time in which players could not reconnect does not count as absence`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    world.drop(o)
    world.mood = .full
    world.wait(120_000)
    world.mood = .well
    world.wait(3000)
    world.type(x, #"{"t":"claim","m":"\#(m)","mid":"c"}"#)
    #expect(try world.stored(m).phase == .live)
    world.wait(40_000)
    world.type(x, #"{"t":"claim","m":"\#(m)","mid":"d"}"#)
    #expect(try world.stored(m).end?.reason == .gone)
  }

  @Test func `every node knows that a player is present after many reconnects`() throws {
    var world = try SteppedNodes()
    let pair = world.pair(#""clock":"none","rated":false"#)
    let m = pair.m
    var (x, o) = (pair.x, pair.o)
    world[x.node].move(x.id, m, 0, "b2")
    world[o.node].move(o.id, m, 1, "a1")
    func leaving(_ side: (node: Int, id: Int)) throws -> String {
      let resume = try #require(world[side.node].field("resume", of: side.id, in: "welcome"))
      world[side.node].drop(side.id)
      return resume
    }
    for _ in 0..<31 { o.id = world[o.node].login("", resume: try leaving(o)) }
    let resume = try leaving(x)
    o.id = world[o.node].login("", resume: try leaving(o))
    x.id = world[x.node].login("", resume: resume)
    world.wait(45_000)
    for node in world.nodes.indices { #expect(try world[node].state(m).away == Sides(x: false, o: false)) }
    world[o.node].type(o.id, #"{"t":"claim","m":"\#(m)","mid":"c"}"#)
    #expect(try world[0].stored(m).phase == .live)
  }

  @Test func `endless reconnects add a bounded number of events to the log, and presence stays correct`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    var resume = try #require(world.field("resume", of: o, in: "welcome"))
    var last = o
    for i in 0..<200 {
      world.drop(last)
      #expect(world.heardAny(x, #""t":"gone","m":"\#(m)","side":"o""#), "X is told of absence \(i)")
      world.said = []
      last = world.login("", resume: resume)
      resume = try #require(world.field("resume", of: last, in: "welcome"))
    }
    #expect(try world.state(m).seq < 100)
    // X has seen O come back after each absence, so X cannot claim the win.
    world.wait(120_000)
    world.type(x, #"{"t":"claim","id":"c","m":"\#(m)","mid":"c"}"#)
    #expect(world.heardAny(x, "your opponent is connected"))
    world.drop(last)
    world.wait(40_100)
    world.type(x, #"{"t":"claim","id":"d","m":"\#(m)","mid":"d"}"#)
    #expect(try world.state(m).end?.reason == .gone, "after an absence the win can be claimed")
  }

  @Test func `if a match ends while a node reads it again, the node reads it once more`() throws {
    var world = try SteppedNodes()
    let (x, o, m) = world.pair()
    world.nodes[o.node].isSlow = true
    world.nodes[o.node].step(.notification("grown \(m) 2"))
    world[x.node].type(x.id, #"{"t":"resign","m":"\#(m)","mid":"r"}"#)
    world.nodes[o.node].hearLate()
    #expect(world[o.node].heardAny(o.id, #""k":"resign""#), "the first read did not contain the resignation yet")
  }

  @Test func `a long log is exported completely, in pages`() throws {
    var world = try SteppedLobby()
    let m = try #require(MatchID(rawValue: "longlonglong"))
    var state = MatchState(id: m)
    var log: [[UInt8]] = []
    let seats = Sides(
      x: PlayerInfo(name: "Ann", rating: 1500, guest: true), o: PlayerInfo(name: "Bob", rating: 1500, guest: true))
    var kinds: [(Player?, MatchEvent.Kind)] = [
      (nil, .start(seats, MatchTerms(clock: nil), confirm: false, previous: nil, keys: []))
    ]
    for _ in 0..<600 { kinds += [(.o, .gone), (.o, .back)] }
    for (side, kind) in kinds + [(nil, .end(nil, .aborted, ratings: nil))] {
      let event = MatchEvent(at: 1, side: side, kind)
      try state.append(event, body: event.body)
      log.append(event.body)
    }
    let record = MatchRecord(id: m, x: 1, o: 2, created: 1, ended: 2)
    #expect(world.store.apply([StoreUnit(logs: [.init(m, after: 0, log, record: record)])]) == [.applied([:])])
    let reader = world.login("reader")
    var folded = MatchState(id: m)
    var at: Int64? = 0
    var pages = 0
    while let from = at {
      world.said = []
      world.type(reader, #"{"t":"export","id":"e","m":"\#(m)","seq":\#(from)}"#)
      at = nil
      for line in world.heard(reader) {
        let message = try Array(line.utf8).withUnsafeBytes { raw in try ServerLine(raw) }.message
        if case .event(_, _, _, let body) = message { try folded.append(body: body) }
        if case .page("export", _, let more) = message { at = more }
      }
      pages += 1
      #expect(folded.seq == min(state.seq, pages * Limits.events))
    }
    #expect(pages == 3 && folded.hash == state.hash)
  }

  @Test func `above the limit the longest absent idle guest is deleted`() throws {
    var configuration = LobbyConfiguration()
    configuration.maxGuests = 10
    var world = try SteppedLobby(configuration)
    let (x, _, m) = world.pair()
    let resume = try #require(world.field("resume", of: x, in: "welcome"))
    var here: [Int] = []
    for i in 0..<100 {
      let guest = world.login("g\(i)")
      if i < 5 { here.append(guest) } else { world.drop(guest) }
    }
    world.wait(61_000)
    #expect(try world.store.accounts().count == 10)
    #expect(world.lobby.people.accounts.count < 10, "a node caches only the accounts that it needs")
    world.drop(x)
    let back = world.login("", resume: resume)
    #expect(world.heardAny(back, #""t":"welcome""#), "the account of a guest in a match is kept")
    for id in here { #expect(world.closed[id] == nil, "and whoever is here") }
    let late = world.login("late")
    #expect(world.heardAny(late, #""t":"welcome""#))
    _ = m
  }

  @Test func `chat keeps joined emoji and drops other invisible characters`() throws {
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}"
    let flag = "\u{1F3F3}\u{FE0F}\u{200D}\u{1F308}"
    #expect(ChatText.cleaned("my \(family) and \(flag)!") == "my \(family) and \(flag)!")
    #expect(ChatText.cleaned("a\u{200D}b \u{200D}\u{1F468}\u{200D} \u{202E}c\u{200B}1\u{200D}2") == "ab \u{1F468} c12")
  }

  @Test func `a third player is told that a room is full and can watch it`() throws {
    var world = try SteppedLobby()
    let friend = world.login("friend"), third = world.login("third")
    let (_, m, code) = try world.room("create none")
    world.type(friend, "join \(code)")
    for _ in 0..<6 { world.type(third, "join \(code)") }
    #expect(world.heardAny(third, "this room is full") && world.heardAny(third, "watch \(m) \(code)"))
    #expect(!world.heardAny(third, #""code":"rate""#), "only wrong codes count as attempts")
    world.type(third, "watch \(m) \(code)")
    #expect(world.heardAny(third, #""t":"state""#))
  }

  @Test func `a player who joins an own room is told its code again, which counts as no try of a code`() throws {
    var world = try SteppedLobby()
    let friend = world.login("friend")
    let (host, m, code) = try world.room("create none")
    for _ in 0..<6 {
      world.said = []
      world.type(host, "join \(code)")
      #expect(world.field("m", of: host, in: "room") == m && world.field("code", of: host, in: "room") == code)
    }
    world.type(friend, "join \(code)")
    #expect(world.field("m", of: friend, in: "paired") == m)
  }

  @Test func `a ban that was lifted disconnects nobody, even if the earlier answer of the store arrives last`() throws {
    var world = try SteppedLobby()
    let ann = world.named("Ann")
    let account = try #require(world.lobby.account(of: ConnectionID(ann))?.id)
    world.isSlow = true
    for on in [true, false] {
      _ = try world.store.answer(.change(.name("Ann"), .banned(on)))
      world.step(.notification("account \(account)"))
    }
    try #require(world.late.count == 2)
    world.late.reverse()
    world.hearLate()
    #expect(world.closed[ann] == nil && world.lobby.people.accounts[account]?.banned == false)
  }

  @Test func `after five wrong codes, the right one is refused to all guests of the address for the rest of a minute`()
    throws
  {
    var world = try SteppedLobby()
    let (_, m, code) = try world.room("create none")
    let wrong = code == "000000" ? "111111" : "000000"
    var guests: [Int] = []
    for _ in 0..<2 {
      guests.append(world.connect(from: "203.0.113.7"))
      world.type(guests.last ?? 0, #"{"t":"hello","v":[1],"client":"t","caps":[]}"#)
    }
    for _ in 0..<5 { world.type(guests[0], "watch \(m) \(wrong)") }
    for guest in guests {
      world.type(guest, "watch \(m) \(code)")
      #expect(world.heardAny(guest, #""code":"rate""#) && !world.heardAny(guest, #""t":"state""#))
    }
    world.wait(60_000)
    world.said = []
    // The right code is no guess, and may be sent again after each reconnection.
    for _ in 0..<6 { world.type(guests[1], "watch \(m) \(code)") }
    #expect(world.heardAny(guests[1], #""t":"state""#) && !world.heardAny(guests[1], #""code":"rate""#))
  }

  @Test func `a spectator of a room sees the start of its match and every later event`() throws {
    var world = try SteppedLobby()
    let friend = world.login("friend"), third = world.login("third")
    let (host, m, code) = try world.room("create none x")
    world.type(third, "watch \(m) \(code)")
    world.said = []
    world.type(friend, "join \(code)")
    world.type(host, "move b2")
    let events = world.said.filter { $0.connection == third && $0.line.contains(#""t":"event""#) }
    try #require(events.count == 2)
    for (i, event) in events.enumerated() { #expect(event.line.contains(#""seq":\#(i + 2),"#)) }
  }

  @Test(arguments: ["x", "o"]) func `a room's opener may choose a side, and a rematch swaps sides`(
    side: String
  ) throws {
    // A server that ignored the opener's choice would give the opener the other side with some of these seeds.
    for seed in 0..<8 {
      var world = try SteppedLobby(seed: UInt64(seed))
      let host = world.login("host"), friend = world.login("friend")
      world.type(host, "create none \(side)")
      world.type(friend, "join \(try #require(world.field("code", of: host, in: "room")))")
      let m = try #require(world.field("m", of: friend, in: "paired"))
      let state = try world.state(m)
      #expect(state.players?[side == "x" ? .x : .o].name.contains("host") == true)
      #expect(state.terms == MatchTerms(clock: nil), "the choice of side is not part of the match's terms")
      for (mover, cell) in [(side == "x" ? host : friend, "b2"), (side == "x" ? friend : host, "a1")] {
        world.type(mover, "move \(cell)")
      }
      world.type(host, "resign")
      world.type(host, #"{"t":"rematch","m":"\#(m)","mid":"h"}"#)
      world.type(friend, #"{"t":"rematch","m":"\#(m)","mid":"f"}"#)
      let next = try world.state(#require(world.state(m).next?.rawValue))
      #expect(next.players?[side == "x" ? .o : .x].name.contains("host") == true)
    }
  }

  @Test func `a room's match can be rated for registered players only`() throws {
    var world = try SteppedLobby()
    let (guest, ann, bob) = (world.login("g"), world.login("a"), world.login("b"))
    world.type(guest, "create 60+0 rated")
    #expect(world.heardAny(guest, #""code":"forbidden""#))
    world.type(ann, "register Ann")
    world.type(bob, "register Bob")
    world.type(ann, "create 60+0 rated")
    let code = try #require(world.field("code", of: ann, in: "room"))
    world.type(guest, "join \(code)")
    #expect(world.said.filter { $0.line.contains(#""code":"forbidden""#) }.count == 2)
    world.type(bob, "join \(code)")
    let m = try #require(world.field("m", of: bob, in: "paired"))
    world.type(bob, "move b2")
    world.type(ann, "move b2")
    world.type(bob, "move a1")
    world.type(ann, "move a1")
    world.type(bob, "resign")
    #expect(try world.state(m).end?.ratings != nil)
  }
}

extension SteppedLobby {
  fileprivate mutating func room(_ line: String) throws -> (host: Int, m: String, code: String) {
    let host = login("host")
    type(host, line)
    return (
      host, try #require(field("m", of: host, in: "room")), try #require(field("code", of: host, in: "room"))
    )
  }
}
