import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

@Suite struct LobbyTests {
  @Test func `wrong boards after reconnect: the position comes before anything else`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.move(x, m, 0, "b2")
    let resume = try #require(world.field("resume", of: o, in: "welcome"))
    world.drop(o)
    world.said = []
    let back = world.login("Bob", resume: resume)
    let types = world.heard(back).compactMap { try? JSONObject(line: Array($0.utf8), with: "t")["t"]?.string }
    #expect(
      types.prefix(3) == ["hello", "welcome", "state"] || types.prefix(4) == ["hello", "welcome", "event", "state"])
    world.move(back, m, 1, "a1")
    #expect(try world.state(m).board == "....x.o..")
  }

  @Test func `late rematch offers: the opponent has the full time to answer`() throws {
    for (wait, agrees) in [(29_900, true), (30_100, false)] as [(Int64, Bool)] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair()
      world.move(x, m, 0, "b2")
      world.move(o, m, 1, "a1")
      world.type(x, #"{"t":"resign","m":"\#(m)","mid":"r"}"#)
      world.wait(29_900)
      world.type(x, #"{"t":"rematch","m":"\#(m)","mid":"w"}"#)
      #expect(world.heardAny(o, #""k":"rematch""#))
      world.wait(wait)
      world.type(o, #"{"t":"rematch","m":"\#(m)","mid":"w"}"#)
      #expect(world.heardAny(o, #""next":"#) == agrees)
      #expect(world.heardAny(o, #""code":"over","msg":"a rematch can be asked for within 30 s""#) != agrees)
    }
  }

  @Test func `rematch with an absent player: the opponent is told of the absence`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.type(x, #"{"t":"abort","m":"\#(m)","mid":"r"}"#)
    world.type(x, #"{"t":"rematch","m":"\#(m)","mid":"w"}"#)
    world.drop(x)
    world.type(o, #"{"t":"rematch","m":"\#(m)","mid":"w"}"#)
    let next = try #require(world.field("m", of: o, in: "paired"))
    #expect(next != m && world.heardAny(o, #"{"t":"gone","m":"\#(next)","side":"o""#))
    #expect(try world.state(next).station == world.state(m).nextStation)
  }

  @Test func `optimistic moves kept after a drop: a move sent again counts once`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    let resume = try #require(world.field("resume", of: o, in: "welcome"))
    world.drop(o)
    let back = world.login("Bob", resume: resume)
    world.said = []
    world.move(back, m, 1, "a1")
    #expect(world.heardAny(back, #""t":"ok","re":"r","m":"\#(m)","seq":"#))
    #expect(try world.state(m).moves.count == 2)
    world.type(back, #"{"t":"move","m":"\#(m)","ply":1,"cell":"c3","mid":"p1"}"#)
    #expect(world.heardAny(back, "mid_reused"))
    world.type(back, #"{"t":"move","m":"\#(m)","ply":1,"cell":"c3","mid":"other"}"#)
    #expect(world.heardAny(back, "stale_ply"))
  }

  @Test func `expired seats: after a restart a player has the same side, and a repeated command the same answer`()
    throws
  {
    var world = try SteppedLobby()
    let (x, _, m) = world.pair()
    world.move(x, m, 0, "b2")
    let answer = try #require(world.said.last { $0.connection == x && $0.line.contains(#""t":"ok""#) })
    let resume = try #require(world.field("resume", of: x, in: "welcome"))
    var restarted = try SteppedLobby(after: world, seed: 2)
    let back = restarted.login("", resume: resume)
    #expect(restarted.heardAny(back, #""t":"state""#))
    restarted.said = []
    restarted.move(back, m, 0, "b2")
    #expect(restarted.said.contains { $0.line == answer.line })
    #expect(try restarted.state(m).moves.count == 1)
  }

  @Test func `abandoned games: the present player may claim the win, and gets it after a minute`() throws {
    for claims in [true, false] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair(#""clock":"none","rated":false"#)
      world.move(x, m, 0, "b2")
      world.move(o, m, 1, "a1")
      world.drop(o)
      #expect(world.heardAny(x, #""t":"gone","m":"\#(m)","side":"o","in_ms":40000"#))
      world.type(x, #"{"t":"claim","m":"\#(m)","mid":"early"}"#)
      #expect(world.heardAny(x, "may still come back"))
      world.wait(40_100)
      if claims {
        world.type(x, #"{"t":"claim","m":"\#(m)","mid":"now"}"#)
      } else {
        world.wait(59_000)
        #expect(try world.state(m).phase == .live)
        world.wait(2_000)
      }
      #expect(try world.state(m).end?.outcome == .win(.x))
      #expect(try world.state(m).end?.reason == .gone)
    }
  }

  @Test func `games abandoned by both: untimed games are aborted, timed ones end by the clock`() throws {
    for clock in ["none", "10+0"] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair(#""clock":"\#(clock)","rated":false"#)
      world.move(x, m, 0, "b2")
      world.move(o, m, 1, "a1")
      world.drop(o)
      world.drop(x)
      world.wait(clock == "none" ? 40_100 : 10_100)
      let end = try #require(try world.state(m).end)
      #expect(end.reason == (clock == "none" ? .aborted : .time))
      #expect(end.outcome == (clock == "none" ? nil : .win(.o)))
    }
  }

  @Test func `no server-side timer: the server ends a game at its deadline by itself, not earlier`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"10+0","rated":false"#)
    world.move(x, m, 0, "b2")
    world.wait(5_000)
    world.move(o, m, 1, "a1")
    world.wait(9_990)
    #expect(try world.state(m).phase == .live)
    world.wait(100)
    let end = try #require(try world.state(m).end)
    #expect(end.outcome == .win(.o) && end.reason == .time)
    #expect(try world.state(m).clocks == Sides(x: 0, o: 10_000), "first moves take no time from the clocks")
  }

  @Test func `a restart neither adds nor removes time on the clocks`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"10+0","rated":false"#)
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    world.wait(3_000)
    world.move(x, m, 2, "a3")
    world.wait(2_000)
    let resume = try #require(world.field("resume", of: o, in: "welcome"))
    var restarted = try SteppedLobby(after: world, seed: 2)
    restarted.wait(30_000)
    #expect(try restarted.state(m).phase == .live, "the clock is stopped until the side to move is back")
    let back = restarted.login("", resume: resume)
    restarted.wait(9_000)
    #expect(try restarted.state(m).phase == .live)
    restarted.wait(1_100)
    #expect(try restarted.state(m).end?.reason == .time)
    _ = back
  }

  @Test func `clock jumps: setting the wall clock by days changes no deadline, room code or clock`() throws {
    for jump in [-3, 3] as [Int64] {
      var world = try SteppedLobby()
      let (x, o, m) = world.pair(#""clock":"10+0","rated":false"#)
      world.type(x, "create none")
      let code = try #require(world.field("code", of: x, in: "room"))
      world.move(x, m, 0, "b2")
      world.move(o, m, 1, "a1")
      world.wait(3_000)
      world.wallAhead += jump * 86_400_000
      world.move(x, m, 2, "a3")
      #expect(try world.state(m).clocks == Sides(x: 7_000, o: 10_000))
      world.wait(4_000)
      world.wallAhead -= 2 * jump * 86_400_000
      world.drop(x)
      #expect(world.heardAny(o, #""in_ms":40000"#))
      world.wait(5_900)
      #expect(try world.state(m).phase == .live)
      world.wait(200)
      #expect(try world.state(m).end?.reason == .time && world.state(m).end?.outcome == .win(.x))
      world.type(o, "join \(code)")
      #expect(world.heardAny(o, #""t":"paired""#), "the ten minutes of a room are measured by the monotonic clock")
    }
  }

  @Test func `a match is aborted without a first move in 30 s, or on request before both have moved`() throws {
    var world = try SteppedLobby()
    let (x, _, m) = world.pair()
    world.wait(29_900)
    #expect(try world.state(m).phase == .live)
    world.wait(200)
    #expect(try world.state(m).end == MatchState.End(outcome: nil, reason: .aborted, ratings: nil))
    var other = try SteppedLobby(seed: 3)
    let (x2, o2, m2) = other.pair()
    other.move(x2, m2, 0, "b2")
    other.type(o2, #"{"t":"abort","m":"\#(m2)","mid":"q"}"#)
    #expect(try other.state(m2).end?.reason == .aborted)
    _ = x
  }

  @Test func `matchmaking starvation: two compatible players never both wait over 30 s`() throws {
    var random = SplitMix64(seed: 5)
    for round in 0..<20 {
      var world = try SteppedLobby(seed: UInt64(round))
      // The ratings are so far apart that the range of accepted opponents must widen before players are paired.
      var players: [AccountRecord] = []
      for n in 1...20 {
        let token = SHA256.hash(Array("token\(n)".utf8))
        players.append(AccountRecord(id: Int64(n), name: "p\(n)", guest: false, token: token, tokenExpires: .max))
        players[n - 1].rating.value = Double(600 + random.below(2400))
      }
      try world.store.add(players)
      for n in 1...20 {
        world.wait(Int64(random.below(6_000)))
        let id = world.login("", token: "token\(n)")
        world.type(id, #"{"t":"seek","clock":"60+0","rated":false,"key":"k"}"#)
        var open = world.lobby.matchmaker.queue.oldestFirst
        #expect(open.count <= 6)
        open.removeAll { world.now - $0.since <= 30_000 }
        #expect(open.count <= 1, "two players who waited over 30 s were not paired")
      }
    }
  }

  @Test func `duplicate rooms that write ratings twice: a match ends once, ratings and result in one step`() throws {
    var world = try SteppedLobby()
    let a = world.login("a"), b = world.login("b")
    world.type(a, #"{"t":"register","name":"Ann"}"#)
    world.type(b, #"{"t":"register","name":"Bob"}"#)
    for id in [a, b] { world.type(id, #"{"t":"seek","clock":"60+0","rated":true,"key":"k"}"#) }
    let m = try #require(world.field("m", of: a, in: "paired"))
    for _ in 0..<3 {
      world.type(a, #"{"t":"resign","m":"\#(m)","mid":"once"}"#)
      world.type(b, #"{"t":"resign","m":"\#(m)","mid":"once"}"#)
    }
    let accounts = try world.store.accounts()
    #expect(accounts.map(\.won).reduce(0, +) == 1 && accounts.map(\.lost).reduce(0, +) == 1)
    let id = try #require(MatchID(rawValue: m))
    let log = try #require(try world.store.match(id))
    let ends = try log.bodies.filter { if case .end = try MatchEvent(body: $0).kind { true } else { false } }
    #expect(ends.count == 1)
    #expect(world.lobby.counts.started == 1 && world.lobby.counts.ended == 1)
    #expect(accounts.first { $0.lost == 1 }?.rating.value ?? 1500 < 1400)
    world.type(a, #"{"t":"top","id":"t"}"#)
    #expect(world.heardAny(a, #"{"name":"Bob","rating":1662,"rd":290,"won":1,"drawn":0,"lost":0}"#))
  }

  @Test func `rooms hidden by one missed health ping: a room stays open ten minutes without connections`() throws {
    var world = try SteppedLobby()
    let host = world.login("host"), friend = world.login("friend")
    world.type(host, #"{"t":"create","clock":"60+0","rated":false,"key":"k"}"#)
    let code = try #require(world.field("code", of: host, in: "room"))
    world.drop(host)
    world.wait(590_000)
    world.type(friend, #"{"t":"join","id":"j","code":"\#(code)"}"#)
    #expect(world.heardAny(friend, #""t":"ok","re":"j""#))
    #expect(world.heardAny(friend, #""t":"gone""#), "the friend is told that the host is away")
    #expect(world.lobby.counts.started == 1 && world.lobby.counts.ended == 0)
    var late = try SteppedLobby(seed: 4)
    let host2 = late.login("host"), friend2 = late.login("friend")
    late.type(host2, "create 60+0")
    let code2 = try #require(late.field("code", of: host2, in: "room"))
    late.wait(600_100)
    late.type(friend2, "join \(code2)")
    #expect(late.heardAny(friend2, #""code":"code""#))
    #expect(late.lobby.counts.started == 0 && late.lobby.counts.ended == 0, "no match was started")
  }

  @Test func `a paired match is live at once, and an older client's confirm is answered with ok`() throws {
    var world = try SteppedLobby()
    let a = world.login("a", caps: #"["confirm"]"#), b = world.login("b")
    for id in [a, b] { world.type(id, #"{"t":"seek","clock":"60+0","rated":false,"key":"\#(id)"}"#) }
    let m = try #require(world.field("m", of: a, in: "paired"))
    #expect(!world.heardAny(a, "confirm"))
    for _ in 0..<2 {
      world.type(a, #"{"t":"confirm","id":"c","m":"\#(m)"}"#)
      #expect(world.heard(a).last?.contains(#""t":"ok""#) == true)
    }
    world.wait(29_000)
    #expect(try world.state(m).phase == .live && world.state(m).seq == 1)
  }

  @Test func `a match that an older server began with a confirmation is live, and its first move has 30 s`() throws {
    var world = try SteppedLobby()
    let ids = [world.login("a"), world.login("b")]
    let players = try ids.map { try #require(world.lobby.account(of: UInt64($0))).id }
    let m = try #require(MatchID(rawValue: "oldoldoldold"))
    let info = PlayerInfo(name: "a", rating: 1500, guest: true)
    let start = MatchEvent(
      at: world.clock.wall, .start(Sides(x: info, o: info), MatchTerms(), confirm: true, previous: nil, keys: []))
    let record = MatchRecord(id: m, x: players[0], o: players[1], created: world.clock.wall)
    #expect(world.store.apply([StoreUnit(logs: [.init(m, after: 0, [start.body], record: record)])]) == [.applied([:])])
    for id in ids { world.type(id, #"{"t":"sync","m":"\#(m)"}"#) }
    world.wait(10)
    #expect(try world.state(m.rawValue).phase == .live)
    world.wait(29_000)
    #expect(try world.state(m.rawValue).phase == .live)
    world.wait(2_000)
    #expect(try world.state(m.rawValue).end?.reason == .aborted)
  }

  @Test func `a repeated seek gets the same answer and makes no second ticket`() throws {
    var world = try SteppedLobby()
    let a = world.login("a"), b = world.login("b")
    for _ in 0..<3 { world.type(a, #"{"t":"seek","clock":"60+0","rated":false,"key":"a"}"#) }
    #expect(world.lobby.matchmaker.queue.count == 1)
    world.type(a, #"{"t":"seek","clock":"60+1","rated":false,"key":"a"}"#)
    #expect(world.heardAny(a, "mid_reused"))
    world.type(a, #"{"t":"seek","clock":"60+1","rated":false,"key":"other"}"#)
    #expect(world.heardAny(a, "occupied"))
    world.type(b, #"{"t":"seek","clock":"60+0","rated":false,"key":"b"}"#)
    let m = try #require(world.field("m", of: a, in: "paired"))
    world.said = []
    world.type(a, #"{"t":"seek","clock":"60+0","rated":false,"key":"a"}"#)
    #expect(world.field("m", of: a, in: "paired") == m)
    #expect(world.lobby.matches.count == 1)
  }

  @Test func `bots are offered after 20 s and play only players who accept them`() throws {
    var world = try SteppedLobby()
    let bot = world.login("bot", caps: #"["bot"]"#), person = world.login("p")
    world.type(bot, #"{"t":"seek","clock":"60+0","rated":false,"key":"a"}"#)
    world.type(person, #"{"t":"seek","clock":"60+0","rated":false,"key":"b"}"#)
    world.wait(19_000)
    #expect(!world.heardAny(person, #""bots":1"#))
    world.wait(2_500)
    #expect(world.heardAny(person, #""bots":1"#))
    #expect(world.lobby.matches.count == 0)
    world.type(person, #"{"t":"seek","clock":"60+0","rated":false,"bots":true,"key":"b"}"#)
    #expect(world.lobby.matches.count == 1)
  }

  @Test func `a resumed session replaces the first connection; the old token ends when the new one is used`() throws {
    var world = try SteppedLobby()
    let first = world.login("a")
    let token = try #require(world.field("resume", of: first, in: "welcome"))
    let second = world.login("", resume: token)
    #expect(world.closed[first] == .replaced)
    // As if the answer with the new token had been lost: the old token still works.
    let third = world.login("", resume: token)
    #expect(world.heardAny(third, #""t":"welcome""#))
    world.wait(1)
    world.type(third, "me")
    let fourth = world.login("", resume: token)
    #expect(world.heardAny(fourth, #""code":"auth""#))
    _ = second
  }

  @Test func `draw offers: one at a time, two for each side; a move cancels the open one, an answer names the offer`()
    throws
  {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.move(x, m, 0, "b2")
    func draw(_ who: Int, _ a: String, _ offer: Int? = nil, mid: String) {
      world.type(
        who, #"{"t":"draw","m":"\#(m)","a":"\#(a)","mid":"\#(mid)"\#(offer.map { #","offer":\#($0)"# } ?? "")}"#)
    }
    draw(x, "offer", mid: "1")
    let seq = try #require(try world.state(m).offer?.seq)
    draw(o, "offer", mid: "1")
    #expect(world.heardAny(o, "there is an open draw offer"))
    draw(x, "accept", seq, mid: "2")
    #expect(world.heardAny(x, "no open draw offer"))
    world.move(o, m, 1, "a1")
    #expect(try world.state(m).offer == nil)
    draw(o, "accept", seq, mid: "2")
    #expect(try world.state(m).phase == .live)
    draw(x, "offer", mid: "3")
    draw(o, "decline", try world.state(m).offer?.seq, mid: "3")
    draw(x, "offer", mid: "4")
    #expect(world.heardAny(x, "your two draw offers"))
    draw(o, "offer", mid: "5")
    draw(x, "accept", try world.state(m).offer?.seq, mid: "6")
    #expect(try world.state(m).end?.reason == .agreement)
  }

  @Test func `codes: five attempts per minute, and joining uses the code up`() throws {
    var world = try SteppedLobby()
    let host = world.login("h"), guest = world.login("g"), third = world.login("t")
    world.type(host, "create")
    let code = try #require(world.field("code", of: host, in: "room"))
    for _ in 0..<5 { world.type(guest, "join 000000") }
    world.type(guest, "join \(code)")
    #expect(world.heardAny(guest, #""code":"rate""#))
    world.wait(60_000)
    world.type(guest, "join \(code)")
    #expect(world.heardAny(guest, #""t":"paired""#))
    world.type(third, "join \(code)")
    #expect(world.heardAny(third, #""code":"code""#))
  }

  @Test func `commands beyond the store's backlog are refused as busy at once`() throws {
    var configuration = LobbyConfiguration()
    configuration.maxPending = 2
    var world = try SteppedLobby(configuration)
    let matches = (0..<5).map { _ in world.pair() }
    world.isSlow = true
    world.said = []
    for (x, _, m) in matches { world.move(x, m, 0, "b2") }
    let busy = matches.filter { world.heardAny($0.x, #""code":"busy""#) }
    #expect(busy.count == 2, "the refusals are sent at once, not when the disk works again")
    #expect(world.said.count == 2, "moves that are not stored yet are not sent")
    world.hearLate()
    #expect(!world.lobby.isBusy)
    for (x, o, m) in matches {
      world.move(x, m, 0, "b2")
      #expect(world.heardAny(o, #""k":"move""#), "a refused move may be repeated")
    }
  }

  @Test func `with a slow store new commands are refused as busy, and earlier ones are answered later`() throws {
    var world = try SteppedLobby()
    let one = world.pair(), other = world.pair()
    world.isSlow = true
    world.move(one.x, one.m, 0, "b2")
    world.wait(Int64(world.lobby.configuration.maxWait) + 100)
    world.said = []
    world.move(other.x, other.m, 0, "b2")
    #expect(world.heardAny(other.x, #""code":"busy""#) && !world.heardAny(one.x, #""t":"ok""#))
    world.hearLate()
    #expect(world.heardAny(one.x, #""t":"ok""#) && world.heardAny(one.o, #""k":"move""#))
  }

  @Test func `chat is cleaned, hidden for players who mute it, and refused from muted players`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.type(x, #"{"t":"say","m":"\#(m)","text":"a\u202eb\u0007c"}"#)
    #expect(world.heardAny(o, #""text":"abc""#))
    world.type(o, "mute on")
    world.said = []
    world.type(x, #"{"t":"emote","m":"\#(m)","e":"gg"}"#)
    #expect(!world.heardAny(o, "chat") && world.heardAny(x, #""t":"ok""#))
    world.type(o, "mute off")
    let name = try #require(try world.state(m).players?.x.name)
    world.step(.administer(1, .player(name, .mute)))
    world.type(x, #"{"t":"say","m":"\#(m)","text":"hi"}"#)
    #expect(world.heardAny(x, #""code":"muted""#))
    world.step(.administer(2, .player(name, .ban)))
    #expect(world.closed[x] == .banned)
    world.step(.administer(3, .player("nobody", .ban)))
    #expect(world.orderCompleted[1] == true && world.orderCompleted[2] == true && world.orderCompleted[3] == false)
  }

  @Test func `a finished match is read from the store on request, and repeated commands get their answer`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair()
    world.move(x, m, 0, "b2")
    world.type(o, #"{"t":"resign","id":"e","m":"\#(m)","mid":"end"}"#)
    let answer = try #require(world.said.last { $0.connection == o && $0.line.contains(#""re":"e""#) })
    world.wait(120_000)
    #expect(world.lobby.matches.count == 0)
    world.said = []
    world.type(o, #"{"t":"resign","id":"e","m":"\#(m)","mid":"end"}"#)
    #expect(world.said.contains { $0.line == answer.line })
    world.type(x, #"{"t":"export","id":"x","m":"\#(m)"}"#)
    #expect(world.heard(x).filter { $0.contains(#""t":"event""#) }.count == 4)
    world.type(x, #"{"t":"sync","id":"s","m":"nosuchmatch","seq":0}"#)
    #expect(world.heardAny(x, #""re":"s","code":"not_found""#))
  }
}
