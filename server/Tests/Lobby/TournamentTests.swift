import Base
import MatchProtocol
import MatchStore
import ServerTestSupport
import Testing
import TicTacToe

@testable import Lobby

@Suite struct TournamentTests {
  private static let caps = #"["event","infinite"]"#
  private static let terms = #""name":"Class 4","secret":"organisers""#

  private func host(_ world: inout SteppedLobby, _ terms: String = terms) throws -> (id: Int, code: String) {
    let id = world.login("Teacher", caps: Self.caps)
    world.type(id, #"{"t":"host","id":"h",\#(terms)}"#)
    return (id, try #require(world.field("code", of: id, in: "tournament")))
  }

  private func order(_ operation: String, _ code: String, _ more: String = "") -> String {
    #"{"t":"tournament","id":"r","op":"\#(operation)","code":"\#(code)"\#(more)}"#
  }
  private static let secret = #","secret":"organisers""#

  private func enter(_ world: inout SteppedLobby, _ name: String, _ code: String) -> Int {
    let id = world.login(name, caps: Self.caps)
    world.type(id, order("enter", code))
    return id
  }

  private func seek(_ world: inout SteppedLobby, _ id: Int, _ code: String, key: String) {
    world.type(id, #"{"t":"seek","id":"s","tournament":"\#(code)","key":"\#(key)"}"#)
  }

  private func paired(_ world: inout SteppedLobby) throws -> (code: String, players: [Int]) {
    let (teacher, code) = try host(&world)
    let players = ["Ann", "Bob"].map { enter(&world, $0, code) }
    world.type(teacher, order("start", code, Self.secret))
    for (i, id) in players.enumerated() { seek(&world, id, code, key: "k\(i)") }
    world.wait(3000)
    return (code, players)
  }

  /// X wins the game. Returns the connection of X.
  @discardableResult private func play(_ world: inout SteppedLobby, _ a: Int, _ b: Int) throws -> Int {
    let m = try #require(world.field("m", of: a, in: "paired"))
    let (x, o) = world.field("side", of: a, in: "paired") == "x" ? (a, b) : (b, a)
    for (ply, cell) in ["a1", "a2", "b1", "b2", "c1"].enumerated() {
      world.move(ply % 2 == 0 ? x : o, m, ply, cell)
    }
    #expect(try world.state(m).end?.outcome == .win(.x))
    return x
  }

  private func table(_ world: SteppedLobby, _ code: String) throws -> [TournamentRow] {
    guard case .tournament(.found(let found)) = try world.store.answer(.tournament(code)) else { return [] }
    return found.entrants.map(\.row)
  }

  @Test func `players enter, are paired, and see the table change; the first three are named at the end`() throws {
    var world = try SteppedLobby()
    let (teacher, code) = try host(&world)
    let players = ["Ann", "Bob"].map { enter(&world, $0, code) }
    seek(&world, players[0], code, key: "k1")
    #expect(world.heardAny(players[0], #""code":"over","msg":"the tournament has not started""#))
    world.type(teacher, order("start", code, Self.secret))
    #expect(world.heardAny(teacher, #""phase":"running","in_ms":600000,"entrants":2"#))
    world.wait(1000)
    #expect(world.heardAny(players[1], #""phase":"running""#))
    _ = world.heard(teacher)
    for (i, id) in players.enumerated() { seek(&world, id, code, key: "k\(i)") }
    world.wait(3000)
    let winner = try play(&world, players[0], players[1])
    world.wait(1000)
    #expect(world.heardAny(teacher, #""rows":[{"n":"#))
    #expect(try table(world, code).map(\.points).sorted() == [0, 2])
    let m = try #require(world.field("m", of: winner, in: "paired"))
    #expect(try world.stored(m).terms.tournament == code)
    world.type(winner, #"{"t":"rematch","id":"q","m":"\#(m)","mid":"again"}"#)
    #expect(world.heardAny(winner, "a tournament has no rematch"))
    world.wait(600_000)
    let last = try #require(world.said.last { $0.connection == teacher && $0.line.contains(#""phase":"over""#) })
    #expect(last.line.contains(#""winners":[{"n":"#) && last.line.contains(#""m":"\#(m)""#))
    seek(&world, players[0], code, key: "k9")
    #expect(world.heardAny(players[0], "the tournament is over"))
  }

  @Test func `two who have just played each other meet again within three seconds if nobody else is free`() throws {
    var world = try SteppedLobby()
    let (code, players) = try paired(&world)
    let first = try play(&world, players[0], players[1])
    for id in players { _ = world.heard(id) }
    for (i, id) in players.enumerated() { seek(&world, id, code, key: "l\(i)") }
    world.wait(2000)
    #expect(!world.heardAny(players[0], "paired"))
    world.wait(1000)
    #expect(world.field("side", of: first, in: "paired") == "o", "sides alternate")
  }

  @Test func `the organiser receives the finished games in pages, each once, by the number of its player X`() throws {
    var world = try SteppedLobby()
    let (code, players) = try paired(&world)
    for game in 0..<SharedPages.historyPage + 2 {
      try play(&world, players[0], players[1])
      for (i, id) in players.enumerated() {
        _ = world.heard(id)
        seek(&world, id, code, key: "g\(game)-\(i)")
      }
      world.wait(3500)
    }
    let teacher = world.login("Teacher", caps: Self.caps)
    var (matches, requests): ([String], Int) = ([], 0)
    for number in 1...2 {
      var before = ""
      repeat {
        world.type(teacher, order("games", code, Self.secret + #","n":\#(number)"# + before))
        requests += 1
        let lines = world.heard(teacher)
        for line in lines where line.contains(#""t":"state""#) {
          let fields = try JSONObject(line: Array(line.utf8), with: "t")
          matches.append(try #require(fields["m"]?.string))
          #expect(line.contains(#""moves":["a1","a2","b1","b2","c1"],"times":["#) && line.contains(#""result":"x""#))
        }
        let page = try #require(lines.last { $0.contains(#""of":"games","rows":[{"n":\#(number)}]"#) })
        before = try JSONObject(line: Array(page.utf8), with: "t")["more"]?.int.map { #","before":\#($0)"# } ?? ""
      } while !before.isEmpty
    }
    #expect(requests == 4 && Set(matches).count == matches.count)
    #expect(try matches.count == table(world, code).reduce(0) { $0 + $1.games } / 2)
    let bob = world.login("Eve", caps: Self.caps)
    world.type(bob, order("games", code, #","secret":"other","n":1"#))
    #expect(world.heardAny(bob, #""code":"forbidden""#))
    world.type(teacher, order("games", code, Self.secret + #","n":3"#))
    #expect(world.heardAny(teacher, #""code":"not_found""#))
  }

  @Test func `an address may have two open tournaments; ended ones and those of other addresses do not count`() throws {
    var world = try SteppedLobby()
    func host(_ n: Int, from address: String?, _ world: inout SteppedLobby) throws -> String? {
      let id = world.connect(from: address)
      world.type(id, #"{"t":"hello","v":[1],"client":"t","caps":\#(Self.caps),"guest":"Host-\#(n)"}"#)
      world.type(id, #"{"t":"host","id":"h","name":"T\#(n)","secret":"s\#(n)"}"#)
      let code = world.field("code", of: id, in: "tournament")
      #expect(code != nil || world.heardAny(id, "at most 2 open tournaments from one address"))
      return code
    }
    let first = try #require(try host(1, from: "192.0.2.1", &world))
    #expect(try host(2, from: "192.0.2.1", &world) != nil)
    #expect(try host(3, from: "192.0.2.1", &world) == nil)
    #expect(try host(4, from: "192.0.2.2", &world) != nil)
    // A connection from the server's own machine has no address, so the limit for each address does not apply.
    for n in 5...7 { #expect(try host(n, from: nil, &world) != nil) }
    let teacher = world.login("Teacher", caps: Self.caps)
    world.type(teacher, order("end", first, #","secret":"s1""#))
    world.wait(1000)
    #expect(try host(8, from: "192.0.2.1", &world) != nil)
    #expect(try host(9, from: "192.0.2.1", &world) == nil)
  }

  @Test func `512 players enter; the next is refused, and one who has left may come back`() throws {
    var world = try SteppedLobby()
    let (_, code) = try host(&world)
    for n in 1...Int64(Tournament.mostEntrants) {
      let answer = try world.store.answer(.changeTournament(code, .enter(account: 1_000_000 + n)))
      guard case .tournament(.found) = answer else {
        Issue.record("player \(n) is refused")
        return
      }
    }
    let late = enter(&world, "Late", code)
    // The server refuses with a single line, first a program's request, then the command `enter` that a person types.
    for _ in 0..<2 {
      let refusals = world.heard(late).filter { $0.contains(#""t":"err""#) }
      #expect(refusals.count == 1)
      let words = #""code":"occupied","msg":"at most 512 players in a tournament""#
      #expect(refusals.first?.contains(words) == true)
      world.type(late, "enter \(code)")
    }
    for status in [TournamentRow.Status.left, .playing] {
      let answer = try world.store.answer(.changeTournament(code, .status(account: 1_000_001, status)))
      if case .tournament(.found) = answer { continue }
      Issue.record("\(status) is refused")
    }
    #expect(try table(world, code).count == Tournament.mostEntrants)
  }

  @Test func `above 100 followers the changes of three seconds are sent at once, and a new phase within one`() throws {
    var world = try SteppedLobby()
    let (teacher, code) = try host(&world)
    let players = (0..<101).map { enter(&world, "P\($0)", code) }
    let accounts = try players.map { try #require(world.lobby.account(of: ConnectionID($0))?.id) }
    world.type(teacher, order("start", code, Self.secret))
    world.wait(4000)
    _ = world.heard(teacher)
    for (i, account) in accounts.prefix(12).enumerated() {
      _ = try world.store.answer(.changeTournament(code, .status(account: account, .paused)))
      world.lobby.tournaments.markBehind(code)
      world.wait(500)
      #expect(try table(world, code).count { $0.status == .paused } == i + 1)
    }
    world.wait(3000)
    let rows = world.heard(teacher).filter { $0.contains(#""t":"standings""#) }
    #expect((2...3).contains(rows.count), "\(rows)")
    #expect(rows.map { $0.ranges(of: #""status":"paused""#).count }.reduce(0, +) == 12, "\(rows)")
    world.type(teacher, order("end", code, Self.secret))
    world.wait(1000)
    #expect(world.heardAny(players[100], #""phase":"over""#))
  }

  @Test func `a player who was taken out is not ranked, cannot enter, and is let in again by the organiser`() throws {
    var world = try SteppedLobby()
    let (teacher, code) = try host(&world)
    let ann = enter(&world, "Ann", code)
    _ = enter(&world, "Bob", code)
    world.type(teacher, order("remove", code, Self.secret + #","name":"GUEST-ann""#))
    #expect(try table(world, code).map(\.status) == [.removed, .playing])
    for (operation, key) in [("enter", "a"), ("play", "b")] {
      _ = world.heard(ann)
      world.type(ann, order(operation, code))
      let refusal = #""code":"forbidden","msg":"the organiser has removed you from the tournament""#
      #expect(world.heardAny(ann, refusal), "\(key)")
    }
    world.type(teacher, order("admit", code, Self.secret + #","name":"guest-Ann""#))
    #expect(try table(world, code).map(\.status) == [.playing, .playing])
    world.type(ann, order("pause", code))
    #expect(try table(world, code).map(\.status) == [.paused, .playing])
  }

  @Test func `equal names are told apart, and a start at a set time begins by itself`() throws {
    var world = try SteppedLobby()
    let (teacher, code) = try host(&world)
    let players = ["Ann", "ann", "Maximilian von B", "Maximilian von C", "Zoë Łukasz ", "Jo", "Øyvind!"].map {
      enter(&world, $0, code)
    }
    let names = [
      "Ann", "ann-2", "Maximilian-vo", "Maximilian--2", "Zoe-Lukasz", "Jo", "Oyvind",
    ].map { "guest-\($0)" }
    #expect(try table(world, code).map(\.name) == names)
    world.type(teacher, order("start", code, Self.secret + #","in_ms":5000"#))
    #expect(world.heardAny(teacher, #""phase":"waiting","in_ms":5000"#))
    world.wait(4000)
    for id in players { #expect(!world.heardAny(id, #""phase":"running""#)) }
    world.wait(2500)
    for id in players { #expect(world.heardAny(id, #""phase":"running""#)) }
  }

  @Test func `a first move whose time runs out pauses its player until play`() throws {
    var world = try SteppedLobby()
    let (code, players) = try paired(&world)
    let x = world.field("side", of: players[0], in: "paired") == "x" ? 0 : 1
    let m = try #require(world.field("m", of: players[x], in: "paired"))
    world.type(players[x], #"{"t":"abort","id":"q","m":"\#(m)","mid":"no"}"#)
    #expect(world.heardAny(players[x], "cannot be aborted"))
    world.wait(Int64(Limits.firstMove) + 1000)
    #expect(try table(world, code).map(\.status) == (x == 0 ? [.paused, .playing] : [.playing, .paused]))
    #expect(try table(world, code).map(\.games) == [0, 0])
    seek(&world, players[x], code, key: "l")
    #expect(world.heardAny(players[x], "you have paused; send play to go on"))
    world.type(players[x], order("play", code))
    _ = world.heard(players[x])
    seek(&world, players[x], code, key: "m")
    #expect(world.heardAny(players[x], "queued"))
  }

  @Test func `an entrant with two tabs plays one game at a time`() throws {
    var world = try SteppedLobby()
    let (teacher, code) = try host(&world)
    let ann = enter(&world, "Ann", code)
    let token = try #require(world.field("token", of: ann, in: "welcome"))
    let others = ["Bob", "Eve"].map { enter(&world, $0, code) }
    let tab = world.login("", caps: Self.caps, token: token)
    world.type(teacher, order("start", code, Self.secret))
    for (i, id) in ([ann, tab] + others).enumerated() { seek(&world, id, code, key: "k\(i)") }
    world.wait(5000)
    #expect(world.lobby.matches.values.count { !$0.isOver } == 1)
    #expect(world.heardAny(tab, "occupied") || world.heardAny(ann, "occupied"))
  }

  @Test func `an invalid request about a tournament is refused in one line and changes nothing`() throws {
    var configuration = LobbyConfiguration()
    configuration.maxTournaments = 2
    configuration.tournamentsPerAddress = 1
    var world = try SteppedLobby(configuration)
    let (teacher, code) = try host(&world)
    world.type(teacher, #"{"t":"host","id":"h",\#(Self.terms)}"#)
    #expect(world.field("code", of: teacher, in: "tournament") == code, "the same secret is the same tournament")
    let bob = world.login("Bob", caps: Self.caps)
    func refusal(_ line: String, of id: Int) -> String? {
      _ = world.heard(id)
      world.type(id, line)
      let answers = world.heard(id).filter { $0.contains(#""t":"err""#) }
      return answers.count == 1 ? answers.first : nil
    }
    let wrong: [(String, String)] = [
      (order("enter", "AAAAAA"), #""code":"code""#), (order("enter", "!"), #""code":"code""#),
      (order("start", code, #","secret":"other""#), #""code":"forbidden""#),
      (order("follow", code, #","secret":"other""#), #""code":"forbidden""#),
      (order("end", code), #""code":"bad_request""#), (order("pause", code), #""code":"not_found""#),
      (#"{"t":"seek","id":"s","tournament":"\#(code)","key":"k"}"#, "has not started"),
      (#"{"t":"host","id":"h","name":"   ","secret":"s2"}"#, #""code":"name""#),
      (#"{"t":"host","id":"h","name":"A","minutes":121,"secret":"s2"}"#, #""code":"bad_request""#),
    ]
    for (line, answer) in wrong { #expect(refusal(line, of: bob)?.contains(answer) == true, "\(line)") }
    world.type(bob, #"{"t":"host","id":"h","name":"Ultimate","rules":"ultimate","secret":"s3"}"#)
    let other = try #require(world.field("code", of: bob, in: "tournament"))
    #expect(refusal(order("enter", other), of: bob)?.contains(#""code":"rules""#) == true)
    #expect(
      refusal(#"{"t":"host","id":"h","name":"C","secret":"s4"}"#, of: bob)?.contains("2 open tournaments") == true)
    let stranger = world.login("Old")
    #expect(refusal(order("follow", code), of: stranger)?.contains(#""code":"rules""#) == true)
    let bot = world.login("Bot", caps: #"["bot","event"]"#)
    #expect(refusal(order("enter", code), of: bot)?.contains(#""code":"forbidden""#) == true)
    #expect(try table(world, code).isEmpty)
    #expect(!world.heardAny(stranger, "tournament"))
    world.type(teacher, order("end", code, Self.secret))
    for line in [order("enter", code), "enter \(code)"] {
      #expect(refusal(line, of: bob)?.contains(#""code":"over","msg":"the tournament is over""#) == true, "\(line)")
    }
    #expect(refusal("enter AAAAAA", of: bob)?.contains(#""code":"code","msg":"no tournament has this code""#) == true)
    #expect(try table(world, code).isEmpty)
    let start = order("start", code, Self.secret)
    #expect(refusal(start, of: teacher)?.contains("the tournament is over") == true)
  }

  @Test func `a table that arrives late does not replace a later one`() throws {
    var world = try SteppedLobby()
    let (_, code) = try host(&world)
    let read = {
      guard case .tournament(.found(let found)) = try world.store.answer(.tournament(code)) else {
        return Tournament?.none
      }
      return found
    }
    let early = try #require(try read())
    _ = enter(&world, "Ann", code)
    let late = try #require(try read())
    var entry = TournamentDesk.Entry()
    for found in [early, late, early] { entry.take(found, 1000) }
    #expect(entry.known == late && late.entrants.count == 1)
    #expect(entry.isDue(Moment(monotonic: 1000, wall: 1000), every: 2000), "the next one is read at once")
  }

  @Test func `the answer to an order that arrives late does not show an earlier row again`() throws {
    var world = try SteppedLobby()
    let (_, code) = try host(&world)
    let ann = enter(&world, "Ann", code)
    let account = try #require(world.lobby.account(of: ConnectionID(ann))?.id)
    world.wait(3000)
    world.isSlow = true
    world.type(ann, order("pause", code))
    let answer = try #require(world.late.first)
    (world.late, world.isSlow) = ([], false)
    // The player leaves at another node. This node reads the table before the delayed answer to `pause` arrives.
    _ = try world.store.answer(.changeTournament(code, .status(account: account, .left)))
    world.wait(3000)
    world.step(answer)
    world.wait(3000)
    let rows = world.heard(ann).filter { $0.contains(#""t":"standings""#) }
    #expect(rows.last?.contains(#""status":"left""#) == true, "\(rows)")
  }

  @Test func `a follower whose table was ahead of the last difference hears of a row that changes back`() throws {
    var world = try SteppedLobby()
    let (_, code) = try host(&world)
    let bob = enter(&world, "Bob", code), ann = enter(&world, "Ann", code)
    let account = try #require(world.lobby.account(of: ConnectionID(bob))?.id)
    world.wait(3000)
    // Bob leaves at another node. The answer to Ann's order brings the new table before this node has sent Bob's new row to the followers.
    _ = try world.store.answer(.changeTournament(code, .status(account: account, .left)))
    world.type(ann, order("pause", code))
    let late = world.login("Late", caps: Self.caps)
    world.type(late, order("follow", code))
    _ = try world.store.answer(.changeTournament(code, .enter(account: account)))
    world.wait(3000)
    let rows = world.heard(late).filter { $0.contains(#""t":"standings""#) && $0.contains(#"{"n":1"#) }
    #expect(
      rows.first?.contains(#""status":"left""#) == true && rows.last?.contains(#""status":"left""#) == false, "\(rows)")
  }

  @Test func `the organiser who ends a tournament has the whole table when its phase is over`() throws {
    var world = try SteppedLobby()
    let (teacher, code) = try host(&world)
    let bob = enter(&world, "Bob", code)
    let account = try #require(world.lobby.account(of: ConnectionID(bob))?.id)
    world.type(teacher, order("start", code, Self.secret))
    world.wait(3000)
    _ = try world.store.answer(.changeTournament(code, .status(account: account, .left)))
    world.type(teacher, order("end", code, Self.secret))
    let lines = world.heard(teacher)
    let row = try #require(lines.firstIndex { $0.contains(#""t":"standings""#) && $0.contains(#""status":"left""#) })
    let over = try #require(lines.firstIndex { $0.contains(#""phase":"over""#) })
    #expect(row < over, "\(lines)")
  }

  @Test func `no game begins at a node that has not heard of the tournament's end`() throws {
    var world = try SteppedNodes()
    let (teacher, code) = try host(&world[1])
    let players = ["Ann", "Bob"].map { enter(&world[0], $0, code) }
    world[1].type(teacher, order("start", code, Self.secret))
    world.wait(2500)
    for (i, id) in players.enumerated() { seek(&world[0], id, code, key: "k\(i)") }
    // Node 0, the leader, still pairs players once before it learns of the end from the store.
    world[1].type(teacher, order("end", code, Self.secret))
    #expect(world[1].heardAny(teacher, #""phase":"over""#))
    world.wait(4000)
    #expect(!world[1].heardAny(teacher, #""phase":"ending""#), "a tournament that is over stays over")
    #expect(world[0].field("m", of: players[0], in: "paired") == nil)
    #expect(players.allSatisfy { world[0].heardAny($0, "the tournament is over") })
    #expect(try table(world[0], code).allSatisfy { $0.games == 0 })
  }

  @Test func `players of two nodes meet, and both nodes show the same table`() throws {
    var world = try SteppedNodes()
    let (teacher, code) = try host(&world[0])
    let ann = enter(&world[0], "Ann", code)
    let bob = enter(&world[1], "Bob", code)
    world[0].type(teacher, order("start", code, Self.secret))
    world.wait(2500)
    seek(&world[0], ann, code, key: "a")
    seek(&world[1], bob, code, key: "b")
    world.wait(3000)
    let m = try #require(world[0].field("m", of: ann, in: "paired"))
    #expect(world[1].field("m", of: bob, in: "paired") == m)
    let annIsX = world[0].field("side", of: ann, in: "paired") == "x"
    for (ply, cell) in ["a1", "a2", "b1", "b2", "c1"].enumerated() {
      if (ply % 2 == 0) == annIsX { world[0].move(ann, m, ply, cell) } else { world[1].move(bob, m, ply, cell) }
      world.wait(50)
    }
    world.wait(2500)
    let tables = world.nodes.map { $0.lobby.tournaments[code]?.known?.entrants.map(\.row) }
    #expect(tables[0] == tables[1])
    #expect(try tables[0] == table(world.nodes[0], code))
    #expect(tables[0]?.map(\.points) == (annIsX ? [2, 0] : [0, 2]))
    _ = teacher
  }
}
